"""The report's page in a browser: what it shows, how it answers, and that it asks for nothing."""

from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from browser import browser
from test_report import HOSTILE, flats, models, raw_rows

from sleek import LowRankLSSVC, LowRankLSSVR
from sleek.report.pooling import pool

assert models  # a fixture
REPORT = "document.getElementById('report').report"
TEXT = "document.getElementById('report').shadowRoot.querySelector('{}').textContent"


@pytest.fixture(scope="module")
def chromium():
    with browser() as found:
        yield found


@contextmanager
def opened(chromium, path, link="", **options):
    """A page that must not complain, ask for anything, or open a dialog."""
    context = chromium.new_context(**options)
    page = context.new_page()
    said, asked = [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"file://{path}{link}")
    page.wait_for_timeout(300)
    try:
        yield page
        assert said == []
        assert [url for url in asked if not url.startswith(("file://", "blob:"))] == []
        assert len([url for url in asked if url.startswith("file://")]) == 1
    finally:
        context.close()


@pytest.mark.parametrize("name", ["number", "classes", "several", "curves"])
def test_values_are_those_of_python(tmp_path, chromium, models, name):
    table, _ = flats(100, seed=7)
    models[name].report(tmp_path / "report.html")
    with opened(chromium, tmp_path / "report.html") as page:
        answers, scores = (
            page.evaluate(f"(rows) => rows.map((row) => {REPORT}.program.{what}(row))", raw_rows(table))
            for what in ("predict", "scores")
        )
    outputs = np.asarray(models[name].decision_function(table)).reshape(len(table), -1)
    assert np.max(np.abs(np.array(scores) - outputs)) < 1e-12 * np.abs(outputs).max()
    if name in ("classes", "several"):
        assert answers == models[name].predict(table).tolist()


def test_controls_answer_to_the_keyboard(tmp_path, chromium, models):
    model = models["number"]
    model.report(tmp_path / "report.html")
    with opened(chromium, tmp_path / "report.html") as page:
        before = page.evaluate(TEXT.format(".prediction"))
        slider = page.locator("input[type=range]").first
        slider.focus()
        for _ in range(10):
            page.keyboard.press("ArrowRight")
        page.wait_for_timeout(300)
        after = page.evaluate(TEXT.format(".prediction"))
        assert after != before
        names, row = model.inputs.names, page.evaluate(f"{REPORT}.row")
        values = dict(zip(names, row, strict=True))
        values["let"] = pd.Timestamp("1970-01-01") + pd.Timedelta(values["let"], "D")
        predicted = float(model.predict(pd.DataFrame([values]))[0])
        assert float(after.replace(",", "")) == pytest.approx(predicted, rel=1e-3)
        select = page.locator("select").first
        select.focus()
        page.keyboard.press("ArrowDown")
        page.wait_for_timeout(300)
        assert page.evaluate(f"{REPORT}.row") != row
        labels = page.evaluate(
            "[...document.getElementById('report').shadowRoot.querySelectorAll('.control')]"
            ".map((one) => one.querySelector('label').htmlFor === one.querySelector('input, select').id)"
        )
        assert all(labels)
        assert len(labels) == 4


def test_a_link_carries_the_row(tmp_path, chromium, models):
    models["classes"].report(tmp_path / "report.html")
    link = "#area=&year=1950&town=Basel&let=2021-03-04&nothing=1"
    with opened(chromium, tmp_path / "report.html", link) as page:
        row = page.evaluate(f"{REPORT}.row")
        day = (pd.Timestamp("2021-03-04") - pd.Timestamp("1970-01-01")).days
        assert row == [None, 1950, "Basel", day]
        page.evaluate(f"{REPORT}.set(1, 1960)")
        page.wait_for_timeout(400)
        hash_ = page.evaluate("location.hash")
        assert "year=1960" in hash_
        assert "town=Basel" in hash_
        assert "area=" in hash_
        page.get_by_role("button", name="Start again").click()
        page.wait_for_timeout(400)
        assert page.evaluate("location.hash") == ""


