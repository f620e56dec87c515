"""One row more changes little: errors do not jump where the way of a fit changes."""

import numpy as np
import pytest

from sleek import LowRankLSSVC, LowRankLSSVR, VariableProjection
from sleek.fit import policy

AROUND = (-2, -1, 0, 1)  # rows beside the size at which the plan changes
SIZES = (
    policy.LOG_ODDS_ROWS,
    policy.FOLDS * policy.Effort.judging_rows // 2,
    policy.RACE_ROWS,
    policy.CANONICAL_ROWS,
    policy.EVERY_ROW_COUNTS,
)


def friedman(n, rng):
    X = rng.uniform(size=(n, 6))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    return X, y + rng.normal(size=n)


def steps(n, rng):
    X = rng.uniform(-1, 1, size=(n, 5))
    return X, 3.0 * (X[:, 0] > 0.2) * (X[:, 1] < 0.4) + 2.0 * (X[:, 2] > -0.3) + 0.5 * rng.normal(size=n)


def circle(n, rng):
    X = rng.normal(size=(n, 4))
    return X, np.hypot(X[:, 0], X[:, 1]) + 0.3 * rng.normal(size=n) > 1.2


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("make", [friedman, steps, circle])
def test_errors_of_consecutive_sizes_are_alike(make, size):
    X, y = make(size + max(AROUND), np.random.default_rng(0))
    X_new, y_new = make(20_000, np.random.default_rng(1))
    kind = LowRankLSSVC if y.dtype == bool else LowRankLSSVR
    errors = []
    for more in AROUND:
        told = kind(random_state=0).fit(X[: size + more], y[: size + more]).predict(X_new)
        errors.append(np.mean(told != y_new) if y.dtype == bool else np.sqrt(np.mean((told - y_new) ** 2)))
    below, above = np.mean(errors[:2]), np.mean(errors[2:])
    assert max(below, above) < 1.15 * min(below, above)
    assert max(errors) < 1.3 * min(errors)


@pytest.mark.parametrize("make", [friedman, steps, circle])
@pytest.mark.parametrize("size", SIZES)
def test_one_row_more_does_not_multiply_the_work(make, size, monkeypatch):
    """Rows times units times iterations of all trainings: what a fit takes on any machine."""
    X, y = make(size + max(AROUND), np.random.default_rng(0))
    kind, work = LowRankLSSVC if y.dtype == bool else LowRankLSSVR, []
    train = VariableProjection.train

    def counted(self, problem):
        training = train(self, problem)
        work[-1] += (training.n_iter + 1) * problem.source.n_rows * len(problem.start)
        return training

    monkeypatch.setattr(VariableProjection, "train", counted)
    for more in AROUND:
        work.append(0)
        kind(random_state=0).fit(X[: size + more], y[: size + more])
    below, above = np.mean(work[:2]), np.mean(work[2:])  # chance moves single ones by more
    assert max(below, above) < 2.5 * min(below, above)
