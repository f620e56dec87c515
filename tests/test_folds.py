"""Models of folds: what is tried on them goes on from one to the next, and never sees the rows left out."""

from functools import partial

import numpy as np
from made_sources import number_source, sample_of

from sleek import VariableProjection
from sleek.bases.box import Box
from sleek.fit.folds import splits_of
from sleek.fit.plan import Request
from sleek.fit.prune import prune
from sleek.fit.search import line_search
from sleek.fit.start import Family, _at_leaves
from sleek.fit.trials import Trials

REQUEST = Request((Box(),), VariableProjection(), *(None,) * 5, True, True, "auto", None)


def trials_on(X, y):
    sample = sample_of(number_source(X, y[:, None]))
    (family, *_) = _at_leaves(Box(), sample, REQUEST, 12, np.ones(X.shape[1]))
    return Trials(sample, REQUEST, lambda line: None), family


def test_models_of_folds_do_not_know_the_targets_they_leave_out():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 3))
    y = np.where(X[:, 0] > 0.3, 1.0, -1.0) + 0.3 * X[:, 1] + 0.1 * rng.normal(size=160)
    y -= y.mean()
    trials, family = trials_on(X, y)
    out = splits_of(trials.sample)[0].out
    other = y.copy()
    other[out] = y[out][::-1]  # the same mean and spread
    others, other_family = trials_on(X, other)
    folds = []
    for tried, at in ((trials, family), (others, other_family)):
        first = tried.run(at, 0)
        ahead = tried.run(at, 1, folds=first.folds)
        sizes = [len(trial.folds[0].start) for trial in (first, ahead, prune(tried, ahead))]
        assert sizes[0] == sizes[1] >= sizes[2]
        folds += [[first.folds[0], ahead.folds[0]]]
    for one, two in zip(*folds, strict=True):
        np.testing.assert_allclose(one.training.solution.theta, two.training.solution.theta, rtol=1e-6)
    assert not np.allclose(trials.all[0].training.solution.theta, others.all[0].training.solution.theta)


def test_a_fold_goes_on_from_where_it_is_and_stays_if_nothing_changed():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 2))
    y = np.tanh(3 * X[:, 0]) + 0.1 * rng.normal(size=120)
    trials, family = trials_on(X, y - y.mean())
    first = trials.run(family, 0)
    split, fold = trials.splits[0], first.folds[0]
    assert trials.fold(split, fold, first.penalty) is fold
    ahead = trials.run(family, -1, folds=first.folds)
    assert ahead.folds[0].start is fold.start
    assert ahead.folds[0].training.n_iter <= 15
    best = line_search(trials, first)
    assert best.loss <= min(first.loss, ahead.loss)


def test_a_pruned_fold_has_as_many_units_as_the_model():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 3))
    y = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0) + 0.2 * rng.normal(size=200)
    trials, family = trials_on(X, y - y.mean())
    best = prune(trials, trials.run(family, 0))
    assert {len(fold.training.expansion) for fold in best.folds} == {len(best.family.start)}
    assert isinstance(best.family, Family)
    assert isinstance(best.family.regrow, partial)
