"""Every constant that steers a fit, with the reason for its value; no other module has one.

What belongs to a basis (the shapes it is tried with, how long a draft of it is) is declared by the basis.
"31 sets" and "43 problems" are those of docs/benchmarks/accuracy.md, chosen as docs/training.md tells.
"""

from dataclasses import dataclass

# -- Effort -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Effort:
    """The constants that trade time for accuracy."""

    # Rows of the two heats of a race, from many rows on more in the last one (`ROWS_PER_TRIED`). All
    # candidates fit into a second on them. (The first on 4,096 rows instead: the same errors over 28 sets.)
    heats: tuple[int, int] = (2048, 8192)
    # How many times as many iterations as the basis declares a draft has.
    draft: float = 1.0
    # Whether all start shapes of a basis are tried, or the middle one alone.
    all_shapes: bool = True
    # Iterations in which theta and b move with the units, where they have no closed form; half of them when
    # all go on from where they were. Few: stopping early is part of what keeps such a model from overfitting
    # (200 instead of 40 on Churn: 4.8 instead of 4.0 % of mistakes).
    refining: int = 40
    # Boxes are added to the best model where the targets say, 30, then 60 at a time, as long as the loss
    # falls by more than its standard error, up to so many units and one for every so many rows. (Also where
    # they did not qualify in the race: Houses ends at 43 instead of 47 % of σ. At most 100 units: 1.04 of the
    # errors on 12 tables of 5,000 to 10,000 rows; two standard errors: 1.01 in 0.95 of the time.)
    most_units: int = 150
    rows_per_added_unit: int = 20
    # So many judging rows are enough: of the folds only as many are trained. (Two folds of 1,500 rows instead
    # of three, 15 generators: 0.999 ± 0.002 of the errors in 0.8 of the time; of 1,000 rows: 1.009 ± 0.003.)
    judging_rows: int = 800


EFFORTS = {
    "quick": Effort((1024, 4096), 0.5, False, 20, 30, 20, 300),
    "normal": Effort(),
    "thorough": Effort((4096, 16384), 1.5, True, 80, 300, 10, 2000),
}

# -- Rows ---------------------------------------------------------------------------------------------------

# Up to here rows are sorted and repeats merged, so that the result does not depend on their order, not even
# in rounding. A sort of 20,000 × 28 takes 20 ms; beyond, sums are made in the order in which rows arrive.
CANONICAL_ROWS = 20_000
# Rows on which settings are tried, and leave-one-out errors are computed, where there are few:
# leave-one-out costs rows × learnt², and 2,000 rows tell settings apart (31 sets: no gain from 4,000 at
# twice the time).
SELECTION_ROWS = 2000
# From here on settings are chosen by a race judged by rows held out; below, by folds, which waste no row but
# train everything three times. (500 instead, 21 sets of 500 to 1,200 rows, up to eight splits: 1.04 ± 0.02 of
# the errors in 0.4 of the time; 15 generators of 600 and 1,000 rows: 1.011 ± 0.006. Folds up to 6,000 rows,
# 12 sets: 1.02 ± 0.04 in 5.5 times the time.)
RACE_ROWS = 2000
# From here on log-odds are tried. (Of all rows: 1.006 ± 0.005 of the errors of 36 sets below, eight splits.)
LOG_ODDS_ROWS = 500
# The last heat has one row of so many, and so many at most; no more rows than that are held out, either. (On
# 8,192 rows whatever the data's size 3·10⁶ rows ended with a smaller and a worse model than 10⁶: 13.6 instead
# of 13.2 % of mistakes; with one of 60 rows 10⁶ have 13.0, in twice the time.)
ROWS_PER_TRIED = 128
MOST_TRIED = 32_768
# The share of a sample that every class makes up, as far as it has rows: 200 of the smallest heat's. With 60
# positives among 60,000 rows a plain sample of 8,192 has 8 of them.
LEAST_CLASS_SHARE = 0.05
# Below so many rows, every row counts: those held out take part in the last training.
EVERY_ROW_COUNTS = 40_960
# Rows that k-medoids sees at most, or so many for each medoid if that is more: thousands of rows will move
# the units anyway. (250 and 500, 37 sets of 700 rows or more: 1.01 of the errors with more, in 1.07 of the
# time.)
MEDOID_ROWS = 400
MEDOID_ROWS_PER_UNIT = 5
# A value further from the 1 % to 99 % range than so many times its width is clipped when spreads are
# measured: a typing error of 1e6 must not squeeze all other rows into one point.
OUTLIER_QUANTILE = 0.01
OUTLIER_WIDTHS = 5
# A row counts as so many spreads away at most while units learn: the derivative by the sharpness of a unit
# that hardly looks at the feature grows with the square, and leave-one-out adds up fourth powers.
MOST_SPREADS = 1e3

