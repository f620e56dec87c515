"""What is printed is what is computed: predictions are read back from the words."""

import re
from dataclasses import replace

import nasty
import numpy as np
import pandas as pd
import pytest

import sleek
from sleek import Expansion, Part
from sleek.bases.units import Units
from sleek.report.model_words import CHOSEN
from sleek.report.shown import Shown
from sleek.report.unit_rules import EQUALLY_SOFT, Writer, _levels

N = 240


def table(seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "area": np.where(rng.random(N) < 0.15, np.nan, rng.normal(80, 20, N).round(1)),
            "town": rng.choice(["Aarau", "Basel", "Chur"], N, p=[0.5, 0.3, 0.2]),
            "garden": rng.random(N) < 0.3,
            "built": pd.Timestamp("1990-01-01") + pd.to_timedelta(rng.integers(0, 9000, N), unit="D"),
            "rooms": rng.integers(1, 6, N),
        }
    )


def rent_of(frame):
    rng = np.random.default_rng(1)
    rent = 10 * frame.area.fillna(40) + 300 * (frame.town == "Basel") + 90 * frame.garden * frame.rooms
    return rent + rng.normal(0, 10, N)


# -- a reader of what is printed ----------------------------------------------------------------------------


class Reader:
    """Reads the lines of a model and adds them up for rows of a table."""

    def __init__(self, model, frame):
        text = model.in_words(width=10_000, everything=True)
        lines = text[text.index("the sum of these lines") :].splitlines()[1:]
        self.lines = [line for line in lines if not line.startswith("(")]
        soft = re.search(rf"\({EQUALLY_SOFT} (.*)\)", text)
        said = soft[1].replace(" days", "").split(", ") if soft else []
        self.softness = dict(one.split(" ± ") for one in said)
        self.frame, self.n = frame, len(frame)
        self.words = list(model.outputs.words)

    def outputs(self):
        several = len(self.words) > 1
        first, *rest = self.lines
        if several:
            total = np.tile([float(value) for value in re.findall(r" ([+-]\S+?)(?:,|$)", first)], (self.n, 1))
        else:
            total = np.full((self.n, 1), float(first))
        output = 0
        for line in rest:
            if several and line.startswith("  for "):
                output = self.words.index(line.strip()[4:-1])
            elif match := re.match(r"  (\S.*?) (where .*|everywhere|tanh\(.*|max\(.*)$", line):
                weights, unit = match.groups()
                numbers = re.findall(r"[+-]\d\S*?(?=[,:]|$)", weights)
                total += np.outer(self.unit(unit), [float(number) for number in numbers])
            else:
                name, said = line.strip().split(": ", 1)
                total[:, output] += self.curve(name, said)
        return total

    def column(self, name):
        if name not in self.frame:  # a part of a date
            name, part = name.split(": ")
            return {"weekday": self.frame[name].dt.weekday}[part].to_numpy(float)
        values = self.frame[name]
        if values.dtype.kind == "M":
            return (values - pd.Timestamp("1970-01-01")).dt.total_seconds().to_numpy() / 86400
        if values.dtype.kind == "b":
            return np.where(values, "true", "false")
        return values.fillna(values.median()).to_numpy() if values.dtype.kind == "f" else values.to_numpy()

    def curve(self, name, said):
        values = self.column(name)
        if said.endswith(("for each", "for each day")):
            return float(said.split()[0]) * values
        if " at " in said:
            points = [part.split(" at ") for part in said.split(", ")]
            return np.interp(values, [number(x) for _, x in points], [float(y) for y, _ in points])
        levels = dict(part.rsplit(" ", 1) for part in said.split(", "))
        return np.array([float(levels.get(value, 0)) for value in self.levels(name, levels)])

    def levels(self, name, words):
        if set(words) <= {"known", "missing"}:
            return np.where(self.frame[name].isna(), "missing", "known")
        return self.column(name)

    def unit(self, said):
        if said == "everywhere":
            return np.ones(self.n)
        if said.startswith("where "):
            parts = [self.condition(part) for part in said[6:].split(" and ")]
            return np.prod(parts, axis=0)
        if said.startswith("tanh("):
            return np.tanh(self.sum(said[5:-1]))
        inner = re.fullmatch(r"max\(0, \(1 - \((.*)\)\)\)", said).group(1)
        return np.maximum(0.0, 1.0 - self.sum(inner))

    def condition(self, said):
        names = sorted([*self.frame, "built: weekday"], key=len, reverse=True)
        name = next(name for name in names if said.startswith(f"{name} "))
        values, rest = self.column(name), said[len(name) + 1 :].replace(" days", "")
        if name in self.softness:
            rest = re.sub(
                r"^(near|above|below|from) (\S+)(?= to |$)", rf"\g<0> ± {self.softness[name]}", rest
            )
            rest = re.sub(r" to (\S+)$", rf"\g<0> ± {self.softness[name]}", rest)
        numeric = re.fullmatch(r"(near|above|below|from) (\S+) ± (\S+)(?: to (\S+) ± (\S+))?", rest)
        if numeric is None:
            full, _, weaker = rest.partition(" (")
            levels = dict.fromkeys(full.split(", "), 1.0)
            levels |= {w: float(v) for w, v in re.findall(r"([^,()]+?) ×([^,)]+)", weaker.replace(", ", ","))}
            return np.array([levels.get(value, 0.0) for value in self.levels(name, levels)])
        kind, one, half, other, other_half = numeric.groups()
        away = values - number(one)
        if kind == "near":
            return 2.0 ** -((np.abs(away) / float(half)) ** (2 if self.squares else 1))
        z = np.zeros(self.n)
        if kind in ("above", "from"):
            z += np.maximum(-away, 0) / float(half)
        if kind == "below":
            z += np.maximum(away, 0) / float(half)
        if kind == "from":
            z += np.maximum(values - number(other), 0) / float(other_half)
        return 2.0**-z

    def sum(self, said):
        total = np.zeros(self.n)
        for sign, term in re.findall(r"(^|[+-] )((?:[^|]|\|[^|]*\|)+?)(?= [+-] |$)", said):
            if match := re.fullmatch(r"\((.+?): (.+)\)", term):
                levels = dict(part.rsplit(" ", 1) for part in match[2].split(", "))
                one = np.array([float(levels.get(value, 0)) for value in self.levels(match[1], levels)])
            elif match := re.fullmatch(r"(\S+?)·\|(.+) - (\S+)\|", term):
                one = float(match[1]) * np.abs(self.column(match[2]) - number(match[3]))
            elif "·" in term:
                value, name = term.split("·")
                one = float(value) * self.column(name)
            else:
                one = np.full(self.n, float(term))
            total += -one if sign.startswith("-") else one
        return total


