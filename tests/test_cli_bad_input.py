"""Bad input to the command line: exit code 2, one sentence that names the place, no traceback, no file."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from typer.testing import CliRunner

import sleek
from sleek.cli import app
from sleek.datasets import make_ripley

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
        ("fit sub -t y", "sub is a folder: a file is needed."),
        ("fit empty.csv -t y", "empty.csv is empty: a line of column names and rows are needed."),
        ("fit header.csv -t y", "header.csv has column names but no rows."),
        ("fit ragged.csv -t y", "ragged.csv, line 3: 2 fields, but 3 column names"),
        ("fit latin.csv -t y", "latin.csv, line 2: byte 0xe9 is not UTF-8"),
        ("fit one_class.csv -t y", "one_class.csv: the target 'y' is 'no' in every row"),
        ("fit no_target.csv -t y", "no_target.csv: the target 'y' has no value in any row."),
        ("fit day.csv -t y", "day.csv: the target 'y' holds dates"),
        ("fit gap.csv -t y", "Column 'b' has no value in any row: leave it out."),
        ("fit dates.csv -t y", "Column 'when' holds dates ('2024-01-01')"),
        ("fit dates.csv -t y", "Column 'who' has 60 different texts in 60 rows"),
        ("fit dates.csv -t y", "--drop 'when,who'"),
        ("fit good.csv -t Y", "good.csv has no column 'Y'. Did you mean 'y'? It has: a, b, y."),
        ("fit good.csv -t target", "good.csv has no column 'target'. It has: a, b, y."),
        ("fit good.csv -t y --drop aa", "good.csv has no column 'aa'. Did you mean 'a'?"),
        (
            "fit good.csv -t y --columns a,y",
            "--columns names 'y', which is the target, the weight or dropped.",
        ),
        ("fit good.csv -t y --drop a,b", "good.csv has no column left to learn from."),
        ("fit only.csv -t y", "only.csv has no column left to learn from."),
        ("fit infinite.csv -t y", "infinite.csv, line 3, column 'a': a finite number is needed, got inf."),
        ("fit good.csv -t y --units 41", "`n_units`=41 is more than the"),
        ("fit good.csv -t y --units 0", "Invalid value for '--units'"),
        ("fit good.csv -t y --basis rbf", "Invalid value for '--basis'"),
        ("fit good.csv -t y --task sort", "Invalid value for '--task'"),
        ("fit good.csv -t y --jobs 0", "--jobs must be a number of threads, or -1 for all cores, got 0."),
        ("fit good.csv -t y --test 1.5", "--test must be a share of the rows between 0 and 1, got 1.5."),
        ("fit good.csv -t y --weight w", "good.csv has no column 'w'."),
        (
            "fit weights.csv -t y --weight w",
            "line 3, column 'w': a weight of at least 0 is needed, got -1.0.",
        ),
        ("fit no_weight.csv -t y --weight w", "no_weight.csv: the weight 'w' is 0 in every row."),
        ("fit text.csv -t b --task regression", "line 3, column 'b': a number is needed, got 'four'."),
        (
            "fit good.csv -t y -o nowhere/m.json",
            "nowhere/m.json cannot be written: there is no folder nowhere.",
        ),
        ("fit good.csv -t y -o sub", "sub is a folder: the name of a file is needed."),
        ("fit good.csv", "Missing option '--target'"),
        ("predict m.json text.csv", "text.csv, line 3, column 'b': a number is needed, got 'four'."),
        ("predict m.json infinite.csv", "line 3, column 'a': a finite number is needed, got inf."),
        ("predict m.json short.csv", "short.csv has no column 'b'. It has: a, c."),
        ("predict m.json header.csv", "header.csv has column names but no rows."),
        ("predict m.json new.csv --keep id", "new.csv has no column 'id'."),
        (
            "predict m.json clash.csv --keep *",
            "clash.csv has a column 'prediction' already: do not --keep it.",
        ),
        ("predict m.json new.csv -o nowhere/out.csv", "nowhere/out.csv cannot be written"),
        ("predict numbers.json new.csv --scores", "--scores is for classifiers"),
        ("predict - -", "Model and data cannot both be standard input (-)."),
        ("evaluate - -", "Model and data cannot both be standard input (-)."),
        ("show - --explain -:1", "Model and data cannot both be standard input (-)."),
        ("predict good.csv new.csv", "good.csv is not a model that can be used."),
        ("predict not_model.json new.csv", "not_model.json is not a model that can be used."),
        ("predict broken.json new.csv", "broken.json is not a model that can be used. A model must be JSON"),
        ("predict empty.csv new.csv", "empty.csv is not a model that can be used."),
        ("predict sub new.csv", "sub is a folder: a file is needed."),
        ("show mm.json", "mm.json does not exist. Did you mean 'm.json'?"),
        ("evaluate m.json new.csv", "new.csv has no column 'y'."),
        ("evaluate m.json text.csv --target b", "line 3, column 'b': a number is needed, got 'four'."),
        (
            "show m.json --row a=1 --explain new.csv:1",
            "--row and --explain both name a row: give one of them.",
        ),
        ("show m.json --row c=1", "--row needs column=value with a column of the model, got 'c=1'."),
        ("show m.json --row a", "--row needs column=value with a column of the model, got 'a'."),
        ("show m.json --row a=x", "--row: column 'a' needs a number, got 'x'."),
        ("show m.json --row a=inf", "--row: Column 'a' must hold finite numbers, got inf"),
        ("show m.json --explain new.csv", "--explain needs file:row, such as data.csv:1, got 'new.csv'."),
        ("show m.json --explain new.csv:3", "new.csv has rows 1 to 2, got 3."),
        ("export m.json --to java", "Invalid value for '--to'"),
        ("export m.json", "Say --to onnx, c, sql, python, or let -o end in .onnx, .h, .sql, .py."),
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
    assert "Parquet files need pyarrow: pip install 'sleek[files]'." in result.stderr


def test_without_onnx_nothing_is_exported_to_it(folder, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "onnx", None)
    result = CliRunner().invoke(app, ["export", str(folder / "m.json"), "-o", str(tmp_path / "m.onnx")])
    assert result.exit_code == 2
    assert "pip install 'sleek[onnx]'" in result.stderr


# ---- as a shell runs it ---------------------------------------------------------------------------------

SLEEK = (sys.executable, "-m", "sleek")


def shell(*arguments, **options):
    return subprocess.run([*SLEEK, *map(str, arguments)], capture_output=True, text=True, **options)


def test_exit_codes_and_streams(folder, tmp_path):
    done = shell("fit", folder / "good.csv", *FIT, "-o", tmp_path / "m.json")
    assert (done.returncode, done.stderr) == (0, "")
    bad = shell("fit", folder / "ragged.csv", *FIT)
    assert (bad.returncode, bad.stdout) == (2, "")
    assert bad.stderr.startswith("sleek: ")
    assert bad.stderr.count("\n") == 1
    assert shell("nonsense").returncode == 2


def test_terminals_that_know_no_greek(folder):
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "COLUMNS": "80"}
    done = shell("show", folder / "m.json", env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert "+ ? weight ? unit" in done.stdout


def test_a_pipe(folder):
    data = (folder / "good.csv").read_text()
    done = shell("predict", folder / "m.json", "-", input=data)
    assert done.stdout.splitlines()[0] == "prediction"
    assert len(done.stdout.splitlines()) == 41


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_closed_pipe_is_no_drama(folder, tmp_path, unbuffered):
    X, y = make_ripley(20_000, random_state=0)
    np.savetxt(tmp_path / "big.csv", np.column_stack([X, y]), delimiter=",", header="a,b,y", comments="")
    predict = [*SLEEK, "predict", folder / "m.json", tmp_path / "big.csv", "--keep", "*"]
    environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    pipe = subprocess.PIPE
    process = subprocess.Popen(predict, stdout=pipe, stderr=pipe, text=True, env=environment)
    assert process.stdout.readline() == "a,b,y,prediction\n"
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait(60) == 141


def test_an_interrupt_leaves_what_was_there(tmp_path):
    X, y = make_ripley(3000, random_state=0)
    np.savetxt(tmp_path / "data.csv", np.column_stack([X, y]), delimiter=",", header="a,b,y", comments="")
    (tmp_path / "m.json").write_text("what was there")
    fit = [*SLEEK, "fit", tmp_path / "data.csv", "-t", "y", "-o", tmp_path / "m.json", "-v"]
    process = subprocess.Popen(fit, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr.readline().startswith("[LowRankLSSVC]")  # it is fitting
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    printed, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert printed == ""
    assert said.endswith("sleek: interrupted\n")
    assert "Traceback" not in said
    assert sorted(os.listdir(tmp_path)) == ["data.csv", "m.json"]
    assert (tmp_path / "m.json").read_text() == "what was there"


def test_a_failed_write_leaves_what_was_there(folder, tmp_path, monkeypatch):
    (tmp_path / "m.json").write_text("what was there")

    def full(*_):
        raise OSError(28, "No space left on device", str(tmp_path / "m.json"))

    monkeypatch.setattr(os, "fsync", full)
    result = CliRunner().invoke(app, ["fit", str(folder / "good.csv"), *FIT, "-o", str(tmp_path / "m.json")])
    assert result.exit_code == 2
    assert "m.json: No space left on device" in result.stderr
    assert os.listdir(tmp_path) == ["m.json"]
    assert (tmp_path / "m.json").read_text() == "what was there"


def test_a_link_stays_a_link_and_devices_are_written_to(folder, tmp_path):
    (tmp_path / "link.json").symlink_to(tmp_path / "m.json")
    for path in (tmp_path / "link.json", "/dev/null"):
        result = CliRunner().invoke(app, ["fit", str(folder / "good.csv"), *FIT, "-o", str(path)])
        assert result.exit_code == 0, result.stderr
    assert (tmp_path / "link.json").is_symlink()
    assert len(sleek.load(tmp_path / "m.json").units) == 2


def test_completion_offers_commands():
    environment = os.environ | {
        "_SLEEK_COMPLETE": "complete_bash",
        "COMP_WORDS": "sleek ev",
        "COMP_CWORD": "1",
    }
    code = "import sys; sys.argv[0] = 'sleek'; from sleek.cli import app; app(prog_name='sleek')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.stdout.split() == ["evaluate"]
