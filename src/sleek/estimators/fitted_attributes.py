"""Fitted attributes of the estimators, such as `centers_`, `unit_weights_` and `feature_importances_`."""

from __future__ import annotations

from collections.abc import Callable

from sleek._runtime.types import FloatArray
from sleek.closed_form.moments import Moments
from sleek.estimators.conventions import feature_names_of
from sleek.model.kernel_model import KernelModel
from sleek.model.outcome import importances
from sleek.tables.frames import place_names


class FittedAttributes:
    """Fitted attributes that are computed from `model_`."""

    model_: KernelModel
    n_features_in_: int
    _model: Callable[[], KernelModel]

    @property
    def centers_(self) -> FloatArray:
        """The units' centres in raw units, (n_units, n_features)."""
        return self._unit_array("centers")

    @property
    def shapes_(self) -> FloatArray:
        """The units' sharpness per feature in raw units, (n_units, n_features)."""
        return self._unit_array("shapes")

    def _unit_array(self, name: str) -> FloatArray:
        parts = self.model_.parts
        if len(parts) > 1 or name not in parts[0].units.arrays:
            there = "; ".join(f"{part.basis.name}: {', '.join(part.units.arrays)}" for part in parts)
            raise AttributeError(f"The units have no {name} in common: see model_.parts ({there}).")
        return parts[0].units[name]

    @property
    def unit_weights_(self) -> FloatArray:
        """What each unit weighs in each output, (n_outputs, n_units)."""
        return self.model_.theta.T

    @property
    def intercept_(self) -> FloatArray:
        """The constant of each output, (n_outputs,)."""
        return self.model_.b

    @property
    def feature_importances_(self) -> FloatArray:
        """How much the outputs depend on each column, `(n_features_in_,)`: shares that add up to 1.

        They are the influences of ``model_.facts``: how far the outputs move when a column is shuffled, all
        levels of a category together. A column that was left out has none.
        """
        return importances(self._model(), feature_names_of(self) or place_names(self.n_features_in_))

    @property
    def moments_(self) -> Moments:
        """The sums over rows that the weights of the units were solved from, of encoded targets."""
        memory = self._model().memory
        if memory is None or memory.touching is not None:
            raise AttributeError(
                "Sums over rows determine weights for loss='squared_error' alone: fit with it to have them."
            )
        return memory.moments
