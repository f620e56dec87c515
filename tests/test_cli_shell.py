"""Commands as a shell runs them: exit codes, streams, pipes, interrupts, full disks, and nothing lost."""

import gzip
import os
import pty
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import sleek
from sleek.cli.commands import app
from sleek.datasets import make_ripley

GOOD = "a,b,y\n" + "".join(f"{row % 7},{row % 5},{int(row % 7 > 3)}\n" for row in range(40))
FIT = ("-t", "y", "--units", "2", "--basis", "simplex", "--jobs", "1")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shell")
    (folder / "good.csv").write_text(GOOD)
    (folder / "ragged.csv").write_text("a,b,y\n1,2,0\n3,4\n")
    result = CliRunner().invoke(app, ["fit", str(folder / "good.csv"), *FIT, "-o", str(folder / "m.json")])
    assert result.exit_code == 0, result.stderr
    return folder


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
    assert re.search(r"expected error \S+ % \? ", done.stdout)


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
    assert sleek.load(tmp_path / "m.json").n_units == 2


def inside(*arguments):
    """A command in this process, for those that need no process of their own."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def refused(folder, *arguments):
    """What a command says that must be refused, with every file left as it was."""
    before = {path: path.read_bytes() for path in folder.iterdir()}
    done = inside(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    return done.stderr


def test_what_is_read_is_not_overwritten(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("good.csv", "m.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    data, model = tmp_path / "good.csv", tmp_path / "m.json"
    (tmp_path / "other").symlink_to(data)
    (tmp_path / "hard").hardlink_to(model)
    (tmp_path / "sub.csv").symlink_to(data)
    read = "is read: give -o another name."
    assert refused(tmp_path, "fit", data, *FIT, "-o", tmp_path / "other").endswith(
        f"other would be overwritten, but {data}, which is the same file, {read}\n"
    )
    for output in (data, "good.csv", "./good.csv", f"../{tmp_path.name}/good.csv", "sub.csv"):
        said = refused(tmp_path, "predict", model, data, "-o", output)
        assert read in said
    assert read in refused(tmp_path, "predict", model, data, "-o", tmp_path / "hard")
    assert "m.json would be overwritten, but it is read" in refused(
        tmp_path, "export", model, "--to", "c", "-o", model
    )
    assert "must end in" in refused(tmp_path, "predict", model, data, "-o", model)
    assert "named like a table" in refused(tmp_path, "fit", data, *FIT, "-o", data)
    with data.open() as stream:
        done = shell("fit", "-", *FIT, "-o", tmp_path / "other", stdin=stream)
    assert done.returncode == 2
    assert "other would be overwritten, but standard input, which is the same file, is read" in done.stderr
    assert data.read_text() == GOOD


def test_endings_say_what_is_written(folder, tmp_path):
    def written(name):
        done = inside("predict", folder / "m.json", folder / "good.csv", "--keep", "a", "-o", tmp_path / name)
        assert done.exit_code == 0, done.stderr
        return (tmp_path / name).read_bytes()

    text = written("out.csv")
    assert text.startswith(b"a,prediction\n0,")
    assert written("out") == text
    assert gzip.decompress(written("out.csv.gz")) == text
    assert written("out.csv.gz") == written("out.CSV.GZ")  # no time in it
    assert written("out.tsv") == text.replace(b",", b"\t")
    written("out.pq")
    pd.testing.assert_frame_equal(
        pd.read_parquet(tmp_path / "out.pq"), pd.read_csv(tmp_path / "out.csv", dtype={"a": str})
    )
    for name in ("out.csv.gz", "out.tsv", "out.pq"):  # and can be read again
        assert "has no column 'b'" in inside("predict", folder / "m.json", tmp_path / name).stderr


def test_standard_output_by_its_other_name(folder, tmp_path):
    with (tmp_path / "out.csv").open("wb") as stream:
        stream.write(b"before\n")
        stream.flush()
        predict = [*SLEEK, "predict", folder / "m.json", folder / "good.csv", "-o", "/dev/stdout"]
        assert subprocess.run(predict, stdout=stream).returncode == 0
    assert (tmp_path / "out.csv").read_text().startswith("before\nprediction\n")


def test_a_named_pipe_gets_text(folder, tmp_path):
    os.mkfifo(tmp_path / "pipe.fifo")
    reader = subprocess.Popen(["cat", tmp_path / "pipe.fifo"], stdout=subprocess.PIPE, text=True)
    done = shell("predict", folder / "m.json", folder / "good.csv", "-o", tmp_path / "pipe.fifo")
    assert done.returncode == 0, done.stderr
    assert reader.communicate()[0].startswith("prediction\n")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_disk_is_named(folder):
    done = shell("predict", folder / "m.json", folder / "good.csv", "-o", "/dev/full")
    assert (done.returncode, done.stderr) == (2, "sleek: /dev/full: No space left on device\n")
    with open("/dev/full", "w") as full:
        for command in (["predict", folder / "m.json", folder / "good.csv"], ["show", folder / "m.json"]):
            done = subprocess.run([*SLEEK, *command], stdout=full, stderr=subprocess.PIPE, text=True)
            assert (done.returncode, done.stderr) == (2, "sleek: standard output: No space left on device\n")


def test_an_interrupt_in_compiled_code_is_one_too(monkeypatch, folder, tmp_path):
    """What numba makes of Ctrl-C: a SystemError with the interrupt behind it."""

    def interrupted(*_):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as error:
            raise SystemError("CPUDispatcher(...) returned a result with an exception set") from error

    monkeypatch.setattr("sleek.cli.training.train", interrupted)
    result = CliRunner().invoke(app, ["fit", str(folder / "good.csv"), *FIT, "-o", str(tmp_path / "m.json")])
    assert (result.exit_code, result.stderr) == (130, "sleek: interrupted\n")
    assert os.listdir(tmp_path) == []

    def broken(*_):
        raise SystemError("a bug")

    monkeypatch.setattr("sleek.cli.training.train", broken)
    result = CliRunner().invoke(app, ["fit", str(folder / "good.csv"), *FIT])
    assert isinstance(result.exception, SystemError)


@pytest.mark.parametrize("seconds", [0.3, 0.8, 1.6, 3.2])
def test_an_interrupt_at_any_time(tmp_path, seconds):
    """The fit takes several times the longest of them."""
    X, y = make_ripley(20_000, random_state=0)
    np.savetxt(tmp_path / "data.csv", np.column_stack([X, y]), delimiter=",", header="a,b,y", comments="")
    fit = [*SLEEK, "fit", tmp_path / "data.csv", "-t", "y", "-o", tmp_path / "m.json", "--units", "300"]
    process = subprocess.Popen(fit, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=60)[1]
    assert (process.returncode, said) == (130, "sleek: interrupted\n")
    assert os.listdir(tmp_path) == ["data.csv"]


@pytest.mark.parametrize("at_work", [False, True])
def test_an_interrupt_is_remembered(at_work):
    """Where a library swallows it, the command goes no further all the same."""
    code = """if True:
        import os, signal, sys
        from sleek.cli.signals import interrupts
        from sleek.cli.exits import with_exit_codes
        from pathlib import Path
        from sleek.cli.output import write_bytes

        @with_exit_codes
        def command():
            interrupts.at_work = bool(sys.argv[2:])
            try:
                os.kill(os.getpid(), signal.SIGINT)
            except KeyboardInterrupt:
                print("swallowed", flush=True)
            write_bytes(b"", Path(sys.argv[1]))

        interrupts.listen()
        try:
            command()
        except Exception as end:
            sys.exit(end.exit_code)
    """
    arguments = ["nowhere.json", *(["x"] if at_work else [])]
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "sleek: interrupted\n")
    assert done.stdout == ("swallowed\n" if at_work else "")


def test_what_is_written_is_done(tmp_path):
    """130 means that nothing was written: after the file an interrupt comes too late."""
    code = """if True:
        import os, signal, sys
        from pathlib import Path
        from sleek.cli.signals import interrupts
        from sleek.cli.output import write_bytes

        interrupts.listen()
        write_bytes(b"all", Path(sys.argv[1]))
        os.kill(os.getpid(), signal.SIGINT)
        print("reported")
    """
    path = tmp_path / "m.json"
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
    assert (done.returncode, done.stdout, path.read_bytes()) == (0, "reported\n", b"all")


def test_a_terminal_is_told_at_once_what_is_done(folder):
    """The first word comes before anything heavy is imported, and is gone in the end."""
    parent, child = pty.openpty()
    fit = [sys.executable, "-X", "importtime", "-m", "sleek", "fit", str(folder / "good.csv"), *FIT]
    with open(os.devnull, "w") as nowhere:
        process = subprocess.Popen(fit, stdout=nowhere, stderr=child)
    os.close(child)
    said = b""
    while True:
        try:
            piece = os.read(parent, 4096)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        said += piece
    assert process.wait(60) == 0
    before, after = said.split(b"reading ", 1)
    for heavy in (b"numpy", b"scipy", b"sklearn"):
        assert heavy not in before
        assert heavy in after
    assert b"fitting 40 rows" in after


def test_completion_offers_commands():
    environment = os.environ | {
        "_SLEEK_COMPLETE": "complete_bash",
        "COMP_WORDS": "sleek ev",
        "COMP_CWORD": "1",
    }
    code = "import sys; sys.argv[0] = 'sleek'; from sleek.cli.commands import app; app(prog_name='sleek')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.stdout.split() == ["evaluate"]
