"""The command line: it does what the library does, and says what is wrong in a sentence."""

import csv
import io
import json
import re
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import (
    average_precision_score,
    confusion_matrix,
    mean_absolute_error,
    precision_score,
    r2_score,
    recall_score,
    roc_auc_score,
)
from typer.testing import CliRunner

import sleek
from sleek.bases import known_bases
from sleek.cli import training
from sleek.cli.commands import app
from sleek.cli.options import BasisName
from sleek.cli.spreadsheets import guard_file
from sleek.datasets import make_ripley

SMALL = ("--units", "4", "--basis", "gaussian_rbf", "--jobs", "1")


def sleek_run(*arguments, code=0, stdin=None):
    """What a command prints; it must end with the exit code."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)
    assert result.exit_code == code, (result.stdout, result.stderr, result.exception)
    return result


def report_of(*arguments, **options):
    return json.loads(sleek_run(*arguments, "--json", **options).stdout)


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def make_frame(n, seed):
    """Three classes, a price, a category that matters, gaps, an id and a weight."""
    rng = np.random.default_rng(seed)
    age, colour = (
        rng.uniform(20, 70, size=n).round(2),
        np.array(["red", "green", "blue"])[rng.integers(3, size=n)],
    )
    price = (age / 10 + 3 * (colour == "red") + rng.normal(scale=0.2, size=n)).round(3)
    species = np.array(["cat", "dog", "eel"])[np.digitize(price, [4, 6.5])]
    frame = pd.DataFrame(
        {"id": [f"id{row}" for row in range(n)], "age": age, "colour": colour, "price": price}
    )
    frame["species"], frame["adult"], frame["count"] = (
        species,
        (age > 45).astype(int),
        rng.integers(0, 3, size=n),
    )
    frame.loc[rng.random(n) < 0.1, "age"] = np.nan
    frame.loc[rng.random(n) < 0.1, "colour"] = None
    return frame


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Data and models of two kinds."""
    folder = tmp_path_factory.mktemp("cli")
    make_frame(160, 0).to_csv(folder / "data.csv", index=False)
    make_frame(90, 1).to_csv(folder / "new.csv", index=False)
    fit = ("fit", folder / "data.csv", "--columns", "age,colour", *SMALL)
    sleek_run(*fit, "--target", "species", "-o", folder / "species.json")
    sleek_run(*fit, "--target", "price", "-o", folder / "price.json")
    sleek_run(*fit, "--target", "adult", "-o", folder / "adult.json")
    return folder


def features_of(model, path):
    return model.inputs.transform(pd.read_csv(path))


# ---- fit ------------------------------------------------------------------------------------------------


def test_fit_is_what_the_library_does(folder, tmp_path):
    report = report_of(
        "fit",
        folder / "data.csv",
        "-t",
        "species",
        "--drop",
        "id,price,adult,count",
        *SMALL,
        "-o",
        tmp_path / "m.json",
    )
    frame = pd.read_csv(folder / "data.csv")
    estimator = sleek.LowRankLSSVC(4, basis="gaussian_rbf", random_state=0)
    estimator.fit(frame[["age", "colour"]], frame["species"])
    model = sleek.load(tmp_path / "m.json")
    assert model.inputs == estimator.model_.inputs
    np.testing.assert_array_equal(model.theta, estimator.model_.theta)
    assert model.outputs.classes.tolist() == ["cat", "dog", "eel"]
    assert model.metadata == {"target": "species"}
    told = report["expected"]
    assert (told["error"], told["standard_error"], told["method"]) == (
        estimator.expected_error_,
        estimator.expected_error_std_,
        estimator.expected_error_method_,
    )
    shares = frame["species"].value_counts(normalize=True)
    assert (told["baseline"], told["baseline_error"]) == (shares.index[0], pytest.approx(1 - shares.iloc[0]))
    assert report["parts"] == [{"basis": "gaussian_rbf", "units": 4}]
    expected = {"task": "classification", "rows": 160, "columns": 2, "features": 5, "units": 4}
    assert {key: report[key] for key in expected} == expected
    assert report["bytes"] == (tmp_path / "m.json").stat().st_size


def test_fit_tells_people_what_it_found(folder, tmp_path):
    printed = sleek_run(
        "fit", folder / "data.csv", "-t", "species", "--drop", "id,price", *SMALL, "-o", tmp_path / "m.json"
    ).stdout
    for words in ("species, 3 classes: cat, dog, eel", "160", "3 numbers and 1 category of 3 levels"):
        assert words in printed
    assert "4 gaussian_rbf units" in printed
    model = sleek.load(tmp_path / "m.json")
    assert re.search(
        rf"% ± \d\.\d \({model.facts.expected.method}; always saying \"\w+\" \d+\.\d %\)", printed
    )
    assert "kB)" in printed


