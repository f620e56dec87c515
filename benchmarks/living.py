"""What models that go on cost and keep: updates row by row, false and true alarms of drift, warm starts.

    python -m benchmarks.living                      # some minutes; writes docs/benchmarks/living.md
    python -m benchmarks.living --parts updates      # one part, to the screen

Rows of a stream are those of the sets in random order, so that there is no drift; for true alarms, from the
middle on a part of the rows have the target of another row.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import process_time, thread_time
from typing import Any

import numpy as np

from sleek import LowRankLSSVC, LowRankLSSVR, merge
from sleek._runtime.types import FloatArray
from sleek.datasets import make_ripley
from sleek.model.living import add, batch_of
from studies.catalogue import Catalogue

PAGE = Path("docs/benchmarks/living.md")
LEAST_ROWS = 400  # of a set that is streamed
FITTED, STREAMED = 500, 3000  # rows at most
MIXED = 0.3  # of the rows that drift have the target of another row
SPLITS = 2
TURN = 250  # updates that are timed together


def updates(n: int = 100_000, n_units: int = 30) -> str:
    """Row by row against one pass with 80 bits, and the time of an update."""
    X, y = make_ripley(n + 1000, random_state=0)
    fitted = LowRankLSSVC(n_units, basis="gaussian_rbf", C=10.0, loss="squared_error", random_state=0)
    fitted.fit(X[:1000], y[:1000])
    model, doors = fitted.model_, []
    seconds = np.empty(n)
    for i in range(n):
        row, label = X[1000 + i : 1001 + i], y[1000 + i : 1001 + i]
        begin = thread_time()
        fitted.partial_fit(row, label)
        seconds[i] = thread_time() - begin
    for i in range(n // 5):
        row, label = X[1000 + i : 1001 + i], y[1000 + i : 1001 + i]
        begin = thread_time()
        model = model.partial_fit(row, label)
        doors.append(thread_time() - begin)
    theta, b = in_one_pass(fitted.model_, X, y)
    error = np.abs(fitted.model_.theta[:, 0] - theta).max() / np.abs(theta).max()
    rows = fitted.model_.features(X[:5000])
    outputs = rows @ theta + b
    moved = np.abs(rows @ fitted.model_.theta[:, 0] + fitted.model_.b - outputs).max() / np.abs(outputs).max()
    both = [seconds, np.array(doors)]
    own, model_s = (1e6 * np.array([least_median(times), np.median(times)]) for times in both)
    return (
        f"{n:,} updates of one row each, {n_units} units: theta within {error:.1e} (relative to its largest) "
        f"of one pass over all rows in 80 bits, outputs within {moved:.1e}. An update takes {own[0]:.0f} µs "
        f"by the estimator, {model_s[0]:.0f} by `KernelModel`: the median of the best of all turns of {TURN} "
        f"updates, which is the least disturbed ({own[1]:.0f} and {model_s[1]:.0f} over all of them)."
    )


def least_median(times: FloatArray) -> float:
    """The median of the best turn."""
    turns = times[: len(times) // TURN * TURN].reshape(-1, TURN)
    return float(np.median(turns, axis=1).min())


def in_one_pass(model: Any, X: FloatArray, y: Any) -> tuple[FloatArray, float]:
    """theta and b of all rows for the model's units: sums and elimination in long double."""
    size, long = model.n_units + 1, np.longdouble
    A, r = np.zeros((size, size), dtype=long), np.zeros(size, dtype=long)
    for start in range(0, len(X), 4096):
        rows = slice(start, start + 4096)
        Phi = np.column_stack([model.features(X[rows]), np.ones(len(X[rows]))]).astype(long)
        A += Phi.T @ Phi
        r += Phi.T @ np.where(y[rows] == model.outputs.classes[1], 1.0, -1.0).astype(long)
    A[np.arange(size - 1), np.arange(size - 1)] += 1 / long(model.C)
    for j in range(size):  # Gauss and Jordan; A is positive definite
        r[j] /= A[j, j]
        A[j] = A[j] / A[j, j]
        for i in range(size):
            if i != j:
                r[i] -= A[i, j] * r[j]
                A[i] = A[i] - A[i, j] * A[j]
    return r[:-1].astype(np.float64), float(r[-1])


