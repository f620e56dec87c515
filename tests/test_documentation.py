"""Every example of the pages runs, and prints what the page shows."""

import os
from pathlib import Path

import pytest

from studies.pages import PAGES, difference, refreshed, run_page

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("page", PAGES)
def test_examples_print_what_the_page_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / page).read_text()
    examples = list(run_page(text))
    assert len(examples) == sum(
        text.count(begin) for begin in ("\n```python\n", "\n<!--python\n", "\n$ sleek ")
    )
    for example in examples:
        if example.shown is not None:
            found = difference(text[slice(*example.shown)], example.output)
            assert not found, f"{example.code}: {found}. `make pages` writes down what is printed"


def test_snippets_that_print_show_it():
    text = (ROOT / "README.md").read_text()
    for snippet in text.split("```python\n")[1:]:
        code, _, after = snippet.partition("```")
        assert "print(" not in code or after.lstrip("\n").startswith("```text\n"), code


@pytest.mark.parametrize(
    ("shown", "output", "word"),
    [
        ("error 7.2 % ± 1.2\n", "error 7.3 % ± 1.2\n", ""),
        ("error 7.2 % ± 1.2\n", "error 9.9 % ± 1.2\n", "[7.2], not [9.9]"),
        ("3 units, fitted in 2 s\n", "3 units, fitted in 0.71 s\n", ""),
        ("3 boxes\n", "3 units\n", "[boxes], not [units]"),
        ("3 units\n", "3 units and more\n", "2 words and numbers are shown, 4"),
        ("3 units\n…\n", "3 units\nand more\n", ""),
        ("price 1,573\n", "price 1,580\n", ""),
        ("-0.5\n", "+0.5\n", "[-0.5], not [+0.5]"),
        ("1.20e-05\n", "1.20e-07\n", "[1.20e-05]"),
    ],
)
def test_words_are_equal_and_numbers_nearly(shown, output, word):
    found = difference(shown, output)
    assert word in found
    assert bool(found) == bool(word)


def test_pages_are_written_anew(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (
        "# A page\n```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n"
        "\n<!--python\nx = 5\n-->\n```python\nprint(x)\n```\nend\n"
    )
    assert refreshed(page) == page.replace("```text\n3\n", "```text\n2\n")
    assert os.listdir(tmp_path) == []
