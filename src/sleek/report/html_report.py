"""The report: a model as one page that opens from disk, reads without JavaScript and answers with it.

Everything that a reader sees stands in the page as HTML and SVG, inside a shadow root that the browser makes
by itself. The script adds what moves: the row of "what if", and marks in the pictures. The page asks for
nothing from anywhere; its content security policy says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np

from sleek import __version__
from sleek._runtime.counting import how_many, plain
from sleek._runtime.types import FloatArray
from sleek.model.effect_parts import MISSING, ColumnOfModel, SampleAverages
from sleek.model.effect_words import (
    curve_in_words,
    number_in_words,
    omission_lines,
    pair_in_words,
)
from sleek.model.effects import Curve, Effects, Pair
from sleek.model.kernel_model import KernelModel
from sleek.model.saving import dumps
from sleek.report import svg
from sleek.report.comparison import compare, curve_of_other
from sleek.report.expected import expected_error
from sleek.report.included_rows import IncludedRow
from sleek.report.measured import Measured, count_in_words
from sleek.report.model_words import (
    LACKS,
    MOST_DIGITS,
    candidate_name,
    constraints_in_words,
    deviation_in_words,
    error_in_words,
    sentence_of,
    target_of,
)
from sleek.report.page_program import data_of, is_editable, program_of
from sleek.report.pooling import pool
from sleek.report.shown import inputs_of
from sleek.report.svg import say
from sleek.report.unit_pictures import picture_of
from sleek.report.unit_rules import lines_of
from sleek.report.words import percent, rough, short
from sleek.tables.columns import DateColumn, LevelColumn, NumberColumn, WordColumn

FIRST_PICTURES = 12  # effects that are drawn at once; the others are a list to open
LEAST_SHARE = 1e-6  # of the variance: what has less is not drawn
MOST_LINES = 8  # outputs in a picture
MOST_MAP_LEVELS = 12
FINE = 96  # values that a curve is computed at, besides those of its distribution
CELLS = 24  # of a map, along an axis of numbers
MOST_UNITS = 30  # that are not behind a click
LONGEST_SENTENCE = 400
UNITS = {"share of mistakes": "mistakes in %", "rmse": "RMSE", "deviance": "mean loss"}
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "base-uri 'none'; form-action 'none'"
)
NOTEBOOK = "& { min-height: 0; } main { padding: 1.5rem; } section, header { margin-bottom: 1.5rem; }"
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
body {{ margin: 0; background: #fcfcfa; }}
@media (prefers-color-scheme: dark) {{ body {{ background: #14171a; }} }}
@media print {{ body {{ background: #fff; }} }}
</style>
</head>
<body>
<div id="report"><template shadowrootmode="open"><style>{style}</style><main>
{body}
</main></template></div>
<script type="application/json" id="model">
{model}
</script>
<script type="module">
{script}
</script>
</body>
</html>
"""


def page_of(model: KernelModel, measured: Measured | None = None, old: KernelModel | None = None) -> str:
    """The text of the page; with what changed since `old`, if there is such a model."""
    model = pool(model)
    known = model.facts is not None and model.facts.distributions is not None
    effects = Effects(model) if known else None
    program, why_not = _program(model, effects)
    rows = [] if measured is None or program is None else measured.rows
    body = [
        _head(model),
        _changes(model, old),
        _how_good(model, measured),
        _columns(model, effects, _effects_before(model, old)),
        _what_if(why_not),
        _edit(model, effects, program),
        _in_numbers(model),
        _how_made(model, len(rows)),
    ]
    return PAGE.format(
        policy=POLICY,
        title=say(f"{target_of(model)}: a model by sleek", 80),
        style=_style(),
        body="\n".join(body),
        model=_model_text(model, effects),
        script=_script(model, effects, program, rows),
    )


def _model_text(model: KernelModel, effects: Effects | None) -> str:
    """The model's file as it stands in a script, with sums over rows if the page can solve from them."""
    moments = effects is not None and is_editable(model, effects)
    return dumps(model, moments=moments).decode("ascii").strip().replace("<", "\\u003c")


def _style() -> str:
    return _file("report.css")


def _file(name: str) -> str:
    return files("sleek.report").joinpath("page", name).read_text("utf-8")


# -- the script ---------------------------------------------------------------------------------------------


