"""Small pictures of units: what they show is what units are."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import zoo
from test_report import HOSTILE, flats, models, parsed

from sleek import LowRankLSSVC, LowRankLSSVR
from sleek.report.html_report import MOST_UNITS, page_of
from sleek.report.unit_pictures import HALF, HEIGHT, WIDTH, picture_of, spreads_of
from sleek.report.unit_rules import lines_of, shown_columns, unit_of

assert models  # a fixture


def paths(picture, kind):
    """The outlines of a class, as lists of commands with their numbers."""
    found = re.findall(rf'<path class="{kind}" d="(.*?)"', picture)
    return [
        [
            (letter, [float(number) for number in numbers.split()])
            for letter, numbers in re.findall(r"([A-Za-z])([-\d. ]*)", d)
        ]
        for d in found
    ]


@pytest.mark.parametrize("basis", ["box", "gaussian_rbf"])
def test_a_strip_is_how_far_a_rule_holds(basis):
    model = zoo.model(basis, "number")
    facts, (part,) = model.facts, [part for part in model.parts if part.basis.name == basis]
    names = list(model.names_of_features)
    checked = 0
    for j in range(len(part)):
        picture = picture_of(model, part, j)
        strips = re.findall(r"<svg.*?</svg>[^<]*", picture)
        assert all(len(strip.encode()) < 600 for strip in strips)
        for strip in strips:
            i = names.index(strip.rpartition(">")[2])
            ((_, *outline, _, _),) = paths(strip, "up")
            x = np.array([numbers[0] for _, numbers in outline])
            y = np.array([numbers[1] for _, numbers in outline])
            assert (x[0], x[-1]) == (0, WIDTH)
            at = np.linspace(0.0, WIDTH, 33)
            rows = np.tile(part.units["centers"][j] if basis != "box" else np.zeros(len(names)), (33, 1))
            rows[:, i] = facts.low[i] + (facts.high[i] - facts.low[i]) * at / WIDTH
            values = part.basis.features(rows, part.units)[:, j]
            span = facts.high[i] - facts.low[i]
            grid = np.linspace(facts.low[i] - 2 * span, facts.high[i] + 2 * span, 20_001)
            own = np.tile(rows[0], (len(grid), 1))
            own[:, i] = grid
            best = part.basis.features(own, part.units)[:, j].max()  # where this condition holds
            drawn = (HEIGHT - np.interp(at, x, y)) / (HEIGHT - 1)
            np.testing.assert_allclose(drawn, values / best, atol=0.06)
            checked += 1
    assert checked > 2


def test_bars_of_levels_are_relative_to_the_best(models):
    model = models["number"]
    (part,) = model.parts
    town = next(column for column in shown_columns(model) if column.name == "town")
    seen = 0
    for j in range(len(part)):
        found = re.search(r"<title>Aarau \| .*?</svg>town", picture_of(model, part, j, "down"))
        if found is None:
            continue
        seen += 1
        one = unit_of(part, j)
        row = np.tile(model.inputs.transform(flats(1)[0])[0], (len(town.words), 1))
        row[:, town.place] = town.table
        values = one.basis.features(row, one.units)[:, 0]
        (commands,) = paths(found[0], "down")
        tall = {round(at / (WIDTH / len(town.words))): -up for (_, (at, _)), (_, (up,)) in bars(commands)}
        wanted = (HEIGHT - 1) * values / values.max()
        for place, height in enumerate(wanted):
            assert tall.get(place, 0.0) == pytest.approx(height, abs=0.6)
    assert seen


def bars(commands):
    """Where each bar begins, and how tall it is."""
    return [(commands[i], commands[i + 1]) for i, (letter, _) in enumerate(commands) if letter == "M"]


def test_bars_of_sums_are_slopes_times_spreads(models):
    model = models["several"]
    (part,) = model.parts
    columns, (table, _) = shown_columns(model), flats()
    X = model.inputs.transform(table)
    for j in range(len(part)):
        spreads = spreads_of(unit_of(part, j), columns, model)
        slopes = part.units["slopes"][j]
        for column, spread in zip(columns, spreads, strict=True):
            values = X[:, column.place] @ slopes[column.place]
            assert abs(spread) == pytest.approx(values.std(), rel=0.05, abs=1e-9)
            if not column.words:
                assert np.sign(spread) == np.sign(slopes[column.place.start])
        picture = picture_of(model, part, j)
        assert len(picture.encode()) < 800
        names = re.findall(r"<text[^>]*>([^<]*)</text>", picture)
        order = [columns[c].name for c in np.argsort(-np.abs(spreads), kind="stable")]
        assert names == order[: len(names)]
        assert len(names) > 1
        longest = float(np.abs(spreads).max())
        bars = re.findall(r'class="(up|down|both)" d="M([-\d.]+) \d+H([-\d.]+)v', picture)
        assert len(bars) == len(names)
        for (kind, start, end), c in zip(bars, np.argsort(-np.abs(spreads), kind="stable"), strict=False):
            assert float(end) - float(start) == pytest.approx(HALF * abs(spreads[c]) / longest, abs=0.11)
            assert kind == ("both" if columns[c].words else "up" if spreads[c] > 0 else "down")


def test_only_units_that_are_shown_have_pictures():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    model = LowRankLSSVR(45, basis="gaussian_rbf", C=10.0, random_state=0).fit(
        X, np.sin(3 * X[:, 0]) * X[:, 1]
    )
    page = page_of(model.model_)
    assert len(lines_of(model.model_, 15).units) > MOST_UNITS
    assert page.count('class="pics"') == MOST_UNITS - 1
    shown, more = page.split("The whole model in numbers")[1].split("<summary>", 1)
    assert 'class="pics"' in shown
    assert 'class="pics"' not in more


@pytest.mark.parametrize(("basis", "task"), zoo.CASES)
def test_units_of_any_basis_have_a_page(basis, task):
    model = zoo.model(basis, task)
    for part in model.parts:
        for j in range(min(3, len(part))):
            picture = picture_of(model, part, j)
            assert "nan" not in picture
            assert picture.count("<svg") == picture.count("</svg>")
            assert picture_of(replace(model, facts=None), part, j) == ""
            if model.facts is not None:
                facts = replace(model.facts, distributions=None)
                assert picture_of(replace(model, facts=facts), part, j) == ""


@pytest.mark.parametrize("basis", ["box", "sigmoidal"])
@pytest.mark.parametrize("word", HOSTILE)
def test_names_in_pictures_are_text(word, basis):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({word: rng.normal(size=120), "level": rng.choice([word, "b"], 120)})
    y = table[word] + 2 * (table["level"] == "b") > 0.5
    model = LowRankLSSVC(3, basis=basis, C=1.0, random_state=0).fit(table, y).model_
    page = page_of(model)
    assert 'class="pics"' in page
    assert parsed(page).scripts == 2
    for picture in re.findall(r'<span class="pics".*?</span></li>', page):
        assert len(picture) < 2500
        assert not {"\x1b", "\u202e", "\x07"} & set(picture)
        assert "<script" not in picture
        assert "<b>" not in picture
