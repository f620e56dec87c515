"""Models and explanations on the screen say what the numbers say."""

import io
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

from sleek import (
    Box,
    ClassOutputs,
    Expansion,
    GaussianRBF,
    KernelModel,
    LowRankLSSVC,
    LowRankLSSVR,
    NumberOutputs,
    Part,
    RobustRBF,
    Units,
)
from sleek.bases.box import from_sides
from sleek.cli.commands import app
from sleek.cli.show import show_model
from sleek.model.facts import ExpectedError, Facts
from sleek.tables.columns import CategoryColumn, DateColumn, LevelColumn, NumberColumn
from sleek.tables.inputs import Inputs

INPUTS = Inputs((NumberColumn("age", 40.0), CategoryColumn("colour", ("blue", "green", "red"))))


def facts_of(n_outputs=1, influence=(0.1, 0.9)):
    """What was known of four features: an age, and three colours."""
    return Facts(
        n_rows=100,
        low=np.array([20.0, 0, 0, 0]),
        high=np.array([70.0, 1, 1, 1]),
        deviation=np.array([10.0, 0.5, 0.5, 0.5]),
        influence=np.array(influence),
        variance=np.full(n_outputs, 4.0),
        expected=ExpectedError(0.16, 0.02, "refitted folds"),
    )


def units_of(arrays):
    return Units({name: np.array(array, dtype=float) for name, array in arrays.items()})


def model_of(*parts, theta=((2.0,), (-1.5,)), b=(0.25,), classes=None, facts=True, target="price"):
    """A model of pairs of a basis and the arrays of its units."""
    theta, b = np.array(theta), np.array(b)
    outputs = NumberOutputs(np.zeros(len(b)), np.ones(len(b)), len(b) == 1)
    return KernelModel(
        expansion=Expansion(tuple(Part(basis, units_of(arrays)) for basis, arrays in parts)),
        theta=theta,
        b=b,
        C=1.0,
        outputs=outputs if classes is None else ClassOutputs(np.array(classes)),
        feature_names=INPUTS.feature_names,
        inputs=INPUTS,
        facts=facts_of(len(b)) if facts else None,
        metadata={"target": target} if target else {},
    )


GAUSSIAN = {
    "centers": [[30, 0.9, 0.1, 0.0], [55, 0.5, 0.5, 0.5]],
    "shapes": [[0.01, 3, 3, 3], [0, 1e-3, 1e-3, 1e-3]],
}


def printed(model, width=80, **options):
    stream = io.StringIO()
    show_model(model, Console(width=width, markup=False, highlight=False, file=stream), **options)
    return stream.getvalue()


@pytest.mark.parametrize("basis", [GaussianRBF(), RobustRBF()], ids=lambda basis: basis.name)
def test_a_unit_is_half_as_strong_at_its_width(basis):
    units = {"centers": np.array([[30.0, 0, 0, 0]]), "shapes": np.array([[0.03, 0, 0, 0]])}
    text = model_of((basis, units), theta=[[1.0]]).in_words(everything=True)
    center, width = map(float, re.search(r"age near (\S+) ± (\S+)", text).groups())
    assert center == 30.0
    at_half = np.array([[30.0 + width, 0, 0, 0]])
    np.testing.assert_allclose(basis.features(at_half, Units(units)), 0.5, rtol=1e-12)


def test_the_whole_text():
    lines = printed(model_of((GaussianRBF(), GAUSSIAN)), 120).splitlines()
    assert lines[0] == "price is a number, from age and colour: 2 gaussian_rbf units, learnt from 100 rows"
    assert lines[1] == "expected error RMSE 0.4 ± 0.025, R² 0.960 (refitted folds)"
    assert lines[3].startswith("Its file was written by an older version of sleek")
    assert lines[6:10] == [
        "price is the sum of these lines:",
        "  +0.25",
        "  +1.88 where age near 30 ± 8.33 and colour blue",
        "  -1.5 everywhere",
    ]


