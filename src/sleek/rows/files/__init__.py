"""Rows of Parquet, CSV, Arrow and JSON lines files larger than memory.

Nothing here imports pyarrow before the first file is looked at.

```
Files (which files, which columns) ── texts: how numbers are written, one pass over columns of text
   → chunks: columns of some thousand rows, read ahead in a background thread
   → blocks of as many rows as in memory, cut by row number (`sleek.rows.rows`): the same sums, bit for bit
```
"""

from sleek.rows.files.files import Files

__all__ = ["Files"]
