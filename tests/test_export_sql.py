"""Exported SELECT statements run in DuckDB and SQLite and compute what the models compute."""

import re
import sqlite3
from dataclasses import replace

import numpy as np
import pytest
import zoo

from sleek.export import to_sql
from sleek.tables.columns import CategoryColumn
from sleek.tables.inputs import Inputs

duckdb = pytest.importorskip("duckdb")
ENGINES = ("duckdb", "sqlite")


def has_exp():
    try:
        return sqlite3.connect(":memory:").execute("SELECT exp(0.0)").fetchone() == (1.0,)
    except sqlite3.OperationalError:
        return False


def skip_without_exp(engine, basis):
    if engine == "sqlite" and basis != "simplex" and not has_exp():
        pytest.skip("this Python's SQLite is built without mathematical functions")


def query(engine, text, columns, kinds=None):
    """The statement's rows, for a table "rows" with the columns and a key "id", in the key's order."""
    connection = duckdb.connect() if engine == "duckdb" else sqlite3.connect(":memory:")
    try:
        real = "DOUBLE" if engine == "duckdb" else "REAL"
        kinds = kinds or {}
        names = ['"id" INTEGER'] + [
            '"' + name.replace('"', '""') + f'" {kinds.get(name, real)}' for name in columns
        ]
        connection.execute(f'CREATE TABLE "rows" ({", ".join(names)})')
        rows = [
            list(row) for row in zip(range(len(next(iter(columns.values())))), *columns.values(), strict=True)
        ]
        marks = ", ".join("?" * len(names))
        connection.executemany(f'INSERT INTO "rows" VALUES ({marks})', rows)
        return connection.execute(f'SELECT * FROM ({text}) AS answer ORDER BY "id"').fetchall()
    finally:
        connection.close()


def run(engine, model, X, **options):
    text = to_sql(model, engine, keep=["id"], scores=True, **options)
    names = model.feature_names or [f"x{i}" for i in range(X.shape[1])]
    found = query(engine, text, dict(zip(names, X.T.tolist(), strict=True)))
    if not zoo.classifies(model):
        return None, np.array([row[1:] for row in found])
    return [row[1] for row in found], np.array([row[2:] for row in found], dtype=float)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("basis", "task"), zoo.CASES)
def test_it_is_the_model_to_twelve_digits(engine, basis, task):
    skip_without_exp(engine, basis)
    model, X = zoo.model(basis, task), zoo.test_rows(task)
    labels, scores = run(engine, model, X)
    assert np.max(np.abs(scores - zoo.outputs(model, X)) / zoo.scale(model, X)) < 1e-12
    if labels is not None:
        assert labels == model.predict(X).tolist()


@pytest.mark.parametrize("engine", ENGINES)
def test_tanh_can_be_written_with_exp(engine):
    skip_without_exp(engine, "sigmoidal")
    model, X = zoo.model("sigmoidal", "number"), zoo.test_rows("number")
    text = to_sql(model, engine, tanh_by_exp=True)
    assert "tanh(" not in text
    X = np.vstack([X, 1e9 * X[:20], -1e9 * X[:20]])  # saturated: exp must not overflow
    _, scores = run(engine, model, X, tanh_by_exp=True)
    assert np.max(np.abs(scores - zoo.outputs(model, X)) / zoo.scale(model, X)) < 1e-12


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("labels", [("no", "yes"), (1, 2, 3), None])
def test_columns_of_a_table_are_read_raw(engine, labels):
    skip_without_exp(engine, "gaussian_rbf")
    model, table, X = zoo.with_inputs(labels=labels)
    text = to_sql(model, engine, keep=["id"], scores=True)
    found = query(engine, text, table, kinds={'city\'s "name"': "VARCHAR"})
    scores = np.array([row[2:] if labels else row[1:] for row in found])
    assert np.max(np.abs(scores - zoo.outputs(model, X)) / zoo.scale(model, X)) < 1e-12
    if labels:
        assert [row[1] for row in found] == model.predict(X).tolist()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("labels", [(0, 1), (0, 1, 2)])
@pytest.mark.parametrize("basis", zoo.BASES + zoo.MIXED)
def test_a_gap_gives_no_prediction(engine, labels, basis):
    skip_without_exp(engine, basis)
    model = zoo.handmade(basis, labels)
    gap = float("nan") if engine == "duckdb" else None
    found = query(
        engine, to_sql(model, engine, keep=["id"]), {"x0": [gap, 0.1], "x1": [0.0, 0.2], "x2": [0.0, 0.3]}
    )
    assert [row[1] for row in found] == [None, model.predict(np.array([[0.1, 0.2, 0.3]]))[0]]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("basis", ["robust_rbf", "box", "box+robust_rbf"])