def test_heads_of_classifiers():
    two = model_of((GaussianRBF(), GAUSSIAN), classes=["no", "yes"])
    assert "price is yes where the sum of these lines > 0, else no" in printed(two, 120)
    theta = [[1.0, -2.0, 0.5], [0.1, 0.2, -0.3]]
    three = model_of((GaussianRBF(), GAUSSIAN), theta=theta, b=[0.1, 0.2, 0.3], classes=["a", "b", "c"])
    text = printed(three, 120)
    assert "price is a, b or c, from age and colour" in text
    assert (
        "price is the class for which the sum of these lines is largest:\n  a +0.1, b +0.2, c +0.3\n" in text
    )
    assert re.search(r"a \+0\.942, b -1\.88, c \+0\.471: where age near 30", text)


def test_on_narrow_screens_lines_go_on_below():
    text = printed(model_of((GaussianRBF(), GAUSSIAN)), 30)
    assert max(len(line) for line in text.splitlines() if "in_words" not in line) <= 30
    assert "age near 30 ± 8.33 and colour blue" in " ".join(text.split())


def plain_model(names, facts=None):
    """One bump in features that are numbers."""
    d = len(names)
    inputs = Inputs(tuple(NumberColumn(name, 0.0) for name in names))
    units = Units({"centers": np.zeros((1, d)), "shapes": np.ones((1, d))})
    return KernelModel(
        expansion=Expansion.of(GaussianRBF(), units),
        theta=np.ones((1, 1)),
        b=np.zeros(1),
        C=1.0,
        outputs=NumberOutputs(np.zeros(1), np.ones(1)),
        feature_names=tuple(names),
        inputs=inputs,
        facts=facts,
    )


def test_many_columns_are_counted():
    text = printed(plain_model([f"column_{number}" for number in range(9)]))
    assert "from column_0, column_1, column_2, column_3, column_4, column_5 and 3 more columns" in " ".join(
        text.split()
    )


def test_without_facts_there_is_the_model_itself():
    text = printed(model_of((GaussianRBF(), GAUSSIAN), facts=False, target=None))
    assert "expected" not in text
    assert text.startswith("y is a number")
    assert "y is the sum of these lines" in text


BOXES = from_sides(
    lows=[[30, 0.5, 0, 0], [0, 0, 0, 0]],
    highs=[[50, 1, 1, 1], [90, 1, 1, 1]],
    below=[[0.5, 9, 0, 0], [0, 0, 0, 0]],
    above=[[0.1, 0, 0, 0], [0.5, 0, 0, 0]],
).arrays


def test_boxes_are_rules():
    text = printed(model_of((Box(), BOXES)), 120)
    assert "  +2 where age from 30 ± 1.39 to 50 ± 6.93 and colour blue" in text
    assert "  -1.5 everywhere" in text  # its sides are beyond the data
    without = printed(model_of((Box(), BOXES), facts=False), 120)
    assert "age from 30" in without
    assert "age below 90" in without


def test_units_of_all_parts_stand_together_the_heaviest_first():
    theta = [[2.0], [-1.5], [0.5], [3.0]]
    model = model_of((Box(), BOXES), (GaussianRBF(), GAUSSIAN), theta=theta)
    text = printed(model, 120)
    assert text.startswith("price is a number, from age and colour: 2 box units + 2 gaussian_rbf units")
    assert re.findall(r"^  ([+-]\S+) ", text, flags=re.MULTILINE) == ["+3", "+2", "-1.5", "+0.471"]


def test_names_cannot_speak_to_the_terminal():
    model = plain_model(["a\x1b[31mred[bold]"])
    text = printed(replace(model, metadata={"target": "\x1b[32m"}))
    assert "\x1b" not in text
    assert "[bold]" in text


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("show")
    model_of((GaussianRBF(), GAUSSIAN)).save(folder / "m.json")
    theta = [[1.0, -2.0, 0.5], [0.1, 0.2, -0.3]]
    three = model_of((GaussianRBF(), GAUSSIAN), theta=theta, b=[0.1, 0.2, 0.3], classes=["a", "b", "c"])
    three.save(folder / "three.json")
    (folder / "data.csv").write_text("colour,age\nred,33\nblue,31\n,\n")
    return folder


