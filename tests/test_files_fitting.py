"""Files in place of arrays: the same model, the same predictions, clear errors, nothing left behind."""

import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sleek import Files, LowRankLSSVC, LowRankLSSVR
from sleek.datasets import make_rotated
from sleek.rows.files.formats import Parquet

N = 24_000  # more rows than are sorted in memory


@pytest.fixture(scope="module")
def rows():
    X, y = make_rotated(N, n_features=6, random_state=0)
    return X, np.where(y == 1, "yes", "no").astype(object), np.random.default_rng(0).integers(0, 3, N)


@pytest.fixture(scope="module")
def folder(rows, tmp_path_factory):
    X, y, w = rows
    path = tmp_path_factory.mktemp("rows")
    columns = {f"x{i}": X[:, i] for i in range(6)} | {
        "y": y,
        "z": X[:, 0] * X[:, 1],
        "w": w,
        "id": np.arange(N),
    }
    table = pa.table(columns)
    pq.write_table(table.slice(0, 9000), path / "a.parquet", row_group_size=1000)
    pq.write_table(table.slice(9000), path / "b.parquet", row_group_size=5000)
    return path


FEATURES = [f"x{i}" for i in range(6)]


def labelled(folder, **options):
    return Files(folder, target="y", columns=FEATURES, **options)


def assert_same(one, two):
    """Bit for bit the same model, judged by the same rows."""
    for mine, other in zip(one.model_.parts, two.model_.parts, strict=True):
        for name, array in mine.units.arrays.items():
            np.testing.assert_array_equal(array, other.units[name], err_msg=name)
    for name in ("unit_weights_", "intercept_", "left_out_rows_", "left_out_residuals_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)
    assert one.C_ == two.C_
    np.testing.assert_array_equal(one.expected_error_, two.expected_error_)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_classifier_is_the_same_as_from_memory(rows, folder, n_jobs):
    X, y, w = rows
    settings = {"class_weight": {"no": 1.0, "yes": 2.0}, "random_state": 0}
    arrays = LowRankLSSVC(**settings).fit(X, y, sample_weight=w)
    files = LowRankLSSVC(**settings, n_jobs=n_jobs).fit(labelled(folder, weight="w"))
    assert_same(files, arrays)
    assert files.classes_.tolist() == ["no", "yes"]
    assert files.feature_names_in_.tolist() == FEATURES
    np.testing.assert_array_equal(files.predict(labelled(folder)), arrays.predict(X))
    np.testing.assert_array_equal(files.decision_function(labelled(folder)), arrays.decision_function(X))
    assert files.score(labelled(folder, weight="w")) == pytest.approx(arrays.score(X, y, w), rel=1e-12)


@pytest.mark.parametrize("n", [500, 6000])
def test_few_rows_are_read_into_memory_and_sorted_there(rows, tmp_path, monkeypatch, n):
    X, y, w = rows
    X, y, w = X[:n, :2], y[:n], w[:n]
    pq.write_table(pa.table({"a": X[:, 0], "b": X[:, 1], "y": y, "w": w}), tmp_path / "few.parquet")
    passes = count_passes(monkeypatch)
    files = LowRankLSSVC(8, random_state=0).fit(Files(tmp_path, target="y", weight="w"))
    assert passes == [("a", "b", "y", "w"), ("y", "w"), ("a", "b", "y", "w")]  # kinds, classes, rows
    assert_same(files, LowRankLSSVC(8, random_state=0).fit(X, y, w))
    assert (w[files.left_out_rows_] > 0).all()
    shuffled = np.random.default_rng(0).permutation(n)
    again = LowRankLSSVC(8, random_state=0).fit(X[shuffled], y[shuffled], w[shuffled])
    np.testing.assert_array_equal(again.unit_weights_, files.unit_weights_)


def count_passes(monkeypatch):
    """A list that will have the columns of every pass over Parquet files."""
    passes, batches = [], Parquet.batches

    def counted(self, table, asked):
        passes.append(tuple(asked.columns))
        return batches(self, table, asked)

    monkeypatch.setattr(Parquet, "batches", counted)
    return passes


@pytest.mark.parametrize("n", [20_001, 40_959])
def test_files_are_gone_over_as_often_as_planned(rows, tmp_path, monkeypatch, capsys, n):
    X, y, _ = rows
    a, b, y = (np.resize(column, n) for column in (X[:, 0], X[:, 1], y))
    pq.write_table(pa.table({"a": a, "b": b, "y": y}), tmp_path / "rows.parquet")
    passes = count_passes(monkeypatch)
    LowRankLSSVC(8, random_state=0, verbose=1).fit(Files(tmp_path, target="y"))
    planned = re.search(rf"{n} rows: at most (\d+) passes over all of them", capsys.readouterr().out)
    assert passes[0] == ("a", "b", "y")  # what columns are
    assert passes[1] == ("y",)  # which classes there are
    assert set(passes[2:]) == {("a", "b", "y")}
    assert 3 <= len(passes) - 2 <= int(planned[1]) <= 8


def test_regression_of_several_targets_is_the_same_as_from_memory(rows, folder):
    X, _, w = rows
    source = Files(folder, target=["z", "x5"], columns=FEATURES[:5], weight="w")
    Y = np.c_[X[:, 0] * X[:, 1], X[:, 5]]
    files = LowRankLSSVR(8, random_state=0).fit(source)
    arrays = LowRankLSSVR(8, random_state=0).fit(X[:, :5], Y, sample_weight=w)
    assert_same(files, arrays)
    assert files.predict(source).shape == (N, 2)
    assert files.score(source) == pytest.approx(arrays.score(X[:, :5], Y, w), rel=1e-9)
    single = LowRankLSSVR(3, random_state=0).fit(Files(folder, target="z", columns=FEATURES[:2]))
    assert single.model_.predict(X[:5, :2]).shape == (5,)


def test_csv_through_the_same_door(rows, tmp_path):
    X, y, _ = rows
    lines = [
        "a,b,y",
        *(f"{a!r},{b!r},{label}" for a, b, label in zip(*X[:300, :2].T.tolist(), y[:300], strict=True)),
    ]
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    source = Files(tmp_path / "rows.csv", target="y")
    files = LowRankLSSVC(random_state=0).fit(source)
    assert_same(files, LowRankLSSVC(random_state=0).fit(X[:300, :2], y[:300]))
    np.testing.assert_array_equal(files.predict(source), files.model_.predict(X[:300, :2]))


def test_predictions_go_to_a_file(rows, folder, tmp_path):
    model = LowRankLSSVC(5, random_state=0).fit(labelled(folder))
    everything = Files(folder)  # columns that the model does not know are left alone
    assert model.predict_to(everything, tmp_path / "out.parquet", keep=["id"]) == N
    written = pq.read_table(tmp_path / "out.parquet")
    assert written.column_names == ["id", "prediction"]
    assert written["id"].to_pylist() == list(range(N))
    np.testing.assert_array_equal(written["prediction"].to_numpy(), model.predict(labelled(folder)))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda m, s: m.fit(s, [1, 2]), ValueError, "Files have their targets, weights and groups"),
        (lambda m, s: m.fit(s, sample_weight=[1.0]), ValueError, "`sample_weight` and `groups` must be None"),
        (lambda m, s: m.score(s, [1, 2]), ValueError, "Files have their targets, weights and groups"),
        (
            lambda m, s: m.predict_to([[1.0] * 6], "x.parquet"),
            TypeError,
            "rows of files, such as sleek.Files",
        ),
        (lambda m, s: m.fit(Files(s.path)), ValueError, "A classifier needs one target column"),
    ],
    ids=["y", "weight", "score", "predict_to", "no target"],
)
def test_bad_calls_leave_the_estimator_as_it_was(rows, folder, call, error, message):
    X, y, _ = rows
    source = labelled(folder)
    model = LowRankLSSVC(3, basis="robust_rbf", C=1.0, random_state=0).fit(X[:200], y[:200])
    before = dict(vars(model))
    with pytest.raises(error, match=message):
        call(model, source)
    assert vars(model) == before


