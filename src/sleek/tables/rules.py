"""Every constant that steers what columns become, with its reason.

What steers a fit stands in `sleek.fit.policy`; columns are read before there is a fit.
"""

# A text that is different in every row of a table with at least so many rows names the rows: an id.
LEAST_IDS = 10
# Beyond this many levels a text whose levels are more than this share of the rows is an id, or free text.
FREE_LEVELS, LEVEL_SHARE = 50, 0.5
# Up to here each level is a feature of its own. Beyond, rows that a fold leaves out say whether the commonest
# levels alone or a learnt number for each level predict the target better.
ONE_HOT_LEVELS = 24
# Of the commonest levels that stay when others are grouped, each has at least this many rows.
LEAST_LEVEL_ROWS = 5
# Levels that are ever told apart: a model file has a line of text for each.
MOST_LEVELS = 20_000
# Outputs for which a level has a learnt number each; with more classes levels are grouped.
MOST_LEVEL_OUTPUTS = 8
# Folds for whose rows levels are rated by the other folds: a row never sees its own target.
FOLDS = 5
# Up to here folds do not depend on the order of rows, as fits do not (`sleek.fit.policy.CANONICAL_ROWS`).
SORTED_ROWS = 20_000
# How many rows of the overall mean a level's mean is drawn towards: the best for rows left out.
STRENGTHS = (2.0, 10.0, 50.0)
# Rows whose values medians are taken of, chosen by their numbers alone: the same in a frame, files and Dask.
MEDIAN_ROWS = 20_000
# A share of the target's variance that a feature beside the first must explain in rows left out.
LEAST_GAIN = 1e-3
# A column of text of which this share are numbers, many of them different, is one with slips, no category.
NUMBER_SHARE = 0.9
