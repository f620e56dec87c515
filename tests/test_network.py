"""Units of a network: hidden layers that all units share, through everything that a model goes through."""

import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
import zoo

import sleek
from sleek import Files, LowRankLSSVC, LowRankLSSVR, ModelFileError, Network, Sigmoidal, VariableProjection
from sleek.export.translation import translate
from sleek.rows.scaling import Scaling
from sleek.testing import BasisContract

QUICK = VariableProjection(pull=1e-3, tol=1e-3)


class TestTwoHiddenLayers(BasisContract):
    def make(self):
        return Network(hidden=(4, 3))


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)) * [1.0, 10.0, 0.1] + [0.0, 50.0, 0.0]
    return X, np.sin(2 * X[:, 0]) + (X[:, 1] - 50) * X[:, 2] + 0.05 * rng.normal(size=200)


@pytest.fixture(scope="module")
def fitted(problem):
    return quick().fit(*problem)


def quick(hidden=(4,), n_units=5, **settings):
    given = {"C": 10.0, "trainer": QUICK, "random_state": 0} | settings
    return LowRankLSSVR(n_units, basis=Network(hidden=hidden), **given)


def by_hand(x, units, hidden):
    """The units at one row, neuron by neuron."""
    layers = [(f"layer_{k}", f"layer_{k}_offsets") for k in range(1, hidden + 1)]
    for weights, offsets in (*layers, ("slopes", "offsets")):
        x = [
            math.tanh(sum(w * v for w, v in zip(line, x, strict=True)) + start)
            for line, start in zip(units[weights], units[offsets], strict=True)
        ]
    return x


def test_units_are_those_of_a_network_computed_by_hand():
    basis, rng = Network(hidden=(4, 3)), np.random.default_rng(0)
    X, units = rng.normal(size=(9, 2)), basis.start(rng.normal(size=(5, 2)), 0.7, rng)
    expected = [by_hand(x.tolist(), units, 2) for x in X]
    np.testing.assert_allclose(basis.features(X, units), expected, rtol=1e-13)
    np.testing.assert_allclose(basis.features(X.astype(np.float32), units), expected, atol=1e-6)


def test_units_start_at_0_in_their_centres():
    basis, centers = Network(hidden=(8,)), np.random.default_rng(1).normal(size=(5, 3))
    Phi = basis.features(centers, basis.start(centers, 0.4, np.random.default_rng(0)))
    np.testing.assert_allclose(np.diag(Phi), 0.0, atol=1e-14)


@pytest.mark.parametrize("hidden", [(), 16, "16", (0,), (2.5,), (4, -1)])
def test_hidden_must_be_numbers_of_neurons(hidden, problem):
    with pytest.raises(ValueError, match="`hidden` must be"):
        LowRankLSSVR(basis=Network(hidden=hidden)).fit(*problem)


def test_the_name_stands_for_the_default():
    X, y = np.random.default_rng(0).normal(size=(40, 2)), np.arange(40.0)
    one, other = (
        LowRankLSSVR(3, basis=basis, C=1.0, trainer=QUICK, random_state=0).fit(X, y).predict(X)
        for basis in ("network", Network(hidden=(16,)))
    )
    np.testing.assert_array_equal(one, other)


def test_it_learns_more_than_steps_of_the_same_number(problem):
    """What is a product of two features takes many steps across directions, and few units of a network."""
    X, y = problem
    network = quick((8,), 3, C=100.0).fit(X, y)
    steps = LowRankLSSVR(3, basis=Sigmoidal(), C=100.0, trainer=QUICK, random_state=0).fit(X, y)
    assert network.score(X, y) > steps.score(X, y) + 0.1


# -- what units share ---------------------------------------------------------------------------------------


def test_a_unit_that_goes_leaves_the_layers(fitted):
    (part,) = fitted.model_.parts
    few = part.basis.take(part.units, np.array([1, 3]))
    assert len(few) == 2
    for name in ("layer_1", "layer_1_offsets"):
        np.testing.assert_array_equal(few[name], part.units[name])


def test_shared_numbers_count_once(fitted):
    m, h, d = 5, 4, 3
    assert fitted.n_numbers_ == m * (h + 1) + h * (d + 1) + m + 1


