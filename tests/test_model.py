"""What a model is given is read by name and checked: one sentence says what is wrong, and where."""

import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import zoo
from scipy import sparse

import sleek
from sleek import GaussianRBF, LowRankLSSVC, LowRankLSSVR

NAMES = ["a", "b", "c"]
FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "arrow": pa.table,
    "columns": dict,
    "lists": lambda columns: {name: values.tolist() for name, values in columns.items()},
}

REMEDY = "Fill in a number, or leave the row or the feature out."


@pytest.fixture(scope="module")
def trained():
    """An estimator that was fitted on a data frame, its frame, and its model after a round trip."""
    X = np.random.default_rng(0).normal(size=(200, 3)) * [1.0, 10.0, 100.0]
    frame = pd.DataFrame(X, columns=NAMES)
    estimator = LowRankLSSVC(4, C=10.0, random_state=0).fit(frame, X[:, 0] + X[:, 1] / 10 > X[:, 2] / 100)
    return estimator, frame, pickle.loads(pickle.dumps(estimator.model_))


# ---- tables


@pytest.mark.parametrize("asked", [{"proba": True, "scores": True}, {"interval": 0.9}], ids=str)
def test_columns_to_write_need_one_evaluation_of_the_units(monkeypatch, asked):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    kind, y = (LowRankLSSVR, X[:, 0]) if "interval" in asked else (LowRankLSSVC, X[:, 0] > X[:, 1])
    model = kind(3, basis="gaussian_rbf", C=1.0, random_state=0).fit(X, y).model_
    expected = model.predict(X)
    evaluated, features = [], GaussianRBF.features

    def counted(self, X, units):
        evaluated.append(len(X))
        return features(self, X, units)

    monkeypatch.setattr(GaussianRBF, "features", counted)
    found = model.prediction_columns(**asked)(X)
    assert sum(evaluated) == 60
    np.testing.assert_array_equal(found[""], expected)


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
@pytest.mark.parametrize("order", [NAMES, ["c", "b", "a"], ["b", "other", "c", "a"]], ids=str)
def test_columns_are_found_by_name(trained, tmp_path, make, order):
    estimator, frame, model = trained
    model.save(tmp_path / "m.json")
    table = make({name: frame[name].to_numpy() if name in NAMES else np.full(200, np.nan) for name in order})
    for one in (model, sleek.load(tmp_path / "m.json")):
        np.testing.assert_array_equal(one.predict(table), estimator.predict(frame))
        np.testing.assert_array_equal(one.decision_function(table), estimator.decision_function(frame))
        np.testing.assert_allclose(
            one.explain(table).outputs[:, 0], estimator.decision_function(frame), rtol=1e-13
        )


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_columns_of_a_model_without_names_are_taken_in_order(make):
    model, X = zoo.handmade(), np.random.default_rng(0).normal(size=(9, 3))
    np.testing.assert_array_equal(model.predict(make(dict(zip("pqr", X.T, strict=True)))), model.predict(X))


@pytest.mark.filterwarnings("ignore:Column .* hold what the model has never seen")
@pytest.mark.filterwarnings("ignore:Column .* missing values are no level")
@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_a_model_of_a_table_takes_the_raw_table(make):
    model, table, X = zoo.with_inputs("box+sigmoidal")
    order = reversed(list(table))
    raw = make({name: np.array(table[name], dtype=object if "city" in name else float) for name in order})
    np.testing.assert_array_equal(model.predict(raw), model.predict(X))
    np.testing.assert_allclose(model.decision_function(raw), model.decision_function(X), rtol=1e-15)


def test_columns_may_hold_any_kind_of_numbers(trained):
    model = trained[2]
    table = pd.DataFrame({"c": [True, False], "b": pd.array([1, 2], dtype="Int64"), "a": [1.5, 2.5]})
    X = [[1.5, 1.0, 1.0], [2.5, 2.0, 0.0]]
    np.testing.assert_array_equal(model.decision_function(table), model.decision_function(X))


def test_columns_of_float32_stay_float32(trained):
    from sleek.model.rows_to_predict import rows_of

    frame = trained[1].astype(np.float32)
    for given in (frame, frame[["c", "b", "a"]], pl.from_pandas(frame[["b", "a", "c"]])):
        assert rows_of(trained[2], given).dtype == np.float32


# ---- sentences


def table(**changes):
    return {"a": [1.0, 2.0], "b": [3.0, 4.0], "c": [5.0, 6.0], **changes}


def without(name):
    return {key: values for key, values in table().items() if key != name}