def _program(model: KernelModel, effects: Effects | None) -> tuple[str | None, str]:
    """The model as JavaScript; or None, and why there is none."""
    if effects is None:
        return None, LACKS
    try:
        return program_of(model), ""
    except ValueError as error:  # a basis without a formula, outputs of a user's own
        return None, str(error)


def _script(
    model: KernelModel, effects: Effects | None, program: str | None, rows: Sequence[IncludedRow]
) -> str:
    modules = "\n".join(_module(name) for name in ("effects.mjs", "editing.mjs", "report.mjs"))
    data: dict[str, Any] = {}
    if program is not None and effects is not None:
        data = data_of(model, effects, rows) | {"editable": is_editable(model, effects)}
    return (
        f"{modules}\nconst model = {_json(data)};\n"
        'model.json = document.getElementById("model").textContent;\n'
        f"model.program = {program or 'null'};\n"
        'const el = document.getElementById("report");\nel.report = render({ model, el });'
    )


def _module(name: str) -> str:
    """A module as part of another: what it exports is there already."""
    text = re.sub(r"^import .*\n", "", _file(name), flags=re.MULTILINE)
    return re.sub(r"^export ", "", text, flags=re.MULTILINE)


def _json(value: Any) -> str:
    """JSON that cannot end the script it stands in."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


# -- what it is ---------------------------------------------------------------------------------------------


def _head(model: KernelModel) -> str:
    facts, names = model.facts, inputs_of(model).names
    items = []
    if facts is not None:
        items.append(_expected(model))
        items.append(_fact("Learnt from", f"{facts.n_rows:,}", "rows"))
    items.append(_fact("Reads", f"{len(names):,}", "column" if len(names) == 1 else "columns"))
    items.append(_fact("Size", f"{model.n_numbers:,}", "numbers to read"))
    certified = ""
    if model.constraints is not None:
        said = _sentence(constraints_in_words(model))
        certified = f'<p class="note">Certified for all rows: {said}.</p>'
    return (
        f'<header><p class="eyebrow">Model report</p><h1>{say(target_of(model), 80)}</h1>'
        f'<p class="lead">{_sentence(sentence_of(model))}.</p>{certified}'
        f'<dl class="facts">{"".join(items)}</dl></header>'
    )


def _fact(name: str, value: str, note: str) -> str:
    return f"<div><dt>{escape(name)}</dt><dd>{escape(value)}<small>{escape(note)}</small></dd></div>"


def _expected(model: KernelModel) -> str:
    assert model.facts is not None
    found = expected_error(model.outputs, model.facts)
    if "deviance" in found:
        d2 = "" if found["d2"] is None else f", D² {found['d2']:.3f}"
        note = f"± {rough(found['standard_error'])}{d2} ({found['method']})"
        name = found["loss"].replace("_", " ")
        return _fact(f"Expected {name} loss", short(found["deviance"]), note)
    if "rmse" not in found:
        note = f"± {100 * found['standard_error']:.1f} ({found['method']})"
        return _fact("Expected mistakes", percent(found["error"]), note)
    r2 = found["r2"]
    if found["rmse"] is None:
        note = f"± {found['standard_error']:.3f}, mean over the targets ({found['method']})"
        return _fact("Expected R²", f"{r2:.3f}", note)
    note = f"± {rough(found['standard_error'])}{'' if r2 is None else f', R² {r2:.3f}'} ({found['method']})"
    return _fact("Expected error (RMSE)", short(found["rmse"]), note)


def _sentence(text: str) -> str:
    """A sentence with names of the user's, escaped; words that are too long are cut."""
    found = re.sub(rf"\S{{{svg.LONGEST + 1},}}", lambda word: f"{word[0][: svg.LONGEST - 1]}…", plain(text))
    return escape(found if len(found) <= LONGEST_SENTENCE else f"{found[: LONGEST_SENTENCE - 1]}…")


def _section(title: str, note: str, inner: str, name: str = "") -> str:
    extra = f' class="{name}"' if name else ""
    said = f'<p class="note">{note}</p>' if note else ""
    return f"<section{extra}><h2>{title}</h2>{said}{inner}</section>"


def notebook_html(model: KernelModel) -> str:
    """The head and the curves for a notebook, whose own styles stay out of it and it out of theirs."""
    model = pool(model)
    known = model.facts is not None and model.facts.distributions is not None
    effects = Effects(model) if known else None
    return in_notebook(f"{_head(model)}{_columns(model, effects, None)}")