def test_what_if_starts_from_a_row_of_the_data(tmp_path, chromium, models):
    model, (table, _) = models["classes"], flats(30, seed=9)
    table.loc[4, "area"] = np.nan
    model.report(tmp_path / "report.html", table, model.predict(table), include_rows=6)
    with opened(chromium, tmp_path / "report.html") as page:
        typical = page.evaluate(f"{REPORT}.row.slice()")
        rows = page.get_by_label("Start from")
        assert rows.locator("option").all_inner_texts() == ["a typical row", *(f"row {n}" for n in range(6))]
        for n, wanted in enumerate(raw_rows(table[:6])):
            rows.select_option(label=f"row {n}")
            page.wait_for_timeout(200)
            assert page.evaluate(f"{REPORT}.row") == wanted
            assert page.evaluate(TEXT.format(".prediction")) == model.predict(table[n : n + 1])[0]
        assert page.locator(".control input[type=number]").nth(0).input_value() != ""
        page.evaluate(f"{REPORT}.set(1, 1950)")
        page.get_by_role("button", name="Start again").click()
        assert page.evaluate(f"{REPORT}.row") == raw_rows(table[5:6])[0]
        rows.select_option(label="a typical row")
        assert page.evaluate(f"{REPORT}.row") == typical
    model.report(tmp_path / "report.html", table, model.predict(table))
    with opened(chromium, tmp_path / "report.html") as page:
        assert page.get_by_label("Start from").count() == 0


def test_a_flip_can_be_tried_and_strange_rows_are_named(tmp_path, chromium, models):
    models["classes"].report(tmp_path / "report.html")
    with opened(chromium, tmp_path / "report.html", "#year=1500") as page:
        assert "year 1500 is below all training rows" in page.evaluate(TEXT.format(".strange"))
        before = page.evaluate(TEXT.format(".prediction"))
        assert "smallest change that flips it" in page.evaluate(TEXT.format(".flip"))
        page.get_by_role("button", name="Try it").click()
        page.wait_for_timeout(300)
        assert page.evaluate(TEXT.format(".prediction")) != before


def test_the_model_can_be_downloaded(tmp_path, chromium, models):
    from sleek import load

    models["number"].report(tmp_path / "report.html")
    with opened(chromium, tmp_path / "report.html") as page:
        with page.expect_download() as found:
            page.get_by_role("button", name="Download the model").click()
        found.value.save_as(tmp_path / "model.json")
    table, _ = flats(20)
    np.testing.assert_array_equal(
        load(tmp_path / "model.json").predict(table), models["number"].predict(table)
    )


def test_it_reads_without_javascript_and_prints(tmp_path, chromium, models):
    table, rent = flats(100, seed=4)
    models["number"].report(tmp_path / "report.html", table, rent)
    with opened(chromium, tmp_path / "report.html", java_script_enabled=False) as page:
        for words in (
            "Expected error",
            "What each column does",
            "Predicted and true",
            "The whole model in numbers",
        ):
            assert page.get_by_text(words).first.is_visible()
        assert page.locator("svg.pic").first.bounding_box()["height"] > 50
    with opened(chromium, tmp_path / "report.html") as page:
        page.emulate_media(media="print")
        assert not page.get_by_role("heading", name="What if").is_visible()
        assert page.get_by_text("What each column does").first.is_visible()
        assert len(page.pdf()) > 10_000


@pytest.mark.parametrize("width", [360, 1200])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_runs_over_the_edge(tmp_path, chromium, models, width, scheme):
    table, _ = flats(100, seed=4)
    models["several"].report(tmp_path / "report.html", table, models["several"].predict(table))
    size = {"width": width, "height": 800}
    with opened(chromium, tmp_path / "report.html", viewport=size, color_scheme=scheme) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        colour = page.evaluate("getComputedStyle(document.getElementById('report')).backgroundColor")
        assert (sum(map(int, colour[4:-1].split(", "))) < 200) == (scheme == "dark")


@pytest.mark.parametrize("word", HOSTILE)
def test_hostile_words_do_nothing(tmp_path, chromium, word):
    rng = np.random.default_rng(0)
    table = {word: rng.normal(size=120), "level": rng.choice([word, "b"], 120)}
    y = np.where(table[word] + rng.normal(size=120) > 0, word, "other")
    model = LowRankLSSVC(3, basis="box", C=1.0, random_state=0).fit(table, y)
    model.report(tmp_path / "report.html", table, y, include_rows=3)
    with opened(chromium, tmp_path / "report.html", viewport={"width": 800, "height": 600}) as page:
        labels = page.evaluate(f"[...{REPORT}.program.labels]")
        assert sorted(labels) == sorted([word, "other"])
        page.get_by_label("Start from").select_option(label="row 2")
        assert page.evaluate(f"{REPORT}.row") == [table[word][2], table["level"][2]]
        page.evaluate(f"{REPORT}.set(0, 0.25)")
        page.wait_for_timeout(400)
        link = page.evaluate("location.hash")
        assert page.evaluate("document.documentElement.scrollWidth") <= 800
    if len(word) < 80:  # longer names are cut, and cannot be told apart
        with opened(chromium, tmp_path / "report.html", link) as page:
            assert page.evaluate(f"{REPORT}.row[0]") == 0.25


