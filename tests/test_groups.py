"""Rows that belong together, and rows in time: who learns, who judges, and what error that promises."""

import json
import warnings

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_sources import class_source, number_source, sample_of
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, TimeSeriesSplit
from typer.testing import CliRunner

import sleek
from sleek import DaskRows, Files, LowRankLSSVC, LowRankLSSVR, RawBlock, Rows
from sleek._runtime.threads import Workers
from sleek.cli.commands import app
from sleek.fit.judge import folds_of
from sleek.outputs.labels import Labels
from sleek.rows.arrays import ArrayRows
from sleek.rows.dealing import Hands
from sleek.rows.grouping import GroupSurvey, group_numbers
from sleek.rows.repeats import looks_grouped
from sleek.rows.sample import Draw
from sleek.tables.crossfit import Judges

LEARNT = ("unit_weights_", "intercept_", "expected_error_", "left_out_rows_", "left_out_residuals_")


def cohort(n_patients, seed, rows=10):
    """Ten visits of each patient, who has features, and a level of their own, that never change."""
    rng = np.random.default_rng(seed)
    own, level = rng.normal(size=(n_patients, 4)), rng.normal(size=n_patients)
    X = np.column_stack([np.repeat(own, rows, axis=0), rng.normal(size=n_patients * rows)])
    y = X[:, 0] + np.sin(X[:, 4]) + np.repeat(level, rows) + 0.3 * rng.normal(size=len(X))
    return X, y, np.repeat(np.arange(n_patients), rows)


def quick(kind=LowRankLSSVR, **options):
    trainer = sleek.VariableProjection(pull=0.01, max_iter=3, tol=0.5)
    return kind(3, basis="gaussian_rbf", trainer=trainer, C=1.0, shape=0.3, random_state=0, **options)


def assert_same_fit(one, two):
    for name in LEARNT:
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)


# -- what is promised --------------------------------------------------------------------------------------


def test_error_to_expect_is_that_of_new_patients():
    X_new, y_new, _ = cohort(2000, 100)
    found = {True: [], False: []}
    for seed in range(6):
        X, y, patient = cohort(100, seed)
        for grouped in found:
            model = LowRankLSSVR(random_state=0, effort="quick")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore" if not grouped else "error")
                model.fit(X, y, groups=patient if grouped else None)
            truth = float(np.mean((model.predict(X_new) - y_new) ** 2))
            found[grouped].append((model.expected_error_, truth))
    expected, truth = np.mean(found[True], axis=0)
    assert expected == pytest.approx(truth, rel=0.1)
    blind, blind_truth = np.mean(found[False], axis=0)
    assert blind < 0.4 * blind_truth
    assert truth < 0.8 * blind_truth  # and patients are not learnt by heart


