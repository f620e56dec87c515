"""The frozen result of a fit: a few units in the user's own units, and what they add up to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sleek._typing import AnyArray, FloatArray
from sleek.bases.base import Basis, Units
from sleek.sources import rows_per_block
from sleek.targets import decide


@dataclass(frozen=True, eq=False)
class KernelModel:
    """y(x) = Σ_j θ_j φ_j(x) + b, with read-only arrays: the only thing that predicts.

    It trusts its input: `X` must be a finite (n, d) array of numbers. The estimators check before they call.
    O(n·n_units·d) time; memory beyond input and output does not grow with n.

    Attributes
    ----------
    basis : Basis
    units : Units
        Centres and shapes in raw units, whether or not features were standardised for training.
    theta : array of shape (n_units, n_outputs)
    b : array of shape (n_outputs,)
    C : float
    classes : array or None
        The labels of a classifier in the order of the outputs; None for regression.
    flat : bool
        Whether outputs are one column that users expect as a 1D array.
    feature_names : tuple of str or None

    Examples
    --------
    >>> from sleek import LowRankLSSVC
    >>> from sleek.datasets import make_ripley
    >>> X, y = make_ripley(250, random_state=0)
    >>> model = LowRankLSSVC(4, basis="robust_rbf", random_state=0).fit(X, y).model_
    >>> model
    KernelModel(4 robust_rbf units, 2 features, classes [0, 1])
    >>> model.kernel(X[:2], X[:3]).shape
    (2, 3)
    """

    basis: Basis
    units: Units
    theta: FloatArray
    b: FloatArray
    C: float
    classes: AnyArray | None
    flat: bool
    feature_names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for array in (*self.units.arrays.values(), self.theta, self.b):
            array.flags.writeable = False

    @property
    def n_features(self) -> int:
        """The number of features of a row."""
        return int(next(iter(self.units.arrays.values())).shape[1])

    def features(self, X: AnyArray) -> FloatArray:
        """Phi (n, n_units): the value of every unit at every row."""
        return self.basis.features(np.asarray(X, dtype=np.float64), self.units)

    def kernel(self, A: AnyArray, B: AnyArray) -> FloatArray:
        """The learnt low rank kernel k(a, b) = Σ_j φ_j(a) φ_j(b) for all pairs of rows."""
        K: FloatArray = self.features(A) @ self.features(B).T
        return K

    def decision_function(self, X: AnyArray) -> FloatArray:
        """The outputs y(x): (n,) for two classes or one number, else (n, n_outputs)."""
        Y = self._outputs(X)
        return Y[:, 0] if self.flat else Y

    def predict(self, X: AnyArray) -> AnyArray:
        """Class labels, or the predicted numbers."""
        Y = self._outputs(X)
        if self.classes is not None:
            return self.classes[decide(Y)]
        return Y[:, 0] if self.flat else Y

    def _outputs(self, X: AnyArray) -> FloatArray:
        Y = np.empty((len(X), len(self.b)))
        size = rows_per_block(len(X))
        for start in range(0, len(X), size):
            rows = slice(start, start + size)
            Y[rows] = self.features(X[rows]) @ self.theta + self.b
        return Y

    def __repr__(self) -> str:
        task = f"classes {self.classes.tolist()}" if self.classes is not None else f"{len(self.b)} outputs"
        return f"KernelModel({len(self.units)} {self.basis.name} units, {self.n_features} features, {task})"

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()  # NumPy does not keep the read-only flag in a pickle
