"""Rows that choose a model flatter it: by how much."""

import numpy as np
import pytest

from sleek import LowRankLSSVC
from sleek.fit import policy
from sleek.fit.judge import Verdict
from sleek.fit.optimism import optimism


def verdicts(errors, copies=None, groups=None):
    """Models (rows of `errors`) as the same rows see them."""
    copies = np.ones(errors.shape[1]) if copies is None else copies
    return [Verdict(e, e, copies, copies, groups) for e in errors]


def any_gain(new, old):
    return 0.0


def best_of(errors, weights=None):
    return int(np.argmin(np.average(errors, axis=1, weights=weights)))


def test_what_guessers_promise_after_correction_is_what_guessers_are():
    """Thirty models that guess: the best of them looks good, and a third way to look at it is the truth."""
    promised, corrected = [], []
    for seed in range(40):
        errors = (np.random.default_rng(seed).random((30, 100)) < 0.5).astype(float)
        best = best_of(errors)
        promised.append(errors[best].mean())
        corrected.append(promised[-1] * optimism(verdicts(errors), best, any_gain))
    assert np.mean(promised) < 0.42
    assert np.mean(corrected) == pytest.approx(0.5, abs=0.01)


def test_nothing_is_corrected_where_nothing_was_chosen():
    errors = np.random.default_rng(0).random((1, 50))
    assert optimism(verdicts(errors), 0, any_gain) == 1.0
    clear = np.vstack([errors + 10.0, errors])
    assert optimism(verdicts(clear), 1, any_gain) == pytest.approx(1.0, abs=0.02)
    assert optimism(verdicts(np.zeros((2, 50))), 0, any_gain) == 1.0


def test_a_row_of_copies_counts_as_many_rows(monkeypatch):
    """Also where every row has so many copies that some of them are drawn each time."""
    monkeypatch.setattr(policy, "DRAWS", 3000)
    rng = np.random.default_rng(0)
    rows = (rng.random((20, 40)) < 0.3).astype(float)
    copies = rng.integers(3, 12, size=40).astype(float)
    merged = optimism(verdicts(rows, copies), best_of(rows, copies), any_gain)
    spread = np.repeat(rows, copies.astype(int), axis=1)
    assert merged == pytest.approx(optimism(verdicts(spread), best_of(spread), any_gain), rel=0.01)


def test_rows_of_a_group_are_one_observation():
    rng = np.random.default_rng(0)
    once = (rng.random((20, 30)) < 0.5).astype(float)
    times = 8
    together = np.repeat(once, times, axis=1)
    groups = np.repeat(np.arange(30), times)
    best = best_of(once)
    grouped = optimism(verdicts(together, groups=groups), best, any_gain)
    assert grouped == pytest.approx(optimism(verdicts(once), best, any_gain), rel=0.05)
    assert grouped > 1.2 * optimism(verdicts(together), best, any_gain)


def test_equal_rows_of_a_table_do_not_make_a_model_look_bad():
    """Few different rows, each many times: the error to expect is about that of the rows themselves."""
    rng = np.random.default_rng(0)
    X = rng.integers(3, size=(1200, 3)).astype(float)
    y = rng.random(1200) < 1 / (1 + np.exp(2 - X[:, 0] * X[:, 1]))
    model = LowRankLSSVC(random_state=0).fit(X, y)
    assert 1.0 <= model.optimism_ < 1.1
    assert model.expected_error_ == pytest.approx(1 - model.score(X, y), rel=0.1)