def number(text):
    if re.match(r"\d{4}-\d\d-\d\d", text):
        return (np.datetime64(text, "us") - np.datetime64("1970-01-01", "us")).astype(float) / 86_400e6
    return float(text)


BASES = ["gaussian_rbf", "robust_rbf", "box", "sigmoidal", "simplex", "linear", "curves"]


@pytest.mark.parametrize("task", ["number", "binary", "classes"])
@pytest.mark.parametrize("basis", BASES)
def test_predictions_are_read_back_from_what_is_printed(basis, task):
    frame = table()
    rent = rent_of(frame)
    cuts = {"binary": [900], "classes": [700, 1000]}.get(task)
    size = "auto" if basis in ("linear", "curves") else 5
    if cuts is None:
        model = sleek.LowRankLSSVR(size, basis=basis, C=10.0, random_state=0).fit(frame, rent).model_
    else:
        labels = np.array(["low", "middle", "high"])[np.digitize(rent, cuts)]
        model = sleek.LowRankLSSVC(size, basis=basis, C=10.0, random_state=0).fit(frame, labels).model_
    reader = Reader(model, frame)
    reader.squares = basis == "gaussian_rbf"
    Y = model.outputs_unchecked(model.inputs.transform(frame))
    np.testing.assert_allclose(reader.outputs(), Y, rtol=1e-9, atol=1e-9 * np.abs(Y).max())


