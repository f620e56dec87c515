"""What holds for every exporter: files by their ending, and models that cannot be said."""

import sys
from dataclasses import dataclass, replace

import numpy as np
import pytest
import zoo

import sleek
from sleek import GaussianRBF, NumberOutputs, Parameter, RobustRBF, Units
from sleek.bases.formula import Formula, exp, maximum, names
from sleek.export import register_skl2onnx, to_c, to_javascript, to_onnx, to_python, to_sql

EXPORTERS = (to_c, to_javascript, to_onnx, to_python, to_sql)
TEXTS = {".h": to_c, ".mjs": to_javascript, ".py": to_python, ".sql": to_sql}


@pytest.mark.parametrize("to", EXPORTERS)
def test_a_basis_needs_a_formula(to):
    class Plain(RobustRBF):
        name = "plain_for_export"
        formula = None

    with pytest.raises(ValueError, match="The basis 'plain_for_export' has no formula"):
        to(zoo.with_basis(zoo.handmade("robust_rbf"), Plain()))


@pytest.mark.parametrize("to", EXPORTERS)
def test_a_formula_must_say_what_the_basis_computes(to):
    class Wrong(RobustRBF):
        name = "wrong_for_export"

        def profile(self, Z):
            return np.exp(-2 * Z)

    wrong = zoo.with_basis(zoo.handmade("robust_rbf"), Wrong())
    mixed = replace(
        zoo.handmade("sigmoidal+robust_rbf"),
        expansion=sleek.Expansion((zoo.handmade("sigmoidal").parts[0], wrong.parts[0])),
    )
    for model in (wrong, mixed):
        with pytest.raises(
            ValueError, match="The formula of the basis 'wrong_for_export' is not what its features"
        ):
            to(model)


@pytest.mark.parametrize("to", EXPORTERS)
@pytest.mark.parametrize(
    "axes", [("layer", "feature"), ("unit", "knot"), ("unit", "feature", "knot"), ("feature",)]
)
def test_numbers_that_are_not_of_a_unit_and_feature_are_refused(to, axes):
    class Layered(RobustRBF):
        name = "layered_for_export"
        parameters = (*RobustRBF.parameters, Parameter("layers", axes=axes))

    made = zoo.handmade("robust_rbf")
    units = Units({**made.parts[0].units.arrays, "layers": np.ones([2] * len(axes))})
    with pytest.raises(
        ValueError, match=rf"'layered_for_export' has numbers 'layers' for each \({', '.join(axes)}\), so"
    ):
        to(replace(made, expansion=sleek.Expansion.of(Layered(), units)))


@pytest.mark.parametrize("to", EXPORTERS)
def test_outputs_that_are_not_known_are_refused(to):
    """A kind that derives from numbers, and does not mean them."""

    @dataclass(frozen=True, eq=False)
    class LogNumbers(NumberOutputs):
        kind = "log_numbers_for_export"

    outputs = LogNumbers(np.zeros(1), np.ones(1))
    with pytest.raises(
        ValueError, match="outputs of the kind 'log_numbers_for_export' cannot be exported: exp"
    ):
        to(zoo.handmade(labels=None, outputs=outputs))


@pytest.mark.parametrize("package", ["onnx", "skl2onnx"])
def test_a_missing_package_is_named_with_what_to_install(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(
        ImportError, match=rf"needs {package}, which is not installed: pip install 'sleek-svm\[onnx\]'"
    ):
        to_onnx(zoo.handmade()) if package == "onnx" else register_skl2onnx()


def predicted(model, row):
    module = {}
    exec(to_python(model), module)
    return module["predict"](row)


def test_a_basis_of_ones_own_is_exported_by_its_formula():
    x, z, centers, shapes = names("x z centers shapes")

    class Half(RobustRBF):
        name = "half_for_export"
        formula = Formula(term=shapes * abs(x - centers), profile=0.5 + 0.5 * exp(-z) + 0.0 * z, start=0.0)

        def profile(self, Z):
            return 0.5 + 0.5 * np.exp(-Z)

    model = zoo.with_basis(zoo.handmade("robust_rbf", None), Half())
    row = [0.3, -0.2, 0.9]
    assert predicted(model, row) == pytest.approx(model.predict(np.array([row]))[0], rel=1e-14)


def test_numbers_of_a_basis_may_be_called_like_those_of_the_program():
    x, z, theta, b = names("x z theta b")

    class Clash(GaussianRBF):
        name = "clash_for_export"
        parameters = (Parameter("theta"), Parameter("b", lower=0.0))
        formula = Formula(term=b * ((x - theta) * (x - theta)), profile=maximum(exp(-z), 0.0))

        def features(self, X, units):
            return GaussianRBF().features(X, Units({"centers": units["theta"], "shapes": units["b"]}))

    made = zoo.handmade(labels=None)
    numbers = made.parts[0].units
    units = Units({"theta": numbers["centers"], "b": numbers["shapes"]})
    model = replace(made, expansion=sleek.Expansion.of(Clash(), units))
    row = [0.3, -0.2, 0.9]
    assert predicted(model, row) == pytest.approx(made.predict(np.array([row]))[0], rel=1e-14)
    assert "model_theta_0[3][2]" in to_c(model)
    assert "model_theta[2][1]" in to_c(model)


def test_the_title_names_all_parts():
    model = zoo.handmade("gaussian_rbf+sigmoidal", m=3)
    for to in TEXTS.values():
        assert "A kernel machine of 3 gaussian_rbf units + 3 sigmoidal units, written by sleek" in to(model)


@pytest.mark.parametrize("ending", [*TEXTS, ".onnx", ".PY"])
def test_the_ending_names_the_language(tmp_path, ending):
    model = zoo.handmade(labels=("é", "b"))
    model.export(tmp_path / f"model{ending}")
    data = (tmp_path / f"model{ending}").read_bytes()
    if ending == ".onnx":
        assert data == to_onnx(model).SerializeToString()
    else:
        assert data.decode("utf-8") == TEXTS[ending.lower()](model)


def test_options_are_passed_on(tmp_path):
    zoo.handmade().export(tmp_path / "m.h", dtype="float32", name="motor")
    assert "float motor_decision" in (tmp_path / "m.h").read_text()


def test_other_endings_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"`path` must end in .onnx, .h, .mjs, .py, .sql"):
        zoo.handmade().export(tmp_path / "model.exe")


def test_models_that_were_loaded_are_exported_alike(tmp_path):
    model = zoo.model("sigmoidal", "classes")
    model.save(tmp_path / "m.json")
    assert to_c(sleek.load(tmp_path / "m.json")) == to_c(model)