def test_three_hundred_columns_are_fast(tmp_path, chromium):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 300)), columns=[f"sensor {i}" for i in range(300)])
    model = LowRankLSSVR(basis="linear", random_state=0).fit(X, X @ rng.normal(size=300))
    model.report(tmp_path / "report.html")
    with opened(chromium, tmp_path / "report.html") as page:
        begin, end = page.evaluate("[performance.timing.navigationStart, performance.timing.loadEventEnd]")
        assert end - begin < 4000  # a second on a machine that is not busy
        page.get_by_text("smaller effects").click()
        page.get_by_text("columns that matter less").click()
        page.wait_for_timeout(300)
        assert page.locator(".control").count() == 300
        took = page.evaluate(
            "(() => { const { evaluate, program, row } = " + REPORT + "; const begin = performance.now();"
            "for (let i = 0; i < 20; ++i) { const x = program.features(row), y = program.scores(row);"
            "evaluate.told(x, y); evaluate.unusual(row); evaluate.effects(x); }"
            "return (performance.now() - begin) / 20; })()"
        )
        assert took < 100  # a frame is 16 ms: this machine may be busy


def editable():
    """A model whose sums the page carries, and its training rows."""
    table, rent = flats()
    return LowRankLSSVR(6, basis="box", C=100.0, random_state=0).fit(table, rent).model_, table


def edited_in(page, path):
    """The edited model that the page offers."""
    from sleek import load

    with page.expect_download() as found:
        page.get_by_role("button", name="Download the edited model").click()
    found.value.save_as(path)
    return load(path)


def test_edits_are_those_of_python(tmp_path, chromium):
    model, table = editable()
    model.report(tmp_path / "report.html")
    unit = int(np.argmin(model.theta[:, 0]))
    other = 0 if unit else 1
    with opened(chromium, tmp_path / "report.html") as page:
        before = page.evaluate(f"{REPORT}.program.scores({REPORT}.row)")
        page.get_by_label("Note for the next change").fill("not <b>known</b>")
        page.get_by_label(f"{other}: ").uncheck()
        first = edited_in(page, tmp_path / "first.json")
        wanted = model.edited(remove=[other], note="not <b>known</b>")
        np.testing.assert_allclose(first.theta, wanted.theta, rtol=1e-7)
        np.testing.assert_allclose(first.predict(table), wanted.predict(table), rtol=1e-8)
        assert [(one.words, one.note) for one in first.edits.history] == [
            (one.words, one.note) for one in wanted.edits.history
        ]
        np.testing.assert_allclose(first.edits.history[0].after, wanted.edits.history[0].after, rtol=1e-6)
        rows = raw_rows(table)
        scores = page.evaluate(f"(rows) => rows.map((row) => {REPORT}.program.scores(row)[0])", rows)
        np.testing.assert_allclose(scores, wanted.predict(table), rtol=1e-8)
        effects = page.evaluate(
            f"(rows) => rows.map((row) => {REPORT}.evaluate.effects({REPORT}.program.features(row)).curves)",
            raw_rows(table[:30]),
        )
        contributions = pool(wanted).effects().contributions(table[:30]).values[:, :4]
        np.testing.assert_allclose(effects, contributions, atol=1e-6 * np.abs(contributions).max())
        page.get_by_label(f"Weight of unit {unit}").fill("-100")
        page.get_by_label(f"Weight of unit {unit}").press("Tab")
        page.wait_for_timeout(200)
        third = next(j for j in range(6) if j not in (unit, other))
        page.get_by_label(f"Sign of unit {third}").select_option("-1" if model.theta[third, 0] > 0 else "1")
        sign = "-" if model.theta[third, 0] > 0 else "+"
        again = edited_in(page, tmp_path / "again.json")
        wanted = model.edited(remove=[other], fix={unit: -100.0}, sign={third: sign})
        np.testing.assert_allclose(again.theta, wanted.theta, rtol=1e-7, atol=1e-9)
        assert (again.edits.fixed, again.edits.signs) == (wanted.edits.fixed, wanted.edits.signs)
        assert len(again.edits.history) == 3
        assert page.locator("path.edited").count() > 0
        np.testing.assert_allclose(
            again.edited(remove=[0]).predict(table), wanted.edited(remove=[0]).predict(table), rtol=1e-7
        )
        for _ in range(3):
            page.get_by_role("button", name="Undo").click()
        page.wait_for_timeout(200)
        np.testing.assert_allclose(page.evaluate(f"{REPORT}.program.scores({REPORT}.row)"), before, rtol=1e-9)
        assert page.locator("path.edited").count() == 0
        assert page.get_by_role("button", name="Undo").is_disabled()
        page.get_by_label("A column to take out").select_option(label="area")  # which all units look at
        page.get_by_role("button", name="Take out").click()
        assert "at least one unit" in page.evaluate(TEXT.format(".edit .said"))


