"""Bad input to the command line: exit code 2, one sentence that names the place, no traceback, no file."""

import json
import os
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from sleek.cli.commands import app

FILES = {
    "good.csv": "a,b,y\n" + "".join(f"{row % 7},{row % 5},{row % 2}\n" for row in range(40)),
    "new.csv": "a,b\n1,2\n3,4\n",
    "empty.csv": "",
    "header.csv": "a,b,y\n",
    "ragged.csv": "a,b,y\n1,2,0\n3,4\n",
    "latin.csv": "a,b,y\n1,caf\xe9,0\n".encode("latin-1"),
    "one_class.csv": "a,y\n1,no\n2,no\n",
    "no_target.csv": "a,y\n1,\n2,NA\n",
    "gap.csv": "a,b,y\n1,,0\n2,,1\n3,,0\n",
    "dates.csv": "a,when,who,y\n"
    + "".join(f"{row},2024-01-{row % 28 + 1:02d},p{row},{row % 2}\n" for row in range(60)),
    "day.csv": "a,y\n1,2024-01-31\n2,2024-02-01\n",
    "text.csv": "a,b\n1,2\n3,four\n",
    "infinite.csv": "a,b,y\n1,2,0\ninf,3,1\n",
    "short.csv": "a,c\n1,2\n",
    "only.csv": "y\n0\n1\n",
    "weights.csv": "a,w,y\n1,1,0\n2,-1,1\n3,1,0\n",
    "no_weight.csv": "a,w,y\n1,0,0\n2,0,1\n",
    "huge.csv": "b,income,y\n1,1e200,0\n2,-1e200,1\n3,1e200,0\n",
    "many.csv": "a,y\n" + "".join(f"{row % 7},{row}.5\n" for row in range(30)),
    "far.csv": "a,b,y\n1,2,1e200\n2,2,1e200\n",
    "signed.csv": "a,b,w,y\n1,2,2,0\n2,2,-2,1\n",
    "words.csv": "a,b,y\n1,2,3\n1,2,four\n",
    "clash.csv": "a,b,prediction\n1,2,3\n",
    "not_model.json": '{"format": "something else"}',
    "broken.json": '{"format": "sleek-model", ',
}
FIT = ("-t", "y", "--units", "2", "--basis", "simplex", "--jobs", "1")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bad")
    for name, content in FILES.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    (folder / "sub").mkdir()
    result = CliRunner().invoke(app, ["fit", str(folder / "good.csv"), *FIT, "-o", str(folder / "m.json")])
    assert result.exit_code == 0, result.stderr
    fit = ["fit", str(folder / "good.csv"), *FIT, "--task", "regression", "-o", str(folder / "numbers.json")]
    assert CliRunner().invoke(app, fit).exit_code == 0
    return folder


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("fit nothing.csv -t y", "nothing.csv does not exist."),
        ("fit god.csv -t y", "god.csv does not exist. Did you mean 'good.csv'?"),
        ("fit sub -t y", "file in the folder 'sub'."),
        ("fit empty.csv -t y", "empty.csv is empty: a line of column names and rows are needed."),
        ("fit header.csv -t y", "header.csv has column names but no rows."),
        ("fit ragged.csv -t y", "ragged.csv, line 3: 2 fields, but 3 column names"),
        ("fit one_class.csv -t y", "one_class.csv: the target 'y' is 'no' in every row"),
        ("fit no_target.csv -t y", "no_target.csv: the target 'y' has no value in any row."),
        ("fit day.csv -t y", "day.csv: the target 'y' holds dates"),
        ("fit gap.csv -t y --columns b", "Column 'b' has no value in any row."),
        ("fit dates.csv -t y --columns who", "Column 'who' has 60 different texts in 60 rows"),
        ("fit good.csv -t Y", "good.csv has no column 'Y'. Did you mean 'y'? It has: a, b, y."),
        ("fit good.csv -t target", "good.csv has no column 'target'. It has: a, b, y."),
        ("fit good.csv -t y --drop aa", "good.csv has no column 'aa'. Did you mean 'a'?"),
        (
            "fit good.csv -t y --columns a,y",
            "--columns names 'y', which is the target, the weight, the groups or dropped.",
        ),
        ("fit good.csv -t y --drop a,b", "good.csv has no column left to learn from."),
        ("fit only.csv -t y", "only.csv has no column left to learn from."),
        ("fit infinite.csv -t y", "Column 'a' must hold finite numbers, got inf in line 3 of infin"),
        ("fit huge.csv -t y", "huge.csv: Values of feature 'income' are too large for float64 arithmetic"),
        (
            "fit huge.csv -t income --task regression",
            "huge.csv: Values of target number 0 are too large for float64",
        ),
        ("fit many.csv -t y --task classification", "too many to be classes. Is another column meant"),
        ('fit good.csv -t y --drop a"b"', "good.csv has no column 'a\"b\"'."),
        ("fit good.csv -t y --units 0", "Invalid value for '--units'"),
        ("fit good.csv -t y --basis rbf", "Invalid value for '--basis'"),
        ("fit good.csv -t y --task sort", "Invalid value for '--task'"),
        ("fit good.csv -t y --jobs 0", "--jobs must be a number of threads, or -1 for all cores, got 0."),
        ("fit good.csv -t y --test 1.5", "--test must be a share of the rows between 0 and 1, got 1.5."),
        ("fit good.csv -t y --weight w", "good.csv has no column 'w'."),
        (
            "fit weights.csv -t y --weight w",
            "Column 'w' must hold weights, finite and not negative, got -1.0 in line 3 of weights.csv.",
        ),
        ("fit no_weight.csv -t y --weight w", "No row of no_weight.csv has a weight above 0 in column 'w'"),
        (
            "fit text.csv -t b --task regression",
            "Column 'b' must hold numbers, got 'four' in line 3 of text",
        ),
        (
            "fit good.csv -t y -o nowhere/m.json",
            "nowhere/m.json cannot be written: there is no folder nowhere.",
        ),
        ("fit good.csv -t y -o sub", "sub is a folder: the name of a file is needed."),
        ("fit good.csv", "Missing option '--target'"),
        ("predict m.json text.csv", "Column 'b' must hold numbers, got 'four' in line 3 of text"),
        (
            "predict m.json infinite.csv",
            "Column 'a' must hold finite numbers, got inf in line 3 of infin",
        ),
        ("predict m.json short.csv", "short.csv has no column 'b'. It has: a, c."),
        ("predict m.json header.csv", "There are no rows in header.csv: there is nothing to predict."),
        ("predict m.json new.csv --keep id", "new.csv has no column 'id'."),
        (
            "predict m.json clash.csv --keep *",
            "clash.csv: A kept column must not be named like the predictions, got 'prediction'.",
        ),
        ("predict m.json new.csv -o nowhere/out.csv", "nowhere/out.csv cannot be written"),
        (
            "predict m.json new.csv -o out.xls",
            "out.xls must end in .csv, .csv.gz, .tsv, .parquet, .pq to say what to write.",
        ),
        ("predict m.json new.csv -o out.gz", "out.gz must end in .csv, .csv.gz"),
        ("fit good.csv -t y -o model.csv", "model.csv is named like a table, but a model is JSON"),
        ("predict numbers.json new.csv --scores", "Scores are for classifiers"),
        ("predict - -", "Model and data cannot both be standard input (-)."),
        ("evaluate - -", "Model and data cannot both be standard input (-)."),
        ("explain - -- -:1", "Model and data cannot both be standard input (-)."),
        ("predict good.csv new.csv", "good.csv is not a model that can be used."),
        ("predict not_model.json new.csv", "not_model.json is not a model that can be used."),
        ("predict broken.json new.csv", "broken.json is not a model that can be used. A model must be JSON"),
        ("predict empty.csv new.csv", "empty.csv is not a model that can be used."),
        ("predict sub new.csv", "sub is a folder: a file is needed."),
        ("show mm.json", "mm.json does not exist. Did you mean 'm.json'?"),
        ("evaluate m.json new.csv", "new.csv has no column 'y'."),
        ("evaluate numbers.json far.csv", "far.csv: values of the target 'y' are too large for float64"),
        ("evaluate m.json good.csv --weight w", "good.csv has no column 'w'."),
        ("evaluate m.json good.csv --weight b", "The model reads 'b' itself: it cannot be the weight too."),
        (
            "evaluate m.json signed.csv --weight w",
            "Column 'w' must hold weights, finite and not negative, got -2.0 in line 3 of signed.csv.",
        ),
        ("evaluate m.json text.csv --target b", "The model reads 'b' itself: name the column of true values"),
        (
            "evaluate numbers.json words.csv",
            "Column 'y' must hold numbers, got 'four' in line 3 of words",
        ),
        (
            "explain m.json new.csv:1 --row a=1",
            "Name one row: data.csv:17 for a row of a file, or --row age=41,colour=red.",
        ),
        ("explain m.json --row c=1", "--row needs column=value with a column of the model, got 'c=1'."),
        ("explain m.json --row a", "--row needs column=value with a column of the model, got 'a'."),
        ("explain m.json --row a=x", "--row: column 'a' needs a number, got 'x'."),
        ("explain m.json --row a=inf", "--row: Column 'a' must hold finite numbers, got inf"),
        ("explain m.json new.csv", "A row is named as file:row, such as data.csv:1, got 'new.csv'."),
        ("explain m.json new.csv:3", "new.csv has rows 1 to 2, got 3."),
        ("export m.json --to java", "Invalid value for '--to'"),
        (
            "export m.json",
            "Say --to onnx, c, sql, python, javascript, or let -o end in .onnx, .h, .sql, .py, .mjs.",
        ),
        ("export m.json -o m.txt", "Say --to onnx, c, sql, python"),
        ("export m.json --to onnx", "ONNX is not text: name a file with -o model.onnx."),
        ("export m.json --to c --table rows", "--table is for sql, not for c."),
        (
            "export m.json --to c --dtype int8",
            "export to c: `dtype` must be 'float32' or 'float64', got 'int8'.",
        ),
        ("export m.json --to sql --dialect basic", "export to sql: `dialect`"),
    ],
    ids=lambda value: value[:50],
)
def test_bad_input(folder, monkeypatch, command, sentence):
    monkeypatch.chdir(folder)
    before = sorted(os.listdir(folder))
    result = CliRunner().invoke(app, command.split())
    assert result.exit_code == 2, (result.stdout, result.stderr, result.exception)
    assert result.stdout == ""
    assert sentence in " ".join(result.stderr.replace("│", " ").split())
    assert "Traceback" not in result.stderr
    assert sorted(os.listdir(folder)) == before