REFUSED = {
    "missing column": (pd.DataFrame(without("b")), "The table has no column 'b'."),
    "misspelt column": ({**without("b"), "B": [1.0, 2.0]}, "The table has no column 'b'. Did you mean 'B'?"),
    "two missing": ({"c": [1.0]}, "The table has no column 'a', 'b'."),
    "twice": (
        pd.DataFrame(np.ones((2, 4)), columns=["a", "b", "c", "b"]),
        "Column 'b' must be one value per row, got 2 dimensions.",
    ),
    "lengths": (table(b=[1.0]), "All columns must be of one length, got {'a': 2, 'b': 1, 'c': 2}."),
    "text column": (table(b=["3", "four"]), "Column 'b' must hold numbers, got 'four' in row 1."),
    "text in a column": (
        pd.DataFrame(table(b=[3.0, "four"])),
        "Column 'b' must hold numbers, got 'four' in row 1.",
    ),
    "gap": (table(c=[5.0, None]), f"Input X contains NaN: feature 'c' is nan in row 1. {REMEDY}"),
    "dates": (
        pd.DataFrame(table(a=pd.to_datetime(["2024-01-01", "2024-01-02"]))),
        "Column 'a' must hold numbers, got np.datetime64('2024-01-01T00:00:00.000000000') in row 0.",
    ),
    "NaN in a frame": (
        pd.DataFrame(table(b=[3.0, np.nan])),
        f"Input X contains NaN: feature 'b' is nan in row 1. {REMEDY}",
    ),
    "NaN in columns": (
        {"c": [1.0, 1.0], "b": [3.0, np.nan], "a": [0.0, 0.0]},
        f"Input X contains NaN: feature 'b' is nan in row 1. {REMEDY}",
    ),
    "NaN": ([[0.0, 0.0, np.nan]], f"Input X contains NaN: feature 'c' is nan in row 0. {REMEDY}"),
    "infinity": (
        [[0.0] * 3, [0.0, -np.inf, 0.0]],
        f"Input X contains infinity: feature 'b' is -inf in row 1. {REMEDY}",
    ),
    "width": (
        np.ones((2, 4)),
        "X has 4 features, but the model is expecting 3 features as input ('a', 'b', 'c'): X must be of "
        "shape (n, 3), got (2, 4).",
    ),
    "one row": (
        np.ones(3),
        "X must be of shape (n, 3), got (3,). Reshape your data: one row is X.reshape(1, -1).",
    ),
    "one number": (
        1.0,
        "X must be of shape (n, 3), got (). Reshape your data: one row is X.reshape(1, -1).",
    ),
    "text": (
        [[0.0, 1.0, 2.0], [0.0, "x", 2.0]],
        "Rows must be numbers, one for each of 3 features, got '0.0' in row 0, feature 'a'.",
    ),
    "text among objects": (
        np.array([[0.0, 1.0, 2.0], [0.0, "x", 2.0]], dtype=object),
        "Rows must be numbers, one for each of 3 features, got 'x' in row 1, feature 'b'.",
    ),
    "complex": (
        np.array([[0.0, 1j, 2.0]]),
        "Rows must be numbers, one for each of 3 features, got 0j in row 0, feature 'a'.",
    ),
    "nothing": (None, "Rows must be numbers, one for each of 3 features, got None."),
    "ragged": ([[1.0, 2.0, 3.0], [1.0]], "Rows must all have 3 numbers, got [[1.0, 2.0, 3.0], [1.0]]."),
    "sparse matrix": (
        sparse.csr_matrix(np.eye(3)),
        "Rows must be a dense array, got a sparse one: hand over X.toarray().",
    ),
    "sparse array": (
        sparse.coo_array(np.eye(3)),
        "Rows must be a dense array, got a sparse one: hand over X.toarray().",
    ),
}


@pytest.mark.parametrize(("given", "sentence"), REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("method", ["predict", "decision_function", "kernel"])
def test_what_is_wrong_with_rows_is_said_with_its_place(given, sentence, method):
    model = zoo.handmade(feature_names=tuple(NAMES))
    arguments = (given, np.zeros((1, 3))) if method == "kernel" else (given,)
    with pytest.raises(ValueError, match=rf"^{re.escape(sentence)}$"):
        getattr(model, method)(*arguments)


def test_features_without_names_are_said_by_number():
    with pytest.raises(ValueError, match="feature number 1 is nan in row 0"):
        zoo.handmade().predict([[0.0, np.nan, 0.0]])
    with pytest.raises(
        ValueError, match=r"is expecting 3 features as input: X must be of shape \(n, 3\), got \(1, 2\)"
    ):
        zoo.handmade().predict([[0.0, 1.0]])


def test_a_model_of_a_table_says_which_column_is_wrong():
    model, columns, _ = zoo.with_inputs()
    with pytest.raises(ValueError, match="The table has no column 'int'"):
        model.predict({name: values for name, values in columns.items() if name != "int"})
    with pytest.raises(ValueError, match="Column 'age' must hold numbers, got 'old' in row 0"):
        model.predict({**columns, "age": ["old"] * 60})


def test_sums_that_overflow_are_no_infinity():
    X = np.full((2, 3), 1e308)
    assert zoo.handmade("robust_rbf").predict(X).shape == (2,)
