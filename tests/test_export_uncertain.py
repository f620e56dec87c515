"""Probabilities and intervals in C, Python, SQL and ONNX, in files, and on the command line."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from engines import ENGINES, query, skip_without
from sklearn.linear_model import LogisticRegression
from test_export_javascript import NODE, run
from typer.testing import CliRunner

from sleek import Files, LowRankLSSVC, LowRankLSSVR
from sleek.cli.commands import app
from sleek.datasets import make_ripley
from sleek.export import register_skl2onnx, to_c, to_javascript, to_onnx, to_python, to_sql

COMPILER = shutil.which("gcc") or shutil.which("cc")
SETTINGS = {"n_units": 5, "C": 100.0, "random_state": 0}
ROWS = np.concatenate(
    [make_ripley(40, random_state=3)[0], np.random.default_rng(0).normal(scale=5, size=(40, 2))]
)


def noisy(X, several):
    y = np.sin(3 * X[:, 0]) + 0.2 * X[:, 1] * np.random.default_rng(1).normal(size=len(X))
    return np.column_stack([y, 7 - 30 * y]) if several else y


@pytest.fixture(scope="module")
def models():
    """Two classes, three, one number with all there is to it, two, one of one width, two with curves."""
    X, y = make_ripley(200, random_state=0)
    three = np.array(["red", "green", "blue"])[y + (X[:, 1] > 0.7)]
    found = {
        "two": LowRankLSSVC(**SETTINGS).fit(X, y).model_,
        "three": LowRankLSSVC(**SETTINGS).fit(X, three).model_,
        "number": LowRankLSSVR(**SETTINGS, basis="gaussian_rbf").fit(X, noisy(X, False)).model_,
        "numbers": LowRankLSSVR(**SETTINGS, basis="gaussian_rbf").fit(X, noisy(X, True)).model_,
    }
    counts = np.random.default_rng(1).poisson(np.exp(1.0 + np.sin(3 * X[:, 0])))
    found["counts"] = LowRankLSSVR(**SETTINGS, basis="gaussian_rbf", loss="poisson").fit(X, counts).model_
    calibration = found["number"].calibration
    assert calibration.leverage is not None
    assert calibration.noise[0].weights is not None
    plain = replace(calibration.noise[0], weights=None, high=calibration.noise[0].low)
    flat = replace(calibration, leverage=None, noise=(plain,))
    found |= {"flat": replace(found["number"], calibration=flat)}
    X, _ = make_ripley(900, random_state=4)
    size = 0.3 * np.exp(X) * np.where(X > 0.3, 3.0, 1.0)
    Y = np.sin(3 * X[:, :1]) + size * np.random.default_rng(4).normal(size=X.shape)
    found["curves"] = LowRankLSSVR(**SETTINGS, basis="gaussian_rbf").fit(X, Y).model_
    parts = [noise.parts for noise in found["curves"].calibration.noise]
    assert all(part is not None for part in parts)
    assert {part.basis.name for own in parts for part in own.parts} == {"linear", "box"}
    return found


CLASSES, NUMBERS = ["two", "three"], ["number", "numbers", "flat", "curves", "counts"]


def wanted(model):
    """What is to come out, (n, …) flat."""
    found = (
        model.predict_proba(ROWS) if model.outputs.reads == "labels" else model.predict_interval(ROWS, 0.8)
    )
    return found.reshape(len(ROWS), -1)


def interval_of(model):
    return None if model.outputs.reads == "labels" else 0.8


@pytest.mark.skipif(COMPILER is None, reason="there is no C compiler (gcc or cc) on this machine")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", CLASSES + NUMBERS)
def test_c(models, kind, dtype, tmp_path):
    model, real = models[kind], "float" if dtype == "float32" else "double"
    size, function = wanted(model).shape[1], "probabilities" if kind in CLASSES else "interval"
    (tmp_path / "model.h").write_text(to_c(model, dtype, interval=interval_of(model)))
    (tmp_path / "main.c").write_text(
        f'#include <stdio.h>\n#include "model.h"\nint main(void) {{ {real} x[2], y[{size}];\n'
        f"while (fread(x, sizeof x, 1, stdin) == 1) {{ model_{function}(x, y);\n"
        "fwrite(y, sizeof y, 1, stdout); }\nreturn 0; }"
    )
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O2"]
    subprocess.run([COMPILER, *flags, "main.c", "-o", "main", "-lm"], cwd=tmp_path, check=True)
    done = subprocess.run(
        [tmp_path / "main"], input=ROWS.astype(dtype).tobytes(), capture_output=True, check=True
    )
    found = np.frombuffer(done.stdout, dtype=dtype).reshape(len(ROWS), size)
    np.testing.assert_allclose(found, wanted(model), rtol=1e-3 if dtype == "float32" else 1e-9, atol=1e-5)


@pytest.mark.parametrize("kind", CLASSES + NUMBERS)
def test_python(models, kind):
    model, module = models[kind], {}
    exec(to_python(model, interval=interval_of(model)), module)
    option = {"proba": True} if kind in CLASSES else {"interval": True}
    found = np.array([module["predict"](row, **option) for row in ROWS.tolist()])
    np.testing.assert_allclose(found.reshape(len(ROWS), -1), wanted(model), rtol=1e-9)
    assert np.array([module["predict"](row) for row in ROWS.tolist()]).tolist() == [
        pytest.approx(said) if kind in NUMBERS else said for said in model.predict(ROWS).tolist()
    ]


@pytest.mark.skipif(NODE is None, reason="there is no node on this machine")
@pytest.mark.parametrize("kind", CLASSES + NUMBERS)
def test_javascript(models, kind, tmp_path):
    model, role = models[kind], "probabilities" if kind in CLASSES else "interval"
    text = to_javascript(model, interval=interval_of(model))
    found = np.array(run(tmp_path, text, ROWS.tolist(), f"rows.map(model.{role})"))
    assert found.ndim == (2 if model.outputs.reads == "labels" or model.outputs.flat else 3)
    np.testing.assert_allclose(found.reshape(len(ROWS), -1), wanted(model), rtol=1e-9)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", CLASSES + NUMBERS)
def test_sql(models, kind, engine):
    skip_without(engine)
    model = models[kind]
    text = to_sql(model, engine, keep=["id"], proba=kind in CLASSES, interval=interval_of(model))
    found = query(engine, text, {"x0": ROWS[:, 0].tolist(), "x1": ROWS[:, 1].tolist()})
    width = wanted(model).shape[1]
    np.testing.assert_allclose(np.array([row[-width:] for row in found]), wanted(model), rtol=1e-9)
    predicted = np.array([row[1:-width] for row in found]).reshape(model.predict(ROWS).shape)
    if kind in CLASSES:
        assert predicted.tolist() == model.predict(ROWS).tolist()
    else:
        np.testing.assert_allclose(predicted, model.predict(ROWS), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", CLASSES + NUMBERS)
def test_onnx(models, kind, dtype):
    runtime = pytest.importorskip("onnxruntime")
    model = models[kind]
    session = runtime.InferenceSession(to_onnx(model, dtype, interval=interval_of(model)).SerializeToString())
    names = [output.name for output in session.get_outputs()]
    assert names == (["label", "probabilities", "scores"] if kind in CLASSES else ["variable", "interval"])
    found = session.run([names[1]], {"X": ROWS.astype(dtype)})[0]
    assert found.shape == ((len(ROWS), 2, 2) if kind in ("numbers", "curves") else wanted(model).shape)
    tolerance = 1e-3 if dtype == "float32" else 1e-9
    np.testing.assert_allclose(found.reshape(len(ROWS), -1), wanted(model), rtol=tolerance, atol=1e-5)


def test_pipelines_converted_to_onnx_give_label_and_probabilities():
    runtime = pytest.importorskip("onnxruntime")
    skl2onnx = pytest.importorskip("skl2onnx")
    register_skl2onnx()
    X, y = make_ripley(100, random_state=0)
    model = LowRankLSSVC(**SETTINGS).fit(X, y)
    session = runtime.InferenceSession(skl2onnx.to_onnx(model, X[:1]).SerializeToString())
    label, P = session.run(None, {"X": X})
    assert [output.name for output in session.get_outputs()] == ["label", "probabilities"]
    np.testing.assert_array_equal(label, model.predict(X))
    np.testing.assert_allclose(P, model.predict_proba(X), rtol=1e-9)


def test_what_cannot_be_exported_says_so(models):
    X, y = make_ripley(100, random_state=0)
    strange = LowRankLSSVC(**SETTINGS, calibrator=LogisticRegression()).fit(X, y).model_
    for export in (to_c, to_javascript, to_python, to_sql, to_onnx):
        with pytest.raises(ValueError, match="made by LogisticRegression cannot be exported"):
            export(strange)
    grouped = models["number"].conformalize(X, noisy(X, False), groups=y)
    with pytest.raises(ValueError, match="calibrated for groups of rows cannot be exported"):
        to_c(grouped, interval=0.9)
    to_c(grouped)
    with pytest.raises(ValueError, match="Intervals and quantiles are for numbers"):
        to_python(models["two"], interval=0.9)
    with pytest.raises(ValueError, match="Probabilities and sets are for classifiers"):
        to_sql(models["number"], proba=True)
    old = replace(models["two"], calibration=None)
    assert "probabilities" not in to_c(old)
    with pytest.raises(ValueError, match="This model has no calibration"):
        to_sql(old, proba=True)


# -- files --------------------------------------------------------------------------------------------------


def test_files_are_written_with_probabilities_and_intervals(tmp_path):
    X, y = make_ripley(300, random_state=0)
    frame = pd.DataFrame(
        {"a": X[:, 0], "b": X[:, 1], "kind": np.where(y == 1, "yes", "no"), "size": noisy(X, False)}
    )
    table = frame[["a", "b"]]
    frame.to_parquet(tmp_path / "rows.parquet")
    names = {"columns": ["a", "b"], "target": "kind"}
    rows = Files(tmp_path / "rows.parquet", **names)
    classifier = LowRankLSSVC(**SETTINGS).fit(rows)
    assert classifier.predict_to(rows, tmp_path / "out.parquet", keep=["kind"], proba=True) == 300
    found = pd.read_parquet(tmp_path / "out.parquet")
    assert list(found) == ["kind", "prediction", "prediction_probability_no", "prediction_probability_yes"]
    np.testing.assert_array_equal(found.iloc[:, 2:], classifier.predict_proba(table))
    np.testing.assert_array_equal(classifier.predict_proba(rows), classifier.predict_proba(table))
    rows = Files(tmp_path / "rows.parquet", **(names | {"target": "size"}))
    regressor = LowRankLSSVR(**SETTINGS).fit(rows)
    regressor.predict_to(rows, tmp_path / "out.csv", interval=0.8)
    found = pd.read_csv(tmp_path / "out.csv")
    np.testing.assert_allclose(
        found[["prediction_low", "prediction_high"]], regressor.predict_interval(table, 0.8)
    )
    in_memory = regressor.model_.conformalize(table, frame["size"].to_numpy())
    np.testing.assert_array_equal(
        regressor.conformalize(rows).predict_interval(table), in_memory.predict_interval(table)
    )
    with pytest.raises(ValueError, match="`sample_weight` and `groups` must be None"):
        regressor.conformalize(rows, y)
    with pytest.raises(ValueError, match="Probabilities and sets are for classifiers"):
        regressor.predict_to(rows, tmp_path / "out.csv", proba=True)


# -- the command line ---------------------------------------------------------------------------------------


def called(*arguments):
    """What a command prints, and its exit code."""
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    return done, done.exit_code


def test_the_command_line_predicts_and_evaluates_how_sure_it_is(models, tmp_path):
    frame = pd.DataFrame({"x0": ROWS[:, 0], "x1": ROWS[:, 1]})
    frame["class"], frame["number"] = models["two"].predict(ROWS), noisy(ROWS, False)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    for kind in ("two", "number"):
        models[kind].save(tmp_path / f"{kind}.json")
    said, code = called("predict", tmp_path / "two.json", tmp_path / "rows.csv", "--proba")
    assert code == 0
    lines = said.stdout.splitlines()
    assert lines[0] == "prediction,prediction_probability_0,prediction_probability_1"
    np.testing.assert_allclose(
        [[float(word) for word in line.split(",")[1:]] for line in lines[1:]],
        wanted(models["two"]),
        rtol=1e-9,
    )
    said, _ = called("predict", tmp_path / "number.json", tmp_path / "rows.csv", "--interval", 0.8)
    assert said.stdout.splitlines()[0] == "prediction,prediction_low,prediction_high"
    found = np.array([[float(word) for word in line.split(",")[1:]] for line in said.stdout.splitlines()[1:]])
    np.testing.assert_allclose(found, wanted(models["number"]), rtol=1e-9)

    (tmp_path / "folder").mkdir()
    frame.to_csv(tmp_path / "folder" / "1.csv", index=False)
    out = tmp_path / "out.csv"
    said, code = called("predict", tmp_path / "two.json", tmp_path / "folder", "--proba", "-o", out)
    assert code == 0, (said.stderr, said.exception)
    np.testing.assert_allclose(pd.read_csv(out).iloc[:, 1:], wanted(models["two"]), rtol=1e-9)

    evaluate = ("evaluate", tmp_path / "two.json", tmp_path / "rows.csv", "-t", "class")
    scores = json.loads(called(*evaluate, "--json")[0].stdout)
    P = models["two"].predict_proba(ROWS)[np.arange(len(ROWS)), models["two"].predict(ROWS)]
    assert scores["log_loss"] == pytest.approx(-np.log(P).mean())
    assert scores["brier"] == pytest.approx(((1 - P) ** 2).mean())
    assert "Brier score" in called(*evaluate)[0].stdout
    evaluate = ("evaluate", tmp_path / "number.json", tmp_path / "rows.csv", "-t", "number")
    scores = json.loads(called(*evaluate, "--json")[0].stdout)
    assert [item["level"] for item in scores["intervals"]] == [0.8, 0.9, 0.95]
    ends = models["number"].predict_interval(ROWS, 0.9)
    inside = (ends[:, 0] <= frame["number"]) & (frame["number"] <= ends[:, 1])
    assert scores["intervals"][1]["coverage"] == pytest.approx(inside.mean())
    assert "90 % intervals hold" in called(*evaluate)[0].stdout

    for arguments, sentence in (
        (("two.json", "rows.csv", "--interval", 0.9), "Intervals and quantiles are for numbers"),
        (("number.json", "rows.csv", "--proba"), "Probabilities and sets are for classifiers"),
        (("number.json", "rows.csv", "--interval", 90), "between 0 and 1"),
    ):
        model, rows, *options = arguments
        said, code = called("predict", tmp_path / model, tmp_path / rows, *options)
        assert code == 2
        assert sentence in said.stderr
    said, code = called("export", tmp_path / "two.json", "--to", "sql", "--proba")
    assert "prediction_probability_1" in said.stdout
    said, code = called("export", tmp_path / "number.json", "--to", "c", "--interval", 0.9)
    assert "model_interval" in said.stdout