def test_a_column_can_be_taken_out(tmp_path, chromium, models):
    model, (table, _) = models["curves"], flats()
    model.report(tmp_path / "report.html")
    with opened(chromium, tmp_path / "report.html") as page:
        page.get_by_label("A column to take out").select_option(label="town")
        page.get_by_role("button", name="Take out").click()
        without = edited_in(page, tmp_path / "without.json")
    wanted = model.edited(remove=["town"])
    np.testing.assert_allclose(without.predict(table), wanted.predict(table), rtol=1e-7)
    assert without.edits.history[0].words == wanted.edits.history[0].words


BARS = """() => [...document.querySelector("#report").shadowRoot.querySelectorAll(".edited[x]")].map(
(bar) => {
  const scale = bar.closest("svg").querySelector(".zero[data-x]").dataset.x.split(" ").map(Number);
  const label = [...bar.closest("svg").querySelectorAll("text.end")]
    .find((one) => Math.abs(Number(one.getAttribute("y")) - Number(bar.getAttribute("y")) - 10) < 1);
  const [low, high, start, end] = scale;
  const [x, width] = ["x", "width"].map((key) => Number(bar.getAttribute(key)));
  const values = [x, x + width].map((at) => low + (high - low) * (at - start) / (end - start));
  return [label.textContent, values, bar.textContent];
})"""


@pytest.mark.parametrize("basis", ["curves", "box"])
def test_bars_of_levels_follow_edits(tmp_path, chromium, models, basis):
    model = models["curves"] if basis == "curves" else editable()[0]
    model.report(tmp_path / "report.html")
    remove = int(np.argmax(np.abs(model.theta[:, 0])))
    wanted = pool(model.edited(remove=[remove])).effects().curves["town"]
    before = pool(model).effects().curves["town"]
    span = np.ptp([0.0, *before.outputs[:, 0]])
    with opened(chromium, tmp_path / "report.html") as page:
        assert page.evaluate(BARS) == []
        page.get_by_label(f"{remove}: ", exact=False).first.uncheck()
        page.wait_for_timeout(200)
        found = {word: (values, said) for word, values, said in page.evaluate(BARS)}
        assert sorted(found) == sorted(map(str, wanted.values))
        for word, value in zip(wanted.values, wanted.outputs[:, 0], strict=True):
            ends, said = found[word]
            assert sorted(ends) == pytest.approx(sorted([0.0, value]), abs=0.005 * span)
            assert float(said.removeprefix("now ").replace("−", "-").replace(",", "")) == pytest.approx(
                value, rel=0.01, abs=1e-6 * span
            )
        page.get_by_role("button", name="Undo").click()
        page.wait_for_timeout(200)
        assert page.evaluate(BARS) == []


def test_classes_are_edited_and_an_edited_model_can_be_edited_on(tmp_path, chromium):
    table, rent = flats()
    kinds = pd.cut(rent, [0, 1300, 1700, 1e9], labels=["low", "middle", "high"]).astype(str)
    model = (
        LowRankLSSVC(6, basis="box", C=10.0, loss="squared_error", random_state=0).fit(table, kinds).model_
    )
    model = model.edited(remove=[5], note="first")
    model.report(tmp_path / "report.html")
    with opened(chromium, tmp_path / "report.html") as page:
        page.get_by_label("2: ").uncheck()
        edited = edited_in(page, tmp_path / "edited.json")
    wanted = model.edited(remove=[2])
    np.testing.assert_allclose(edited.theta, wanted.theta, rtol=1e-7)
    assert edited.predict(table).tolist() == wanted.predict(table).tolist()
    assert [one.words for one in edited.edits.history] == ["took out unit 5", "took out unit 2"]
