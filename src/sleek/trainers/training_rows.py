"""Training rows in the memory layout of compiled loops, kept between the passes of an optimisation.

Rows are turned, which means Fortran-ordered: see `sleek.kernels.compiled`. All but the fewest are read in
single precision, as are the values of units that come from them, which halves the time of a pass. That
decides nothing: what is rounded is where a row lies, by 1e-7 of a standard deviation. Sums over rows, theta
and b stay in double precision, and so does whatever is computed when training has ended.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from sleek._runtime.threads import Workers
from sleek.kernels import can_compile, may_compile
from sleek.kernels.column_statistics import ColumnMoments
from sleek.outputs.base import Outputs
from sleek.rows.sample import Sample
from sleek.rows.source import Block, MappedSource, OneBlock, RandomAccess, Source

# Rows of a sample up to which an evaluation is one call for all of them, in one thread, without anything
# between blocks: 16,384 × 28 in single precision are 2 MB.
ONE_CALL_ROWS = 2**14
# Rows from which single precision is faster: of fewer most of the time goes by between the passes.
SINGLE_ROWS = 512
KEEP_ROWS = 2**24  # numbers of rows, 64 MB in single precision, up to which they are kept
# Standard deviations between the rows of a block and 0 up to which single precision is enough, and the
# largest number whose square it can hold.
MOST_AWAY, MOST_SINGLE = 100.0, 1e15


def training_rows(source: Source, n_units: int) -> Source:
    """The same rows for training that many units: in one block if they are few, turned if they are not.

    What a task adds up to is the same, but for rounding.
    """
    single = source.n_rows >= SINGLE_ROWS
    whole = OneBlock.of(source)
    if isinstance(source, Sample) and source.n_rows <= ONE_CALL_ROWS and can_compile():
        whole = OneBlock(source.rows, source.outputs)
    if isinstance(whole, OneBlock):
        compiled = may_compile(whole.rows.X.size * n_units)
        return replace(whole, rows=turn(whole.rows, single)) if compiled else whole
    return TurnedAccess(source, single) if isinstance(source, RandomAccess) else Turned(source, single)


def turn(block: Block, single: bool) -> Block:
    """A block whose rows are turned, in single precision if that is wanted and enough."""
    exact = not (single and suits_single(block))
    return replace(block, X=np.asfortranarray(block.X, dtype=np.float64 if exact else np.float32))


def suits_single(block: Block) -> bool:
    """Whether no column lies so far from 0 that single precision would blur it.

    >>> x, one = np.linspace(-1.0, 1.0, 10)[:, None], np.ones(10)
    >>> [suits_single(Block(0, x + away, x, one, one)) for away in (0.0, 1e6)]
    [True, False]
    """
    columns = ColumnMoments.of(block.X, block.s)
    spread = columns.spread()
    away = np.abs(columns.mean) > MOST_AWAY * np.where(spread > 0, spread, 1.0)
    largest = np.maximum(-columns.low, columns.high)
    return bool(not away.any() and (largest < MOST_SINGLE).all())


@dataclass(frozen=True, eq=False)
class Turned(MappedSource):
    """The blocks of any source, turned in every pass."""

    single: bool

    def transform(self) -> Callable[[Block], Block]:
        single = self.single
        return lambda block: turn(block, single)


@dataclass(frozen=True, eq=False)
class TurnedAccess(RandomAccess):
    """The blocks of a source that has them at hand: turned once, and kept if they are not too many."""

    source: RandomAccess
    single: bool
    kept: dict[int, Block] = field(default_factory=dict)

    @property
    def workers(self) -> Workers:  # type: ignore[override]
        return self.source.workers

    @property
    def block_rows(self) -> int | None:  # type: ignore[override]
        return self.source.block_rows

    @property
    def n_rows(self) -> int:
        return self.source.n_rows

    @property
    def outputs(self) -> Outputs:
        return self.source.outputs

    def block(self, start: int, n_rows: int) -> Block:
        found = self.kept.get(start)
        if found is None:
            found = turn(self.source.block(start, n_rows), self.single)
            if self.n_rows * found.X.shape[1] <= KEEP_ROWS:
                self.kept[start] = found
        return found