def test_terms_that_are_always_0_are_left_out_and_gaps_still_seen(engine, basis):
    """A feature that no unit uses, and one that the first unit alone does not use."""
    skip_without_exp(engine, basis)
    full = zoo.handmade(basis, None)
    used = np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 1.0]])

    def idle(part):
        return part.units.map(
            lambda name, array: array * used if name in ("shapes", "below", "above") else array
        )

    model = replace(full, expansion=full.expansion.map(idle))
    assert len(to_sql(model, engine)) < 0.9 * len(to_sql(full, engine))
    X = np.random.default_rng(0).normal(size=(20, 3))
    np.testing.assert_allclose(run(engine, model, X)[1], zoo.outputs(model, X), rtol=1e-12)
    for place in range(3):
        columns = {f"x{i}": [None if i == place else 0.5] for i in range(3)}
        assert query(engine, to_sql(model, engine, keep=["id"]), columns) == [(0, None)]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("labels", [(False, True), (0.5, 1.5), ("it's", '"--;\n'), (-(2**62), 7)], ids=str)
def test_labels_of_any_kind_are_literals(engine, labels):
    model, X = zoo.handmade("simplex", labels), np.random.default_rng(0).normal(size=(30, 3))
    assert run(engine, model, X)[0] == model.predict(X).tolist()


@pytest.mark.parametrize("engine", ENGINES)
def test_names_cannot_break_the_statement(engine):
    names = ('"; DROP TABLE "rows', "select", "SLEEK_x0")
    model, X = (
        zoo.handmade("simplex", None, feature_names=names),
        np.random.default_rng(0).normal(size=(9, 3)),
    )
    np.testing.assert_allclose(run(engine, model, X)[1], zoo.outputs(model, X), rtol=1e-12)


@pytest.mark.parametrize("engine", ENGINES)
def test_kept_columns_may_be_called_like_ours(engine):
    model = zoo.handmade("simplex", feature_names=("sleek_x1", "b", "c"))
    text = to_sql(model, engine, keep=["id", "sleek_x1", "b"])
    found = query(engine, text, {"sleek_x1": [5.0], "b": [6.0], "c": [7.0]})
    assert found == [(0, 5.0, 6.0, model.predict(np.array([[5.0, 6.0, 7.0]]))[0])]


@pytest.mark.parametrize("engine", ENGINES)
def test_large_models_stay_within_the_depth_that_engines_allow(engine):
    skip_without_exp(engine, "robust_rbf")
    model = zoo.handmade("robust_rbf", None, d=1200, m=2)
    X = model.parts[0].units["centers"] + 1e-3 * np.random.default_rng(0).normal(size=(2, 1200))
    np.testing.assert_allclose(run(engine, model, X)[1], zoo.outputs(model, X), rtol=1e-9)


def test_whole_numbers_and_decimals_are_computed_in_double():
    model = zoo.handmade("gaussian_rbf", None)
    kinds = {"x0": "INTEGER", "x1": "DECIMAL(9, 3)", "x2": "FLOAT"}
    found = query("duckdb", to_sql(model, keep=["id"]), {"x0": [1], "x1": [0.125], "x2": [0.5]}, kinds)
    assert found[0][1] == pytest.approx(model.predict(np.array([[1, 0.125, 0.5]]))[0], rel=1e-14)


def test_postgres_text():
    """What this dialect has of its own; the statements have been run on PostgreSQL 15."""
    text = to_sql(zoo.handmade("gaussian_rbf", ("a", "b")), "postgres", table=("my schema", "t"), keep=["k"])
    assert "CAST(t.\"x0\" AS DOUBLE PRECISION), CAST('NaN' AS DOUBLE PRECISION))" in text
    assert re.search(r"CASE WHEN -t\.sleek_z0 < -600 THEN 0 ELSE exp\(-t\.sleek_z0\) END AS sleek_u0", text)
    assert 'FROM "my schema"."t" AS t' in text
    assert "greatest(" in to_sql(zoo.handmade("simplex", (1, 2, 3)), "postgres")
    inputs = Inputs((CategoryColumn("code", ("1", "2", "true")),))
    text = to_sql(zoo.handmade(feature_names=inputs.feature_names, inputs=inputs), "postgres")
    assert "CASE WHEN CAST(pg_typeof(t.\"code\") AS TEXT) IN ('real', 'double precision') THEN NULL" in text
    assert "WHEN t.sleek_c0 = '1' OR t.sleek_n0 = 1.0e0 THEN CAST(1 AS DOUBLE PRECISION)" in text
    assert "WHEN t.sleek_c0 = 'true' THEN" in text


def test_an_unknown_column_is_an_error_in_sqlite_too():
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        query("sqlite", to_sql(zoo.handmade("simplex"), "sqlite", keep=["id"]), {"x0": [1.0]})


def test_bad_requests_are_refused():
    with pytest.raises(
        ValueError, match="`dialect` must be one of 'duckdb', 'postgres', 'sqlite', got 'mysql'"
    ):
        to_sql(zoo.handmade(), "mysql")
    for bad in ("", "a\0b", 3):
        with pytest.raises(ValueError, match="must be named by text without null characters"):
            to_sql(zoo.handmade(), keep=[bad])
    with pytest.raises(ValueError, match='The column "prediction_score" cannot be both kept and predicted'):
        to_sql(zoo.handmade(), keep=["prediction_score"], scores=True)
    with pytest.raises(ValueError, match="64 bits with a sign, which is too few for 18446744073709551615"):
        to_sql(zoo.handmade(labels=np.array([0, 2**64 - 1], dtype=np.uint64)))
    with pytest.raises(ValueError, match="SQL has no text with null characters"):
        to_sql(zoo.handmade(labels=("a", "b\0c")))
