"""Rows of a table that is kept somewhere: its columns become features while rows are read."""

from __future__ import annotations

from sleek.rows.rows import Rows
from sleek.tables.inputs import Inputs


class RowsByColumns(Rows):
    """What all of them have in common: `columns` says what the features are."""

    columns: Inputs

    @property
    def inputs(self) -> Inputs:
        return self.columns

    @property
    def feature_names(self) -> tuple[str, ...]:
        return self.columns.feature_names

    @property
    def n_features(self) -> int:
        return len(self.feature_names)
