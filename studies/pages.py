"""Pages whose examples are run: what they print is compared with the page, or written into it.

    python -m studies.pages                            # run all examples and write down what they print
    python -m studies.pages README.md docs/cli.md      # those of some pages
    python -m studies.pages --check                    # write nothing: end with 1 where a page is wrong

A page is Markdown. Its blocks run from top to bottom in one empty folder, with one set of Python names:

- ```` ```python ```` is executed; a ```` ```text ```` block right after it shows what it printed;
- ```` ```console ```` has lines `$ sleek ...`, each followed by its output. `| head -3` keeps the
  first lines of standard output, and a line `…` stands for all output that the page does not show;
- `<!--python ... -->` is executed and not shown: files that an example needs.

Words must be equal. Numbers may differ by a few per cent, because the last bits of a fit depend on the
processor; times and sizes of files are not compared.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from typer.testing import CliRunner

from sleek.cli.commands import app

ROOT = Path(__file__).parents[1]
# Every page with examples: generated pages and those without any have none.
PAGES = (
    "README.md",
    *sorted(
        str(path.relative_to(ROOT))
        for path in (ROOT / "docs").rglob("*.md")
        if re.search(r"^(```(python|console)|<!--python)$", path.read_text("utf-8"), re.MULTILINE)
    ),
)
TOLERANCE = 0.05
CUT = "…"
BLOCK = re.compile(
    r"^```python\n(?P<python>.*?)^```\n(?:\n?```text\n(?P<printed>.*?)^```\n)?"
    r"|^```console\n(?P<console>.*?)^```\n"
    r"|^<!--python\n(?P<hidden>.*?)^-->\n",
    re.DOTALL | re.MULTILINE,
)
COMMAND = re.compile(r"^\$ sleek (?P<line>.*)\n(?P<shown>(?:(?!\$ ).*\n)*)", re.MULTILINE)
NUMBER = re.compile(r"[-+−]?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?")
# Times, sizes of files, bars of text pictures and rules of tables.
IGNORED = re.compile(r"in [\d.]+ m?s\b|\([\d.]+ k?B\)|\"(?:seconds|bytes)\": [\d.]+|[█▏▎▍▌▋▊▉─]+")


@dataclass(frozen=True)
class Example:
    """What an example prints, and where in its page that is shown (None: it is not)."""

    code: str
    output: str
    shown: tuple[int, int] | None


def run_page(text: str) -> Iterator[Example]:
    """Run the examples of a page in the current folder."""
    names: dict[str, object] = {"__name__": "__main__"}
    for block in BLOCK.finditer(text):
        if block["console"] is None:
            code = block["python"] if block["hidden"] is None else block["hidden"]
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(code, "page", "exec"), names)
            shown = None if block["printed"] is None else block.span("printed")
            yield Example(code, printed.getvalue(), shown)
            continue
        start = block.start("console")
        for command in COMMAND.finditer(block["console"]):
            shown = (start + command.start("shown"), start + command.end("shown"))
            yield Example(command["line"], run_command(command["line"]), shown)


def run_command(line: str) -> str:
    """What `sleek ...` prints: notes and errors first, then standard output."""
    line, _, pipe = line.partition(" | ")
    result = CliRunner().invoke(app, shlex.split(line), env={"COLUMNS": "80"})
    if result.exit_code not in (0, 2):
        raise RuntimeError(f"sleek {line}: exit code {result.exit_code}") from result.exception
    output = result.stdout.splitlines(keepends=True)
    head = re.fullmatch(r"head -(\d+)", pipe)
    return result.stderr + "".join(output[: int(head[1])] if head else output)


def difference(shown: str, output: str) -> str:
    """Where the output is not what the page shows, or an empty text."""
    cut = shown.endswith(f"{CUT}\n")
    documented, happened = _tokens(shown.removesuffix(f"{CUT}\n")), _tokens(output)
    if cut:
        happened = happened[: len(documented)]
    for at, (a, b) in enumerate(zip(documented, happened, strict=False)):
        if not _equal(a, b):
            return f"… {' '.join(documented[max(0, at - 5) : at])} [{a}], not [{b}]"
    if len(documented) != len(happened):
        return f"{len(documented)} words and numbers are shown, {len(happened)} were printed"
    return ""


def refreshed(text: str) -> str:
    """The page with what its examples print now."""
    pieces, at = [], 0
    for example in run_page(text):
        if example.shown is None:
            continue
        start, stop = example.shown
        output = "".join(f"{line.rstrip()}\n" for line in example.output.splitlines())
        if text[start:stop].endswith(f"{CUT}\n"):
            output = (
                "".join(output.splitlines(keepends=True)[: text[start:stop].count("\n") - 1]) + f"{CUT}\n"
            )
        pieces += [text[at:start], output]
        at = stop
    return "".join([*pieces, text[at:]])


def _tokens(text: str) -> list[str]:
    """Words and numbers; what is ignored is left out."""
    text = IGNORED.sub(" ", text)
    return re.findall(rf"{NUMBER.pattern}|[^\W\d]+|[^\w\s]", text)


def _equal(a: str, b: str) -> bool:
    if a == b:
        return True
    if not (NUMBER.fullmatch(a) and NUMBER.fullmatch(b)):
        return False
    x, y = (float(number.replace(",", "").replace("−", "-")) for number in (a, b))
    # One unit in the last digit that is printed is a rounding.
    mantissa, _, exponent = a.lower().partition("e")
    unit = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    return abs(x - y) <= max(TOLERANCE * max(abs(x), abs(y)), 1.5 * unit)


def differences(text: str) -> list[str]:
    """Run the examples of a page, and say which print something else than the page shows."""
    found = []
    for example in run_page(text):
        if example.shown is not None and (words := difference(text[slice(*example.shown)], example.output)):
            found.append(f"{example.code.strip().splitlines()[-1]}: {words}")
    return found


def main(pages: list[str], check: bool = False) -> None:
    here, wrong = Path.cwd(), 0
    for page in (Path(name).resolve() for name in pages):
        text = page.read_text()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                found, new = (differences(text), text) if check else ([], refreshed(text))
            finally:
                os.chdir(here)
        wrong += len(found)
        if new != text:
            page.write_text(new)
        print(f"{page.name}: {'; '.join(found) or ('as it was' if new == text else 'written anew')}")
    if wrong:
        sys.exit(f"{wrong} examples print something else: `make pages` writes down what they print.")


if __name__ == "__main__":
    names = [name for name in sys.argv[1:] if name != "--check"]
    main(names or list(PAGES), check="--check" in sys.argv)
