"""Rows of Parquet and CSV files larger than memory.

Nothing here imports pyarrow before the first file is looked at.

```
Files (which files, which columns)
   → batches.chunks: batches of columns, read ahead in a background thread
   → blocks.cut: blocks of as many rows as in memory, by number among the rows of positive weight
   → passes.map_reduce: the same sums, bit for bit, as those of arrays in memory
```
"""

from sleek.rows.files.files import Files

__all__ = ["Files"]