def drift(catalogue: Catalogue, names: list[str], report: Callable[[str], None]) -> str:
    """Alarms of streams without drift, and how soon drift is found."""
    streams = false = found = long = found_long = 0
    ratios, delays, told, used = [], [], [], set()
    for name in names:
        problem = catalogue.problem(name)
        X, y = np.asarray(problem.X, dtype=np.float64), np.asarray(problem.y)
        if len(X) < LEAST_ROWS or X.shape[1] > 60:
            continue
        for split in range(SPLITS):
            rng = np.random.default_rng(split)
            order = rng.permutation(len(X))
            size = min(len(X) // 2, FITTED)
            first, later = order[:size], order[size : size + STREAMED]
            fitted = _fitted(X[first], y[first], y)
            as_ever = _streamed(fitted.model_, X[later], y[later])
            mixed, half = y[later].copy(), len(later) // 2
            those = half + np.flatnonzero(rng.random(len(later) - half) < MIXED)
            mixed[those] = mixed[rng.permutation(those)]
            drifted = _streamed(fitted.model_, X[later], mixed)
            streams += 1
            used.add(name)
            ratios.append(as_ever[0].error / max(as_ever[0].promised, 1e-12))
            if as_ever[1] is not None:
                false += 1
                told.append(f"{name} ({as_ever[0].promised:.3g} promised, {as_ever[0].error:.3g} found)")
            if as_ever[1] is None:
                long += half >= 500
                if drifted[1] is not None:
                    found += 1
                    found_long += half >= 500
                    delays.append(drifted[1] - half)
            report(f"{name} {split}: {as_ever[0]} {as_ever[1]} {drifted[1]} of {len(later)}")
    which = f" ({'; '.join(told)})" if told else ""
    return (
        f"{streams} streams without drift of {len(used)} sets, up to {STREAMED:,} rows after a fit to at "
        f"most {FITTED}: {false} false alarms{which}. The error of new rows was {np.median(ratios):.2f} "
        f"times that promised at the median, {np.percentile(ratios, 90):.2f} in the worst tenth. With the "
        f"targets of {100 * MIXED:.0f} % of the rows mixed from the middle on, {found} of {streams - false} "
        f"streams had an alarm, after {np.median(delays):.0f} rows at the median; of those with 500 rows to "
        f"find it in, {found_long} of {long}."
    )


def _fitted(X: FloatArray, y: Any, everything: Any) -> Any:
    if y.dtype.kind == "f" and len(np.unique(y)) > 20:
        return LowRankLSSVR(random_state=0).partial_fit(X, y)
    return LowRankLSSVC(random_state=0).partial_fit(X, y, classes=np.unique(everything))


def _streamed(model: Any, X: FloatArray, y: Any) -> tuple[Any, int | None]:
    """What drift says in the end, and the row of the alarm."""
    for start in range(0, len(X), 10):
        rows = slice(start, start + 10)
        targets = model.outputs.read_targets(y[rows], len(X[rows]))
        go = partial(batch_of, model, X[rows], targets, None, 1.0, 1)
        model = add(model, go(), go)
        if model.memory.drift.alarm:
            return model.memory.drift, start + 10
    return model.memory.drift, None


def warm(catalogue: Catalogue, names: list[str], report: Callable[[str], None]) -> str:
    """A fit to 10 % more rows, from the units there are and from nothing."""
    lines = [
        "| | rows | fit s | warm s | share | error before | warm | anew | expected, warm | anew |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name in names:
        problem = catalogue.problem(name)
        X, y = np.asarray(problem.X, dtype=np.float64), np.asarray(problem.y)
        order = np.random.default_rng(0).permutation(len(X))
        n = min(11 * (len(X) * 7 // 110), 11_000)
        first, whole, test = order[: n * 10 // 11], order[:n], order[n : n + 20_000]
        number = y.dtype.kind == "f" and len(np.unique(y)) > 20
        kind: Any = LowRankLSSVR if number else LowRankLSSVC
        spread = float(np.std(y[test])) / 100 if number else 0.01

        def error(model: Any, test: Any = test, number: bool = number, X: Any = X, y: Any = y) -> float:
            said = model.predict(X[test])
            return float(np.sqrt(np.mean((said - y[test]) ** 2)) if number else np.mean(said != y[test]))

        going_on = kind(random_state=0, warm_start=True).fit(X[first], y[first])
        before = error(going_on)
        begin = process_time()
        going_on.fit(X[whole], y[whole])
        middle = process_time()
        anew = kind(random_state=0).fit(X[whole], y[whole])
        end = process_time()
        seconds = end - middle, middle - begin
        expected = [m.expected_error_**0.5 if number else m.expected_error_ for m in (going_on, anew)]
        errors = [before, error(going_on), error(anew), *expected]
        lines.append(
            f"| {name}{', RMSE % of σ' if number else ' %'} | {n} | {seconds[0]:.1f} | {seconds[1]:.2f} | "
            f"{seconds[1] / seconds[0]:.2f} | "
            + " | ".join(f"{value / spread:.1f}" for value in errors)
            + " |"
        )
        report(lines[-1])
    return "\n".join(lines)


def log_odds(catalogue: Catalogue, names: list[str], report: Callable[[str], None]) -> str:
    """Updates of log-odds against the weights of all rows for the same units: the log loss of test rows."""
    heads = (
        "the fit", "+1 %", "refit", "+10 %", "refit", "+100 %", "in tens", "merged", "refit", "-10 %",
        "refit", "shifted: the fit", "+100 %", "refit",
    )  # fmt: skip
    lines = ["| | classes | units | " + " | ".join(heads) + " |", "|---" + "|---:" * (2 + len(heads)) + "|"]
    for name in names:
        problem = catalogue.problem(name)
        X, y = np.asarray(problem.X, dtype=np.float64), np.asarray(problem.y)
        order = np.random.default_rng(0).permutation(len(X))
        rows, test = order[:2000], order[2000:]
        found, model = _losses(X, y, rows, test)
        shifted = rows[np.argsort(X[rows] @ np.linalg.svd(X[rows] - X[rows].mean(axis=0))[2][0])]
        few = np.unique(y[rows])
        while len(np.unique(y[shifted[:1000]])) < len(few):  # every class must be among the first
            shifted = np.roll(shifted, -10)
        moved, _ = _losses(X, y, shifted, test)
        found += [moved[0], moved[5], moved[8]]
        lines.append(
            f"| {name} | {len(few)} | {model.n_units} | "
            + " | ".join(f"{value:.3f}" for value in found)
            + " |"
        )
        report(lines[-1])
    return "\n".join(lines)


def _losses(X: FloatArray, y: Any, rows: Any, test: Any) -> tuple[list[float], Any]:
    """Log losses of a model of the first 1,000 rows, updates and refits; and the model."""
    first, later = rows[:1000], rows[1000:2000]
    model = LowRankLSSVC(loss="log_loss", random_state=0).fit(X[first], y[first]).model_
    units = model.emptied()

    def loss(model: Any) -> float:
        T = model.outputs.encode(model.outputs.read_targets(y[test], len(test)))
        return float(model.outputs.loss.values(T, model.outputs_unchecked(X[test])).mean())

    def refit(*parts: Any) -> float:
        whole = np.concatenate(parts)
        return loss(units.partial_fit(X[whole], y[whole]))

    found = [loss(model)]
    for more in (10, 100, 1000):
        found += [loss(model.partial_fit(X[later[:more]], y[later[:more]])), refit(first, later[:more])]
    tens = model
    for part in np.split(later, 100):
        tens = tens.partial_fit(X[part], y[part])
    merged = merge([model, units.partial_fit(X[later], y[later])])
    found[6:6] = [loss(tens), loss(merged)]
    gone = first[:100]
    return [*found, loss(model.forget(X[gone], y[gone])), refit(first[100:])], model


WARM = (
    "saheart", "wdbc", "phoneme", "spambase", "churn", "satimage", "concrete", "friedman1", "503_wind",
    "537_houses",
)  # fmt: skip
LOG_ODDS = ("phoneme", "churn", "spambase", "satimage", "nursery", "optdigits")
STREAMS = ("churn", "page_blocks", "503_wind", "537_houses", "547_no2", "522_pm10", "225_puma8NH", "credit_g")


def main() -> None:
    """The page, or some parts of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--parts", nargs="*", default=["updates", "drift", "warm", "log-odds"])
    parser.add_argument("--sets", nargs="*", help="of the streams; default: those of keel and other")
    parser.add_argument("--updates", type=int, default=100_000)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    catalogue = Catalogue()
    known = {name for group in catalogue.groups.values() for name in group}
    told = []
    if "updates" in chosen.parts:
        told.append("## Row by row\n" + updates(chosen.updates))
    if "drift" in chosen.parts:
        more = [name for name in STREAMS if name in known]
        names = chosen.sets or [*catalogue.groups["keel"], *catalogue.groups["other"], *more]
        told.append("## Drift\n" + drift(catalogue, names, print))
    if "warm" in chosen.parts:
        told.append("## 10 % more rows\n" + warm(catalogue, [name for name in WARM if name in known], print))
    if "log-odds" in chosen.parts:
        names = [name for name in LOG_ODDS if name in known]
        told.append("## Log-odds\n" + log_odds(catalogue, names, print))
    head = (
        "# Models that go on\nMeasured by `python -m benchmarks.living` on one thread; what it means is in "
        "[living](../living.md)."
    )
    text = "\n\n".join([head, *told]) + "\n"
    if set(chosen.parts) == {"updates", "drift", "warm", "log-odds"}:
        PAGE.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
