"""Large data: a race, samples that grow, and a bounded number of passes in bounded memory."""

import re
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import sleek.rows.arrays
from sleek import Alternating, GaussianRBF, LowRankLSSVC, LowRankLSSVR, VariableProjection
from sleek.datasets import make_ripley, make_rotated
from sleek.fit.plan import Plan, Request, stage_limit
from sleek.fit.policy import EFFORTS, LAST_ITERATIONS, MOST_TRIED, PAYS, RACE_ROWS
from sleek.rows.arrays import ArraySource

HEATS = EFFORTS["normal"].heats
LINE = re.compile(r"learnt on (\d+) rows: held-out loss ([\d.]+), (-?[\d.]+) ± ([\d.]+) less")


class Counting(ArraySource):
    """Counts passes over all rows."""

    passes = 0

    def map_reduce(self, task):
        Counting.passes += 1
        return super().map_reduce(task)

    def rows_at(self, numbers):
        Counting.passes += 1
        return super().rows_at(numbers)


@pytest.fixture(scope="module")
def rotated():
    return make_rotated(120_000, n_features=8, random_state=0)


def stages(capsys):
    return [tuple(map(float, found)) for found in LINE.findall(capsys.readouterr().out)]


def test_settings_of_large_data_are_raced_for_and_judged_by_rows_held_out():
    X, y = make_ripley(15_000, random_state=0)
    tried = LowRankLSSVC(random_state=0).fit(X, y).selection_
    assert set(tried["n_rows"]) == set(HEATS)  # single features on all of them, units in two rounds
    first = [n_rows == HEATS[0] for n_rows in tried["n_rows"]]
    assert (
        sum(first) == 9
    )  # Gaussian units of three shapes and a few, sigmoidal and a few, three kinds of boxes
    assert tried["n_rows"][tried["chosen"].index(True)] == HEATS[1]


def test_a_sample_grows_as_long_as_growing_pays(rotated, capsys):
    LowRankLSSVC(10, basis="sigmoidal", random_state=0, verbose=1).fit(*rotated)
    grown = stages(capsys)
    assert grown[0][0] == 4 * HEATS[1]
    for i, (rows, loss, gain, error) in enumerate(grown):
        pays = (gain + error) / 4 >= PAYS * loss
        last = i == len(grown) - 1
        assert pays != last or rows >= 100_000


def test_noise_is_not_worth_more_rows(capsys):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200_000, 3)), rng.integers(0, 2, size=200_000)
    LowRankLSSVC(5, basis="gaussian_rbf", shape=0.3, random_state=0, verbose=1).fit(X, y)
    assert [row[0] for row in stages(capsys)] == [4 * HEATS[1]]


def test_passes_over_the_data_keep_to_the_bound_that_is_printed(rotated, capsys, monkeypatch):
    monkeypatch.setattr(sleek.rows.arrays, "ArraySource", Counting)
    Counting.passes = 0
    model = LowRankLSSVC(10, basis="sigmoidal", random_state=0, verbose=1).fit(*rotated)
    out = capsys.readouterr().out
    bound = int(re.search(r"at most (\d+) passes", out)[1])
    assert len(LINE.findall(out)) + 1 == Counting.passes <= bound  # the first stage is drawn while looking
    assert model.n_units_ == 10


def test_units_learnt_on_a_sample_get_their_weights_from_all_rows(rotated):
    X = rotated[0]
    y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(0).normal(size=len(X))
    model = LowRankLSSVR(6, basis="gaussian_rbf", C=10.0, random_state=0).fit(X, y)
    Phi = model.model_.features(X)
    Pc, t = Phi - Phi.mean(axis=0), (y - y.mean()) / y.std()
    theta = np.linalg.solve(Pc.T @ Pc + np.eye(6) / 10.0, Pc.T @ t)
    np.testing.assert_allclose(model.unit_weights_[0], theta * y.std(), rtol=1e-6)


