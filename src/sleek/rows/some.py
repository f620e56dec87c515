"""Another's rows with some of their features."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass

from sleek.rows.raw import RawBlock
from sleek.rows.rows import Rows


@dataclass(frozen=True, eq=False)
class SomeFeatures(Rows):
    """Another's rows with some of its features, in another order."""

    rows: Rows
    names: tuple[str, ...]
    columns: list[int]

    @property
    def feature_names(self) -> tuple[str, ...]:
        return self.names

    @property
    def n_features(self) -> int:
        return len(self.names)

    @property
    def flat_targets(self) -> bool:
        return self.rows.flat_targets

    def chunks(self, reads: str | None, features: bool) -> Generator[RawBlock, None, None]:
        with closing(self.rows._chunks(reads, features)) as chunks:
            for chunk in chunks:
                X = chunk.X[:, self.columns] if features else None
                yield RawBlock(X, chunk.y, chunk.s, chunk.where)
