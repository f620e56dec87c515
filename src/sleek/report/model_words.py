"""A model in words, the same in Python, in a notebook and in the shell.

What it is and how good, what it was chosen from, what each column does, and all of it in numbers.
"""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import wrap

from sleek._runtime.counting import how_many, plain
from sleek.model.effect_words import heading_of, omission_lines
from sleek.model.effect_words import lines_of as lines_of_effects
from sleek.model.effects import Effects
from sleek.model.facts import Compared, Facts
from sleek.model.kernel_model import KernelModel
from sleek.outputs.base import Outputs
from sleek.report.expected import expected_error, in_words
from sleek.report.shown import inputs_of
from sleek.report.unit_rules import Lines, lines_of
from sleek.report.words import rough, short
from sleek.tables.columns import NumberColumn, WordColumn

WIDTH = 100
MOST_DIGITS = 6  # of numbers that are printed as they are; those of a model that has longer ones are rounded
MOST_UNITS, MOST_CURVES = 12, 20
MOST_NAMES = 6
AVERAGES = "effects are averages over the other columns; the lines that follow are the model itself"
TRIED = "of what was tried on held-out rows"
CHOSEN = "the simplest that is about as good"
MOST_OTHERS = 4  # candidates that were not chosen
WIDEST_NAME = 32
LACKS = (
    "Its file was written by an older version of sleek, without the distributions of columns: what each "
    "column does is not known. Fit again to see it."
)


def text_of(model: KernelModel, width: int = WIDTH, everything: bool = False) -> str:
    """The model in words.

    Parameters
    ----------
    model : KernelModel
    width : int
        Characters in a line.
    everything : bool
        All units, in all digits.

    Examples
    --------
    >>> from sleek import LowRankLSSVC
    >>> from sleek.datasets import make_ripley
    >>> X, y = make_ripley(250, random_state=0)
    >>> print(text_of(LowRankLSSVC(2, basis="box", C=10.0, random_state=0).fit(X, y).model_).splitlines()[0])
    y is 0 or 1, from x0 and x1: 2 box units, learnt from 250 rows
    """
    paragraphs = [
        list(_what(model, width)),
        list(_effects(model, width)),
        list(_numbers(model, width, everything)),
    ]
    return "\n\n".join("\n".join(lines) for lines in paragraphs if lines)


# -- what it is ---------------------------------------------------------------------------------------------


def sentence_of(model: KernelModel) -> str:
    """What a model predicts from what, and its size."""
    rows = "" if model.facts is None else f", learnt from {model.facts.n_rows:,} rows"
    names, idle = [plain(name) for name in inputs_of(model).names], ""
    if model.facts is not None and (model.facts.influence > 0).any():
        unused = [name for name, share in zip(names, model.facts.influence, strict=True) if share == 0]
        names = [name for name in names if name not in unused]
        idle = f" ({_few(unused)} {'plays' if len(unused) == 1 else 'play'} no part)" if unused else ""
    return f"{target_of(model)} is {_kind(model)}, from {_few(names)}{idle}: {model.expansion}{rows}"


def _few(names: list[str]) -> str:
    """Names in a row, of many the first ones."""
    if len(names) > MOST_NAMES + 1:
        names = [*names[:MOST_NAMES], f"{len(names) - MOST_NAMES} more columns"]
    return _listed(names, "and")


def _what(model: KernelModel, width: int) -> Iterable[str]:
    """What it predicts from what, its size, its error, and what it was chosen from."""
    yield from _wrapped(sentence_of(model), width)
    if model.facts is not None:
        yield from _wrapped(f"expected error {in_words(expected_error(model.outputs, model.facts))}", width)
        if len(model.facts.compared) > 1:
            yield from _wrapped(_choice(model, model.facts), width)
    if model.constraints is not None:
        yield from _wrapped(f"certified for all rows: {plain(constraints_in_words(model))}", width)