def test_units_are_pruned_and_layers_stay(problem):
    X, y = problem
    model = LowRankLSSVR(basis=Network(hidden=(4,)), effort="quick", random_state=0).fit(X, y)
    path = model.path_
    assert len(set(path["n_units"])) > 2
    for n_units, n_numbers in zip(path["n_units"], path["n_numbers"], strict=True):
        assert n_numbers == n_units * (4 + 1) + 4 * (3 + 1) + n_units + 1
    assert model.model_.parts[0].units["layer_1"].shape == (4, 3)
    assert model.score(X, y) > 0.8


def test_errors_to_expect_are_those_of_refitted_folds_also_when_a_fit_goes_on(problem):
    """Leave-one-out of all learnt numbers needs to know whose unit a number is: layers are nobody's."""
    model = quick(warm_start=True).fit(*problem)
    assert model.expected_error_method_ == "refitted folds"
    model.fit(*problem)
    assert model.expected_error_method_ == "refitted folds"
    model.set_params(basis=Network(hidden=(7,)))
    with pytest.raises(
        ValueError, match=r"you ask for basis=Network\(hidden=\(7,\)\), and there are units of"
    ):
        model.fit(*problem)


def test_the_first_layer_takes_the_scaling_in(problem):
    X, _ = problem
    basis, rng = Network(hidden=(4, 2)), np.random.default_rng(0)
    scaling = Scaling(X.mean(axis=0), 1.0 / X.std(axis=0))
    units = basis.start(scaling.apply(X[:3]), 0.4, rng)
    raw = basis.unscale(units, scaling)
    np.testing.assert_allclose(basis.features(X, raw), basis.features(scaling.apply(X), units), atol=1e-12)
    for name in ("slopes", "offsets", "layer_2", "layer_2_offsets"):
        np.testing.assert_array_equal(raw[name], units[name])


def test_rounded_units_compute_nearly_the_same(problem, fitted):
    X, _ = problem
    (part,) = fitted.model_.parts
    before = part.features(X)
    for digits in (3, 6):
        units = part.basis.round(part.units, X.mean(axis=0), X.std(axis=0), digits)
        assert np.abs(part.basis.features(X, units) - before).max() < 30 * 10.0**-digits
        for name in units.arrays:
            assert max(len(f"{v:.12g}".strip("-0.").replace(".", "")) for v in units[name].flat) <= digits + 4


@pytest.mark.parametrize("constraint", [{"monotonic_cst": [1, 0, 0]}, {"interaction_cst": [[0], [1, 2]]}])
def test_constraints_are_refused_in_one_sentence(problem, constraint):
    with pytest.raises(ValueError, match="Units of the basis 'network' look at all features, and cannot be"):
        quick(**constraint).fit(*problem)


# -- the same bits everywhere -------------------------------------------------------------------------------


def test_threads_and_files_have_the_same_bits(problem, fitted, tmp_path):
    X, y = problem
    header = "a,b,c,y\n"
    lines = "".join(",".join(map(repr, [*x, t])) + "\n" for x, t in zip(X.tolist(), y.tolist(), strict=True))
    (tmp_path / "rows.csv").write_text(header + lines, encoding="utf-8")
    read = quick().fit(Files(tmp_path / "rows.csv", target="y"))
    for model in (quick(n_jobs=2).fit(X, y), read):
        np.testing.assert_array_equal(model.model_.theta, fitted.model_.theta)
        for name, array in fitted.model_.parts[0].units.arrays.items():
            np.testing.assert_array_equal(model.model_.parts[0].units[name], array)


def test_new_rows_move_theta_alone(problem):
    X, y = problem
    model = quick().fit(X[:150], y[:150])
    units, theta = model.model_.parts[0].units, model.model_.theta
    model.partial_fit(X[150:], y[150:])
    for name, array in units.arrays.items():
        np.testing.assert_array_equal(model.model_.parts[0].units[name], array)
    assert not np.array_equal(model.model_.theta, theta)


# -- files and exports --------------------------------------------------------------------------------------


