"""A fit that goes on from the one before."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import sleek
from sleek import Alternating, LowRankLSSVC, LowRankLSSVR, VariableProjection
from sleek.datasets import make_ripley


def objective(estimator, X, y):
    """½‖θ‖²/C + ½ Σ r² of the units of an estimator, solved on these rows, for targets of ±1."""
    model = estimator.model_.emptied().partial_fit(X, y)
    r = np.where(y == 1, 1.0, -1.0) - model.decision_function(X)
    return 0.5 * float(np.sum(model.theta**2)) / model.C + 0.5 * float(r @ r)


@pytest.mark.parametrize("n", [300, 1400])
def test_more_rows_are_learnt_from_where_units_are(n):
    X, y = make_ripley(n, random_state=0)
    first = LowRankLSSVC(8, basis="gaussian_rbf", loss="squared_error", warm_start=True, random_state=0)
    first.fit(X[: n * 10 // 11], y[: n * 10 // 11])
    before, units = objective(first, X, y), first.model_.parts[0].units["centers"]
    tried = len(first.selection_["loss"])
    again = pickle.loads(pickle.dumps(first)).fit(X, y)
    assert objective(again, X, y) <= before * (1 + 1e-9)
    assert tried > 1
    assert again.selection_ == {}
    assert np.abs(again.model_.parts[0].units["centers"] - units).max() < 1.0  # no other units
    assert again.moments_.weight == n
    assert again.C_ == first.C_
    once_more = first.fit(X, y)  # bit for bit as the one that was pickled
    np.testing.assert_array_equal(once_more.model_.theta, again.model_.theta)
    assert abs(again.expected_error_ - np.mean(again.predict(X) != y)) < 0.1


def test_without_warm_start_a_fit_begins_anew():
    X, y = make_ripley(200, random_state=0)
    settings = {"n_units": 3, "basis": "gaussian_rbf", "random_state": 0}
    fitted = LowRankLSSVC(**settings).fit(X[:100], y[:100])
    np.testing.assert_array_equal(
        fitted.fit(X, y).model_.theta, LowRankLSSVC(**settings).fit(X, y).model_.theta
    )
    assert not hasattr(clone(fitted), "standing_")


def test_log_odds_stay_log_odds():
    X, y = make_ripley(1500, random_state=0)
    fitted = LowRankLSSVC(5, basis="gaussian_rbf", loss="log_loss", warm_start=True, random_state=0)
    fitted.fit(X[:1200], y[:1200])
    score = fitted.score(X[1200:], y[1200:])
    assert fitted.fit(X, y).score(X[1200:], y[1200:]) > score - 0.03
    assert not fitted.model_.outputs.loss.quadratic
    with pytest.raises(ValueError, match="you ask for loss='squared_error'"):
        fitted.set_params(loss="squared_error").fit(X, y)


@pytest.mark.parametrize("basis", ["box", "linear", "sigmoidal", "auto"])
def test_every_kind_of_units_goes_on(basis):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(330, 3))
    Y = np.column_stack([np.sign(X[:, 0]), X @ [1.0, 2.0, 0.0]]) + 0.1 * rng.normal(size=(330, 2))
    fitted = LowRankLSSVR(basis=basis, warm_start=True, random_state=0).fit(X[:300], Y[:300])
    score, n_units = fitted.score(X[300:], Y[300:]), fitted.model_.n_units
    fitted.fit(X, Y)
    assert fitted.score(X[300:], Y[300:]) > score - 0.02
    assert fitted.model_.n_units == n_units


def test_the_papers_algorithm_makes_more_iterations():
    X, y = make_ripley(200, random_state=0)
    settings = {"basis": "robust_rbf", "C": 10.0, "shape": 1.0, "standardize": False, "random_state": 0}
    twice = LowRankLSSVC(4, trainer=Alternating(max_iter=20), warm_start=True, **settings)
    twice.fit(X, y).fit(X, y)
    once = LowRankLSSVC(4, trainer=Alternating(max_iter=40), **settings).fit(X, y)
    np.testing.assert_allclose(twice.centers_, once.centers_, rtol=1e-9)


def test_tables_go_on_with_the_same_features():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=220), "town": rng.choice(["a", "b"], 220)})
    y = frame["x"] + (frame["town"] == "a")
    fitted = LowRankLSSVR(3, basis="gaussian_rbf", warm_start=True, random_state=0)
    fitted.fit(frame[:200], y[:200]).fit(frame, y)
    assert fitted.moments_.weight == 220
    with pytest.raises(ValueError, match=r"goes on from a model of 3 features \(x, town=a, town=b\)"):
        fitted.fit(frame.assign(town=rng.choice(["a", "c"], 220)), y)
    assert fitted.moments_.weight == 220  # as it was


def test_what_does_not_go_on_is_said():
    X, y = make_ripley(150, random_state=0)
    fitted = LowRankLSSVC(3, basis="gaussian_rbf", C=1.0, shape=0.5, warm_start=True, random_state=0)
    fitted.fit(X, y)
    with pytest.raises(
        ValueError, match=r"goes on from a model of 2 features, but the rows have 1 feature\b"
    ):
        fitted.fit(X[:, :1], y)
    with pytest.raises(ValueError, match=r"goes on from a model of classes \[0, 1\], but the rows have"):
        fitted.fit(X, y + 1)
    with pytest.raises(ValueError, match="you ask for n_units=4, and there are 3"):
        clone(fitted).fit(X, y).set_params(n_units=4).fit(X, y)
    with pytest.raises(ValueError, match="you ask for basis='simplex'"):
        clone(fitted).fit(X, y).set_params(basis="simplex").fit(X, y)
    with pytest.raises(ValueError, match="`warm_start` must be"):
        clone(fitted).set_params(warm_start="yes").fit(X, y)
    assert fitted.n_features_in_ == 2
    assert fitted.set_params(C=5.0).fit(X, y).C_ == 5.0  # a penalty may be changed


def test_rows_of_files_go_on_from_rows_in_memory(tmp_path):
    X, y = make_ripley(250, random_state=0)
    pd.DataFrame(X, columns=["a", "b"]).assign(y=y).to_parquet(tmp_path / "rows.parquet")
    settings = {"trainer": VariableProjection(pull=1e-3), "C": 1.0, "shape": 0.5, "random_state": 0}
    fitted = LowRankLSSVC(3, basis="gaussian_rbf", warm_start=True, **settings)
    frame = pd.DataFrame(X[:200], columns=["a", "b"])
    from_files = pickle.loads(pickle.dumps(fitted.fit(frame, y[:200])))
    from_files.fit(sleek.Files(str(tmp_path / "rows.parquet"), target="y"))
    fitted.fit(pd.DataFrame(X, columns=["a", "b"]), y)
    np.testing.assert_array_equal(from_files.model_.theta, fitted.model_.theta)