# -- Units --------------------------------------------------------------------------------------------------

# What basis="auto" chooses from: smooth bumps, steps across learnt directions, boxes along features. On
# small data Gaussian and sigmoidal units alone had 0.94 and 1.01 of a tuned SVM's error over 27 sets,
# robust RBF 1.01, simplex 1.06. On 12 tables of 1,000 to 10,000 rows boxes, and boxes added to what won,
# had 0.83 of the error without them.
AUTO_BASES = ("gaussian_rbf", "sigmoidal", "box")
# The size to begin with where n_units="auto": 30, or 10 for each output, at most 100, and 5 rows for each. (8
# and 80: 1.005 ± 0.008 of the errors on 78 sets, 6 and 60 1.007 ± 0.004.)
AUTO_UNITS = 30
UNITS_PER_OUTPUT = 10
MOST_AUTO_UNITS = 100
ROWS_PER_UNIT = 5
# Features of all units together for each row at most: of 5,000 features and 50 rows a few units are enough.
FEATURES_PER_ROW = 100
# Bumps and steps are also tried with so few units: where these are enough nothing has to be taken out again.
FEW_UNITS = 4
# Ramps of curves, as many as closed forms are quick with.
MOST_PIECES = 500
# The strength at which pieces of curves are selected, and the strengths that are tried for each number.
CURVE_STEP = 1
CURVE_STEPS = range(-7, 7, 2)
# Ramps that a feature of curves has at least: itself, two ramps and a step. Of more features those that say
# most by themselves are tried.
RAMPS_PER_FEATURE = 4
# The strength at which nothing has a weight.
CONSTANT_STEP = 24
# Numbers of pieces that are tried.
PIECES = (1, 2, 3, 5, 7, 10, 15, 20, 30, 45, 70)
# Ramps that stand beside units: at most so many, and one for so many rows. (One for 5 rows: 1.002 ± 0.003 of
# the errors on 78 sets, Friedman's first function 27.0 instead of 25.4 % of σ.)
RAMPS_BESIDE = 30
ROWS_PER_RAMP = 20
# Boxes that are added first.
ADDED_UNITS = 10
# Trees whose leaves units start at: 8 leaves of at least 5 rows, at most 200 a tree; each takes half of
# what is left. With 20 features or more a tree looks at 0.7 of them for each cut, so that the next one
# finds others. (All of them: 1.01 ± 0.01 of the errors from 700 rows on, 1.18 times the numbers.)
TREE_LEAVES = 8
# So many trees more than are needed if all leaves differ: of few different rows there are few leaves. (Trees
# on 256 bins took a quarter of the time, and cost 4 % of the errors of six tables of classes.)
MORE_TREES = 4
LEAST_LEAF_ROWS = 5
# Of more outputs trees see as many random combinations: they look at all of them for every cut (1,000 classes
# and 4,000 rows: 0.5 s a tree).
MOST_TREE_OUTPUTS = 32
MOST_TREE_LEAVES = 200
TREE_RATE = 0.5
MANY_FEATURES = 20
FEATURE_SHARE = 0.7
# The first guess of targets that may be gross errors: from all parts of the rows but one, so many trees of
# medians, of which a share is taken; and the robust deviations from it at which targets are bounded, begin to
# be taken for errors, and are replaced by the guess. (Bounded alone: diamonds with 5 % of gross errors 0.0392
# instead of 0.0302 σ without.)
PILOT_PARTS = 3
PILOT_TREES = 40
PILOT_RATE = 0.3
PILOT_DEVIATIONS = (3.0, 6.0, 12.0)
# Starts of k-medoids: with few medoids one start ended up to 2.5 % above the best known loss, three within
# 0.3 %; with more, local minima differ by less than 1 %.
MEDOID_RESTARTS = 3
FEW_MEDOIDS = 15

# -- Penalties ----------------------------------------------------------------------------------------------

# One strength κ in steps of √10 ties C = 1/κ and prior = κ/1000·Σs: searching both found nothing better.
STRENGTH_STEP = 10**0.5
STRENGTH_STEPS = range(-8, 5)
PULL_PER_STRENGTH = 1e-3
# From here on more rows do not make the prior stronger: it is knowledge about units, not about rows.
FULL_PRIOR_WEIGHT = 2000.0
# The step at which units are compared. (0 below 500 rows: 1.006 ± 0.004 of the errors of 15 generators of 150
# and 400 rows, 1.04 times the numbers.)
FIRST_STEP = -1
# -- Training -----------------------------------------------------------------------------------------------

