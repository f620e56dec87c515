"""Nothing silently wrong: nasty tables by every public door end in a sentence, or in answers that hold."""

import pickle
import re
import warnings
from dataclasses import replace
from functools import cache

import nasty
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
import zoo
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import RFE, SelectFromModel, SequentialFeatureSelector
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sleek
from sleek import LSSVC, LSSVR, Alternating, Files, LowRankLSSVC, LowRankLSSVR, Units, VariableProjection
from sleek.export import to_python
from sleek.kernels import LARGE_BLOCK, compiled, reference

FITTING = [name for name, make in nasty.MADE.items() if make().refused is None]
REFUSED = [name for name, make in nasty.MADE.items() if make().refused is not None]
# One basis after the other, so that each of them meets a fifth of the tables.
BASIS = {name: zoo.BASES[(number + 1) % len(zoo.BASES)] for number, name in enumerate(nasty.MADE)}
NAMES = ["a b", 'it\'s "a"', "Größe, 面積", "a b ", "A B", "x0", " ", "1", "new\nline"]
# What a fit may say of any table: training was cut short, or there are fewer rows than units.
ALLOWED = r"Not converged: |`n_units`=[45] is more than the \d+ (distinct rows of X|leaves that trees found)"
FAR = (1e200, -1e200, 1e300, float(np.finfo(np.float32).max))


def estimator(name, **options):
    """An estimator for the table of this name: quick, with all settings fixed."""
    made = nasty.MADE[name]()
    settings = {
        "n_units": 4,
        "basis": BASIS[name],
        "trainer": VariableProjection(pull=1e-3, max_iter=8),
        "C": 10.0,
        "shape": 1.0 / made.X.shape[1],
        "random_state": 0,
    }
    return (LowRankLSSVC if made.classifies else LowRankLSSVR)(**{**settings, **options})


def fit(model, *args, warns=None, **options):
    """Fit, and see that warnings are sentences for users, and those that are expected."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(*args, **options)
    said = []
    for warning in caught:
        sentence = str(warning.message)
        assert issubclass(warning.category, UserWarning), sentence
        assert re.fullmatch(r"[A-Z`](.|\n)*\.", sentence), sentence
        if not re.match(ALLOWED, sentence):
            said.append(sentence)
    if warns is None:
        assert said == []
    else:
        assert len(said) == 1
        assert re.search(warns, said[0])
    return model


@cache
def fitted(name):
    """The table of this name and an estimator that was fitted to its arrays."""
    made = nasty.MADE[name]()
    model = fit(estimator(name), made.X, made.y, sample_weight=made.weights, warns=made.warns)
    return made, model


def rows_of(made):
    """The rows in double precision: what files hand out, too."""
    return np.ascontiguousarray(made.X, dtype=np.float64)


def outputs(model, X):
    """What a model or an estimator puts out, before labels are chosen."""
    return model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)


def assert_same_bits(found, expected):
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


# ---- one door


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_fitted_is_refused_in_a_sentence(name):
    made = nasty.MADE[name]()
    for options in (
        {},
        {"basis": "auto", "C": "loo", "shape": "auto", "n_units": "auto", "trainer": "varpro"},
    ):
        with pytest.raises(ValueError, match=made.refused):
            estimator(name, **options).fit(made.X, made.y, sample_weight=made.weights)


@pytest.mark.parametrize("name", FITTING)
def test_answers_are_finite_and_known_however_far_the_rows(name):
    made, model = fitted(name)
    X = rows_of(made)
    d = X.shape[1]
    rows = [X, *(np.full((1, d), value) for value in FAR)]
    for value in FAR[:3]:
        one = X[: min(d, len(X))].copy()
        np.fill_diagonal(one, value)
        rows.append(one)
    for some in rows:
        assert np.isfinite(outputs(model, some)).all()
        answers = model.predict(some)
        assert len(answers) == len(some)
        if made.classifies:
            assert set(answers.tolist()) <= set(model.classes_.tolist())
        else:
            assert np.isfinite(answers).all()
    largest = np.full((1, d), np.finfo(np.float32).max, dtype=np.float32)
    assert np.isfinite(outputs(model, largest)).all()


@pytest.mark.parametrize("name", FITTING)
def test_what_is_learnt_is_finite(name):
    made, model = fitted(name)
    shares = model.feature_importances_
    assert shares.shape == (made.X.shape[1],)
    assert (shares >= 0).all()
    assert shares.sum() == pytest.approx(1.0) or (shares == 0).all()
    numbers = [model.expected_error_, model.expected_error_std_, model.unit_weights_, model.intercept_]
    numbers += [model.left_out_residuals_, model.C_, model.pull_]
    numbers += [array for part in model.model_.parts for array in part.units.arrays.values()]
    assert all(np.isfinite(number).all() for number in numbers)
    assert np.min([model.expected_error_, model.expected_error_std_]) >= 0


# ---- same bits


@pytest.mark.parametrize("name", FITTING)
def test_fits_are_the_same_again_on_two_threads_and_in_any_order(name):
    made, model = fitted(name)
    X = rows_of(made)
    order = np.random.default_rng(1).permutation(len(X))
    weights = None if made.weights is None else made.weights[order]
    for other, rows, y, s in (
        (clone(model).set_params(n_jobs=2), made.X, made.y, made.weights),
        (clone(model), made.X[order], made.y[order], weights),
    ):
        again = fit(other, rows, y, sample_weight=s, warns=made.warns and made.warns.replace("13", r"\d+"))
        assert_same_bits(outputs(again, X), outputs(model, X))
        np.testing.assert_array_equal(again.expected_error_, model.expected_error_)
        np.testing.assert_array_equal(again.feature_importances_, model.feature_importances_)


# ---- every door


def frame_of(made):
    """Column names of all kinds, and values of the table's own types."""
    X = np.asarray(made.X)
    X = X.astype(X.dtype.newbyteorder("="))
    d = X.shape[1]
    names = NAMES[:d] if d <= len(NAMES) else [f"column {i}" for i in range(d)]
    return pd.DataFrame(dict(zip(names, X.T, strict=True)))


