"""The report's page as text, and what its script computes, in node."""

import json
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
import zoo

from sleek import LowRankLSSVC, LowRankLSSVR, Network, load
from sleek.model.distribution import Distribution
from sleek.model.saving import loads
from sleek.report.html_report import page_of
from sleek.report.markdown_report import markdown_of
from sleek.report.measured import Bins, measure
from sleek.report.page_program import data_of, program_of
from sleek.report.pooling import pool

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="there is no node on this machine")
OWN = 80_000  # bytes of style and script
HOSTILE = [
    "</script><script>alert(1)</script>",
    "javascript:alert(1)",
    "\"quotes' & <b>",
    "right\u202eto left",
    "\x1b[31mred\x07",
    "x" * 10_000,
    "__proto__",
]


def flats(n=400, seed=0):
    """A table with a gap, a date, levels of which one is rare, and numbers."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "area": np.where(rng.random(n) < 0.1, np.nan, rng.gamma(9, 9, n).round(1)),
            "year": rng.integers(1900, 2024, n),
            "town": rng.choice(["Aarau", "Basel", "Chur", "Davos"], n, p=[0.4, 0.3, 0.295, 0.005]),
            "let": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
        }
    )
    rent = 400 + 14 * table["area"].fillna(70) + 300 * (table["town"] == "Basel")
    rent += 0.05 * (table["year"] - 1960) ** 2 + rng.normal(scale=50, size=n)
    return table, rent


@pytest.fixture(scope="module")
def models():
    table, rent = flats()
    dear = np.where(rent > rent.median(), "dear", "cheap")
    kinds = pd.cut(rent, [0, 1300, 1700, 1e9], labels=["low", "middle", "high"]).astype(str)
    made = {
        "number": LowRankLSSVR(6, basis="box", C=100.0, random_state=0).fit(table, rent),
        "classes": LowRankLSSVC(6, basis="gaussian_rbf", C=10.0, random_state=0).fit(table, dear),
        "several": LowRankLSSVC(5, basis="sigmoidal", C=10.0, random_state=0).fit(table, kinds),
        "network": LowRankLSSVC(5, basis=Network(hidden=(4,)), C=10.0, random_state=0).fit(table, dear),
        "curves": LowRankLSSVR(basis="curves", random_state=0).fit(table, rent),
    }
    return {name: one.model_ for name, one in made.items()}


def raw_rows(table):
    """The table's rows as the page holds them: numbers, days, words, None."""
    found = []
    for _, line in table.iterrows():
        when = (line["let"] - pd.Timestamp("1970-01-01")) / pd.Timedelta("1D")
        area = None if np.isnan(line["area"]) else line["area"]
        found.append([area, int(line["year"]), line["town"], when])
    return found