@pytest.mark.parametrize("basis", ["gaussian_rbf", "robust_rbf", "box"])
def test_widths_that_units_share_are_said_once_and_read_back(basis):
    frame = table()
    model = sleek.LowRankLSSVR(5, basis=basis, C=10.0, random_state=0).fit(frame, rent_of(frame)).model_
    (part,) = model.parts
    shared = replace(
        model,
        expansion=Expansion((Part(part.basis, part.basis.share_widths(part.units)),)),
        memory=None,
        calibration=None,
    )
    assert shared.n_numbers < model.n_numbers
    reader = Reader(shared, frame)
    assert {"area", "rooms"} <= set(reader.softness)
    reader.squares = basis == "gaussian_rbf"
    np.testing.assert_allclose(reader.outputs()[:, 0], shared.predict(frame), rtol=1e-9)


def test_models_of_several_parts_are_read_back():
    frame = table()
    rent = rent_of(frame)
    boxes, curves = (
        sleek.LowRankLSSVR(size, basis=basis, C=10.0, random_state=0).fit(frame, rent).model_
        for size, basis in ((4, "box"), ("auto", "curves"))
    )
    both = replace(
        boxes,
        expansion=Expansion((*boxes.parts, *curves.parts)),
        theta=np.concatenate([boxes.theta, curves.theta]) / 2,
        b=(boxes.b + curves.b) / 2,
        memory=None,
        calibration=None,
    )
    reader = Reader(both, frame)
    np.testing.assert_allclose(reader.outputs()[:, 0], both.predict(frame), rtol=1e-9)


def test_short_numbers_are_printed_as_they_are():
    """Sides and half distances of few digits: nothing is rounded, and conditions on no column not printed."""
    ln2 = np.log(2.0)
    units = Units(
        {
            "centers": np.array([[1.5, 0.0], [0.0, 3.0]]),
            "half_widths": np.array([[0.5, 0.0], [0.0, 0.0]]),
            "below": np.array([[ln2 / 0.2, 0.0], [0.0, 0.0]]),
            "above": np.array([[0.0, 0.0], [0.0, ln2 / 25]]),
        }
    )
    X = np.random.default_rng(0).uniform(0, 4, size=(60, 2))
    model = sleek.LowRankLSSVR(2, basis="robust_rbf", C=1.0, random_state=0).fit(X, X[:, 0]).model_
    model = replace(
        model,
        expansion=Expansion((Part(sleek.Box(), units),)),
        theta=np.array([[1200.0], [-35.5]]),
        b=np.array([0.25]),
    )
    text = str(model)
    assert "  +0.25\n  +1200 where x0 above 1 ± 0.2\n  -35.5 where x1 below 3 ± 25\n" in text
    assert "rounded" not in text
    assert model.in_words(everything=True) == text


def test_long_models_are_cut_with_a_word_about_what_is_left():
    frame = table()
    model = (
        sleek.LowRankLSSVR(20, basis="gaussian_rbf", C=10.0, random_state=0).fit(frame, rent_of(frame)).model_
    )
    text = str(model)
    assert re.search(r"… and \d+ more units", text)
    assert "numbers are rounded here" in text
    assert "more units" not in model.in_words(everything=True)
    assert max(map(len, text.splitlines())) <= 100


def test_numbers_have_the_digits_that_count():
    writer = Writer()
    for value in (0.1 + 0.2, 1 / 3, 1e-12, 123456789.0, -0.0, 2.5e7, 1e300, 5e-324):
        assert float(writer.number(value)) == pytest.approx(value, rel=3e-15)
    assert [writer.number(v) for v in (0.1 + 0.2, -0.0, 1e6, 0.00012)] == ["0.3", "0", "1000000", "0.00012"]


def test_a_notebook_shows_head_and_curves_with_nothing_that_a_browser_obeys():
    frame = table().rename(columns={"town": "<b>town</b>"})
    model = sleek.LowRankLSSVR(2, basis="box", C=1.0, random_state=0).fit(frame, rent_of(table())).model_
    html = model._repr_html_()
    assert "<script" not in html
    assert "<svg" in html
    assert "What each column does" in html
    assert "<b>town" not in html
    assert "&lt;b&gt;town" in html


