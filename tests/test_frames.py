"""Estimators take tables as people have them, of any make, and every door gives the same answers."""

import sqlite3
import warnings
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.model_selection import cross_val_score
from test_export_c import compile_and_run, needs_compiler
from test_export_python import function

import sleek
from sleek import LowRankLSSVC, LowRankLSSVR
from sleek.export import to_c, to_onnx, to_sql
from sleek.tables.columns import CategoryColumn, DateColumn, LevelColumn, NumberColumn
from sleek.tables.crossfit import Judges
from sleek.tables.learning import learn_columns
from sleek.tables.rules import FOLDS, ONE_HOT_LEVELS
from sleek.tables.values import Coded

N = 700


def people(seed=0, n=N):
    """A table with everything in it, and what depends on all of it."""
    rng = np.random.default_rng(seed)
    zips = rng.integers(0, 60, n)
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 10, n),
            "city": rng.choice(["Bonn", "Köln", "it's"], n),
            "member": rng.random(n) > 0.5,
            "zip": [f"D{10_000 + code}" for code in zips],
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1500, n), unit="D"),
            "children": rng.integers(0, 4, n),
        }
    )
    gone = rng.random((n, 2)) < 0.1
    y = (
        (frame.city == "Köln") * 2.0
        + frame.member
        + rng.permuted(np.linspace(-2, 2, 60))[zips]
        + (frame.since.dt.dayofweek >= 5) * 1.5
        + gone[:, 0] * 2.0
        + 0.1 * rng.normal(size=n)
    )
    frame.loc[gone[:, 0], "age"] = np.nan
    frame.loc[gone[:, 1], "city"] = None
    return frame, y.to_numpy()


def nullable(frame):
    return frame.convert_dtypes().astype({"city": "category"})


def arrow_backed(frame):
    return frame.assign(city=frame.city.astype(object)).convert_dtypes(dtype_backend="pyarrow")


def as_polars(frame):
    return pl.from_arrow(pa.Table.from_pandas(frame, preserve_index=False))


def as_columns(frame):
    columns = {name: frame[name].tolist() for name in frame}
    return columns | {"age": frame.age.to_numpy(), "since": frame.since.dt.date.tolist()}


MAKES = {
    "pandas": lambda frame: frame,
    "nullable": nullable,
    "arrow backed": arrow_backed,
    "polars": as_polars,
    "arrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
    "columns": as_columns,
}


@pytest.fixture(scope="module")
def fitted():
    frame, y = people()
    return LowRankLSSVR(12, C=100.0, basis="gaussian_rbf", random_state=0).fit(frame, y)


def test_each_column_becomes_what_foretells_the_target(fitted):
    age, city, member, zips, since, children = fitted.model_.inputs.columns
    assert age == NumberColumn("age", age.fill, indicator=True, gaps=True)
    assert city == CategoryColumn("city", ("Bonn", "Köln", "it's"), gap=True)
    assert member == CategoryColumn("member", ("false", "true"))
    assert isinstance(zips, LevelColumn)
    assert isinstance(since, DateColumn)
    assert since.parts == ("days", "weekday")
    assert children == NumberColumn("children", children.fill, gaps=False)


@pytest.mark.parametrize("make", MAKES.values(), ids=MAKES)
def test_every_make_of_table_is_the_same(fitted, make, tmp_path):
    frame, y = people()
    new, _ = people(seed=1, n=50)
    expected = fitted.predict(new)
    again = LowRankLSSVR(12, C=100.0, basis="gaussian_rbf", random_state=0).fit(make(frame), y)
    np.testing.assert_array_equal(again.predict(make(new)), expected)
    np.testing.assert_array_equal(fitted.model_.predict(make(new)), expected)
    again.model_.save(tmp_path / "m.json")
    loaded = sleek.load(tmp_path / "m.json")
    assert loaded.inputs == fitted.model_.inputs
    np.testing.assert_array_equal(loaded.predict(make(new)), expected)


def test_importances_are_those_of_columns(fitted):
    frame, y = people()
    found = fitted.feature_importances_
    assert found.shape == (6,)
    assert found.sum() == pytest.approx(1.0)
    assert list(fitted.feature_names_in_) == list(frame)
    shuffled = permutation_importance(fitted, frame, y, n_repeats=3, random_state=0).importances_mean
    assert np.corrcoef(found**2, shuffled)[0, 1] > 0.9


def test_explanations_and_partial_dependence_speak_of_columns(fitted):
    frame, _ = people()
    row = frame[(frame.city == "Köln") & frame.member & frame.age.notna()][:1]
    said = repr(fitted.model_.explain(row))
    for words in ("city is Köln ", "member is true ", "level of zip ", "since: weekday ", "age is missing "):
        assert words in said
    assert "city is Bonn" not in said
    found = partial_dependence(fitted, frame.dropna(), ["city"], categorical_features=["city"])
    low, high, _ = found["average"][0]
    assert high - low == pytest.approx(2.0, abs=0.5)


