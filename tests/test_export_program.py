"""Random small programs have the same values in every language."""

import json
import shutil
import sqlite3
import subprocess

import numpy as np
import pytest
import zoo
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from sleek.bases.formula import (
    OPERATORS,
    Expression,
    at,
    equal,
    exp,
    floor,
    greater,
    is_missing,
    maximum,
    minimum,
    sqrt,
    tanh,
    where,
)
from sleek.export.c import CPrinter
from sleek.export.javascript import JavaScriptPrinter
from sleek.export.program import Code, Each, Input, Joined, Largest, Listed, Pick, Program, Total
from sleek.export.python import PythonPrinter
from sleek.export.sql import Statement
from sleek.export.translation import translate

LEVELS = ("it's", 'a "b"', "c\\", "")
INPUTS = (
    Input("a*/"),
    Input("b", "optional"),
    Input("when", "date"),
    Input("t", "text", LEVELS),
)
NUMBERS = st.integers(-16, 16).map(lambda n: n / 4)
ROWS = st.lists(
    st.tuples(
        NUMBERS, st.none() | NUMBERS, st.none() | NUMBERS, st.none() | st.sampled_from([*LEVELS, "no"])
    ),
    min_size=4,
    max_size=4,
)


@st.composite
def programs(draw):
    """Steps of every kind, each of which may read all that came before."""
    constants, sizes, steps = {}, {"x": 3}, []

    def constant(*shape):
        name = f"c_{len(constants)}"
        values = draw(st.lists(NUMBERS, min_size=int(np.prod(shape)), max_size=int(np.prod(shape))))
        constants[name] = np.array(values).reshape(shape)
        return name

    def filled(k):
        return at("x", 0) if k == 0 else where(is_missing(at("x", k)), draw(NUMBERS), at("x", k))

    def leaf(index, size):
        """An element whose value is exact in every language, or any element."""
        vectors = [name for name in sizes if name != "x"]
        choice = draw(st.integers(0, 4))
        if choice == 0 or (choice == 1 and not vectors):
            return Expression("leaf", leaf=float(draw(NUMBERS)))
        if choice == 1:
            name = draw(st.sampled_from(vectors))
            return at(name, draw(st.integers(0, sizes[name] - 1)))
        if choice == 2 and index:
            return at(constant(size), index)
        fitting = [name for name in vectors if sizes[name] == size]
        if choice == 3 and index and fitting:
            return at(draw(st.sampled_from(fitting)), index)
        return filled(draw(st.integers(0, 2)))

    def value(index="", size=0, depth=2):
        if depth == 0:
            return leaf(index, size)
        a, b = value(index, size, depth - 1), value(index, size, depth - 1)
        x, y = filled(draw(st.integers(0, 2))), float(draw(NUMBERS))  # exact: steps may differ elsewhere
        forms = [a + b, a - b, tanh(a) * b, a / (1.0 + abs(b)), -a, abs(a), exp(-abs(a)), tanh(a)]
        forms += [sqrt(abs(a)), floor(x), maximum(a, b), minimum(a, b), a * greater(x, y), equal(x, y) - b]
        forms += [where(greater(x, y), a, b), where(is_missing(at("x", 1)), a, b), where(equal(x, y), a, 1.0)]
        return forms[draw(st.integers(0, len(forms) - 1))]

    for number in range(draw(st.integers(2, 5))):
        name, size = f"v_{number}", draw(st.integers(1, 3))
        kind = draw(st.sampled_from(["each", "total", "listed", "joined", "largest", "pick", "product"]))
        vectors = [vector for vector in sizes if vector != "x"]
        if kind in ("joined", "largest", "product") and not vectors:
            kind = "listed"
        if kind == "each":
            step = Each(name, size, value("j", size))
        elif kind == "total":
            over = size if draw(st.booleans()) else draw(st.integers(1, 3))
            term = at(constant(size, over), "j", "i") * tanh(value("i", over, 1))
            step = Total(
                name, size, over, term, value("j", size, 1), triangle=over == size and draw(st.booleans())
            )
        elif kind == "product":
            vector = draw(st.sampled_from(vectors))
            over = sizes[vector]
            step = Total(name, size, over, at(constant(size, over), "j", "i") * at(vector, "i"))
        elif kind == "listed":
            step = Listed(name, tuple(value() for _ in range(size)))
        elif kind == "joined":
            parts = tuple(draw(st.lists(st.sampled_from(vectors), min_size=1, max_size=3, unique=True)))
            step = Joined(name, parts, tuple(sizes[part] for part in parts))
        elif kind == "largest":
            step = Largest(name, draw(st.sampled_from(vectors)))
        else:
            other = len(LEVELS)
            lines = tuple((level, line) for line, level in enumerate(LEVELS))
            steps.append(Code(f"k_{number}", 3, lines, other, other + 1))
            step = Pick(name, constant(other + 2, size), f"k_{number}", size)
        steps.append(step)
        sizes[name] = step.size
    return Program("A program.", INPUTS, True, constants, tuple(steps), {"scores": steps[-1].name})


class Batch(list):
    """Programs and rows, whose words are long."""

    def __repr__(self):
        return f"{len(self)} programs"


BATCH = st.lists(st.tuples(programs(), ROWS), min_size=25, max_size=25).map(Batch)