@pytest.mark.parametrize(
    ("target", "option", "task"),
    [
        ("price", (), "regression"),
        ("species", (), "classification"),
        ("adult", (), "classification"),
        ("adult", ("--task", "regression"), "regression"),
        ("many", (), "regression"),
        ("many", ("--task", "classification"), "classification"),
        ("halves", (), "regression"),
        ("halves", ("--task", "classification"), "classification"),
    ],
)
def test_the_target_decides_the_task(folder, tmp_path, target, option, task):
    frame = make_frame(80, 0).assign(
        many=np.arange(80) % 21, halves=np.where(np.arange(80) % 2, "0.50", "1.50")
    )
    frame.to_csv(tmp_path / "data.csv", index=False)
    arguments = ("fit", tmp_path / "data.csv", "-t", target, "--columns", "age,colour", *SMALL, *option)
    report = report_of(*arguments, "-o", tmp_path / "m.json")
    assert report["task"] == task
    if target == "halves" and option:
        assert report["classes"] == ["0.50", "1.50"]
    if target == "adult" and not option:
        assert report["classes"] == [0, 1]
    report_of("evaluate", tmp_path / "m.json", tmp_path / "data.csv")


def test_regression_reports_rmse(folder, tmp_path):
    arguments = ("fit", folder / "data.csv", "-t", "price", "--columns", "age,colour", *SMALL)
    printed = sleek_run(*arguments, "-o", tmp_path / "m.json").stdout
    told = report_of(*arguments)["expected"]
    facts = sleek.load(tmp_path / "m.json").facts
    assert "price, a number" in printed
    assert f"RMSE {told['rmse']:.3g} ± {told['standard_error']:.2g}, R² {told['r2']:.3f} (" in printed
    assert told["rmse"] == pytest.approx(np.sqrt(facts.expected.value))
    below, above = (np.sqrt(facts.expected.value + k * facts.expected.standard_error) for k in (-0.01, 0.01))
    assert told["standard_error"] == pytest.approx((above - below) / 0.02, rel=1e-3)
    truth = pd.read_csv(folder / "data.csv")["price"]
    assert told["r2"] == pytest.approx(1 - facts.expected.value / truth.var(ddof=0))
    assert told["baseline_rmse"] == pytest.approx(truth.std(ddof=0))


def test_the_whole_time_is_reported(folder, monkeypatch):
    def open_slowly(*arguments, files=training.Files, **options):
        time.sleep(0.3)
        return files(*arguments, **options)

    monkeypatch.setattr(training, "Files", open_slowly)
    begin = time.perf_counter()
    report = report_of("fit", folder / "data.csv", "-t", "price", "--columns", "age,colour", *SMALL)
    assert 0.3 <= report["seconds"] <= time.perf_counter() - begin


def test_many_columns_take_no_square(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(30, 600))).add_prefix("c").assign(y=np.arange(30) % 2)
    frame["word"] = np.where(frame["y"] > 0, "a", "b")
    frame.to_csv(tmp_path / "wide.csv", index=False)
    report_of("fit", tmp_path / "wide.csv", "-t", "y", *SMALL, "-o", tmp_path / "m.json")
    model = sleek.load(tmp_path / "m.json")
    assert len(model.facts.influence) == len(model.inputs.columns) == 601
    assert len(model.facts.deviation) == 602


