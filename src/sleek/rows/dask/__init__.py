"""Rows of Dask arrays and data frames: partitions stay on the workers, which send back sums and samples.

```
DaskRows (what users have) → collections: for each partition what computes it → parts.read_part, on a worker:
   checked rows of positive weight → blocks cut at fixed row numbers → passes: a PartialSum for each
   partition, joined on the workers, the total here
```

Blocks that lie in two partitions or more are put together on the worker that has their first row. Without a
client everything is done in this process, one partition after the other.
"""