def in_notebook(inner: str) -> str:
    """A part of the page inside another one, with the page's style around it alone."""
    style = _style().replace(":host", "&")
    style = f"<style>.sleek-report {{ {style} {NOTEBOOK} }}</style>"
    return f'<div class="sleek-report">{style}<main>{inner}</main></div>'


def _changes(model: KernelModel, old: KernelModel | None) -> str:
    """What is different from another model."""
    if old is None:
        return ""
    lines = "".join(f"<li>{_sentence(line)}</li>" for line in compare(pool(old), model).sentences)
    note = (
        f"Compared with a model of {_sentence(str(old.expansion))}, on rows drawn from the distributions of "
        "the training rows. Dashed lines in the curves below are what it was."
    )
    return _section("What changed", note, f'<ul class="changes">{lines}</ul>')


def _effects_before(model: KernelModel, old: KernelModel | None) -> Effects | None:
    """Those of the other model, if its curves can be drawn over those of this one."""
    if old is None or old.facts is None or old.facts.distributions is None:
        return None
    return Effects(pool(old)) if old.outputs.same_as(model.outputs) else None


# -- how good -----------------------------------------------------------------------------------------------


def _how_good(model: KernelModel, measured: Measured | None) -> str:
    cards, tried = [*_measured(model, measured), *_ladder(model)], _tried(model)
    if not cards and not tried:
        return ""
    note = (
        ""
        if measured is None
        else f"Measured on {measured.scores['rows']:,} rows that were given for this report."
    )
    return _section("How good it is", note, f'<div class="grid wide">{"".join(cards)}</div>{tried}')


def _measured(model: KernelModel, measured: Measured | None) -> Iterable[str]:
    if measured is None:
        return
    scores = measured.scores
    lines = [
        ("Accuracy", percent(scores.get("accuracy"))),
        ("Area under the ROC curve", _number(scores.get("auc"))),
        ("Log loss", _number(scores.get("log_loss"))),
        ("RMSE", _number(scores.get("rmse"))),
        ("Mean absolute error", _number(scores.get("mae"))),
        ("R²", _number(scores.get("r2"))),
    ]
    for one in scores.get("intervals", []):
        told = f"{percent(one['coverage'])} inside, {number_in_words(one['width'])} wide"
        lines.append((f"Intervals of {100 * one['level']:.0f} %", told))
    rows = "".join(
        f'<tr><td>{name}</td><td class="n">{escape(value)}</td></tr>' for name, value in lines if value
    )
    confusion = _confusion(scores) if "per_class" in scores else ""
    yield (
        '<div class="stack"><div class="card"><figcaption><h3>Scores</h3></figcaption>'
        f'<div class="scroll"><table>{rows}</table></div></div>{confusion}</div>'
    )
    for name, bins in measured.bins:
        if model.outputs.reads == "labels":
            title, axes = "Are probabilities right?", (name, "how often it came true")
            label = "Probabilities against how often they came true; on the diagonal they are right."
            picture = svg.along(bins.predicted, bins.true, None, label, axes, share=True)
            note = "Each dot stands for rows with similar probabilities: on the dashed line they are right."
        else:
            title, axes = "Predicted and true", (f"predicted {plain(name)}", "true")
            label = "Predictions against true values; on the diagonal they are right on average."
            picture = svg.along(bins.predicted, bins.true, bins.spread, label, axes, share=False)
            note = "Each dot is the mean of rows with similar predictions, bars are one standard deviation."
        yield f"<figure><figcaption><h3>{title}</h3></figcaption>{picture}<p>{note}</p></figure>"


def _number(value: float | None) -> str:
    return "" if value is None else short(value)


