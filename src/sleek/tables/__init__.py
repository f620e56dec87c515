"""Tables: columns as the features of a model, and where columns come from.

```
a frame ── frames ──→ Values of each column (numbers, dates, or codes of a few different values)
a file ── open, dialect, text ──→ Table ──→ Values
Values ── learning, crossfit ──→ Inputs: a Column each
Column.settle: one number per row ──→ Column.features, block by block
```

`rules` has every constant that steers what columns become, `gaps` the words that mean a missing value,
`encoded` the table that becomes features when rows are asked for, `saved` columns in model files. What is
wrong with a table is a `TableError` whose sentence names the place.

Not here: rows that do not fit into memory (`sleek.rows.files`), and anything that knows of commands or
options.
"""