def run(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.stderr
    return result.stdout


def test_json_holds_all_numbers(saved):
    found = json.loads(run("show", saved / "m.json", "--json"))
    units = {name: np.array(array, float).tolist() for name, array in GAUSSIAN.items()}
    assert found["parts"] == [{"basis": "gaussian_rbf", "units": units}]
    assert (found["theta"], found["b"]) == ([[2.0], [-1.5]], [0.25])
    assert found["columns"] == ["age", "colour"]
    assert found["features"] == ["age", "colour=blue", "colour=green", "colour=red"]
    assert found["outputs"]["kind"] == "numbers"
    assert found["facts"]["influence"] == [0.1, 0.9]
    assert found["metadata"] == {"target": "price"}


def test_a_row_of_a_file_is_the_same_as_its_values(saved):
    by_file = run("explain", saved / "m.json", f"{saved / 'data.csv'}:2")
    assert by_file == run("explain", saved / "m.json", "--row", "age=31,colour=blue")
    assert run("explain", saved / "m.json", f"{saved / 'data.csv'}:3") == run(
        "explain", saved / "m.json", "--row", ""
    )


def test_an_explanation_adds_up(saved):
    model = model_of((GaussianRBF(), GAUSSIAN))
    x = INPUTS.transform({"age": [31], "colour": ["blue"]})
    found = json.loads(run("explain", saved / "m.json", "--row", "age=31,colour=blue", "--json"))
    assert found["prediction"] == pytest.approx(model.predict(x)[0])
    assert np.sum(found["contributions"]) + found["b"][0] == pytest.approx(found["prediction"])
    assert found["features"] == {"age": 31, "colour=blue": 1, "colour=green": 0, "colour=red": 0}
    assert found["effects"] is None  # it does not know how columns are distributed
    text = run("explain", saved / "m.json", "--row", "age=31,colour=blue")
    slope = (model.predict(x + np.array([[1e-6, 0, 0, 0]])) - model.predict(x))[0] / 1e-6
    assert re.search(rf"age +31 +{slope:.3g}", text)
    assert re.search(rf"sum +\+{found['prediction']:.3g}", text)


def test_of_several_classes_winner_and_runner_up_are_explained(saved):
    text = run("explain", saved / "three.json", "--row", "age=31,colour=blue")
    assert text.startswith("prediction: a\n")
    assert re.search(r"value +for a +for c", text)


def test_one_row_is_named_in_one_way(saved):
    for arguments in ([], [f"{saved / 'data.csv'}:2", "--row", "age=31"]):
        result = CliRunner().invoke(app, ["explain", str(saved / "m.json"), *arguments])
        assert result.exit_code == 2
        assert "Name one row" in " ".join(result.stderr.split())


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A classifier that knows the distributions of its columns, and its rows."""
    rng = np.random.default_rng(0)
    table = {
        "age": rng.integers(18, 80, 300).astype(float),
        "colour": rng.choice(["blue", "green", "red"], 300).tolist(),
        "noise": rng.normal(size=300),
    }
    labels = np.where(table["age"] + 20 * (np.array(table["colour"]) == "red") > 55, "yes", "no")
    path = tmp_path_factory.mktemp("explain") / "m.json"
    model = LowRankLSSVC(8, basis="gaussian_rbf", C=100.0, random_state=0).fit(table, labels).model_
    model.save(path, metadata={"target": "bought"})
    return path, model, table


def test_effects_lead_an_explanation_and_add_up(fitted):
    path, model, _ = fitted
    row = {"age": 60.0, "colour": "red", "noise": 0.0}
    found = json.loads(run("explain", path, "--row", "age=60,colour=red,noise=0", "--json"))
    total = np.array(found["effects"]["mean"]) + np.sum(
        [e["effect"] for e in found["effects"]["values"]], axis=0
    )
    np.testing.assert_allclose(total, model.explain(row).outputs[0], atol=1e-9)
    assert found["effects"]["in_words"]["age"] == "age 60"
    assert found["reasons"][0]["column"] == "age"
    assert found["probabilities"]["yes"] > 0.5
    assert found["familiar"]["unusual"] == []
    text = run("explain", path, "--row", "age=60,colour=red,noise=0")
    assert re.match(
        r"prediction: yes \(probability \d+\.\d %\)\nbought is yes where the sum > 0, else no\n", text
    )
    assert re.search(r"on average +[+-]\S+ *\n", text)
    assert re.search(r"age 60 +\+\S+ +█+", text)
    assert "most of all because of: age 60" in text
    assert "the smallest change: no instead of yes if " in " ".join(text.split())
    assert "by units" not in text
    assert "by units" in run("explain", path, "--row", "age=60,colour=red,noise=0", "--all")


def test_more_units_than_fit_are_summed_up(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    model = LowRankLSSVR(20, basis="gaussian_rbf", C=1.0, random_state=0).fit(X, X[:, 0]).model_
    model.save(tmp_path / "m.json")
    text = run("explain", tmp_path / "m.json", "--row", "x0=1,x1=0", "--all")
    numbers = [
        float(line.split()[-1 if "█" not in line else -2])
        for line in text.splitlines()
        if "unit " in line[:5]
    ]
    more = float(re.search(r"8 more +(\S+)", text)[1])
    b = float(re.search(r"\nb +(\S+)", text)[1])
    assert len(numbers) == 12
    assert sum(numbers) + more + b == pytest.approx(model.predict([[1, 0]])[0], abs=0.02)


def test_a_linear_model_is_a_slope_for_each_column():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2)).round(2)
    frame = {"age": X[:, 0], "pay": X[:, 1]}
    model = LowRankLSSVR(basis="linear", C=1e12).fit(frame, 3.0 + 2.0 * X[:, 0] - 0.5 * X[:, 1]).model_
    text = printed(model, 200)
    assert re.search(r"y is the sum of these lines:\n  \+3\n  age: \+2 for each\n  pay: -0.5 for each", text)


def test_gaps_dates_and_learnt_levels_are_shown_in_their_own_words():
    inputs = Inputs(
        (
            NumberColumn("age", 40.0, indicator=True),
            DateColumn("built", ("days", "weekday"), 0.0),
            LevelColumn("zip", ("10115", "80331"), ((0.5,), (-0.5,)), (0.0,), (0.1,)),
        )
    )
    low, high = np.array([[0.0, -1.0, 7000.0, 0.0, 0.4]]), np.array([[30.0, 0.0, 9000.0, 6.0, 1.0]])
    sharp = np.array([[1.0, 5.0, 0.001, 0.0, 9.0]])
    boxes = [from_sides(low, high, *pair) for pair in ((0 * sharp, sharp), (sharp, 0 * sharp))]
    facts = Facts(
        n_rows=100,
        low=np.array([0.0, 0, 0, 0, -0.5]),
        high=np.array([90.0, 1, 20_000, 6, 0.5]),
        deviation=np.array([20.0, 0.4, 5000, 2, 0.5]),
        influence=np.array([0.6, 0.3, 0.1]),
        variance=np.ones(1),
        expected=ExpectedError(0.16, 0.02, "refitted folds"),
    )
    model = KernelModel(
        expansion=Expansion(tuple(Part(Box(), units) for units in boxes)),
        theta=np.array([[2.0], [1.0]]),
        b=np.zeros(1),
        C=1.0,
        outputs=NumberOutputs(np.zeros(1), np.ones(1)),
        feature_names=inputs.feature_names,
        inputs=inputs,
        facts=facts,
    )
    text = " ".join(model.in_words(width=400, everything=True).split())
    assert "age below 30 ± 0.693147180559945" in text
    assert "age known (missing ×0.00673794699908547)" in text
    assert "built below 1994-08-23 ± 693.147180559945 days" in text
    assert "built above 1989-03-02 ± 693.147180559945 days" in text
    assert re.search(r"zip 10115 \(\(missing\) ×0\.\d+, \(another\) ×0\.\d+, 80331 ×0\.\d+\)", text)