def test_rows_that_look_grouped_are_warned_of():
    X, y, patient = cohort(60, 0)
    with pytest.warns(UserWarning, match="equal|never changes"):
        quick().fit(np.column_stack([patient, X]), y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quick(cv=5).fit(np.column_stack([patient, X]), y)


def test_tables_without_groups_look_like_none():
    from sleek.datasets import make_ripley

    rng = np.random.default_rng(0)
    assert looks_grouped(make_ripley(500, random_state=0)[0], None, np.arange(2)) is None
    ages = np.column_stack([rng.integers(20, 80, 1000), rng.integers(0, 2, 1000), rng.integers(0, 5, 1000)])
    assert looks_grouped(ages.astype(float), None, np.arange(ages.shape[1])) is None
    design = np.array(np.meshgrid(*[np.arange(4.0)] * 4)).reshape(4, -1).T
    assert looks_grouped(np.repeat(design, 3, axis=0), None, np.arange(design.shape[1])) is None
    visits = np.column_stack([np.repeat(rng.normal(size=(50, 3)), 6, axis=0)])
    assert looks_grouped(visits, ["a", "b", "c"], np.arange(3)) is not None
    one_date = looks_grouped(visits, ["a", "b", "c"], np.zeros(3))  # its parts never differ among themselves
    assert not one_date.startswith("Feature")


def test_series_that_drifts_is_judged_by_its_last_rows():
    rng = np.random.default_rng(0)
    time = np.arange(1500.0)
    X = np.column_stack([rng.normal(size=1500), rng.normal(size=1500)])
    y = X[:, 0] + 3.0 * time / 1000.0 + 0.1 * rng.normal(size=1500)  # a level that rises, unseen by X
    past, future = slice(0, 1000), slice(1000, 1500)
    shuffled = LowRankLSSVR(random_state=0).fit(X[past], y[past])
    last = LowRankLSSVR(random_state=0, cv="last").fit(X[past], y[past])
    split = LowRankLSSVR(random_state=0, cv=TimeSeriesSplit(4)).fit(X[past], y[past])
    truth = np.mean((last.predict(X[future]) - y[future]) ** 2)
    assert shuffled.expected_error_ < 0.2 * truth
    assert 2.5 * shuffled.expected_error_ < last.expected_error_ < truth
    assert 1.3 * shuffled.expected_error_ < split.expected_error_
    np.testing.assert_array_equal(last.left_out_rows_, np.arange(667, 1000))
    np.testing.assert_array_equal(split.left_out_rows_, np.arange(200, 1000))


def test_last_rows_of_few_of_many_and_of_weight_zero():
    X, y, _ = cohort(6, 0)
    model = quick(cv="last").fit(X, y, sample_weight=np.r_[np.ones(50), np.zeros(4), np.ones(6)])
    np.testing.assert_array_equal(model.left_out_rows_, np.r_[37:50, 54:60])
    X, y, _ = cohort(2500, 0)
    for max_samples in ("auto", 10_000):
        model = quick(cv="last", max_samples=max_samples).fit(X, y)
        np.testing.assert_array_equal(model.left_out_rows_, np.arange(25_000 - 8192, 25_000))
    labels = np.where(y > 0, "yes", "no")
    model = quick(LowRankLSSVC, cv="last").fit(X, labels)
    np.testing.assert_array_equal(model.left_out_rows_, np.arange(25_000 - 8192, 25_000))


# -- who judges --------------------------------------------------------------------------------------------


def test_folds_and_splits():
    X, y, patient = cohort(20, 0)
    assert len(quick(cv=3).fit(X, y).left_out_rows_) == 200
    splits = [(np.arange(100), np.arange(100, 130)), (np.arange(100, 200), np.arange(10))]
    found = quick(cv=splits).fit(X, y)
    np.testing.assert_array_equal(found.left_out_rows_, np.r_[:10, 100:130])
    assert found.expected_error_method_ == "refitted folds"
    masks = [tuple(np.isin(np.arange(200), side) for side in pair) for pair in splits]
    assert_same_fit(found, quick(cv=masks).fit(X, y))
    grouped = quick(cv=GroupKFold(4)).fit(X, y, groups=patient)
    by_hand = quick(cv=list(GroupKFold(4).split(X, y, patient))).fit(X, y)
    assert_same_fit(grouped, by_hand)
    stratified = quick(LowRankLSSVC, cv=KFold(3)).fit(X, y > 0)
    assert stratified.expected_error_ < 0.5


def test_splits_count_rows_of_weight_zero_and_are_kept_in_order():
    X, y, _ = cohort(20, 0)
    s = np.ones(200)
    s[50:60] = 0.0
    found = quick(cv=[(np.arange(100), np.arange(100, 130))]).fit(X, y, sample_weight=s)
    np.testing.assert_array_equal(found.left_out_rows_, np.arange(100, 130))
    kept = s > 0
    same = quick(cv=[(np.arange(90), np.arange(90, 120))]).fit(X[kept], y[kept])
    np.testing.assert_array_equal(found.left_out_residuals_, same.left_out_residuals_)


def test_residuals_of_a_split_are_those_of_a_model_without_its_rows():
    X = np.random.default_rng(0).normal(size=(200, 3))
    y = X @ [1.0, 2.0, -1.0] + 0.1 * np.random.default_rng(1).normal(size=200)
    rest, out = np.arange(150), np.arange(150, 200)
    model = LowRankLSSVR(basis="linear", C=1e6, standardize=False, cv=[(rest, out)]).fit(X, y)
    Phi = np.column_stack([X, np.ones(200)])
    weights = np.linalg.lstsq(Phi[rest], y[rest])[0]
    np.testing.assert_allclose(model.left_out_residuals_, y[out] - Phi[out] @ weights, atol=1e-3)


def test_other_trainers_and_fits_that_go_on_keep_groups_together():
    X, y, patient = cohort(20, 0)
    blind, grouped = (
        LowRankLSSVR(20, trainer="alternating", basis="gaussian_rbf", C=1.0, random_state=0, cv=cv)
        for cv in (None, 5)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        blind.fit(X, y)
        grouped.fit(X, y, groups=patient)
    assert grouped.expected_error_method_ == "refitted folds"
    assert grouped.expected_error_ > blind.expected_error_
    model = quick(warm_start=True).fit(X, y, groups=patient).fit(X, y, groups=patient)
    assert model.expected_error_method_ == "refitted folds"
    assert len(model.left_out_rows_) == 200


@pytest.mark.filterwarnings("ignore:The groups parameter is ignored")
@pytest.mark.parametrize(
    ("cv", "groups", "error", "words"),
    [
        (1, None, ValueError, "at least 2"),
        ("first", None, ValueError, "last"),
        (3.5, None, TypeError, "number of folds"),
        ([(np.arange(5),)], None, ValueError, "pair"),
        ([(np.arange(50), np.arange(40, 60))], None, ValueError, "learn and judge"),
        ([(np.arange(50), np.array([-1]))], None, ValueError, "counted from 0"),
        ([], None, ValueError, "at least one split"),
        ([(np.arange(50), np.arange(500, 600))], None, ValueError, "got 50 and 0"),
        (KFold(3, shuffle=True, random_state=0), "patient", ValueError, "GroupKFold"),
        ("last", "patient", ValueError, "order of rows"),
        (None, "one", ValueError, "at least 2 different groups"),
        (None, "short", ValueError, "a label for each of 200 rows"),
        (None, "gap", ValueError, "a group for every row"),
    ],
)
def test_what_cannot_be_is_refused(cv, groups, error, words):
    X, y, patient = cohort(20, 0)
    gap = patient.astype(float)
    gap[7] = np.nan
    labels = {"patient": patient, "one": np.ones(200), "short": patient[:5], "gap": gap}.get(groups)
    with pytest.raises(error, match=words):
        quick(cv=cv).fit(X, y, groups=labels)


# -- a group is never split --------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 8), min_size=4, max_size=60), st.integers(2, 6), st.integers(0, 5))
def test_no_group_is_split_by_dealing(groups, n_folds, seed):
    groups = np.array(groups)
    rng = np.random.default_rng(seed)
    strata = rng.integers(0, 2, len(groups))
    hands = Hands(rng.integers(1, 4, len(groups)).astype(float), rng.random(len(groups)), strata, groups)
    for held in (*hands.deal(n_folds), hands.hold_out(1 / 3)):
        judges, learns = groups[held > 0], groups[hands.copies - held > 0]
        assert not set(judges) & set(learns)


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 60), st.integers(0, 100), st.booleans())
def test_no_group_is_split_by_drawing(n_groups, seed, classes):
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, n_groups, 300)
    X = rng.normal(size=(300, 2))
    if classes:
        source = class_source(X, (rng.random(300) < 0.2).astype(int), counts=True)
    else:
        source = number_source(X, X[:, :1])
    source = Grouped(source, groups)
    together = GroupSurvey.of(groups).largest
    draw = Draw(source, 100, 90, seed, 0.05, max(2, together))
    drawn, held = draw.samples(source.map_reduce(draw.of), Workers())
    assert not set(groups[held.numbers]) & set(groups[drawn.numbers])
    assert held.n_rows >= 90