@pytest.mark.parametrize("name", FITTING)
def test_frames_give_the_same_answer(name):
    made, model = fitted(name)
    frame, expected = frame_of(made), outputs(model, rows_of(made))
    other = pl.from_pandas(frame) if FITTING.index(name) % 2 else frame
    again = fit(clone(model), other, made.y, sample_weight=made.weights, warns=made.warns)
    assert again.feature_names_in_.tolist() == list(frame.columns)
    assert_same_bits(outputs(again, frame.astype(float)), expected)
    assert_same_bits(outputs(again, pl.from_pandas(frame.astype(float))), expected)


def written(made, path):
    """The table as a file."""
    frame = frame_of(made)
    if (
        path.suffix == ".csv" or frame.dtypes.iloc[0] == np.float16
    ):  # digits of a short float are another number
        frame = frame.astype({name: float for name in frame if frame[name].dtype.kind == "f"})
    y = made.y.astype(float) if made.y.dtype.kind == "f" else made.y
    targets = {"target": y} if y.ndim == 1 else {f"target {k}": column for k, column in enumerate(y.T)}
    weights = {} if made.weights is None else {"weight": made.weights}
    columns = {name: frame[name].to_numpy() for name in frame}
    (pa.csv.write_csv if path.suffix == ".csv" else pa.parquet.write_table)(
        pa.table(columns | targets | weights), path
    )
    return Files(path, target=list(targets) if y.ndim > 1 else "target", weight=next(iter(weights), None))


