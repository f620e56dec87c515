"""Probabilities and intervals in SQL: further levels of the statement, and further columns of its answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sleek._runtime.types import FloatArray
from sleek.export.sql_text import Dialect, number_literal, quoted, total
from sleek.export.uncertain import Intervals, Probabilities

Name = Callable[[str, int], str]  # of a column of a level: letter and number


@dataclass(frozen=True)
class More:
    """What is asked for beside the answer: at most one of the two."""

    probable: Probabilities | None
    within: Intervals | None
    dialect: Dialect

    def beside(self, m: int, name: Name) -> list[str]:
        """Columns of the outputs' level: sizes s, and the parts v of the leverage."""
        if self.within is None:
            return []
        weights, units = self.within.weights, [f"t.{name('u', j)}" for j in range(m)]
        found = []
        for k, constant in enumerate(self.within.constant.tolist()):
            terms = [] if weights is None else _products(weights[:, k], units)
            found.append(f"{total([number_literal(constant), *terms])} AS {name('s', k)}")
        if self.within.leverage is not None:
            factor, center = self.within.leverage.factor, self.within.leverage.center.tolist()
            for j in range(m):
                terms = [number_literal(-center[j]), *_products(factor[j, : j + 1], units)]
                found.append(f"{total(terms)} AS {name('v', j)}")
        return found

    def levels(self, k: int, name: Name) -> list[list[str]]:
        """The levels between outputs and answer; each hands the outputs on."""
        outputs = [f"t.{name('y', i)}" for i in range(k)]
        kept = [f"{output} AS {name('y', i)}" for i, output in enumerate(outputs)]
        if self.probable is not None:
            each = [f"(-{outputs[0]})", outputs[0]] if k == 1 else outputs
            odds = [f"{self.log_odds(y)} AS {name('g', i)}" for i, y in enumerate(each)]
            names = [f"t.{name('g', i)}" for i in range(len(each))]
            most = f"{self.dialect.greatest}({', '.join(names)})"
            shares = [
                f"{self.dialect.exp.format(f'({odd} - {most})')} AS {name('e', i)}"
                for i, odd in enumerate(names)
            ]
            return [[*kept, *odds], [*kept, *shares]]
        if self.within is not None:
            return [[*kept, *(f"{self.half(i, name)} AS {name('h', i)}" for i in range(k))]]
        return []

    def log_odds(self, y: str) -> str:
        """g of an output; NULL where it is."""
        assert self.probable is not None
        low, before, after, high = self.probable.slopes
        scale, tail = number_literal(self.probable.scale), number_literal(self.probable.tail)
        v, square = f"({y} / {scale})", f"({y} / {scale}) * ({y} / {scale}) * 0.5e0"
        return (
            f"CASE WHEN {y} > {scale} THEN {number_literal(after / 2)} + {number_literal(high)} * "
            f"(0.5e0 + {tail} * ({v} - 1e0) / {v}) "
            f"WHEN {y} > 0 THEN {number_literal(after)} * ({v} - {square}) + "
            f"{number_literal(high)} * {square} "
            f"WHEN {y} < -{scale} THEN {number_literal(-before / 2)} - {number_literal(low)} * "
            f"(0.5e0 + {tail} * ({v} + 1e0) / {v}) "
            f"ELSE {number_literal(before)} * ({v} + {square}) - {number_literal(low)} * {square} END"
        )

    def half(self, k: int, name: Name) -> str:
        """Half the width of an output's interval."""
        assert self.within is not None
        size, ends = f"t.{name('s', k)}", (self.within.low, self.within.high)
        low, high = (number_literal(float(end[k])) for end in ends)
        clipped = f"CASE WHEN {size} < {low} THEN {low} WHEN {size} > {high} THEN {high} ELSE {size} END"
        found = f"{number_literal(float(self.within.half[k]))} * exp({clipped})"
        if self.within.leverage is None:
            return found
        squares = [f"t.{name('v', j)} * t.{name('v', j)}" for j in range(len(self.within.leverage.center))]
        return f"{found} * sqrt({total([number_literal(1.0 + self.within.leverage.least), *squares])})"

    def columns(self, word: str, k: int, alone: bool, name: Name) -> dict[str, str]:
        """Quoted name and value of the columns to add to the answer."""
        if self.probable is not None:
            shares = [f"t.{name('e', i)}" for i in range(max(2, k))]
            whole = f"({total(shares)})"
            return {quoted(f"{word}_probability_{i}"): f"{share} / {whole}" for i, share in enumerate(shares)}
        if self.within is None:
            return {}
        found: dict[str, str] = {}
        for i in range(k):
            stem, y, half = word if alone else f"{word}_{i}", f"t.{name('y', i)}", f"t.{name('h', i)}"
            found |= {quoted(f"{stem}_low"): f"{y} - {half}", quoted(f"{stem}_high"): f"{y} + {half}"}
        return found


def _products(weights: FloatArray, units: list[str]) -> list[str]:
    """Weights times units, without those that are 0."""
    pairs = zip(np.asarray(weights).tolist(), units, strict=False)
    return [f"{number_literal(weight)} * {unit}" for weight, unit in pairs if weight != 0.0]