def test_order_of_rows_and_rows_of_weight_0_do_not_matter():
    frame, y = people(n=300)
    model = LowRankLSSVR(5, C=10.0, basis="gaussian_rbf", random_state=0)
    expected = model.fit(frame, y).predict(frame)
    order = np.random.default_rng(0).permutation(300)
    np.testing.assert_array_equal(model.fit(frame.iloc[order], y[order]).predict(frame), expected)
    s, strange = np.ones(301), frame.iloc[[0]].assign(city="nowhere", zip="0", age=1e9)
    s[300] = 0.0
    model.fit(pd.concat([frame, strange], ignore_index=True), np.append(y, 99.0), s)
    np.testing.assert_array_equal(model.predict(frame), expected)


def test_ids_and_empty_columns_are_left_out_with_a_sentence():
    frame, y = people(n=200)
    frame = frame.assign(name=[f"name {i}" for i in range(200)], nothing=None)
    said = r"'name' has 200 different texts.* It is left out\.\n.*'nothing' has no value .* It is left out\."
    with pytest.warns(UserWarning, match=said):
        model = LowRankLSSVR(4, C=10.0, random_state=0).fit(frame, y)
    assert model.n_features_in_ == 8
    assert model.feature_importances_[[6, 7]].tolist() == [0.0, 0.0]
    assert len(model.predict(frame)) == 200


def test_a_table_of_nothing_but_ids_is_refused():
    with pytest.raises(ValueError, match="no column to learn from"):
        LowRankLSSVC().fit(pd.DataFrame({"id": [f"i{i}" for i in range(20)]}), [0, 1] * 10)


def test_what_was_never_seen_is_counted(fitted):
    new = people(seed=1, n=3)[0].assign(city=["Bonn", "Rome", "Rome"], children=[1.0, np.nan, 2.0])
    said = r"'city': 2 rows hold what .* has never seen, such as 'Rome'\.\n.*'children': 1 missing value,"
    with pytest.warns(UserWarning, match=said):
        first = fitted.predict(new)
    with pytest.warns(UserWarning, match=said):
        np.testing.assert_array_equal(fitted.model_.predict(new), first)
    assert np.isfinite(first).all()


# -- arrays ------------------------------------------------------------------------------------------------


def gappy(n=300):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    y = X[:, 0] + 2.0 * (rng.random(n) < 0.2)
    X[y > X[:, 0] + 1, 1] = np.nan  # a gap that tells
    X[rng.random(n) < 0.1, 2] = np.nan  # and one that does not
    return X, y


def test_gaps_in_arrays(tmp_path):
    X, y = gappy()
    model = LowRankLSSVR(6, C=100.0, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.95
    assert model.model_.inputs.feature_names == ("x0", "x1", "x1 is missing", "x2")
    assert model.n_features_in_ == 3
    assert not hasattr(model, "feature_names_in_")
    assert model.feature_importances_.shape == (3,)
    model.model_.save(tmp_path / "m.json")
    for one in (model.model_, sleek.load(tmp_path / "m.json")):
        np.testing.assert_array_equal(one.predict(X), model.predict(X))
    for same in (X.tolist(), pd.DataFrame(X), np.where(np.isnan(X), None, X)):
        again = LowRankLSSVR(6, C=100.0, random_state=0).fit(same, y)
        np.testing.assert_array_equal(again.predict(same), model.predict(X))


def test_gaps_that_training_had_not_are_filled_and_counted(tmp_path):
    X, y = gappy()
    whole = np.nan_to_num(X)
    model = LowRankLSSVR(6, C=100.0, random_state=0).fit(whole, y)
    expected = model.predict(np.where(np.isnan(X), np.median(whole, axis=0), X))
    model.model_.save(tmp_path / "m.json")
    for one in (model, model.model_, sleek.load(tmp_path / "m.json")):
        with pytest.warns(
            UserWarning, match=rf"^{np.isnan(X).sum()} missing values, of which training had none"
        ):
            np.testing.assert_allclose(one.predict(X), expected, rtol=1e-12)


def test_infinite_numbers_are_still_refused():
    X, y = gappy()
    X[5, 0] = np.inf
    with pytest.raises(ValueError, match="'x0' must hold finite numbers, got inf in row 5"):
        LowRankLSSVR().fit(X, y)


def test_codes_are_categories_if_they_are_named():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 6, 300), rng.normal(size=300)]).astype(float)
    y = np.array([3.0, -1.0, 2.0, -2.0, 0.5, 1.5])[X[:, 0].astype(int)]
    names = ["code", "x"]
    for form, chosen in ((X, [0]), (X, [True, False]), (pd.DataFrame(X, columns=names), ["code"])):
        model = LowRankLSSVR(6, C=100.0, categorical_features=chosen, random_state=0).fit(form, y)
        assert isinstance(model.model_.inputs.columns[0], CategoryColumn)
        assert model.model_.inputs.columns[0].levels == tuple("012345")
        assert model.score(form, y) > 0.99
    with pytest.raises(ValueError, match=r"`categorical_features` must be names or places.* got 'cod'"):
        LowRankLSSVR(categorical_features=["cod"]).fit(pd.DataFrame(X, columns=names), y)
    with pytest.raises(ValueError, match="got 1 truth values for 2 columns"):
        LowRankLSSVR(categorical_features=[True]).fit(X, y)


