"""Algorithm 1 as it can be read: where the paper's text is open, each reading measured on Ripley's data.

This is the algorithm written out once more, plainly, for small data, with a switch for every open question:

- order: all units moved together, or one after another with the dual variables kept (the letter of
  Algorithm 1), or one after another with the closed form solved anew before each;
- norm: steps of length η for each unit's centre and shape (the letter), for both together, or for all units;
- duals: the gradient with a∘t (the derivation), or with a (labels left out, as in the regression model);
- end: the closed form once more for the final units, or a and b as before the last move (the letter);
- direction: up the criterion (the text's formula), or down (its words "gradient descent");
- features: raw, or brought to variance 1;
- start: the best of a few k-medoids with swaps, or textbook k-medoids (rows to the nearest medoid, then the
  best medoid of each cluster, until nothing changes) from random rows;
- criterion of LSSVM-SBF, which the paper leaves unsaid; number of iterations.

`sleek.Alternating` is the first reading; a test compares the two.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass, replace
from io import StringIO
from typing import Any

import numpy as np

from paper.settings import ITERATIONS, SETTINGS, TABLE_1, Setting
from sleek._runtime.types import FloatArray
from studies.markdown import table as as_markdown
from studies.problems import Problem


@dataclass(frozen=True)
class Reading:
    """One way to read Algorithm 1."""

    label: str
    order: str = "together"
    norm: str = "each"
    duals: str = "a∘t"
    sign: float = 1.0
    last_solve: bool = True
    standardize: bool = False
    sbf_criterion: str = "absolute"
    start: int | None = None  # the seed of a textbook k-medoids


CHOSEN = Reading("sleek: together; c, μ; a∘t")
ORDERS = {"together": "together", "in turn": "in turn", "solved": "in turn, solved"}
NORMS = {"each": "c, μ", "unit": "unit", "all": "all"}
READINGS = (
    CHOSEN,
    *(
        Reading(f"{order_text}; {norm_text}; {duals}", order, norm, duals)
        for order, order_text in ORDERS.items()
        for norm, norm_text in NORMS.items()
        for duals in ("a∘t", "a")
        if (order, norm, duals) != ("together", "each", "a∘t")
    ),
    replace(CHOSEN, label="no closed form at the end", last_solve=False),
    replace(CHOSEN, label="down the criterion", sign=-1.0),
    replace(CHOSEN, label="features of variance 1", standardize=True),
    *(replace(CHOSEN, label=f"textbook start {seed}", start=seed) for seed in range(1, 7)),
    replace(CHOSEN, label="SBF by squared criterion", sbf_criterion="squared"),
    replace(CHOSEN, label="SBF by target criterion", sbf_criterion="target"),
)
ROWS = ("sbf", "absolute", "squared", "target")


@dataclass(frozen=True)
class ReadingTable:
    """Test errors after every iteration, for each reading and each of the four low rank models."""

    paths: dict[Reading, dict[str, FloatArray]]  # (iterations + 1,) for each model

    def grid(self) -> tuple[list[str], list[list[str]]]:
        """Headings and rows: final and lowest error on the way, and the final one's worst deviation."""
        header = ["order; step; duals", *ROWS, "worst"]
        rows = [["published", *(f"{TABLE_1[row].mean:.1f}" for row in ROWS), ""]]
        for reading, paths in self.paths.items():
            cells = [f"{path[-1]:.1f}/{path.min():.1f}" for path in paths.values()]
            furthest = max(abs(paths[row][-1] - TABLE_1[row].mean) for row in ROWS)
            rows.append([reading.label, *cells, f"{furthest:.1f}"])
        return header, rows

    def markdown(self) -> str:
        """The table in Markdown."""
        header, rows = self.grid()
        return "\n".join(as_markdown(header, rows))

    def csv(self) -> str:
        """One line for each reading, model and iteration."""
        text = StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["reading", "model", "iteration", "test_error"])
        for reading, paths in self.paths.items():
            for row, path in paths.items():
                writer.writerows([reading.label, row, i, f"{e:.1f}"] for i, e in enumerate(path))
        return text.getvalue()

    def rich(self) -> Any:
        """The table for the screen."""
        from rich.box import SIMPLE_HEAD
        from rich.table import Table

        header, rows = self.grid()
        title = f"Readings of Algorithm 1: Ripley error after {ITERATIONS} iterations/lowest"
        table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
        for index, heading in enumerate(header):
            table.add_column(heading, justify="left" if index == 0 else "right", no_wrap=True)
        for row in rows:
            table.add_row(*row)
        return table


def read_ripley(problem: Problem, advance: Callable[[str], None] = lambda line: None) -> ReadingTable:
    """Run every reading on Ripley's data; `advance` is called after each."""
    table: dict[Reading, dict[str, FloatArray]] = {}
    for reading in READINGS:
        table[reading] = {row: error_path(problem, SETTINGS["ripley"][row], reading) for row in ROWS}
        advance(reading.label)
    return ReadingTable(table)


