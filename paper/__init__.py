"""The paper's experiments, rerun: every table and figure of its section IV by one command.

Nothing in sleek imports this package but the command line. It needs ``pip install 'sleek[experiments]'``.

data → rows and partitions; methods → the tables' rows as estimators; tuning → settings by cross-validation;
running → finished fits, kept in a file; tables, figures → what is printed, written and drawn.
"""
