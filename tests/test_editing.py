"""Edited models: what is left is solved exactly, the history travels, and what cannot be said is refused."""

import json
from functools import cache
from itertools import product

import numpy as np
import pytest
import zoo
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import sleek
from sleek import LowRankLSSVC, LowRankLSSVR
from sleek.cli.commands import app
from sleek.model.saving import dumps, loads

CASES = [(basis, task) for basis in ("box", "sigmoidal") for task in ("number", "numbers", "classes")]
CASES += [("curves", "number"), ("linear", "number")]


@cache
def squared(basis, task):
    """A model of squared loss, and its training rows."""
    X, y = zoo.problem(task)
    X, y = X[:200], y[:200]
    size = "auto" if basis in ("linear", "curves") else 6
    if task == "classes":
        return (
            LowRankLSSVC(size, basis=basis, C=10.0, shape=0.3, loss="squared_error", random_state=0)
            .fit(X, y)
            .model_,
            X,
            y,
        )
    return LowRankLSSVR(size, basis=basis, C=10.0, shape=0.3, random_state=0).fit(X, y).model_, X, y


def objective(model, X, y, theta, b):
    """½‖θ‖²/C + ½ Σ s(t - y)² of weights in the user's units, row by row, for each output."""
    targets = model.outputs.read_targets(y, len(X))
    T, k = model.outputs.encode(targets), len(b)
    unit, _ = model.outputs.decode(np.ones((1, k)), np.zeros(k))
    zero = model.outputs.decode(np.zeros((1, k)), np.zeros(k))[1]
    weight = model.memory.sums.weight / len(X)
    own, constant = theta / unit[0], (b - zero) / unit[0]
    residuals = T - model.features(X) @ own - constant
    return 0.5 * (own**2).sum(axis=0) / model.memory.C + 0.5 * weight * (residuals**2).sum(axis=0)


@pytest.mark.parametrize(("basis", "task"), CASES)
def test_what_is_left_is_the_best_there_is(basis, task):
    model, X, y = squared(basis, task)
    k, rng = len(model.b), np.random.default_rng(0)
    weights = np.round(model.theta[1] * 1.3, 2)
    edited = model.edited(remove=[0], fix={1: weights}, note="why not")
    assert edited.n_units == model.n_units - 1
    np.testing.assert_array_equal(edited.theta[0], weights)
    np.testing.assert_array_equal(edited.features(X), model.features(X)[:, 1:])
    best = objective(edited, X, y, edited.theta, edited.b)
    for _ in range(20):  # nowhere near is better
        other = edited.theta + rng.normal(size=edited.theta.shape) * 1e-3 * np.abs(model.theta).max()
        other[0] = weights
        constant = edited.b + rng.normal(size=k) * 1e-3
        assert (objective(edited, X, y, other, constant) >= best * (1 - 1e-9)).all()


@pytest.mark.parametrize(("basis", "task"), CASES)
def test_the_training_error_follows_from_the_sums(basis, task):
    model, X, y = squared(basis, task)
    edited = model.edited(remove=sorted({0, model.n_units - 2}))
    targets = model.outputs.encode(model.outputs.read_targets(y, len(X)))
    k = len(model.b)
    T = model.outputs.decode(targets.T[:, :, None].reshape(k, -1).T, np.zeros(k))[0]
    T = T + model.outputs.decode(np.zeros((1, k)), np.zeros(k))[1]
    for one, error in ((model, edited.edits.history[0].before), (edited, edited.edits.history[0].after)):
        outputs = np.asarray(one.decision_function(X)).reshape(len(X), -1)
        np.testing.assert_allclose(np.mean((T - outputs) ** 2, axis=0), error, rtol=1e-6)


def test_taking_units_out_is_fitting_the_others():
    model, X, y = squared("box", "number")
    edited = model.edited(remove=[2, 4])
    again = model.edited(remove=[2]).edited(remove=[3])
    np.testing.assert_allclose(edited.theta, again.theta, rtol=1e-9)
    assert len(again.edits.history) == 2
    Phi = np.delete(model.features(X), [2, 4], axis=1)
    T = model.outputs.encode(model.outputs.read_targets(y, len(X)))
    weight = model.memory.sums.weight / len(X)
    centred = Phi - Phi.mean(axis=0)
    A = weight * centred.T @ centred + np.eye(4) / model.memory.C
    theta = np.linalg.solve(A, weight * centred.T @ T)
    np.testing.assert_allclose(edited.theta, theta * model.outputs.scale, rtol=1e-6)


def test_a_column_goes_with_the_units_that_look_at_it():
    rng = np.random.default_rng(0)
    table = {"a": rng.normal(size=300), "b": rng.choice(["x", "y", "z"], 300), "c": rng.normal(size=300)}
    y = table["a"] + (table["b"] == "x") + np.abs(table["c"])
    model = LowRankLSSVR(basis="curves", random_state=0).fit(table, y).model_
    edited = model.edited(remove=["b"])
    other = {**table, "b": rng.permutation(table["b"])}
    np.testing.assert_array_equal(edited.predict(table), edited.predict(other))
    assert (model.predict(table) != model.predict(other)).any()
    assert edited.effects().curves["b"].share == 0.0


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from([-1, 0, 1]), min_size=6, max_size=6).filter(any))
def test_signs_are_kept_and_nothing_is_better(signs):
    model, X, y = squared("box", "number")
    edited = model.edited(sign={j: sign for j, sign in enumerate(signs) if sign})
    assert (edited.theta[:, 0] * signs >= 0).all()
    best = objective(edited, X, y, edited.theta, edited.b)
    for held in product([False, True], repeat=6):  # every set of weights at 0: the slow and obvious way
        gone = [j for j in range(6) if held[j] and signs[j]]
        if len(gone) == 6:
            continue
        other = model.edited(fix=dict.fromkeys(gone, 0.0)) if gone else model
        if (other.theta[:, 0] * signs >= 0).all():
            assert best <= objective(other, X, y, other.theta, other.b) * (1 + 1e-9)


