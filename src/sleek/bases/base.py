"""`Basis`, the interface of learnable functions φ_j(x; λ_j): values, gradients, scaling.

A new basis is one file in this room: a final subclass of `Basis` with a `name`. It is then known by that
name to every estimator (``basis="name"``) and, in the tests, to the contract suite of `sleek.testing`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from sleek._runtime.parameters import Parameters
from sleek._runtime.types import AnyArray, FloatArray, IntArray
from sleek.bases.formula import Formula
from sleek.bases.units import Coordinates, Parameter, Units, round_to_digits
from sleek.rows.scaling import Scaling

MUCH_WEAKER = 0.1  # the share of the common sharpness below which a condition is as good as none
BOTH = 2  # a direction: units may rise and fall


class Basis(Parameters, ABC):
    """A family of learnable functions φ_j(x; λ_j), stateless: the numbers live in `Units`."""

    name: ClassVar[str]
    noun: ClassVar[str] = "unit"  # what one of them is called
    parameters: ClassVar[tuple[Parameter, ...]]
    sizes: ClassVar[Mapping[str, int]] = {}  # of axes of parameters that are neither "unit" nor "feature"
    auto_shapes: ClassVar[tuple[float, ...]] = (1.0,)  # tried by shape="auto", in units of 1/features
    leaf_shapes: ClassVar[tuple[float, ...]] = ()  # sharpness at leaves of trees; none: it starts at rows
    per_feature: ClassVar[bool] = False  # a unit for every feature, not as many as are asked for
    draft_iterations: ClassVar[int] = 20  # enough training to compare settings
    patience: ClassVar[float] = 1.0  # times the iterations that theta moves with the units, for slow learners
    widths: ClassVar[tuple[str, ...]] = ()  # parameters that units may share, feature by feature
    kind: ClassVar[str | None] = None  # of `kernels.compiled_units`, if training may leave units to it
    formula: ClassVar[Formula | None] = (
        None  # a function of a sum over features; None if units cannot be written as one
    )

    @abstractmethod
    def start(self, centers: FloatArray, shape: float, rng: np.random.Generator) -> Units:
        """Units located at `centers` (m, d), with one common initial sharpness `shape` > 0 for a feature."""

    def start_at_leaves(
        self, lows: FloatArray, highs: FloatArray, shape: FloatArray, middle: FloatArray, closing: bool = True
    ) -> Units:
        """Units at leaves of trees, for bases that declare `leaf_shapes`.

        Leaves have sides `lows` and `highs` (m, d), infinite where they are open; `shape` (d,) is the
        sharpness of sides, and `middle` (d,) the middle of the data. Unless `closing`, open sides stay open.
        """
        raise TypeError(f"{type(self).__name__} declares no `leaf_shapes`: it starts at rows.")

    def start_per_feature(self, X: FloatArray, s: FloatArray, most: int) -> Units:
        """Units for the features of rows X with weights s, for bases that are `per_feature`.

        One for each feature that varies, unless a basis says otherwise; it should stay below `most`.
        """
        d = X.shape[1]
        units = self.start(np.zeros((d, d)), 1.0, np.random.default_rng(0))
        varied = np.flatnonzero(np.ptp(X, axis=0) > 0)
        return self.take(units, varied) if len(varied) else units

    @abstractmethod
    def coordinates(self, start: Units) -> Coordinates:
        """The numbers that training moves when units start at `start`."""

    @abstractmethod
    def features(self, X: FloatArray, units: Units) -> FloatArray:
        """Phi (n, m): the value of every unit at every row."""

    @abstractmethod
    def vjp(self, X: FloatArray, units: Units, Phi: FloatArray, dPhi: FloatArray) -> Units:
        """Σ_n dPhi_nj ∂φ_j(x_n)/∂λ_j for every unit, given ``Phi = features(X, units)``."""

    @abstractmethod
    def jacobian(self, X: FloatArray, units: Units, Phi: FloatArray) -> Units:
        """∂φ_j(x_n)/∂λ_j row by row: each array is (n, m, …), given ``Phi = features(X, units)``.

        It is as large as rows × learnt numbers: callers cut the rows.
        """

    @abstractmethod
    def unscale(self, units: Units, scaling: Scaling) -> Units:
        """Units that give at raw rows what `units` give at scaled rows."""

    def project(self, units: Units) -> Units:
        """The nearest units that satisfy every parameter's constraint."""
        lower = self.lower_bounds()
        return units.map(lambda name, array: np.maximum(array, lower[name]))

    @property
    def layers(self) -> tuple[Formula, ...]:
        """Formulas that lead from features to units, each of what the one before gives; () if there are none.

        Exports and local slopes go by them.
        """
        return () if self.formula is None else (self.formula,)

    @property
    def label(self) -> str:
        """What one of its units is called beside those of other bases."""
        return f"{self.name} {self.noun}"

    @property
    def switches(self) -> tuple[str, ...]:
        """The parameters in which 0 takes a feature out of a unit."""
        return tuple(parameter.name for parameter in self.parameters if parameter.switch)

    def features_on(self, units: Units) -> AnyArray | None:
        """Which features every unit looks at, (m, d); None if it has no switches."""
        on = None
        for name in self.switches:
            on = units[name] != 0 if on is None else on | (units[name] != 0)
        return on

    def directions(self, units: Units) -> IntArray:
        """(m, d) how units depend on each feature: 1 rising, -1 falling, 0 not at all, `BOTH` otherwise."""
        on = self.features_on(units)
        if on is None:
            d = next(
                units[one.name].shape[one.axes.index("feature")]
                for one in self.parameters
                if "feature" in one.axes
            )
            return np.full((len(units), d), BOTH)
        return np.where(on, BOTH, 0)

    def restrict(self, units: Units, on: AnyArray) -> Units:
        """Units that start without all features but those of `on` (m, d), and so stay without them.

        The others count so much more that the switches of a unit add up to what they did.
        """
        self._require_switches()

        def restricted(name: str, array: FloatArray) -> FloatArray:
            if name not in self.switches:
                return array
            left = np.where(on, array, 0.0)
            before, after = (np.abs(one).sum(axis=1, keepdims=True) for one in (array, left))
            left *= np.divide(before, after, out=np.ones_like(after), where=after > 0)
            return left

        return units.map(restricted)

    def restrict_monotone(self, units: Units, signs: IntArray, rising: AnyArray) -> Units:
        """Units that can only rise or only fall in features where signs (d,) are 1 or -1.

        Those that are `rising` (m,) go with the signs, and shall have weights ≥ 0; the others go against
        them, and shall have weights ≤ 0. What can do neither, as bumps, is switched off in these features.
        """
        return self.restrict(units, np.broadcast_to(signs == 0, (len(units), len(signs))))

    def bounded(self, coordinates: Coordinates, start: Units, signs: IntArray) -> Coordinates:
        """Coordinates in which units from `restrict_monotone`, which start here, stay such."""
        return coordinates

    def _require_switches(self) -> None:
        if not self.switches:
            raise ValueError(
                f"Units of the basis {self.name!r} look at all features, and cannot be kept from any: "
                "interaction_cst and monotonic_cst need a basis that declares a parameter as a switch."
            )

    def moving(self, start: Units, scale: Units) -> Units:
        """The scale of coordinates, 0 for the numbers of features that units start without."""
        on = self.features_on(start)
        if on is None or (on.all() and all(start[name].all() for name in self.switches)):
            return scale
        return scale.map(
            lambda name, array: (
                array * (start[name] != 0 if name in self.switches else on)
                if array.shape == on.shape
                else array
            )
        )

    def features_without(
        self, X: FloatArray, units: Units, switch: str, unit: IntArray, feature: IntArray
    ) -> FloatArray:
        """(n, b) the values of some units, each without one feature: ``units[switch][unit, feature]`` is 0.

        O(n·b·d) here; bases that are functions of a sum over features take the feature's term off it.
        """
        some = self.take(units, unit)
        array = some[switch].copy()
        array[np.arange(len(unit)), feature] = 0.0
        return self.features(X, some.map(lambda name, other: array if name == switch else other))

    def count_numbers(self, units: Units) -> IntArray:
        """How many numbers a person has to read of every unit, beside its weights: those that are not 0."""
        on = self.features_on(units)
        count = np.zeros(len(units), dtype=np.int64)
        for parameter in self.parameters:
            array = units[parameter.name]
            if not parameter.shared:
                there = array != 0 if on is None or parameter.switch or array.shape != on.shape else on
                count += np.count_nonzero(there.reshape(len(array), -1), axis=1)
        return count

    def count_shared(self, units: Units) -> int:
        """How many numbers there are to read that belong to all units: those that are not 0."""
        shared = [parameter.name for parameter in self.parameters if parameter.shared]
        return sum(int(np.count_nonzero(units[name])) for name in shared)

    def count_widths(self, units: Units) -> IntArray:
        """How many widths every unit has that no unit before it has in the same feature."""
        arrays = np.stack([units[name] for name in self.widths], axis=2)
        unit, feature, which = np.nonzero(arrays)
        pairs = feature + 1j * arrays[unit, feature, which]  # sorted as numbers, not as rows
        _, first = np.unique(pairs, return_index=True)
        return np.bincount(unit[first], minlength=len(units))

    def share_widths(self, units: Units) -> Units:
        """The same units, all with one width in a feature; conditions that are much weaker than others go.

        It is the geometric mean, in which each counts as much as it is sharp.

        >>> from sleek import GaussianRBF
        >>> units = Units({"centers": np.zeros((3, 1)), "shapes": np.array([[2.0], [2.1], [1e-9]])})
        >>> GaussianRBF().share_widths(units)["shapes"].round(2).ravel()
        array([2.05, 2.05, 0.  ])
        """
        all_of_them = np.concatenate([units[name] for name in self.widths])
        logs = np.log(all_of_them, out=np.zeros_like(all_of_them), where=all_of_them > 0)
        total = all_of_them.sum(axis=0)
        mean = np.divide((all_of_them * logs).sum(axis=0), total, out=np.zeros_like(total), where=total > 0)
        common = np.exp(mean)
        return units.map(
            lambda name, array: (
                np.where(array > MUCH_WEAKER * common, common, 0.0) if name in self.widths else array
            )
        )

    def round(self, units: Units, mean: FloatArray, spread: FloatArray, digits: int) -> Units:
        """Units in so many digits, in the user's units, where features have this mean and spread (d,).

        By default every number has so many significant digits.
        """
        return units.map(lambda name, array: round_to_digits(array, digits))

    @property
    def learns(self) -> bool:
        """Whether its units have numbers to be learnt."""
        return any(parameter.learnt for parameter in self.parameters)

    @property
    def has_shared(self) -> bool:
        """Whether units share learnt numbers."""
        return any(parameter.shared and parameter.learnt for parameter in self.parameters)

    def take(self, units: Units, kept: AnyArray) -> Units:
        """Some of the units, with all that they share."""
        shared = {parameter.name for parameter in self.parameters if parameter.shared}
        return units.map(lambda name, array: array if name in shared else array[kept])

    def join(self, units: Units, more: Units) -> Units:
        """Both units' arrays one after the other; what units share is that of the first."""
        shared = {parameter.name for parameter in self.parameters if parameter.shared}
        return units.map(lambda name, array: array if name in shared else np.concatenate([array, more[name]]))

    def lower_bounds(self) -> dict[str, float]:
        """The least value of every parameter."""
        return {parameter.name: parameter.lower for parameter in self.parameters}