def in_node(folder, model, rows, expression):
    """What an expression of a page's evaluator is for some rows."""
    effects = files("sleek.report").joinpath("page", "effects.mjs").read_text("utf-8")
    (folder / "effects.mjs").write_text(effects, encoding="utf-8")
    text = loads_text(model)
    (folder / "main.mjs").write_text(
        'import { complete, evaluator } from "./effects.mjs";\nimport { readFileSync } from "node:fs";\n'
        f"const model = {json.dumps(data_of(model, model.effects()))};\n"
        f"model.json = {json.dumps(text)};\nmodel.program = {program_of(model)};\n"
        "complete(model);\nconst evaluate = evaluator(model), { program } = model;\n"
        'const rows = JSON.parse(readFileSync(0, "utf-8"));\n'
        f"console.log(JSON.stringify({expression}));\n",
        encoding="utf-8",
    )
    done = subprocess.run([NODE, folder / "main.mjs"], input=json.dumps(rows), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def loads_text(model):
    from sleek.model.saving import dumps

    return dumps(model).decode("ascii")


# -- what the script computes -------------------------------------------------------------------------------


@needs_node
@pytest.mark.parametrize(("basis", "task"), [case for case in zoo.CASES if "+" not in case[0]])
def test_effects_are_those_of_python_to_twelve_digits(tmp_path, basis, task):
    model, X = zoo.model(basis, task), zoo.test_rows(task)[::4]
    found = in_node(tmp_path, model, X.tolist(), "rows.map((row) => evaluate.effects(program.features(row)))")
    effects = model.effects()
    wanted = effects.contributions(X).values[:, :-1]
    got = np.array([[*one["curves"], *one["pairs"]] for one in found]).reshape(wanted.shape)
    scale = np.abs(wanted).max(axis=(0, 1)) + zoo.scale(model, X).max(axis=0)
    assert np.max(np.abs(got - wanted) / scale) < 1e-12


@needs_node
@pytest.mark.parametrize("name", ["number", "classes", "several", "network", "curves"])
def test_a_table_has_the_same_answers_reasons_and_unusual_columns(tmp_path, models, name):
    model, (table, _) = models[name], flats(60, seed=1)
    table.loc[0, "area"], table.loc[1, "year"], table.loc[2, "town"] = 900.0, 1700, "Davos"
    rows = raw_rows(table)
    reasons, scores, unusual, features = zip(
        *in_node(
            tmp_path,
            model,
            rows,
            "rows.map((row) => [evaluate.reasons(row), program.scores(row), "
            "evaluate.unusual(row), program.features(row)])",
        ),
        strict=True,
    )
    np.testing.assert_allclose(features, model.inputs.transform(table), rtol=1e-14)
    outputs = np.asarray(model.decision_function(table)).reshape(len(rows), -1)
    np.testing.assert_allclose(scores, outputs, rtol=1e-11, atol=1e-12)
    names = model.inputs.names
    for got, wanted in zip(reasons, model.reasons(table), strict=True):
        assert [names[one["column"]] for one in got] == [reason.column for reason in wanted]
        size = np.abs(outputs).max()
        np.testing.assert_allclose(
            [one["effect"] for one in got], [reason.effect for reason in wanted], rtol=1e-9, atol=1e-11 * size
        )
    for got, wanted in zip(unusual, model.familiar(table), strict=True):
        assert {names[one["column"]] for one in got} == set(wanted.unusual)
        for one in got:
            assert one["share"] == pytest.approx(wanted.shares[names[one["column"]]], abs=1e-12)


@needs_node
@pytest.mark.parametrize("name", ["classes", "several", "network"])
def test_the_smallest_change_is_that_of_python(tmp_path, models, name):
    model, (table, _) = models[name], flats(25, seed=2)
    found = in_node(tmp_path, model, raw_rows(table), "rows.map((row) => evaluate.flip(row))")
    names, flips = model.inputs.names, 0
    for i, got in enumerate(found):
        wanted = model.flip(table.iloc[i].to_dict())
        assert (got is None) == (wanted is None)
        if wanted is not None:
            flips += 1
            assert (names[got["column"]], got["prediction"]) == (wanted.column, wanted.new_prediction)
            assert got["distance"] == pytest.approx(wanted.distance, rel=1e-6)
            if wanted.column == "town":
                assert got["value"] == wanted.new_value
    assert flips > 10


@needs_node
def test_intervals_and_probabilities_are_those_of_python(tmp_path, models):
    table, _ = flats(80, seed=3)
    rows = raw_rows(table)
    ends = in_node(tmp_path, models["number"], rows, "rows.map(program.interval)")
    np.testing.assert_allclose(ends, models["number"].predict_interval(table), rtol=1e-11)
    for name in ("classes", "several"):
        found = in_node(tmp_path, models[name], rows, "rows.map(program.probabilities)")
        np.testing.assert_allclose(found, models[name].predict_proba(table), rtol=1e-10, atol=1e-13)


# -- the page -----------------------------------------------------------------------------------------------


class Tags(HTMLParser):
    """Tags and their attributes, and whether they are closed in order."""

    VOID = frozenset({"meta", "link", "input", "br"})

    def __init__(self):
        super().__init__()
        self.tags, self.open, self.scripts, self.attributes = [], [], 0, []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.scripts += tag == "script"
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def parsed(page):
    found = Tags()
    found.feed(page)
    assert not found.open
    return found


@pytest.mark.parametrize("name", ["number", "classes", "several", "curves"])
def test_the_page_asks_for_nothing_and_is_small(tmp_path, models, name):
    table, rent = flats(100, seed=4)
    y = rent if name in ("number", "curves") else models[name].predict(table)
    models[name].report(tmp_path / "report.html", table, y)
    page = (tmp_path / "report.html").read_text("utf-8")
    found = parsed(page)
    assert found.scripts == 2
    assert not {"link", "img", "iframe", "object", "embed"} & set(found.tags)
    assert not any(key.startswith("on") for key, _ in found.attributes)
    assert not any(key in ("src", "href", "srcset", "action") for key, _ in found.attributes)
    assert "default-src 'none'" in page
    assert "http://" not in page
    assert "https://" not in page
    numbers = len(re.search(r'id="model">(.*?)</script>', page, re.DOTALL)[1])
    numbers += len(program_of(models[name])) + len(json.dumps(data_of(models[name], models[name].effects())))
    assert len(page.encode()) - numbers < 200_000


def test_style_and_script_are_a_small_part():
    sizes = [
        len(file.read_bytes()) for file in files("sleek.report").joinpath("page").iterdir() if file.is_file()
    ]
    assert sum(sizes) < OWN


def test_the_model_in_the_page_is_the_model(models):
    table, _ = flats(50, seed=5)
    for model in models.values():
        text = re.search(
            r'<script type="application/json" id="model">(.*?)</script>', page_of(model), re.DOTALL
        )
        again = loads(text[1].encode())
        np.testing.assert_array_equal(again.decision_function(table), model.decision_function(table))


@pytest.mark.parametrize("word", HOSTILE)
def test_names_levels_and_labels_are_text(word):
    rng = np.random.default_rng(0)
    table = {word: rng.normal(size=120), "level": rng.choice([word, "b"], 120)}
    y = np.where(table[word] + rng.normal(size=120) > 0, word, "other")
    model = LowRankLSSVC(3, basis="box", C=1.0, random_state=0).fit(table, y).model_
    model = replace(model, metadata={"target": word, word: word})
    page = page_of(model, measure(model, table, y))
    assert parsed(page).scripts == 2
    assert "<script>alert" not in page
    assert "<b>'" not in page
    assert "\u202e" not in page
    assert "\x1b" not in page
    assert "\x07" not in page
    outside = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert "x" * 1000 not in outside


def test_old_files_have_a_page_that_says_what_is_missing(models):
    facts = replace(models["number"].facts, distributions=None)
    page = page_of(replace(models["number"], facts=facts))
    assert "older version of sleek" in page
    bare = page_of(replace(models["number"], facts=None, calibration=None))
    assert parsed(bare).scripts == 2


def test_models_of_any_task_and_basis_have_a_page():
    for basis, task in zoo.CASES:
        assert parsed(page_of(zoo.model(basis, task))).scripts == 2


def test_constraints_are_told_with_their_certificate():
    X = np.random.default_rng(0).uniform(size=(200, 2))
    model = (
        LowRankLSSVR(basis="curves", monotonic_cst=[1, 0], random_state=0).fit(X, X[:, 0] - X[:, 1]).model_
    )
    for text in (page_of(model), markdown_of(model)):
        assert "Certified for all rows: " in text
        assert "x0" in text[text.index("Certified") :].split("\n")[0]
    assert '"editable":false' in page_of(model)


def test_a_page_has_the_name_of_the_targets(models, tmp_path):
    table, rent = flats(30)
    models["number"].report(tmp_path / "report.html", table, rent.rename("rent & more"))
    assert "<h1>rent &amp; more</h1>" in (tmp_path / "report.html").read_text("utf-8")


def test_a_page_on_data_needs_targets(models, tmp_path):
    table, _ = flats(10)
    with pytest.raises(ValueError, match="both `X` and `y`"):
        models["number"].report(tmp_path / "report.html", table)


def test_three_hundred_columns_are_drawn_on_demand(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 300)), columns=[f"sensor {i}" for i in range(300)])
    y = X @ rng.normal(size=300)
    model = LowRankLSSVR(basis="linear", random_state=0).fit(X, y).model_
    page = page_of(model)
    drawn = page[: page.index("smaller effects")].count("<figure")
    assert drawn < 20
    assert page.count("<figure") > 250
    saved = len(loads_text(model))
    data = len(json.dumps(data_of(model, model.effects()))) + len(program_of(model))
    shown = r'<svg.*?</svg>|<span class="said">.*?</span>|<li>.*?</li>'
    pictures = sum(map(len, re.findall(shown, page)))
    assert len(page) - saved - data - pictures < 200_000