def test_every_kind_of_file_gives_the_same_model(folder, tmp_path):
    frame = pd.read_csv(folder / "data.csv")[["age", "colour", "price"]]
    frame.to_csv(tmp_path / "comma.csv", index=False)
    frame.to_csv(tmp_path / "semicolon.csv", index=False, sep=";", decimal=",", encoding="utf-8-sig")
    frame.to_csv(tmp_path / "tab.tsv", index=False, sep="\t", quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    frame.to_parquet(tmp_path / "data.parquet")
    models = []
    for name in ("comma.csv", "semicolon.csv", "tab.tsv", "data.parquet"):
        sleek_run("fit", tmp_path / name, "-t", "price", *SMALL, "-o", tmp_path / "m.json")
        models.append((tmp_path / "m.json").read_bytes())
    assert models[1:] == models[:1] * 3


def test_standard_input_and_output(folder):
    data = (folder / "data.csv").read_bytes()
    result = sleek_run("fit", "-", "-t", "species", "--columns", "age,colour", *SMALL, "-o", "-", stdin=data)
    assert result.stdout == (folder / "species.json").read_text()
    assert "4 gaussian_rbf units" in result.stderr
    predicted = sleek_run("predict", "-", folder / "new.csv", stdin=result.stdout.encode()).stdout
    assert predicted == sleek_run("predict", folder / "species.json", folder / "new.csv").stdout


def test_rows_of_no_weight_do_not_count(folder, tmp_path):
    frame = pd.read_csv(folder / "data.csv")
    frame[frame["count"] > 0].to_csv(tmp_path / "some.csv", index=False)
    some = report_of(
        "fit", tmp_path / "some.csv", "-t", "price", "--columns", "age", "--weight", "count", *SMALL
    )
    everything = report_of(
        "fit", folder / "data.csv", "-t", "price", "--columns", "age", "--weight", "count", *SMALL
    )
    assert everything["rows"] == some["rows"] == (frame["count"] > 0).sum()
    assert everything["C"] == some["C"]
    for key in ("rmse", "standard_error", "r2", "baseline_rmse"):
        assert everything["expected"][key] == pytest.approx(some["expected"][key], rel=1e-9)


def test_rows_without_a_target_are_left_out(folder, tmp_path):
    frame = pd.read_csv(folder / "data.csv")
    frame.loc[::4, "price"] = np.nan
    frame.to_csv(tmp_path / "gaps.csv", index=False)
    report = report_of("fit", tmp_path / "gaps.csv", "-t", "price", "--columns", "age,colour", *SMALL)
    assert report["rows"] == 120
    assert "40 rows without a value of 'price' are left out" in report["notes"]


@pytest.mark.parametrize(("target", "error"), [("species", "error"), ("price", "rmse")])
def test_held_out_rows_are_not_learnt_from(folder, tmp_path, target, error):
    arguments = (
        "fit",
        folder / "data.csv",
        "-t",
        target,
        "--columns",
        "age,colour",
        *SMALL,
        "--test",
        "0.25",
    )
    report = report_of(*arguments, "-o", tmp_path / "m.json")
    assert (report["rows"], report["test"]["rows"]) == (120, 40)
    whole = report_of("evaluate", tmp_path / "m.json", folder / "data.csv")
    train = report_of("fit", folder / "data.csv", "-t", target, "--columns", "age,colour", *SMALL)
    assert whole["rows"] == 160
    assert 0 <= report["test"][error] < 1
    assert report["expected"] != train["expected"]
    assert "held out rows" in sleek_run(*arguments).stdout


def test_held_out_rows_count_by_their_weight(folder, tmp_path):
    arguments = (
        "fit",
        folder / "data.csv",
        "-t",
        "price",
        "--columns",
        "age,colour",
        "--weight",
        "count",
        *SMALL,
    )
    report = report_of(*arguments, "--test", "0.25", "-o", tmp_path / "m.json")
    model, frame = sleek.load(tmp_path / "m.json"), pd.read_csv(folder / "data.csv")
    _, held = sleek.Files(folder / "data.csv").split(0.25, 0)
    rest = frame.iloc[np.concatenate([chunk.numbers for chunk in held.chunks(None, True)])]
    squares = (model.predict(model.inputs.transform(rest)) - rest["price"]) ** 2
    assert report["test"]["rmse"] == pytest.approx(np.sqrt(np.average(squares, weights=rest["count"])))
    assert report["test"]["weight"] == rest["count"].sum()
    assert report["test"]["rows"] == (rest["count"] > 0).sum()


def test_codes_as_categories(folder):
    report = report_of(
        "fit", folder / "data.csv", "-t", "price", "--columns", "age,count", "--categories", "count", *SMALL
    )
    assert report["features"] == 4


def test_a_column_that_counts_the_rows_is_noted(folder, tmp_path):
    pd.read_csv(folder / "data.csv")[["age", "price"]].rename_axis("row").to_csv(tmp_path / "counted.csv")
    notes = report_of("fit", tmp_path / "counted.csv", "-t", "price", *SMALL)["notes"]
    sentence = "column 'row' only counts the rows: leave it out unless new rows have it in the same sense"
    assert sentence in notes


def test_influence_is_that_of_the_columns(folder):
    model = sleek.load(folder / "price.json")
    age, colour = model.facts.influence
    assert 0 < colour < age < 1.2
    X = features_of(model, folder / "data.csv")
    shuffled = X.copy()
    shuffled[:, 1:] = X[np.random.default_rng(0).permutation(len(X)), 1:]
    moved = np.mean((model.predict(shuffled) - model.predict(X)) ** 2)
    assert colour == pytest.approx(np.sqrt(moved / (2 * np.var(model.predict(X)))), rel=0.3)


def test_verbose_does_not_spoil_the_output(folder):
    result = sleek_run(
        "fit", folder / "data.csv", "-t", "price", "--columns", "age", "--json", "-v", "--jobs", "1"
    )
    assert "[LowRankLSSVR]" in result.stderr
    assert json.loads(result.stdout)["task"] == "regression"


# ---- predict and evaluate -------------------------------------------------------------------------------


def test_predictions_are_those_of_the_model(folder, tmp_path):
    model = sleek.load(folder / "species.json")
    X = features_of(model, folder / "new.csv")
    arguments = ("predict", folder / "species.json", folder / "new.csv", "--scores", "--keep", "id,age")
    result = sleek_run(*arguments)
    rows = rows_of(result.stdout)
    assert list(rows[0]) == [
        "id",
        "age",
        "prediction",
        "prediction_score_cat",
        "prediction_score_dog",
        "prediction_score_eel",
    ]
    assert [row["prediction"] for row in rows] == model.predict(X).tolist()
    scores = [[float(row[f"prediction_score_{label}"]) for label in model.outputs.classes] for row in rows]
    np.testing.assert_array_equal(scores, model.decision_function(X))
    gaps = pd.read_csv(folder / "new.csv")["age"].isna().sum()
    assert f"note: column 'age': {gaps} missing values are taken as" in result.stderr
    sleek_run(*arguments, "-o", tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == result.stdout
    sleek_run(*arguments, "-o", tmp_path / "out.parquet")
    assert pd.read_parquet(tmp_path / "out.parquet")["prediction"].tolist() == model.predict(X).tolist()


def test_scores_of_two_classes_and_numbers(folder):
    model = sleek.load(folder / "adult.json")
    rows = rows_of(sleek_run("predict", folder / "adult.json", folder / "new.csv", "--scores").stdout)
    X = features_of(model, folder / "new.csv")
    np.testing.assert_array_equal(
        [float(row["prediction_score"]) for row in rows], model.decision_function(X)
    )
    rows = rows_of(sleek_run("predict", folder / "price.json", folder / "new.csv", "--keep", "*").stdout)
    assert list(rows[0]) == [*make_frame(3, 0).columns, "prediction"]
    model = sleek.load(folder / "price.json")
    np.testing.assert_array_equal([float(row["prediction"]) for row in rows], model.predict(X))


def test_kept_columns_keep_their_types(folder, tmp_path):
    frame = pd.read_csv(folder / "new.csv").assign(code="007")
    frame.to_parquet(tmp_path / "new.parquet")
    frame.to_csv(tmp_path / "new.csv", index=False)
    arguments = ("predict", folder / "price.json", "--keep", "count,age,code", "-o", tmp_path / "out.parquet")
    sleek_run(*arguments, tmp_path / "new.parquet")
    written = pd.read_parquet(tmp_path / "out.parquet")
    pd.testing.assert_frame_equal(written[["count", "age", "code"]], frame[["count", "age", "code"]])
    sleek_run(*arguments, tmp_path / "new.csv")
    assert pd.read_parquet(tmp_path / "out.parquet")["code"].tolist() == ["007"] * len(frame)


def test_levels_never_seen_are_noted(folder, tmp_path):
    (tmp_path / "new.csv").write_text("colour,age\npink,30\nred,40\npink,50\n")
    result = sleek_run("predict", folder / "price.json", tmp_path / "new.csv")
    assert "column 'colour': 2 rows hold what the model has never seen, such as 'pink'" in result.stderr
    assert len(rows_of(result.stdout)) == 3


def test_models_that_were_trained_on_arrays(tmp_path):
    X, y = make_ripley(100, random_state=0)
    sleek.LowRankLSSVC(3, C=1.0, basis="simplex", random_state=0).fit(X, y).model_.save(tmp_path / "m.json")
    pd.DataFrame(X, columns=["x0", "x1"]).assign(y=y).to_csv(tmp_path / "data.csv", index=False)
    rows = rows_of(sleek_run("predict", tmp_path / "m.json", tmp_path / "data.csv").stdout)
    assert len(rows) == 100
    assert (
        report_of("evaluate", tmp_path / "m.json", tmp_path / "data.csv", "--target", "y")["accuracy"] > 0.7
    )
    assert (
        "does not say which column"
        in sleek_run("evaluate", tmp_path / "m.json", tmp_path / "data.csv", code=2).stderr
    )
    assert "±" in sleek_run("show", tmp_path / "m.json").stdout
    assert "expected error" in sleek_run("show", tmp_path / "m.json").stdout
    (tmp_path / "gap.csv").write_text("x0,x1\n1,2\n1,\n")
    said = sleek_run("predict", tmp_path / "m.json", tmp_path / "gap.csv").stderr
    assert "column 'x1': 1 missing value, of which training had none, is taken as" in said


def test_evaluation_of_classes(folder):
    scores = report_of("evaluate", folder / "species.json", folder / "new.csv")
    model, frame = sleek.load(folder / "species.json"), pd.read_csv(folder / "new.csv")
    predicted = model.predict(features_of(model, folder / "new.csv"))
    assert scores["accuracy"] == pytest.approx(np.mean(predicted == frame["species"]))
    counts = [line["predicted"] for line in scores["per_class"]]
    assert counts == confusion_matrix(frame["species"], predicted).tolist()
    recall = recall_score(frame["species"], predicted, average=None)
    assert [line["recall"] for line in scores["per_class"]] == pytest.approx(recall)
    precision = precision_score(frame["species"], predicted, average=None, zero_division=np.nan)
    assert [line["precision"] for line in scores["per_class"]] == pytest.approx(precision)
    printed = sleek_run("evaluate", folder / "species.json", folder / "new.csv").stdout
    assert f"{100 * scores['accuracy']:.1f} % right" in printed
    assert "(lines: actual, columns: predicted)" in printed


def test_evaluation_of_numbers(folder):
    scores = report_of("evaluate", folder / "price.json", folder / "new.csv")
    model, truth = sleek.load(folder / "price.json"), pd.read_csv(folder / "new.csv")["price"]
    predicted = model.predict(features_of(model, folder / "new.csv"))
    assert scores["rmse"] == pytest.approx(np.sqrt(np.mean((truth - predicted) ** 2)))
    assert scores["mae"] == pytest.approx(mean_absolute_error(truth, predicted))
    assert scores["r2"] == pytest.approx(r2_score(truth, predicted))
    assert "RMSE" in sleek_run("evaluate", folder / "price.json", folder / "new.csv").stdout


def test_two_classes_have_a_curve(folder):
    scores = report_of("evaluate", folder / "adult.json", folder / "new.csv")
    model, truth = sleek.load(folder / "adult.json"), pd.read_csv(folder / "new.csv")["adult"]
    decision = model.decision_function(features_of(model, folder / "new.csv"))
    assert scores["auc"] == pytest.approx(roc_auc_score(truth, decision))
    assert scores["average_precision"] == pytest.approx(average_precision_score(truth, decision))
    printed = sleek_run("evaluate", folder / "adult.json", folder / "new.csv").stdout
    assert f"AUC {scores['auc']:.3f}, average precision {scores['average_precision']:.3f} (for 1)" in printed


def test_a_curve_needs_two_classes(folder, tmp_path):
    frame = pd.read_csv(folder / "new.csv")
    frame[frame["adult"] == 1].to_csv(tmp_path / "ones.csv", index=False)
    scores = report_of("evaluate", folder / "adult.json", tmp_path / "ones.csv")
    assert (scores["auc"], scores["average_precision"]) == (None, None)
    assert "AUC" not in sleek_run("evaluate", folder / "adult.json", tmp_path / "ones.csv").stdout


@pytest.mark.parametrize("name", ["species", "adult", "price"])
def test_weights_count_rows_in_an_evaluation(folder, tmp_path, name):
    """A row of weight 2 is the row twice, and one of weight 0 is not there."""
    frame = pd.read_csv(folder / "new.csv")
    frame.loc[frame.index.repeat(frame["count"])].to_csv(tmp_path / "twice.csv", index=False)
    weighted = report_of("evaluate", folder / f"{name}.json", folder / "new.csv", "--weight", "count")
    repeated = report_of("evaluate", folder / f"{name}.json", tmp_path / "twice.csv")
    assert weighted["weight"] == repeated["rows"]
    assert weighted["rows"] == (frame["count"] > 0).sum()
    for key in {"accuracy", "error", "auc", "average_precision", "rmse", "mae", "r2"} & set(repeated):
        assert weighted[key] == pytest.approx(repeated[key], rel=1e-12)
    if "per_class" in repeated:
        assert weighted["per_class"] == repeated["per_class"]
        printed = sleek_run(
            "evaluate", folder / f"{name}.json", folder / "new.csv", "--weight", "count"
        ).stdout
        assert re.search(r"weight +recall +precision", printed)


def test_classes_never_seen_are_mistakes(folder, tmp_path):
    (tmp_path / "new.csv").write_text("colour,age,species\nred,30,yak\nred,70,eel\nblue,50,\n")
    scores = report_of("evaluate", folder / "species.json", tmp_path / "new.csv")
    assert scores["rows"] == 2
    assert len(scores["per_class"]) == 3
    assert scores["never_seen"]["total"] == sum(scores["never_seen"]["predicted"]) == 1
    assert scores["accuracy"] <= 0.5
    assert "1 row without a value of 'species' is left out" in scores["notes"]
    assert "column 'species': 1 row holds what the model has never seen, such as 'yak'" in scores["notes"]
    assert "(never seen)" in sleek_run("evaluate", folder / "species.json", tmp_path / "new.csv").stdout


# ---- export and the rest --------------------------------------------------------------------------------


def test_exported_python_predicts_the_same(folder, tmp_path):
    text = sleek_run("export", folder / "species.json", "--to", "python", "--name", "guess").stdout
    program = {}
    exec(text, program)
    model = sleek.load(folder / "species.json")
    frame = pd.read_csv(folder / "new.csv").astype(object)
    rows = frame.where(frame.notna(), None)[["age", "colour"]].to_dict("records")
    expected = model.predict(features_of(model, folder / "new.csv")).tolist()
    assert [program["guess"](row) for row in rows] == expected
    sleek_run("export", folder / "species.json", "--name", "guess", "-o", tmp_path / "guess.py")
    assert (tmp_path / "guess.py").read_text() == text


def test_exports_by_ending(folder, tmp_path):
    import onnx

    sleek_run("export", folder / "species.json", "-o", tmp_path / "m.onnx")
    onnx.checker.check_model(onnx.load(tmp_path / "m.onnx"))
    sleek_run("export", folder / "species.json", "-o", tmp_path / "m.h", "--dtype", "float32")
    assert "float" in (tmp_path / "m.h").read_text()
    assert (
        "patients" in sleek_run("export", folder / "price.json", "--to", "sql", "--table", "patients").stdout
    )


def test_the_demo_runs():
    printed = sleek_run("demo").stdout
    assert "6 units" in printed
    assert printed.count("o") > 50
    assert printed.count("+") > 50


def test_help_teaches_and_names_the_version():
    assert "sleek fit data.csv --target" in sleek_run("--help").stdout
    for command in ("fit", "predict", "evaluate", "show", "export"):
        assert f"sleek {command} " in sleek_run(command, "--help").stdout
    assert sleek_run("--version").stdout == f"sleek {sleek.__version__}\n"


def test_bases_are_those_of_the_library():
    shipped = {name for name, basis in known_bases().items() if basis.__module__.startswith("sleek.")}
    assert {basis.value for basis in BasisName} == {"auto", *shipped}


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from sleek.cli.commands import app; sys.argv = ['sleek', 'fit', '--help'];\n"
        "try: app()\nexcept SystemExit: print({'numpy', 'sklearn', 'scipy', 'pyarrow'} & set(sys.modules))"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    assert output.endswith("set()\n")


# -- tables of any kind and size -----------------------------------------------------------------------------


def test_inspect_names_kinds_gaps_ids_and_leaks(tmp_path):
    rng = np.random.default_rng(0)
    n = 200
    frame = pd.DataFrame(
        {
            "row": np.arange(n),
            "id": [f"i{i}" for i in range(n)],
            "age": rng.normal(40, 10, n),
            "city": rng.choice(["Bonn", "Rome"], n),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 99, n), unit="D"),
            "nothing": None,
            "y": rng.choice(["no", "yes"], n),
        }
    )
    frame["answer"] = frame.y.map({"no": 0, "yes": 1})
    frame.loc[:4, "age"] = np.nan
    frame.to_csv(tmp_path / "a.csv", index=False)
    report = report_of("inspect", tmp_path / "a.csv", "-t", "y")
    columns = {column["name"]: column for column in report["columns"]}
    assert report["rows"] == n
    assert {name: column["kind"] for name, column in columns.items()} == {
        **dict.fromkeys(["row", "age", "answer"], "number"),
        **dict.fromkeys(["id", "nothing"], "useless"),
        **dict.fromkeys(["city", "y"], "category"),
        "day": "date",
    }
    assert columns["age"]["missing"] == 5
    assert columns["row"]["remark"] == "only counts the rows"
    assert "gives the target away" in columns["answer"]["remark"]
    assert columns["answer"]["foretells"] > 0.98
    assert columns["city"]["foretells"] < 0.1
    assert columns["nothing"]["remark"] == "no value at all"
    printed = sleek_run("inspect", tmp_path / "a.csv").stdout
    assert "an id: left out" in printed