@pytest.mark.parametrize("kind", ["parquet", "csv"])
@pytest.mark.parametrize("name", FITTING)
def test_files_give_the_same_answer(name, kind, tmp_path):
    made, model = fitted(name)
    files = written(made, tmp_path / f"table.{kind}")
    if (name, kind) == ("labels_that_look_like_numbers", "csv"):  # they are numbers there, and the same
        with pytest.raises(ValueError, match=r"at least 2 classes, got 1 class: 1\.0"):
            clone(model).fit(files)
        return
    again = fit(clone(model), files, warns=made.warns)
    assert_same_bits(outputs(again, frame_of(made).astype(float)), outputs(model, rows_of(made)))
    assert_same_bits(outputs(again, files), outputs(model, rows_of(made)))
    labels = model.predict(rows_of(made)).tolist()
    if kind == "csv":  # cells of text files have no spaces around them
        labels = [label.strip() if isinstance(label, str) else label for label in labels]
    assert again.predict(files).tolist() == labels
    np.testing.assert_array_equal(again.expected_error_, model.expected_error_)


@pytest.mark.parametrize("name", FITTING)
def test_models_are_the_same_after_pickle_and_from_their_file(name, tmp_path):
    made, model = fitted(name)
    X, frame = rows_of(made), frame_of(made)
    expected, answers = outputs(model, X), model.predict(X)
    again = pickle.loads(pickle.dumps(model))
    assert_same_bits(outputs(again, X), expected)
    assert_same_bits(again.predict(X), answers)
    model.model_.save(tmp_path / "model.json")
    loaded = sleek.load(tmp_path / "model.json")
    assert loaded.predict(X).tolist() == answers.tolist()
    assert_same_bits(loaded.decision_function(X), expected)
    assert_same_bits(loaded.decision_function(frame.astype(float)), expected)
    assert_same_bits(loaded.decision_function(pl.from_pandas(frame.astype(float))), expected)


@pytest.mark.parametrize("name", FITTING[::4])
def test_exported_functions_agree(name):
    made, model = fitted(name)
    module, X = {}, rows_of(made)
    exec(to_python(model.model_), module)
    rows = np.concatenate([X, *(np.full((1, X.shape[1]), value) for value in FAR)])
    found = np.array([module["predict"](row, scores=True) for row in rows.tolist()])
    expected = model.model_.outputs_unchecked(rows)
    scale = zoo.scale(model.model_, rows)
    assert np.max(np.abs(found - expected) / scale) < 1e-9


# ---- the way it comes out of the box


@pytest.mark.parametrize("name", FITTING)
def test_default_settings_hold_too(name):
    made = nasty.MADE[name]()
    kind = LowRankLSSVC if made.classifies else LowRankLSSVR
    model = fit(kind(random_state=0), made.X, made.y, sample_weight=made.weights, warns=made.warns)
    X = rows_of(made)
    far = np.full((1, X.shape[1]), 1e200)
    assert np.isfinite(outputs(model, np.concatenate([X, far]))).all()
    assert np.isfinite(np.append(model.feature_importances_, model.expected_error_)).all()
    weights = np.ones(len(X)) if made.weights is None else made.weights
    if made.classifies:
        share = max(weights[made.y == label].sum() for label in model.classes_) / weights.sum()
        assert model.score(X, made.y, sample_weight=made.weights) > share - 1e-9
    else:
        scale = np.abs(made.y).max(axis=0)
        assert (np.abs(model.predict(X) - made.y).max(axis=0) <= 3.0 * scale).all()


@pytest.mark.parametrize(
    "name",
    ["two_rows", "constant_features", "weights_of_1e_300", "targets_on_many_scales", "equal_rows"],
)
def test_default_settings_do_not_depend_on_the_order_of_rows(name):
    made = nasty.MADE[name]()
    order = np.random.default_rng(2).permutation(len(made.X))
    weights = None if made.weights is None else made.weights[order]
    kind = LowRankLSSVC if made.classifies else LowRankLSSVR
    model = fit(kind(random_state=0), made.X, made.y, sample_weight=made.weights)
    again = fit(kind(random_state=0, n_jobs=2), made.X[order], made.y[order], sample_weight=weights)
    assert_same_bits(outputs(again, made.X), outputs(model, made.X))


