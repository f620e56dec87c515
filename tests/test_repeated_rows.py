"""Rows are observations, however often they occur; copies of a pasted table stay together."""

import json
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_sources import class_source, number_source, sample_of
from sklearn.metrics import roc_auc_score

from sleek import Files, LowRankLSSVC, LowRankLSSVR
from sleek._runtime.threads import Workers
from sleek.fit.judge import folds_of
from sleek.fit.policy import EFFORTS
from sleek.rows.dealing import Hands, apportion
from sleek.rows.repeats import PastedSource, Repeats, pasted_times, row_ids
from sleek.rows.sample import Draw
from sleek.rows.source import Block

XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
FEW = settings(max_examples=5, deadline=None, derandomize=True)


def quick(kind, **options):
    return kind(effort="quick", basis="gaussian_rbf", random_state=0, **options)


# ---- natural replication


def test_xor_fifty_times_is_learnt_and_one_row_more_changes_nothing():
    X, y = np.tile(XOR, (50, 1)), np.tile([0, 1, 1, 0], 50)
    for more in (0, 1):
        model = LowRankLSSVC(random_state=0).fit(np.vstack([X, XOR[:more]]), np.append(y, y[:more]))
        assert model.score(X, y) == 1.0
        assert model.expected_error_ == 0.0


def test_a_category_that_is_the_class_is_learnt():
    c = np.repeat(["a", "b", "c"], 100)
    model = LowRankLSSVC(effort="quick", random_state=0).fit(pd.DataFrame({"c": c}), c)
    assert model.score(pd.DataFrame({"c": c}), c) == 1.0
    assert model.expected_error_ == 0.0


def test_an_exact_function_of_five_levels_is_learnt():
    level = np.repeat(np.arange(5), 100)
    y = np.array([0.0, 3.0, -1.0, 5.0, 2.0])[level]
    for X in (level[:, None].astype(float), pd.DataFrame({"c": np.array(list("abcde"))[level]})):
        model = LowRankLSSVR(effort="quick", random_state=0).fit(X, y)
        assert model.score(X, y) > 0.999
        assert model.expected_error_ < 1e-3 * y.var()


