"""Sentences for people: counts agree with their nouns."""

import re

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import sleek
from sleek._runtime.counting import are, how_many
from sleek.cli.commands import app
from sleek.model.drift import Drift

NOUNS = "units|rows|features|columns|values|dates|levels|outputs|numbers|files|partitions|categories"
WRONG = re.compile(rf"(?<![\d.,])1 (?:[a-z_]+ )?(?:{NOUNS})\b")


@pytest.mark.parametrize("number", [0, 1, 2, 1000])
def test_one_is_singular_and_all_others_are_plural(number):
    assert how_many(number, "unit").endswith("unit" if number == 1 else "units")
    assert are(number) == ("is" if number == 1 else "are")


def run(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result.stdout + result.stderr


def test_commands_say_one_unit_and_one_row(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=80), "b": ["x", "y"] * 40}).assign(
        t=lambda rows: rows["a"].round(2)
    )
    table.loc[3, "a"] = np.nan
    table.to_csv(tmp_path / "first.csv", index=False)
    one = table[:1].assign(b="z", a=np.nan)
    one.to_csv(tmp_path / "one.csv", index=False)
    one.assign(b=None).to_csv(tmp_path / "none.csv", index=False)
    pd.concat([table[:1], table[1:2].assign(t=np.nan)]).to_csv(tmp_path / "half.csv", index=False)
    table[["a"]].assign(t=table["t"]).dropna().to_csv(tmp_path / "narrow.csv", index=False)
    model, small, alone = (tmp_path / f"{name}.json" for name in ("model", "small", "alone"))
    fit = ("--target", "t", "--basis", "gaussian_rbf", "--units", "1", "--jobs", "1", "--updatable", "-o")
    said = [run("fit", tmp_path / "first.csv", *fit, model), run("fit", tmp_path / "narrow.csv", *fit, small)]
    said += [run("inspect", tmp_path / "one.csv"), run("show", model), run("show", small)]
    for name in ("one", "none"):
        said += [
            run("predict", model, tmp_path / f"{name}.csv"),
            run("evaluate", model, tmp_path / f"{name}.csv"),
        ]
    said += [run("evaluate", model, tmp_path / "half.csv"), run("update", model, tmp_path / "half.csv")]
    said += [run("update", model, tmp_path / "one.csv", "--alone", "-o", alone)]
    said += [run("merge", model, alone, "-o", tmp_path / "both.json"), repr(sleek.load(small))]
    found = [line for text in said for line in text.splitlines() if WRONG.search(line)]
    assert not found
    assert any("1 missing value " in text for text in said)


def test_drift_of_one_row():
    assert "1 new row has an error" in str(Drift(0.1, 0.2, 1.0).after(np.zeros(1)))