@pytest.mark.parametrize("kind", [LowRankLSSVC, LowRankLSSVR])
def test_a_race_does_not_depend_on_the_order_of_rows(kind):
    rng = np.random.default_rng(0)
    X, y = nasty.plain(rng, 1200)
    y = (y > 1).astype(int) if kind is LowRankLSSVC else y
    order = rng.permutation(len(X))
    settings = {"n_units": 5, "basis": "gaussian_rbf", "random_state": 0}
    model, again = fit(kind(**settings), X, y), fit(kind(n_jobs=2, **settings), X[order], y[order])
    assert_same_bits(outputs(again, X), outputs(model, X))
    np.testing.assert_array_equal(again.expected_error_, model.expected_error_)


def test_one_absurd_value_does_not_spoil_all_others():
    """Distances were taken about the mean of the centres, one of them at 1e12: only rounding was left."""
    rng = np.random.default_rng(0)
    X, y = nasty.plain(rng, 1200)
    absurd = X[:200].copy()
    absurd[17, 1] = 1e12
    model = fit(LowRankLSSVC(random_state=0), absurd, y[:200] > 1)
    assert model.score(X[200:], y[200:] > 1) > 0.88
    centers, shapes = absurd[10:20], rng.random((10, 3))
    X = np.concatenate([absurd, X[200:]])
    expected = np.exp(-np.einsum("nmd,md->nm", (X[:, None] - centers) ** 2, shapes))
    dZ = expected * rng.normal(size=expected.shape)
    difference = X[:, None] - centers
    gradients = (
        np.einsum("nm,nmd->md", dZ, -2 * shapes * difference),
        np.einsum("nm,nmd->md", dZ, difference**2),
    )
    for kernels in (reference, compiled):
        np.testing.assert_allclose(
            np.exp(-kernels.squared_distance(X, centers, shapes)), expected, atol=1e-12
        )
        found = kernels.squared_distance_vjp(X, centers, shapes, dZ)
        for one, other in zip(found, gradients, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-10)


# ---- far away


BOUNDED = [basis for basis in zoo.BASES + zoo.MIXED if "linear" not in basis]


def test_linear_units_have_no_bound_but_finite_outputs():
    model = zoo.handmade("box+linear", labels=(0, 1, 2), m=5)
    for value in (1e19, -1e155, 1e200, -np.finfo(np.float64).max):
        far = np.array([[value] * 3, [value, 0, -value], [0.5, -value, 1]])
        assert np.isfinite(model.decision_function(far)).all()


@pytest.mark.parametrize("basis", BOUNDED)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_any_finite_row_has_finite_outputs_whatever_comes_with_it(basis, dtype):
    """Alone and among thousands, in a feature that plays no part and in all, towards every side."""
    model = zoo.handmade(basis, labels=(0, 1, 2), m=5)
    arrays = [{name: array.copy() for name, array in part.units.arrays.items()} for part in model.parts]
    for units in arrays:
        by_feature = {"shapes", "slopes", "below", "above"} & set(units)
        for name in {"layer_1"} if "layer_1" in units else by_feature:
            units[name][:, 1] = 0.0
    model = replace(model, expansion=model.expansion.with_units([Units(units) for units in arrays]))
    most = float(np.finfo(dtype).max)
    values = [v for v in (1e19, 1e30, most / 1e4, most, 1e155, 1e200) if v <= most]
    near = np.random.default_rng(0).normal(size=(LARGE_BLOCK, 3)).astype(dtype)
    plain = model.decision_function(near[:50])
    for value in (sign * v for v in values for sign in (1, -1)):
        far = np.array([[value] * 3, [value, 0, -value], [0, value, 0], [0.5, -value, 1]], dtype=dtype)
        alone = model.decision_function(far)
        assert np.isfinite(alone).all()
        np.testing.assert_allclose(
            alone[2:], model.decision_function(np.array([[0, 0, 0], [0.5, 0, 1]])), atol=1e-6
        )
        among = model.decision_function(np.concatenate([far, near]))
        scale = np.abs(model.theta).sum() + np.abs(model.b).max()
        np.testing.assert_allclose(among[:4], alone, atol=1e-5 * scale)
        np.testing.assert_allclose(among[4:54], plain, atol=1e-5 * scale)
        explanation = model.explain(far)
        for part in (explanation.outputs, explanation.slopes, explanation.intercepts, explanation.units):
            assert np.isfinite(part).all()
        assert np.isfinite(model.kernel(far, far)).all()