def test_rare_classes_can_weigh_as_much_as_common_ones(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=600)
    frame = pd.DataFrame({"x": x, "y": np.where(x + rng.normal(size=600) > 2, "rare", "often")})
    frame.to_csv(tmp_path / "a.csv", index=False)
    recalls = []
    for options in ([], ["--balanced"]):
        report_of("fit", tmp_path / "a.csv", "-t", "y", *options, *SMALL, "-o", tmp_path / "m.json")
        scores = report_of("evaluate", tmp_path / "m.json", tmp_path / "a.csv")
        recalls.append(scores["per_class"][1]["recall"])
    assert recalls[1] > recalls[0] + 0.2
    assert "is for classes" in sleek_run("fit", tmp_path / "a.csv", "-t", "x", "--balanced", code=2).stderr


def test_words_that_mean_nothing_can_be_named(tmp_path):
    words = ["None", "Minor", "-99"] * 40
    frame = pd.DataFrame({"x": ["-99", "5", "7"] * 40, "damage": words})
    frame.to_csv(tmp_path / "a.csv", index=False)
    report = report_of("fit", tmp_path / "a.csv", "-t", "damage", *SMALL)
    assert report["classes"] == ["-99", "Minor", "None"]
    report = report_of(
        "fit", tmp_path / "a.csv", "-t", "damage", "--missing", "-99", *SMALL, "-o", tmp_path / "m.json"
    )
    assert report["classes"] == ["Minor", "None"]
    assert any("40 rows without a value of 'damage'" in note for note in report["notes"])
    scores = report_of("evaluate", tmp_path / "m.json", tmp_path / "a.csv")
    assert scores["rows"] == 80


