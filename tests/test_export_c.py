"""C headers compile without a warning and compute what the models compute."""

import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest
import zoo

from sleek import Expansion, Units
from sleek.export import to_c
from sleek.export.c_text import comment, string

COMPILER = shutil.which("gcc") or shutil.which("cc")
FLAGS = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O2")
needs_compiler = pytest.mark.skipif(
    COMPILER is None, reason="there is no C compiler (gcc or cc) on this machine"
)

READ = """
#include <stdio.h>
#include "{name}.h"
int main(void) {{
    static {real} x[{d}];
    while (fread(x, sizeof x, 1, stdin) == 1) {{
        {real} y[{k}];
        {compute}
        fwrite(y, sizeof y, 1, stdout);
    }}
    return 0;
}}
"""


def compile_and_run(folder, header, main, data, flags=FLAGS):
    (folder / "model.h").write_text(header, encoding="utf-8")
    (folder / "main.c").write_text(main, encoding="utf-8")
    command = [COMPILER, *flags, "main.c", "-o", "main", "-lm"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return subprocess.run([folder / "main"], input=data, capture_output=True, check=True).stdout


def run(folder, model, X, dtype):
    """The outputs and, for classifiers, the class codes by the exported header."""
    k, classifies = len(model.b), zoo.classifies(model)
    if not classifies:
        compute = "y[0] = model_predict(x);" if model.outputs.flat else "model_predict(x, y);"
    else:
        compute = "y[0] = model_decision(x);" if k == 1 else "model_decision(x, y);"
        compute += f" y[{k}] = model_predict(x);"
    width, real = k + classifies, "float" if dtype == "float32" else "double"
    main = READ.format(name="model", real=real, d=model.n_features, k=width, compute=compute)
    raw = compile_and_run(folder, to_c(model, dtype), main, X.astype(dtype).tobytes())
    Y = np.frombuffer(raw, dtype=dtype).reshape(len(X), width).astype(np.float64)
    return Y[:, :k], Y[:, k].astype(int) if classifies else None


@needs_compiler
@pytest.mark.parametrize(("basis", "task"), zoo.CASES)
def test_double_is_the_model_to_twelve_digits(tmp_path, basis, task):
    model, X = zoo.model(basis, task), zoo.test_rows(task)
    Y, codes = run(tmp_path, model, X, "float64")
    assert np.max(np.abs(Y - zoo.outputs(model, X)) / zoo.scale(model, X)) < 1e-12
    if codes is not None:
        np.testing.assert_array_equal(model.outputs.classes[codes], model.predict(X))


@needs_compiler
@pytest.mark.parametrize(("basis", "task"), zoo.CASES)
def test_single_is_the_model_to_five_digits(tmp_path, basis, task):
    model, X = zoo.model(basis, task), zoo.test_rows(task).astype(np.float32).astype(np.float64)
    Y, codes = run(tmp_path, model, X, "float32")
    expected, scale = zoo.outputs(model, X), zoo.scale(model, X)
    digits = 2e-5 if basis == "curves" else 1e-5  # ramps may be steep, which magnifies rounding of knots
    assert np.max(np.abs(Y - expected) / scale) < digits
    if codes is not None:
        best = np.sort(np.column_stack([expected, -expected]) if expected.shape[1] == 1 else expected, axis=1)
        clear = best[:, -1] - best[:, -2] > 2e-5 * scale.max(axis=1)
        assert clear.mean() > 0.99
        np.testing.assert_array_equal(model.outputs.classes[codes][clear], model.predict(X)[clear])


@needs_compiler
@pytest.mark.parametrize("task", zoo.TASKS)
def test_it_needs_nothing_but_the_mathematical_library(tmp_path, task):
    (tmp_path / "model.h").write_text(to_c(zoo.model("gaussian_rbf", task)))
    call = "model_predict(x, y)" if task == "numbers" else "(void)y; model_predict(x)"
    (tmp_path / "main.c").write_text(f'#include "model.h"\nvoid use(double *x, double *y) {{ {call}; }}\n')
    subprocess.run([COMPILER, *FLAGS[:1], "-Os", "-c", "main.c"], cwd=tmp_path, check=True)
    names = subprocess.run(["nm", "-u", "main.o"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert set(names.stdout.split()) - {"U"} <= {"exp", "_GLOBAL_OFFSET_TABLE_"}


@needs_compiler
@pytest.mark.parametrize("basis", ["sigmoidal", *zoo.MIXED])
def test_one_array_may_be_both_row_and_answer(tmp_path, basis):
    model, X = zoo.handmade(basis, labels=(0, 1, 2)), np.random.default_rng(0).normal(size=(9, 3))
    main = """#include <stdio.h>
#include "model.h"
int main(void) {
    double x[3];
    while (fread(x, sizeof x, 1, stdin) == 1) {
        model_decision(x, x);
        fwrite(x, sizeof x, 1, stdout);
    }
    return 0;
}
"""
    raw = compile_and_run(tmp_path, to_c(model), main, X.tobytes())
    np.testing.assert_allclose(np.frombuffer(raw).reshape(9, 3), zoo.outputs(model, X), rtol=1e-12)


LABELS = [
    (False, True),
    (-(2**63), 2**63 - 1),
    np.array([0, 2**64 - 1], dtype=np.uint64),
    (0.5, 1.5),
    ('a"b\\', "??/ */ é\n"),
    (3, 1, 2),
]


@needs_compiler
@pytest.mark.parametrize("labels", LABELS, ids=str)
def test_labels_of_any_kind_are_constants(tmp_path, labels):
    model = zoo.handmade(labels=labels)
    texts = isinstance(model.outputs.classes.tolist()[0], str)
    main = """#include <stdio.h>
#include "model.h"
int main(void) {
    int i;
    for (i = 0; i < MODEL_N_CLASSES; ++i) %s;
    return 0;
}
"""
    if texts:
        raw = compile_and_run(tmp_path, to_c(model), main % 'printf("%s|", model_labels[i])', b"")
        assert raw.decode("utf-8").split("|")[:-1] == model.outputs.classes.tolist()
    else:
        say = "fwrite(&model_labels[i], sizeof model_labels[i], 1, stdout)"
        raw = compile_and_run(tmp_path, to_c(model), main % say, b"")
        kind = model.outputs.classes.dtype if model.outputs.classes.dtype.kind in "uf" else np.int64
        assert np.frombuffer(raw, dtype=kind).tolist() == [
            label + 0 for label in model.outputs.classes.tolist()
        ]


@needs_compiler
def test_not_a_number_is_no_class(tmp_path):
    for basis in zoo.BASES + zoo.MIXED:
        for labels in [(0, 1), (0, 1, 2)]:
            model = zoo.handmade(basis, labels)
            X = np.array([[0.0, np.nan, 0.0], [0.0, 0.0, 0.0]])
            assert run(tmp_path, model, X, "float64")[1].tolist() == [-1, model.predict(X[1:])[0]]


@needs_compiler
def test_names_of_features_cannot_break_the_code(tmp_path):
    names = ("*/ int x; /*", "??/", "new\nline\\")
    model = zoo.handmade(labels=None, feature_names=names)
    Y, _ = run(tmp_path, model, np.ones((1, 3)), "float64")
    np.testing.assert_allclose(Y, zoo.outputs(model, np.ones((1, 3))), rtol=1e-12)


@needs_compiler
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_columns_of_a_table_are_members_of_a_struct(tmp_path, dtype):
    model, table, X = zoo.with_inputs()
    real, number = ("double", float) if dtype == "float64" else ("float", np.float32)
    main = """#include <stdio.h>
#include "model.h"
int main(void) {
    %s x[3];
    while (fread(x, sizeof x, 1, stdin) == 1) {
        model_row row;
        double y;
        row.age = x[0]; row.city_s_name = (int)x[1]; row.int_2 = x[2];
        y = model_decision(&row);
        fwrite(&y, sizeof y, 1, stdout);
    }
    return model_city_s_name_K_ln + model_city_s_name_it_s + model_city_s_name_a_b - 3;
}
"""
    levels = {"Köln": 0, "it's": 1, "a\\b": 2}
    rows = np.array(
        [
            [np.nan if age is None else age, levels.get(city, -1), other]
            for age, city, other in zip(*table.values(), strict=True)
        ],
        dtype=number,
    )
    raw = compile_and_run(tmp_path, to_c(model, dtype), main % real, rows.tobytes())
    error = np.abs(np.frombuffer(raw) - model.decision_function(X)) / zoo.scale(model, X)[:, 0]
    assert error.max() < (1e-12 if dtype == "float64" else 1e-5)


@needs_compiler
@pytest.mark.skipif(shutil.which("g++") is None, reason="there is no C++ compiler (g++) on this machine")
@pytest.mark.parametrize("task", zoo.TASKS)
def test_it_is_valid_cpp_too(tmp_path, task):
    (tmp_path / "model.h").write_text(to_c(zoo.model("simplex", task)))
    (tmp_path / "main.cpp").write_text('#include "model.h"\n#include "model.h"\nint main() { return 0; }\n')
    subprocess.run(["g++", "-Wall", "-Werror", "-c", "main.cpp"], cwd=tmp_path, check=True)


def test_text_is_escaped():
    assert string("é") == '"\\303\\251"'
    assert "*/" not in comment("*/ */")
    assert "/*" not in comment("/*/*/")


@pytest.mark.parametrize("name", ["", "2x", "a b", "double", "_x", 3])
def test_names_are_checked(name):
    with pytest.raises(ValueError, match="`name` must begin with a letter"):
        to_c(zoo.handmade(), name=name)


@pytest.mark.parametrize("dtype", ["float16", "int", "word", 3])
def test_precisions_are_checked(dtype):
    with pytest.raises(ValueError, match=r"`dtype` must be 'float32' or 'float64'"):
        to_c(zoo.handmade(), dtype)


def test_numbers_too_large_for_single_precision_are_refused():
    model = zoo.handmade()
    large = Units({"centers": 1e39 * np.ones((2, 3)), "shapes": np.ones((2, 3))})
    model = replace(model, expansion=Expansion.of(model.parts[0].basis, large))
    assert "e+39" in to_c(model, "float64")
    with pytest.raises(ValueError, match=r"`centers_0` has numbers up to 1e\+39, too large for float32"):
        to_c(model, "float32")
