"""The fitted model, y(x) = Σ_j θ_j φ_j(x) + b in the units of the data: it predicts and never changes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sleek._runtime.counting import how_many
from sleek._runtime.threads import Workers, single_threaded_blas
from sleek._runtime.types import AnyArray, FloatArray, IntArray, freeze
from sleek.bases.constraints import unit_signs
from sleek.bases.expansion import Expansion, Part
from sleek.bases.far import far_features
from sleek.bases.units import Units
from sleek.kernels import LARGE_BLOCK
from sleek.model import living
from sleek.model.edits import NO_EDITS, Edits
from sleek.model.rows_to_predict import expected_by, features_of_rows
from sleek.model.uncertain import Uncertainty
from sleek.outputs.base import Outputs
from sleek.rows.predicting import Expected, rows_to_predict
from sleek.rows.scaling import Scaling
from sleek.rows.source import SMALL_BLOCK, rows_per_block

if TYPE_CHECKING:
    from sleek.bases.constraints import Constraints, OnFeatures
    from sleek.calibration import Calibration
    from sleek.model.effects import Effects
    from sleek.model.explanation import Explanation
    from sleek.model.facts import Facts
    from sleek.model.memory import Memory
    from sleek.model.reasons import Familiarity, Flip, Reason
    from sleek.tables.encoded import EncodedTable
    from sleek.tables.inputs import Inputs

MIDST_ROWS = 15  # of a block of float32 rows: their medians are a point in the midst of all,
FAR = 10.0  # which is far from 0 beyond this many times their range
LEAST_SINGLE, MOST_SINGLE = 1e-30, 1e30  # between which numbers of units are at home in float32,
MOST_ROOT = 1e18  # and up to which the squares of rows are
# Multiplications in products that BLAS does not share out among threads; to hold it to one takes 20 µs.
ALONE = 2**15


@dataclass(frozen=True, eq=False)
class KernelModel:
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
        Probabilities and sets, or intervals, learnt from held-out rows.
    trained_by : mapping or None
        What trained the model: names, versions and settings, as plain values.
    memory : Memory or None
        The sums over rows that weights are solved from, by which rows come in (`partial_fit`) and leave
        (`forget`); None for log-odds, and if it was not saved.
    edits : Edits
        What was changed by hand (`edited`): the history, weights that are fixed, and signs.
    metadata : mapping
        Anything else worth keeping with the model, as plain values.
    constraints : Constraints or None
        Which columns may act together, and in which columns outputs never fall or never rise. A model that
        does not keep them cannot be made.

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
    edits: Edits = NO_EDITS
    metadata: Mapping[str, Any] = field(default_factory=dict)
    constraints: Constraints | None = None

    def __post_init__(self) -> None:
        own = self.expansion.map(lambda part: Units({n: freeze(a) for n, a in part.units.arrays.items()}))
        for name, value in {"expansion": own, "theta": freeze(self.theta), "b": freeze(self.b)}.items():
            object.__setattr__(self, name, value)
        wanted = (len(own), self.outputs.n_outputs)
        if self.theta.shape != wanted or self.b.shape != wanted[1:]:
            raise ValueError(
                f"`theta` must have shape {wanted} and `b` {wanted[1:]} for {own} and {self.outputs!r}, got "
                f"{self.theta.shape} and {self.b.shape}."
            )
        if self.constraints is not None:
            self._on_features(self.constraints).certify(own, self.theta)
            if self.memory is not None:
                object.__setattr__(self, "memory", replace(self.memory, signs=self.weight_signs()))

    def _on_features(self, constraints: Constraints) -> OnFeatures:
        return constraints.on_features(self.inputs, self.feature_names, self.n_features)

    def weight_signs(self) -> IntArray | None:
        """(n_units,) the signs that weights must have for the outputs to be monotone; None: any."""
        if self.constraints is None:
            return None
        return unit_signs(self.expansion, self._on_features(self.constraints).signs)

    @property
    def parts(self) -> tuple[Part, ...]:
        """The bases and their units."""
        return self.expansion.parts

    @property
    def n_units(self) -> int:
        """The number of units of all parts."""
        return len(self.theta)

    @property
    def n_numbers(self) -> int:
        """How many numbers a person has to read: those of the units that are not 0, weights and constants."""
        units = int(self.expansion.count_numbers().sum()) + self.expansion.count_shared()
        return units + self.theta.size + self.b.size

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

    @cached_property
    def expected(self) -> Expected:
        """What rows to predict must look like."""
        return expected_by(self)

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
        K: FloatArray = (
            self.features(rows_to_predict(A, self.expected)[:])
            @ self.features(rows_to_predict(B, self.expected)[:]).T
        )
        return K

    def decision_function(self, X: Any, n_jobs: int = 1) -> FloatArray:
        """The outputs y(x): (n,) for two classes or one number, else (n, n_outputs); on `n_jobs` threads.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or a table
            A table (a data frame, or a dictionary of columns) is read by the names of its columns.
        n_jobs : int, default=1
        """
        return self.outputs.scores(self.outputs_unchecked(rows_to_predict(X, self.expected), n_jobs))

    def predict(self, X: Any, n_jobs: int = 1) -> AnyArray:
        """Class labels, or the predicted numbers; parameters are those of `decision_function`."""
        return self.predict_unchecked(rows_to_predict(X, self.expected), n_jobs)

    def predict_unchecked(self, X: AnyArray | EncodedTable, n_jobs: int = 1) -> AnyArray:
        """The same for a finite float array (n, n_features), without a look at it: 10 µs for one row."""
        return self.answers(self.outputs_unchecked(X, n_jobs))

    def answers(self, Y: FloatArray) -> AnyArray:
        """Class labels, or the predicted numbers, for outputs Y (n, n_outputs)."""
        return self.outputs.answer(Y if self.calibration is None else self.calibration.decision_scores(Y))

    def outputs_unchecked(self, X: AnyArray | EncodedTable, n_jobs: int = 1) -> FloatArray:
        """The outputs (n, n_outputs) for a finite float array, without a look at it."""
        if len(X) <= SMALL_BLOCK:
            X = X[:]  # a table becomes features
            if len(X) * len(self.theta) * (X.shape[1] + len(self.b)) <= ALONE:
                return self._block_outputs(X)
            with single_threaded_blas():
                return self._block_outputs(X)
        Y, size = np.empty((len(X), len(self.b))), rows_per_block(len(X))

        def fill(start: int) -> None:
            Y[start : start + size] = self._block_outputs(X[start : start + size])

        with single_threaded_blas():
            Workers(n_jobs).map_list(fill, range(0, len(X), size))
        return Y

    def _block_outputs(self, X: AnyArray) -> FloatArray:
        X = np.ascontiguousarray(X)  # bits depend on where numbers lie
        with np.errstate(over="ignore", invalid="ignore"):
            Y: FloatArray = self._fast_features(X).astype(np.float64, copy=False) @ self.theta
        Y += self.b
        if not np.isfinite(Y).all():
            far = ~np.isfinite(Y).all(axis=1)
            Y[far] = far_features(self.expansion, X[far]) @ self.theta + self.b
        return Y

    def predict_proba(self, X: Any, n_jobs: int = 1) -> FloatArray:
        """The probability of every class for each row, (n, n_classes), in the order of the labels.

        The most probable class is the one that is predicted.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or a table
        n_jobs : int, default=1
        """
        return self.uncertainty.probabilities(rows_to_predict(X, self.expected), n_jobs)

    def predict_log_proba(self, X: Any, n_jobs: int = 1) -> FloatArray:
        """The logarithm of every class's probability for each row, (n, n_classes)."""
        return self.uncertainty.log_probabilities(rows_to_predict(X, self.expected), n_jobs)

    def predict_set(
        self,
        X: Any,
        confidence_level: float = 0.9,
        class_conditional: bool = False,
        groups: Any = None,
        n_jobs: int = 1,
    ) -> AnyArray:
        """Classes among which the true one is with a wanted probability; see `LowRankLSSVC.predict_set`."""
        P, calibration = self.predict_proba(X, n_jobs), self.uncertainty.class_calibration
        return calibration.sets(P, confidence_level, class_conditional, groups)

    def predict_interval(
        self, X: Any, confidence_level: float | list[float] = 0.9, groups: Any = None, n_jobs: int = 1
    ) -> FloatArray:
        """Ends between which the number is with a wanted probability; see `LowRankLSSVR.predict_interval`."""
        spread = self.uncertainty.spread(rows_to_predict(X, self.expected), n_jobs)
        return self.uncertainty.intervals(spread, confidence_level, groups)

    def predict_quantiles(self, X: Any, quantiles: Any = (0.05, 0.5, 0.95), n_jobs: int = 1) -> FloatArray:
        """Quantiles of the number for each row; see `LowRankLSSVR.predict_quantiles`."""
        return self.uncertainty.quantiles(
            self.uncertainty.spread(rows_to_predict(X, self.expected), n_jobs), quantiles
        )

    def predict_std(self, X: Any, n_jobs: int = 1) -> FloatArray:
        """The standard deviation of the error to expect for each row."""
        return self.uncertainty.deviations(self.uncertainty.spread(rows_to_predict(X, self.expected), n_jobs))

    def conformalize(self, X: Any, y: Any, groups: Any = None) -> KernelModel:
        """The same model with levels that are kept for certain, by rows that the fit has not seen.

        For a new row in random order with these, whatever their distribution, sets have the true class, and
        intervals the true number, with at least the confidence level asked for. Predictions and probabilities
        stay what they are.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or a table
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        groups : array-like of shape (n_samples,), default=None
            Levels are then kept for each group of rows by itself, and predictions ask for the groups too.
        """
        evidence = self.uncertainty.evidence(rows_to_predict(X, self.expected))
        return self.uncertainty.conformalize(evidence, y, np.ones(len(evidence)), groups)

    @property
    def uncertainty(self) -> Uncertainty:
        """How sure predictions are, for rows that have been checked."""
        return Uncertainty(self)

    def prediction_columns(
        self, proba: bool = False, interval: float | None = None, scores: bool = False
    ) -> Callable[..., Any]:
        """A function of rows, unchecked, that gives predictions, or a dictionary of columns to write."""
        if not proba and interval is None and not scores:
            return self.predict_unchecked
        return self.uncertainty.columns(proba, interval, scores)

    def partial_fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, forgetting_factor: float = 1.0, n_jobs: int = 1
    ) -> KernelModel:
        """The model with more rows: units as they are, weights and constants solved again from all rows.

        Exact for squared errors. For other losses it is close: new rows count as they are, others by a
        quadratic that touches their loss. Models of a quantile are not updated.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or a table
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array-like of shape (n_samples,), default=None
        forgetting_factor : float, default=1.0
            What the weight of every earlier row is multiplied by whenever a row comes in.
        n_jobs : int, default=1

        Returns
        -------
        KernelModel
        """
        return living.partial_fit(self, X, y, sample_weight, forgetting_factor, n_jobs)

    def forget(self, X: Any, y: Any, sample_weight: Any = None, *, n_jobs: int = 1) -> KernelModel:
        """The model without these rows: weights and constants as if they had never come in.

        Exact for squared errors; for other losses it is a Newton step on the rows that are left.
        They must be rows that did come in, with the same weights: those that cannot have are refused, as far
        as the sums over all rows tell. docs/living.md says what still remembers them.

        Parameters
        ----------
        X, y, sample_weight : as when they came in
        n_jobs : int, default=1

        Returns
        -------
        KernelModel
        """
        return living.forget(self, X, y, sample_weight, n_jobs)

    def edited(
        self,
        remove: Iterable[int | str] = (),
        fix: Mapping[int, Any] | None = None,
        sign: Mapping[int, Any] | None = None,
        note: str = "",
    ) -> KernelModel:
        """The model without some units or columns, or with weights of one's own; the rest is solved again.

        The other weights and the constant are exactly those that a fit of the remaining units has, from the
        sums over rows that the model carries. The training error follows from the sums (``edits.history``),
        the error on new rows does not: the expected error is that of before, and says so, and intervals of
        numbers are gone. Squared error only.

        Parameters
        ----------
        remove : iterable of int and str, default=()
            Units by number, as `explain` counts them, and columns by name: all units that look at the column.
        fix : mapping of int to float, or to a list of floats for several outputs, default=None
            Weights of units, as `theta` has them.
        sign : mapping of int to {"+", "-"}, default=None
            Units whose weights are not below, or not above, 0.
        note : str, default=""
            Why; it travels with the model.

        Examples
        --------
        >>> from sleek import LowRankLSSVR
        >>> X = np.random.default_rng(0).uniform(size=(300, 3))
        >>> y = 4 * X[:, 0] + X[:, 1]
        >>> model = LowRankLSSVR(basis="linear", random_state=0).fit(X, y).model_
        >>> without = model.edited(remove=["x1"], note="not known in time")
        >>> without.edits.history[0].words, without.n_units < model.n_units
        ('took out column x1 (1 unit)', True)
        """
        from sleek.model.editing import edit

        return edit(self, remove, fix or {}, sign or {}, note)

    def emptied(self) -> KernelModel:
        """The model without any rows: its units, ready to learn the rows of another place.

        It predicts nothing of use until rows come in.
        """
        return living.empty(self)

    def save(
        self,
        path: str | os.PathLike[str],
        metadata: Mapping[str, Any] | None = None,
        *,
        moments: bool = False,
    ) -> None:
        """Write the model as JSON, which `sleek.load` reads back to the bit; see docs/format.md.

        The file is written beside `path` and then renamed, so that a reader never sees half of it.

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
        """Write the model as a program, in the language that the path ends in; see docs/guides/ship.md.

        Parameters
        ----------
        path : path ending in .onnx, .h, .sql or .py
        **options
            Those of `to_onnx`, `to_c`, `to_sql` or `to_python` of `sleek.export`.
        """
        from sleek.export import write

        write(self, path, **options)

    def explain(self, X: Any) -> Explanation:
        """Explain predictions: what each column and each unit adds, for one row or several.

        First what the columns add to the average, the largest first; then what every unit contributes, and
        the model's slopes there.

        Parameters
        ----------
        X : a row, or rows
            A row is a dictionary of values, a Series (``table.iloc[0]``), or a list; rows are a table or an
            array, as for `predict`.

        Examples
        --------
        >>> from sleek import LowRankLSSVR
        >>> table = {"area": np.arange(30.0, 90.0), "town": ["Aarau", "Basel", "Chur"] * 20}
        >>> rent = 10 * table["area"] + 300 * (np.array(table["town"]) == "Basel")
        >>> model = LowRankLSSVR(6, basis="box", C=100.0, random_state=0).fit(table, rent).model_
        >>> lines = model.explain({"area": 50, "town": "Basel"}).effect_lines(0)
        >>> [line[0] for line in lines][:3]
        ['on average', 'town Basel', 'area 50']
        """
        from sleek.model.explanation import explain

        return explain(self, X)

    def reasons(self, X: Any, n: int = 3) -> list[list[Reason]]:
        """For each row the columns that pull its prediction most away from what is usual, as reason codes.

        They pull towards what is predicted: of two classes towards the one that was decided for, of several
        towards the winner and away from the runner-up, of a number up if it is above the mean. A pair of
        columns counts half for each.

        Parameters
        ----------
        X : a row, or rows, as for `explain`
        n : int, default=3
            How many columns at most.
        """
        from sleek.model.reasons import reasons

        effects, rows = self.effects(), features_of_rows(self, X)
        return reasons(effects, rows, effects.contributions(rows), n)

    def flip(self, X: Any, columns: Sequence[str] | None = None) -> Flip | None:
        """The smallest change of one column of a row that makes the model decide otherwise, or None.

        Numbers are changed within the range of the training rows, and counted in standard deviations; another
        level counts as 1. Classifiers only.

        Parameters
        ----------
        X : one row, as for `explain`
        columns : sequence of str, default: all
            Columns that may change.
        """
        from sleek.model.reasons import flip

        return flip(self.effects(), X, columns)

    def familiar(self, X: Any) -> list[Familiarity]:
        """How common the values of each row were among the training rows, column by column.

        It looks at one column at a time: a combination that never occurred is not noticed.

        Parameters
        ----------
        X : a row, or rows, as for `explain`
        """
        from sleek.model.reasons import familiar

        return familiar(self.effects(), features_of_rows(self, X))

    def effects(self) -> Effects:
        """The model as the sum of a mean, a curve for each column, and surfaces of pairs of columns.

        It is the functional ANOVA decomposition under the training columns' own distributions, in closed form
        for Gaussian, robust, box and linear units. Effects describe the model. Where columns depend on each
        other, they average over combinations of values that no row may have.

        Examples
        --------
        >>> from sleek import LowRankLSSVR
        >>> X = np.random.default_rng(0).uniform(size=(300, 3))
        >>> model = LowRankLSSVR(8, basis="gaussian_rbf", C=100.0, random_state=0).fit(X, 4 * X[:, 0]).model_
        >>> print(model.effects().sentence)
        100 % of what this model says is in 1 curve.
        """
        from sleek.model.effects import Effects

        return Effects(self)

    def in_words(self, width: int = 100, everything: bool = False) -> str:
        """The model as a text: what it is and how good, what each column does, and all of it in numbers.

        The numbers are the model's own, unless they have more than six digits: then they are rounded, and the
        text says so. ``print(model)`` prints it, and `sleek show` does.

        Parameters
        ----------
        width : int, default=100
            Characters in a line.
        everything : bool, default=False
            All units, in all digits: whoever adds up what is printed has the predictions.
        """
        from sleek.report.model_words import text_of

        return text_of(self, width, everything)

    def report(
        self, path: str | os.PathLike[str], X: Any = None, y: Any = None, *, include_rows: int = 0
    ) -> None:
        """Write the model as a page to look at and to try out.

        It says how good the model is and what each column does, answers "what if", and takes edits.

        The page opens from disk, asks for nothing from anywhere, and reads without JavaScript. It carries the
        model and binned counts of the training rows, and no rows unless you ask for some.

        Parameters
        ----------
        path : path ending in .html, or in .md for Markdown with the fields of a model card
        X : array-like of shape (n_samples, n_features), or a table, default=None
            Rows that the model has not seen, to measure it on.
        y : array-like, default=None
            Their targets.
        include_rows : int, default=0
            How many of the rows of `X`, the first ones, the page carries to start "what if" from. Whoever has
            the page can read them.
        """
        from sleek.report.report_files import write_report

        write_report(self, path, X, y, include_rows)

    def __str__(self) -> str:
        return self.in_words()

    def _repr_html_(self) -> str:
        from sleek.report.html_report import notebook_html

        return notebook_html(self)

    def __repr__(self) -> str:
        return f"KernelModel({self.expansion}, {how_many(self.n_features, 'feature')}, {self.outputs})"

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__post_init__()  # NumPy does not keep the read-only flag in a pickle
