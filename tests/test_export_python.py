"""Exported Python functions run in a bare interpreter and compute what the models compute."""

import json
import subprocess
import sys

import numpy as np
import pytest
import zoo

from sleek.export import to_python


def bare(folder, text, rows, name="predict"):
    """Labels or numbers, and scores, of rows by an interpreter without site packages."""
    (folder / "job.py").write_text(
        f"{text}\nimport json, sys\nrows = json.load(sys.stdin)\n"
        f"print(json.dumps([[{name}(row), {name}(row, scores=True)] for row in rows]))\n",
        encoding="utf-8",
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-W", "error", folder / "job.py"],
        input=json.dumps(rows),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    answers, scores = zip(*json.loads(done.stdout), strict=True)
    return list(answers), np.array(scores)


def function(model):
    module = {}
    exec(to_python(model), module)
    return module["predict"]


@pytest.mark.parametrize(("basis", "task"), zoo.CASES)
def test_it_is_the_model_to_twelve_digits(tmp_path, basis, task):
    model, X = zoo.model(basis, task), zoo.test_rows(task)
    answers, scores = bare(tmp_path, to_python(model), X.tolist())
    assert np.max(np.abs(scores - zoo.outputs(model, X)) / zoo.scale(model, X)) < 1e-12
    if zoo.classifies(model):
        assert answers == model.predict(X).tolist()
    else:
        np.testing.assert_array_equal(np.reshape(answers, scores.shape), scores)


@pytest.mark.parametrize("labels", [("no", "yes"), (1, 2, 3)])
def test_columns_of_a_table_are_given_raw(tmp_path, labels):
    model, table, X = zoo.with_inputs("robust_rbf", labels)
    rows = [dict(zip(table, values, strict=True)) for values in zip(*table.values(), strict=True)]
    for form in (rows, [list(row.values()) for row in rows]):
        answers, scores = bare(tmp_path, to_python(model), form)
        assert np.max(np.abs(scores - zoo.outputs(model, X)) / zoo.scale(model, X)) < 1e-12
        assert answers == model.predict(X).tolist()


def test_values_of_a_category_are_read_as_by_inputs():
    from sleek.tables.columns import CategoryColumn
    from sleek.tables.inputs import Inputs

    inputs = Inputs((CategoryColumn("code", levels=("1", "2.5", "true")),))
    model = zoo.handmade(labels=None, feature_names=inputs.feature_names, inputs=inputs)
    values = [1, 1.0, 2.5, True, "1", None, float("nan"), "nan"]
    predicted = [function(model)([value]) for value in values]
    np.testing.assert_allclose(predicted, model.predict(inputs.transform({"code": values})), rtol=1e-12)


@pytest.mark.parametrize("labels", [(False, True), (0.0, 1.0), ('"""', "'\\\n"), (2**64 - 1, 3)], ids=str)
def test_labels_of_any_kind(labels):
    model, X = zoo.handmade(labels=labels), np.random.default_rng(0).normal(size=(30, 3))
    answers = [function(model)(row) for row in X]
    assert answers == model.predict(X).tolist()
    assert {type(answer) for answer in answers} == {type(label) for label in model.outputs.classes.tolist()}


def test_names_cannot_break_the_code():
    names = ('"""', "new\nline\\", "'é\u2028")
    model = zoo.handmade(labels=None, feature_names=names)
    row = dict(zip(names, [0.1, 0.2, 0.3], strict=True))
    assert function(model)(row) == pytest.approx(model.predict(np.array([[0.1, 0.2, 0.3]]))[0], rel=1e-12)
    assert '"' in function(model).__doc__


def test_the_docstring_says_what_goes_in_and_out():
    doc = function(zoo.with_inputs()[0]).__doc__
    for words in ("'age': a number or None", "'int': a finite number", "'Köln'", "one of 'no', 'yes'"):
        assert words in doc


def test_bad_rows_are_refused():
    predict = function(zoo.handmade())
    with pytest.raises(ValueError, match="A row must have 3 values, got 2"):
        predict([1.0, 2.0])
    for bad in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="A row must be finite numbers"):
            predict([1.0, bad, 0.0])
    with pytest.raises(ValueError, match="A row must be finite numbers"):
        function(zoo.with_inputs()[0])([1.0, "Köln", None])


@pytest.mark.parametrize("name", ["def", "exp", "max", "2x", ""])
def test_names_that_would_break_the_code_are_refused(name):
    with pytest.raises(ValueError, match="`name` must begin with a letter"):
        to_python(zoo.handmade(), name)
