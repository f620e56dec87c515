"""The command line: it does what the library does, and says what is wrong in a sentence."""

import csv
import io
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import confusion_matrix, mean_absolute_error, precision_score, r2_score, recall_score
from typer.testing import CliRunner

import sleek
from sleek.bases import known_bases
from sleek.cli import app
from sleek.cli.options import BasisName
from sleek.datasets import make_ripley
from sleek.tables.columns import Inputs

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
    inputs = Inputs.learn(frame[["age", "colour"]])
    estimator = sleek.LowRankLSSVC(4, basis="gaussian_rbf", random_state=0)
    estimator.fit(inputs.transform(frame), frame["species"])
    model = sleek.load(tmp_path / "m.json")
    assert model.inputs == inputs
    np.testing.assert_array_equal(model.theta, estimator.model_.theta)
    assert model.classes.tolist() == ["cat", "dog", "eel"]
    assert model.metadata["target"] == "species"
    assert report["loo_error"] == estimator.loo_error_
    assert report["baseline_error"] == pytest.approx(1 - frame["species"].value_counts(normalize=True).max())
    expected = {"task": "classification", "rows": 160, "columns": 2, "features": 4, "units": 4, "notes": []}
    assert {key: report[key] for key in expected} == expected
    assert report["bytes"] == (tmp_path / "m.json").stat().st_size


def test_fit_tells_people_what_it_found(folder, tmp_path):
    printed = sleek_run(
        "fit", folder / "data.csv", "-t", "species", "--drop", "id,price", *SMALL, "-o", tmp_path / "m.json"
    ).stdout
    for words in ("species, 3 classes: cat, dog, eel", "160", "3 numbers and 1 category of 3 levels"):
        assert words in printed
    assert "4 gaussian_rbf units" in printed
    assert "% (leave-one-out; always the largest class:" in printed
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


def test_regression_reports_rmse(folder):
    printed = sleek_run("fit", folder / "data.csv", "-t", "price", "--columns", "age,colour", *SMALL).stdout
    assert "price, a number" in printed
    assert "RMSE" in printed
    assert "R²" in printed


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
    for key in ("loo_error", "baseline_error", "C"):
        assert everything[key] == pytest.approx(some[key], rel=1e-9)


def test_rows_without_a_target_are_left_out(folder, tmp_path):
    frame = pd.read_csv(folder / "data.csv")
    frame.loc[::4, "price"] = np.nan
    frame.to_csv(tmp_path / "gaps.csv", index=False)
    report = report_of("fit", tmp_path / "gaps.csv", "-t", "price", "--columns", "age,colour", *SMALL)
    assert report["rows"] == 120
    assert report["notes"] == ["40 rows without a value of 'price' are left out"]


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
    assert report["loo_error"] != train["loo_error"]
    assert "held out rows" in sleek_run(*arguments).stdout


def test_codes_as_categories(folder):
    report = report_of(
        "fit", folder / "data.csv", "-t", "price", "--columns", "age,count", "--categories", "count", *SMALL
    )
    assert report["features"] == 4


def test_a_column_that_counts_the_rows_is_noted(folder, tmp_path):
    pd.read_csv(folder / "data.csv")[["age", "price"]].rename_axis("row").to_csv(tmp_path / "counted.csv")
    notes = report_of("fit", tmp_path / "counted.csv", "-t", "price", *SMALL)["notes"]
    assert notes == ["column 'row' only counts the rows: --drop it unless new rows have it in the same sense"]


def test_influence_is_that_of_the_columns(folder):
    influence = sleek.load(folder / "price.json").metadata["influence"]
    assert 0 < influence["colour"] < influence["age"] < 1.2


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
    assert list(rows[0]) == ["id", "age", "prediction", "score cat", "score dog", "score eel"]
    assert [row["prediction"] for row in rows] == model.predict(X).tolist()
    scores = [[float(row[f"score {label}"]) for label in model.classes] for row in rows]
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
    np.testing.assert_array_equal([float(row["score"]) for row in rows], model.decision_function(X))
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
    (tmp_path / "gap.csv").write_text("x0,x1\n1,2\n1,\n")
    refused = sleek_run("predict", tmp_path / "m.json", tmp_path / "gap.csv", code=2).stderr
    assert "gap.csv, line 3, column 'x1': the model has no fill for missing values" in refused


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


def test_classes_never_seen_are_mistakes(folder, tmp_path):
    (tmp_path / "new.csv").write_text("colour,age,species\nred,30,yak\nred,70,eel\nblue,50,\n")
    scores = report_of("evaluate", folder / "species.json", tmp_path / "new.csv")
    assert scores["rows"] == 2
    assert scores["per_class"][3]["class"] == "yak"
    assert sum(scores["per_class"][3]["predicted"]) == 1
    assert scores["accuracy"] <= 0.5
    assert "1 rows without a value of 'species' are left out" in scores["notes"]
    assert "column 'species': 1 rows hold what the model has never seen, such as 'yak'" in scores["notes"]


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
        "import sys; from sleek.cli import app; sys.argv = ['sleek', 'fit', '--help'];\n"
        "try: app()\nexcept SystemExit: print({'numpy', 'sklearn', 'scipy', 'pyarrow'} & set(sys.modules))"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    assert output.endswith("set()\n")


def test_the_documentation_is_what_happens(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    text = (Path(__file__).parents[1] / "docs" / "cli.md").read_text()
    blocks = re.findall(r"```(python|console)\n(.*?)```", text, flags=re.DOTALL)
    commands = 0
    for language, block in blocks:
        if language == "python":
            exec(compile(block, "docs/cli.md", "exec"), {})
            continue
        for line, documented in re.findall(r"^\$ sleek (.*)\n((?:(?!\$ ).*\n)*)", block, flags=re.MULTILINE):
            arguments = shlex.split(line.partition(" | ")[0])
            result = sleek_run(*arguments, code=2 if documented.startswith("sleek: ") else 0)
            said = result.stdout + result.stderr
            assert words(documented) <= words(said), line
            commands += 1
    assert commands == text.count("$ sleek ") > 5


def words(text):
    """The words of an output: numbers depend on the machine a little."""
    return set(re.findall(r"[a-zA-Zα-ω²_]{2,}", text))
