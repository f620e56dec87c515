"""Explanation of single predictions: effects of columns, contributions of units, slopes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from sleek._runtime.counting import how_many, plain
from sleek._runtime.types import FloatArray
from sleek.bases.formula import layer_gradient
from sleek.bases.linear import FAR
from sleek.model.effect_words import signed_in_words
from sleek.model.effects import Contributions, Effects
from sleek.model.kernel_model import KernelModel
from sleek.model.reasons import Reason, reasons, value_of_column
from sleek.model.rows_to_predict import features_of_rows
from sleek.tables.columns import CategoryColumn

SHOWN_ROWS = 5  # printed in full
MOST_EFFECTS = 12
LEAST_EFFECT = 0.01  # of the largest: smaller ones share a line
ROUNDING = 1e-9
LEAST_UNIT = 0.001  # of the largest: what adds less plays no part
MOST_REASONS = 3
Table = tuple[str, list[str], list[list[str]]]  # title, head, body


@dataclass(frozen=True, eq=False)
class Explanation:
    """The explanation of the predictions for one row or several (n of them).

    The outputs are sums, and can be read in three ways: as effects of columns,
    ``outputs = effects.mean + effects.values.sum(axis=1)``; as contributions of units,
    ``outputs = contributions.sum(axis=1) + b``; and near a row, to first order and for piecewise linear bases
    exactly, as ``slopes @ x + intercepts``: the paper's α(x) and β(x).

    Attributes
    ----------
    rows : array of shape (n, n_features)
    effects : Contributions or None
        What columns and pairs of columns add to the mean; None if the model does not know how columns are
        distributed.
    values : tuple of dict of str to str
        For each row the columns' values in words: "carat 0.23", "age is missing".
    reasons : tuple of lists of Reason
        For each row the columns that pull most towards what is predicted.
    units : array of shape (n, n_units)
        The value φ_j(x) of each unit.
    contributions : array of shape (n, n_units, n_outputs)
        What each unit adds to each output, θ_j φ_j(x).
    b : array of shape (n_outputs,)
    outputs : array of shape (n, n_outputs)
        Before they are turned into a class: the decision values.
    predictions : array
        The class labels, or the outputs.
    slopes : array of shape (n, n_outputs, n_features) or None
        ∂y/∂x; None for a basis of one's own that has no formula. At a kink |x_i - c_i| counts as flat.
    intercepts : array of shape (n, n_outputs) or None
    exact : bool
        Whether the linear form is exact on the whole linear piece that a row lies in (simplex basis).
    feature_names, output_names : tuples of str
    words : tuple of str
        The features in the words of their columns, as they are shown.
    levels : tuple of bool
        Which features are levels of categories, of which only the row's own is shown; none: no feature is.

    Examples
    --------
    >>> from sleek import LowRankLSSVC
    >>> from sleek.datasets import make_ripley
    >>> X, y = make_ripley(250, random_state=0)
    >>> model = LowRankLSSVC(3, basis="simplex", C=10.0, shape=1.0, random_state=0).fit(X, y).model_
    >>> explanation = model.explain(X[0])
    >>> explanation.contributions.shape, explanation.slopes.shape, explanation.exact
    ((1, 3, 1), (1, 1, 2), True)
    >>> linear = explanation.slopes[0, 0] @ X[0] + explanation.intercepts[0, 0]
    >>> bool(np.isclose(linear, model.decision_function(X[:1])[0], rtol=1e-12))
    True
    """

    rows: FloatArray
    effects: Contributions | None
    values: tuple[dict[str, str], ...]
    reasons: tuple[list[Reason], ...]
    units: FloatArray
    contributions: FloatArray
    b: FloatArray
    outputs: FloatArray
    predictions: Any
    slopes: FloatArray | None
    intercepts: FloatArray | None
    exact: bool
    feature_names: tuple[str, ...]
    output_names: tuple[str, ...]
    words: tuple[str, ...]
    levels: tuple[bool, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, row: int) -> Explanation:
        """The explanation of one row alone."""
        one = slice(range(len(self))[row], range(len(self))[row] + 1)
        effects = self.effects
        return Explanation(
            rows=self.rows[one],
            effects=None if effects is None else effects[one],
            values=self.values[one],
            reasons=self.reasons[one],
            units=self.units[one],
            contributions=self.contributions[one],
            b=self.b,
            outputs=self.outputs[one],
            predictions=self.predictions[one],
            slopes=None if self.slopes is None else self.slopes[one],
            intercepts=None if self.intercepts is None else self.intercepts[one],
            exact=self.exact,
            feature_names=self.feature_names,
            output_names=self.output_names,
            words=self.words,
            levels=self.levels,
        )

    def __iter__(self) -> Iterator[Explanation]:
        return (self[row] for row in range(len(self)))

    def __repr__(self) -> str:
        parts = [_as_text(table) for row in range(min(len(self), SHOWN_ROWS)) for table in self._tables(row)]
        return "\n\n".join([*parts, *self._rest()])

    def _repr_html_(self) -> str:
        from sleek.report.explanation_html import explanation_html

        parts = [_as_html(table) for row in range(min(len(self), SHOWN_ROWS)) for table in self._tables(row)]
        return explanation_html(self, "\n".join([*parts, *(f"<p>{line}</p>" for line in self._rest())]))

    def _rest(self) -> list[str]:
        more = len(self) - SHOWN_ROWS
        return [f"… and {more} more rows"] if more > 0 else []

    def _tables(self, row: int) -> list[Table]:
        """The row's sum by columns, the same by units, heaviest first, and its linear form."""
        title = f"Row {row}: prediction {self.prediction(row)}"
        tables = (
            [(title, ["", *self.output_names], self.effect_lines(row))] if self.effects is not None else []
        )
        weight = np.abs(self.contributions[row]).max(axis=1)
        order = [j for j in np.argsort(-weight, kind="stable") if weight[j] >= LEAST_UNIT * weight.max()]
        body = [
            [f"unit {j}", _say(self.units[row, j]), *map(_say, self.contributions[row, j])] for j in order
        ]
        if len(order) < len(weight):
            others = np.delete(self.contributions[row], order, axis=0).sum(axis=0)
            body.append([f"{len(weight) - len(order)} play no part", "", *map(_say, others)])
        body.append(["b", "", *map(_say, self.b)])
        body.append(["sum", "", *map(_say, self.outputs[row])])
        tables.append((f"Row {row} by units" if tables else title, ["", "value", *self.output_names], body))
        if self.slopes is not None and self.intercepts is not None:
            body = [
                [name, _say(self.rows[row, i]), *map(_say, self.slopes[row, :, i])]
                for i, name in enumerate(self.words)
                if not self._is_other_level(row, i)
            ]
            body.append(["constant", "", *map(_say, self.intercepts[row])])
            kind = "exact on its linear piece" if self.exact else "the tangent"
            tables.append((f"Row {row} as a linear model, {kind}", ["", "value", *self.output_names], body))
        return tables

    def effect_lines(self, row: int, most: int = MOST_EFFECTS) -> list[list[str]]:
        """What the columns of a row add to the average, the largest first, and what they add up to."""
        found = self.effects
        assert found is not None
        size = np.abs(found.values[row]).max(axis=1)
        order = np.argsort(-size, kind="stable")
        shown = [i for i in order[:most] if size[i] >= LEAST_EFFECT * size.max() and size[i] > 0]
        lines = [["on average", *map(signed_in_words, found.mean)]]
        lines += [
            [self.effect_name(row, found.names[i]), *map(signed_in_words, found.values[row, i])]
            for i in shown
        ]
        rounding = ROUNDING * max(float(size.max()), float(np.abs(self.outputs[row]).max()))
        left = [i for i in order if i not in set(shown) and size[i] > rounding]
        if left:
            total = found.values[row, left].sum(axis=0)
            lines.append([how_many(len(left), "smaller effect"), *map(signed_in_words, total)])
        lines.append(["sum", *map(signed_in_words, self.outputs[row])])
        return lines

    def effect_name(self, row: int, name: Any) -> str:
        """A column with the row's value, a pair of columns, or the rest."""
        if isinstance(name, tuple):
            return " × ".join(name)
        return self.values[row].get(name, "everything else together")

    def _is_other_level(self, row: int, feature: int) -> bool:
        """Whether a feature is a level of a category that the row is not of."""
        return bool(self.levels) and self.levels[feature] and self.rows[row, feature] == 0

    def prediction(self, row: int) -> str:
        """What is predicted for a row, as text."""
        value = self.predictions[row]
        if np.ndim(value):
            return ", ".join(map(_say, value))
        return _say(value) if isinstance(value, float) else repr(np.asarray(value).item())