def error_path(problem: Problem, setting: Setting, reading: Reading) -> FloatArray:
    """Test errors in per cent before the first and after every iteration."""
    X, y, X_test, y_test = problem.split(0)
    t, t_test = 2.0 * y - 1.0, 2.0 * y_test - 1.0
    if reading.standardize:
        mean, std = X.mean(axis=0), X.std(axis=0)
        X, X_test = (X - mean) / std, (X_test - mean) / std
    if setting.basis == "simplex":
        setting = replace(setting, objective=reading.sbf_criterion)
    if reading.start is None:
        centers = setting.model().set_params(trainer__max_iter=0).fit(X, y).centers_.copy()
    else:
        centers = textbook_medoids(X, setting.n_units, np.random.default_rng(reading.start))
    machine = _Machine(X, t, centers, setting, reading)
    errors = [machine.error(X_test, t_test)]
    for _ in range(ITERATIONS):
        machine.iterate()
        errors.append(machine.error(X_test, t_test))
    return np.array(errors)


def textbook_medoids(X: FloatArray, n_medoids: int, rng: np.random.Generator) -> FloatArray:
    """Medoids by turns: rows to the nearest medoid, then the member of each cluster nearest to the others.

    >>> X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    >>> np.sort(textbook_medoids(X, 2, np.random.default_rng(1)).ravel())
    array([ 1., 11.])
    """
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    medoids = rng.choice(len(X), n_medoids, replace=False)
    while True:
        nearest = np.argmin(distances[medoids], axis=0)
        clusters = [np.flatnonzero(nearest == j) for j in range(n_medoids)]
        better = np.array([rows[distances[np.ix_(rows, rows)].sum(axis=0).argmin()] for rows in clusters])
        if distances[better].min(axis=0).sum() >= distances[medoids].min(axis=0).sum():
            return X[medoids].copy()
        medoids = better


class _Machine:
    """The state of Algorithm 1: units c, μ; closed form θ, b and dual variables a∘t."""

    def __init__(
        self, X: FloatArray, t: FloatArray, centers: FloatArray, setting: Setting, reading: Reading
    ) -> None:
        self.X, self.t = X, t
        self.centers = centers
        self.shapes = np.full_like(centers, setting.shape)
        self.setting, self.reading = setting, reading
        self.solve()

    def features(self, X: FloatArray) -> FloatArray:
        Z = np.sum(self.shapes * np.abs(X[:, None, :] - self.centers), axis=2)
        Phi: FloatArray = np.maximum(0.0, 1.0 - Z) if self.setting.basis == "simplex" else np.exp(-Z)
        return Phi

    def solve(self) -> None:
        Phi = self.features(self.X)
        P = Phi - Phi.mean(axis=0)
        system = P.T @ P + np.eye(len(self.centers)) / self.setting.C
        self.theta = np.linalg.solve(system, P.T @ (self.t - self.t.mean()))
        self.b = self.t.mean() - Phi.mean(axis=0) @ self.theta
        self.duals = self.setting.C * (self.t - Phi @ self.theta - self.b)  # a∘t

    def error(self, X: FloatArray, t: Any) -> float:
        outputs = self.features(X) @ self.theta + self.b
        return 100.0 * float(np.mean((outputs > 0) != (t > 0)))

    def iterate(self) -> None:
        """One pass of Algorithm 1's outer loop, and what then follows for θ and b."""
        self.solve()
        if self.reading.order == "together":
            d_centers, d_shapes = self.directions()
            self.move(slice(None), d_centers, d_shapes)
        else:
            for j in range(len(self.centers)):
                if self.reading.order == "solved":
                    self.solve()
                d_centers, d_shapes = self.directions()
                self.move(slice(j, j + 1), d_centers[j : j + 1], d_shapes[j : j + 1])
        if self.reading.last_solve:
            self.solve()
        else:
            self.theta = self.features(self.X).T @ self.duals

    def move(self, units: slice, d_centers: FloatArray, d_shapes: FloatArray) -> None:
        step = self.reading.sign * self.setting.learning_rate
        self.centers[units] += step * d_centers
        self.shapes[units] = np.maximum(0.0, self.shapes[units] + step * d_shapes)

    def directions(self) -> tuple[FloatArray, FloatArray]:
        """The normalised gradients of the criterion by centres and shapes, at the kept dual variables."""
        Phi = self.features(self.X)
        y = Phi @ (Phi.T @ self.duals) + self.b
        v = {"absolute": np.sign(y), "squared": 2.0 * y, "target": self.t}[self.setting.objective]
        duals = self.duals if self.reading.duals == "a∘t" else self.duals * self.t
        weight = np.outer(v, Phi.T @ duals) + np.outer(duals, Phi.T @ v)  # vᵀ(∂K/∂φ_j)(a∘t)
        slope = weight * ((Phi > 0) if self.setting.basis == "simplex" else Phi)
        difference = self.X[:, None, :] - self.centers
        by_center = np.einsum("nm,nmd->md", slope, self.shapes * np.sign(difference))
        by_shape = np.einsum("nm,nmd->md", slope, -np.abs(difference))
        return self.normalized(by_center, by_shape)

    def normalized(self, by_center: FloatArray, by_shape: FloatArray) -> tuple[FloatArray, FloatArray]:
        if self.reading.norm == "each":
            parts = [np.linalg.norm(g, axis=1, keepdims=True) for g in (by_center, by_shape)]
        elif self.reading.norm == "unit":
            both = np.linalg.norm(np.hstack([by_center, by_shape]), axis=1, keepdims=True)
            parts = [both, both]
        else:
            parts = [np.array([[np.linalg.norm(g)]]) for g in (by_center, by_shape)]
        tiny = np.finfo(float).tiny
        return by_center / np.maximum(parts[0], tiny), by_shape / np.maximum(parts[1], tiny)