def test_a_folder_is_read_in_pieces(folder, tmp_path, monkeypatch):
    frame = pd.read_csv(folder / "data.csv")
    parts = tmp_path / "parts"
    parts.mkdir()
    frame[:100].to_csv(parts / "a.csv", index=False)
    frame[100:].to_csv(parts / "b.csv", index=False)
    options = ["-t", "species", "--drop", "id,price", *SMALL]
    large = report_of("fit", parts, *options, "-o", tmp_path / "large.json")
    small = report_of("fit", folder / "data.csv", *options, "-o", tmp_path / "small.json")
    assert {key: large[key] for key in ("task", "columns", "features", "classes")} == {
        key: small[key] for key in ("task", "columns", "features", "classes")
    }
    one, two = (sleek.load(tmp_path / f"{name}.json") for name in ("large", "small"))
    np.testing.assert_array_equal(one.theta, two.theta)
    sleek_run("predict", tmp_path / "large.json", parts, "--keep", "id", "-o", tmp_path / "out.csv")
    out = pd.read_csv(tmp_path / "out.csv")
    assert out.prediction.tolist() == two.predict(frame).tolist()
    assert out["id"].tolist() == frame["id"].tolist()
    sleek_run(
        "predict", tmp_path / "large.json", parts, "--scores", "--keep", "*", "-o", tmp_path / "all.tsv"
    )
    out = pd.read_csv(tmp_path / "all.tsv", sep="\t")
    assert list(out)[: len(frame.columns)] == list(frame)
    scores = out[[f"prediction_score_{label}" for label in two.outputs.classes]].to_numpy()
    np.testing.assert_allclose(scores, two.decision_function(frame), rtol=1e-12)
    shown = sleek_run("predict", tmp_path / "large.json", parts, "--keep", "id").stdout
    assert shown == (tmp_path / "out.csv").read_text()


