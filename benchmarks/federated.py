"""Three sites that may not pool their rows: one site's units, everyone's sums, and two rounds of units.

    python -m benchmarks.federated            # a minute; writes docs/benchmarks/federated.md

What a site sends is sums over its rows, never a row:

1. The first site fits on its own rows and sends its model file.
2. Every site learns its own rows by those units, ``model.emptied().partial_fit(X, y)``, and sends sums over
   rows (``save(..., moments=True)``). ``sleek.merge`` adds them up: weights and constants are exactly those
   of all rows together, for these units.
3. If the units are to be everyone's too, a trainer goes on over all sites: for every evaluation a site is
   told units, weights and constants, and answers with the sums and the gradient of its rows. `Sites` is all
   it takes: a `Source` that asks every site and adds up the answers.

Compared with each site alone, and with a fit to all rows in one place.
"""

from __future__ import annotations

import argparse
import pickle
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_friedman1

import sleek
from sleek import Limit, LowRankLSSVC, LowRankLSSVR, Problem, VariableProjection
from sleek._runtime.sums import Sum, total
from sleek._runtime.types import FloatArray
from sleek.datasets import make_ripley
from sleek.outputs import ClassOutputs, Outputs
from sleek.outputs.labels import Labels
from sleek.rows.arrays import array_source
from sleek.rows.source import Block, Source

PAGE = Path("docs/benchmarks/federated.md")
ROUNDS = (2, 20)  # of the trainer's iterations over all sites
Rows = tuple[FloatArray, Any]  # X and y of a site


class Sites(Source):
    """Rows at several places: a task goes to each of them, and what comes back is added."""

    def __init__(self, sites: Sequence[Source]) -> None:
        self.sites = list(sites)
        self.exchanges, self.bytes = 0, 0  # how often sites were asked, and what each answered with

    @property
    def n_rows(self) -> int:
        return sum(site.n_rows for site in self.sites)

    @property
    def outputs(self) -> Outputs:
        return self.sites[0].outputs

    def map_reduce(self, task: Callable[[Block], Sum]) -> Sum:
        answers, before = [], 0
        for site in self.sites:
            answers.append(site.map_reduce(_numbered(task, before)))
            before += site.n_rows
        self.exchanges += 1
        self.bytes += len(pickle.dumps(answers[0]))
        return total(answers)


def _numbered(task: Callable[[Block], Sum], before: int) -> Callable[[Block], Sum]:
    """The task for blocks whose rows are numbered through all sites."""
    return lambda block: task(replace(block, start=block.start + before))


def everyones_sums(model: sleek.KernelModel, sites: Sequence[Rows]) -> sleek.KernelModel:
    """The model of all sites' rows for the units of one model."""
    return sleek.merge([model.emptied().partial_fit(X, y) for X, y in sites])  # type: ignore[no-any-return]


def everyones_units(fitted: Any, sites: Sequence[Rows], rounds: int) -> tuple[sleek.KernelModel, Sites]:
    """Units trained on over all sites, some iterations, with everyone's sums; and what went over the wire."""
    standing, model = fitted.standing_, fitted.model_
    scaled = [
        array_source(standing.scaling.apply(X), _targets(model.outputs, y), outputs=model.outputs)
        for X, y in sites
    ]
    source = Sites(scaled)
    limit = Limit(rounds, rounds)
    problem = Problem(source, standing.start, standing.penalty, standing.reached, limit)
    training = VariableProjection().train(problem)
    units = training.expansion.unscale(standing.scaling)
    return everyones_sums(replace(model, expansion=units, memory=None), sites), source


def _targets(outputs: Outputs, y: Any) -> Any:
    return Labels.of(y) if isinstance(outputs, ClassOutputs) else np.asarray(y, dtype=np.float64)[:, None]


def compare(
    make: Callable[[], Any], sites: Sequence[Rows], test: Rows, rounds: Sequence[int] = ROUNDS
) -> dict[str, float]:
    """The error on test rows of every way, and what rounds of units cost."""
    X, y = test

    def error(model: sleek.KernelModel) -> float:
        said = model.predict(X)
        if isinstance(model.outputs, ClassOutputs):
            return float(np.mean(said != y))
        return float(np.sqrt(np.mean((said - y) ** 2)))

    alone = [make().fit(*site) for site in sites]
    found = {f"site {name} alone": error(fitted.model_) for name, fitted in zip("ABC", alone, strict=False)}
    found["A's units, everyone's sums"] = error(everyones_sums(alone[0].model_, sites))
    wires: dict[str, float] = {}
    for most in rounds:
        together, wire = everyones_units(alone[0], sites, most)
        found[f"and {most} rounds of units"] = error(together)
        wires |= {f"{most} rounds: exchanges": wire.exchanges, f"{most} rounds: kB a site": wire.bytes / 1000}
    pooled = make().fit(np.concatenate([X for X, _ in sites]), np.concatenate([y for _, y in sites]))
    found["pooled rows"] = error(pooled.model_)
    return found | wires


def problems(n: int) -> dict[str, tuple[Callable[[], Any], list[Rows], Rows]]:
    """Rows shared out to three sites at random, or so that every site sees another part of the world."""
    X, y = make_friedman1(3 * n + 5000, n_features=6, noise=1.0, random_state=0)
    test, rows = (X[3 * n :], y[3 * n :]), (X[: 3 * n], y[: 3 * n])
    by_feature = np.argsort(rows[0][:, 3], kind="stable").reshape(3, n)
    at_random = np.random.default_rng(0).permutation(3 * n).reshape(3, n)
    R, r = make_ripley(3 * n + 5000, random_state=0)
    apart = np.argsort(R[: 3 * n, 0], kind="stable").reshape(3, n)

    def regressor() -> Any:
        return LowRankLSSVR(15, basis="gaussian_rbf", random_state=0)

    def classifier() -> Any:
        return LowRankLSSVC(6, basis="gaussian_rbf", loss="squared_error", random_state=0)

    return {
        "Friedman 1, RMSE, shared out at random": (
            regressor,
            [(rows[0][i], rows[1][i]) for i in at_random],
            test,
        ),
        "Friedman 1, RMSE, by a feature": (regressor, [(rows[0][i], rows[1][i]) for i in by_feature], test),
        "Ripley, share of mistakes, by a feature": (
            classifier,
            [(R[: 3 * n][i], r[: 3 * n][i]) for i in apart],
            (R[3 * n :], r[3 * n :]),
        ),
    }


def page(n: int) -> str:
    """The comparison as a table."""
    found = {name: compare(*problem) for name, problem in problems(n).items()}
    ways = list(next(iter(found.values())))
    lines = [
        "# Three sites that may not pool their rows",
        f"`python -m benchmarks.federated`: {n} rows at each of three sites, 5,000 test rows; how it is done",
        "is in [living models](../living.md#several-places). Units of the first site, A.",
        "",
        "| | " + " | ".join(found) + " |",
        "|---|" + "---:|" * len(found),
    ]
    lines += [f"| {way} | " + " | ".join(f"{one[way]:.3g}" for one in found.values()) + " |" for way in ways]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=400, help="of every site")
    text = page(parser.parse_args().rows)
    PAGE.write_text(text, encoding="utf-8")
    print(text)
