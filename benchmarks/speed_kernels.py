"""The table of kernels against rooflines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from benchmarks.speed_results import Results, small
from studies.markdown import table
from studies.store import Record

ROOFLINE = """\
## Kernels against the machine

Speed as a share of the roofline, one thread, {rows} rows handed over in blocks. Loops: the same loop in C,
compiled in this run with `cc -O3 -march=native -ffast-math`, the fastest of several forms (named, with the
10⁹ numbers it does per second: rows·units·features, or fewer where a loop has fewer). Matrix products: BLAS
on the same shapes, as many products as the kernel needs, and nothing else; plus exp or tanh, the faster of
NumPy and C, where a basis needs it. Above 100 %: the kernel is faster than that.
"""

# roofline of a kernel: how often each part is needed
NEEDS: dict[str, dict[str, int]] = {
    "absolute_distance": {"absolute_distance": 1},
    "absolute_distance_vjp": {"absolute_distance_vjp": 1},
    "squared_distance": {"product": 2},
    "squared_distance_vjp": {"product_back": 2},
    "projection": {"product": 1},
    "projection_vjp": {"product_back": 1},
    "centred_products": {"product_self": 1},
    "output_gradient": {"output_gradient": 1},
    "column_moments": {"column_moments": 1},
    "gaussian_rbf.features": {"product": 2, "exp": 1},
    "gaussian_rbf.vjp": {"product_back": 2},
    "robust_rbf.features": {"absolute_distance": 1, "exp": 1},
    "robust_rbf.vjp": {"absolute_distance_vjp": 1},
    "simplex.features": {"absolute_distance": 1},
    "simplex.vjp": {"absolute_distance_vjp": 1},
    "sigmoidal.features": {"product": 1, "tanh": 1},
    "sigmoidal.vjp": {"product_back": 1},
}
MACHINE = ("C", "BLAS")  # whose times are rooflines; NumPy's count for exp and tanh only
ELEMENTWISE = ("exp", "tanh")
SIZES = {  # numbers of a pass, as letters; rows·units·features unless said here
    "product_self": "nmm",
    "output_gradient": "nm",
    "column_moments": "nd",
    "exp": "nm",
    "tanh": "nm",
}


def rooflines(kernels: Sequence[Record]) -> dict[str, tuple[float, str]]:
    """The least time of each part, and who reached it."""
    best: dict[str, tuple[float, str]] = {}
    for k in kernels:
        if k["by"].startswith(MACHINE) or k["kernel"] in ELEMENTWISE:
            best[k["kernel"]] = min(best.get(k["kernel"], (float("inf"), "")), (k["seconds"], k["by"]))
    return best


def share(record: Record, kernel: str, by: str) -> float | None:
    """How much of the roofline a contender reaches, in per cent."""
    found = [k["seconds"] for k in record["kernels"] if (k["kernel"], k["by"]) == (kernel, by)]
    best, needs = rooflines(record["kernels"]), NEEDS[kernel]
    if not found or not all(part in best for part in needs):
        return None
    return float(100 * sum(times * best[part][0] for part, times in needs.items()) / found[0])


def share_cell(record: Record, kernel: str, by: str) -> str:
    """The share as text."""
    value = share(record, kernel, by)
    return "–" if value is None else f"{value:.0f} %"


def rate_cell(record: Record, part: str) -> str:
    """The roofline itself: 10⁹ numbers per second, and by whom."""
    best = rooflines(record["kernels"]).get(part)
    if best is None:
        return "–"
    size = prod(record[letter] for letter in SIZES.get(part, "nmd"))
    return small(f"{size / best[0] / 1e9:.1f} ({best[1].removeprefix('C, ')})")


def roofline_table(records: Sequence[Record]) -> list[str]:
    """Kernels down, shapes and types across."""
    records = [record for record in records if "kernels" in record]
    if not records:
        return []
    pairs = dict.fromkeys((k["kernel"], k["by"]) for record in records for k in record["kernels"])
    contenders = [(kernel, by) for kernel, by in pairs if kernel in NEEDS and not by.startswith("C")]
    parts = dict.fromkeys(kernel for kernel, by in pairs if by.startswith(MACHINE) or kernel in ELEMENTWISE)

    def row(words: str, cell: Callable[..., str], *what: Any) -> list[str]:
        return [words, *(cell(record, *what) for record in records)]

    body = [row(f"`{kernel}`, {by}", share_cell, kernel, by) for kernel, by in contenders]
    body += [row(small(f"roofline of {part}, 10⁹/s"), rate_cell, part) for part in parts]
    shapes = [f"{r['m']} × {r['d']} {r['dtype']}" for r in records]
    return table(["units × features", *shapes], body)


def roofline_part(results: Results) -> list[str]:
    """The table and what it leaves out."""
    records = [record for record in results.find(part="roofline") if "kernels" in record]
    if not records:
        return []
    lines = [ROOFLINE.format(rows=f"{records[0]['n']:,}"), *roofline_table(records)]
    if not all(record.get("c") for record in records):
        lines += ["There is no C compiler on this machine, so loops were not compared with C.", ""]
    unmatched = sorted({name for record in records for name in record.get("unmatched", ())})
    if unmatched:
        lines += [
            f"Compiled, but without a roofline here: {', '.join(f'`{name}`' for name in unmatched)}.",
            "",
        ]
    return lines
