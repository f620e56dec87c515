"""One table with every kind of column, hostile names, levels and labels, and gaps, in every language."""

import datetime
import json
from dataclasses import replace

import numpy as np
import pytest
import zoo
from engines import ENGINES, query, skip_without
from test_export_c import compile_and_run, needs_compiler
from test_export_javascript import NODE, run
from test_export_python import function

from sleek.export import to_c, to_javascript, to_onnx, to_sql
from sleek.tables.columns import CategoryColumn, DateColumn, LevelColumn, NumberColumn
from sleek.tables.inputs import Inputs

LEVELS = ("it's", 'say "no" */', "/* ??/ \\", "`${1}`\n", "é\u2028", "--", "NULL", "__proto__")
INPUTS = Inputs(
    (
        NumberColumn('"; DROP TABLE "rows', fill=0.5, indicator=True),
        NumberColumn("select */ ` ${x}\n\\", fill=None),
        CategoryColumn("it's é\u2028", LEVELS, gap=True, other=True),
        LevelColumn("class", ("10115", "a'b"), ((0.5,), (-0.25,)), other=(0.1,), missing=(-1.0,)),
        DateColumn("__proto__", ("days", "season", "weekday", "hour"), fill=19000.25, indicator=True),
        NumberColumn("sleek_x_0", fill=-1.0),
    )
)
DATES = ("2024-02-29 06:00:00", "1969-12-31 23:30:00", None, "2000-01-01 00:00:00")
LABELS = ("it's */", '"\\\n`${0}')


def model():
    d = len(INPUTS.feature_names)
    made = zoo.handmade("sigmoidal", LABELS, d=d, m=3, feature_names=INPUTS.feature_names, inputs=INPUTS)
    days = INPUTS.feature_names.index("__proto__: days since 1970")

    def scaled(part):
        def gentle(name, array):
            if name == "slopes":
                array *= 0.1  # not saturated
                array[:, days : days + 2] *= 1e-3
            return array

        return part.units.map(lambda name, array: gentle(name, array.copy()))

    return replace(made, expansion=made.expansion.map(scaled))


def table():
    rng = np.random.default_rng(0)
    words = [*LEVELS, "elsewhere", None]
    return {
        INPUTS.names[0]: [None if n % 3 == 0 else float(v) for n, v in enumerate(rng.normal(size=20))],
        INPUTS.names[1]: rng.normal(size=20).tolist(),
        INPUTS.names[2]: [words[n % len(words)] for n in range(20)],
        INPUTS.names[3]: [["10115", "a'b", "other", None][n % 4] for n in range(20)],
        INPUTS.names[4]: [DATES[n % 4] for n in range(20)],
        INPUTS.names[5]: [None if n % 5 == 0 else float(n) for n in range(20)],
    }


def rows():
    return [list(row) for row in zip(*table().values(), strict=True)]


def expected():
    return model().decision_function(INPUTS.transform(table()))


def days(text):
    if text is None:
        return None
    return (datetime.datetime.fromisoformat(text) - datetime.datetime(1970, 1, 1)) / datetime.timedelta(
        days=1
    )


def labels():
    return model().predict(INPUTS.transform(table())).tolist()


def test_the_rows_say_something():
    assert len(set(expected().round(9))) == 20
    assert set(labels()) == set(LABELS)


def test_in_python():
    predict = function(model())
    for form in (rows(), [dict(zip(INPUTS.names, row, strict=True)) for row in rows()]):
        np.testing.assert_allclose([predict(row, scores=True)[0] for row in form], expected(), rtol=1e-12)
        assert [predict(row) for row in form] == labels()


@pytest.mark.skipif(NODE is None, reason="there is no node on this machine")
def test_in_javascript(tmp_path):
    for form in (rows(), [dict(zip(INPUTS.names, row, strict=True)) for row in rows()]):
        found = run(tmp_path, to_javascript(model()), form)
        np.testing.assert_allclose([scores[0] for _, scores in found], expected(), rtol=1e-12)
        assert [label for label, _ in found] == labels()


@pytest.mark.parametrize("engine", ENGINES)
def test_in_sql(engine):
    skip_without(engine)
    kinds = dict.fromkeys(INPUTS.names[2:5], "VARCHAR")
    found = query(engine, to_sql(model(), engine, keep=["id"], scores=True), table(), kinds)
    tolerance = 1e-6 if engine == "sqlite" else 1e-11  # whose dates are Julian, in milliseconds
    np.testing.assert_allclose([row[2] for row in found], expected(), rtol=tolerance)
    assert [row[1] for row in found] == labels()


def test_in_onnx():
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(to_onnx(model(), "float64").SerializeToString())
    feed = {}
    for name, values in table().items():
        if name in INPUTS.names[2:4]:
            feed[name] = np.array(["" if v is None else v for v in values], dtype=object)[:, None]
        else:
            numbers = map(days, values) if name == INPUTS.names[4] else values
            feed[name] = np.array(list(numbers), dtype=float)[:, None]
    label, scores = session.run(["label", "scores"], feed)
    np.testing.assert_allclose(scores[:, 0], expected(), rtol=1e-11)
    assert label.tolist() == labels()


@needs_compiler
def test_in_c(tmp_path):
    def number(value):
        return "NAN" if value is None else repr(value)

    def code(value, levels):
        return -1 if value is None else levels.index(value) if value in levels else len(levels)

    lines = [
        f"{{{number(a)}, {number(b)}, {code(c, LEVELS)}, {code(level, ('10115', chr(97) + chr(39) + 'b'))}, "
        f"{number(days(when))}, {number(last)}}}"
        for a, b, c, level, when, last in rows()
    ]
    call = 'printf("[%.17g, %d]\\n", model_decision(&rows[n]), model_predict(&rows[n]))'
    main = f"""#include <stdio.h>
#include "model.h"
int main(void) {{
    static const model_row rows[20] = {{{", ".join(lines)}}};
    for (int n = 0; n < 20; ++n) {call};
    return 0;
}}
"""
    raw = compile_and_run(tmp_path, to_c(model()), main, b"").decode()
    found = [json.loads(line) for line in raw.splitlines()]
    np.testing.assert_allclose([score for score, _ in found], expected(), rtol=1e-11)
    assert [LABELS[code] for _, code in found] == labels()