def constraints_in_words(model: KernelModel) -> str:
    """What the model keeps."""
    assert model.constraints is not None
    outputs, output = model.outputs, target_of(model)
    if len(outputs.labels):
        output = f"the output for {outputs.labels[-1]}"
    return model.constraints.in_words(output)


def _kind(model: KernelModel) -> str:
    outputs = model.outputs
    if not outputs.labels:
        return outputs.describe()
    classes = [plain(str(label)) for label in outputs.labels]
    if len(classes) > MOST_NAMES + 1:
        classes = [*classes[:MOST_NAMES], f"{len(classes) - MOST_NAMES} more"]
    return f"{_listed(classes, 'or')}{' by log-odds' if outputs.loss.log_odds else ''}"


def _choice(model: KernelModel, facts: Facts) -> str:
    """The candidate that was taken, and the best of every other kind that was tried, the simplest first."""
    outputs, chosen = model.outputs, [one for one in facts.compared if one.chosen][:1]
    others: dict[str, Compared] = {}
    for one in sorted(facts.compared, key=lambda one: (one.loss or one.error, one.n_numbers)):
        if not one.chosen and one.error != (chosen[0].error if chosen else -1.0):
            others.setdefault(one.name, one)
    simplest = sorted(others.values(), key=lambda one: (one.n_units, one.n_numbers))[:MOST_OTHERS]
    said = ", ".join(
        f"{candidate_name(one)} {error_in_words(outputs, one.error)}{_loss(outputs, one)}" for one in simplest
    )
    if not chosen:
        return f"tried on held-out rows: {said}"
    (best,) = chosen
    error = f"{error_in_words(outputs, best.error)} ± {deviation_in_words(outputs, best)}"
    by = "by loss" if outputs.labels else "by errors"
    most = (model.trained_by or {}).get("settings", {}).get("max_numbers")
    tried = TRIED if most is None else f"{TRIED} with at most {most} numbers, as was asked for"
    taken = f"{candidate_name(best)} {error}{_loss(outputs, best)}"
    return f"{tried}, {CHOSEN} ({by}): {taken}" + (f"; not taken: {said}" if said else "")


def _loss(outputs: Outputs, one: Compared) -> str:
    """What decides between models of classes, of which mistakes say too little."""
    return f" (loss {one.loss:.3g})" if outputs.labels and one.loss is not None else ""


def candidate_name(one: Compared) -> str:
    """A candidate by its bases, its units and how many numbers it is to read."""
    name = how_many(one.n_units, f"{one.name} unit") if one.n_units else one.name
    return f"{name} ({one.n_numbers} numbers)" if one.n_numbers else name


def error_in_words(outputs: Outputs, value: float) -> str:
    """Mistakes in per cent, an RMSE, or a share of the targets' variance."""
    error, _ = outputs.reported_error(value)
    match outputs.error_measure:
        case "share of mistakes":
            return f"{100 * error:.1f} %"
        case "rmse" | "deviance":
            return short(error)
    return f"{error:.3f}"


def deviation_in_words(outputs: Outputs, one: Compared) -> str:
    """The standard error of an error, in the same unit."""
    _, deviation = outputs.reported_error(one.error, one.standard_error)
    match outputs.error_measure:
        case "share of mistakes":
            return f"{100 * deviation:.1f}"
        case "rmse" | "deviance":
            return rough(deviation)
    return f"{deviation:.3f}"


# -- what columns do ----------------------------------------------------------------------------------------


def _effects(model: KernelModel, width: int) -> Iterable[str]:
    """What each column does, and which act together."""
    if model.facts is None or model.facts.distributions is None:
        if model.facts is not None:
            yield from _wrapped(LACKS, width)
        return
    effects = Effects(model)
    yield effects.sentence
    for k in range(len(effects.mean)):
        yield from _wrapped(heading_of(effects, k), width)
        table = lines_of_effects(effects, k)
        wide = min(WIDEST_NAME, max((len(name) for _, name, _ in table), default=0))
        for share, name, said in table:
            head = f"{share:>5}  {_cut(name, wide):<{wide}}  "
            yield from _wrapped(f"{head}{said}", width, " " * len(head))
    yield from omission_lines(effects)
    yield from _wrapped(f"({AVERAGES})", width, " ")


