"""The frozen result of a fit: a few units in the user's own units, and what they add up to."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from sleek._runtime.threads import Workers, single_threaded_blas
from sleek._runtime.types import AnyArray, FloatArray
from sleek.bases.base import Basis, Units
from sleek.outputs.outputs import decide
from sleek.rows.source import rows_per_block

if TYPE_CHECKING:
    from sleek.model.explanation import Explanation
    from sleek.tables.columns import Inputs


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
    inputs : Inputs or None
        How the columns of a table become features, if the model was trained on a table. It is saved and
        exported with the model; the methods here take features, ``model.inputs.transform(table)``.
    trained_by : mapping or None
        What trained the model: names, versions and settings, as plain values.
    metadata : mapping
        Anything else worth keeping with the model, as plain values.

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
    inputs: Inputs | None = None
    trained_by: Mapping[str, Any] | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for array in (*self.units.arrays.values(), self.theta, self.b):
            array.flags.writeable = False

    @property
    def n_features(self) -> int:
        """The number of features of a row."""
        return int(next(iter(self.units.arrays.values())).shape[1])

    def features(self, X: AnyArray) -> FloatArray:
        """Phi (n, n_units): the value of every unit at every row, in float32 for float32 rows."""
        X = np.asarray(X)
        if X.dtype != np.float32:
            X = X.astype(np.float64, copy=False)
        return self.basis.features(X, self.units)

    def kernel(self, A: AnyArray, B: AnyArray) -> FloatArray:
        """The learnt low rank kernel k(a, b) = Σ_j φ_j(a) φ_j(b) for all pairs of rows."""
        K: FloatArray = self.features(A) @ self.features(B).T
        return K

    def decision_function(self, X: AnyArray, n_jobs: int = 1) -> FloatArray:
        """The outputs y(x): (n,) for two classes or one number, else (n, n_outputs); on `n_jobs` threads."""
        Y = self._outputs(X, n_jobs)
        return Y[:, 0] if self.flat else Y

    def predict(self, X: AnyArray, n_jobs: int = 1) -> AnyArray:
        """Class labels, or the predicted numbers; on `n_jobs` threads."""
        Y = self._outputs(X, n_jobs)
        if self.classes is not None:
            return self.classes[decide(Y)]
        return Y[:, 0] if self.flat else Y

    def save(self, path: str | os.PathLike[str], metadata: Mapping[str, Any] | None = None) -> None:
        """Write the model as JSON, which `sleek.load` reads back to the bit; see docs/format.md.

        The file is written beside `path` and then renamed, so that nobody ever reads half of it.

        Parameters
        ----------
        path : path of the file
        metadata : mapping of plain values, default: the model's own
            What else to keep with the model.
        """
        from sleek.model.json_file import save

        save(self, path, metadata)

    def export(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write the model as a program, in the language that the path ends in; see docs/export.md.

        Parameters
        ----------
        path : path ending in .onnx, .h, .sql or .py
        **options
            Those of `to_onnx`, `to_c`, `to_sql` or `to_python` of `sleek.export`.
        """
        from sleek.export import write

        write(self, path, **options)

    def explain(self, X: AnyArray) -> Explanation:
        """What every unit contributes to the outputs for a row or several, and the model's slopes there.

        Parameters
        ----------
        X : array-like of shape (n_features,) or (n_samples, n_features)
        """
        from sleek.model.explanation import explain

        return explain(self, X)

    def _outputs(self, X: AnyArray, n_jobs: int) -> FloatArray:
        size = rows_per_block(len(X))
        if len(X) <= size:
            return self._block_outputs(X)
        Y = np.empty((len(X), len(self.b)))

        def fill(start: int) -> None:
            Y[start : start + size] = self._block_outputs(X[start : start + size])

        with single_threaded_blas():
            Workers(n_jobs).spread(fill, range(0, len(X), size))
        return Y

    def _block_outputs(self, X: AnyArray) -> FloatArray:
        Y: FloatArray = self.features(X) @ self.theta
        Y += self.b
        return Y

    def __repr__(self) -> str:
        task = f"classes {self.classes.tolist()}" if self.classes is not None else f"{len(self.b)} outputs"
        return f"KernelModel({len(self.units)} {self.basis.name} units, {self.n_features} features, {task})"

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()  # NumPy does not keep the read-only flag in a pickle
