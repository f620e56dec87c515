"""Categories that are numbers or truth values in a database are read by every exporter as by `Inputs`."""

from decimal import Decimal

import numpy as np
import pytest
import zoo
from engines import ENGINES, query, skip_without
from test_export_c import compile_and_run, needs_compiler
from test_export_python import function

from sleek.export import to_c, to_onnx, to_sql
from sleek.tables.columns import CategoryColumn
from sleek.tables.inputs import Inputs
from sleek.tables.reading import texts

LEVELS = ("-3", "1", "10", "1e-05", "2.5", "false", "one", "true")
# For each type of a database: its columns in DuckDB, SQLite and PostgreSQL, and values of it.
COLUMNS = {
    "integer": ("BIGINT", "INTEGER", "BIGINT", [1, 10, -3, 0, 2**60, None]),
    "double": ("DOUBLE", "REAL", "DOUBLE PRECISION", [1.0, 10.0, -3.0, 2.5, 1e-05, 0.1, 1e22, -0.0, None]),
    "decimal": (
        "DECIMAL(9, 2)",
        None,
        "DECIMAL(9, 2)",
        [Decimal("1.00"), Decimal("10.00"), Decimal("2.50"), Decimal("0.10"), None],
    ),
    "whole decimal": ("DECIMAL(9, 0)", None, "DECIMAL(9, 0)", [Decimal(1), Decimal(10), Decimal(100), None]),
    "number": (None, "DECIMAL(9, 2)", None, [1, 10, 2.5, 0.1, None]),
    "boolean": ("BOOLEAN", None, "BOOLEAN", [True, False, None]),
    "text": (
        "VARCHAR",
        "TEXT",
        "TEXT",
        ["1", "1.0", "01", "2.5", "2.50", "true", "TRUE", "One", "one", "", None],
    ),
    "folded text": (
        "VARCHAR COLLATE NOCASE",
        "TEXT COLLATE NOCASE",
        None,
        ["one", "ONE", "true", "True", None],
    ),
    "single": ("FLOAT", None, "REAL", [1.0, 2.5, 10.0, None]),
    "small": ("TINYINT", "SMALLINT", "SMALLINT", [1, -3, 10, None]),
    "not a number": ("DOUBLE", None, "DOUBLE PRECISION", [float("nan"), 1.0]),
}
TRUTH = [(True, "true"), (False, "false"), (None, None)]


def model(levels=LEVELS):
    """A model whose answer tells all levels apart."""
    inputs = Inputs((CategoryColumn("code", levels),))
    made = zoo.handmade(
        "sigmoidal", None, d=len(levels), m=3, feature_names=inputs.feature_names, inputs=inputs
    )
    rows = np.concatenate([np.zeros((1, len(levels))), np.eye(len(levels))])
    assert len(set(made.predict(rows).round(9))) == len(levels) + 1
    return made


def expected(made, values):
    return made.predict(made.inputs.transform({"code": values}))


def ask(engine, kind, values, made):
    skip_without(engine)
    text = to_sql(made, engine, keep=["id"])
    return [answer for _, answer in query(engine, text, {"code": values}, {"code": kind})]


@pytest.mark.parametrize(
    ("engine", "column"),
    [
        (engine, name)
        for name, (*kinds, _) in COLUMNS.items()
        for engine, kind in zip(ENGINES, kinds, strict=True)
        if kind
    ],
)
def test_in_sql(engine, column):
    kind, values = COLUMNS[column][ENGINES.index(engine)], COLUMNS[column][3]
    np.testing.assert_allclose(ask(engine, kind, values, model()), expected(model(), values), rtol=1e-12)


@pytest.mark.parametrize("kind", ["BOOLEAN", "INTEGER", "REAL"])
def test_sqlite_holds_truth_values_as_numbers(kind):
    made = model(("false", "true"))
    values, meant = zip(*TRUTH, (2, "2"), strict=True)
    np.testing.assert_allclose(ask("sqlite", kind, values, made), expected(made, meant), rtol=1e-12)


def test_text_is_no_truth_value_in_sqlite():
    made, values = model(("false", "true")), ["1", "0", "true", "false"]
    np.testing.assert_allclose(ask("sqlite", "TEXT", values, made), expected(made, values), rtol=1e-12)


def test_words_alone_need_no_more_than_a_comparison():
    assert "typeof" not in to_sql(model(("one", "two")), "duckdb")


@pytest.mark.parametrize("column", COLUMNS)
def test_in_python(column):
    values = COLUMNS[column][3]
    predict = function(model())
    np.testing.assert_allclose([predict([value]) for value in values], expected(model(), values), rtol=1e-12)


def test_in_python_numpys_own_values_too():
    values = [
        np.float32(1.0),
        np.int8(10),
        np.bool_(True),
        np.float64(2.5),
        np.float32("nan"),
        np.str_("one"),
    ]
    predict = function(model())
    np.testing.assert_allclose([predict([value]) for value in values], expected(model(), values), rtol=1e-12)


@pytest.mark.parametrize("column", COLUMNS)
def test_in_onnx(column):
    """ONNX takes texts: those that `texts` makes of the values."""
    runtime = pytest.importorskip("onnxruntime")
    values = COLUMNS[column][3]
    proto = to_onnx(model(), "float64")
    session = runtime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    fed = np.array([text or "" for text in texts(values)], dtype=object)[:, None]
    found = session.run(["variable"], {"code": fed})[0]
    np.testing.assert_allclose(found[:, 0], expected(model(), values), rtol=1e-12)


@needs_compiler
def test_in_c(tmp_path):
    """C takes the number of the level, which enumerators name."""
    values = [value for *_, column in COLUMNS.values() for value in column]
    codes = [LEVELS.index(text) if text in LEVELS else -1 for text in texts(values)]
    main = """#include <stdio.h>
#include "model.h"
int main(void) {
    model_row row;
    while (fread(&row.code, sizeof row.code, 1, stdin) == 1) {
        double y = model_predict(&row);
        fwrite(&y, sizeof y, 1, stdout);
    }
    return model_code_3 + model_code_one + model_code_true - 0 - 6 - 7;
}
"""
    raw = compile_and_run(tmp_path, to_c(model()), main, np.array(codes, dtype=np.intc).tobytes())
    np.testing.assert_allclose(np.frombuffer(raw), expected(model(), values), rtol=1e-12)