def test_a_truth_value_that_is_the_class_is_learnt_from_a_file(tmp_path):
    rows = "\n".join(f"{str(i % 3 == 0).lower()},{'yes' if i % 3 == 0 else 'no'}" for i in range(120))
    (tmp_path / "t.csv").write_text(f"flag,class\n{rows}\n")
    command = [sys.executable, "-m", "sleek", "fit", "t.csv", "-t", "class", "--effort", "quick", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["expected"]["error"] == 0.0


@FEW
@given(
    n_levels=st.integers(2, 6),
    times=st.integers(20, 60),
    seed=st.integers(0, 100),
    by=st.sampled_from(["number", "level"]),
)
def test_a_row_more_never_makes_a_right_model_wrong(n_levels, times, seed, by):
    """An exact rule of some levels, each as often as the others; then one row more, equal or new."""
    rng = np.random.default_rng(seed)
    level = np.repeat(np.arange(n_levels), times)
    said = rng.permutation(np.arange(n_levels) % 2)
    X = level[:, None].astype(float) if by == "number" else np.eye(n_levels)[level]
    more = X[:1] if seed % 2 else X[:1] + 0.5
    y = said[level]
    before = quick(LowRankLSSVC).fit(X, y)
    after = quick(LowRankLSSVC).fit(np.vstack([X, more]), np.append(y, y[0]))
    assert after.score(X, y) >= before.score(X, y) - 1e-9
    assert before.score(X, y) == 1.0
    assert before.expected_error_ == 0.0


@FEW
@given(st.integers(0, 1000))
def test_never_worse_than_the_best_constant_without_a_note(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(12, 60))
    X = rng.integers(0, 3, size=(n, 2)).astype(float)
    y = (rng.random(n) < rng.choice([0.1, 0.3, 0.5])).astype(int)
    y[:2] = 0, 1
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = quick(LowRankLSSVC).fit(X, y)
    share = np.bincount(y).max() / n
    assert model.score(X, y) >= share or any("a constant answer" in str(w.message) for w in caught)


# ---- weights


@FEW
@given(st.floats(1e-3, 1e3), st.booleans(), st.integers(0, 100))
def test_a_weight_that_is_the_same_for_all_rows_changes_nothing(weight, classes, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(50, 2)).astype(float)
    y = X[:, 0] + rng.integers(0, 2, size=50)
    kind, y = (LowRankLSSVC, y > 2) if classes else (LowRankLSSVR, y)
    plain, weighted = quick(kind).fit(X, y), quick(kind).fit(X, y, sample_weight=np.full(50, weight))
    np.testing.assert_array_equal(plain.model_.theta, weighted.model_.theta)
    assert plain.expected_error_ == weighted.expected_error_


def test_counts_are_repeats_by_every_door(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 2, size=60)
    counts = rng.integers(1, 5, size=60)
    order = rng.permutation(counts.sum())
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(y=y, n=counts)
    frame.to_parquet(tmp_path / "counted.parquet")
    frame.loc[frame.index.repeat(counts)].drop(columns="n").to_parquet(tmp_path / "repeated.parquet")
    models = [
        quick(LowRankLSSVC).fit(X, y, sample_weight=counts),
        quick(LowRankLSSVC).fit(np.repeat(X, counts, axis=0)[order], np.repeat(y, counts)[order]),
        quick(LowRankLSSVC).fit(frame[["a", "b"]], y, sample_weight=counts),
        quick(LowRankLSSVC).fit(Files(tmp_path / "counted.parquet", target="y", weight="n")),
        quick(LowRankLSSVC).fit(Files(tmp_path / "repeated.parquet", target="y")),
    ]
    for model in models[1:]:
        np.testing.assert_array_equal(model.model_.theta, models[0].model_.theta)
        assert model.expected_error_ == models[0].expected_error_


# ---- pasted tables


def measured(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X[:, 0] + np.abs(X[:, 1]) + 0.2 * rng.normal(size=n)


@pytest.mark.parametrize("n", [200, 900])
@pytest.mark.parametrize("more", [0, 1])
def test_a_pasted_table_expects_the_errors_of_one_copy(n, more):
    X, y = measured(n)
    once = quick(LowRankLSSVR).fit(X, y)
    pasted = quick(LowRankLSSVR)
    with pytest.warns(UserWarning, match="Rows stand in the table 3 times each"):
        pasted.fit(np.vstack([*[X] * 3, X[:more] + 0.01]), np.append(np.tile(y, 3), y[:more]))
    off = 2 * max(once.expected_error_std_, pasted.expected_error_std_)
    assert pasted.expected_error_ == pytest.approx(once.expected_error_, abs=off)
    assert pasted.expected_error_std_ > 0.3 * once.expected_error_std_


def test_a_pasted_table_of_many_rows_keeps_copies_together(tmp_path):
    """Beyond the rows that are merged, by arrays and files alike."""
    X, y = measured(9000)
    X, y = np.tile(X, (3, 1)), np.tile(y, 3)
    frame = pd.DataFrame(X, columns=list("abc")).assign(y=y)
    frame.to_parquet(tmp_path / "t.parquet")
    models = [quick(LowRankLSSVR, n_units=4), quick(LowRankLSSVR, n_units=4, n_jobs=2)]
    for model, rows in zip(models, [(X, y), (Files(tmp_path / "t.parquet", target="y"),)], strict=True):
        with pytest.warns(UserWarning, match="Rows stand in the table 3 times each"):
            model.fit(*rows)
    np.testing.assert_array_equal(models[0].model_.theta, models[1].model_.theta)
    held = np.zeros(len(X), dtype=bool)
    held[models[0].left_out_rows_] = True
    for copy in held.reshape(3, -1)[1:]:
        np.testing.assert_array_equal(copy, held[:9000])
    assert held.sum() == pytest.approx(EFFORTS["quick"].heats[-1], abs=150)


def repeats_of(X, y):
    block = Block(0, X, y[:, None].astype(float), np.ones(len(X)), np.ones(len(X)))
    return pasted_times(Repeats.of(block), block, y.dtype.kind == "f")


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(20, 120),
    times=st.integers(1, 6),
    digits=st.integers(1, 8),
    more=st.integers(0, 1),
    seed=st.integers(0, 10**6),
)
def test_pasted_tables_of_measurements_are_recognised(n, times, digits, more, seed):
    X, y = measured(n, seed)
    X = np.round(X, digits)
    found = repeats_of(
        np.vstack([np.tile(X, (times, 1)), X[:more] + 1]), np.append(np.tile(y, times), y[:more])
    )
    assert found == times


@settings(max_examples=40, deadline=None)
@given(a=st.integers(2, 8), b=st.integers(1, 6), times=st.integers(2, 9), one_hot=st.booleans())
def test_designs_that_are_repeated_are_not_pasted(a, b, times, one_hot):
    """All combinations of some levels, each with its own class: every one was observed so many times."""
    cells = np.array([(i, j) for i in range(a) for j in range(b)])
    X = np.hstack([np.eye(a)[cells[:, 0]], np.eye(b)[cells[:, 1]]]) if one_hot else cells.astype(float)
    y = cells.sum(axis=1) % 2
    assert repeats_of(np.tile(X, (times, 1)), np.tile(y, times)) == 1


def test_equal_rows_have_equal_ids_and_others_do_not():
    rng = np.random.default_rng(0)
    X = np.stack(np.meshgrid(np.arange(300.0), np.arange(300.0)), -1).reshape(-1, 2)
    T = np.zeros((len(X), 1))
    ids = row_ids(X, T)
    assert len(np.unique(ids)) == len(X)
    assert (row_ids(np.where(X == 0, -0.0, X), T) == ids).all()
    shuffled = rng.permutation(len(X))
    assert (row_ids(X[shuffled], T) == ids[shuffled]).all()
    assert (row_ids(X, T + 1) != ids).all()


# ---- dealing


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_folds_and_rows_held_out_have_their_share_of_every_class(seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(5, 200)), int(rng.integers(1, 5))
    strata = rng.integers(0, k, size=n)
    copies = rng.integers(1, 9, size=n).astype(float)
    hands = Hands(copies, rng.random(n), strata)
    for held, share in [(hands.hold_out(1 / 3), 1 / 3), *((fold, 0.2) for fold in hands.deal(5))]:
        assert ((held >= 0) & (held <= copies)).all()
        for stratum in range(k):
            own = copies[strata == stratum].sum()
            assert abs(held[strata == stratum].sum() - share * own) <= 2
    np.testing.assert_array_equal(hands.deal(5).sum(axis=0), copies)
    counts = np.bincount(strata, copies, k).astype(int)
    assert (np.bincount(strata, hands.hold_out(0.9), k) < np.maximum(counts, 1)).all()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_groups_are_dealt_whole(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 100))
    groups, copies = rng.integers(0, 12, size=n), rng.integers(1, 4, size=n).astype(float)
    hands = Hands(copies, rng.random(n), None, groups)
    for dealt in (hands.hold_out(1 / 3), *hands.deal(5)):
        for group in np.unique(groups):
            share = (dealt / copies)[groups == group]
            assert set(share) <= {0.0} or set(share) <= {1.0}


