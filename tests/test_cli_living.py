"""`sleek update` and `sleek merge`: what the library does, in files."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import sleek
from sleek.cli.commands import app

SMALL = ("--units", "4", "--basis", "gaussian_rbf", "--jobs", "1")


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, (result.stdout, result.stderr, result.exception)
    return result


def flats(n, seed, dearer=0.0):
    rng = np.random.default_rng(seed)
    area, town = rng.gamma(9, 9, n).round(), rng.choice(["Aarau", "Basel"], n)
    rent = (400 + 14 * area + 300 * (town == "Basel") + rng.normal(scale=80, size=n) + dearer).round()
    kind = np.where(rent > 1600, "dear", "cheap")
    area[rng.random(n) < 0.05] = np.nan
    return pd.DataFrame({"area": area, "town": town, "w": rng.integers(1, 4, n), "rent": rent, "kind": kind})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("living")
    for name, (n, seed, dearer) in {
        "first": (300, 0, 0.0),
        "more": (100, 1, 0.0),
        "dear": (150, 2, 300.0),
        "south": (120, 3, 0.0),
    }.items():
        flats(n, seed, dearer).to_csv(folder / f"{name}.csv", index=False)
    pd.concat([flats(300, 0), flats(100, 1)]).to_csv(folder / "both.csv", index=False)
    for target, other in (("rent", "kind"), ("kind", "rent")):
        fit = ("fit", folder / "first.csv", "-t", target, "--drop", f"w,{other}", *SMALL)
        run(*fit, "--updatable", "-o", folder / f"{target}.json")
        run(*fit, "-o", folder / f"{target}_plain.json")
    return folder


@pytest.mark.parametrize("target", ["rent", "kind"])
def test_an_update_is_that_of_the_library(folder, tmp_path, target):
    out = tmp_path / "m.json"
    report = json.loads(
        run("update", folder / f"{target}.json", folder / "more.csv", "-o", out, "--json").stdout
    )
    assert (report["rows"], report["all_rows"], report["drift"]["alarm"]) == (100, 400, False)
    more = pd.read_csv(folder / "more.csv")
    expected = sleek.load(folder / f"{target}.json").partial_fit(more, more[target])
    np.testing.assert_allclose(sleek.load(out).theta, expected.theta, rtol=1e-12)
    assert sleek.load(out).metadata["target"] == target


def test_the_file_itself_is_updated_once_and_forgets(folder, tmp_path):
    model = tmp_path / "m.json"
    shutil.copy(folder / "rent.json", model)
    said = run("update", model, folder / "more.csv").stdout
    assert "100 added, 400 in all" in said
    assert "no sign of it: RMSE" in said
    assert "came into this model before" in run("update", model, folder / "more.csv", code=2).stderr
    assert sleek.load(model).memory.n_rows == 400
    assert "100 taken out, 300 in all" in run("update", model, folder / "more.csv", "--forget").stdout
    first, back = sleek.load(folder / "rent.json"), sleek.load(model)
    np.testing.assert_allclose(back.theta, first.theta, rtol=1e-9)
    run("update", model, folder / "more.csv")  # gone, so that it may come back
    run("update", model, folder / "more.csv", "--again")
    assert sleek.load(model).memory.n_rows == 500


@pytest.mark.parametrize("target", ["rent", "kind"])
def test_the_rows_of_the_fit_are_known(folder, tmp_path, target):
    flats(300, 0).sample(frac=1.0, random_state=1).to_csv(tmp_path / "shuffled.csv", index=False)
    for path in (folder / "first.csv", tmp_path / "shuffled.csv"):
        said = run("update", folder / f"{target}.json", path, "-o", tmp_path / "m.json", code=2).stderr
        assert "came into this model before" in " ".join(said.split())
    run("update", folder / f"{target}.json", folder / "first.csv", "--again", "-o", tmp_path / "m.json")
    assert sleek.load(tmp_path / "m.json").memory.n_rows == 600


def test_weights_and_fading(folder, tmp_path):
    out, more = tmp_path / "m.json", pd.read_csv(folder / "more.csv")
    run("update", folder / "rent.json", folder / "more.csv", "--weight", "w", "-o", out)
    expected = sleek.load(folder / "rent.json").partial_fit(more, more["rent"], more["w"])
    np.testing.assert_allclose(sleek.load(out).theta, expected.theta, rtol=1e-12)
    run("update", folder / "rent.json", folder / "more.csv", "--forgetting-factor", "0.99", "-o", out)
    expected = sleek.load(folder / "rent.json").partial_fit(more, more["rent"], forgetting_factor=0.99)
    np.testing.assert_allclose(sleek.load(out).theta, expected.theta, rtol=1e-12)


def test_drift_is_said(folder, tmp_path):
    said = run("update", folder / "rent.json", folder / "dear.csv", "-o", tmp_path / "m.json").stdout
    assert "ALARM: RMSE" in said
    assert "Fit again" in said


def test_folders_are_read_in_pieces(folder, tmp_path):
    (tmp_path / "rows").mkdir()
    more = pd.read_csv(folder / "more.csv")
    more[:60].to_parquet(tmp_path / "rows" / "a.parquet")
    more[60:].to_parquet(tmp_path / "rows" / "b.parquet")
    for target in ("rent", "kind"):
        run("update", folder / f"{target}.json", tmp_path / "rows", "-o", tmp_path / "pieces.json")
        run("update", folder / f"{target}.json", folder / "more.csv", "-o", tmp_path / "whole.json")
        pieces, whole = (sleek.load(tmp_path / f"{name}.json") for name in ("pieces", "whole"))
        np.testing.assert_array_equal(pieces.theta, whole.theta)


def test_places_are_merged(folder, tmp_path):
    south, out = tmp_path / "south.json", tmp_path / "all.json"
    run("update", folder / "rent_plain.json", folder / "south.csv", "--alone", "-o", south)
    report = json.loads(run("merge", folder / "rent.json", south, "-o", out, "--json").stdout)
    assert report["all_rows"] == 420
    rows = pd.read_csv(folder / "south.csv")
    expected = sleek.load(folder / "rent.json").partial_fit(rows, rows["rent"])
    np.testing.assert_allclose(sleek.load(out).theta, expected.theta, rtol=1e-9)
    said = run("merge", folder / "rent.json", south, "-o", out).stdout
    assert "120 rows" in "".join(said.split("\n"))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("update rent_plain.json more.csv", "has no sums over rows with it"),
        ("update rent.json more.csv -o nowhere/m.json", "there is no folder"),
        ("update rent.json more.csv -o new.csv", "named like a table"),
        ("update rent.json gone.csv", "gone.csv does not exist"),
        ("update rent.json more.csv -t nope", "has no column 'nope'"),
        ("update rent.json more.csv --forgetting-factor 0", "--forgetting-factor"),
        ("update rent.json more.csv --forget --forgetting-factor 0.9", "not with --forget"),
        ("update rent.json more.csv --alone", "name its file with -o"),
        ("update rent.json first.csv --forget", "something must be left"),
        ("update kind.json strange.csv", "The class 'odd' is none of the model's"),
        ("update - more.csv", "name one with -o"),
        ("update - - -o x.json", "both be standard input"),
        ("merge rent.json -o x.json", "at least two models"),
        ("merge rent.json kind.json -o x.json", "they have different units"),
        ("merge rent.json rent.json -o x.json", "would count twice"),
        ("merge rent.json rent_plain.json -o x.json", "rent_plain.json: This model has no sums"),
        ("merge rent.json kind.json -o kind.json", "would be overwritten"),
        ("merge rent.json more.csv -o x.json", "more.csv is not a model"),
    ],
    ids=lambda value: value if value[:5] in ("updat", "merge") else "",
)
def test_what_cannot_be_done_is_said_and_nothing_written(folder, monkeypatch, arguments, sentence):
    monkeypatch.chdir(folder)
    flats(2, 0).assign(kind="odd").to_csv("strange.csv", index=False)
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    result = run(*arguments.split(), code=2)
    assert sentence in " ".join(result.stderr.split())
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


def test_updatable_classes_are_not_log_odds(tmp_path):
    flats(1100, 5).to_csv(tmp_path / "many.csv", index=False)
    fit = ("fit", tmp_path / "many.csv", "-t", "kind", "--drop", "w,rent", *SMALL, "--updatable")
    said = run(*fit, "-o", tmp_path / "m.json").stdout
    assert "exact: sums over rows determine the weights" in said
    assert sleek.load(tmp_path / "m.json").outputs.loss.quadratic


@pytest.mark.parametrize(("target", "loss"), [("kind", "log_loss"), ("rent", "poisson")])
def test_models_of_other_losses_go_on(folder, tmp_path, target, loss):
    other = "kind" if target == "rent" else "rent"
    model, south, out = (tmp_path / f"{name}.json" for name in ("m", "south", "all"))
    fit = ("fit", folder / "first.csv", "-t", target, "--drop", f"w,{other}", *SMALL, "--loss", loss)
    assert "close: new rows count as they are" in run(*fit, "--updatable", "-o", model).stdout
    first, more = sleek.load(model), pd.read_csv(folder / "more.csv")
    result = run("update", model, folder / "more.csv")
    said, gaps = result.stdout, more["area"].isna().sum()
    assert f"{gaps} missing values" in result.stderr  # counted once, in however many passes
    assert "100 added, 400 in all" in said
    assert ("mean deviance" if target == "rent" else "% wrong") in said
    expected = first.partial_fit(more, more[target])
    np.testing.assert_allclose(sleek.load(model).theta, expected.theta, rtol=1e-6)
    run("update", model, folder / "more.csv", code=2)  # it came in before
    run("update", model, folder / "more.csv", "--forget", "-o", out)
    np.testing.assert_allclose(sleek.load(out).theta, first.theta, rtol=1e-4, atol=1e-6)
    run("update", model, folder / "south.csv", "--alone", "-o", south)
    run("merge", model, south, "-o", out)
    assert sleek.load(out).memory.n_rows == 520


def test_quantiles_are_not_updatable(folder, tmp_path):
    fit = ("fit", folder / "first.csv", "-t", "rent", "--loss", "quantile", "--updatable")
    assert "--updatable does not go with --loss quantile" in " ".join(
        run(*fit, "-o", tmp_path / "m.json", code=2).stderr.split()
    )
    assert not (tmp_path / "m.json").exists()
