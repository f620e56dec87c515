"""Bases that are a decreasing profile of a weighted distance to a centre."""

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from sleek import kernels
from sleek._runtime.types import FloatArray, IntArray
from sleek.bases.base import Basis
from sleek.bases.units import Coordinates, Parameter, Units, round_places, round_to_digits
from sleek.rows.scaling import Scaling


class DistanceBasis(Basis):
    """φ_j(x) = profile(Z_j(x)), Z_j(x) = Σ_i shapes_ji |x_i - c_ji|^power, shapes ≥ 0.

    Scaling folds exactly: with x' = (x - mean)·factor the same Z comes from raw rows with
    c = mean + c'/factor and shapes = shapes'·factor^power.
    """

    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("centers"),
        Parameter("shapes", lower=0.0, switch=True),
    )
    widths: ClassVar[tuple[str, ...]] = ("shapes",)
    power: ClassVar[int]

    @abstractmethod
    def profile(self, Z: FloatArray) -> FloatArray:
        """The value of a unit at distance Z, whose memory may be used for it."""

    @abstractmethod
    def slope(self, Phi: FloatArray) -> FloatArray:
        """∂φ/∂Z, written in the value φ itself, as a new array."""

    def start(self, centers: FloatArray, shape: float, rng: np.random.Generator) -> Units:
        return Units({"centers": centers.copy(), "shapes": np.full_like(centers, shape)})

    def count_numbers(self, units: Units) -> IntArray:
        """A centre for every feature that a unit looks at, and the widths."""
        centers: IntArray = np.count_nonzero(units["shapes"], axis=1)
        return centers + self.count_widths(units)

    def coordinates(self, start: Units) -> Coordinates:
        """Displacements of the centres and relative changes of the shapes, pulled to the start.

        Training shapes by their logarithm would need no bound, but a feature that is switched off has
        almost no derivative there: leave-one-out would not count what was learnt in switching it off.
        """
        scale = Units({"centers": np.ones_like(start["centers"]), "shapes": start["shapes"]})
        return Coordinates(start, scale, self.lower_bounds())

    def features(self, X: FloatArray, units: Units) -> FloatArray:
        distance = kernels.absolute_distance if self.power == 1 else kernels.squared_distance
        return self.profile(distance(X, units["centers"], units["shapes"]))

    def features_without(
        self, X: FloatArray, units: Units, switch: str, unit: IntArray, feature: IntArray
    ) -> FloatArray:
        distance = kernels.absolute_distance if self.power == 1 else kernels.squared_distance
        Z = distance(X, units["centers"], units["shapes"])[:, unit]
        off = np.abs(X[:, feature] - units["centers"][unit, feature])
        Z -= units["shapes"][unit, feature] * (off if self.power == 1 else off * off)
        return self.profile(np.maximum(Z, 0.0, out=Z))

    def vjp(self, X: FloatArray, units: Units, Phi: FloatArray, dPhi: FloatArray) -> Units:
        vjp = kernels.absolute_distance_vjp if self.power == 1 else kernels.squared_distance_vjp
        dZ = self.slope(Phi)
        dZ *= dPhi
        d_centers, d_shapes = vjp(X, units["centers"], units["shapes"], dZ, units.on)
        return Units({"centers": d_centers, "shapes": d_shapes})

    def jacobian(self, X: FloatArray, units: Units, Phi: FloatArray) -> Units:
        difference = X[:, None, :] - units["centers"]  # (n, m, d)
        slope = self.slope(Phi)[:, :, None]
        if self.power == 1:
            return Units(
                {
                    "centers": -slope * units["shapes"] * np.sign(difference),
                    "shapes": slope * np.abs(difference),
                }
            )
        steep = slope * difference
        return Units({"centers": -2.0 * steep * units["shapes"], "shapes": steep * difference})

    def round(self, units: Units, mean: FloatArray, spread: FloatArray, digits: int) -> Units:
        """Centres to digits of the spread, shapes to significant digits; 0 for what plays no part."""
        on = units["shapes"] != 0
        centers = np.where(on, round_places(units["centers"], spread, digits), 0.0)
        return Units({"centers": centers, "shapes": round_to_digits(units["shapes"], digits)})

    def unscale(self, units: Units, scaling: Scaling) -> Units:
        return Units(
            {
                "centers": scaling.invert(units["centers"]),
                "shapes": units["shapes"] * scaling.factor**self.power,
            }
        )