def test_without_pyarrow_parquet_is_not_written(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    out = folder / "out.parquet"
    result = CliRunner().invoke(
        app, ["predict", str(folder / "m.json"), str(folder / "new.csv"), "-o", str(out)]
    )
    assert result.exit_code == 2
    assert "needs pyarrow, which is not installed: pip install pyarrow." in result.stderr


def test_without_onnx_nothing_is_exported_to_it(folder, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "onnx", None)
    result = CliRunner().invoke(app, ["export", str(folder / "m.json"), "-o", str(tmp_path / "m.onnx")])
    assert result.exit_code == 2
    assert "pip install 'sleek-svm[onnx]'" in result.stderr


def test_ids_are_left_out_and_named(tmp_path):
    names = ["a,b", 'say "hi"', "it's", " spaced ", "$HOME", "plain"]
    columns = {name: [f"{name} {row}" for row in range(60)] for name in names}
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table(columns | {"x": np.arange(60) % 7, "y": np.arange(60) % 2}), path)
    result = CliRunner().invoke(app, ["fit", str(path), *FIT, "--json"])
    assert result.exit_code == 0, result.stderr
    report = json.loads(result.stdout)
    assert report["columns"] == 1
    for name in names:
        assert any(note.startswith(f"column {name!r} has 60 different") for note in report["notes"])


