"""Why a model says what it says: contributions of the units, and slopes by the features."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from sleek._runtime.types import FloatArray
from sleek.bases.linear import FAR
from sleek.model.given import rows_of
from sleek.model.kernel_model import KernelModel
from sleek.tables.columns import CategoryColumn

SHOWN_ROWS = 5  # printed in full
Table = tuple[str, list[str], list[list[str]]]  # title, head, body


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why a model says what it says for a row or several (n of them).

    The outputs are sums: ``outputs = contributions.sum(axis=1) + b``. Near a row they are, to first order and
    for piecewise linear bases exactly, ``slopes @ x + intercepts``: the paper's α(x) and β(x).

    Attributes
    ----------
    rows : array of shape (n, n_features)
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
        return Explanation(
            rows=self.rows[one],
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
        parts = [_as_html(table) for row in range(min(len(self), SHOWN_ROWS)) for table in self._tables(row)]
        return "\n".join([*parts, *(f"<p>{line}</p>" for line in self._rest())])

    def _rest(self) -> list[str]:
        more = len(self) - SHOWN_ROWS
        return [f"… and {more} more rows"] if more > 0 else []

    def _tables(self, row: int) -> list[Table]:
        """The row's sum, heaviest unit first, and its linear form."""
        weight = np.abs(self.contributions[row]).max(axis=1)
        body = [
            [f"unit {j}", _say(self.units[row, j]), *map(_say, self.contributions[row, j])]
            for j in np.argsort(-weight, kind="stable")
        ]
        body.append(["b", "", *map(_say, self.b)])
        body.append(["sum", "", *map(_say, self.outputs[row])])
        title = f"Row {row}: prediction {self._prediction(row)}"
        tables: list[Table] = [(title, ["", "value", *self.output_names], body)]
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

    def _is_other_level(self, row: int, feature: int) -> bool:
        """Whether a feature is a level of a category that the row is not of."""
        return bool(self.levels) and self.levels[feature] and self.rows[row, feature] == 0

    def _prediction(self, row: int) -> str:
        value = self.predictions[row]
        if np.ndim(value):
            return ", ".join(map(_say, value))
        return _say(value) if isinstance(value, float) else repr(np.asarray(value).item())


def explain(model: KernelModel, X: Any) -> Explanation:
    """The explanation of a row or several, in O(n·n_units·n_features) time; see `KernelModel.explain`."""
    rows = rows_of(model, X, one_row=True)[:].astype(np.float64, copy=False)
    Phi = model.features(rows)
    contributions = Phi[:, :, None] * model.theta  # (n, m, k)
    outputs = contributions.sum(axis=1) + model.b
    formulas, (words, levels) = [part.basis.formula for part in model.parts], _words(model)
    slopes = intercepts = None
    if None not in formulas:
        near = np.clip(rows, -FAR, FAR)  # further away models are as flat as there
        with np.errstate(over="ignore"):
            gradients = [
                formula.gradient(near, part.units)
                for part, formula in zip(model.parts, formulas, strict=True)
                if formula is not None
            ]
        slopes = np.einsum("mk,nmd->nkd", model.theta, np.concatenate(gradients, axis=1))
        intercepts = outputs - np.einsum("nkd,nd->nk", slopes, rows)
    return Explanation(
        rows=rows,
        units=Phi,
        contributions=contributions,
        b=model.b,
        outputs=outputs,
        predictions=model.predict_unchecked(rows),
        slopes=slopes,
        intercepts=intercepts,
        exact=all(formula is not None and formula.is_piecewise_linear() for formula in formulas),
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
    lines = [[_plain(cell) for cell in line] for line in [head, *body]]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    text = [
        "  ".join(
            [line[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(line[1:], widths[1:], strict=True))]
        )
        for line in lines
    ]
    return "\n".join([_plain(title), *(line.rstrip() for line in text)])


def _as_html(table: Table) -> str:
    title, head, body = table
    heads = "".join(f"<th>{escape(_plain(cell))}</th>" for cell in head)
    rows = [
        f"<tr><th>{escape(_plain(line[0]))}</th>"
        + "".join(f"<td>{escape(cell)}</td>" for cell in line[1:])
        + "</tr>"
        for line in body
    ]
    caption = f"<caption>{escape(_plain(title))}</caption>"
    return f"<table>{caption}<tr>{heads}</tr>{''.join(rows)}</table>"


def _plain(text: str) -> str:
    """On one line: control characters of a name are not let through to a terminal."""
    return text if text.isprintable() else repr(text)[1:-1]
