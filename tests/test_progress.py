"""What a long fit tells: lines, and on a terminal a bar that does not stay."""

import io
import sys

import pytest

from sleek._runtime import progress
from sleek._runtime.progress import Reporter


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


def test_a_bar_appears_on_a_terminal_and_goes(capsys, plug_in):
    terminal = plug_in(Terminal())
    with Reporter("Model", verbose=1) as report:
        report("tried 3 units")
        report.rows(500, 1000)
        report("tried 4 units")
        bar = report._bar
        assert bar.live.is_started
        assert bar.tasks[0].description == "tried 4 units"
        assert bar.tasks[0].total is None
        report.rows(500, 1000)
        assert bar.tasks[0].percentage == 50
    assert not bar.live.is_started
    assert "tried 3 units" in terminal.getvalue() + capsys.readouterr().out


def test_an_error_stops_the_bar(plug_in):
    plug_in(Terminal())
    bars = []

    def interrupted():
        with Reporter("Model", verbose=1) as report:
            report("tried 3 units")
            bars.append(report._bar)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not bars[0].live.is_started


@pytest.mark.parametrize("verbose", [0, False])
def test_nothing_is_told_unless_asked_for(capsys, plug_in, verbose):
    terminal = plug_in(Terminal())
    with Reporter("Model", verbose) as report:
        report("tried 3 units")
        report.rows(1, 2)
        assert report._bar is None
    assert capsys.readouterr().out == terminal.getvalue() == ""


def test_no_bar_in_a_file_and_none_for_short_fits(plug_in, capsys):
    plug_in(io.StringIO())
    with Reporter("Model", 1) as report:
        report("a line")
        assert report._bar is None
    plug_in(Terminal(), patience=60.0)
    with Reporter("Model", 1) as report:
        report("a line")
        assert report._bar is None
    assert capsys.readouterr().out == "[Model] a line\n" * 2