def test_cross_validation_of_a_classifier_on_a_table():
    frame, y = people(n=300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        scores = cross_val_score(LowRankLSSVC(6, C=10.0, random_state=0), frame, y > np.median(y), cv=3)
    assert scores.mean() > 0.7


# -- rated by rows left out --------------------------------------------------------------------------------


def test_means_of_levels_are_those_of_other_folds():
    rng = np.random.default_rng(0)
    T, s, codes = rng.normal(size=(200, 2)), rng.random(200), rng.integers(0, 5, 200)
    judges = Judges.of(T, s, [rng.normal(size=200)])
    means, overall = judges.sums(codes, 5).means(3.0)
    gain = judges.sums(codes, 5).gain(3.0)
    T = T - np.average(T, axis=0, weights=s)
    T /= np.sqrt(np.average(T**2, axis=0, weights=s))
    explained = 0.0
    for fold in range(FOLDS):
        inside = judges.folds == fold
        for level in range(5):
            others = ~inside & (codes == level)
            mean = s[others] @ T[others] / (s[others].sum() + 3.0)
            np.testing.assert_allclose(means[fold, level], mean, rtol=1e-10)
            rows = inside & (codes == level)
            explained += (s[rows, None] * (T[rows] ** 2 - (T[rows] - mean) ** 2)).sum()
    assert gain == pytest.approx(explained / (s[:, None] * T**2).sum())
    rows = codes == 2
    np.testing.assert_allclose(overall[2], s[rows] @ T[rows] / (s[rows].sum() + 3.0), rtol=1e-10)


def test_folds_do_not_depend_on_the_order_of_rows():
    rng = np.random.default_rng(0)
    x, T, s = rng.normal(size=100), rng.normal(size=(100, 1)), np.ones(100)
    x[::7] = np.nan
    judges, order = Judges.of(T, s, [x]), rng.permutation(100)
    np.testing.assert_array_equal(Judges.of(T[order], s, [x[order]]).folds, judges.folds[order])
    for folds in (judges.folds, Judges.of(np.zeros((100_000, 1)), np.ones(100_000), []).folds):
        sizes = np.bincount(folds)
        assert len(sizes) == FOLDS
        assert np.ptp(sizes) < 0.01 * len(folds)


def test_levels_that_tell_nothing_are_not_rated():
    """A learnt number for each of 150 levels would look perfect on the rows it was learnt from."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 150, 400)
    words = Coded(codes.astype(np.int32), [f"level {i}" for i in range(150)])
    learnt = learn_columns({"x": words}, (), rng.normal(size=(400, 1)))
    assert not learnt.by_fold
    for column in learnt.inputs.columns:  # left out, or the commonest levels alone
        assert isinstance(column, CategoryColumn)
        assert len(column.levels) <= ONE_HOT_LEVELS
    if not learnt.inputs.columns:
        assert "foretells the target" in learnt.left_out["x"]
    few = np.where(codes < 5, 3.0, 0.0)[:, None] + rng.normal(size=(400, 1))
    assert learn_columns({"x": words}, (), few).inputs.columns
    true = rng.normal(size=150)[codes][:, None]
    (column,) = learn_columns({"x": words}, (), true).inputs.columns
    assert isinstance(column, LevelColumn)


# -- exports -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def exported(fitted):
    """Raw rows with gaps and strangers, their predictions, and the model."""
    new, _ = people(seed=2, n=40)
    new.loc[3, "city"], new.loc[4, "zip"] = "Rome", "0"
    new.loc[5, "since"], new.loc[6, "zip"] = pd.NaT, None
    new.loc[7, "since"] = pd.Timestamp("2021-03-04 15:30:00")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return fitted.model_, new, fitted.predict(new)


def plain_rows(frame):
    """Rows of Python's own values, None for gaps."""
    return [
        [None if pd.isna(value) else value for value in row]
        for row in frame.itertuples(index=False, name=None)
    ]


def test_exported_to_python(exported):
    model, new, expected = exported
    predict = function(model)
    found = [predict(row) for row in plain_rows(new)]
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    texts = [
        [str(value) if name == "since" and value else value for name, value in zip(new, row, strict=True)]
        for row in plain_rows(new)
    ]
    np.testing.assert_allclose([predict(row) for row in texts], expected, rtol=1e-10)


@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
def test_exported_to_sql(exported, engine):
    model, new, expected = exported
    if engine == "duckdb":
        connection = pytest.importorskip("duckdb").connect()
        types = ["DOUBLE", "VARCHAR", "BOOLEAN", "VARCHAR", "TIMESTAMP", "BIGINT"]
    else:
        connection = sqlite3.connect(":memory:")
        types = ["REAL", "TEXT", "BOOLEAN", "TEXT", "TEXT", "INTEGER"]
    columns = ", ".join(f'"{name}" {kind}' for name, kind in zip(new, types, strict=True))
    connection.execute(f'CREATE TABLE "rows" ("id" INTEGER, {columns})')
    rows = [[i, *row] for i, row in enumerate(plain_rows(new))]
    if engine == "sqlite":
        rows = [[str(v) if isinstance(v, pd.Timestamp) else v for v in row] for row in rows]
    connection.executemany('INSERT INTO "rows" VALUES (?, ?, ?, ?, ?, ?, ?)', rows)
    found = sorted(connection.execute(to_sql(model, engine, keep=["id"])).fetchall())
    connection.close()
    np.testing.assert_allclose([answer for _, answer in found], expected, rtol=1e-8)


def test_exported_to_onnx(exported):
    model, new, expected = exported
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(
        to_onnx(model, "float64").SerializeToString(), providers=["CPUExecutionProvider"]
    )
    days = (new.since - pd.Timestamp("1970-01-01")) / pd.Timedelta("1D")
    feed = {
        "age": new.age.to_numpy()[:, None],
        "city": new.city.fillna("").to_numpy(object)[:, None],
        "member": np.where(new.member, "true", "false").astype(object)[:, None],
        "zip": new.zip.fillna("").to_numpy(object)[:, None],
        "since": days.to_numpy()[:, None],
        "children": new.children.to_numpy(np.float64)[:, None],
    }
    np.testing.assert_allclose(session.run(["variable"], feed)[0][:, 0], expected, rtol=1e-10)


@needs_compiler
def test_exported_to_c(exported, tmp_path):
    model, new, expected = exported
    main = """#include <stdio.h>
#include "model.h"
int main(void) {
    double v[6];
    while (fread(v, sizeof v, 1, stdin) == 1) {
        model_row row = {v[0], (int)v[1], (int)v[2], (int)v[3], v[4], v[5]};
        double y = model_predict(&row);
        fwrite(&y, sizeof y, 1, stdout);
    }
    return 0;
}
"""
    _, city, _, zips, _, _ = model.inputs.columns
    days = (new.since - pd.Timestamp("1970-01-01")) / pd.Timedelta("1D")

    def codes(column, values):
        place = {level: code for code, level in enumerate(column.levels)}
        return [-1 if pd.isna(v) else place.get(v, len(column.levels)) for v in values]

    rows = np.column_stack(
        [new.age, codes(city, new.city), new.member, codes(zips, new.zip), days, new.children]
    ).astype(float)
    found = np.frombuffer(compile_and_run(tmp_path, to_c(model), main, rows.tobytes()))
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_python_dates_are_dates():
    columns = {"d": [date(2024, 1, 1), None, date(2024, 1, 3)] * 20, "x": np.arange(60.0)}
    model = LowRankLSSVR(3, C=1.0, random_state=0).fit(columns, np.arange(60.0))
    assert isinstance(model.model_.inputs.columns[0], DateColumn)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_a_table_without_columns_gets_a_sentence(make):
    with pytest.raises(ValueError, match="at least one column to learn from, but the table has none"):
        LowRankLSSVR().fit(make({}), [1.0, 2.0, 3.0])


def test_notes_about_columns_are_there_even_if_there_are_none(tmp_path):
    X = np.random.default_rng(0).normal(size=(30, 2))
    frame = pd.DataFrame(X, columns=["a", "b"])
    frame.assign(y=X[:, 0]).to_csv(tmp_path / "t.csv", index=False)
    files = sleek.Files(tmp_path, target="y")
    for rows in [(X, X[:, 0]), (frame, X[:, 0]), (frame.assign(c="x"), X[:, 0]), (files,)]:
        assert LowRankLSSVR(basis="linear").fit(*rows).column_notes_ == []
