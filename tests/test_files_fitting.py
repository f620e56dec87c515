"""Files in place of arrays: the same model, the same predictions, clear errors, nothing left behind."""

import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sleek import LowRankLSSVC, LowRankLSSVR, ParquetSource
from sleek.datasets import make_rotated

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
    return ParquetSource(folder, target="y", columns=FEATURES, **options)


def assert_same(one, two):
    for name, array in one.model_.units.arrays.items():
        np.testing.assert_allclose(array, two.model_.units[name], rtol=1e-10)
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=1e-10)
    np.testing.assert_allclose(one.intercept_, two.intercept_, rtol=1e-10)
    np.testing.assert_array_equal(one.loo_rows_, two.loo_rows_)


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
    np.testing.assert_allclose(
        files.decision_function(labelled(folder)), arrays.decision_function(X), rtol=1e-9
    )
    assert files.score(labelled(folder, weight="w")) == pytest.approx(arrays.score(X, y, w), rel=1e-12)


def test_few_rows_in_files_are_sorted_as_in_memory(rows, tmp_path):
    X, y, _ = rows
    pq.write_table(pa.table({"a": X[:500, 0], "b": X[:500, 1], "y": y[:500]}), tmp_path / "few.parquet")
    source = ParquetSource(tmp_path, target="y")
    assert_same(
        LowRankLSSVC(random_state=0).fit(source), LowRankLSSVC(random_state=0).fit(X[:500, :2], y[:500])
    )


def test_regression_of_several_targets_is_the_same_as_from_memory(rows, folder):
    X, _, w = rows
    source = ParquetSource(folder, target=["z", "x5"], columns=FEATURES[:5], weight="w")
    Y = np.c_[X[:, 0] * X[:, 1], X[:, 5]]
    files = LowRankLSSVR(8, random_state=0).fit(source)
    arrays = LowRankLSSVR(8, random_state=0).fit(X[:, :5], Y, sample_weight=w)
    assert_same(files, arrays)
    assert files.predict(source).shape == (N, 2)
    assert files.score(source) == pytest.approx(arrays.score(X[:, :5], Y, w), rel=1e-9)
    single = LowRankLSSVR(3, random_state=0).fit(ParquetSource(folder, target="z", columns=FEATURES[:2]))
    assert single.model_.predict(X[:5, :2]).shape == (5,)


def test_csv_through_the_same_door(rows, tmp_path):
    X, y, _ = rows
    lines = [
        "a,b,y",
        *(f"{a!r},{b!r},{label}" for a, b, label in zip(*X[:300, :2].T.tolist(), y[:300], strict=True)),
    ]
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    source = ParquetSource(tmp_path / "rows.csv", target="y")
    files = LowRankLSSVC(random_state=0).fit(source)
    assert_same(files, LowRankLSSVC(random_state=0).fit(X[:300, :2], y[:300]))
    np.testing.assert_array_equal(files.predict(source), files.model_.predict(X[:300, :2]))


def test_predictions_go_to_a_file(rows, folder, tmp_path):
    model = LowRankLSSVC(5, random_state=0).fit(labelled(folder))
    everything = ParquetSource(folder)  # columns that the model does not know are left alone
    assert model.predict_to(everything, tmp_path / "out.parquet", keep=["id"]) == N
    written = pq.read_table(tmp_path / "out.parquet")
    assert written.column_names == ["id", "prediction"]
    assert written["id"].to_pylist() == list(range(N))
    np.testing.assert_array_equal(written["prediction"].to_numpy(), model.predict(labelled(folder)))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda m, s: m.fit(s, [1, 2]), ValueError, "A ParquetSource has target and weights with it"),
        (lambda m, s: m.fit(s, sample_weight=[1.0]), ValueError, "`y` and `sample_weight` must be None"),
        (lambda m, s: m.score(s, [1, 2]), ValueError, "A ParquetSource has target and weights with it"),
        (lambda m, s: m.predict_to([[1.0]], "x.parquet"), TypeError, "a ParquetSource, got list"),
        (lambda m, s: m.fit(ParquetSource(s.path)), ValueError, "A classifier needs one target column"),
        (lambda m, s: m.fit(ParquetSource(s.path, target="y")), ValueError, "must hold numbers|'id'|type"),
    ],
    ids=["y", "weight", "score", "predict_to", "no target", "fitted"],
)
def test_bad_calls_leave_the_estimator_as_it_was(folder, call, error, message):
    source = labelled(folder)
    model = LowRankLSSVC(3, random_state=0).fit(source)
    before = dict(vars(model))
    if message.startswith("must hold"):
        source = ParquetSource(folder, target="z", columns=["x0", "y"])
        with pytest.raises(ValueError, match=r"Column 'y' of .*a\.parquet must hold numbers to be a feature"):
            LowRankLSSVR(3).fit(source)
    else:
        with pytest.raises(error, match=message):
            call(model, source)
    assert vars(model) == before


def test_a_failed_fit_on_files_leaves_the_estimator_as_it_was(rows, folder, tmp_path):
    X, y, _ = rows
    model = LowRankLSSVC(3, random_state=0).fit(X, y)
    before = dict(vars(model))
    bad = X[:, 0].copy()
    bad[12_345] = np.nan
    pq.write_table(pa.table({"x": bad, "y": y}), tmp_path / "bad.parquet", row_group_size=1000)
    with pytest.raises(ValueError, match=r"Column 'x' .*nan in row 12345 of .*bad\.parquet"):
        model.fit(ParquetSource(tmp_path, target="y"))
    assert vars(model) == before


def test_features_are_matched_by_name_or_by_number(rows, folder):
    X, y, _ = rows
    unnamed = LowRankLSSVC(3, random_state=0).fit(X, y)
    np.testing.assert_array_equal(unnamed.predict(labelled(folder)), unnamed.predict(X))
    with pytest.raises(ValueError, match="The files have 2 features, but the model was fitted to 6"):
        unnamed.predict(ParquetSource(folder, columns=["x0", "x1"]))
    named = LowRankLSSVC(3, random_state=0).fit(labelled(folder))
    shuffled = ParquetSource(folder, columns=FEATURES[::-1])
    np.testing.assert_array_equal(named.predict(shuffled), named.predict(labelled(folder)))


INTERRUPTED = """
import sys, threading
from sleek import LowRankLSSVC, ParquetSource, VariableProjection

trainer = VariableProjection(growth=None, tol=1e-300, max_iter=100000)
print("ready", flush=True)
try:
    LowRankLSSVC(30, basis="gaussian_rbf", trainer=trainer, n_jobs=2, random_state=0).fit(
        ParquetSource(sys.argv[1], target="y", columns=[f"x{i}" for i in range(6)])
    )
except KeyboardInterrupt:
    print([thread.name for thread in threading.enumerate()])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_an_interrupt_leaves_no_thread_behind(folder):
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, str(folder)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(4.0)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=30)
    assert out.strip() == "['MainThread']"