def test_monotone_models_stay_monotone():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(400, 3))
    y = X[:, 0] ** 2 + np.sin(6 * X[:, 1]) + 0.1 * rng.normal(size=400)
    model = LowRankLSSVR(basis="curves", monotonic_cst=[1, 0, 0], random_state=0).fit(X, y).model_
    unit = int(np.flatnonzero(model.weight_signs())[0])
    edited = model.edited(remove=[unit])
    assert edited.constraints == model.constraints
    grid = np.column_stack([np.linspace(-1, 2, 200), np.full((200, 2), 0.5)])
    assert (np.diff(edited.predict(grid)) >= -1e-12).all()
    wrong = -float(model.weight_signs()[unit])
    with pytest.raises(ValueError, match=r"monoton|fall|rise"):
        model.edited(fix={unit: wrong})
    held = model.edited(sign={unit: "-" if wrong < 0 else "+"})
    assert held.theta[unit, 0] == 0.0


def test_a_sign_is_held_and_stays_with_later_edits():
    model, _, _ = squared("box", "number")
    unit = int(np.argmin(model.theta[:, 0]))
    edited = model.edited(sign={unit: "+"})
    assert edited.theta[unit, 0] >= 0
    gone = 0 if unit else 1
    later = edited.edited(remove=[gone])
    assert later.theta[unit - (gone < unit), 0] >= 0
    assert later.edits.signs == {unit - (gone < unit): 1}


def test_the_history_is_read_back(tmp_path):
    model, X, _ = squared("box", "numbers")
    edited = model.edited(remove=[1], fix={0: [0.5, 2.0]}, sign={2: "-"}, note='"why" <b>')
    edited.save(tmp_path / "edited.json", moments=True)
    again = sleek.load(tmp_path / "edited.json")
    np.testing.assert_array_equal(again.predict(X), edited.predict(X))
    assert (again.edits.fixed, again.edits.signs) == (edited.edits.fixed, edited.edits.signs)
    assert [(one.words, one.note) for one in again.edits.history] == [
        ("took out unit 1; fixed unit 0 at 0.5, 2; held unit 2 to -", '"why" <b>')
    ]
    assert "before it was edited" in again.facts.expected.method
    np.testing.assert_allclose(again.edited(remove=[3]).theta, edited.edited(remove=[3]).theta, rtol=1e-9)
    document = json.loads(dumps(edited, moments=True))
    for wrong in (
        {**document["edits"], "signs": [{"unit": 99, "sign": 1}]},
        {**document["edits"], "signs": [{"unit": 0, "sign": 0.5}]},
        {**document["edits"], "fixed": [{"unit": 0, "weights": [1.0]}]},
        {**document["edits"], "more": 1},
    ):
        with pytest.raises(sleek.ModelFileError, match="edits"):
            loads(json.dumps({**document, "edits": wrong}).encode())


def test_what_cannot_be_is_refused_in_a_sentence():
    model, X, y = squared("box", "number")
    for options, words in (
        ({}, "nothing to edit"),
        ({"remove": [6]}, "number from 0 to 5"),
        ({"remove": ["nothing"]}, "reads no column"),
        ({"remove": range(6)}, "at least one unit"),
        ({"fix": {0: [1.0, 2.0]}}, "1 finite number"),
        ({"fix": {0: np.nan}}, "1 finite number"),
        ({"sign": {0: 2}}, "'\\+' or '-'"),
        ({"fix": {0: -1.0}, "sign": {0: "+"}}, "another sign"),
    ):
        with pytest.raises(ValueError, match=words):
            model.edited(**options)
    with pytest.raises(ValueError, match="moments=True"):
        loads(dumps(model)).edited(remove=[0])
    X2, y2 = zoo.problem("binary")
    odds = LowRankLSSVC(4, basis="box", C=1.0, loss="log_loss", random_state=0).fit(X2, y2).model_
    with pytest.raises(ValueError, match="Only models of squared error are edited"):
        odds.edited(remove=[0])
    with pytest.raises(ValueError, match="fixed or held to a sign"):
        model.edited(fix={0: 1.0}).partial_fit(X[:5], y[:5])
    model.edited(remove=[0]).partial_fit(X[:5], y[:5])


def test_on_the_command_line(tmp_path):
    model, X, _ = squared("box", "number")
    model.save(tmp_path / "model.json", moments=True)
    words = [
        "edit",
        "model.json",
        "--remove",
        "1",
        "--fix",
        "0=2.5",
        "--sign",
        "2=-",
        "--note",
        "why",
        "-o",
        "e.json",
    ]
    words = [str(tmp_path / word) if word.endswith(".json") else word for word in words]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "took out unit 1; fixed unit 0 at 2.5; held unit 2 to - (why)" in done.output
    wanted = model.edited(remove=[1], fix={0: 2.5}, sign={2: "-"})
    np.testing.assert_allclose(sleek.load(tmp_path / "e.json").predict(X), wanted.predict(X), rtol=1e-9)
    for bad, sentence in (
        (["--remove", "nothing"], "no column or unit"),
        (["--fix", "0"], "needs unit=value"),
        (["--fix", "0=x"], "needs numbers"),
        ([], "nothing to edit"),
    ):
        done = CliRunner().invoke(
            app, ["edit", str(tmp_path / "model.json"), *bad, "-o", str(tmp_path / "f.json")]
        )
        assert done.exit_code == 2
        assert sentence in done.stderr
