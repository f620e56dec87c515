"""The estimators `LowRankLSSVC` and `LowRankLSSVR`: their parameters, and how predictions are scored."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin

from sleek._runtime.types import AnyArray, FloatArray
from sleek.bases.base import Basis
from sleek.estimators.base import LowRankLSSVM
from sleek.estimators.confidence import IntervalMethods, ProbabilityMethods
from sleek.outputs.base import Outputs, Targets
from sleek.outputs.classes import ClassOutputs
from sleek.outputs.loss import LOSSES, SQUARED
from sleek.outputs.number_losses import NUMBER_LOSSES
from sleek.outputs.numbers import NumberOutputs, NumbersBy
from sleek.rows.opening import rows_with_targets
from sleek.rows.outliers import warn_of_outlier_targets
from sleek.rows.rows import Rows, Run, Survey
from sleek.trainers.base import Trainer


class LowRankLSSVC(ProbabilityMethods, ClassifierMixin, LowRankLSSVM):
    """Least squares support vector classifier with a few learnable units.

    y(x) = Σ_j θ_j φ_j(x; λ_j) + b minimises ½‖θ‖² + C/2 Σ s (t - y(x))² over θ and b in closed form, while a
    trainer moves the units λ. Two classes are coded t = ±1; more classes share the units and have one
    column of θ each. Where that makes fewer mistakes, the outputs are refined to log-odds (`loss`). A pass
    over the data costs O(rows·n_units·(features + n_units)); nothing is of size
    rows × rows.

    Parameters
    ----------
    n_units : int or "auto", default="auto"
        The number of units M, and so the size of the model. "auto" trains 30 (10 for each of many classes, at
        most 100, and one for every 5 rows), adds boxes as long as that pays, prunes them, and keeps the
        smallest size that is as good, down to a linear model without units (`path_`).
    basis : {"auto", "gaussian_rbf", "sigmoidal", "box", "curves", "linear", "network", "robust_rbf", \
"simplex"} or Basis
        The learnable functions φ_j. "auto" chooses "gaussian_rbf", "sigmoidal" or "box", and may add boxes to
        either of the others, and a linear part to all. Where that is as good, it ends with "linear", a linear
        model, or "curves", ramps of single columns. "network" is ``Network(hidden=(16,))``: units are outputs
        of a small neural network whose hidden layers they share; "auto" does not try it.
    trainer : {"varpro", "alternating"} or Trainer, default="varpro"
        The algorithm that trains the units: `VariableProjection`, or the paper's `Alternating`; an object
        carries its settings.
    C : float or "loo", default="loo"
        The penalty on squared errors (the paper's γ): larger means less regularisation.
    shape : float or "auto", default="auto"
        The initial sharpness μ of every unit and feature, in standardised units if `standardize`. "auto"
        tries a few multiples of 1/n_features.
    init : {"auto", "k-medoids"} or array of shape (n_units, n_features), default="auto"
        Where the units start: at k-medoids of the rows, and boxes at leaves of small trees on the targets;
        "k-medoids" for all of them; an array of centres is in raw units.
    standardize : bool, default=True
        Train on features of mean 0 and variance 1. The scaling is folded into the units afterwards, so the
        model speaks raw units either way.
    max_samples : int, "auto" or None, default="auto"
        On how many rows the units are learnt: "auto" takes a random sample that grows as long as growing
        pays (`sleek.fit.growth` states the rule), a number is the most it may have, and None learns them on
        all rows. The weights of the units are solved on all rows; those of log-odds are learnt with the
        units, and take one step on all rows where that was a sample.
    max_units : int or None, default=None
        The most units that ``n_units="auto"`` may come to; None: 150, by `effort` 30 or 300.
    max_numbers : int or None, default=None
        The most numbers that a person wants to read (`n_numbers_`): of what was tried with at most as many,
        the model that the same rule chooses. None: as many as pay. `path_` says what fewer cost.
    effort : {"quick", "normal", "thorough"}, default="normal"
        What time a fit may take: "quick" tries fewer settings on fewer rows for a first look, "thorough" more
        of them on more rows and, where that pays, twice as many units.
    categorical_features : names, places or mask of columns, default=None
        Columns that hold codes: categories although they are numbers. Text, truth values and a data frame's
        own categories are categories without being named.
    interaction_cst : {"pairwise", "no_interactions"}, groups of columns, or None, default=None
        Which columns may act together, as in `HistGradientBoostingClassifier`: any two, none, or those of one
        group, by names or places, such as ``[{"age", "sex"}, {"age", "dose"}]``; columns in no group make up
        one. A category with all its levels is one column. ``model_.constraints`` states it.
    monotonic_cst : dict from columns to -1, 0 or 1, array of them, or None, default=None
        1: the output, for classes that of ``classes_[1]``, never falls as the column rises; -1: it never
        rises. It holds for all rows, known values of the column compared; gaps have a level of their own.
        For two classes or one number. docs/guides/constraints.md says how it is kept, and what it costs.
    cv : None, int, "last", splitter or list of splits, default=None
        Which rows choose settings and judge the result, and so what the error to expect is that of. None
        (or "auto"): random rows of every class, a third of them from 2,000 rows on, folds below. An int: so
        many folds. "last": the last third of the rows in the order given, 8,192 or one of 128 at most, for
        what changes with time. A splitter of scikit-learn, such as `TimeSeriesSplit`, or a list of pairs
        (rows to learn from, rows to judge by): these. The rows that judge also choose, which the error to
        expect is corrected for (`optimism_`). The model itself is learnt from all rows.
    forgetting_factor : float, default=1.0
        What the weight of every earlier row is multiplied by whenever `partial_fit` adds a row: 0.999
        remembers about 1,000 rows, 1 forgets nothing.
    warm_start : bool, default=False
        Whether `fit` goes on from the units of the fit before instead of choosing everything anew: for the
        same kind of rows, with more of them. Features and classes must be the same.
    loss : {"auto", "squared_error", "log_loss"}, default="auto"
        What outputs are: "squared_error" approaches ±1 in closed form, "log_loss" refines that to log-odds,
        with weights that are learnt together with the units. "auto" refines from 500 rows on where rows held
        out have no more mistakes by it; with every setting fixed it is the squared loss. `partial_fit`,
        `forget` and `sleek.merge` need "squared_error", which a first `partial_fit` sees to.
    class_weight : dict, "balanced" or None, default=None
        How much rows of each class matter; "balanced" lets all classes weigh the same. Probabilities are then
        those of rows that come with these weights: under "balanced", as if all classes were equally frequent.
    calibrator : object with `fit` and `predict_proba`, or None, default=None
        What makes probabilities of decision values, any classifier of scikit-learn for example; None is
        sleek's own, an increasing function that never contradicts the decision values. It is fitted to
        scores of held-out rows, (n, 1) or (n, n_classes), and `predict` follows its probabilities.
    n_jobs : int, default=None
        Threads over blocks of rows; None means 1, -1 all cores. The result does not depend on it.
    random_state : int, RandomState or None, default=None
        Seeds the start of the units and the samples that are drawn from large data.
    verbose : int, default=0
        Print progress if not 0.

    Attributes
    ----------
    model_ : KernelModel
        The frozen model, which does the predicting; ``model_.parts`` are the units of any basis.
    centers_, shapes_ : arrays of shape (n_units, n_features)
        Location and sharpness of the units, in raw units (not for "sigmoidal" or "network").
    unit_weights_ : array of shape (n_outputs, n_units)
    intercept_ : array of shape (n_outputs,)
    n_units_ : int
        Units with learnt numbers: a linear model and curves have none.
    n_numbers_ : int
        How many numbers a person has to read: those of the units, their weights, and constants.
    n_iter_ : int
    history_ : dict of lists
        What the trainer recorded at every iteration.
    status_ : str
        How training ended, as a sentence.
    C_, pull_ : float
        The penalties, given or chosen.
    selection_ : dict of lists
        What was tried, as columns of a table, which notebooks show as one; empty if nothing was left to
        choose.
    path_ : dict of lists
        The ladder, as columns of a table, fewest numbers first: how many numbers, units, and ramps or linear
        features each model has, its error on held-out rows, and the standard error of that. These errors were
        used to choose, so that the chosen one's is on the rosy side of `expected_error_`. Empty if the size
        was given.
    expected_error_, expected_error_std_ : float
        The error to expect on new rows, the share of mistakes, and its standard error.
    optimism_ : float
        By how much the rows that chose the model flatter it: `expected_error_` is their error times this.
    expected_error_method_ : str
        How it was found: by "leave-one-out" over all learnt numbers, "refitted folds" or "rows held out".
    left_out_residuals_ : array of shape (n_left_out,) or (n_left_out, n_outputs)
        The residuals behind it, target minus what is put out by a model that has not seen the row.
    left_out_rows_ : array of shape (n_left_out,)
        The rows of X that they belong to: all, or a sample.
    feature_importances_ : array of shape (n_features_in_,)
        How much the outputs depend on each column; they add up to 1.
    column_notes_ : list of str
        What was filled, grouped and left out of a table; none of an array.
    moments_ : Moments
        The sums over rows that the weights of the units were solved from; squared error only.
    drift_ : Drift
        Whether rows that `partial_fit` has added still have the errors that rows left out have promised:
        ``drift_.alarm`` is true by chance in at most 1 of 100 streams, however long; ``print(drift_)`` says
        what to do.
    classes_ : array of labels
    n_features_in_ : int
    feature_names_in_ : array of str
        Only if `X` had string column names.

    Examples
    --------
    >>> from sleek import LowRankLSSVC
    >>> from sleek.datasets import make_ripley
    >>> X, y = make_ripley(1250, random_state=0)
    >>> model = LowRankLSSVC(random_state=0).fit(X[:250], y[:250])
    >>> bool(model.score(X[250:], y[250:]) > 0.9), bool(model.expected_error_ < 0.13), model.n_units_ <= 30
    (True, True, True)
    >>> LowRankLSSVC(4, basis="robust_rbf", C=10.0, random_state=0).fit(X, y).centers_.shape
    (4, 2)
    """

    outputs_kind: ClassVar[type[Outputs]] = ClassOutputs
    losses: ClassVar[tuple[str, ...]] = ("auto", *LOSSES)

    def __init__(
        self,
        n_units: int | str = "auto",
        *,
        basis: str | Basis = "auto",
        trainer: str | Trainer = "varpro",
        C: float | str = "loo",
        shape: float | str = "auto",
        init: str | AnyArray = "auto",
        standardize: bool = True,
        max_samples: int | str | None = "auto",
        max_units: int | None = None,
        max_numbers: int | None = None,
        effort: str = "normal",
        categorical_features: Any = None,
        interaction_cst: Any = None,
        monotonic_cst: Any = None,
        cv: Any = None,
        forgetting_factor: float = 1.0,
        warm_start: bool = False,
        loss: str = "auto",
        class_weight: dict[Any, float] | str | None = None,
        calibrator: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_units,
            basis=basis,
            trainer=trainer,
            C=C,
            shape=shape,
            init=init,
            standardize=standardize,
            max_samples=max_samples,
            max_units=max_units,
            max_numbers=max_numbers,
            effort=effort,
            categorical_features=categorical_features,
            interaction_cst=interaction_cst,
            monotonic_cst=monotonic_cst,
            cv=cv,
            forgetting_factor=forgetting_factor,
            warm_start=warm_start,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.loss = loss
        self.class_weight = class_weight
        self.calibrator = calibrator

    def partial_fit(  # type: ignore[override]  # scikit-learn's order
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn from more rows: the units stay, weights and constants are solved again from all rows so far.

        The first call fits, if there is no fit yet, with the squared loss unless loss="log_loss": give it
        enough rows to learn units from. After that a call costs one pass over its rows, and the result is, to
        rounding, that of one pass over all rows, whatever their order: updates of squared errors are exact.
        Those of log-odds, which a `fit` may end with, are close, and take a few passes: new rows count as
        they are, others by a quadratic that touches their loss. `drift_` says whether the errors of new rows
        have become larger.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), data frame, or Rows
            A table is read by the columns of the fit: fills and levels stay as they are.
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,), default=None
            All classes that there will be: to be named in the first call if its rows do not have all of them.
        sample_weight : array-like of shape (n_samples,), default=None
        """
        return self._partial_fit(X, y, sample_weight, classes)

    def _learn_outputs(self, rows: Rows, survey: Survey, run: Run, classes: Any = None) -> Outputs:
        outputs = ClassOutputs.learn(survey.targets, rows.flat_targets, self.class_weight, classes)
        self.classes_ = outputs.classes
        return outputs

    def decision_function(self, X: Any) -> FloatArray:
        """The model's outputs: (n_samples,) for two classes, else (n_samples, n_classes).

        Above zero speaks for ``classes_[1]``; with more classes the largest output wins.
        """
        model = self._model()

        def scores(rows: AnyArray, n_jobs: int = 1) -> FloatArray:
            return model.outputs.scores(model.outputs_unchecked(rows, n_jobs))

        return self._evaluate(X, scores)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The share of rows classified right; `Rows`, such as `Files`, have labels and weights with them."""
        rows = rows_with_targets(X, y, sample_weight)
        return float(super().score(X, y, sample_weight)) if rows is None else self._score(rows)


class LowRankLSSVR(IntervalMethods, MultiOutputMixin, RegressorMixin, LowRankLSSVM):
    """Least squares support vector regression with a few learnable units.

    The model and its cost are those of `LowRankLSSVC`, with real targets t, centred and brought to unit
    variance during training. Several targets share the units and have one column of θ each.

    Parameters and attributes are those of `LowRankLSSVC`, but for `class_weight`, `calibrator` and
    `classes_`, and for the following.

    Parameters
    ----------
    loss : str, default="squared_error"
        What is predicted, and which errors are counted:

        - "squared_error": the mean;
        - "poisson": the mean of counts, or of anything that is not negative, as the exponential of the sum
          of units, so that effects are factors; "gamma": of amounts above 0; "tweedie": in between, of
          amounts of which some are 0, by `power`;
        - "absolute_error": the median; "quantile": another `quantile`;
        - "huber": about the mean, but gross errors pull no harder than others.

        All but the first are for one target, and are learnt from least squares on. Updates (`partial_fit`)
        are then close instead of exact; a median or quantile has none.
    quantile : float, default=0.5
        The quantile of loss="quantile", between 0 and 1.
    power : float, default=1.5
        The power of loss="tweedie", 1 to 3: the variance grows as the mean to it.

    Attributes
    ----------
    expected_error_, expected_error_std_ : float, or array of shape (n_outputs,) for several targets
        The mean squared error to expect on new rows, in the square of the target's own unit, and its standard
        error. For another loss its mean as scikit-learn's metrics have it: `mean_poisson_deviance`,
        `mean_gamma_deviance`, `mean_tweedie_deviance`, `mean_absolute_error`, `mean_pinball_loss`; for
        "huber" the mean of Huber's loss.
    expected_r2_ : float, or array of shape (n_outputs,) for several targets
        The share of the target's variance that will be explained on new rows: 1 - expected_error_/variance.
        It is 0 for a target that does not vary. Only for the squared error.
    expected_d2_ : float, or array of shape (n_outputs,) for several targets
        The same for any loss: 1 - expected_error_ / that of the best constant.

    Examples
    --------
    >>> import numpy as np
    >>> from sleek import LowRankLSSVR
    >>> x = np.linspace(-3, 3, 200)[:, None]
    >>> model = LowRankLSSVR(n_units=10, random_state=0).fit(x, np.sin(x[:, 0]))
    >>> bool(model.score(x, np.sin(x[:, 0])) > 0.99)
    True
    """

    outputs_kind: ClassVar[type[Outputs]] = NumberOutputs
    losses: ClassVar[tuple[str, ...]] = (SQUARED.name, *NUMBER_LOSSES)

    def __init__(
        self,
        n_units: int | str = "auto",
        *,
        basis: str | Basis = "auto",
        trainer: str | Trainer = "varpro",
        C: float | str = "loo",
        shape: float | str = "auto",
        init: str | AnyArray = "auto",
        standardize: bool = True,
        max_samples: int | str | None = "auto",
        max_units: int | None = None,
        max_numbers: int | None = None,
        effort: str = "normal",
        categorical_features: Any = None,
        interaction_cst: Any = None,
        monotonic_cst: Any = None,
        cv: Any = None,
        forgetting_factor: float = 1.0,
        warm_start: bool = False,
        loss: str = "squared_error",
        quantile: float = 0.5,
        power: float = 1.5,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_units,
            basis=basis,
            trainer=trainer,
            C=C,
            shape=shape,
            init=init,
            standardize=standardize,
            max_samples=max_samples,
            max_units=max_units,
            max_numbers=max_numbers,
            effort=effort,
            categorical_features=categorical_features,
            interaction_cst=interaction_cst,
            monotonic_cst=monotonic_cst,
            cv=cv,
            forgetting_factor=forgetting_factor,
            warm_start=warm_start,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.loss = loss
        self.quantile = quantile
        self.power = power

    def _targets(self) -> Targets:
        if self.loss == SQUARED.name:
            return super()._targets()
        kind = NUMBER_LOSSES[self.loss]
        return NumbersBy(kind(**{name: getattr(self, name) for name in kind.settings if hasattr(self, name)}))

    def _learn_outputs(self, rows: Rows, survey: Survey, run: Run, classes: Any = None) -> Outputs:
        kind = self._targets()
        if isinstance(kind, NumbersBy):
            return kind.learn(survey.targets, rows.flat_targets)
        warn_of_outlier_targets(rows, survey.targets, survey.weights, survey.unit, run)
        return super()._learn_outputs(rows, survey, run)

    @property
    def expected_r2_(self) -> Any:
        """The share of the variance of each target that will be explained on new rows."""
        if self._model().outputs.loss.name != SQUARED.name:
            raise AttributeError("R² is for the squared error: other losses have `expected_d2_`.")
        return self.expected_d2_

    @property
    def expected_d2_(self) -> Any:
        """The share of the best constant's error that will be explained on new rows."""
        facts = self._model().facts
        assert facts is not None  # a fit always states them
        errors, variance = np.atleast_1d(self.expected_error_), facts.variance
        shares = np.divide(errors, variance, out=np.ones_like(errors), where=variance > 0)
        return float(1.0 - shares[0]) if np.ndim(self.expected_error_) == 0 else 1.0 - shares

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """R², the share of variance explained; `Rows`, such as `Files`, have their targets with them."""
        rows = rows_with_targets(X, y, sample_weight)
        return float(super().score(X, y, sample_weight)) if rows is None else self._score(rows)
