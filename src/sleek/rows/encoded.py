"""Rows kept somewhere as what a fit works on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sleek._runtime.sums import Sum
from sleek.outputs.base import Outputs
from sleek.rows.checked import changed
from sleek.rows.cutting import Cutting
from sleek.rows.raw import RawBlock
from sleek.rows.source import Block, Source
from sleek.rows.weights import Weighting

if TYPE_CHECKING:
    from sleek.rows.rows import Rows, Run


@dataclass(frozen=True, eq=False)
class EncodedRows(Source):
    """Rows of positive weight with targets encoded and weights made ready, block by block in every pass."""

    rows: Rows
    coding: Outputs
    weighting: Weighting
    run: Run

    @property
    def n_rows(self) -> int:
        return self.weighting.survey.n_rows

    @property
    def outputs(self) -> Outputs:
        return self.coding

    def map_reduce(self, task: Callable[[Block], Sum]) -> Sum:
        sizes: list[int] = []

        def encoded(block: RawBlock) -> Sum:
            sizes.append(len(block))
            s, copies = self.weighting.ready(block.s, self.coding.importance(block.y))
            return task(Block(block.start, block.X, self.coding.encode(block.y), s, copies))

        found = self.rows.map_reduce(
            encoded, self.run, reads=self.coding.reads, features=True, cutting=Cutting.of(self.n_rows)
        )
        if sum(sizes) != self.n_rows:
            raise changed(self.n_rows, sum(sizes))
        return found