def Grouped(source, groups):
    from dataclasses import replace

    return replace(source, groups=groups)


def test_folds_of_rated_levels_keep_groups_together():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 50, 400)
    T = rng.normal(size=(400, 1))
    folds = Judges.of(T, np.ones(400), [T[:, 0]], groups).folds
    assert all(len(np.unique(folds[groups == g])) == 1 for g in range(50))


def test_levels_are_rated_by_other_groups():
    """The ward of one patient says nothing about another's: no gain is seen if patients stay together."""
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(80), 8)
    level = rng.normal(size=80)
    frame = pd.DataFrame({"ward": [f"w{p}" for p in patient], "x": rng.normal(size=640)})
    y = frame["x"].to_numpy() + 3.0 * level[patient] + 0.1 * rng.normal(size=640)
    with pytest.warns(UserWarning, match="None of the 80 levels"):
        model = LowRankLSSVR(effort="quick", random_state=0).fit(frame, y, groups=patient)
    assert model.expected_error_ > 5.0


def test_sorting_keeps_groups_apart():
    X, y = np.array([[2.0], [1.0], [2.0], [2.0]]), Labels.of(np.array([0, 1, 0, 0]))
    rows = ArrayRows(X, y, np.ones(4), groups=np.array([7, 7, 7, 3])).canonical()
    assert rows.X.ravel().tolist() == [1.0, 2.0, 2.0]
    assert (rows.groups.tolist(), rows.s.tolist()) == ([7, 3, 7], [1.0, 1.0, 2.0])