@given(st.integers(0, 100), st.lists(st.integers(0, 60), min_size=1, max_size=8))
def test_shares_add_up_and_leave_something_of_each_class(total, counts):
    counts = np.array(counts)
    found = apportion(total, counts)
    assert (found <= np.maximum(counts - 1, 0)).all()
    assert found.sum() == min(total, np.maximum(counts - 1, 0).sum()) or found.sum() < total
    if total <= counts.sum():
        assert (np.abs(found - total * counts / max(1, counts.sum())) <= 1.0 + 1e-9).all()


def test_copies_stay_together_in_folds_and_draws():
    X, y = measured(80)
    source = PastedSource(number_source(np.tile(X, (2, 1)), np.tile(y, 2)[:, None]), 2)
    for split in folds_of(sample_of(source)):
        out = np.zeros(160, dtype=bool)
        out[split.out.numbers] = True
        np.testing.assert_array_equal(out[:80], out[80:])
    draw = Draw(source, 50, 40, 3, 0.0, 2)
    drawn, held = draw.samples(source.map_reduce(draw.of), Workers())
    assert held.n_rows == 40
    assert set(held.numbers % 80) & set(drawn.numbers % 80) == set()


def test_rare_classes_are_held_out_by_their_share():
    rng = np.random.default_rng(0)
    y = rng.permutation((np.arange(30_000) < 24).astype(int))
    source = class_source(rng.normal(size=(30_000, 2)), y, counts=True)
    for known in (True, False):
        draw = Draw(source, 2000, 10_000, 5, 0.05)
        draw.known = draw.known if known else None
        drawn, held = draw.samples(source.map_reduce(draw.of), Workers())
        assert (held.n_rows, y[held.numbers].sum(), y[drawn.numbers].sum()) == (10_000, 8, 16)


def test_few_rows_of_a_rare_class_do_not_outvote_a_linear_model():
    """30 of 3,000 rows by a linear score: boxes had an area of 0.75 under the curve, a line has 0.89."""
    rng = np.random.default_rng(1)

    def made(n):
        X = rng.normal(size=(n, 6))
        return X, X @ [1.5, 1.0, 0.5, 0.0, 0.0, 0.0] + rng.logistic(size=n)

    X, score = made(3000)
    new, true = made(5000)
    y = score > np.sort(score)[-31]
    model = LowRankLSSVC(random_state=0).fit(X, y)
    assert roc_auc_score(true > np.quantile(true, 0.99), model.decision_function(new)) > 0.85


def test_a_rare_class_that_no_line_finds_is_still_learnt():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 2))
    X[:40] = 0.15 * rng.normal(size=(40, 2))
    y = np.arange(1500) < 40
    X[40:] += np.sign(X[40:])
    model = LowRankLSSVC(random_state=0).fit(X, y)
    assert model.score(X, y) > 0.995