def defined(program, rows):
    numbers = [[np.nan if row[k] is None else row[k] for row in rows] for k in range(3)]
    return program.evaluate([*numbers, [row[3] for row in rows]])["scores"]


def in_python(program, rows):
    module = {}
    exec(
        PythonPrinter(program)
        .text("predict")
        .replace("days_since_1970(values[2], 'ymd')", "number(values[2], False)"),
        module,
    )
    return [module["predict"](row, scores=True) for row in rows]


def in_sqlite(program, rows):
    statement = Statement(program, "sqlite", "rows", keep=["id"])
    text = statement.text("answer", ["scores"]).replace("julianday", "2440587.5 + ")
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute('CREATE TABLE "rows" ("id", "a*/" REAL, "b" REAL, "when" REAL, "t" TEXT)')
        connection.executemany(
            'INSERT INTO "rows" VALUES (?, ?, ?, ?, ?)', [(n, *r) for n, r in enumerate(rows)]
        )
        return [row[1:] for row in sorted(connection.execute(text).fetchall())]
    finally:
        connection.close()


def in_c(batch, folder):
    """All programs in one file: each prints the scores of its rows."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler (gcc or cc) on this machine")
    main, calls = ["#include <stdio.h>"], []

    def number(value):
        return "NAN" if value is None else repr(value)

    for n, (program, rows) in enumerate(batch):
        (folder / f"p{n}.h").write_text(CPrinter(program, np.dtype("float64"), f"p{n}").text())
        main.append(f'#include "p{n}.h"')
        for a, b, when, t in rows:
            code = -1 if t is None else (*LEVELS, "no").index(t)
            row = f"{{{a!r}, {number(b)}, {number(when)}, {code}}}"
            calls.append(
                f"{{ p{n}_row r = {row}; double y[P{n}_N_OUTPUTS]; p{n}_outputs(&r, y); "
                f'for (int k = 0; k < P{n}_N_OUTPUTS; ++k) printf("%.17g ", y[k]); printf("\\n"); }}'
            )
    main += ["int main(void) {", *calls, "return 0; }"]
    (folder / "main.c").write_text("\n".join(main))
    flags = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wno-unused-parameter")
    done = subprocess.run(
        [compiler, *flags, "main.c", "-o", "main", "-lm"], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[:3000]
    lines = subprocess.run([folder / "main"], capture_output=True, text=True, check=True).stdout.splitlines()
    found = iter([[float(word) for word in line.split()] for line in lines])
    return [[next(found) for _ in rows] for _, rows in batch]


def in_javascript(batch, folder):
    """All programs in one process."""
    node = shutil.which("node")
    if node is None:
        return None
    imports, calls = [], []
    for n, (program, rows) in enumerate(batch):
        (folder / f"p{n}.mjs").write_text(JavaScriptPrinter(program).text(), encoding="utf-8")
        imports.append(f'import {{ scores as p{n} }} from "./p{n}.mjs";')
        calls.append(f"{json.dumps(rows)}.map(p{n})")
    text = "\n".join([*imports, f"console.log(JSON.stringify([{', '.join(calls)}]));"])
    (folder / "main.mjs").write_text(text, encoding="utf-8")
    done = subprocess.run([node, folder / "main.mjs"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:3000]
    return json.loads(done.stdout)


# Shrinking would compile hundreds of times.
@settings(
    max_examples=4,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate],
)
@given(batch=BATCH)
def test_random_programs_have_the_same_values_in_every_language(batch, tmp_path_factory):
    folder = tmp_path_factory.mktemp("programs")
    by_c, by_javascript = in_c(batch, folder), in_javascript(batch, folder)
    for n, (program, rows) in enumerate(batch):
        wanted = defined(program, rows)
        others = {"c": by_c[n], "python": in_python(program, rows), "sqlite": in_sqlite(program, rows)}
        if by_javascript is not None:
            others["javascript"] = by_javascript[n]
        for language, found in others.items():
            scale = max(1.0, float(np.abs(wanted).max()))
            error = np.max(np.abs(np.array(found, dtype=float) - wanted)) / scale
            assert error < 1e-11, (language, program, rows)


@pytest.mark.parametrize(("basis", "task"), zoo.CASES)
def test_the_program_is_the_model(basis, task):
    model, X = zoo.model(basis, task), zoo.test_rows(task)
    found = translate(model).evaluate(list(X.T))
    assert np.max(np.abs(found["scores"] - zoo.outputs(model, X)) / zoo.scale(model, X)) < 1e-12
    if "probabilities" in found:
        np.testing.assert_allclose(found["probabilities"], model.predict_proba(X), rtol=1e-10)


def test_steps_that_are_not_needed_are_left_out():
    program = translate(zoo.model("box+linear", "binary"))
    assert [step.name for step in program.steps_to("u_0")] == ["z_0", "u_0"]
    assert {step.name for step in program.steps_to("y")} == {"z_0", "u_0", "z_1", "u_1", "u", "y"}
    assert [step.name for step in program.after_scores("sides")] == ["sides"]


def test_every_operator_has_a_word_in_every_language():
    from sleek.bases.formula import NUMPY

    header = CPrinter(translate(zoo.handmade()), np.dtype("float64"), "model")
    statement = Statement(translate(zoo.handmade()), "sqlite", "rows")
    for words in (NUMPY, PythonPrinter.words, JavaScriptPrinter.words, header.operators, statement.operators):
        assert set(words) >= set(OPERATORS)