# -- in numbers ---------------------------------------------------------------------------------------------


def _numbers(model: KernelModel, width: int, everything: bool) -> Iterable[str]:
    """The sum that the model is, line by line."""
    found = lines_of(model, 99 if everything else MOST_DIGITS)
    target, several = target_of(model), len(model.b) > 1
    yield from _wrapped(f"{plain(model.outputs.rule(target, 'the sum of these lines'))}:", width)
    if several:
        constants = zip(model.outputs.words, found.constants, strict=True)
        start = ", ".join(f"{plain(word)} {value}" for word, value in constants)
        yield from _wrapped(f"  {start}", width, "    ")
    else:
        yield f"  {found.constants[0]}"
    for k, curves in enumerate(found.curves):
        shown = curves if everything else curves[:MOST_CURVES]
        if several and curves:
            yield f"  for {plain(model.outputs.words[k])}:"
        for line in shown:
            yield from _wrapped(f"  {'  ' if several else ''}{line}", width, "      ")
        if len(shown) < len(curves):
            yield f"  … and {len(curves) - len(shown)} more columns"
    units = found.units if everything else found.units[:MOST_UNITS]
    for line in units:
        yield from _wrapped(f"  {line}", width, "      ")
    if len(units) < len(found.units):
        yield f"  … and {len(found.units) - len(units)} more units"
    hidden = found.hidden if everything else found.hidden[:MOST_UNITS]
    if hidden:
        yield "where the units share"
    for line in hidden:
        yield from _wrapped(f"  {line}", width, "      ")
    if len(hidden) < len(found.hidden):
        yield f"  … and {len(found.hidden) - len(hidden)} more neurons"
    cut = len(units) < len(found.units) or len(hidden) < len(found.hidden)
    yield from _legend(model, found, cut, width)


def _legend(model: KernelModel, found: Lines, cut: bool, width: int) -> Iterable[str]:
    legend = [*found.legend]
    levels = any(isinstance(column, WordColumn) for column in inputs_of(model).columns)
    if any(found.curves):
        zero = "; levels that are not named add 0" if levels else ""
        legend.insert(0, f"curves are straight between their points, and flat beyond them{zero}")
    if len(model.b) > 1 and found.units:
        legend.append("a class gets its number times what follows the colon, 0 if it is not named")
    if filled := _filled(model):
        legend.append(f"a number that is missing counts as: {filled}")
    if not found.exact:
        legend.append("numbers are rounded here, and what changes next to nothing is left out")
    if cut or not found.exact:
        legend.append("all of it: `sleek show --all`, or `print(model_.in_words(everything=True))`")
    for sentence in legend:
        yield from _wrapped(f"({sentence})", width, " ")


def _filled(model: KernelModel) -> str:
    """What stands for missing numbers of the columns that the model looks at."""
    inputs, looks = inputs_of(model), (model.expansion.directions() != 0).any(axis=0)
    found = [
        f"{plain(column.name)} {column.fill:g}"
        for column, place in zip(inputs.columns, inputs.places, strict=True)
        if isinstance(column, NumberColumn) and column.gaps and column.fill is not None and looks[place].any()
    ]
    return ", ".join(found)


def target_of(model: KernelModel) -> str:
    """What is predicted is called so."""
    return plain(str(model.metadata.get("target", "y")))


def _listed(words: list[str], last: str) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"


def _wrapped(text: str, width: int, indent: str = "  ") -> list[str]:
    first = text[: len(text) - len(text.lstrip())]
    found = wrap(
        text.strip(),
        max(20, width),
        initial_indent=first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return found or [""]


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