# -- rows that are asked for --------------------------------------------------------------------------------


def rows_in(page):
    """The rows that a page carries."""
    data = re.search(r"^const model = (.*);$", page, re.MULTILINE)
    return json.loads(data[1])["rows"]


@pytest.mark.parametrize("name", ["number", "classes", "several", "curves"])
def test_rows_are_included_only_if_asked_for(models, name, tmp_path):
    table, _ = flats(30, seed=8)
    y, path = models[name].predict(table), tmp_path / "report.html"
    models[name].report(path, table, y)
    assert rows_in(path.read_text("utf-8")) == []
    assert "and no rows." in path.read_text("utf-8")
    models[name].report(path, table, y, include_rows=7)
    assert rows_in(path.read_text("utf-8")) == [[n, row] for n, row in enumerate(raw_rows(table[:7]))]
    assert "and 7 rows that it was measured on." in path.read_text("utf-8")
    models[name].report(path, table, y, include_rows=1000)
    assert len(rows_in(path.read_text("utf-8"))) == 30


def test_included_rows_of_bare_arrays(tmp_path):
    model, X = zoo.model("box", "number"), zoo.test_rows("number")
    model.report(tmp_path / "report.html", X, model.predict(X), include_rows=3)
    assert rows_in((tmp_path / "report.html").read_text("utf-8")) == [[n, X[n].tolist()] for n in range(3)]


