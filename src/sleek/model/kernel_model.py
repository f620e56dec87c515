"""The frozen result of a fit: a few units in the user's own units, and what they add up to."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from sleek._runtime.threads import Workers, single_threaded_blas
from sleek._runtime.types import AnyArray, FloatArray
from sleek.bases.expansion import Expansion, Part
from sleek.bases.units import Units
from sleek.kernels import LARGE_BLOCK
from sleek.model.far import far_features
from sleek.model.frozen import frozen
from sleek.model.given import rows_of
from sleek.model.living import Living
from sleek.model.uncertain import Uncertain
from sleek.outputs.base import Outputs
from sleek.rows.scaling import Scaling
from sleek.rows.source import rows_per_block

if TYPE_CHECKING:
    from sleek.calibration import Calibration
    from sleek.model.explanation import Explanation
    from sleek.model.facts import Facts
    from sleek.model.memory import Memory
    from sleek.tables.encoded import EncodedTable
    from sleek.tables.inputs import Inputs

MIDST_ROWS = 15  # of a block of float32 rows: their medians are a point in the midst of all,
FAR = 10.0  # which is far from 0 beyond this many times their range
LEAST_SINGLE, MOST_SINGLE = 1e-30, 1e30  # between which numbers of units are at home in float32,
MOST_ROOT = 1e18  # and up to which the squares of rows are
# Multiplications in products that BLAS does not share out among threads; to hold it to one takes 20 µs.
ALONE = 2**15


@dataclass(frozen=True, eq=False)
class KernelModel(Uncertain, Living):
    """y(x) = Σ_j θ_j φ_j(x) + b, with read-only arrays: the only thing that predicts.

    O(n·n_units·n_features) time; memory beyond input and output does not grow with n.

    Attributes
    ----------
    parts : tuple of Part
        The bases and their units, in raw units, whether or not features were standardised for training.
    theta : array of shape (n_units, n_outputs)
        What each unit weighs in each output; units are numbered through all parts.
    b : array of shape (n_outputs,)
    C : float
    outputs : Outputs
        What the outputs mean: `ClassOutputs` with the labels, or `NumberOutputs`.
    feature_names : tuple of str or None
    inputs : Inputs or None
        How the columns of a table become features, if the model was trained on a table. It is saved and
        exported with the model.
    facts : Facts or None
        What training knew of the data: ranges, influence of columns, the error to expect.
    calibration : ClassCalibration, NumberCalibration or None
        What rows that took no part in training tell of new ones: probabilities and sets, or intervals.
    trained_by : mapping or None
        What trained the model: names, versions and settings, as plain values.
    memory : Memory or None
        The sums over rows that weights are solved from, by which rows come in (`partial_fit`) and leave
        (`forget`); None for log-odds, and if it was not saved.
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
    >>> model.parts[0].units["centers"].shape, model.kernel(X[:2], X[:3]).shape
    ((4, 2), (2, 3))
    """

    expansion: Expansion
    theta: FloatArray
    b: FloatArray
    C: float
    outputs: Outputs
    feature_names: tuple[str, ...] | None = None
    inputs: Inputs | None = None
    facts: Facts | None = None
    calibration: Calibration | None = None
    trained_by: Mapping[str, Any] | None = None
    memory: Memory | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        own = self.expansion.map(lambda part: Units({n: frozen(a) for n, a in part.units.arrays.items()}))
        for name, value in {"expansion": own, "theta": frozen(self.theta), "b": frozen(self.b)}.items():
            object.__setattr__(self, name, value)
        wanted = (len(own), self.outputs.n_outputs)
        if self.theta.shape != wanted or self.b.shape != wanted[1:]:
            raise ValueError(
                f"`theta` must have shape {wanted} and `b` {wanted[1:]} for {own} and {self.outputs!r}, got "
                f"{self.theta.shape} and {self.b.shape}."
            )

    @property
    def parts(self) -> tuple[Part, ...]:
        """The bases and their units."""
        return self.expansion.parts

    @property
    def n_units(self) -> int:
        """The number of units of all parts."""
        return len(self.theta)

    @property
    def n_features(self) -> int:
        """The number of features of a row."""
        for part in self.parts:
            for parameter in part.basis.parameters:
                if "feature" in parameter.axes:
                    return int(part.units[parameter.name].shape[parameter.axes.index("feature")])
        raise ValueError(
            f"None of the bases {self.expansion.name} declares a parameter with the axis 'feature'."
        )

    @property
    def names_of_features(self) -> tuple[str, ...]:
        """The features' own names, or x0, x1, …"""
        return self.feature_names or tuple(f"x{i}" for i in range(self.n_features))

    def features(self, X: AnyArray) -> FloatArray:
        """Phi (n, n_units): the value of every unit at every row, unchecked; float32 for float32 rows.

        Few float32 rows are computed in float64, which takes no longer. Many are computed in float32, if need
        be about a point in their midst: rounding errors are 6e-8 of a row's distance from it. About 0 they
        leave three digits where the mean of a feature is 10,000 times its spread. Units of features so large
        or small that float32 loses them are computed in float64.
        """
        X = np.ascontiguousarray(X)  # bits depend on where numbers lie
        with np.errstate(over="ignore", invalid="ignore"):
            Phi = self._fast_features(X)
        far = ~np.isfinite(Phi).all(axis=1)
        if far.any():
            Phi[far] = far_features(self.expansion, X[far])
        return Phi

    def _fast_features(self, X: AnyArray) -> FloatArray:
        """The same, but not finite for rows so far away that squares overflow."""
        if X.dtype != np.float32:
            return self.expansion.features(X.astype(np.float64, copy=False))
        if len(X) < LARGE_BLOCK or not self._suits_single():
            return self.expansion.features(X.astype(np.float64)).astype(np.float32)
        low, midst, high = np.sort(X[:: len(X) // MIDST_ROWS], axis=0)[[0, MIDST_ROWS // 2, MIDST_ROWS - 1]]
        away = np.abs(midst) > FAR * (high - low)
        if not away.any():
            Phi, strange = self.expansion.features(X), np.abs(X) > MOST_ROOT
        else:
            midst = np.where(away, midst, 0)
            about, moved = Scaling(-midst.astype(np.float64), np.ones(len(midst))), X - midst
            Phi = self.expansion.unscale(about).features(moved)
            # of numbers within a factor of 2 the difference is exact
            strange = np.abs(moved) > np.where(away, 0.5 * np.abs(midst), MOST_ROOT)
        if strange.any():
            rows = strange.any(axis=1)
            Phi[rows] = self.expansion.features(X[rows].astype(np.float64))
        return Phi

    def _suits_single(self) -> bool:
        """Whether the numbers of all units, and their squares, are far from the ends of float32."""
        sizes = (np.abs(array) for part in self.parts for array in part.units.arrays.values())
        return all(((size == 0) | ((size > LEAST_SINGLE) & (size < MOST_SINGLE))).all() for size in sizes)

    def kernel(self, A: AnyArray, B: AnyArray) -> FloatArray:
        """The learnt low rank kernel k(a, b) = Σ_j φ_j(a) φ_j(b) for all pairs of rows."""
        K: FloatArray = self.features(rows_of(self, A)[:]) @ self.features(rows_of(self, B)[:]).T
        return K

    def decision_function(self, X: Any, n_jobs: int = 1) -> FloatArray:
        """The outputs y(x): (n,) for two classes or one number, else (n, n_outputs); on `n_jobs` threads.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or a table
            A table (a data frame, or a dictionary of columns) is read by the names of its columns.
        n_jobs : int, default=1
        """
        return self.outputs.scores(self.outputs_unchecked(rows_of(self, X), n_jobs))

    def predict(self, X: Any, n_jobs: int = 1) -> AnyArray:
        """Class labels, or the predicted numbers; parameters are those of `decision_function`."""
        return self.predict_unchecked(rows_of(self, X), n_jobs)

    def predict_unchecked(self, X: AnyArray | EncodedTable, n_jobs: int = 1) -> AnyArray:
        """The same for a finite float array (n, n_features), without a look at it: 10 µs for one row."""
        Y = self.outputs_unchecked(X, n_jobs)
        return self.outputs.answer(Y if self.calibration is None else self.calibration.deciding(Y))

    def outputs_unchecked(self, X: AnyArray | EncodedTable, n_jobs: int = 1) -> FloatArray:
        """The outputs (n, n_outputs) for a finite float array, without a look at it."""
        size = rows_per_block(len(X))
        if len(X) <= size:
            X = X[:]  # a table becomes features
            if len(X) * len(self.theta) * (X.shape[1] + len(self.b)) <= ALONE:
                return self._block_outputs(X)
            with single_threaded_blas():
                return self._block_outputs(X)
        Y = np.empty((len(X), len(self.b)))

        def fill(start: int) -> None:
            Y[start : start + size] = self._block_outputs(X[start : start + size])

        with single_threaded_blas():
            Workers(n_jobs).spread(fill, range(0, len(X), size))
        return Y

    def _block_outputs(self, X: AnyArray) -> FloatArray:
        X = np.ascontiguousarray(X)  # bits depend on where numbers lie
        with np.errstate(over="ignore", invalid="ignore"):
            Y: FloatArray = self._fast_features(X) @ self.theta
        Y += self.b
        if not np.isfinite(Y).all():
            far = ~np.isfinite(Y).all(axis=1)
            Y[far] = far_features(self.expansion, X[far]) @ self.theta + self.b
        return Y

    def save(
        self,
        path: str | os.PathLike[str],
        metadata: Mapping[str, Any] | None = None,
        *,
        moments: bool = False,
    ) -> None:
        """Write the model as JSON, which `sleek.load` reads back to the bit; see docs/format.md.

        The file is written beside `path` and then renamed, so that nobody ever reads half of it.

        Parameters
        ----------
        path : path of the file
        metadata : mapping of plain values, default: the model's own
            What else to keep with the model.
        moments : bool, default=False
            Keep the sums over rows, so that the model that is read back can be updated, merged and made to
            forget: up to 22·(1 + n_units + n_outputs)² bytes.
        """
        from sleek.model.saving import save

        save(self, path, metadata, moments)

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

    def explain(self, X: Any) -> Explanation:
        """What every unit contributes to the outputs for a row or several, and the model's slopes there.

        Parameters
        ----------
        X : array-like of shape (n_features,) or (n_samples, n_features)
        """
        from sleek.model.explanation import explain

        return explain(self, X)

    def __repr__(self) -> str:
        return f"KernelModel({self.expansion}, {self.n_features} features, {self.outputs})"

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()  # NumPy does not keep the read-only flag in a pickle