@pytest.mark.parametrize("scale", [1e-25, 1e25])
def test_float32_rows_of_any_scale_are_those_of_float64(scale):
    X, y = nasty.plain(np.random.default_rng(0), LARGE_BLOCK)
    X = (X * scale).astype(np.float32)
    model = fit(LowRankLSSVR(5, basis="gaussian_rbf", C=10.0, shape=0.3, random_state=0), X[:200], y[:200])
    np.testing.assert_allclose(model.predict(X), model.predict(X.astype(np.float64)), atol=1e-5)


# ---- sentences


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_a_value_that_is_not_finite_is_named_at_every_door(value, tmp_path):
    made, model = fitted("offsets_of_1e15")
    bad = rows_of(made).copy()
    bad[7, 1] = value
    name = re.escape(repr(NAMES[1]))
    frame = pd.DataFrame(bad, columns=NAMES[:3])
    whole = "infinity"
    sentence = f"Input X contains {whole}: feature number 1 is {value} in row 7"
    for door in (lambda X: clone(model).fit(X, made.y), model.predict):
        with pytest.raises(ValueError, match=sentence):
            door(bad)
    named = fit(clone(model), frame_of(made), made.y)
    for table in (frame, pl.from_pandas(frame)):
        for door in (lambda X: clone(model).fit(X, made.y), named.predict):
            with pytest.raises(
                ValueError, match=f"Input X contains {whole}: feature {name} is {value} in row 7"
            ):
                door(table)
        with pytest.raises(ValueError, match=f"feature {name} is {value} in row 7"):
            named.model_.predict(table)
    for kind in ("parquet", "csv"):
        files = written(nasty.Table(bad, made.y), tmp_path / f"bad.{kind}")
        for door in (clone(model).fit, named.predict):
            with pytest.raises(ValueError, match=f"{name}(.|\n)*(row 7|line 9)"):
                door(files)


def test_magnitudes_are_named_by_name(tmp_path):
    X, y = nasty.plain(np.random.default_rng(0))
    for factor, names in (
        (np.array([1.0, 1e160, 1.0]), repr(NAMES[1])),
        (np.array([1.0, 1e-160, 1e-200]), NAMES[1]),
    ):
        made = nasty.Table(X * factor, y)
        frame = frame_of(made)
        doors = [(frame, y), (pl.from_pandas(frame), y), (written(made, tmp_path / "t.parquet"), None)]
        for rows, target in doors:
            model = LowRankLSSVR(3, basis="gaussian_rbf", C=10.0, shape=0.3)
            if factor[1] > 1:
                with pytest.raises(ValueError, match=f"Values of feature {re.escape(names)} are too large"):
                    model.fit(rows, target)
            else:
                both = f"Feature {re.escape(f'{NAMES[1]!r}, {NAMES[2]!r}')} varies by too little for float64"
                fit(model, rows, target, warns=both)


