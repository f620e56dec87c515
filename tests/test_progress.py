"""What long work tells: lines, and on a terminal one that does not stay."""

import io
import subprocess
import sys

import pytest

from sleek._runtime import progress
from sleek._runtime.progress import Display, Reporter


class Terminal(io.StringIO):
    """A terminal that remembers what was written to it."""

    def isatty(self):
        return True


@pytest.fixture
def plug_in(monkeypatch):
    """Called in a test, for pytest itself exchanges stderr between setup and test."""

    def replaced(stream, patience=-1.0):
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.setattr(progress, "PATIENCE", patience)
        return stream

    return replaced


def test_a_line_appears_on_a_terminal_and_goes(plug_in):
    terminal = plug_in(Terminal())
    with Display() as display:
        display("reading [bold]data.csv")
        assert "reading [bold]data.csv" in terminal.getvalue()
        display.rows(500, 1000)
        bar = display._bar
        assert bar.live.is_started
        assert bar.tasks[0].percentage == 50
        display("fitting")
        assert bar.tasks[0].description == "fitting"
        assert bar.tasks[0].total is None  # how long that will take is not known
    assert not bar.live.is_started
    assert terminal.getvalue().endswith("\x1b[2K")  # the line was wiped


def test_a_closed_line_comes_back_with_the_next_word(plug_in):
    plug_in(Terminal())
    with Display() as display:
        display("reading")
        display.close()
        assert display._bar is None
        display("writing")
        assert display._bar.live.is_started


def test_an_error_ends_the_line(plug_in):
    plug_in(Terminal())
    bars = []

    def interrupted():
        with Reporter("Model", verbose=1) as report:
            report("tried 3 units")
            bars.append(report.display._bar)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not bars[0].live.is_started


def test_a_verbose_fit_prints_lines_and_shows_the_last(capsys, plug_in):
    terminal = plug_in(Terminal())
    with Reporter("Model", verbose=1) as report:
        report("tried 3 units")
        report("tried 4 units")
        report.rows(500, 1000)
        assert report.display._bar.tasks[0].description == "tried 4 units"
        assert report.display._bar.tasks[0].percentage == 50
    assert "[Model] tried 3 units" in terminal.getvalue() + capsys.readouterr().out


@pytest.mark.parametrize("verbose", [0, False])
def test_nothing_is_told_unless_asked_for(capsys, plug_in, verbose):
    terminal = plug_in(Terminal())
    with Reporter("Model", verbose) as report:
        report("tried 3 units")
        report.rows(1, 2)
        assert report.display._bar is None
    assert capsys.readouterr().out == terminal.getvalue() == ""


def test_no_line_in_a_file_and_none_for_short_fits(plug_in, capsys):
    stream = plug_in(io.StringIO())
    with Reporter("Model", 1) as report:
        report("a line")
        assert report.display._bar is None
    assert stream.getvalue() == ""
    plug_in(Terminal(), patience=60.0)
    with Reporter("Model", 1) as report:
        report("a line")
        assert report.display._bar is None
    assert capsys.readouterr().out == "[Model] a line\n" * 2


def test_nothing_heavy_is_imported_before_the_first_word():
    code = (
        "import sys; from sleek._runtime.progress import Display; sys.stderr.isatty = lambda: True\n"
        "with Display() as display: display('reading')\n"
        "print({'numpy', 'sklearn', 'scipy', 'pyarrow'} & set(sys.modules))"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    assert output.endswith("set()\n")
