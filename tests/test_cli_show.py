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
    LowRankLSSVR,
    NumberOutputs,
    Part,
    RobustRBF,
    Sigmoidal,
    Simplex,
    Units,
)
from sleek.bases.box import from_sides
from sleek.cli.commands import app
from sleek.cli.explaining import show_explanation
from sleek.cli.show import show_model
from sleek.model.facts import ExpectedError, Facts
from sleek.report.units import View, columns_of, half_distance
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


def cells(model, name):
    """What the units of the only part say about a column."""
    (part,) = model.parts
    columns = columns_of(part.basis, part.units, View.of(model))
    return next(column.cells for column in columns if column.heading == name)


GAUSSIAN = {
    "centers": [[30, 0.9, 0.1, 0.0], [55, 0.5, 0.5, 0.5]],
    "shapes": [[0.01, 3, 3, 3], [0, 1e-3, 1e-3, 1e-3]],
}
SIGMOIDAL = {"slopes": [[0.2, 1.0, 0.0, -1.0], [1e-4, 0.0, 0.01, 0.0]], "offsets": [-6.0, 0.5]}


def printed(model, width=80, **options):
    stream = io.StringIO()
    show_model(model, Console(width=width, markup=False, highlight=False, file=stream), **options)
    return stream.getvalue()


@pytest.mark.parametrize("basis", [GaussianRBF(), RobustRBF(), Simplex()], ids=lambda basis: basis.name)
def test_a_unit_is_half_as_strong_at_its_width(basis):
    units = {"centers": np.array([[30.0, 0, 0, 0]]), "shapes": np.array([[0.03, 0, 0, 0]])}
    (cell,) = cells(model_of((basis, units), theta=[[1.0]]), "age")
    center, width = map(float, cell.split(" ± "))
    exact = (half_distance(basis) / 0.03) ** (1 / basis.power)
    assert (center, width) == (30.0, pytest.approx(exact, rel=5e-3))
    at_half = np.array([[30.0 + exact, 0, 0, 0]])
    np.testing.assert_allclose(basis.features(at_half, Units(units)), 0.5, rtol=1e-9)


def test_cells_of_distances():
    model = model_of((GaussianRBF(), GAUSSIAN))
    assert cells(model, "age") == ["30 ± 8.33", "·"]
    assert cells(model, "colour") == ["blue", "·"]


def test_levels_are_those_at_which_the_unit_is_strong():
    basis, units = GaussianRBF(), {"centers": [[0, 0.7, 0.6, -0.5]], "shapes": [[0, 1, 1, 1]]}
    model = model_of((basis, units), theta=[[1.0]])
    values = model.features(np.array([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]))[:, 0]
    assert (values / values.max() >= 0.5).tolist() == [True, True, False]
    assert cells(model, "colour") == ["not red"]


def test_cells_of_slopes():
    model = model_of((Sigmoidal(), SIGMOIDAL))
    assert cells(model, "age") == ["+0.2", "·"]
    assert cells(model, "colour") == ["blue > red 2", "·"]
    text = printed(model)
    assert re.search(r"offsets +colour +age", text)
    assert "unit = tanh(z), z = offsets + Σ slopes·x; slopes in the columns" in " ".join(text.split())


def test_the_whole_table():
    lines = [line.rstrip() for line in printed(model_of((GaussianRBF(), GAUSSIAN))).splitlines()]
    assert lines[0] == "2 gaussian_rbf units: price = 0.25 + Σ weight · unit"
    assert lines[1] == "expected error RMSE 0.4 ± 0.025, R² 0.960 (refitted folds)"
    assert lines[3].split() == ["unit", "weight", "colour", "age"]
    assert lines[4].split() == ["0", "+2", "blue", "30", "±", "8.33"]
    assert lines[5].split() == ["1", "-1.5", "·", "·"]


def test_heads_of_classifiers():
    two = model_of((GaussianRBF(), GAUSSIAN), classes=["no", "yes"])
    assert "price is yes where 0.25 + Σ weight · unit > 0, else no" in printed(two, 120)
    theta = [[1.0, -2.0, 0.5], [0.1, 0.2, -0.3]]
    three = model_of((GaussianRBF(), GAUSSIAN), theta=theta, b=[0.1, 0.2, 0.3], classes=["a", "b", "c"])
    text = printed(three, 120)
    assert "the class with the largest b + Σ weight · unit; b: a +0.1, b +0.2, c +0.3" in text
    assert re.search(r"0 +a \+1 +b -2 ", text)
    assert re.search(r"1 +b \+0.2 +c -0.3 ", text)


def test_on_narrow_screens_columns_go_on_below():
    lines = printed(model_of((GaussianRBF(), GAUSSIAN)), 30).splitlines()
    heads = [line.split() for line in lines if line.startswith("unit")]
    assert heads[:2] == [["unit", "weight", "colour"], ["unit", "age"]]


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


def test_columns_of_little_influence_are_shown_on_request():
    names = [f"column_{number}" for number in range(9)]
    none, ones = np.zeros(9), np.ones(9)
    facts = Facts(10, none, ones, ones, np.arange(9.0), np.ones(1), ExpectedError(1.0, 0.1, "leave-one-out"))
    model = plain_model(names, facts)
    head, rest = printed(model, 80).split("centre")
    shown = re.findall(r"column_\d", head)
    assert shown == names[::-1][: len(shown)]
    assert 4 <= len(shown) < 9
    assert "not shown without --all: " + ", ".join(names[::-1][len(shown) :]) in " ".join(rest.split())
    table, influences = printed(model, 80, everything=True).rsplit("influence:", 1)
    assert re.findall(r"column_\d", table) == re.findall(r"column_\d", influences) == names[::-1]


