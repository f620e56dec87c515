"""Exported SELECT statements run in DuckDB, SQLite and PostgreSQL and compute what the models compute."""

import sqlite3
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import zoo
from engines import ENGINES, query, skip_without

from sleek import LowRankLSSVC, LowRankLSSVR
from sleek.export import to_sql


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
    skip_without(engine, basis)
    model, X = zoo.model(basis, task), zoo.test_rows(task)
    labels, scores = run(engine, model, X)
    assert np.max(np.abs(scores - zoo.outputs(model, X)) / zoo.scale(model, X)) < 1e-12
    if labels is not None:
        assert labels == model.predict(X).tolist()


@pytest.mark.parametrize("engine", ENGINES)
def test_tanh_can_be_written_with_exp(engine):
    skip_without(engine, "sigmoidal")
    model, X = zoo.model("sigmoidal", "number"), zoo.test_rows("number")
    text = to_sql(model, engine, tanh_by_exp=True)
    assert "tanh(" not in text
    X = np.vstack([X, 1e9 * X[:20], -1e9 * X[:20]])  # saturated: exp must not overflow
    _, scores = run(engine, model, X, tanh_by_exp=True)
    assert np.max(np.abs(scores - zoo.outputs(model, X)) / zoo.scale(model, X)) < 1e-12


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("labels", [("no", "yes"), (1, 2, 3), None])
def test_columns_of_a_table_are_read_raw(engine, labels):
    skip_without(engine, "gaussian_rbf")
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
    skip_without(engine, basis)
    model = zoo.handmade(basis, labels)
    gap = None if engine == "sqlite" else float("nan")
    found = query(
        engine, to_sql(model, engine, keep=["id"]), {"x0": [gap, 0.1], "x1": [0.0, 0.2], "x2": [0.0, 0.3]}
    )
    assert [row[1] for row in found] == [None, model.predict(np.array([[0.1, 0.2, 0.3]]))[0]]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("basis", ["robust_rbf", "box", "box+robust_rbf"])
def test_terms_that_are_always_0_are_left_out_and_gaps_still_seen(engine, basis):
    """A feature that no unit uses, and one that the first unit alone does not use."""
    skip_without(engine, basis)
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
    skip_without(engine, "robust_rbf")
    d = 900 if engine == "postgres" else 1200  # its rows have 8 kilobytes
    model = zoo.handmade("robust_rbf", None, d=d, m=2)
    X = model.parts[0].units["centers"] + 1e-3 * np.random.default_rng(0).normal(size=(2, d))
    np.testing.assert_allclose(run(engine, model, X)[1], zoo.outputs(model, X), rtol=1e-9)


def test_whole_numbers_and_decimals_are_computed_in_double():
    model = zoo.handmade("gaussian_rbf", None)
    kinds = {"x0": "INTEGER", "x1": "DECIMAL(9, 3)", "x2": "FLOAT"}
    found = query("duckdb", to_sql(model, keep=["id"]), {"x0": [1], "x1": [0.125], "x2": [0.5]}, kinds)
    assert found[0][1] == pytest.approx(model.predict(np.array([[1, 0.125, 0.5]]))[0], rel=1e-14)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("place", [(), ("schema",)])
def test_all_columns_can_be_kept(engine, place):
    """Under the names that they have, hostile ones too."""
    skip_without(engine, "simplex")
    model = zoo.handmade("simplex", feature_names=("t", "b", "c"))
    columns = {"t": [5.0, 1.0], "b": [6.0, 2.0], "c": [7.0, 3.0], "sleek_x_0": [8.0, 4.0]}
    schema = {"duckdb": ("temp", "rows"), "sqlite": ("temp", "rows"), "postgres": ("pg_temp", "rows")}
    found = query(engine, to_sql(model, engine, table=schema[engine] if place else "rows", keep="*"), columns)
    answers = model.predict(np.array([[5.0, 6.0, 7.0], [1.0, 2.0, 3.0]])).tolist()
    assert found == [(0, 5.0, 6.0, 7.0, 8.0, answers[0]), (1, 1.0, 2.0, 3.0, 4.0, answers[1])]


@pytest.mark.parametrize("engine", ENGINES)
def test_columns_that_differ_by_case_only_are_told_apart_or_refused(engine):
    skip_without(engine, "simplex")
    model, X = zoo.handmade("simplex", None, feature_names=("a", "A", "b")), np.array([[0.1, 0.2, 0.3]])
    if engine == "postgres":
        np.testing.assert_allclose(run(engine, model, X)[1], zoo.outputs(model, X), rtol=1e-12)
        return
    with pytest.raises(ValueError, match=f"'a' and 'A' differ by case only, and {engine} takes them for one"):
        to_sql(model, engine)
    with pytest.raises(ValueError, match='"PREDICTION" cannot be both kept and predicted'):
        to_sql(zoo.handmade(), engine, keep=["prediction"], name="PREDICTION")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", ["probabilities", "interval"])
def test_many_units_are_planned_and_run_in_seconds(engine, kind):
    """Levels that are inlined grow exponentially: the statement would not come back."""
    skip_without(engine)
    model, X = large(kind), np.random.default_rng(0).normal(size=(200, 4))
    classes = kind == "probabilities"
    text = to_sql(model, engine, keep=["id"], proba=classes, interval=None if classes else 0.9)
    found = query(engine, text, dict(zip(["x0", "x1", "x2", "x3"], X.T.tolist(), strict=True)))
    wanted = model.predict_proba(X) if classes else model.predict_interval(X, 0.9)
    np.testing.assert_allclose(np.array([row[2:] for row in found], dtype=float), wanted, rtol=1e-9)


def large(kind):
    """Sixty units, with a calibration that knows how sure it is."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 4))
    y = np.sin(X[:, 0]) + 0.1 * np.exp(X[:, 1]) * rng.normal(size=400)
    classes = kind == "probabilities"
    estimator = LowRankLSSVC if classes else LowRankLSSVR
    small = estimator(60, C=10.0, effort="quick", random_state=0, basis="gaussian_rbf")
    return small.fit(X, (y > 0).astype(int) if classes else y).model_


def test_the_servers_compiler_is_warned_of(tmp_path):
    assert "-- SET jit = off; first" in to_sql(zoo.handmade(), "postgres")
    zoo.handmade().save(tmp_path / "model.json")
    for dialect, said in (("postgres", "note: SET jit = off; first"), ("duckdb", "")):
        command = [sys.executable, "-m", "sleek", "export", "model.json", "-o", "m.sql", "--dialect", dialect]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert done.stderr.startswith(said)
        assert bool(done.stderr) == bool(said)


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