def explain(model: KernelModel, X: Any) -> Explanation:
    """The explanation of a row or several, in O(n·n_units·n_features) time; see `KernelModel.explain`."""
    rows = features_of_rows(model, X)
    effects, found = None, None
    values: tuple[dict[str, str], ...] = ({},) * len(rows)
    why: tuple[list[Reason], ...] = ([],) * len(rows)
    if model.facts is not None and model.facts.distributions is not None:
        effects = Effects(model)
        found = effects.contributions(rows)
        values = tuple({column.name: value_of_column(column, x) for column in effects.columns} for x in rows)
        why = tuple(reasons(effects, rows, found, MOST_REASONS))
    Phi = model.features(rows)
    contributions = Phi[:, :, None] * model.theta  # (n, m, k)
    outputs = contributions.sum(axis=1) + model.b
    layers, (words, levels) = [part.basis.layers for part in model.parts], _words(model)
    slopes = intercepts = None
    if all(layers):
        near = np.clip(rows, -FAR, FAR)  # further away models are as flat as there
        with np.errstate(over="ignore"):
            gradients = [
                layer_gradient(own, near, part.units) for part, own in zip(model.parts, layers, strict=True)
            ]
        slopes = np.einsum("mk,nmd->nkd", model.theta, np.concatenate(gradients, axis=1))
        intercepts = outputs - np.einsum("nkd,nd->nk", slopes, rows)
    return Explanation(
        rows=rows,
        effects=found,
        values=values,
        reasons=why,
        units=Phi,
        contributions=contributions,
        b=model.b,
        outputs=outputs,
        predictions=model.predict_unchecked(rows),
        slopes=slopes,
        intercepts=intercepts,
        exact=all(own and all(layer.is_piecewise_linear() for layer in own) for own in layers),
        feature_names=model.names_of_features,
        output_names=model.outputs.names,
        words=words,
        levels=levels,
    )