def test_a_failed_fit_on_files_leaves_the_estimator_as_it_was(rows, folder, tmp_path):
    X, y, _ = rows
    model = LowRankLSSVC(3, random_state=0).fit(X, y)
    before = dict(vars(model))
    bad = X[:, 0].copy()
    bad[12_345] = np.inf
    pq.write_table(pa.table({"x": bad, "y": y}), tmp_path / "bad.parquet", row_group_size=1000)
    with pytest.raises(ValueError, match=r"Column 'x' .*inf in row 12345 of .*bad\.parquet"):
        model.fit(Files(tmp_path, target="y"))
    assert vars(model) == before


def test_features_are_matched_by_name_or_by_number(rows, folder):
    X, y, _ = rows
    unnamed = LowRankLSSVC(3, random_state=0).fit(X, y)
    np.testing.assert_array_equal(unnamed.predict(labelled(folder)), unnamed.predict(X))
    with pytest.raises(ValueError, match="The files have 2 features, but the model was fitted to 6"):
        unnamed.predict(Files(folder, columns=["x0", "x1"]))
    named = LowRankLSSVC(3, random_state=0).fit(labelled(folder))
    shuffled = Files(folder, columns=FEATURES[::-1])
    np.testing.assert_array_equal(named.predict(shuffled), named.predict(labelled(folder)))
