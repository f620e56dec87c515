"""What a release says of itself in several places is the same everywhere."""

import re
import tomllib
from pathlib import Path

import sleek

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def floors(lines):
    """The oldest version of each package."""
    found = (re.match(r"([a-z-]+) ?>=([0-9.]+)", line) for line in lines)
    return dict(match.groups() for match in found if match)


def test_the_version_is_the_same_everywhere():
    citation = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.M)
    recipe = re.search(r'set version = "(.+)"', (ROOT / "conda/meta.yaml").read_text("utf-8"))
    assert citation[1] == recipe[1] == sleek.__version__
    assert f"\n## {sleek.__version__} (" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_the_recipe_asks_for_what_the_package_asks_for():
    text = (ROOT / "conda/meta.yaml").read_text("utf-8")
    run = text.partition("  run:\n")[2].partition("\ntest:")[0]
    wanted = floors(PROJECT["dependencies"])
    assert len(wanted) == len(PROJECT["dependencies"])
    assert floors(line.strip(" -") for line in run.splitlines()) == wanted


def test_the_versions_promised_are_those_asked_for():
    text = (ROOT / "SUPPORT.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| (Python|scikit-learn|pyarrow) \| ([0-9.]+) \|", text, re.M))
    wanted = floors(PROJECT["dependencies"])
    oldest = PROJECT["requires-python"].removeprefix(">=")
    assert rows == {"Python": oldest, "scikit-learn": wanted["scikit-learn"], "pyarrow": wanted["pyarrow"]}
    tested = re.findall(r'python: "([0-9.]+)"', (ROOT / ".github/workflows/tests.yml").read_text("utf-8"))
    listed = [c.rpartition(" ")[2] for c in PROJECT["classifiers"] if "Python :: 3." in c]
    assert tested == [oldest, listed[-1]] == [listed[0], listed[-1]]


def test_actions_of_others_are_pinned_and_see_no_credentials():
    for path in (ROOT / ".github/workflows").glob("*.yml"):
        text = path.read_text("utf-8")
        used = re.findall(r"uses: ([^./\s]\S*)(.*)", text)
        assert used, path.name
        for action, comment in used:
            assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action), action
            assert re.fullmatch(r"  # v[0-9.]+", comment), action
        assert text.count("actions/checkout@") == text.count("persist-credentials: false")
        assert "\npermissions: {}\n" in text
