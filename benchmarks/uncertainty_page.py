"""The page of `benchmarks.uncertainty`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.uncertain_methods import LEVELS, METHODS, MOST_ROWS
from studies.markdown import table
from studies.problems import MULTI_CLASS, REGRESSION, TWO_CLASS
from studies.store import Record

Value = Callable[[Record], float]


def write_page(path: Path, records: Sequence[Record], absent: Sequence[str], version: str) -> None:
    """Write all tables."""
    good = [record for record in records if "failed" not in record]
    failed = [record for record in records if "failed" in record]
    splits = sorted({record["split"] for record in good})
    lines = [
        "# Probabilities and intervals",
        "",
        "Written by `benchmarks/uncertainty.py` (`make uncertainty`); do not edit. Mean over the splits of "
        f"a set (up to {len(splits)}), then over sets; one thread; sleek {version}. A comparison is over the "
        f"sets and splits that both methods have finished. {METHODS['svm'].title}, "
        f"{METHODS['sleek-cv'].title} and MAPIE, which fit many times, are run up to "
        f"{MOST_ROWS:,} training rows. What was not finished is "
        "missing; the command goes on where it was stopped.",
        "",
        *(f"{sentence}\n" for sentence in absent),
        *_classes(good, TWO_CLASS, "Two classes"),
        *_classes(good, MULTI_CLASS, "More classes"),
        *_sets(good),
        *_numbers(good),
        *_cost(good),
    ]
    if failed:
        lines += ["## Failures", ""]
        lines += [f"- {record['key']}: {record['failed']}" for record in failed]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


def reader(*keys: str) -> Value:
    """The number of a record at these keys, one inside the other."""

    def read(record: Record) -> float:
        found = record
        for key in keys:
            found = found[key]
        return float(found)  # type: ignore[arg-type]

    return read


def by_set(
    records: Sequence[Record], method: str, kind: str, value: Value, beside: str = "sleek"
) -> dict[str, float]:
    """The mean of each set over the splits that the method and the one beside it have finished."""
    both = _splits(records, method) & _splits(records, beside)
    found: dict[str, list[float]] = {}
    for record in records:
        if record["method"] == method and record["kind"] == kind and _split(record) in both:
            found.setdefault(record["set"], []).append(value(record))
    return {name: float(np.mean(values)) for name, values in found.items()}


def _split(record: Record) -> tuple[str, int]:
    return str(record["set"]), int(record["split"])


def _splits(records: Sequence[Record], method: str) -> set[tuple[str, int]]:
    return {_split(record) for record in records if record["method"] == method}


def least(records: Sequence[Record], covers: dict[str, float], method: str, beside: str = "sleek") -> str:
    """The lowest coverage of a set, with its standard error if rows were independent."""
    name = min(covers, key=covers.__getitem__)
    both = _splits(records, method) & _splits(records, beside)
    rows = sum(
        r.get("test_rows", 0)
        for r in records
        if r["method"] == method and r["set"] == name and _split(r) in both
    )
    error = f" ± {100 * np.sqrt(covers[name] * (1 - covers[name]) / rows):.1f}" if rows else ""
    return f"{100 * covers[name]:.1f} %{error} ({name})"


def _classes(records: Sequence[Record], kind: str, title: str) -> list[str]:
    keys = [key for key in METHODS if any(r["method"] == key and r["kind"] == kind for r in records)]
    if not keys:
        return []
    measures = ("log_loss", "brier", "error")
    rows = []
    for key in keys:
        theirs = {name: by_set(records, key, kind, reader(name)) for name in measures}
        ours = {name: by_set(records, "sleek", kind, reader(name), beside=key) for name in measures}
        sets = [name for name in theirs["log_loss"] if name in ours["log_loss"]]
        cells = [METHODS[key].title, METHODS[key].settings, str(len(sets))]
        for name in measures:
            digits = 2 if name == "error" else 4
            us, them = (np.mean([found[name][s] for s in sets]) for found in (ours, theirs))
            cells.append(f"{them:.{digits}f}" + ("" if key == "sleek" else f" / {us:.{digits}f}"))
        wins = sum(ours["log_loss"][s] <= theirs["log_loss"][s] for s in sets)
        impossible = sum(r["impossible"] for r in records if r["method"] == key and r["kind"] == kind)
        cells += ["" if key == "sleek" else f"{wins} of {len(sets)}", str(impossible)]
        rows.append(cells)
    header = ["method", "settings", "sets", "log loss / sleek's", "Brier / sleek's", "error % / sleek's",
              "sleek's log loss is not larger", "truths of probability 0"]  # fmt: skip
    each = [key for key in keys if key != "sleek"]
    losses = {key: by_set(records, key, kind, reader("log_loss")) for key in keys}
    our_losses = by_set(records, "sleek", kind, reader("log_loss"))
    detail = [
        [
            name,
            f"{our_losses[name]:.3f}",
            *(f"{losses[k][name]:.3f}" if name in losses[k] else "" for k in each),
        ]
        for name in sorted(our_losses)
    ]
    return [
        f"## {title}", "", *table(header, rows),
        "Log loss by set:", "", *table(["set", "sleek", *(METHODS[k].title for k in each)], detail),
    ]  # fmt: skip


def _sets(records: Sequence[Record]) -> list[str]:
    """Coverage and size of sleek's sets of classes."""
    rows = []
    for kind in (TWO_CLASS, MULTI_CLASS):
        for level in LEVELS:
            key = f"sets at {level}"
            covers, sizes = (
                by_set(records, "sleek", kind, reader(key, name)) for name in ("coverage", "size")
            )
            if covers:
                rows.append([
                    kind, f"{100 * level:.0f} %", f"{100 * np.mean(list(covers.values())):.1f} %",
                    least(records, covers, "sleek"),
                    f"{np.mean(list(sizes.values())):.2f}",
                ])  # fmt: skip
    note = (
        "A set always has the most probable class, so coverage is at least the accuracy. ± is a standard "
        "error: of the test rows of all splits as if they were different rows."
    )
    header = ["sleek's sets", "level", "mean coverage", "least of a set", "mean size"]
    return ["## Sets of classes", "", note, "", *table(header, rows)] if rows else []