def _words(model: KernelModel) -> tuple[tuple[str, ...], tuple[bool, ...]]:
    """The features in the words of their columns, and which of them are levels of categories."""
    if model.inputs is None:
        return model.names_of_features, ()
    names: list[str] = []
    levels: list[bool] = []
    for column in model.inputs.columns:
        said = column.feature_names
        if isinstance(column, CategoryColumn):
            said = tuple(f"{column.name} is {word}" for word in column.words)
        names += said
        levels += [isinstance(column, CategoryColumn)] * len(said)
    return tuple(names), tuple(levels)


def _say(number: Any) -> str:
    return f"{number + 0.0:.4g}"  # no minus in front of 0


def _as_text(table: Table) -> str:
    title, head, body = table
    lines = [[plain(cell) for cell in line] for line in [head, *body]]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    text = [
        "  ".join(
            [line[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(line[1:], widths[1:], strict=True))]
        )
        for line in lines
    ]
    return "\n".join([plain(title), *(line.rstrip() for line in text)])


def _as_html(table: Table) -> str:
    title, head, body = table
    heads = "".join(f"<th>{escape(plain(cell))}</th>" for cell in head)
    rows = [
        f"<tr><th>{escape(plain(line[0]))}</th>"
        + "".join(f"<td>{escape(cell)}</td>" for cell in line[1:])
        + "</tr>"
        for line in body
    ]
    caption = f"<caption>{escape(plain(title))}</caption>"
    return f"<table>{caption}<tr>{heads}</tr>{''.join(rows)}</table>"
