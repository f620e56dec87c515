"""Nothing silently wrong: nasty tables by every public door end in a sentence, or in answers that hold."""

import pickle
import re
import warnings
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

import sleek
from sleek import Files, LowRankLSSVC, LowRankLSSVR, VariableProjection
from sleek.export import to_python

FITTING = [name for name, make in nasty.MADE.items() if make().refused is None]
REFUSED = [name for name, make in nasty.MADE.items() if make().refused is not None]
# One basis after the other, so that each of them meets a fifth of the tables.
BASIS = {name: zoo.BASES[(number + 1) % len(zoo.BASES)] for number, name in enumerate(nasty.MADE)}
NAMES = ["a b", 'it\'s "a"', "Größe, 面積", "a b ", "A B", "x0", "", "1", "new\nline"]
# What a fit may say of any table: training was cut short, or there are fewer rows than units.
ALLOWED = r"Not converged: |`n_units`=4 is more than the \d+ (distinct rows of X|leaves that trees found)"
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
    assert min(model.expected_error_, model.expected_error_std_) >= 0


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
        assert again.expected_error_ == model.expected_error_
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
    for other in (frame, pl.from_pandas(frame)):
        again = fit(clone(model), other, made.y, sample_weight=made.weights, warns=made.warns)
        assert again.feature_names_in_.tolist() == list(frame.columns)
        assert_same_bits(outputs(again, frame.astype(float)), expected)


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
    assert again.predict(files).tolist() == model.predict(rows_of(made)).tolist()
    assert again.expected_error_ == model.expected_error_


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
