"""A torch module as a basis of one's own: units are its outputs, trained by variable projection.

Needs torch: ``pip install 'sleek-svm[torch]'``.

>>> from sleek import LowRankLSSVR
>>> X = np.random.default_rng(0).normal(size=(300, 2))
>>> model = LowRankLSSVR(6, basis=TorchNetwork(), C=10.0, random_state=0).fit(X, X[:, 0] * X[:, 1])
>>> model.score(X, X[:, 0] * X[:, 1]) > 0.9
True
"""

import numpy as np
import torch
from torch.func import functional_call, jacrev, vjp

from sleek import Basis, Coordinates, Parameter, Units


class TorchNetwork(Basis):
    """φ(x) = a module's outputs, one for each unit. What its layers share has no axis "unit"."""

    name = "torch_network"
    parameters = (
        Parameter("2.weight", axes=("unit", "hidden")),
        Parameter("2.bias", axes=("unit",)),
        Parameter("0.weight", axes=("hidden", "feature")),
        Parameter("0.bias", axes=("hidden",)),
    )
    module = torch.nn.Sequential(
        torch.nn.Linear(1, 1), torch.nn.SiLU(), torch.nn.Linear(1, 1), torch.nn.Tanh()
    )

    def start(self, centers, shape, rng):
        (m, d), hidden = centers.shape, 8
        shapes = {"2.weight": (m, hidden), "2.bias": (m,), "0.weight": (hidden, d), "0.bias": (hidden,)}
        return Units({name: rng.normal(size=size) / np.sqrt(size[-1]) for name, size in shapes.items()})

    def coordinates(self, start):
        zero, one = (
            start.map(lambda _, array, value=value: np.full_like(array, value)) for value in (0.0, 1.0)
        )
        return Coordinates(zero, one, self.lower_bounds())

    def _as_torch(self, X, units):
        rows = torch.tensor(np.asarray(X, dtype=np.float64))
        numbers = {name: torch.tensor(array) for name, array in units.arrays.items()}
        return lambda numbers: functional_call(self.module, numbers, (rows,)), numbers

    def features(self, X, units):
        function, numbers = self._as_torch(X, units)
        return function(numbers).numpy()

    def vjp(self, X, units, Phi, dPhi):
        function, numbers = self._as_torch(X, units)
        (gradient,) = vjp(function, numbers)[1](torch.tensor(np.asarray(dPhi, dtype=np.float64)))
        return Units({name: value.numpy() for name, value in gradient.items()})

    def jacobian(self, X, units, Phi):
        function, numbers = self._as_torch(X, units)
        found = {name: value.numpy() for name, value in jacrev(function)(numbers).items()}
        own = np.arange(len(units))  # a unit does not depend on the numbers of others
        return Units({name: a[:, own, own] if name.startswith("2.") else a for name, a in found.items()})

    def unscale(self, units, scaling):
        """The first layer takes the scaling in."""
        weight = units["0.weight"] * scaling.factor
        bias = units["0.bias"] - weight @ scaling.mean
        return Units({**units.arrays, "0.weight": weight, "0.bias": bias})