def test_order_of_rows_does_not_matter_to_groups():
    X, y, patient = cohort(30, 0)
    turn = np.random.default_rng(0).permutation(300)
    one, two = quick().fit(X, y, groups=patient), quick().fit(X[turn], y[turn], groups=patient[turn])
    np.testing.assert_array_equal(one.unit_weights_, two.unit_weights_)
    assert one.expected_error_ == two.expected_error_


def test_standard_errors_count_groups_not_rows():
    X, y, patient = cohort(30, 0)
    one = quick().fit(X, y, groups=patient)
    r = one.left_out_residuals_**2
    deviations = [np.sum(r[patient[one.left_out_rows_] == g] - r.mean()) for g in range(30)]
    assert one.expected_error_std_ == pytest.approx(np.sqrt(np.sum(np.square(deviations))) / 300)


def test_folds_of_a_sample_keep_groups_together():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 12, 100)
    sample = sample_of(Grouped(number_source(rng.normal(size=(100, 2)), rng.normal(size=(100, 1))), groups))
    for split in folds_of(sample):
        assert not set(split.rest.rows.groups) & set(split.out.rows.groups)


# -- by every door -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_patients", [30, 2500])
def test_same_bits_by_every_door(tmp_path, n_patients):
    X, y, patient = cohort(n_patients, 0)
    frame = pd.DataFrame(X, columns=list("abcde")).assign(y=y, patient=[f"p{p:05d}" for p in patient])
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=777)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    reference = quick().fit(frame[list("abcde")], y, groups=frame["patient"])
    for name in ("rows.parquet", "rows.csv"):
        files = Files(tmp_path / name, target="y", groups="patient")
        assert files.features == tuple("abcde")
        assert_same_fit(reference, quick().fit(files))
    collection = dd.from_pandas(frame, npartitions=3)
    assert_same_fit(reference, quick().fit(DaskRows(collection, target="y", groups="patient")))
    parts = quick().fit(collection[list("abcde")], collection["y"], groups=collection["patient"])
    assert_same_fit(reference, parts)

    class Own(Rows):
        feature_names, n_features = tuple("abcde"), 5

        def chunks(self, reads, features):
            for start in range(0, len(X), 501):
                rows = slice(start, start + 501)
                yield RawBlock(X[rows], y[rows], groups=frame["patient"].to_numpy()[rows])

    assert_same_fit(reference, quick().fit(Own()))