@needs_node
def test_included_rows_may_hold_what_training_had_none_of(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=90), "town": rng.choice(["Aarau", "Basel"], 90)})
    model = LowRankLSSVR(3, basis="box", C=1.0, random_state=0).fit(table, table["a"]).model_
    strange = pd.DataFrame({"a": [0.5, None, 1.5], "town": ["Elm", "Basel", None]})
    with pytest.warns(UserWarning, match="missing|Elm"):
        measured = measure(model, strange, [0.0, 0.0, 0.0], 3)
    with pytest.warns(UserWarning, match="missing|Elm"):
        predicted = model.predict(strange)
    assert measured.rows == [(0, [0.5, "\0"]), (1, [None, "Basel"]), (2, [1.5, None])]
    rows = [values for _, values in measured.rows]
    found = in_node(tmp_path, model, rows, "rows.map((row) => program.predict(row))")
    np.testing.assert_allclose(found, predicted, rtol=1e-12)
    a, town = data_of(model, model.effects(), measured.rows)["columns"]
    assert a["gap"]
    assert [level["shown"] for level in town["levels"]] == ["Aarau", "Basel", "(another)", "(missing)"]
    a, town = data_of(model, model.effects())["columns"]
    assert not a["gap"]
    assert len(town["levels"]) == 2


def test_rows_to_include_need_data_and_a_page(models, tmp_path):
    table, rent = flats(10)
    model, path = models["number"], tmp_path / "report.html"
    with pytest.raises(ValueError, match="needs data with their true values"):
        model.report(path, include_rows=5)
    for wrong in (-1, 2.5, True, "all"):
        with pytest.raises(ValueError, match="must be a number of rows"):
            model.report(path, table, rent, include_rows=wrong)
    with pytest.raises(ValueError, match=r"end in \.html"):
        model.report(tmp_path / "report.md", table, rent, include_rows=5)
    with pytest.raises(ValueError, match="got an array of features"):
        model.report(path, model.inputs.transform(table), rent, include_rows=5)


