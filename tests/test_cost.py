"""How time grows: with columns and with outputs in proportion, never with their square."""

import time
import warnings

import numpy as np
import pytest

from sleek import GaussianRBF, LowRankLSSVC
from sleek.closed_form.moments import Moments
from sleek.kernels import output_gradient
from sleek.outputs.loss import LOGISTIC
from sleek.trainers import varpro


def wide(n_columns, n_rows=40):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    return X, X[:, :3].sum(axis=1) + 0.3 * rng.normal(size=n_rows) > 0


def seconds(work, times=3):
    """The least CPU time of a few runs: others on the machine only make them longer."""
    best = np.inf
    for _ in range(times):
        clock = time.process_time()
        work()
        best = min(best, time.process_time() - clock)
    return best


def fit(n_columns, **settings):
    X, y = wide(n_columns)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a model that has learnt little
        return LowRankLSSVC(random_state=0, **settings).fit(X, y)


def test_four_times_as_many_columns_take_at_most_about_four_times_as_long():
    few, many = (seconds(lambda d=d: fit(d), 2) for d in (250, 1000))
    assert many < 8 * few  # the square would be 16


@pytest.mark.parametrize("n_columns", [20, 300])
def test_less_effort_evaluates_no_more_numbers(monkeypatch, n_columns):
    moved = {}
    minimise = varpro._Reduced.minimise

    def counted(objective, *rest):
        found = minimise(objective, *rest)
        moved[effort] += found.n_evaluations * len(found.x)
        return found

    monkeypatch.setattr(varpro._Reduced, "minimise", counted)
    for effort in ("quick", "normal"):
        moved[effort] = 0
        fit(n_columns, effort=effort)
    assert 0 < moved["quick"] <= moved["normal"]


def test_ten_times_as_many_outputs_take_at_most_about_ten_times_as_long():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 6))
    basis = GaussianRBF()
    Phi, s = basis.features(X, basis.start(X[:20], 0.2, rng)), np.ones(1500)

    def work(k):
        T = np.where(rng.integers(0, k, size=1500)[:, None] == np.arange(k), 1.0, -1.0)
        theta, b = rng.normal(size=(20, k)), np.zeros(k)

        def evaluate():
            Moments.of(Phi, T, s)
            output_gradient(Phi, T, s, theta, b)
            LOGISTIC.values_and_slopes(T, Phi @ theta)

        return evaluate

    few, many = (seconds(work(k), 5) for k in (60, 600))
    assert many < 30 * few  # the square would be 100
