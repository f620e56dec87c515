"""Units of a small neural network, whose hidden layers all units share."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import ClassVar

import numpy as np

from sleek import kernels
from sleek._runtime.checks import check_count
from sleek._runtime.types import FloatArray
from sleek.bases.base import Basis
from sleek.bases.formula import Formula, names, tanh
from sleek.bases.units import Coordinates, Parameter, Units, round_places
from sleek.rows.scaling import Scaling

INNER_LENGTH = 1.6  # of directions between layers: 1 over the standard deviation of tanh(z), z of deviation 1


class Network(Basis):
    """φ_j(x) = tanh(w_j·h(x) + v_j), where h is the last of some hidden layers that all units share.

    h_k = tanh(W_k h_{k-1} + v_k), h_0 = x. Hidden layers and units are learnt by variable projection as other
    bases are, with theta at its best all the time. Directions are random at the start, 0 at some row, and
    training pulls all numbers towards 0, as weight decay does. A unit that is taken out leaves the layers as
    they are. With layers of H_1, …, H_L neurons a pass takes
    O(rows·(features·H_1 + H_1·H_2 + … + H_L·n_units)) time.

    Parameters
    ----------
    hidden : sequence of int, default=(16,)
        How many neurons each hidden layer has, from the features to the units.

    Examples
    --------
    >>> from sleek import LowRankLSSVR, Network
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> model = LowRankLSSVR(6, basis=Network(hidden=(4,)), C=10.0, random_state=0).fit(X, X[:, 0] * X[:, 1])
    >>> model.score(X, X[:, 0] * X[:, 1]) > 0.9
    True
    >>> {name: array.shape for name, array in model.model_.parts[0].units.arrays.items()}
    {'slopes': (6, 4), 'offsets': (6,), 'layer_1': (4, 2), 'layer_1_offsets': (4,)}
    """

    name: ClassVar[str] = "network"
    draft_iterations: ClassVar[int] = 60
    patience: ClassVar[float] = 2.0  # Letter, 16 and 30: 9.7 % of mistakes instead of 11.8

    def __init__(self, hidden: Sequence[int] = (16,)) -> None:
        self.hidden = hidden

    def _hidden(self) -> list[int]:
        if isinstance(self.hidden, str) or not isinstance(self.hidden, Sequence) or not len(self.hidden):
            raise ValueError(
                "`hidden` must be the numbers of neurons of one hidden layer or more, as (16,), got "
                f"{self.hidden!r}. Units without hidden layers are those of basis='sigmoidal'."
            )
        return [check_count("hidden", size, least=1) for size in self.hidden]

    @property
    def sizes(self) -> Mapping[str, int]:  # type: ignore[override]
        return {f"hidden_{k}": size for k, size in enumerate(self._hidden(), start=1)}

    @property
    def parameters(self) -> tuple[Parameter, ...]:  # type: ignore[override]
        axes = ["feature", *self.sizes]
        found = [Parameter("slopes", axes=("unit", axes[-1])), Parameter("offsets", axes=("unit",))]
        for (weights, offsets), (before, after) in zip(self._layer_names(), pairwise(axes), strict=True):
            found += [Parameter(weights, axes=(after, before)), Parameter(offsets, axes=(after,))]
        return tuple(found)

    @property
    def layers(self) -> tuple[Formula, ...]:
        x, z = names("x z")
        pairs = [names(" ".join(layer)) for layer in (*self._layer_names(), ("slopes", "offsets"))]
        return tuple(Formula(term=W * x, start=v, profile=tanh(z)) for W, v in pairs)

    def _layer_names(self) -> list[tuple[str, str]]:
        """Weights and offsets of each hidden layer."""
        return [(f"layer_{k}", f"layer_{k}_offsets") for k in range(1, len(self._hidden()) + 1)]

    def start(self, centers: FloatArray, shape: float, rng: np.random.Generator) -> Units:
        arrays: dict[str, FloatArray] = {}
        length, H = shape * centers.shape[1], centers
        for (weights, offsets), size in zip(self._layer_names(), self._hidden(), strict=True):
            W = _directions(size, H.shape[1], length, rng)
            v = -np.einsum("hd,hd->h", W, H[rng.integers(len(H), size=size)])
            arrays |= {weights: W, offsets: v}
            length, H = INNER_LENGTH, np.tanh(H @ W.T + v)
        slopes = _directions(len(H), H.shape[1], length, rng)
        return Units({"slopes": slopes, "offsets": -np.einsum("md,md->m", slopes, H), **arrays})

    def coordinates(self, start: Units) -> Coordinates:
        """Weights in units of 1/√(what they add up), and offsets, pulled to 0."""
        anchor = start.map(lambda _, array: np.zeros_like(array))
        scale = start.map(
            lambda _, array: np.full_like(array, array.shape[1] ** -0.5 if array.ndim == 2 else 1.0)
        )
        return Coordinates(anchor, scale, self.lower_bounds())

    def features(self, X: FloatArray, units: Units) -> FloatArray:
        return _layer(self._inputs(X, units)[-1], units["slopes"], units["offsets"])

    def _inputs(self, X: FloatArray, units: Units) -> list[FloatArray]:
        """The rows as each layer sees them: x, h_1, …, h_L."""
        found = [X]
        for weights, offsets in self._layer_names():
            found.append(_layer(found[-1], units[weights], units[offsets]))
        return found

    def vjp(self, X: FloatArray, units: Units, Phi: FloatArray, dPhi: FloatArray) -> Units:
        """Backpropagation, which computes the hidden layers once more."""
        inputs, found = self._inputs(X, units), dict(units.arrays)
        layers = [*self._layer_names(), ("slopes", "offsets")]
        H, dH = Phi, dPhi
        for (weights, offsets), x in zip(reversed(layers), reversed(inputs), strict=True):
            dZ = 1.0 - H * H
            dZ *= dH
            found[weights], found[offsets] = kernels.projection_vjp(x, dZ)
            if x is not X:
                H, dH = x, dZ @ units[weights].astype(dZ.dtype, copy=False)
        return Units(found)

    def jacobian(self, X: FloatArray, units: Units, Phi: FloatArray) -> Units:
        inputs, found = self._inputs(X, units), dict(units.arrays)
        slope = 1.0 - Phi**2
        found["slopes"], found["offsets"] = slope[:, :, None] * inputs[-1][:, None, :], slope
        G = slope[:, :, None] * units["slopes"]  # ∂φ_j/∂h of a layer, (n, m, neurons)
        for (weights, offsets), x, H in zip(
            reversed(self._layer_names()), reversed(inputs[:-1]), reversed(inputs[1:]), strict=True
        ):
            G = G * (1.0 - H**2)[:, None, :]
            found[weights], found[offsets] = G[..., None] * x[:, None, None, :], G
            G = G @ units[weights]
        return Units(found)

    def round(self, units: Units, mean: FloatArray, spread: FloatArray, digits: int) -> Units:
        """Weights to digits of the largest of a neuron, by spread; offsets so that the middle stays."""
        found: dict[str, FloatArray] = {}
        for weights, offsets in (*self._layer_names(), ("slopes", "offsets")):
            W = units[weights]
            steep = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
            rounded = round_places(W, np.max(np.abs(W) * spread, axis=1, keepdims=True) * steep, digits)
            v = units[offsets] + (W - rounded) @ mean
            found |= {weights: rounded, offsets: round_places(v, np.ones(1), digits)}
            mean, spread = np.zeros(len(W)), np.ones(len(W))  # neurons have values from -1 to 1
        return Units({name: found[name] for name in units.arrays})

    def unscale(self, units: Units, scaling: Scaling) -> Units:
        """The first layer takes the scaling in."""
        W = units["layer_1"] * scaling.factor
        offsets = units["layer_1_offsets"] - W @ scaling.mean
        return Units({**units.arrays, "layer_1": W, "layer_1_offsets": offsets})


def _directions(n: int, d: int, length: float, rng: np.random.Generator) -> FloatArray:
    """Random directions of a length, (n, d)."""
    found: FloatArray = rng.normal(size=(n, d))
    found *= length / np.linalg.norm(found, axis=1, keepdims=True)
    return found


def _layer(X: FloatArray, weights: FloatArray, offsets: FloatArray) -> FloatArray:
    """tanh(W x + v) of every row."""
    Z = kernels.projection(X, weights, offsets)
    found: FloatArray = np.tanh(Z, out=Z)
    return found