def _confusion(scores: dict[str, Any]) -> str:
    """What rows of each class were predicted as."""
    classes = scores["classes"]
    heads = "".join(f'<th scope="col">{say(label, 16)}</th>' for label in classes)
    lines = []
    for k, one in enumerate(scores["per_class"]):
        total = one["total"] or 1
        cells = "".join(
            f'<td class="shade{" right" if j == k else ""}">'
            f'<i style="opacity:{0.45 * count / total:.2f}"></i>{count_in_words(count)}</td>'
            for j, count in enumerate(one["predicted"])
        )
        recall = "" if one["recall"] is None else f"{100 * one['recall']:.0f} %"
        lines.append(f'<tr><th scope="row">{say(one["class"], 24)}</th>{cells}<td>{recall}</td></tr>')
    return (
        '<div class="card"><figcaption><h3>Right and wrong</h3></figcaption><div class="scroll">'
        f'<table class="confusion"><tr><td></td>{heads}<th scope="col">right</th></tr>'
        f"{''.join(lines)}</table></div>"
        '<p class="small">Lines are the true classes, columns what was predicted.</p></div>'
    )


def _ladder(model: KernelModel) -> Iterable[str]:
    """Error against size of what was tried."""
    facts, outputs = model.facts, model.outputs
    counted = [one for one in (() if facts is None else facts.compared) if one.n_numbers]
    if len(counted) > 1:
        pairs = [outputs.reported_error(one.error, one.standard_error) for one in counted]
        values, deviations = np.array(pairs).T * (100 if outputs.reads == "labels" else 1)
        chosen = next((i for i, one in enumerate(counted) if one.chosen), None)
        sizes = np.array([float(one.n_numbers) for one in counted])
        unit = UNITS.get(outputs.error_measure, "share of the variance")
        picture = svg.ladder(sizes, values, deviations, chosen, f"Error ({unit}) against the size of models.")
        note = f"Error on held-out rows ({unit}) of the models that were tried; the chosen one is orange."
        yield f"<figure><figcaption><h3>Error and size</h3></figcaption>{picture}<p>{note}</p></figure>"


def _tried(model: KernelModel) -> str:
    """Everything that was tried, the smallest first."""
    facts, outputs = model.facts, model.outputs
    if facts is None or len(facts.compared) < 2:
        return ""
    tried = sorted(facts.compared, key=lambda one: (one.n_numbers, one.error))
    rows = "".join(
        f"<tr{' class=chosen' if one.chosen else ''}><td>{say(candidate_name(one), 60)}</td>"
        f'<td class="n">{error_in_words(outputs, one.error)} ± {deviation_in_words(outputs, one)}</td></tr>'
        for one in tried
    )
    return (
        f"<details><summary>All {len(tried)} models that were tried</summary>"
        '<p class="small">The simplest model that is as good as any was chosen. Its error here took part in '
        'choosing, and is on the rosy side.</p><div class="scroll"><table class="tried">'
        f'<tr><th>model</th><th class="n">error on held-out rows</th></tr>{rows}</table></div></details>'
    )


# -- what columns do ----------------------------------------------------------------------------------------


def _columns(model: KernelModel, effects: Effects | None, before: Effects | None) -> str:
    if effects is None:
        return _section("What each column does", escape(LACKS if model.facts is not None else ""), "")
    shown = _lines_shown(effects)
    items = [
        (name, share) for name, share in effects.shares.items() if name != "rest" and share > LEAST_SHARE
    ]
    cards = [_effect(effects, name, share, shown, before) for name, share in items[:FIRST_PICTURES]]
    rest = [_folded(effects, name, share, shown, before) for name, share in items[FIRST_PICTURES:]]
    inner = _legend(model, shown) + f'<div class="grid">{"".join(cards)}</div>'
    if rest:
        inner += (
            f"<details><summary>{len(rest)} smaller effects, the largest first</summary>"
            f'<div class="list">{"".join(rest)}</div></details>'
        )
    silent = len(effects.curves) - sum(isinstance(name, str) for name, _ in items)
    more = [
        *omission_lines(effects),
        *([f"{how_many(silent, 'column')} without an effect alone"] if silent else []),
    ]
    inner += "".join(f'<p class="small">{_sentence(line)}.</p>' for line in more)
    return _section("What each column does", _introduction(model, effects), inner)


def _introduction(model: KernelModel, effects: Effects) -> str:
    outputs = model.outputs
    if outputs.reads == "labels":
        what = "log-odds" if getattr(outputs.loss, "log_odds", False) else "score"
        whom = f" for {say(outputs.words[0])}" if len(outputs.words) == 1 else " for each class"
        adds = f"what a value adds to the {what}{whom}, beside its average"
        if len(outputs.words) == 1:
            adds += f" of {number_in_words(effects.mean[0])}; "
            adds += f"above 0 in all, {say(outputs.words[0])} is predicted"
    elif len(effects.mean) == 1:
        mean = number_in_words(effects.mean[0])
        adds = f"what a value adds to {say(outputs.scaled(target_of(model)))}, beside its average of {mean}"
    else:
        adds = "what a value adds to each target, beside its average"
    return (
        f"{_sentence(effects.sentence)} Curves show {adds}. Grey bars are the training rows. "
        "Percentages are shares of the variance of the model's outputs."
    )


