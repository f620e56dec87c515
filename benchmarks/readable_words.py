"""What the page of the readable rivals says in words: how it was measured, abilities, papers."""

from __future__ import annotations

from benchmarks.report_cells import EXTRA_POINTS

INTRODUCTION = f"""\
# Small, readable, accurate: sleek against others that promise it

Written by `benchmarks/readable.py` (`make readable`); do not edit. Methods whose models a person is meant
to read, each with its defaults, on the same rows as sleek; CatBoost is there as the bar for accuracy, not
as something to read. Errors are misclassified test rows in %, and for regression the root mean squared
error in % of the standard deviation of the test target.

**Numbers** are those that a person has to read to have the whole model: cuts, places and widths, weights,
what leaves and bins say. One rule for all, sleek included: zeros are not counted, a cut that a column has
already is not counted again, standardisations are folded into other numbers
(`benchmarks/numbers_to_read.py` has a counting function with its reason for each). It is not all there is
to reading: a tree of 30 numbers is followed by a finger, a sum of 8 bumps is not; 400 numbers of a curve
are one picture.

The **error ratio** is a method's mean error over sleek's on the splits that both have, {EXTRA_POINTS} added
to both of a classification; over sets the geometric mean, ± its standard error as a factor. **Ranks** are
those of the ratios within a set (1 is best; ties share); a method that was ended or failed on a set is last
there, and one that was not run on all of them has no rank; nor have sleek's own shorter models, which are
asked for by `max_numbers=30` and `max_numbers=100`. ± is the standard error over sets. Numbers and
CPU seconds are medians over sets.

Choices of sleek's recipe were made on these sets (docs/training.md), not those of its rivals: a bias in
sleek's favour that is not measured here.
"""

ABILITIES = (
    (
        "tree of depth 4", "be followed with a finger, without arithmetic; fit in milliseconds",
        "smooth relations, errors to expect, intervals",
    ),
    (
        "lasso", "one weight a column; a convex problem with one answer; a path of penalties",
        "bends and interactions without columns made by hand",
    ),
    (
        "FIGS", "a dozen yes-no questions whose answers are added: no exponential, no product",
        "smooth relations, errors to expect, intervals",
    ),
    (
        "pygam", "confidence bands and p-values for each curve, from a theory of the estimate",
        "several classes; interactions that nobody named",
    ),
    (
        "erbf", "nothing that sleek does not do; no choice of units and columns that could "
        "go wrong", "classes; units that see few columns; a size that the data choose",
    ),
    (
        "aplr", "curves piecewise linear, every slope a number; losses of one's own, in Python",
        "models of tens of numbers",
    ),
    (
        "RuleFit", "rules in words (`age > 50 and bmi <= 31`) and lines, no more than a setting allows",
        "several classes; intervals",
    ),
    (
        "igann", "smooth curves of one column each, whatever the data; fits on graphics cards",
        "several classes; interactions; models of tens of numbers",
    ),
    (
        "EBM", "shape functions edited in a user interface; differential privacy; exact curves of any form, "
        "steps included", "models of tens of numbers; fits in a second",
    ),
    (
        "FasterRisk", "whole points, added in the head, on an index card; fifty cards that are "
        "nearly equally good, to choose from", "numbers; several classes",
    ),
    (
        "CatBoost", "ranking, text, graphics cards, categories of high cardinality by target statistics",
        "be read",
    ),
)  # fmt: skip

PAPERS = """\
## Papers, and whose ideas these are

**erbf** is the nearest twin: Gaussian units with a centre and a width for each column, widths learnt by
gradients through the closed form of the weights (L. Gerber, H. Lloyd, *Revisiting Chebyshev Polynomial and
Anisotropic RBF Models for Tabular Regression*, arXiv:2602.22422, 2026; package `erbf`). It keeps centres
where they were placed, all columns in all units, 40 of them; sleek moves centres, drops columns and units,
has other units beside Gaussians, and two classes or more. Neither invented the units. Both go back to

- T. Poggio, F. Girosi, *Networks for approximation and learning*, Proc. IEEE 78(9), 1990: hyper basis
  functions, movable centres and a learnt norm;
- J. Moody, C. Darken, *Fast learning in networks of locally-tuned processing units*, Neural Computation
  1(2), 1989: placed units, then linear weights;
- D. Wettschereck, T. Dietterich, *Improving the performance of radial basis function networks by learning
  center locations*, NIPS 4, 1991;
- G. Golub, V. Pereyra, *The differentiation of pseudo-inverses and nonlinear least squares problems whose
  variables separate*, SIAM J. Numer. Anal. 10(2), 1973: variable projection, gradients through the solved
  weights;
- M. Tipping, *Sparse Bayesian learning and the relevance vector machine*, JMLR 1, 2001: few kernels, chosen
  by the data;
- D. Xu, M. Fang, X. Hong, J. Gao, *Sparse Least Squares Low Rank Kernel Machines*: the paper that sleek
  implements ([rerun](../paper.md)).

The others: H. Nori, S. Jenkins, P. Koch, R. Caruana, *InterpretML*, arXiv:1909.09223, 2019, and Y. Lou, R.
Caruana, J. Gehrke, G. Hooker, *Accurate intelligible models with pairwise interactions*, KDD 2013 (EBM). Y.
S. Tan, C. Singh, K. Nasseri, A. Agarwal, B. Yu, *Fast interpretable greedy-tree sums*, arXiv:2201.11931
(FIGS). J. Friedman, B. Popescu, *Predictive learning via rule ensembles*, Ann. Appl. Stat. 2(3), 2008
(RuleFit). M. von Ottenbreit, R. De Bin, *Automatic piecewise linear regression*, Computational Statistics,
2024 (aplr). M. Kraus, D. Tschernutter, S. Weinzierl, P. Zschech, *Interpretable generalized additive neural
networks*, European Journal of Operational Research 317(2), 2024 (igann). D. Servén, C. Brummitt, *pyGAM*,
2018. J. Liu, C. Zhong, B. Li, M. Seltzer, C. Rudin, *FasterRisk: fast and accurate interpretable risk
scores*, NeurIPS 2022.
"""

CONDITIONS = """\
The problems are those of the [accuracy page](accuracy.md) with its splits: numbers only, nominal columns
one-hot, rows with gaps dropped, so no rival needed another encoding or imputation. A fit that takes more
CPU seconds than the limit is ended, and the method is not tried on further splits of that set. Slow methods
have fewer splits. Every fit is a process of its own: CPU seconds include loading what numba has
compiled for erbf; what sleek needs is loaded once before. The readable rivals have an environment of
their own (`.venv-readable`): igann and
FasterRisk need a NumPy before 2.3, pygam a SciPy before 1.17. FasterRisk asks for scikit-learn 1.2.0 and
pandas 1.5.2 exactly, and was installed without them; it runs as it is.
"""
