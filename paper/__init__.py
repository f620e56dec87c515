"""The paper's experiments, rerun: every table and figure of its section IV by ``python -m paper``.

It runs from a checkout and needs ``pip install 'sleek-svm[experiments]'``; nothing in sleek imports it.
Rows and partitions, and the store of finished fits, are those of `studies`.

methods → the tables' rows as estimators; tuning → their settings by cross-validation; running → fits; tables,
figures, readings → what is printed, written and drawn; reproduce → all of it.
"""
