"""Do intervals follow the noise? Coverage by fifths of the true noise, on made rows whose noise is known.

    python -m benchmarks.noise                      six kinds of noise, three sizes, five seeds: minutes
    python -m benchmarks.noise --rows 3000 --seeds 1
    python -m benchmarks.noise --methods sleek      one of: sleek, boosting, mapie

Rows have five standard normal columns; y = f(x) + s(x)·ε with f = sin x₀ + x₁ + x₂²/4 and standard normal ε.
Intervals are to hold 90 %. Quantile boosting is scikit-learn's `HistGradientBoostingRegressor`, one for each
end; MAPIE, which needs to be installed, conformalises quantiles of the same boosting, on a third of the rows.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingRegressor

from sleek import LowRankLSSVR
from studies.markdown import table

FloatArray = NDArray[np.float64]
LEVEL = 0.9
NOISES: dict[str, Callable[[FloatArray], FloatArray]] = {
    "exp x₀": lambda X: np.exp(X[:, 0]),
    "exp x₀/2": lambda X: np.exp(X[:, 0] / 2),
    "0.3, above x₀ = 0 2": lambda X: np.where(X[:, 0] > 0, 2.0, 0.3),
    "exp x₁": lambda X: np.exp(X[:, 1]),
    "0.3, where x₀ > 0 and x₁ > ½ 2": lambda X: np.where((X[:, 0] > 0) & (X[:, 1] > 0.5), 2.0, 0.3),
    "1": lambda X: np.ones(len(X)),
}


def make_noisy(noise: str, n_rows: int, seed: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Rows, targets and the standard deviation of the noise.

    >>> X, y, s = make_noisy("exp x₀/2", 4, 0)
    >>> X.shape, y.shape, bool(np.allclose(np.log(s), X[:, 0] / 2))
    ((4, 5), (4,), True)
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 5))
    s = NOISES[noise](X)
    return X, make_mean(X) + s * rng.normal(size=n_rows), s


def sleek_ends(X: FloatArray, y: FloatArray, X_new: FloatArray, seed: int) -> FloatArray:
    """Intervals of a default fit."""
    return LowRankLSSVR(random_state=seed).fit(X, y).predict_interval(X_new, LEVEL)


def boosting_ends(X: FloatArray, y: FloatArray, X_new: FloatArray, seed: int) -> FloatArray:
    """Two quantiles, each boosted by itself."""
    ends = [_boosting(q, seed).fit(X, y).predict(X_new) for q in ((1 - LEVEL) / 2, (1 + LEVEL) / 2)]
    return np.column_stack(ends)


def mapie_ends(X: FloatArray, y: FloatArray, X_new: FloatArray, seed: int) -> FloatArray:
    """Conformalised quantile regression, on a third of the rows."""
    from mapie.regression import ConformalizedQuantileRegressor

    third = len(y) // 3
    quantiles = ((1 - LEVEL) / 2, (1 + LEVEL) / 2, 0.5)
    made = [_boosting(q, seed).fit(X[third:], y[third:]) for q in quantiles]
    model = ConformalizedQuantileRegressor(made, confidence_level=LEVEL, prefit=True)
    model.conformalize(X[:third], y[:third])
    return np.asarray(model.predict_interval(X_new)[1])[:, :, 0]


METHODS = {"sleek": sleek_ends, "boosting": boosting_ends, "mapie": mapie_ends}
TITLES = {"sleek": "sleek", "boosting": "quantile boosting", "mapie": "MAPIE around it"}


def winkler(ends: FloatArray, y: FloatArray) -> float:
    """The mean width, and 2/(1 - level) times the distance by which each row is missed."""
    low, high = ends.T
    missed = np.maximum(low - y, 0.0) + np.maximum(y - high, 0.0)
    return float(np.mean(high - low + 2.0 / (1.0 - LEVEL) * missed))


def measured(method: str, noise: str, n_rows: int, seed: int) -> dict[str, Any]:
    """Coverage of fifths of the true noise in %, Winkler's score over that of the true quantiles, CPU s."""
    X, y, _ = make_noisy(noise, n_rows, seed)
    X_new, y_new, s = make_noisy(noise, 20_000, seed + 1000)
    begin = time.process_time()
    ends = METHODS[method](X, y, X_new, seed)
    seconds = time.process_time() - begin
    mean = make_mean(X_new)
    best = np.column_stack([mean - 1.6449 * s, mean + 1.6449 * s])
    order = np.argsort(s, kind="stable")
    inside = (ends[:, 0] <= y_new) & (y_new <= ends[:, 1])
    fifths = [100.0 * float(inside[part].mean()) for part in np.array_split(order, 5)]
    return {"fifths": fifths, "winkler": winkler(ends, y_new) / winkler(best, y_new), "seconds": seconds}


def make_mean(X: FloatArray) -> FloatArray:
    """The function under the noise."""
    found: FloatArray = np.sin(X[:, 0]) + X[:, 1] + 0.25 * X[:, 2] ** 2
    return found


def page(methods: Sequence[str], noises: Sequence[str], rows: Sequence[int], seeds: int) -> list[str]:
    """A table: means over seeds, and the worst fifth of any seed."""
    header = ["noise", "rows", "method", "fifths held, quietest first", "all", "worst", "Winkler", "CPU s"]
    lines = []
    for noise in noises:
        for n_rows in rows:
            for method in methods:
                found = [measured(method, noise, n_rows, seed) for seed in range(seeds)]
                fifths = np.array([one["fifths"] for one in found])
                worst = fifths.ravel()[np.abs(fifths - 100 * LEVEL).argmax()]
                score, seconds = (np.mean([one[key] for one in found]) for key in ("winkler", "seconds"))
                held = " ".join(f"{share:.0f}" for share in fifths.mean(axis=0))
                cells = [noise, f"{n_rows:,}", TITLES[method], held, f"{fifths.mean():.1f}", f"{worst:.0f}"]
                lines.append([*cells, f"{score:.3f}", f"{seconds:.1f}"])
                print(" | ".join(lines[-1]), flush=True)
    return table(header, lines)


def _boosting(quantile: float, seed: int) -> HistGradientBoostingRegressor:
    return HistGradientBoostingRegressor(loss="quantile", quantile=quantile, random_state=seed)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.noise", description=__doc__.split("\n")[0])
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=None)
    parser.add_argument("--noises", nargs="+", choices=list(NOISES), default=list(NOISES))
    parser.add_argument("--rows", nargs="+", type=int, default=[500, 3000, 10_000])
    parser.add_argument("--seeds", type=int, default=5)
    asked = parser.parse_args()
    there = [key for key in METHODS if key != "mapie" or importlib.util.find_spec("mapie")]
    print("\n".join(page(asked.methods or there, asked.noises, asked.rows, asked.seeds)))


if __name__ == "__main__":
    main()