def test_files_are_tested_looked_at_and_explained_in_pieces(folder, tmp_path):
    frame = pd.read_csv(folder / "data.csv")
    parts = tmp_path / "parts"
    parts.mkdir()
    frame = frame.assign(w=np.arange(len(frame)) % 3 + 0.5)
    frame[:100].to_csv(parts / "a.csv", index=False)
    frame[100:].to_csv(parts / "b.csv", index=False)
    frame.to_csv(tmp_path / "all.csv", index=False)
    for model, *options in (["species"], ["adult"], ["price"], ["price", "--weight", "w"]):
        whole, pieces = (
            report_of("evaluate", folder / f"{model}.json", data, *options)
            for data in (tmp_path / "all.csv", parts)
        )
        whole.pop("notes")
        pieces.pop("notes")
        alike(pieces, whole)
    one = report_of("inspect", tmp_path / "all.csv", "-t", "species")
    two = report_of("inspect", parts, "-t", "species")
    assert one == two
    one = report_of("explain", folder / "species.json", f"{tmp_path / 'all.csv'}:150")
    assert report_of("explain", folder / "species.json", f"{parts}:150") == one
    refused = sleek_run("explain", folder / "species.json", f"{parts}:9999", code=2)
    assert f"has rows 1 to {len(frame)}, got 9999" in refused.stderr
    frame[:9].assign(species="fox").to_csv(parts / "b.csv", index=False)
    strange = report_of("evaluate", folder / "species.json", parts)
    assert "column 'species': 9 rows hold what the model has never seen, such as 'fox'" in strange["notes"]
    refused = sleek_run("evaluate", folder / "species.json", parts, "-t", "colour", code=2)
    assert "The model reads 'colour' itself" in refused.stderr


