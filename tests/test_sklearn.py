"""The estimators are good citizens of scikit-learn."""

import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import sleek
from sleek import LSSVC, LSSVR, Alternating, LowRankLSSVC, LowRankLSSVR, Simplex
from sleek.datasets import make_ripley


@parametrize_with_checks([LowRankLSSVC(), LowRankLSSVR(), LSSVC(), LSSVR()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_pipeline_and_cross_validation(two_classes):
    scores = cross_val_score(make_pipeline(StandardScaler(), LowRankLSSVC(4)), *two_classes, cv=3)
    assert scores.mean() > 0.85


def test_grid_search_over_a_part_of_a_part_in_two_processes(two_classes):
    grid = {"trainer__learning_rate": [1e-4, 1e-2], "n_units": [2, 4], "basis": ["simplex", "robust_rbf"]}
    model = LowRankLSSVC(trainer=Alternating(max_iter=5), random_state=0)
    search = GridSearchCV(model, grid, cv=3, n_jobs=2).fit(*two_classes)
    assert search.best_score_ > 0.85
    assert model.trainer.learning_rate == 1e-3


@pytest.mark.parametrize("wrapper", [OneVsRestClassifier, OneVsOneClassifier])
def test_one_versus(three_classes, wrapper):
    X, y = three_classes
    assert wrapper(LowRankLSSVC(4, random_state=0)).fit(X, y).score(X, y) > 0.85


def test_calibrated_probabilities(two_classes):
    X, y = two_classes
    model = CalibratedClassifierCV(LowRankLSSVC(4, random_state=0), cv=3).fit(X, y)
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert model.score(X, y) > 0.85


def test_clone_pickle_and_joblib(two_classes, tmp_path):
    X, y = two_classes
    model = LowRankLSSVC(4, basis=Simplex(), trainer=Alternating("target"), random_state=0).fit(X, y)
    copy = clone(model)
    assert not hasattr(copy, "model_")
    assert copy.trainer is not model.trainer
    again = pickle.loads(pickle.dumps(model))
    joblib.dump(model, tmp_path / "model")
    for other in (again, joblib.load(tmp_path / "model"), copy.fit(X, y)):
        np.testing.assert_array_equal(other.decision_function(X), model.decision_function(X))
        assert not other.model_.theta.flags.writeable


def test_metadata_routing_of_weights(two_classes):
    X, y = two_classes
    weights = np.where(X[:, 0] > 0, 1.0, 0.0)
    with sklearn.config_context(enable_metadata_routing=True):
        model = LowRankLSSVC(4, random_state=0).set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        routed = make_pipeline(scaler, model).fit(X, y, sample_weight=weights)
    # the scaler standardises with all rows, the model once more with those that count
    scaled = StandardScaler().fit_transform(X)
    direct = LowRankLSSVC(4, random_state=0).fit(scaled, y, sample_weight=weights)
    np.testing.assert_allclose(routed.decision_function(X), direct.decision_function(scaled))


def test_feature_names_from_pandas_and_polars(two_classes):
    X, y = two_classes
    for frame in (pd.DataFrame(X, columns=["east", "north"]), pl.DataFrame(X, schema=["east", "north"])):
        model = LowRankLSSVC(3, random_state=0).fit(frame, y)
        assert model.feature_names_in_.tolist() == ["east", "north"]
        assert model.model_.feature_names == ("east", "north")
        np.testing.assert_array_equal(
            model.predict(frame), LowRankLSSVC(3, random_state=0).fit(X, y).predict(X)
        )
    with pytest.raises(ValueError, match="feature names"):
        model.predict(pd.DataFrame(X, columns=["north", "east"]))


def test_repr_is_readable():
    assert repr(LowRankLSSVC(4, basis="simplex")) == "LowRankLSSVC(basis='simplex', n_units=4)"
    html = LowRankLSSVC(trainer=Alternating(max_iter=7))._repr_html_()
    assert "LowRankLSSVC" in html
    assert "Alternating" in html


def test_parameters_are_not_touched_by_fit(two_classes):
    model = LowRankLSSVC(random_state=0)
    before = model.get_params()
    model.fit(*two_classes)
    assert model.get_params() == before


def test_settings_of_a_part_can_be_set_while_it_is_a_word():
    model = LowRankLSSVC().set_params(trainer__max_iter=7)
    assert model.trainer.max_iter == 7
    assert model.set_params(trainer="alternating", trainer__objective="target").trainer.objective == "target"
    X, y = make_ripley(60, random_state=0)
    basis = {"basis": "robust_rbf", "C": 1.0, "shape": 0.5, "trainer": "alternating"}
    grid = GridSearchCV(LowRankLSSVC(3, **basis), {"trainer__max_iter": [0, 20]}, cv=2).fit(X, y)
    assert grid.best_params_["trainer__max_iter"] in (0, 20)
    with pytest.raises(ValueError, match="Invalid parameter"):
        LowRankLSSVC().set_params(trainer__no_such_setting=1)


@pytest.mark.parametrize("kind", [LowRankLSSVC, LowRankLSSVR, LSSVC, LSSVR], ids=lambda kind: kind.__name__)
def test_a_pickle_of_another_release_warns(kind):
    X, y = np.arange(12.0).reshape(6, 2), np.array([0, 0, 0, 1, 1, 1])
    estimator = kind(C=1.0).fit(X, y)
    again = pickle.loads(pickle.dumps(estimator))
    assert vars(again).keys() == vars(estimator).keys()
    other = kind(C=1.0)
    with pytest.warns(sleek.InconsistentVersionWarning, match=f"{kind.__name__} was pickled by sleek 9.9"):
        other.__setstate__(estimator.__getstate__() | {"_sleek_version": "9.9"})
    assert (other.predict(X) == estimator.predict(X)).all()
