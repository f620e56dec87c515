"""Reading of rows: checked, encoded, weighted, and handed out in blocks.

```
to learn from: what a user has → opening.open_rows → Rows → survey → source → Blocks
               (what columns of a table become: table_rows)
to predict:    what a user has → predicting.open_features → Rows with the model's features → evaluate
```

`Rows` are rows as they are kept somewhere: features, or columns of a table, and beside them targets and
weights. A `Source` is what a fit works on: the same rows with targets encoded and weights made ready, handed
out in blocks that are cut by row number alone. A new place that rows can be in is one subclass of `Rows`
(`sleek.testing` has its contract).
"""

from sleek.rows.raw import RawBlock
from sleek.rows.rows import Rows, Run
from sleek.rows.source import Block, Source

__all__ = ["Block", "RawBlock", "Rows", "Run", "Source"]
