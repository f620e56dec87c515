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


def encoded(coding: Outputs, weighting: Weighting, block: RawBlock) -> Block:
    """A block with its targets encoded and its weights made ready."""
    s, copies = weighting.ready(block.s, coding.importance(block.y))
    return Block(block.start, block.X, coding.encode(block.y), s, copies)


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

        def counted(block: RawBlock) -> Sum:
            sizes.append(len(block))
            return task(encoded(self.coding, self.weighting, block))

        found = self.rows.map_reduce(
            counted, self.run, reads=self.coding.reads, features=True, cutting=Cutting.of(self.n_rows)
        )
        if sum(sizes) != self.n_rows:
            raise changed(self.n_rows, sum(sizes))
        return found