def _lines_shown(effects: Effects) -> list[int]:
    """Outputs that are drawn: those that vary most, in order."""
    order = np.argsort(-effects.variances, kind="stable")[:MOST_LINES]
    return sorted(order.tolist())


def _legend(model: KernelModel, shown: list[int]) -> str:
    if len(model.b) == 1:
        return ""
    items = [f'<li><i class="c{n}"></i>{say(model.outputs.words[k])}</li>' for n, k in enumerate(shown)]
    if len(shown) < len(model.b):
        items.append(f"<li>{len(model.b) - len(shown)} more are not drawn</li>")
    return f'<ul class="legend">{"".join(items)}</ul>'


def _effect(effects: Effects, name: Any, share: float, shown: list[int], before: Effects | None) -> str:
    """A picture with its heading and its sentence."""
    title, picture, said, column = _drawn(effects, name, shown, before)
    place = "" if column is None else f' data-column="{column}"'
    return (
        f'<figure{place}><figcaption><h3>{title}</h3><span class="share">{_share(share)}</span></figcaption>'
        f'<div class="meter"><i style="width:{100 * min(share, 1.0):.1f}%"></i></div>'
        f"{picture}<p>{said}</p></figure>"
    )


def _folded(effects: Effects, name: Any, share: float, shown: list[int], before: Effects | None) -> str:
    """The same as a line to open."""
    title, picture, said, column = _drawn(effects, name, shown, before)
    place = "" if column is None else f' data-column="{column}"'
    return (
        f"<details><summary><b>{title}</b><span>{_share(share)}</span>"
        f'<span class="said">{said}</span></summary>'
        f"<figure{place}>{picture}</figure></details>"
    )


