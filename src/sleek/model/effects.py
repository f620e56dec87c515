"""Effects of columns and of pairs of columns: the functional ANOVA decomposition of a model.

Under the product of the training columns' own distributions a model is, in exactly one way, a sum

    y(x) = mean + Σ_c f_c(x_c) + Σ_{c<d} f_cd(x_c, x_d) + rest

in which every effect has mean 0 over each of its columns. Effects of different columns are then orthogonal,
and their variances add up to that of the model. The formulas are in `effect_parts`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sleek._runtime.machine import keep_freed_memory
from sleek._runtime.threads import Workers, single_threaded_blas
from sleek._runtime.types import FloatArray, IntArray
from sleek.model.effect_parts import ColumnOfModel, ProductUnits, SampleAverages, draw_rows, units_by_kind
from sleek.model.effect_words import words_of
from sleek.tables.columns import Column, NumberColumn

if TYPE_CHECKING:
    from sleek.model.kernel_model import KernelModel
    from sleek.model.truncation import Truncation

LEAST_SHARE = 0.001  # of the variance: a pair below it is counted in the rest
MOST_PAIRS = 30
BLOCK_ROWS = 2048
FEW_VALUES, FIRST_ROWS = 128, 512  # values that so many rows have in common are computed once
VARIANCE_ROWS = 2048  # drawn for the variance of models that have no closed form
ENOUGH = 0.95  # of what curves and pairs say: the rest of them are not worth a sentence


@dataclass(frozen=True, eq=False)
class Curve:
    """What one column alone does to the outputs.

    Attributes
    ----------
    column : str
    values : list
        Numbers, dates or levels, as people know them; "(missing)" for a gap.
    outputs : array of shape (n_values, n_outputs)
        What is added to the mean there.
    weights : array of shape (n_values,)
        The share of the training rows that have about this value.
    share : float
        Of the variance of the model's outputs.
    """

    column: str
    values: list[Any]
    outputs: FloatArray
    weights: FloatArray
    share: float


@dataclass(frozen=True, eq=False)
class Pair:
    """What two columns together do to the outputs, beside what each does alone.

    Attributes
    ----------
    columns : tuple of two str
    values : tuple of two lists
    outputs : array of shape (n_values, n_values, n_outputs)
    share : float
        Of the variance of the model's outputs.
    weights : tuple of two arrays
        The share of the training rows that have about a value of each column.
    """

    columns: tuple[str, str]
    values: tuple[list[Any], list[Any]]
    outputs: FloatArray
    share: float
    weights: tuple[FloatArray, FloatArray]


@dataclass(frozen=True, eq=False)
class Contributions:
    """The effects at some rows, which add up to the outputs.

    Attributes
    ----------
    names : tuple
        Names of columns, pairs of names, and "rest".
    values : array of shape (n, n_names, n_outputs)
    mean : array of shape (n_outputs,)
    outputs : array of shape (n, n_outputs)
        ``mean + values.sum(axis=1)``: the decision values.
    model : KernelModel
    """

    names: tuple[Any, ...]
    values: FloatArray
    mean: FloatArray
    outputs: FloatArray
    model: KernelModel

    def __len__(self) -> int:
        return len(self.outputs)

    def __getitem__(self, rows: slice) -> Contributions:
        """Those of some of the rows."""
        return replace(self, values=self.values[rows], outputs=self.outputs[rows])

    def probabilities(self) -> FloatArray:
        """What each effect does to the probability of each class, (n, n_names, n_classes).

        It is the probability as it is, minus that without the effect. These do not add up: probabilities are
        no sums. Classifiers only.
        """
        calibration = self.model.uncertainty.class_calibration
        with_all = calibration.probabilities(self.outputs)
        without = self.outputs[:, None] - self.values  # (n, n_names, n_outputs)
        flat = calibration.probabilities(without.reshape(-1, without.shape[2]))
        found: FloatArray = with_all[:, None] - flat.reshape(*without.shape[:2], -1)
        return found


class Effects:
    """A model as the sum of a mean, a curve for each column, a surface for some pairs, and a rest.

    Parameters
    ----------
    model : KernelModel
        With `facts` that say how its columns are distributed, as every fit leaves behind.

    Attributes
    ----------
    mean : array of shape (n_outputs,)
    curves : dict of str to Curve
        In the order of the model's columns.
    pairs : dict of (str, str) to Pair
        Those with at least 0.1 % of the variance, the largest first.
    shares : dict
        The share of the variance of the outputs that each curve, each pair and the rest make up, largest
        first. The rest are effects of three columns and more, and pairs that are not listed.

    Examples
    --------
    >>> from sleek import LowRankLSSVR
    >>> X = np.random.default_rng(0).uniform(size=(300, 3))
    >>> y = 4 * X[:, 0] + np.sin(6 * X[:, 1])
    >>> effects = LowRankLSSVR(basis="gaussian_rbf", random_state=0).fit(X, y).model_.effects()
    >>> list(effects.shares)[:2], round(effects.shares["x0"], 1)
    (['x0', 'x1'], 0.7)
    """

    def __init__(self, model: KernelModel) -> None:
        self.model, self.columns = model, columns_of(model)
        self.groups = units_by_kind(model.expansion, model.theta, self.columns)
        self.mean: FloatArray = model.b + sum((group.mean() for group in self.groups), np.zeros(len(model.b)))
        weights, n_columns = [column.weights for column in self.columns], range(len(self.columns))
        points = [[group.prepare(c, self.columns[c].points) for group in self.groups] for c in n_columns]
        at_points = [self._curve(c, points[c]) for c in n_columns]
        own = [w @ f**2 for w, f in zip(weights, at_points, strict=True)]  # variances, (n_outputs,)
        surfaces, together = {}, {}
        for c, d in dict.fromkeys(pair for group in self.groups for pair in group.pairs()[:MOST_PAIRS]):
            f = self._surface(c, d, points[c], points[d])
            surfaces[c, d] = f
            together[c, d] = np.einsum("a,b,abk->k", weights[c], weights[d], f * f)
        self.variances = self._variance(sum(own), sum(together.values()), points)
        total = float(self.variances.sum())
        unit = 1.0 / total if total > 0 else 0.0
        self.curves = {
            column.name: Curve(column.name, column.words(), f, w, float(v.sum()) * unit)
            for column, f, w, v in zip(self.columns, at_points, weights, own, strict=True)
        }
        of_pairs = {pair: float(v.sum()) * unit for pair, v in together.items()}
        listed = sorted(of_pairs, key=lambda pair: -of_pairs[pair])
        self.listed = [pair for pair in listed if of_pairs[pair] >= LEAST_SHARE][:MOST_PAIRS]
        self.pairs = {}
        for c, d in self.listed:
            one, two = self.columns[c], self.columns[d]
            self.pairs[one.name, two.name] = Pair(
                (one.name, two.name),
                (one.words(), two.words()),
                surfaces[c, d],
                of_pairs[c, d],
                (one.weights, two.weights),
            )
        found: dict[Any, float] = {name: curve.share for name, curve in self.curves.items()}
        found |= {names: pair.share for names, pair in self.pairs.items()}
        found["rest"] = max(0.0, 1.0 - sum(found.values())) if total > 0 else 0.0
        self.shares = dict(sorted(found.items(), key=lambda item: -item[1]))
        self._by_output: dict[Any, FloatArray] = dict(zip(self.curves, own, strict=True))
        self._by_output |= {
            names: together[pair] for names, pair in zip(self.pairs, self.listed, strict=True)
        }

    def shares_of(self, output: int) -> dict[Any, float]:
        """The share of the variance of one output that each curve and each pair make up, largest first."""
        total = float(self.variances[output])
        found = {name: float(v[output]) / total if total > 0 else 0.0 for name, v in self._by_output.items()}
        return dict(sorted(found.items(), key=lambda item: -item[1]))

    def contributions(self, X: Any, n_jobs: int = 1) -> Contributions:
        """The effect of every column and listed pair at some rows, and the rest.

        They add up: ``mean + values.sum(axis=1)`` are the decision values, to rounding.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), a table, or a row alone
            A row is a dictionary of values, a Series, or a list.
        n_jobs : int, default=1
            Threads.
        """
        from sleek.model.rows_to_predict import features_of_rows

        keep_freed_memory()
        model = self.model
        rows = features_of_rows(model, X)
        outputs = model.outputs_unchecked(rows)
        names = (*self.curves, *self.pairs, "rest")
        values = np.zeros((len(rows), len(names), len(self.mean)))
        if model.n_units:
            self._fill(rows, values, n_jobs)
        values[:, -1] = outputs - self.mean - values[:, :-1].sum(axis=1)
        return Contributions(names, values, self.mean, outputs, model)

    def curve_at(self, column: str, values: FloatArray) -> FloatArray:
        """The curve of a column at features of one's own (n, n_features of the column): (n, n_outputs)."""
        c = list(self.curves).index(column)
        return self._curve(c, self._prepare(c, values))

    def surface_at(self, columns: tuple[str, str], one: FloatArray, two: FloatArray) -> FloatArray:
        """What a listed pair adds at features of one's own: (n_one, n_two, n_outputs)."""
        c, d = (list(self.curves).index(name) for name in columns)
        found: FloatArray = self._surface(c, d, self._prepare(c, one), self._prepare(d, two))
        return found

    def truncated(self, order: int = 2) -> Truncation:
        """The model without the effects of more than `order` columns together, and what that costs.

        Its units look at one column or two. Units of more are cut into such, with weights that make their sum
        the mean, the curves and the listed pairs of the model; or, if sums over rows are kept and it costs
        less, they are left out and the weights of the others solved again.

        Parameters
        ----------
        order : {1, 2}, default=2

        Returns
        -------
        Truncation
            ``.model`` is a `KernelModel`; ``print`` says what it costs.

        Examples
        --------
        >>> from sleek import LowRankLSSVR
        >>> X = np.random.default_rng(0).uniform(size=(300, 3))
        >>> y = 4 * X[:, 0] + np.sin(6 * X[:, 1])
        >>> model = LowRankLSSVR(8, basis="gaussian_rbf", C=100.0, random_state=0).fit(X, y).model_
        >>> curves = model.effects().truncated(order=1)
        >>> curves.share < 0.05, max(len(unit.nonzero()[0]) for unit in curves.model.parts[0].units["shapes"])
        (True, 1)
        """
        from sleek.model.truncation import truncate

        return truncate(self, order)

    def _fill(self, rows: FloatArray, values: FloatArray, n_jobs: int) -> None:
        """The effects of all columns and listed pairs, (n, n_effects, n_outputs)."""
        coded = [_distinct(rows[:, column.place]) for column in self.columns]
        whole = [
            None if found is None else self._prepare(c, rows[found[0], self.columns[c].place])
            for c, found in enumerate(coded)
        ]
        blockwise: list[tuple[int, tuple[int, ...]]] = []
        for c, (found, prepared) in enumerate(zip(coded, whole, strict=True)):
            if found is not None and prepared is not None:
                values[:, c] = self._curve(c, prepared)[found[1]]
            else:
                blockwise.append((c, (c,)))
        for number, (c, d) in enumerate(self.listed, start=len(self.columns)):
            one, two = coded[c], coded[d]
            if one is not None and two is not None:
                f = self._surface(c, d, whole[c], whole[d])
                values[:, number] = f[one[1], two[1]]
            else:
                blockwise.append((number, (c, d)))
        needed = dict.fromkeys(c for _, places in blockwise for c in places)

        def fill(begin: int) -> None:
            block = slice(begin, begin + BLOCK_ROWS)
            here = {c: self._prepare(c, rows[block, self.columns[c].place]) for c in needed}
            for number, (c, *other) in blockwise:
                values[block, number] = (
                    self._pair(c, other[0], here[c], here[other[0]]) if other else self._curve(c, here[c])
                )

        if blockwise:
            with single_threaded_blas():
                Workers(n_jobs).map_list(fill, range(0, len(rows), BLOCK_ROWS))

    def _prepare(self, c: int, values: FloatArray) -> list[Any]:
        return [group.prepare(c, values) for group in self.groups]

    def _curve(self, c: int, prepared: list[Any]) -> FloatArray:
        total: FloatArray = np.sum(
            [group.curve(c, known) for group, known in zip(self.groups, prepared, strict=True)], axis=0
        )
        return total

    def _pair(self, c: int, d: int, one: list[Any], two: list[Any]) -> Any:
        groups = zip(self.groups, one, two, strict=True)
        return sum(group.pair(c, d, a, b) for group, a, b in groups)

    def _surface(self, c: int, d: int, one: Any, two: Any) -> Any:
        """f_cd at all pairs of values: (n_c, n_d, n_outputs)."""
        groups = zip(self.groups, one, two, strict=True)
        return sum(group.surface(c, d, a, b) for group, a, b in groups)

    def _variance(self, own: Any, together: Any, points: list[list[Any]]) -> FloatArray:
        """Of each output, (n_outputs,)."""
        if any(isinstance(group, SampleAverages) for group in self.groups):
            rows = draw_rows(self.columns, np.random.default_rng(1), VARIANCE_ROWS)
            sampled = self.model.outputs_unchecked(rows).var(axis=0)
            return np.asarray(np.maximum(sampled, own + together))
        total = own + np.zeros(len(self.mean))
        for number, group in enumerate(self.groups):
            # Other units have curves alone: they change the curves' part of the variance, and nothing else.
            if isinstance(group, ProductUnits):
                alone = [group.curve(c, prepared[number]) for c, prepared in enumerate(points)]
                pairs_of = zip(self.columns, alone, strict=True)
                total = total + group.variance() - sum(c.weights @ f**2 for c, f in pairs_of)
        return np.asarray(np.maximum(total, own + together))

    def __str__(self) -> str:
        return words_of(self)

    @property
    def sentence(self) -> str:
        """How much of the model is in how many curves and pairs."""
        share, taken = 0.0, []
        for name in self.shares:
            if name != "rest" and share < ENOUGH * (1.0 - self.shares["rest"]):
                share += self.shares[name]
                taken.append(name)
        n_pairs = sum(isinstance(name, tuple) for name in taken)
        counts = (len(taken) - n_pairs, "curve"), (n_pairs, "pair")
        said = [f"{n} {word}{'' if n == 1 else 's'}" for n, word in counts if n]
        if not share:
            return "The model says the same of every row."
        return f"{100 * share:.0f} % of what this model says is in {' and '.join(said)}."


