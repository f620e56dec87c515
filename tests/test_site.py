"""The site without building it: every page is reached, links lead somewhere, every public name is listed.

`make docs` builds it, runs every example and checks the built links.
"""

import ast
import re
import runpy
from pathlib import Path

import pytest

import sleek
import sleek.datasets
import sleek.testing
from studies.links import dead_links

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
GENERATED = ("gallery", "api", "live")  # folders that `make docs` fills
PAGES = sorted(path for path in DOCS.rglob("*.md") if not {*path.relative_to(DOCS).parts[:-1]} & {*GENERATED})
EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))
QUICK = ("plot_04_pizzas", "plot_10_penguins", "plot_16_ripley")


def toctrees(page):
    """The documents that a page lists."""
    for tree in re.findall(r"^```\{toctree\}\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE):
        for line in tree.splitlines():
            if line and not line.startswith(":"):
                yield (page.parent / re.sub(r".*<(.*)>", r"\1", line)).resolve()


def test_every_page_is_reached_from_the_front_page_once():
    reached, todo = [], [DOCS / "index.md"]
    while todo:
        reached.append(todo.pop())
        listed = [path.with_suffix(".md") for path in toctrees(reached[-1])]
        todo += [path for path in listed if path.parent.name not in GENERATED]
    assert sorted(reached) == PAGES


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=lambda page: str(page.relative_to(ROOT)))
def test_local_links_lead_to_files_and_headings(page):
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"`[^`\n]*`", "", text)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, place = link.partition("#")
        to = (page.parent / path).resolve() if path else page
        if to.parent == DOCS / "gallery":
            assert to.stem in {"index", *(example.stem for example in EXAMPLES)}, link
            continue
        assert to.exists(), link
        if place:
            headings = re.findall(r"^#+ (.*)", to.read_text("utf-8"), re.MULTILINE)
            slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
            assert place in slugs, link


def test_the_reference_lists_every_public_name():
    found, module = set(), ""
    for line in (DOCS / "reference" / "index.md").read_text("utf-8").splitlines():
        if line.startswith(".. currentmodule:: "):
            module = line.removeprefix(".. currentmodule:: ")
        elif re.fullmatch(r"   \w+", line):
            found.add(f"{module}.{line.strip()}")
    names = {f"sleek.{name}" for name in sleek.__all__ if name not in ("export", "plots")}
    for room in (sleek.export, sleek.plots, sleek.testing):
        names |= {f"{room.__name__}.{name}" for name in room.__all__}
    made = [name for name in vars(sleek.datasets) if name.startswith("make_")]
    assert found == names | {f"sleek.datasets.{name}" for name in made}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_an_example_has_a_question_a_picture_and_no_network(example):
    text = example.read_text("utf-8")
    title, rule, *rest = ast.get_docstring(ast.parse(text)).splitlines()
    assert len(rule) == len(title)
    assert set(rule) == {"="}
    assert any(rest)
    assert "plot" in text
    assert not re.search(r"fetch_|http|urlopen|local_data\.(?!__)", text)


def test_there_are_examples_enough():
    assert len(EXAMPLES) >= 15


@pytest.mark.parametrize("name", QUICK)
def test_quick_examples_run(name, monkeypatch, tmp_path):
    matplotlib = pytest.importorskip("matplotlib", reason="pictures need matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(ROOT / "examples" / f"{name}.py"))
    assert plt.get_fignums()
    plt.close("all")


def test_the_glossary_has_twenty_words_at_most():
    assert 10 <= len(re.findall(r"^: ", (DOCS / "glossary.md").read_text("utf-8"), re.MULTILINE)) <= 20


def test_guides_say_what_one_has_and_gets():
    for page in (DOCS / "guides").glob("*.md"):
        text = page.read_text("utf-8")
        if page.stem != "index":
            assert "**You have**" in text, page
            assert "**You get**" in text, page
            assert "**You have now**" in text, page
            prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
            assert len(prose.split()) < 700, page  # three minutes


def test_dead_links_of_a_built_site_are_found(tmp_path):
    (tmp_path / "a.html").write_text('<h1 id="top">A</h1><a href="b.html#there">b</a><a href="#top">up</a>')
    (tmp_path / "b.html").write_text('<p id="here"></p><img src="gone.png"><a href="https://x.org">x</a>')
    assert dead_links(tmp_path) == ["a.html: b.html#there", "b.html: gone.png"]
