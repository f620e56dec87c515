"""Rows in, blocks out.

```
what a user has → open_rows → Rows → survey → source → Blocks
```

`Rows` are rows as they are kept somewhere: features, and beside them targets and weights. A `Source` is
what a fit works on: the same rows with targets encoded and weights made ready, handed out in blocks that
are cut by row number alone. A new place that rows can be in is one subclass of `Rows` (`sleek.testing` has
its contract).
"""

from sleek.rows.raw import RawBlock
from sleek.rows.rows import Rows, Run
from sleek.rows.source import Block, Source

__all__ = ["Block", "RawBlock", "Rows", "Run", "Source"]