def test_same_bits_of_splits_by_every_door(tmp_path):
    X, y, _ = cohort(30, 0)
    frame = pd.DataFrame(X, columns=list("abcde")).assign(y=y)
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=77)
    for cv in ("last", TimeSeriesSplit(3), [(np.arange(200), np.arange(200, 300))], 4):
        reference = quick(cv=cv).fit(frame[list("abcde")], y)
        assert_same_fit(reference, quick(cv=cv).fit(Files(tmp_path / "rows.parquet", target="y")))
        rows = DaskRows(dd.from_pandas(frame, npartitions=3, sort=False), target="y")
        assert_same_fit(reference, quick(cv=cv).fit(rows))


def test_same_bits_on_a_cluster():
    from distributed import Client, LocalCluster

    X, y, patient = cohort(2500, 0)
    frame = pd.DataFrame(X, columns=list("abcde")).assign(y=y, patient=patient)
    reference = quick().fit(frame[list("abcde")], y, groups=patient)
    with LocalCluster(n_workers=1, threads_per_worker=1, processes=False) as cluster, Client(cluster):
        collection = dd.from_pandas(frame, npartitions=4)
        assert_same_fit(reference, quick().fit(DaskRows(collection, target="y", groups="patient")))


def test_test_rows_of_files_are_whole_groups(tmp_path):
    X, y, patient = cohort(60, 0)
    pd.DataFrame(X).rename(columns=str).assign(y=y, patient=patient).to_csv(tmp_path / "a.csv", index=False)
    files = Files(tmp_path / "a.csv", target="y", groups="patient")
    parts = [np.concatenate([b.groups for b in part.chunks("numbers", True)]) for part in files.split(0.3)]
    assert not set(parts[0]) & set(parts[1])
    assert len(parts[0]) + len(parts[1]) == 600


def test_command_line_takes_groups(tmp_path):
    X, y, patient = cohort(40, 0)
    table = pd.DataFrame(X, columns=list("abcde")).assign(y=y, patient=patient)
    table.to_csv(tmp_path / "a.csv", index=False)
    path, common = str(tmp_path / "a.csv"), ["--json", "--effort", "quick"]

    def run(*options):
        result = CliRunner().invoke(app, ["fit", path, "-t", "y", *common, *options])
        assert result.exit_code == 0, result.stderr
        return json.loads(result.stdout)["expected"]["rmse"]

    grouped = run("--groups", "patient")
    assert grouped > 1.5 * run("--drop", "patient")
    assert run("--drop", "patient", "--cv", "last") > 0.0
    model = LowRankLSSVR(random_state=0, effort="quick", n_jobs=-1)
    model.fit(Files(path, target="y", groups="patient"))
    assert grouped == pytest.approx(model.expected_error_**0.5)
    assert CliRunner().invoke(app, ["fit", path, "-t", "y", "--cv", "first"]).exit_code != 0


# -- scikit-learn ------------------------------------------------------------------------------------------


def test_groups_are_routed_metadata():
    from sklearn import config_context

    X, y, patient = cohort(20, 0)
    with config_context(enable_metadata_routing=True):
        model = quick().set_fit_request(groups=True)
        search = GridSearchCV(model, {"C": [0.1, 1.0]}, cv=GroupKFold(2)).fit(X, y, groups=patient)
    assert search.best_estimator_.expected_error_method_ == "refitted folds"


def test_labels_of_groups_are_the_same_however_they_are_kept():
    a = group_numbers(["1", "02", "x"])
    b = group_numbers(pd.Series([1.0, 2.0, "x"], dtype=object))
    np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(group_numbers(np.array([1.0, 2.0])), [1, 2])
    assert len(set(group_numbers([0.5, 1.5, "0.50"]).tolist())) == 2
    with pytest.raises(ValueError, match="row 1"):
        group_numbers(["a", None])