def columns_of(model: KernelModel) -> list[ColumnOfModel]:
    """The columns that a model reads, with their distributions."""
    if model.facts is None or model.facts.distributions is None:
        raise ValueError(
            "Effects need the distribution of every column, and this model has none: its file was written by "
            "an older version of sleek. Fit the model again."
        )
    if model.inputs is None:
        columns: tuple[Column, ...] = tuple(NumberColumn(name) for name in model.names_of_features)
        places = [slice(i, i + 1) for i in range(len(columns))]
    else:
        columns, places = model.inputs.columns, model.inputs.places
    return [ColumnOfModel(*found) for found in zip(columns, places, model.facts.distributions, strict=True)]


def _distinct(values: FloatArray) -> tuple[IntArray, IntArray] | None:
    """Rows that have all values (n, d), and which of these rows each is like; None if they are many."""
    if len(values) <= FIRST_ROWS:
        return None
    key = values[:, 0] if values.shape[1] == 1 else values @ np.sqrt(np.arange(2.0, 2.0 + values.shape[1]))
    if len(np.unique(key[:FIRST_ROWS])) > FEW_VALUES:
        return None
    _, first, number = np.unique(key, return_index=True, return_inverse=True)
    same = np.array_equal(values[first][number], values)
    return (first, number) if same and len(first) <= len(values) // 8 else None
