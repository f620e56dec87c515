"""The report as Markdown, for mails, pull requests and model cards.

It begins with the fields of a Hugging Face model card. Words of the user's are escaped: none becomes markup.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from sleek import __version__
from sleek._runtime.counting import plain
from sleek.model.effect_words import curve_in_words, number_in_words, omission_lines, pair_in_words
from sleek.model.effects import Effects
from sleek.model.kernel_model import KernelModel
from sleek.report.comparison import compare
from sleek.report.expected import expected_error, in_words
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
from sleek.report.pooling import pool
from sleek.report.unit_rules import lines_of
from sleek.report.words import percent, short

LEAST_SHARE, MOST_EFFECTS, MOST_LINES = 0.001, 20, 30
LONGEST = 400
MARKS = re.compile(r"([\\`*_\[\]#|~$@]|:(?=//)|(?<=www)\.)")  # the last ones make links of addresses


def markdown_of(model: KernelModel, measured: Measured | None = None, old: KernelModel | None = None) -> str:
    """The text of the report; with what changed since `old`, if there is such a model."""
    model = pool(model)
    paragraphs = [
        _card(model, measured),
        f"# {say(target_of(model))}",
        f"{say(sentence_of(model))}.",
        *_expected(model),
        *_changes(model, old),
        *_measured(measured),
        *_effects(model),
        *_numbers(model),
        *_tried(model),
        f"Written by sleek {__version__}.",
    ]
    return "\n\n".join(paragraphs) + "\n"


def say(text: object) -> str:
    """Words of the user's as text, on one line.

    >>> say("<b>[x](javascript:1)"), say("a_b|c")
    ('&lt;b&gt;\\\\[x\\\\](javascript:1)', 'a\\\\_b\\\\|c')
    """
    found = plain(str(text))
    found = found if len(found) <= LONGEST else f"{found[: LONGEST - 1]}…"
    found = found.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return MARKS.sub(r"\\\1", found)


def _card(model: KernelModel, measured: Measured | None) -> str:
    """The fields of a model card; JSON is YAML too."""
    labels = model.outputs.reads == "labels"
    task = "tabular-classification" if labels else "tabular-regression"
    fields: dict[str, Any] = {"library_name": "sleek", "pipeline_tag": task, "tags": ["sleek", task]}
    if measured is not None:
        kinds = ("accuracy", "auc", "log_loss") if labels else ("rmse", "mae", "r2")
        found = [(kind, measured.scores.get(kind)) for kind in kinds]
        metrics = [{"type": kind, "value": value} for kind, value in found if value is not None]
        data = {"name": "data given for the report", "type": "tabular"}
        result = {"task": {"type": task}, "dataset": data, "metrics": metrics}
        fields["model-index"] = [{"name": plain(target_of(model)), "results": [result]}]
    return "---\n" + "\n".join(f"{key}: {json.dumps(value)}" for key, value in fields.items()) + "\n---"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Cells that are escaped already."""
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def _expected(model: KernelModel) -> Iterable[str]:
    if model.constraints is not None:
        yield f"Certified for all rows: {say(constraints_in_words(model))}."
    if model.facts is not None:
        yield f"Expected error on new rows: {in_words(expected_error(model.outputs, model.facts))}."


def _changes(model: KernelModel, old: KernelModel | None) -> Iterable[str]:
    if old is not None:
        yield "## What changed"
        yield "\n".join(f"- {say(sentence)}" for sentence in compare(pool(old), model).sentences)
    elif model.edits.history:
        yield "## Edits by hand"
        yield "\n".join(f"- {say(one)}" for one in model.edits.history)


def _measured(measured: Measured | None) -> Iterable[str]:
    if measured is None:
        return
    scores = measured.scores
    yield f"## Measured on {scores['rows']:,} rows"
    names = {"accuracy": "accuracy", "auc": "area under the ROC curve", "log_loss": "log loss"}
    names |= {"rmse": "RMSE", "mae": "mean absolute error", "r2": "R²"}
    lines = [(word, short(scores[key])) for key, word in names.items() if scores.get(key) is not None]
    for one in scores.get("intervals", []):
        lines.append((f"inside intervals of {100 * one['level']:.0f} %", percent(one["coverage"])))
    yield _table(("score", "value"), lines)
    if "per_class" in scores:
        head = ["true \\\\ predicted", *(say(label) for label in scores["classes"])]
        rows = [
            [say(one["class"]), *(say(count_in_words(count)) for count in one["predicted"])]
            for one in scores["per_class"]
        ]
        yield _table(head, rows)
    for name, bins in measured.bins:
        columns = zip(bins.predicted.tolist(), bins.true.tolist(), bins.counts.tolist(), strict=True)
        rows = [[number_in_words(a), number_in_words(b), f"{n:,}"] for a, b, n in columns]
        yield _table((say(f"{name}, predicted"), "true, on average", "rows"), rows)


def _effects(model: KernelModel) -> Iterable[str]:
    yield "## What each column does"
    if model.facts is None or model.facts.distributions is None:
        yield LACKS
        return
    effects = Effects(model)
    yield say(effects.sentence)
    for k, word in enumerate(model.outputs.words):
        if len(effects.mean) > 1:
            yield f"For {say(word)}, {number_in_words(effects.mean[k])} on average:"
        else:
            yield f"{number_in_words(effects.mean[k])} on average, and:"
        rows = []
        for name, share in list(effects.shares_of(k).items())[:MOST_EFFECTS]:
            if share >= LEAST_SHARE:
                pair = isinstance(name, tuple)
                said = (
                    pair_in_words(effects.pairs[name], k) if pair else curve_in_words(effects.curves[name], k)
                )
                rows.append((percent(share), say(" × ".join(name) if pair else name), say(said)))
        yield _table(("share", "column", "adds"), rows)
    yield from (f"{say(line)}." for line in omission_lines(effects))


def _numbers(model: KernelModel) -> Iterable[str]:
    found = lines_of(model, MOST_DIGITS)
    yield "## In numbers"
    yield f"{say(model.outputs.rule(target_of(model), 'the sum of these lines'))}:"
    words = model.outputs.words
    several = len(words) > 1
    lines = [f"{words[k]} {value}" if several else value for k, value in enumerate(found.constants)]
    for k, curves in enumerate(found.curves):
        lines += [f"{words[k]}: {line}" if several else line for line in curves]
    lines += [*found.units, *found.hidden]
    yield "\n".join(f"- {say(line)}" for line in lines[:MOST_LINES])
    if len(lines) > MOST_LINES:
        yield f"… and {len(lines) - MOST_LINES} more lines: `sleek show --all`."
    if not found.exact:
        yield "Numbers are rounded here, and what changes next to nothing is left out."


def _tried(model: KernelModel) -> Iterable[str]:
    facts, outputs = model.facts, model.outputs
    if facts is None or len(facts.compared) < 2:
        return
    yield "## What was tried"
    rows = []
    for one in sorted(facts.compared, key=lambda one: (one.n_numbers, one.error)):
        error = f"{error_in_words(outputs, one.error)} ± {deviation_in_words(outputs, one)}"
        rows.append((say(candidate_name(one)), error, "chosen" if one.chosen else ""))
    yield _table(("model", "error on held-out rows", ""), rows)
