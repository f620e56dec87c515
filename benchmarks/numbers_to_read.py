"""How many numbers a person has to read to have the whole of a fitted model.

One rule for all: a number is counted where it stands in the model, zeros are not, and a cut point that a
column has already is not counted again, as in sleek's own count (`KernelModel.n_numbers`). Names of columns
are no numbers, nor is which cut belongs to which tree. What could be folded into other numbers, such as a
standardisation into weights and centres, is not counted either. So large models come out smaller than they
are stored, never larger.

>>> from sklearn.tree import DecisionTreeClassifier
>>> tree_numbers(DecisionTreeClassifier().fit([[0.0], [1.0], [2.0]], [0, 1, 0]))  # 2 cuts, 3 leaves
5
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

KNOT = re.compile(r"(?:max|min)\((X\d+)([-+][^,]+),0\)")  # max(X4-0.25,0) in the name of a term of aplr


def outputs_of(n_classes: int) -> int:
    """Numbers in a leaf: one for two classes, whose probabilities add up to 1, else one for each.

    >>> outputs_of(2), outputs_of(5)
    (1, 5)
    """
    return 1 if n_classes == 2 else n_classes


def sleek_numbers(model: Any) -> int:
    """Centres, widths, sides and corners that are not shared, weights and constants."""
    return int(model.model_.n_numbers)


def lasso_numbers(model: Any) -> int:
    """Weights that are not 0, and a constant for each output."""
    linear = model[-1]
    return int(np.count_nonzero(linear.coef_) + np.size(linear.intercept_))


def tree_numbers(model: Any) -> int:
    """Cuts, and what the leaves say."""
    tree = model.tree_
    inner = tree.children_left >= 0
    cuts = set(zip(tree.feature[inner], tree.threshold[inner], strict=True))
    classes = outputs_of(len(model.classes_)) if hasattr(model, "classes_") else 1
    return len(cuts) + int(np.sum(~inner)) * classes


def figs_numbers(model: Any) -> int:
    """Cuts of all trees, and what their leaves add."""
    nodes = [node for root in model.trees_ for node in below(root)]
    cuts = {(node.feature, node.threshold) for node in nodes if node.left is not None}
    leaves = sum(node.left is None for node in nodes)
    return len(cuts) + leaves * (outputs_of(len(model.classes_)) if hasattr(model, "classes_") else 1)


def below(node: Any) -> Iterator[Any]:
    """A node of FIGS and all under it."""
    yield node
    for child in (node.left, node.right):
        if child is not None:
            yield from below(child)


def rulefit_numbers(model: Any) -> int:
    """Cuts and a weight for every rule in use; for a linear term its weight and the two ends of its range."""
    coef = np.asarray(model.coef, dtype=float)
    linear, of_rules = coef[: -len(model.rules_) or None], coef[len(coef) - len(model.rules_) :]
    rules = [rule for rule, weight in zip(model.rules_, of_rules, strict=True) if weight != 0]
    cuts = {(column, value) for rule in rules for (column, _), value in rule.agg_dict.items()}
    return len(cuts) + len(rules) + 3 * int(np.count_nonzero(linear)) + 1


def aplr_numbers(model: Any) -> int:
    """Knots and weights of all terms, and a constant; with more than two classes, of each class."""
    model = model.fitted_
    if not hasattr(model, "get_categories"):
        return terms_numbers(model)
    classes = list(model.get_categories())
    classes = classes[:1] if len(classes) == 2 else classes  # of two the second has the opposite weights
    return sum(terms_numbers(model.get_logit_model(name)) for name in classes)


def terms_numbers(model: Any) -> int:
    """Numbers of one regression of aplr: knots as they stand in the names of its terms, and weights."""
    knots = {knot for name in model.get_term_names() for knot in KNOT.findall(name)}
    return len(knots) + int(np.count_nonzero(model.get_term_coefficients()))  # with the intercept


def pygam_numbers(model: Any) -> int:
    """Coefficients of the splines, the two ends of each (knots are evenly spaced), a constant."""
    model = model.fitted_
    splines = sum(not term.isintercept for term in model.terms)
    return int(np.count_nonzero(model.coef_)) + 2 * splines


def erbf_numbers(model: Any) -> int:
    """A centre and a width for every unit and column, a weight for every unit, and a constant."""
    model = model.fitted_
    return int(np.size(model.centres_) + np.size(model.widths_) + np.size(model.weights_)) + 1


def fasterrisk_numbers(model: Any) -> int:
    """Points that are not 0, the cut that each belongs to, the constant, and what a point is worth."""
    return 2 * int(np.count_nonzero(model.points_)) + 2


def igann_numbers(model: Any) -> int:
    """A curve for each column, as a formula or as a table of the training values, whichever is shorter.

    The formula has a weight for the column, and for each network two numbers a hidden unit; the table has a
    value and an output. A constant comes to either. Without networks what is left is a lasso.
    """
    model = getattr(model, "regressor_", model)  # scaled targets, and scaled features
    model = (model[-1] if hasattr(model, "steps") else model).fitted_
    linear = int(np.count_nonzero(model.linear_model.coef_))
    if not model.regressors:
        return linear + 1
    formula = linear + 2 * len(model.regressors) * model.n_hid * len(model.unique)
    return 1 + min(int(formula), 2 * _sizes(model.unique))


def ebm_numbers(model: Any) -> int:
    """Scores of all bins and pairs of bins, and the cuts between bins.

    Bins beside each other with the same scores are one step; those of missing and unknown values, which no
    table here has, are left out.
    """
    cuts: set[tuple[int, float]] = set()
    found = np.size(model.intercept_)
    for columns, scores in zip(model.term_features_, model.term_scores_, strict=True):
        inside = scores[tuple(slice(1, -1) for _ in columns)]
        for axis, column in enumerate(columns):
            levels = model.bins_[column]
            edges = np.asarray(levels[min(len(columns), len(levels)) - 1], dtype=float)
            steps = np.flatnonzero(_differ(inside, axis))
            cuts.update((column, edge) for edge in edges[steps])
            inside = np.take(inside, np.r_[0, steps + 1], axis=axis)
        found += int(np.count_nonzero(inside))
    return int(found) + len(cuts)


def _differ(table: Any, axis: int) -> Any:
    """Which slices of an axis differ from those before them."""
    changes = np.diff(np.moveaxis(table, axis, 0), axis=0) != 0
    return changes.reshape(len(changes), -1).any(axis=1)


def catboost_numbers(model: Any) -> int:
    """Cuts in use, and the values of all leaves."""
    return _sizes(model.get_borders().values()) + int(np.size(model.get_leaf_values()))


def _sizes(lists: Iterable[Any]) -> int:
    return sum(len(some) for some in lists)