def test_the_choice_is_said():
    frame = table()
    model = sleek.LowRankLSSVR(random_state=0, effort="quick").fit(frame, rent_of(frame)).model_
    text = model.in_words(width=500)
    line = next(line for line in text.splitlines() if f", {CHOSEN} (by errors): " in line)
    assert " ± " in line
    assert "(loss " not in line  # errors decide, and are shown
    assert "linear" in line or "curves" in line
    rent = rent_of(frame)
    dear = np.where(rent > np.median(rent), "dear", "cheap")
    words = sleek.LowRankLSSVC(random_state=0, effort="quick").fit(frame, dear).model_
    line = next(line for line in words.in_words(width=500).splitlines() if f"{CHOSEN} (by loss): " in line)
    (taken,) = (one for one in words.facts.compared if one.chosen)
    assert f"(loss {taken.loss:.3g})" in line
    assert line.count("(loss ") == line.count("numbers)")


def test_what_stands_for_missing_numbers_and_for_what_is_not_named_is_said():
    frame = table()
    frame["area"] = np.where(np.arange(len(frame)) % 9 == 0, np.nan, frame["area"])
    rent = rent_of(table())
    kinds = np.array(["low", "mid", "top"])[np.digitize(rent, np.quantile(rent, [0.3, 0.7]))]
    model = sleek.LowRankLSSVC(4, basis="sigmoidal", C=10.0, random_state=0).fit(frame, kinds).model_
    text = " ".join(str(model).split())
    (area,) = (column for column in model.inputs.columns if column.name == "area")
    assert f"(a number that is missing counts as: area {area.fill:g}" in text
    assert "(a class gets its number times what follows the colon, 0 if it is not named)" in text


def test_a_model_of_an_old_file_says_what_it_lacks():
    frame = table()
    model = sleek.LowRankLSSVR(2, basis="box", C=1.0, random_state=0).fit(frame, rent_of(frame)).model_
    old = replace(model, facts=replace(model.facts, distributions=None))
    assert "older version of sleek" in " ".join(str(old).split())
    bare = replace(model, facts=None)
    assert "the sum of these lines" in str(bare)


@pytest.mark.parametrize(
    "name", ["targets_of_1e149", "scales_up_to_1e100", "strange_labels", "wide", "two_rows"]
)
def test_nasty_tables_are_told_and_explained(name):
    made = nasty.MADE[name]()
    kind = sleek.LowRankLSSVC if made.classifies else sleek.LowRankLSSVR
    model = kind(1, basis="gaussian_rbf", C=1.0, random_state=0).fit(made.X, made.y, made.weights).model_
    for text in (str(model), model.in_words(width=40, everything=True), repr(model.explain(made.X[:2]))):
        assert all(line.isprintable() for line in text.splitlines())
    found = model.effects().contributions(made.X)
    scale = np.abs(found.outputs).max()
    np.testing.assert_allclose(found.mean + found.values.sum(axis=1), found.outputs, atol=1e-9 * scale)
    assert len(model.reasons(made.X[:2])) == len(model.familiar(made.X[:2])) == 2


def test_levels_of_a_rough_rule_are_said_in_as_few_words_as_possible():
    column = Shown("cut", slice(0, 5), words=("a", "b", "c", "d", "e"), table=np.eye(5))
    rough, exact = Writer(rough=True), Writer()
    for strengths, words in (
        ([1, 1, 1, 1, 0.02], "cut not e"),
        ([1, 0.95, 1, 0.5, 0.02], "cut (e ×0, d ×0.5, others ×1)"),
        ([1, 0.3, 0.3, 0.3, 0.3], "cut a (others ×0.3)"),
        ([0.3, 1, 0.3, 0.5, 0.01], "cut b (d ×0.5, a, c ×0.3)"),
        ([1, 1, 0, 0, 0], "cut a, b"),
        ([1, 1, 1, 0.95, 0.95], ""),
    ):
        assert _levels(column, np.array(strengths, dtype=float), rough) == words
    strengths = np.array([1.0, 0.3, 0.3, 0.3, 0.3])
    assert _levels(column, strengths, exact) == "cut a (b ×0.3, c ×0.3, d ×0.3, e ×0.3)"