def alike(found, expected):
    """The same values, numbers but for rounding."""
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        for key, value in expected.items():
            alike(found[key], value)
    elif isinstance(expected, list):
        for ours, theirs in zip(found, expected, strict=True):
            alike(ours, theirs)
    else:
        assert found == (pytest.approx(expected, rel=1e-12) if isinstance(expected, float) else expected)


def test_options_of_fits_that_go_by_pieces(folder, tmp_path):
    frame = pd.read_csv(folder / "data.csv").drop(columns=["id", "price"])
    frame["colour"] = np.where(np.arange(len(frame)) % 7 == 0, "nil", frame.colour)
    frame.loc[[5, 6], "species"] = "nil"
    frame.to_csv(tmp_path / "one.csv", index=False)
    (tmp_path / "parts").mkdir()
    frame.to_csv(tmp_path / "parts" / "a.csv", index=False)
    options = ["-t", "species", "--missing", "nil,NA", "--seed", "3", *SMALL]
    whole = report_of("fit", tmp_path / "one.csv", *options, "-o", tmp_path / "one.json")
    pieces = report_of("fit", tmp_path / "parts", *options, "-o", tmp_path / "two.json")
    assert pieces["rows"] == whole["rows"] == len(frame) - 2
    one, two = (sleek.load(tmp_path / f"{name}.json") for name in ("one", "two"))
    assert two.metadata == one.metadata == {"target": "species", "missing": ["nil", "NA"]}
    assert "colour is missing" in two.inputs.feature_names
    np.testing.assert_array_equal(one.theta, two.theta)
    tested = report_of("fit", tmp_path / "parts", *options, "--test", "0.3")
    assert tested["rows"] + tested["test"]["rows"] == len(frame) - 2
    assert 0 <= tested["test"]["error"] <= 1


