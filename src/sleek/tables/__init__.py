"""Tables: columns as the features of a model.

```
a frame, a chunk of a file or of a database ── frames, text ──→ Values of each column
   (numbers, dates, or codes of a few different values)
Values ──→ Summary: kind, gaps, words, median; adds up over chunks
Summary ── learning, crossfit ──→ Inputs: a Column each
Column.settle: one number per row ──→ Column.features, block by block
```

`rules` has every constant that steers what columns become, `gaps` the words that mean a missing value,
`notation` how numbers are written in text, `encoded` the table that becomes features when rows are asked for,
`saved` columns in model files. What is wrong with a table is a `TableError`: column, row, rule, value found.

Not here: where rows are kept (`sleek.rows`), and anything that knows of commands or options.
"""
