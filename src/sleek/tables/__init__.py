"""Tables: columns as the features of a model, and where columns come from.

Here: what a column becomes (`columns`), tables in files and in memory (`table`, `csv`, `parquet`,
`frames`), which words mean that a value is missing (`gaps`), what a table gives a model to learn from
(`inputs`, `target`), and how columns are saved. What is wrong with a table is a `TableError` whose sentence
names the place.

Not here: rows that do not fit into memory (`sleek.rows.files`), and anything that knows of commands or
options.
"""