def test_the_command_line_includes_rows(tmp_path, models):
    from typer.testing import CliRunner

    from sleek.cli.commands import app

    table, rent = flats(20, seed=6)
    table["rent"] = rent
    table.loc[1, "rent"] = None
    table.to_csv(tmp_path / "test.csv", index=False)
    models["number"].save(tmp_path / "model.json", metadata={"target": "rent"})
    model, data, path = (str(tmp_path / name) for name in ("model.json", "test.csv", "report.html"))
    done = CliRunner().invoke(app, ["report", model, data, "--include-rows", "4", "-o", path])
    assert done.exit_code == 0, done.output
    rows = raw_rows(table)
    found = rows_in((tmp_path / "report.html").read_text("utf-8"))
    assert [row for _, row in found] == [rows[n] for n in (0, 2, 3, 4)]
    assert [n for n, _ in found] == [0, 2, 3, 4]
    for others in ([], [model]):
        done = CliRunner().invoke(app, ["report", model, *others, "--include-rows", "4", "-o", path])
        assert done.exit_code == 2
        assert "true values" in " ".join(done.stderr.split())


# -- Markdown and notebooks ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["number", "classes", "several", "curves"])
def test_markdown_says_the_same(tmp_path, models, name):
    table, rent = flats(100, seed=4)
    y = rent if name in ("number", "curves") else models[name].predict(table)
    models[name].report(tmp_path / "report.md", table, y)
    text = (tmp_path / "report.md").read_text("utf-8")
    _, head, body = text.split("---\n", 2)
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    task = "regression" if name in ("number", "curves") else "classification"
    assert json.loads(fields["pipeline_tag"]) == f"tabular-{task}"
    (result,) = json.loads(fields["model-index"])[0]["results"]
    scores = measure(models[name], table, y).scores
    assert {one["type"]: one["value"] for one in result["metrics"]}.items() <= scores.items()
    for words in ("## Measured on 100 rows", "## What each column does", "## In numbers", "area", "town"):
        assert words in body
    for line in body.splitlines():
        if line.startswith("|") and not line.startswith("|---"):
            assert re.search(r"(?<!\\)\|$", line)


@pytest.mark.parametrize("word", [*HOSTILE, "[x](javascript:1)", "a|b", "https://sleek.example/"])
def test_markdown_has_no_markup_of_others(word):
    rng = np.random.default_rng(0)
    table = {word: rng.normal(size=120), "level": rng.choice([word, "b"], 120)}
    y = np.where(table[word] + rng.normal(size=120) > 0, word, "other")
    model = LowRankLSSVC(3, basis="box", C=1.0, random_state=0).fit(table, y).model_
    text = markdown_of(model, measure(model, table, y)).split("---\n", 2)[2]
    assert not re.search(r"<[a-zA-Z/]", text)
    assert not re.search(r"(?<!\\)\[", text)
    assert "\u202e" not in text
    assert "\x1b" not in text
    assert "https://" not in text
    assert "x" * 1000 not in text
    widths = {
        re.sub(r"\\\\|\\\|", "", line).count("|") for line in text.splitlines() if line.startswith("| ")
    }
    assert widths <= {3, 4}


def test_an_edit_is_in_every_report(tmp_path, models):
    edited = models["number"].edited(remove=[0], note="not <i>known</i>")
    for ending in ("html", "md"):
        edited.report(tmp_path / f"report.{ending}")
        text = (tmp_path / f"report.{ending}").read_text("utf-8")
        assert "took out unit 0 (not &lt;i&gt;known&lt;/i&gt;)" in text
    with pytest.raises(ValueError, match=r"must end in \.html, \.htm, \.md"):
        edited.report(tmp_path / "report.pdf")


# -- measured -----------------------------------------------------------------------------------------------


def test_bins_are_means_of_at_least_five_rows():
    rng = np.random.default_rng(0)
    for n in (5, 9, 23, 400):
        predicted, true = rng.normal(size=n).round(1), rng.normal(size=n)
        found = Bins.of(predicted, true)
        assert found.counts.sum() == n
        assert found.counts.min() >= 5
        assert found.predicted @ found.counts == pytest.approx(predicted.sum())
        assert found.true @ found.counts == pytest.approx(true.sum())
        assert (np.diff(found.predicted) > 0).all()