def test_more_rows_never_cost_accuracy():
    """From 500 rows, judged by refitted folds, to a sample that grows; by hand up to a million."""

    def smooth(n, seed):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, 8))
        f = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + np.tanh(X[:, 3:6].sum(axis=1))
        return X, f + 0.3 * rng.normal(size=n) > 0

    X_new, y_new = smooth(20_000, 9)
    errors = [
        1 - LowRankLSSVC(random_state=0, n_jobs=2).fit(*smooth(n, 1)).score(X_new, y_new)
        for n in (500, 999, 2000, 8000, 30_000, 100_000)
    ]
    for fewer, more in pairwise(errors):
        assert more < fewer + 0.008  # three standard errors of a difference on the new rows
    assert errors[-1] < 0.6 * errors[0]


def test_without_growth_units_are_trained_on_all_rows():
    X, y = make_ripley(9000, random_state=0)
    fixed = {"basis": "robust_rbf", "C": 10.0, "shape": 0.5, "loss": "squared_error", "random_state": 0}
    trainer = VariableProjection(pull=1e-4, tol=1e-9, max_iter=300)
    model = LowRankLSSVC(3, trainer=trainer, max_samples=None, **fixed).fit(X, y)
    assert model.selection_ == {}
    assert model.pull_ == pytest.approx(1e-4)
    again = LowRankLSSVC(3, trainer=trainer, max_samples=None, **fixed).fit(X[::-1], y[::-1])
    np.testing.assert_allclose(again.centers_, model.centers_, rtol=1e-3, atol=1e-3)
    sampled = LowRankLSSVC(3, trainer=trainer, **fixed).fit(X, y)
    assert sampled.pull_ == pytest.approx(1e-4)
    assert abs(sampled.score(X, y) - model.score(X, y)) < 0.005
    assert sampled.history_["objective"][-1] == pytest.approx(model.history_["objective"][-1], rel=0.05)


def test_errors_to_expect_come_from_rows_that_units_have_not_seen(rotated):
    X, y = rotated
    model = LowRankLSSVC(10, basis="sigmoidal", random_state=0).fit(X, y)
    assert len(model.left_out_rows_) == len(model.left_out_residuals_) == 8192
    new = make_rotated(50_000, n_features=8, random_state=1)
    error = 1 - model.score(*new)
    assert model.expected_error_ == pytest.approx(error, abs=4 * np.sqrt(error / 8192))


def test_result_does_not_depend_on_threads(rotated):
    one, two = (LowRankLSSVC(10, random_state=0, n_jobs=n_jobs).fit(*rotated) for n_jobs in (1, 2))
    for mine, other in zip(one.model_.parts, two.model_.parts, strict=True):
        for name, array in mine.units.arrays.items():
            np.testing.assert_array_equal(array, other.units[name])
    np.testing.assert_array_equal(one.unit_weights_, two.unit_weights_)
    np.testing.assert_array_equal(one.left_out_residuals_, two.left_out_residuals_)


def test_weights_count_in_large_data_too():
    X, y = make_ripley(2 * RACE_ROWS, random_state=0)
    s = np.where(X[:, 0] > 0, 1.0, 1e-9)
    model = LowRankLSSVC(4, basis="gaussian_rbf", random_state=0).fit(X, y, sample_weight=s)
    right = X[:, 0] > 0
    alone = LowRankLSSVC(4, basis="gaussian_rbf", random_state=0).fit(X[right], y[right])
    assert model.score(X[right], y[right]) == pytest.approx(alone.score(X[right], y[right]), abs=0.01)


def plan(n_rows, d=8, max_samples="auto", trainer=None):
    trainer, free = VariableProjection() if trainer is None else trainer, (None,) * 5
    return Plan.of(n_rows, d, Request((GaussianRBF(),), trainer, *free, True, True, max_samples, None))