def test_a_saved_network_comes_back_with_its_layers(problem, fitted, tmp_path):
    X, _ = problem
    fitted.model_.save(tmp_path / "model.json")
    back = sleek.load(tmp_path / "model.json")
    assert back.parts[0].basis.hidden == (4,)
    np.testing.assert_array_equal(back.predict(X), fitted.predict(X))


@pytest.mark.parametrize(
    ("hidden", "message"),
    [
        ([3], r"`parts\[0\]\.units\.slopes` must have shape \(5, 3\), got \(5, 4\)"),
        ([4, 4], "layer_2"),
        ([], "`hidden` must be the numbers of neurons"),
        ([0], "`hidden` must be a whole number of at least 1"),
        (4, "`hidden` must be the numbers of neurons"),
        ([[4]], "must be a number, text, null or a list of these"),
    ],
)
def test_files_whose_layers_do_not_fit_are_refused(fitted, tmp_path, hidden, message):
    path = tmp_path / "model.json"
    fitted.model_.save(path)
    content = json.loads(path.read_text("utf-8"))
    content["parts"][0]["basis"]["settings"]["hidden"] = hidden
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(ModelFileError, match=message):
        sleek.load(path)


def test_programs_compute_each_hidden_neuron_once():
    program = translate(zoo.model("network", "number"))
    sizes = {step.name: step.size for step in program.steps}
    assert sizes == {"z_0_1": 4, "h_0_1": 4, "z_0_2": 3, "h_0_2": 3, "z_0": 8, "u_0": 8, "y": 1}


def test_a_network_stands_beside_other_parts():
    model, X = zoo.handmade("network+linear", None), np.random.default_rng(0).normal(size=(20, 3))
    found = translate(model).evaluate(list(X.T))["scores"]
    np.testing.assert_allclose(found[:, 0], model.predict(X), rtol=1e-12)


# -- words --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hidden", [(4,), (3, 2)])
def test_what_is_printed_is_what_is_computed(problem, hidden):
    X, y = problem
    model = quick(hidden).fit(X, y).model_
    text = re.sub(r"\n {6,}", " ", model.in_words(everything=True))
    neurons = re.findall(r"^  (h\d+) = (.*)$", text, flags=re.MULTILINE)
    assert len(neurons) == sum(hidden)
    units = re.findall(r"^  ([-+][\d.e-]+) (tanh\(.*\))$", text, flags=re.MULTILINE)
    assert len(units) == 5
    constant = float(re.search(r"^  ([-+][\d.e-]+)$", text, flags=re.MULTILINE).group(1))
    for x, prediction in zip(X[:5], model.predict(X[:5]), strict=True):
        known = {"tanh": math.tanh, **{f"x{i}": v for i, v in enumerate(x.tolist())}}
        for name, said in neurons:
            known[name] = eval(said.replace("·", "*"), known)
        total = constant + sum(float(w) * eval(said.replace("·", "*"), known) for w, said in units)
        assert total == pytest.approx(prediction, rel=1e-9, abs=1e-9)


def test_reports_have_the_layers_too(problem, fitted, tmp_path):
    model = fitted.model_
    assert "where the units share" in model.in_words()
    for name in ("report.html", "report.md"):
        model.report(tmp_path / name)
        assert "h1 = tanh(" in (tmp_path / name).read_text("utf-8")


def test_a_unit_of_another_layer_is_another_unit(fitted):
    """`sleek diff` takes no unit for the same whose layers have changed."""
    from sleek.report.comparison import match_units

    model = fitted.model_
    (part,) = model.parts
    moved = part.units.map(lambda name, array: array + 0.5 if name == "layer_1" else array)
    other = replace(model, expansion=sleek.Expansion.of(part.basis, moved))
    effects = model.effects()
    assert len(match_units(model, model, effects)[1]) == 0
    matched, moved = match_units(model, other, effects)
    assert moved == set(matched)


def test_classes_with_log_odds():
    X, y = zoo.problem("binary")
    settings = {"basis": Network(hidden=(4,)), "loss": "log_loss", "C": 10.0, "trainer": QUICK}
    model = LowRankLSSVC(6, **settings, random_state=0).fit(X[:200], y[:200])
    assert model.score(X[200:], y[200:]) > 0.75