CELLS = st.lists(st.text(st.sampled_from("=+-@\t 1.5e,\"'ab\n"), max_size=6), min_size=1, max_size=4)


@given(st.lists(CELLS, min_size=1, max_size=4), st.sampled_from(["t.csv", "t.tsv"]))
def test_spreadsheets_run_no_cell_and_read_the_same_numbers(tmp_path_factory, rows, name):
    path = tmp_path_factory.mktemp("spreadsheets") / name
    delimiter = "\t" if name == "t.tsv" else ","
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=delimiter, lineterminator="\n").writerows(rows)
    found = guard_file(path).read_bytes().decode()
    for row, safe in zip(rows, csv.reader(io.StringIO(found, newline=""), delimiter=delimiter), strict=True):
        for cell, guarded in zip(row, safe, strict=True):
            assert guarded in (cell, f"'{cell}")
            is_number = re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", cell) is not None
            assert guarded == cell or not is_number
            assert is_number or not guarded.startswith(("=", "+", "-", "@", "\t", "\r"))


def test_predictions_for_a_spreadsheet(tmp_path):
    x = np.arange(20.0)
    model = sleek.LowRankLSSVR(basis="linear").fit(pd.DataFrame({"x": x}), -x).model_
    model.save(tmp_path / "m.json")
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "new.csv").write_text("id,x\n=1+1,1\n-2,2\n@a,3\n")
    for data in (tmp_path / "rows" / "new.csv", tmp_path / "rows"):
        arguments = ("predict", tmp_path / "m.json", data, "--keep", "id", "-o", tmp_path / "out.csv")
        sleek_run(*arguments, "--spreadsheet")
        rows = rows_of((tmp_path / "out.csv").read_text())
        assert [row["id"] for row in rows] == ["'=1+1", "-2", "'@a"]
        assert all(float(row["prediction"]) < 0 for row in rows)
    refused = sleek_run(*arguments[:-1], tmp_path / "out.parquet", "--spreadsheet", code=2)
    assert "--spreadsheet writes a .csv or .tsv file" in " ".join(refused.stderr.split())