def test_without_facts_columns_are_in_their_own_order():
    text = printed(model_of((GaussianRBF(), GAUSSIAN), facts=False, target=None))
    assert re.search(r"unit +weight +age +colour", text)
    assert "influence" not in text
    assert "expected" not in text
    assert text.startswith("2 gaussian_rbf units: y = ")


BOXES = from_sides(
    lows=[[30, 0.5, 0, 0], [0, 0, 0, 0]],
    highs=[[50, 1, 1, 1], [90, 1, 1, 1]],
    below=[[0.5, 9, 0, 0], [0, 0, 0, 0]],
    above=[[0.1, 0, 0, 0], [0.5, 0, 0, 0]],
).arrays


def test_boxes_are_rules():
    lines = [line.rstrip() for line in printed(model_of((Box(), BOXES)), 120).splitlines()]
    assert lines[3].split() == ["unit", "weight", "where"]
    assert lines[4] == "0     +2      colour: blue, age from 30 ± 1 to 50 ± 7"
    assert lines[5] == "1     -1.5    everywhere"  # its sides are beyond the data
    without = printed(model_of((Box(), BOXES), facts=False), 120)
    assert "age from 30" in without
    assert "age below 90" in without


def test_every_part_has_a_table_and_units_count_through():
    theta = [[2.0], [-1.5], [0.5], [3.0]]
    model = model_of((Box(), BOXES), (GaussianRBF(), GAUSSIAN), theta=theta)
    text = printed(model, 120)
    assert text.startswith("2 box units + 2 gaussian_rbf units: price = 0.25 + Σ weight · unit\n")
    boxes, bumps = text.split("\n2 gaussian_rbf units\n")
    assert re.findall(r"^(\d) +([+-]\S+) ", boxes, flags=re.MULTILINE) == [("0", "+2"), ("1", "-1.5")]
    assert re.findall(r"^(\d) +([+-]\S+) ", bumps, flags=re.MULTILINE) == [("3", "+3"), ("2", "+0.5")]
    assert text.count("levels: ") == 1


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
    by_file = run("show", saved / "m.json", "--explain", f"{saved / 'data.csv'}:2")
    assert by_file == run("show", saved / "m.json", "--row", "age=31,colour=blue")
    assert run("show", saved / "m.json", "--explain", f"{saved / 'data.csv'}:3") == run(
        "show", saved / "m.json", "--row", ""
    )


def test_an_explanation_adds_up(saved):
    model = model_of((GaussianRBF(), GAUSSIAN))
    x = INPUTS.transform({"age": [31], "colour": ["blue"]})
    found = json.loads(run("show", saved / "m.json", "--row", "age=31,colour=blue", "--json"))
    assert found["prediction"] == pytest.approx(model.predict(x)[0])
    assert np.sum(found["contributions"]) + found["b"][0] == pytest.approx(found["prediction"])
    assert found["features"] == {"age": 31, "colour=blue": 1, "colour=green": 0, "colour=red": 0}
    text = run("show", saved / "m.json", "--row", "age=31,colour=blue")
    red = model.predict(INPUTS.transform({"age": [31], "colour": ["red"]}))[0] - model.predict(x)[0]
    assert re.search(rf"colour +blue .*red {red:.3g}", text)
    slope = (model.predict(x + np.array([[1e-6, 0, 0, 0]])) - model.predict(x))[0] / 1e-6
    assert re.search(rf"age +31 +{slope:.3g} per unit", text)
    assert re.search(rf"sum +\+{found['prediction']:.3g}", text)


def test_of_several_classes_winner_and_runner_up_are_explained(saved):
    text = run("show", saved / "three.json", "--row", "age=31,colour=blue")
    assert text.startswith("prediction: a\n")
    assert re.search(r"value +for a +for c", text)


def test_more_units_than_fit_are_summed_up(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    model = LowRankLSSVR(20, basis="gaussian_rbf", C=1.0, random_state=0).fit(X, X[:, 0]).model_
    model.save(tmp_path / "m.json")
    text = run("show", tmp_path / "m.json", "--row", "x0=1,x1=0")
    numbers = [
        float(line.split()[-1 if "█" not in line else -2])
        for line in text.splitlines()
        if "unit " in line[:5]
    ]
    more = float(re.search(r"8 more +(\S+)", text)[1])
    b = float(re.search(r"\nb +(\S+)", text)[1])
    assert len(numbers) == 12
    assert sum(numbers) + more + b == pytest.approx(model.predict([[1, 0]])[0], abs=0.02)


def test_a_linear_model_is_one_equation(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    frame = {"age": X[:, 0], "pay": X[:, 1]}
    model = LowRankLSSVR(basis="linear", C=1e6).fit(frame, 3.0 + 2.0 * X[:, 0] - 0.5 * X[:, 1]).model_
    text = Console(file=io.StringIO(), width=200)
    show_model(model, text)
    assert text.file.getvalue().splitlines()[0] == "a linear model: y = 3 + 2·age - 0.5·pay"


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
    text = " ".join(printed(model, width=200).split())
    assert "age below 30" in text
    assert "age is missing: no" in text
    assert "built below 1994-08-23 ± 700 days" in text
    assert "built above 1989-03-02 ± 700 days" in text
    assert "zip: 10115" in text
    assert "influence: age 60 %, built 30 %, zip 10 %" in text
    row = {"age": [None], "built": ["1990-01-01"], "zip": ["80331"]}
    stream = io.StringIO()
    show_explanation(model, model.explain(row), Console(width=200, file=stream))
    text = " ".join(stream.getvalue().split())
    assert re.search(r"age is missing yes no [+-]", text)
    assert re.search(r"built 1990-01-01 \S+ per day", text)
    assert re.search(r"zip 80331 10115 \+", text)
