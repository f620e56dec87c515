"""Rows from Parquet and CSV files larger than memory.

Nothing here imports pyarrow before the first file is looked at.

```
ParquetSource (which files, which columns)
   → reading.chunks: batches of columns, read ahead in a background thread
   → blocks.cut: blocks of as many rows as in memory, by number among the rows of positive weight
   → FileRows.map_reduce: the same sums, bit for bit, as those of arrays in memory
```
"""

from sleek.rows.files.files import ParquetSource

__all__ = ["ParquetSource"]
