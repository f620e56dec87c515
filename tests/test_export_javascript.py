"""JavaScript modules run in node and compute what the models compute."""

import datetime
import json
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest
import zoo

from sleek.export import to_javascript
from sleek.tables.columns import CategoryColumn, DateColumn, LevelColumn, NumberColumn
from sleek.tables.inputs import Inputs

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="there is no node on this machine")
ALL = "rows.map((row) => [model.predict(row), model.scores(row)])"


def run(folder, text, rows, expression=ALL):
    """What an expression of a module and rows is, as JSON; {"error": …} if it throws."""
    (folder / "model.mjs").write_text(text, encoding="utf-8")
    (folder / "main.mjs").write_text(
        'import * as model from "./model.mjs";\nimport { readFileSync } from "node:fs";\n'
        'const rows = JSON.parse(readFileSync(0, "utf-8"));\n'
        "let found;\n"
        f"try {{ found = {expression}; }} catch (error) {{ found = {{ error: error.message }}; }}\n"
        'console.log(JSON.stringify(found, (_, v) => (typeof v === "bigint" ? { big: String(v) } : v)));\n',
        encoding="utf-8",
    )
    done = subprocess.run(
        [NODE, folder / "main.mjs"], input=json.dumps(rows), capture_output=True, text=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(("basis", "task"), zoo.CASES)
def test_it_is_the_model_to_twelve_digits(tmp_path, basis, task):
    model, X = zoo.model(basis, task), zoo.test_rows(task)
    answers, scores = zip(*run(tmp_path, to_javascript(model), X.tolist()), strict=True)
    assert np.max(np.abs(np.array(scores) - zoo.outputs(model, X)) / zoo.scale(model, X)) < 1e-12
    if zoo.classifies(model):
        assert list(answers) == model.predict(X).tolist()
    else:
        np.testing.assert_array_equal(np.reshape(answers, np.shape(scores)), scores)


@pytest.mark.parametrize("labels", [("no", "yes"), (1, 2, 3), None])
def test_columns_of_a_table_are_given_raw(tmp_path, labels):
    model, table, X = zoo.with_inputs("robust_rbf", labels)
    rows = [dict(zip(table, values, strict=True)) for values in zip(*table.values(), strict=True)]
    for form in (rows, [list(row.values()) for row in rows]):
        answers, scores = zip(*run(tmp_path, to_javascript(model), form), strict=True)
        assert np.max(np.abs(np.array(scores) - zoo.outputs(model, X)) / zoo.scale(model, X)) < 1e-12
        if labels:
            assert list(answers) == model.predict(X).tolist()


@pytest.mark.parametrize("kind", ["category", "levels"])
def test_values_of_a_category_are_read_as_by_inputs(tmp_path, kind):
    levels = ("-3", "1", "10", "1e-05", "2.5", "one", "true", "")
    column = CategoryColumn("code", levels, gap=True, other=True)
    if kind == "levels":
        numbers = tuple((float(k), -0.5 * k) for k in range(len(levels)))
        column = LevelColumn("code", levels, numbers, other=(0.1, 7.0), missing=(-1.0, 3.0))
    inputs = Inputs((column,))
    model = zoo.handmade("sigmoidal", None, d=len(inputs.feature_names), feature_names=inputs.feature_names)
    model = replace(model, inputs=inputs)
    values = [1, 1.0, 2.5, True, False, "1", "1.0", None, "nan", -3, 1e-05, 1e22, 0.1, "", "one", "One"]
    found = run(tmp_path, to_javascript(model), [[value] for value in values], "rows.map(model.predict)")
    np.testing.assert_allclose(found, model.predict(inputs.transform({"code": values})), rtol=1e-12)


def test_truth_values_may_be_written_in_three_ways(tmp_path):
    inputs = Inputs((CategoryColumn("code", ("false", "true")),))
    model = zoo.handmade("sigmoidal", None, d=2, feature_names=inputs.feature_names, inputs=inputs)
    values = [True, False, "true", "True", "TRUE", "FALSE", None]
    found = run(tmp_path, to_javascript(model), [[value] for value in values], "rows.map(model.predict)")
    meant = ["true", "false", "true", "true", "true", "false", None]
    np.testing.assert_allclose(found, model.predict(inputs.transform({"code": meant})), rtol=1e-12)


def test_dates_are_text_days_or_objects(tmp_path):
    parts = ("days", "season", "weekday", "hour")
    inputs = Inputs((DateColumn("when", parts, fill=3.25, indicator=True), NumberColumn("n", fill=None)))
    model = zoo.handmade("sigmoidal", None, d=6, feature_names=inputs.feature_names, inputs=inputs)
    texts = ["2024-02-29", "1969-12-31 23:30", "2000-01-01T12:00:30.25Z", "2024/07/01 06:00+02:00", None]
    wanted = model.predict(inputs.transform({"when": texts, "n": [0.5] * len(texts)}))
    text, rows = to_javascript(model), [[when, 0.5] for when in texts]
    np.testing.assert_allclose(run(tmp_path, text, rows, "rows.map(model.predict)"), wanted, rtol=1e-12)
    objects = "rows.map(([when, n]) => model.predict([when && new Date(when), n]))"
    rows = [["2024-02-29T00:00Z", 0.5], ["1969-12-31T23:30Z", 0.5]]
    np.testing.assert_allclose(run(tmp_path, text, rows, objects), wanted[:2], rtol=1e-12)
    days = (datetime.date(2024, 2, 29) - datetime.date(1970, 1, 1)).days
    assert run(tmp_path, text, [[days, 0.5]], "rows.map(model.predict)") == pytest.approx(
        [wanted[0]], rel=1e-12
    )
    for bad in ("2023-02-29", "yesterday", "29.2.2024"):
        assert "A date must be" in run(tmp_path, text, [[bad, 0.5]], "rows.map(model.predict)")["error"]


LABELS = [(False, True), (0.0, 1.5), ("*/ `${1}`", "\u2028'\"\\\n"), (-(2**63), 2**63 - 1), (3, 1, 2)]


@pytest.mark.parametrize("labels", LABELS, ids=str)
def test_labels_of_any_kind(tmp_path, labels):
    model, X = zoo.handmade(labels=labels), np.random.default_rng(0).normal(size=(30, 3))
    found = run(tmp_path, to_javascript(model), X.tolist(), "rows.map(model.predict)")
    found = [int(label["big"]) if isinstance(label, dict) else label for label in found]
    assert found == model.predict(X).tolist()


def test_names_cannot_break_the_code(tmp_path):
    names = ("*/ throw 1; /*", "`${throw}`\n\\", "'é\u2028\"__proto__")
    model = zoo.handmade(labels=None, feature_names=names)
    row = dict(zip(names, [0.1, 0.2, 0.3], strict=True))
    found = run(tmp_path, to_javascript(model), [row], "rows.map(model.predict)")
    assert found == pytest.approx(model.predict(np.array([[0.1, 0.2, 0.3]])).tolist(), rel=1e-12)


def test_bad_rows_are_refused(tmp_path):
    text = to_javascript(zoo.handmade())
    for row, sentence in (
        ([1.0, 2.0], "A row must have 3 values, got 2."),
        ([1.0, None, 2.0], "A row must be finite numbers"),
        ([1.0, "", 2.0], "A row must be finite numbers"),
        ({"x0": 1.0, "x1": 2.0}, "A row must be finite numbers"),
    ):
        assert sentence in run(tmp_path, text, [row], "rows.map(model.predict)")["error"]


def test_typed_arrays_are_rows_too(tmp_path):
    model = zoo.handmade(labels=None)
    found = run(
        tmp_path, to_javascript(model), [[0.5, 0.25, 1.0]], "[model.predict(new Float64Array(rows[0]))]"
    )
    assert found == pytest.approx(model.predict(np.array([[0.5, 0.25, 1.0]])).tolist(), rel=1e-12)