X, Y = nasty.plain(np.random.default_rng(0))
LABELS = (Y > 1).astype(int)
QUICK = {"n_units": 4, "basis": "gaussian_rbf", "C": 10.0, "shape": 0.3, "random_state": 0}
HUGE = np.full(60, 1e200)
STRANGE = {
    "text and numbers": (
        {},
        (X, np.array(["a", 1] * 30, dtype=object)),
        "some are text, such as 'a', and others",
    ),
    "no label": ({}, (X, np.array(["a", None] * 30, dtype=object)), "there is None in row 1 of y"),
    "NA": ({}, (X, np.array(["a", pd.NA] * 30, dtype=object)), "there is <NA> in row 1 of y"),
    "masked": ({}, (np.ma.masked_greater(X, 1.0), LABELS), "contains masked values"),
    "standardize": ({"standardize": "no"}, (X, LABELS), "`standardize` must be True or False, got 'no'"),
    "one sample": ({"max_samples": 1}, (X, LABELS), "`max_samples` must be a whole number of at least 2"),
    "product": (
        {"class_weight": {0: 1e300}},
        (X, LABELS, HUGE),
        "Weights of rows times weights of classes must",
    ),
    "diverged": ({"trainer": Alternating(learning_rate=1e300)}, (X, LABELS), "training has diverged"),
    "strange class": ({"class_weight": {0: 1.0, 7: 2.0}}, (X, LABELS), "not in class_weight"),
}


@pytest.mark.parametrize(("options", "given", "sentence"), STRANGE.values(), ids=STRANGE)
def test_strange_wishes_get_a_sentence(options, given, sentence):
    with pytest.raises(ValueError, match=sentence):
        LowRankLSSVC(**{**QUICK, **options}).fit(*given)


def test_masked_values_are_not_taken_for_numbers_by_a_model():
    with pytest.raises(ValueError, match="got masked values"):
        fitted("an_id")[1].model_.predict(np.ma.masked_greater(X, 1.0))


@pytest.mark.parametrize(
    "labels",
    [
        LABELS.astype(object),
        LABELS.astype(str),
        LABELS > 0,
        LABELS.tolist(),
        LABELS.astype(np.float32),
        pd.Series(LABELS, index=range(100, 160)),
        pd.Series(LABELS, dtype="Int64"),
        pl.Series(LABELS),
        pd.Series(LABELS.astype(str), dtype="category"),
        pd.Series(LABELS.astype(str), dtype="string"),
    ],
    ids=lambda labels: f"{type(labels).__module__.split('.')[0]} {getattr(labels, 'dtype', '')}",
)
def test_labels_of_any_type_are_the_same_classes(labels):
    """And rows as objects or lists, weights as a list, a series or one number, are the same rows."""
    settings = {**QUICK, "trainer": VariableProjection(pull=1e-3, max_iter=3)}
    plain = fit(LowRankLSSVC(**settings), X, LABELS).decision_function(X)
    for rows, weights in ((X.astype(object), [1.0] * 60), (X.tolist(), pd.Series(np.ones(60))), (X, 1.0)):
        again = fit(LowRankLSSVC(**settings), rows, labels, sample_weight=weights)
        assert_same_bits(again.decision_function(rows), plain)
        assert again.classes_.tolist() == np.unique(np.asarray(labels)).tolist()


@pytest.mark.parametrize("C", [1e-300, 1e-20, 1e20, 1e300])
@pytest.mark.parametrize("basis", zoo.BASES)
def test_any_penalty_gives_finite_answers(C, basis):
    model = LowRankLSSVC(**{**QUICK, "C": C, "basis": basis, "trainer": VariableProjection(pull=1e-3)})
    fit(model, X, LABELS)
    assert np.isfinite(model.decision_function(X)).all()
    assert np.isfinite(model.expected_error_)


# ---- in scikit-learn's company


@pytest.mark.parametrize("kind", [LowRankLSSVC, LowRankLSSVR])
@pytest.mark.parametrize("select", ["model", "recursive", "sequential"])
def test_feature_selection_keeps_the_useful_feature(kind, select):
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.normal(size=(80, 4)), np.ones(80)])  # the last one has one distinct value
    y = (np.abs(rows[:, 2]) > 0.7).astype(int) if kind is LowRankLSSVC else np.sin(2 * rows[:, 2])
    five = kind(**{**QUICK, "n_units": 5, "trainer": VariableProjection(pull=1e-3, max_iter=5)})
    selector = {
        "model": SelectFromModel(kind(random_state=0)),
        "recursive": RFE(five, n_features_to_select=1),
        "sequential": SequentialFeatureSelector(five, n_features_to_select=1, cv=2),
    }[select]
    assert fit(selector, rows, y).get_support().tolist() == [False, False, True, False, False]


