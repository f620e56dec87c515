"""What the paper's experiments and the benchmarks share: one reader of problems, one store of results.

A folder of its own beside `paper` and `benchmarks`, because both need it and neither should need the
other: the paper must run without the rivals' packages, and a benchmark without the paper's comparators.
Nothing in sleek imports it.

problems → what a problem is, and how its splits are drawn; packages, ida, pmlb → problems by where they
come from; catalogue → all of them by name and group; store → finished results as JSON lines; progress,
markdown → what is shown.
"""