def test_the_plan_for_sizes():
    assert plan(RACE_ROWS - 1).heats == ()
    assert plan(RACE_ROWS - 1).n_tried == RACE_ROWS - 1
    assert plan(RACE_ROWS - 1).everything
    assert plan(2000).heats == (1333, 1333)
    assert plan(2000).stages == ()  # units have been learnt on these rows already, but for those held out
    assert plan(5000).heats == (HEATS[0], 3333)
    assert plan(5000).n_held == 1667
    assert plan(30_000).stages == (21_808,)
    assert plan(30_000).everything
    assert plan(10**6).stages == (32_768, 131_072, 524_288)
    assert plan(3 * 10**6).heats == (HEATS[0], 23_437)  # with more rows more of them choose, and judge
    assert plan(3 * 10**6).n_held == 23_437
    assert plan(10**9).n_held == MOST_TRIED
    assert not plan(10**6).everything
    assert plan(10**9).stages[-1] == stage_limit(8)
    assert stage_limit(8) * 8 * 8 <= 2**25
    assert plan(10**9, max_samples=20_000).stages == (20_000,)
    assert plan(10**6, max_samples=None).stages == ()
    assert plan(800, max_samples=500).stages == (500,)
    assert plan(10**6, trainer=Alternating()).heats == ()


def test_at_most_so_many_rows_are_learnt_on(capsys):
    X, y = make_ripley(60_000, random_state=0)
    LowRankLSSVC(4, basis="gaussian_rbf", max_samples=10_000, random_state=0, verbose=1).fit(X, y)
    assert [row[0] for row in stages(capsys)] == [10_000]
    small = LowRankLSSVC(4, basis="gaussian_rbf", C=10.0, shape=0.5, max_samples=100, random_state=0)
    assert small.fit(X[:1000], y[:1000]).score(X, y) > 0.85


MEMORY = """
import re, sys
from pathlib import Path
import numpy as np
from sleek import LowRankLSSVC
from sleek.datasets import make_rotated

LowRankLSSVC(10, random_state=0).fit(*make_rotated(6000, n_features=6, random_state=0))
n = int(sys.argv[1])
rng = np.random.default_rng(0)
X = rng.normal(size=(n, 6))
y = (X[:, 0] * X[:, 1] > 0).astype(np.int8)
def peak():  # of this process alone: Linux adds the starter's memory to ru_maxrss
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
before = peak()
LowRankLSSVC(10, basis="gaussian_rbf", random_state=0, n_jobs=2).fit(X, y)
print((peak() - before) / 1024)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is there on Linux only")
def test_memory_beyond_the_data_does_not_grow_with_rows():
    """Weights, codes, keys and masks may take 75 bytes a row; rows x units would take 80 more."""
    peaks = []
    for n in (400_000, 2_000_000):
        done = subprocess.run(
            [sys.executable, "-c", MEMORY, str(n)], capture_output=True, text=True, check=True
        )
        peaks.append(float(done.stdout))
    assert peaks[1] - peaks[0] < 1_600_000 * 75 / 2**20
    assert peaks[0] < 150


def test_the_last_training_goes_no_further_than_what_was_judged():
    """Unless all is fixed by hand: then the trainer's own limit is all there is."""
    X, y = make_rotated(RACE_ROWS + 500, n_features=8, random_state=0)
    free = {"basis": "gaussian_rbf", "loss": "squared_error", "random_state": 0}
    trainer = VariableProjection(pull=1e-6, tol=1e-9, max_iter=60)
    assert LowRankLSSVC(12, trainer=trainer, **free).fit(X, y).n_iter_ == LAST_ITERATIONS
    with pytest.warns(ConvergenceWarning):
        assert LowRankLSSVC(12, trainer=trainer, C=10.0, shape=0.1, **free).fit(X, y).n_iter_ == 60


def test_more_rows_are_worth_more_numbers():
    """On the 8,192 rows that choose, a third of the numbers is as good: 8.6 % of mistakes instead of 7.0."""
    X, y = make_rotated(220_000, random_state=0)
    model = LowRankLSSVC(random_state=0).fit(X[:200_000], y[:200_000])
    assert np.mean(model.predict(X[200_000:]) != y[200_000:]) < 0.078