def test_small_counts_are_not_told(models):
    table, _ = flats(100, seed=4)
    y = models["classes"].predict(table)
    y[:3] = np.where(y[:3] == "dear", "cheap", "dear")
    page = page_of(models["classes"], measure(models["classes"], table, y))
    assert "&lt;5" in page or "<5</td>" in page


# -- privacy ------------------------------------------------------------------------------------------------


def test_no_bin_of_the_page_has_fewer_than_five_rows(models):
    for model in models.values():
        pooled = pool(model)
        assert pooled.facts is not None
        n = model.facts.n_rows
        for column, one in zip(model.inputs.columns, pooled.facts.distributions, strict=True):
            assert one.weights.sum() == pytest.approx(1.0)
            if column.name == "town":
                continue
            assert (one.weights * n).min() > 4.4
    few = Distribution(np.arange(20.0)[:, None], np.full(20, 0.05))
    facts = replace(models["number"].facts, n_rows=20)
    year = list(models["number"].inputs.names).index("year")
    distributions = [*facts.distributions]
    distributions[year] = few
    facts = replace(facts, distributions=tuple(distributions))
    found = pool(replace(models["number"], facts=facts)).facts.distributions[year]
    np.testing.assert_allclose(found.points.ravel(), [2.0, 7.0, 12.0, 17.0])


def test_rare_levels_are_alike(models):
    town = list(models["number"].inputs.names).index("town")
    before = models["number"].facts.distributions[town].weights
    after = pool(models["number"]).facts.distributions[town].weights
    n = models["number"].facts.n_rows
    rare = before * n < 4.5
    assert rare.any()
    assert len(set(after[rare].tolist())) == 1
    assert after[rare].sum() * n > 4.4
    np.testing.assert_allclose(after[~rare] / after[~rare].sum(), before[~rare] / before[~rare].sum())


def test_the_command_line_writes_the_same_page(tmp_path, models):
    from typer.testing import CliRunner

    from sleek.cli.commands import app

    table, rent = flats(90, seed=6)
    table["rent"] = rent
    table.to_csv(tmp_path / "test.csv", index=False)
    models["number"].save(tmp_path / "model.json", metadata={"target": "rent"})
    words = ["report", tmp_path / "model.json", tmp_path / "test.csv", "-o", tmp_path / "report.html"]
    done = CliRunner().invoke(app, list(map(str, words)))
    assert done.exit_code == 0, done.output
    gaps = [int(n) for n in re.findall(r": (\d+) missing values", done.output)]
    assert gaps == [n for n in table.drop(columns="rent").isna().sum() if n]  # each is counted once
    load(tmp_path / "model.json").report(tmp_path / "again.html", table.drop(columns="rent"), rent)
    one, two = ((tmp_path / name).read_text("utf-8") for name in ("report.html", "again.html"))
    assert one == two
    done = CliRunner().invoke(
        app, ["report", str(tmp_path / "model.json"), "-o", str(tmp_path / "report.txt")]
    )
    assert done.exit_code == 2
    assert "must end in .html" in done.stderr


def test_a_loss_of_ones_own_choice_is_told_in_its_own_words(tmp_path):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=300), "b": rng.normal(size=300)})
    y = rng.poisson(np.exp(0.5 * X.a))
    model = LowRankLSSVR(loss="poisson", random_state=0).fit(X, y)
    model.report(tmp_path / "report.html", X, y)
    text = (tmp_path / "report.html").read_text()
    assert "Expected poisson loss" in text
    assert "adds to log y" in text
    assert "Error on held-out rows (mean loss)" in text
    (_, bins), *_ = measure(model.model_, X, y).bins
    assert bins.predicted.min() > 0  # predictions, not their logarithms
    with pytest.raises(ValueError, match="Only models of squared error are edited exactly"):
        model.model_.edited(remove=["a"])
