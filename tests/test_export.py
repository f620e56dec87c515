"""What holds for every exporter: files by their ending, and bases without a formula, or with a wrong one."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import zoo

import sleek
from sleek import RobustRBF
from sleek.bases.formula import Formula, exp, names
from sleek.export import to_c, to_onnx, to_python, to_sql

EXPORTERS = (to_c, to_onnx, to_python, to_sql)


@pytest.mark.parametrize("to", EXPORTERS)
def test_a_basis_needs_a_formula(to):
    class Plain(RobustRBF):
        name = "plain_for_export"
        formula = None

    with pytest.raises(ValueError, match="The basis 'plain_for_export' has no formula"):
        to(replace(zoo.handmade("robust_rbf"), basis=Plain()))


@pytest.mark.parametrize("to", EXPORTERS)
def test_a_formula_must_say_what_the_basis_computes(to):
    class Wrong(RobustRBF):
        name = "wrong_for_export"

        def profile(self, Z):
            return np.exp(-2 * Z)

    with pytest.raises(
        ValueError, match="The formula of the basis 'wrong_for_export' is not what its features"
    ):
        to(replace(zoo.handmade("robust_rbf"), basis=Wrong()))


def test_a_basis_of_ones_own_is_exported_by_its_formula():
    x, z, centers, shapes = names("x z centers shapes")

    class Half(RobustRBF):
        name = "half_for_export"
        formula = Formula(term=shapes * abs(x - centers), profile=0.5 + 0.5 * exp(-z) + 0.0 * z, start=0.0)

        def profile(self, Z):
            return 0.5 + 0.5 * np.exp(-Z)

    model = replace(zoo.handmade("robust_rbf", None), basis=Half())
    module = {}
    exec(to_python(model), module)
    row = [0.3, -0.2, 0.9]
    assert module["predict"](row) == pytest.approx(model.predict(np.array([row]))[0], rel=1e-14)


@pytest.mark.parametrize("ending", [".h", ".py", ".sql", ".onnx", ".PY"])
def test_the_ending_names_the_language(tmp_path, ending):
    model = zoo.handmade(labels=("é", "b"))
    model.export(tmp_path / f"model{ending}")
    data = (tmp_path / f"model{ending}").read_bytes()
    if ending == ".onnx":
        assert data == to_onnx(model).SerializeToString()
    else:
        assert data.decode("utf-8") == {".h": to_c, ".py": to_python, ".sql": to_sql}[ending.lower()](model)


def test_options_are_passed_on(tmp_path):
    zoo.handmade().export(tmp_path / "m.h", dtype="float32", name="motor")
    assert "float motor_decision" in (tmp_path / "m.h").read_text()


def test_other_endings_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"`path` must end in .onnx, .h, .py, .sql"):
        zoo.handmade().export(tmp_path / "model.exe")


def test_models_that_were_loaded_are_exported_alike(tmp_path):
    model = zoo.model("sigmoidal", "classes")
    model.save(tmp_path / "m.json")
    assert to_c(sleek.load(tmp_path / "m.json")) == to_c(model)


@pytest.mark.parametrize("page", ["export.md", "format.md"])
def test_snippets_of_the_documentation_run(page, tmp_path, monkeypatch):
    text = (Path(__file__).parents[1] / "docs" / page).read_text("utf-8")
    monkeypatch.chdir(tmp_path)
    snippets = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert snippets
    for snippet in snippets:
        exec(compile(snippet, page, "exec"), {})