def _share(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.01 else f"{100 * share:.1f} %" if share >= 0.001 else "<0.1 %"


def _drawn(
    effects: Effects, name: Any, shown: list[int], before: Effects | None
) -> tuple[str, str, str, int | None]:
    """Heading, picture, sentence and column of a curve or a pair."""
    if isinstance(name, tuple):
        pair = effects.pairs[name]
        k = int(np.argmax(np.einsum("a,b,abk->k", *pair.weights, pair.outputs**2)))
        said = pair_in_words(pair, k)
        if len(effects.mean) > 1:
            said = f"for {effects.model.outputs.words[k]}: {said}"
        title = " × ".join(say(one, 24) for one in name)
        return title, _map(effects, pair, k, said), _sentence(said), None
    curve = effects.curves[name]
    place = [column.name for column in effects.columns].index(name)
    k = int(np.argmax(curve.weights @ curve.outputs**2))
    said = curve_in_words(curve, k)
    if len(effects.mean) > 1:
        said = f"for {effects.model.outputs.words[k]}: {said}"
    picture = _curve(effects, effects.columns[place], curve, shown, plain(f"{name}: {said}"), before)
    return say(name), picture, _sentence(said), place


def _curve(
    effects: Effects,
    column: ColumnOfModel,
    curve: Curve,
    shown: list[int],
    label: str,
    before: Effects | None,
) -> str:
    label, kind, outputs = label[:LONGEST_SENTENCE], column.kind, curve.outputs[:, shown]
    if isinstance(kind, WordColumn):
        order = np.argsort(-curve.outputs[:, 0], kind="stable")
        if isinstance(kind, LevelColumn) and kind.ordered:
            order = np.argsort(column.points[:, 0], kind="stable")
        words = [str(curve.values[i]) for i in order]
        was = _before(before, column, column.points[order], shown)
        return svg.levels(words, outputs[order], curve.weights[order], label, was, order.tolist())
    gaps = np.array([isinstance(value, str) and value == MISSING for value in curve.values])
    if gaps.all():
        return svg.levels([str(value) for value in curve.values], outputs, curve.weights, label)
    order = np.flatnonzero(~gaps)[np.argsort(column.points[~gaps, 0], kind="stable")]
    facts = effects.model.facts
    assert facts is not None
    low, high = float(facts.low[column.place.start]), float(facts.high[column.place.start])
    if any(
        isinstance(group, SampleAverages) for group in effects.groups
    ):  # beyond its points nothing is known
        low, high = (float(column.points[i, 0]) for i in (order[0], order[-1]))
    values = np.unique([*np.linspace(low, high, FINE), *np.clip(column.points[order, 0], low, high)])
    features = _features(column, values)
    return svg.curve(
        values,
        effects.curve_at(column.name, features)[:, shown],
        column.points[order, 0],
        curve.weights[order],
        label,
        gap=curve.outputs[gaps][0, shown] if gaps.any() else None,
        days=isinstance(kind, DateColumn),
        before=_before(before, column, features, shown),
    )


def _before(
    before: Effects | None, column: ColumnOfModel, features: FloatArray, shown: list[int]
) -> FloatArray | None:
    """The curve of another model at features of this one's column, with mean 0 over this one's rows."""
    own = None if before is None else next((one for one in before.columns if one.name == column.name), None)
    if before is None or own is None or type(own.kind) is not type(column.kind):
        return None
    f, mean = (curve_of_other(before, own, column, points) for points in (features, column.points))
    found: FloatArray = (f - column.weights @ mean)[:, shown]
    return found


def _features(column: ColumnOfModel, values: FloatArray) -> FloatArray:
    """The features of numbers, or of days."""
    kind = column.kind
    assert isinstance(kind, NumberColumn | DateColumn)
    return kind.features(values)


def _map(effects: Effects, pair: Pair, k: int, said: str) -> str:
    """The pair's map: of numbers between the first and the last bin, of words the most common ones."""
    columns = {column.name: column for column in effects.columns}
    one, two = (_cells(columns[name]) for name in pair.columns)
    surface = effects.surface_at(pair.columns, one[0], two[0])[:, :, k]
    label = plain(f"{' and '.join(pair.columns)} together: {said}")[:LONGEST_SENTENCE]
    wordy = isinstance(columns[pair.columns[1]].kind, WordColumn)
    return svg.pair(surface, (one[1], two[1]), pair.columns, label, wordy)


def _cells(column: ColumnOfModel) -> tuple[FloatArray, list[tuple[float, str]]]:
    """The features of the cells along an axis of a map, and labels with their places."""
    words = column.words()
    known = [i for i, word in enumerate(words) if word != MISSING]
    if isinstance(column.kind, WordColumn) or len(known) < 2:
        common = sorted(np.argsort(-column.weights, kind="stable")[:MOST_MAP_LEVELS].tolist())
        return column.points[common], [(n + 0.5, str(words[i])) for n, i in enumerate(common)]
    numbers = column.points[known, 0]
    low, high = float(numbers.min()), float(numbers.max())
    edges = np.linspace(low, high, CELLS + 1)
    days = isinstance(column.kind, DateColumn)
    return _features(column, 0.5 * (edges[1:] + edges[:-1])), svg.marks(low, high, CELLS, days)


# -- what if, in numbers, how it was made -------------------------------------------------------------------


def _what_if(why_not: str) -> str:
    if why_not:
        return _section(
            "What if", f"This model cannot be tried out in a page. {_sentence(why_not)}", "", "no-print"
        )
    note = (
        "Change a row and see what the model says. Percentages are what each column matters by itself. "
        "Nothing leaves this page."
    )
    inner = '<div class="what-if"><p class="small">This part needs JavaScript.</p></div>'
    return _section("What if", note, inner, "no-print")


def _edit(model: KernelModel, effects: Effects | None, program: str | None) -> str:
    """A place to take units out and to set weights, if the model carries the sums that this needs."""
    history = "".join(f"<li>{_sentence(str(one))}</li>" for one in model.edits.history)
    if program is None or effects is None or not is_editable(model, effects):
        return _section("Edits by hand", "", f"<ol>{history}</ol>") if history else ""
    note = (
        "Take a unit or a column out, set a weight, or hold it to a sign: all other weights are solved "
        "again, exactly, from the sums over the training rows that this page carries. Dashed lines in the "
        "pictures above are the model as it is now."
    )
    needs = '<p class="small">This part needs JavaScript.</p>'
    inner = f'<div class="edit"><ol class="past">{history}</ol>{needs}</div>'
    return _section("Edit", note, inner, "no-print")


def _in_numbers(model: KernelModel) -> str:
    found = lines_of(model, MOST_DIGITS)
    rule = _sentence(model.outputs.rule(target_of(model), "the sum of these lines"))
    words = [plain(word) for word in model.outputs.words]
    lines: list[str] = []
    if len(words) == 1:
        lines.append(f"<li><b>{escape(found.constants[0])}</b> to begin with</li>")
    else:
        start = ", ".join(f"{word} {value}" for word, value in zip(words, found.constants, strict=True))
        lines.append(f"<li>{_sentence(start)} to begin with</li>")
    for k, curves in enumerate(found.curves):
        whom = f"{say(words[k], 24)} · " if len(words) > 1 else ""
        for line in curves:
            name, _, rest = line.partition(": ")
            lines.append(f"<li>{whom}<b>{say(name)}</b> {_sentence(rest)}</li>")
    most = float(np.abs(model.theta).max(initial=0.0)) or 1.0
    for line, (number, j) in zip(found.units, found.places, strict=True):
        weight, _, rest = line.partition(" ")
        said, side = _sentence(line), "up"
        if len(words) == 1:
            said = f"{_bar(float(weight) / most)}<b>{escape(weight)}</b> {_sentence(rest)}"
            side = "down" if float(weight) < 0 else "up"
        shown = len(lines) < MOST_UNITS
        picture = picture_of(model, model.parts[number], j, side) if shown else ""
        lines.append(f"<li>{said}{picture}</li>")
    lines += [f"<li>{_sentence(line)}</li>" for line in found.hidden]
    first, more = lines[:MOST_UNITS], lines[MOST_UNITS:]
    inner = f'<ul class="units">{"".join(first)}</ul>'
    if more:
        inner += (
            f'<details><summary>{len(more)} more</summary><ul class="units">{"".join(more)}</ul></details>'
        )
    legend = [*found.legend]
    if any(found.curves):
        legend.insert(0, "curves are straight between their points, and flat beyond them")
    if found.exact:
        legend.append("these are the model's own numbers: whoever adds up gets its predictions")
    else:
        legend.append("numbers are rounded here, and what changes next to nothing is left out")
    if 'class="zero"' in inner:  # of a list of bars
        legend.append(
            "bars beside names say how much the sum inside varies with a column over the training rows, to "
            "the right if it rises with the column, to both sides for levels"
        )
    said = ". ".join(sentence[0].upper() + sentence[1:] for sentence in legend)
    return _section("The whole model in numbers", f"{rule}.", f'{inner}<p class="small">{escape(said)}.</p>')


def _bar(share: float) -> str:
    """A weight as a bar to the right, or to the left if it is negative."""
    wide = 50.0 * min(abs(share), 1.0)
    side, left = ("up", 50.0) if share >= 0 else ("down", 50.0 - wide)
    return f'<span class="bar"><i class="{side}" style="left:{left:.0f}%;width:{wide:.0f}%"></i></span>'


def _how_made(model: KernelModel, n_rows: int) -> str:
    lines: list[tuple[str, str]] = []
    record = model.trained_by or {}
    if "estimator" in record:
        lines.append(("Estimator", str(record["estimator"])))
    if "sleek" in record:
        lines.append(("Trained by", f"sleek {record['sleek']}"))
    lines += [(str(key), str(value)) for key, value in model.metadata.items() if key != "target"]
    settings = record.get("settings")
    if isinstance(settings, dict):
        lines.append(("Settings", ", ".join(f"{key}={value}" for key, value in settings.items())))
    rows = "".join(f"<tr><td>{say(name)}</td><td>{_sentence(value)}</td></tr>" for name, value in lines)
    inner = (
        f'<div class="scroll"><table class="made">{rows}</table></div>'
        '<p class="buttons no-print"><button type="button" class="download" hidden>Download the model (JSON)'
        "</button></p>"
    )
    carried = f"{how_many(n_rows, 'row')} that it was measured on" if n_rows else "no rows"
    footer = (
        f"<footer>Written by sleek {__version__}. The page carries the model and binned counts of its "
        f"training rows, no bin of fewer than five, and {carried}.</footer>"
    )
    return _section("How it was made", "", inner) + footer
