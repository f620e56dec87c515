"""Two models compared: in words, on the command line, and in a page."""

from dataclasses import replace

import numpy as np
import pytest
from test_report import flats, models, parsed
from typer.testing import CliRunner

from sleek import LowRankLSSVC, LowRankLSSVR
from sleek.cli.commands import app
from sleek.report.comparison import compare, match_units, moves
from sleek.report.html_report import page_of

assert models  # a fixture


def test_the_same_models_are_the_same(models):
    for model in models.values():
        found = compare(model, replace(model, metadata={"other": 1}))
        assert found.identical
        assert found.sentences == ["Both models are the same."]


@pytest.mark.parametrize("name", ["number", "curves"])
def test_an_edit_is_found(models, name):
    model = models[name]
    edited = model.edited(remove=[0], note="why")
    found = compare(model, edited)
    assert not found.identical
    text = str(found)
    assert "1 gone" in text
    assert "0 new" in text
    assert "took out unit 0 (why)" in text
    table, _ = flats()
    difference = model.predict(table) - edited.predict(table)
    assert found.changed == pytest.approx(np.sqrt(np.mean(difference**2)), rel=0.5)


def test_curves_that_moved_are_measured_over_the_training_rows():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(500, 3))
    old, new = (
        LowRankLSSVR(basis="linear", C=1e6, random_state=0).fit(X, X @ np.array(slopes)).model_
        for slopes in ([1.0, 1.0, 0.5], [1.0, 2.0, 0.5])
    )
    found = moves(old.effects(), new.effects())
    assert next(iter(found)) == "x1"
    deviation = np.sqrt(new.effects().variances.sum())
    assert found["x1"] == pytest.approx(X[:, 1].std() / deviation, rel=0.05)
    assert found["x0"] < 0.01
    assert found["x2"] < 0.01


def test_decisions_that_flip_are_counted():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(600, 2))
    old, new = (
        LowRankLSSVC(basis="linear", C=1e4, random_state=0).fit(X, np.where(X[:, 0] > cut, "b", "a")).model_
        for cut in (0.4, 0.6)
    )
    found = compare(old, new)
    flipped = np.mean(old.predict(X) != new.predict(X))
    assert found.changed == pytest.approx(flipped, abs=0.05)
    assert "b → a" in str(found)


def test_units_are_matched():
    model = LowRankLSSVR(5, basis="gaussian_rbf", C=10.0, random_state=0)
    X = np.random.default_rng(0).normal(size=(300, 2))
    one = model.fit(X, np.sin(X[:, 0]) + X[:, 1] ** 2).model_
    part = one.parts[0]
    order = np.array([3, 1, 0, 4, 2])
    arrays = {name: array[order].copy() for name, array in part.units.arrays.items()}
    arrays["centers"][0] += 1e-3  # moved a little
    units = type(part.units)(arrays)
    other = replace(
        one, expansion=type(one.expansion)((type(part)(part.basis, units),)), theta=one.theta[order]
    )
    matched, moved = match_units(one, other, other.effects())
    assert matched == dict(enumerate(order.tolist()))
    assert moved == {0}


def test_other_columns_and_levels_are_named():
    table, rent = flats()
    old = LowRankLSSVR(4, basis="box", C=10.0, random_state=0).fit(table, rent).model_
    other = table.drop(columns="year").assign(garden=np.arange(len(table)) % 3)
    other["town"] = other["town"].replace({"Chur": "Zug"})
    new = LowRankLSSVR(4, basis="box", C=10.0, random_state=0).fit(other, rent).model_
    text = str(compare(old, new))
    assert "It reads garden now." in text
    assert "It no longer reads year." in text
    assert "Column town knows Zug now and no longer knows Chur." in text
    assert "Predictions change by" in text
    classes = LowRankLSSVC(3, basis="box", C=1.0, random_state=0).fit(table, rent > 1500).model_
    assert "predict different things" in str(compare(old, classes))
    bare = replace(new, facts=None, calibration=None)
    assert "Both" not in str(compare(old, bare))


def test_hostile_words_are_told_on_one_line():
    rng = np.random.default_rng(0)
    table = {"\x1b[31ma\n": rng.normal(size=100), "b": rng.normal(size=100)}
    old = LowRankLSSVR(basis="linear", random_state=0).fit(table, table["b"]).model_
    new = LowRankLSSVR(basis="linear", random_state=0).fit({"b": table["b"]}, table["b"]).model_
    text = str(compare(old, new))
    assert "\x1b" not in text
    assert all(line.endswith(".") for line in text.splitlines())


def test_on_the_command_line_exit_codes_are_those_of_diff(tmp_path, models):
    models["number"].save(tmp_path / "old.json")
    models["number"].edited(remove=[1]).save(tmp_path / "new.json")
    old, new = str(tmp_path / "old.json"), str(tmp_path / "new.json")
    run = CliRunner().invoke
    assert run(app, ["diff", old, old]).exit_code == 0
    done = run(app, ["diff", old, new])
    assert (done.exit_code, "1 gone" in done.output) == (1, True)
    done = run(app, ["diff", old, new, "--json"])
    assert (done.exit_code, '"identical": false' in done.output) == (1, True)
    assert run(app, ["diff", old, str(tmp_path / "nothing.json")]).exit_code == 2
    done = run(app, ["report", old, new, "-o", str(tmp_path / "report.html")])
    assert done.exit_code == 0, done.output
    assert "What changed" in (tmp_path / "report.html").read_text("utf-8")


def test_the_page_has_both_curves(models):
    for name, model in models.items():
        other = models["number"] if name == "curves" else model
        page = page_of(model, old=other)
        assert parsed(page).scripts == 2
        assert "What changed" in page
        assert 'class="line before"' in page
        assert page.count('class="was"') == (0 if name == "several" else page.count('height="13"'))
    assert 'class="line before"' not in page_of(models["number"], old=models["classes"])