def test_notes_speak_of_options(tmp_path, folder):
    result = CliRunner().invoke(app, ["fit", str(folder / "good.csv"), *FIT, "--units", "41"])
    assert result.exit_code == 0
    assert "note: --units 41 is more than the 35 distinct rows: 35 units are fitted." in result.stderr


def test_training_that_does_not_end_is_told_in_options(monkeypatch, folder):
    monkeypatch.setattr("sleek.trainers.varpro.VariableProjection.__init__.__defaults__", ("loo", 1, 1e-5))
    result = CliRunner().invoke(app, ["fit", str(folder / "good.csv"), *FIT])
    assert result.exit_code == 0
    assert "note: training ended after 1 iterations, before it had converged" in result.stderr
    assert "fewer --units" in result.stderr
    assert "max_iter" not in result.stderr


def test_an_outlier_is_named_by_its_line(tmp_path):
    rows = "".join(f"{row % 7},{row / 3}\n" for row in range(40))
    (tmp_path / "data.csv").write_text(f"a,price\n{rows}3,1e9\n")
    result = CliRunner().invoke(
        app, ["fit", str(tmp_path / "data.csv"), "-t", "price", "--units", "2", "--basis", "simplex"]
    )
    assert f"note: Line 42 of {tmp_path / 'data.csv'}, 1e+09, makes up" in result.stderr