def _numbers(records: Sequence[Record]) -> list[str]:
    keys = [key for key in METHODS if any(r["method"] == key and r["kind"] == REGRESSION for r in records)]
    if not keys:
        return []
    rows, detail = [], []
    for level in LEVELS:
        found = {
            key: {
                name: by_set(records, key, REGRESSION, reader(f"at {level}", name))
                for name in ("coverage", "width", "winkler")
            }
            for key in keys
        }
        for key in keys:
            ours = {
                name: by_set(records, "sleek", REGRESSION, reader(f"at {level}", name), beside=key)
                for name in ("coverage", "width", "winkler")
            }
            sets = [name for name in found[key]["width"] if name in ours["width"]]
            covers = {name: found[key]["coverage"][name] for name in sets}
            ratio = {
                name: np.exp(np.mean([np.log(ours[name][s] / found[key][name][s]) for s in sets]))
                for name in ("width", "winkler")
            }
            rows.append([
                METHODS[key].title, f"{100 * level:.0f} %", str(len(sets)),
                f"{100 * np.mean(list(covers.values())):.1f} %",
                least(records, covers, key),
                *("" if key == "sleek" else f"{ratio[name]:.3f}" for name in ("width", "winkler")),
            ])  # fmt: skip
        if level == 0.9:
            detail = [
                [
                    name,
                    *(
                        f"{100 * found[k]['coverage'][name]:.1f} % {found[k]['width'][name]:.2f}"
                        if name in found[k]["width"] else ""
                        for k in keys
                    ),
                ]
                for name in sorted(found["sleek"]["width"])
            ]  # fmt: skip
    header = ["method", "level", "sets", "mean coverage", "least of a set", "sleek's width / its",
              "sleek's Winkler score / its"]  # fmt: skip
    note = (
        "Ratios are geometric means over sets; below 1 sleek's intervals are narrower. Winkler's score is "
        "the width and 2/(1 - level) times what is missed: narrow intervals that miss are no gain."
    )
    return [
        "## Intervals", "", note, "", *table(header, rows),
        "Coverage and width (in standard deviations of the target) at 90 %, by set:", "",
        *table(["set", *(METHODS[k].title for k in keys)], detail),
    ]  # fmt: skip


def _cost(records: Sequence[Record]) -> list[str]:
    """The share of a fit that calibration takes."""
    shares = [100 * r["calibration_s"] / r["fit_s"] for r in records if "calibration_s" in r]
    if not shares:
        return []
    said = (
        f"Calibration takes {np.mean(shares):.1f} % of sleek's fit on average, at most {max(shares):.1f} %."
    )
    return ["## Cost", "", said, ""]