# Iterations of a draft that goes on from where another has got to.
GOING_ON = 10
# Iterations of the last training, on all rows, after a race: what was chosen there was judged after as few,
# and stopping early is part of what it is. (Without a limit the same errors on average over 112 fits, but
# Waveform came to 17.5 % instead of 15.5 where 12.6 were expected.)
LAST_ITERATIONS = 40
# On a sample that may still grow, so many times the trainer's tolerance is exact enough: the sample's own
# error is larger. (Half a point of error against full tolerance at every stage, for a fifth of the work.)
STAGE_SLACK = 10.0
# By how much the sample that units are learnt on grows at a time, and the share of the loss that the next
# growth must be expected to gain. Factors 2 and 8 came out within 5 % of the time for the same error.
GROWTH = 4.0
PAYS = 0.02
# The most bytes of rows that units are learnt on, or as many rows as learn in a race.
MOST_BYTES = 2**25

# -- The rule -----------------------------------------------------------------------------------------------

# A simpler model stays unless another one gains more than so many paired standard errors on held-out rows,
# and more than a share of the loss for every doubling of its numbers, those that are read at a glance added
# to both: five numbers and twenty are read alike. (78 sets, against 0.06: 1.006 ± 0.002 of the errors and
# 0.94 times the numbers; 0.1: 1.009 ± 0.003, 0.89; 0.75 standard errors with 0.06: 1.015 ± 0.005, 0.90.)
SURE_ERRORS = 0.5
SHARE_PER_HALVING = 0.08
AT_A_GLANCE = 30
# Beyond so many numbers a model is read by its effects, not number by number: a halving is worth less there.
# (78 sets, against the same share throughout: 0.995 ± 0.002 of the errors, several classes 0.989, 1.07 times
# the numbers; 0.02: 0.992 ± 0.003, several classes 0.982, but diamonds have 2,257 numbers instead of 380.)
READ_ONE_BY_ONE = 200
SHARE_BEYOND = 0.04
# But a tenth of the loss is worth any number of them. (78 sets: 0.994 ± 0.003 of the errors, 1.05 times the
# numbers; White wine had 14 of them without it, and 49.8 instead of 44.8 % of mistakes.)
MOST_SHARE = 0.1
# Where few observations, or few of all classes but the largest, speak, so many times 1 + 60/observations. (30
# of 3,000 rows that a line finds: an area of 0.83 under the curve without it, 0.89 with it.)
FEW_OBSERVATIONS = 60.0
# What is clearly worse is so many standard errors worse: candidates that are behind the best after a round,
# and by the largest share, are out, and at most so many go on (three instead of two: the same errors on 78
# sets); cutting numbers ends. (Steps in learnt directions learn slowly, and on few rows look worse than they
# are. A loss that has grown falls again when the next training goes on: ended by a share of 0.05 diamonds had
# 2,249 numbers, RMSE 590; so 162, 615.)
CLEAR_ERRORS = 2.0
FINALISTS = 2

# -- Fewer numbers ------------------------------------------------------------------------------------------

# The share of its numbers that a model keeps from one size to the next.
KEPT_SHARE = 0.6
# Rows on which it is estimated what a condition is good for: an order is all that is needed.
CUT_ROWS = 500
# Digits that numbers of units may be rounded to, and the share of the residuals' variance by which outputs
# may change.
DIGITS = (1, 2, 3, 4, 5, 6, 8, 10)
ROUNDING_SHARE = 1e-3

# -- Judging ------------------------------------------------------------------------------------------------

# Folds that judge where rows are few: a third of the rows each, as much as is held out of many. (Five: the
# same errors on 41 sets, 1.5 times the time and the numbers.) Rows held out choose and judge, and few of them
# do both badly. (A third, 0.4 and half instead of a fifth, 81 fits of 1,000 to 5,000 rows: 0.97, 0.99 and
# 1.02 of the errors, a third over 112 fits of all sizes 1.00; expected errors of classes were 0.99, 0.99 and
# 1.07 of the true ones instead of 0.83.)
FOLDS = 3
# How often rows are drawn again to find by how much those that choose a model flatter it, and how many in
# all: many rows flatter little.
DRAWS = 100
MOST_DRAWN = 2**19
# Rows on which the influence of columns is measured: its error is then below 0.03.
INFLUENCE_ROWS = 1000

# -- Drift --------------------------------------------------------------------------------------------------

# The chance of a false alarm over the whole stream of new rows: half of it is that of the bets,
DRIFT_RATE = 0.01
# and half that the mean error is so many standard errors above what rows left out have promised.
DRIFT_ERRORS = 2.6
# The share above that which is no drift: what chose the model looks better in it than it is.
DRIFT_SLACK = 0.1