def test_it_takes_part_in_whatever_is_built_of_it():
    quick = LowRankLSSVC(**QUICK)
    grid = GridSearchCV(quick, {"trainer__max_iter": [0, 2], "standardize": [True, False]}, cv=2)
    assert fit(grid, X, LABELS).best_score_ > 0.7
    assert quick.trainer == "varpro"
    weights = np.random.default_rng(0).random(60)
    assert np.isfinite(cross_val_score(quick, X, LABELS, cv=2, params={"sample_weight": weights})).all()
    calibrated = fit(
        CalibratedClassifierCV(quick, cv=2), X, np.where(LABELS, "yes", "no"), sample_weight=weights
    )
    np.testing.assert_allclose(calibrated.predict_proba(X).sum(axis=1), 1.0)
    for output in ("pandas", "polars"):
        frame = pd.DataFrame(X, columns=["a", "b b", "ç"])
        columns = ColumnTransformer([("s", StandardScaler(), ["ç", "a", "b b"])]).set_output(transform=output)
        pipeline = fit(make_pipeline(columns, quick), frame, LABELS)
        assert pipeline[-1].feature_names_in_.tolist() == ["s__ç", "s__a", "s__b b"]
        assert pipeline.score(frame, LABELS) > 0.8


# ---- the dense machines


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "linear", "poly"])
def test_dense_machines_answer_or_say_why_not(kernel):
    sentence = re.compile(r"(The [a-z]+ kernel|Weights must add up)(.|\n)*\.")
    for name, make in nasty.MADE.items():
        made = make()
        far = np.full((1, made.X.shape[1]), 1e200)
        try:
            model = (LSSVC if made.classifies else LSSVR)(kernel=kernel).fit(made.X, made.y, made.weights)
            found = np.concatenate([outputs(model, rows) for rows in (made.X, far)])
        except ValueError as error:
            said = str(error)
        else:
            said = "The same kernel is finite." if np.isfinite(found).all() else "not finite"
        assert sentence.fullmatch(said), (name, said)


@pytest.mark.parametrize("offset", [1e5, 1e8])
def test_a_dense_machine_does_not_lose_rows_far_from_zero(offset):
    expected = LSSVC().fit(X, LABELS).decision_function(X)
    found = LSSVC().fit(X + offset, LABELS).decision_function(X + offset)
    np.testing.assert_allclose(found, expected, atol=1e-6)


# ---- whatever comes


@pytest.mark.parametrize("seed", range(40))
def test_whatever_comes_ends_in_a_sentence_or_in_finite_answers(seed):
    made, rng = nasty.any_table(seed), np.random.default_rng(seed)
    options = {
        "n_units": int(rng.integers(1, 8)),
        "basis": zoo.BASES[seed % 5],
        "trainer": (VariableProjection(max_iter=5), VariableProjection(pull=0.01), Alternating(max_iter=3))[
            seed % 3
        ],
        "C": (10.0, 1e7, 1e-4)[seed // 5 % 3],
        "shape": 10.0 ** rng.integers(-3, 2),
        "standardize": bool(seed % 7),
        "random_state": 0,
    }
    model = (LowRankLSSVC if made.classifies else LowRankLSSVR)(**options)
    sentence = (
        r"(One row has a weight|Weights are too large|A classifier needs rows of at least 2 classes)(.|\n)*\."
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            model.fit(made.X, made.y, sample_weight=made.weights)
        except ValueError as error:
            said = str(error)
        else:
            said = None
    if said is not None:
        assert re.fullmatch(sentence, said)
        return
    rows = np.concatenate([made.X, *(np.full((1, made.X.shape[1]), value) for value in FAR)])
    assert np.isfinite(outputs(model, rows)).all()
    assert np.isfinite(np.hstack([model.expected_error_, model.expected_error_std_])).all()
    assert np.isfinite(model.feature_importances_).all()
