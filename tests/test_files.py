"""Rows of files: the same sums, bit for bit, as those of the same rows in memory."""

import pickle
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sleek import ClassOutputs, Files, LowRankLSSVC, LowRankLSSVR, NumberOutputs
from sleek._runtime.threads import Workers
from sleek.closed_form.moments import Moments
from sleek.kernels.column_statistics import ColumnMoments
from sleek.outputs import Labels
from sleek.rows import source as cutting
from sleek.rows.arrays import ArrayRows
from sleek.rows.files import chunks as reading
from sleek.rows.files.formats import Parquet
from sleek.rows.rows import Run
from sleek.rows.sample import Sample
from sleek.rows.source import SMALL_BLOCK

COLUMNS = {"a": np.float64, "b": np.float32, "c": np.int16, "d": np.uint8, "e": np.bool_}


def make_table(n, seed=0, labels=("no", "yes", "maybe")):
    """Features of every type, labels, two numbers, and weights, some zero: importances and counts."""
    rng = np.random.default_rng(seed)
    values = {name: (10 * rng.normal(size=n)).astype(dtype) for name, dtype in COLUMNS.items()}
    values |= {
        "label": rng.choice(np.array(labels), size=n),
        "u": rng.normal(size=n),
        "v": rng.normal(size=n),
    }
    values["w"] = rng.choice([0.0, 0.3, 2.0], size=n)
    values["count"] = rng.choice([0, 4, 6], size=n)
    return pa.table(values)


def features(table):
    return np.column_stack([table[name].to_numpy().astype(np.float64) for name in COLUMNS])


def write(folder, table, cuts=(), row_group_size=None):
    """The table as several files, cut at the given rows."""
    bounds = [0, *sorted(cuts), len(table)]
    for i, (lo, hi) in enumerate(pairwise(bounds)):
        pq.write_table(table.slice(lo, hi - lo), folder / f"{i:03}.parquet", row_group_size=row_group_size)
    return folder


def files(path, **options):
    return Files(path, **({"columns": list(COLUMNS)} | options))


def source(rows, kind, n_jobs=1, **options):
    """Rows as what a fit works on."""
    run = Run(Workers(n_jobs))
    survey = rows.survey(kind, run)
    outputs = kind.learn(survey.targets, rows.flat_targets, **options)
    return rows.source(outputs, survey.weighting(outputs), run)


def in_memory(rows, kind):
    n_rows = rows.survey(kind, Run()).weights.n_rows
    return rows.in_memory(kind.reads, n_rows, Run())


def classes_of(path):
    return ClassOutputs.learn(Files(path, target="y").survey(ClassOutputs, Run()).targets, True).classes


def moments(block):
    return Moments.of(np.tanh(block.X), block.T, block.s)


def columns(block):
    return ColumnMoments.of(block.X, block.s)


def collected(block):
    return [tuple(np.asarray(value).tolist() for value in vars(block).values())]


def assert_same_sums(rows, arrays):
    assert rows.n_rows == arrays.n_rows
    for task in (moments, columns):
        one, two = rows.map_reduce(task), arrays.map_reduce(task)
        for name in vars(one):
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)
    assert rows.map_reduce(collected) == arrays.map_reduce(collected)


def assert_same_survey(one, two):
    assert one.weights == two.weights
    for name, value in vars(one.targets).items():
        np.testing.assert_array_equal(value, getattr(two.targets, name), err_msg=name)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    n=st.integers(30, 200),
    cuts=st.lists(st.integers(0, 200), max_size=3),
    row_group_size=st.integers(1, 250),
    batch_rows=st.integers(1, 70),
    block_rows=st.integers(1, 90),
    weight=st.sampled_from([None, "w", "count"]),
    class_weight=st.sampled_from([None, "balanced", {"no": 2.0, "yes": 0.7}]),
    n_jobs=st.sampled_from([1, 2]),
)
def test_class_sums_are_those_of_arrays(
    tmp_path_factory, n, cuts, row_group_size, batch_rows, block_rows, weight, class_weight, n_jobs
):
    table = make_table(n)
    path = write(tmp_path_factory.mktemp("rows"), table, [cut for cut in cuts if cut <= n], row_group_size)
    s = table[weight].to_numpy().astype(float) if weight else np.ones(n)
    arrays = ArrayRows.that_count(features(table), Labels.of(table["label"].to_numpy()), s, None, True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "BATCH_ROWS", batch_rows)
        patch.setattr(reading, "LEAST_ROWS", 1)  # the least size of a batch
        patch.setattr(cutting, "SMALL_BLOCK", block_rows)
        rows = files(path, target="label", weight=weight)
        assert_same_survey(*(each.survey(ClassOutputs, Run(Workers(n_jobs))) for each in (rows, arrays)))
        options = {"n_jobs": n_jobs, "class_weight": class_weight}
        assert_same_sums(*(source(each, ClassOutputs, **options) for each in (rows, arrays)))


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("targets", [["u"], ["u", "v"]])
@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".csv.gz"])
def test_number_sums_are_those_of_arrays(tmp_path, targets, suffix, n_jobs):
    table = make_table(3 * SMALL_BLOCK + 11)
    if suffix == ".parquet":
        write(tmp_path, table, cuts=[5000], row_group_size=1000)
    else:
        # a CSV file has the shortest digits of a float32, which mean another float64
        table = table.set_column(1, "b", table["b"].cast(pa.float64()))
        compression = "gzip" if suffix.endswith("gz") else None
        with pa.output_stream(tmp_path / f"rows{suffix}", compression=compression) as file:
            pa.csv.write_csv(table, file)
    X, Y, s = features(table), np.column_stack([table[name].to_numpy() for name in targets]), table["w"]
    arrays = ArrayRows.that_count(X, Y, s.to_numpy(), None, False)
    rows = files(tmp_path, target=targets, weight="w")
    assert_same_survey(*(each.survey(NumberOutputs, Run(Workers(n_jobs))) for each in (rows, arrays)))
    assert_same_sums(*(source(each, NumberOutputs, n_jobs) for each in (rows, arrays)))
    read = in_memory(rows, NumberOutputs)
    for name in ("X", "y", "s", "numbers"):
        np.testing.assert_array_equal(getattr(read, name), getattr(arrays, name), err_msg=name)
    assert read.numbers[-1] > len(read.numbers)  # some rows of weight 0 were left out


@pytest.mark.filterwarnings("ignore:On the rows it was fitted to")  # labels are random
@pytest.mark.parametrize("weight", [None, "w", "count"])
@pytest.mark.parametrize("estimator", [LowRankLSSVC, LowRankLSSVR])
def test_a_whole_fit_is_the_same_as_in_memory(tmp_path, weight, estimator):
    table = make_table(3000, labels=("no", "yes"))
    write(tmp_path, table, cuts=[700], row_group_size=300)
    target = "label" if estimator is LowRankLSSVC else "u"
    one, two = (estimator(3, basis="robust_rbf", trainer="alternating", C=1.0, random_state=0) for _ in "ab")
    one.fit(files(tmp_path, target=target, weight=weight))
    two.fit(features(table), table[target].to_numpy(), table[weight].to_numpy() if weight else None)
    for name in (
        "centers_",
        "shapes_",
        "unit_weights_",
        "intercept_",
        "left_out_rows_",
        "left_out_residuals_",
    ):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)
    assert one.expected_error_ == two.expected_error_


def test_samples_are_those_of_arrays(tmp_path):
    table = make_table(5000)
    rows = files(write(tmp_path, table, row_group_size=700), target="u")
    sample = Sample.draw(source(rows, NumberOutputs), 40, 1, Workers(1))
    np.testing.assert_array_equal(sample.rows.X, features(table)[sample.numbers])


@pytest.mark.parametrize(
    "labels",
    [
        np.array([3, 1, 1, 2], dtype=np.int32),
        np.array([2.0, 1.0, 1.0, 2.0]),
        np.array([True, False, True, True]),
        np.array(["b", "a", "b", "ä"], dtype=object),
        np.array(["", "a", "b", "b"], dtype=object),
        np.array([0.0, -0.0, 1.0, 1.0]),
        pa.array([Decimal("2.0"), Decimal("1.0"), Decimal("2.0"), Decimal("2.0")]),
    ],
    ids=["integers", "floats", "truth values", "text", "empty text", "signed zero", "decimals"],
)
def test_classes_are_those_of_numpy(tmp_path, labels):
    pq.write_table(pa.table({"x": np.arange(4.0), "y": labels}), tmp_path / "rows.parquet")
    rows = Files(tmp_path, target="y")
    labels = np.array([2.0, 1.0, 2.0, 2.0]) if isinstance(labels, pa.Array) else labels
    classes, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    np.testing.assert_array_equal(classes_of(tmp_path), classes)
    assert classes_of(tmp_path).dtype == classes.dtype
    np.testing.assert_array_equal(rows.survey(ClassOutputs, Run()).targets.weights, counts)
    y = in_memory(rows, ClassOutputs).y
    np.testing.assert_array_equal(ClassOutputs(classes).codes(y), codes)
    np.testing.assert_array_equal(y.values[y.codes], labels)


@pytest.mark.parametrize(
    ("texts", "classes", "codes"),
    [
        (["1", "02", "1", "2"], np.array([1, 2]), [0, 1, 0, 1]),
        (["1", "2e0", "1.0", "1"], np.array([1.0, 2.0]), [0, 1, 0, 0]),
        (["true", "False", "TRUE", "false"], np.array([False, True]), [1, 0, 1, 0]),
        (["1", "x", "1", "2"], np.array(["1", "2", "x"], dtype=object), [0, 2, 0, 1]),
        (["9" * 30, "1", "1", "1"], np.array([1.0, 1e30]), [1, 0, 0, 0]),
        (['"a,b"', "c", "c", "c"], np.array(["a,b", "c"], dtype=object), [0, 1, 1, 1]),
    ],
    ids=["integers", "floats", "truth values", "text", "large", "quoted"],
)
def test_labels_of_a_csv_file_are_what_all_of_them_can_be(tmp_path, texts, classes, codes):
    lines = "\n".join(f"{i},{text}" for i, text in enumerate(texts))
    (tmp_path / "rows.csv").write_text(f"x,y\n{lines}\n")
    rows = Files(tmp_path / "rows.csv", target="y")
    found = classes_of(tmp_path / "rows.csv")
    np.testing.assert_array_equal(found, classes)
    assert found.dtype == classes.dtype
    assert ClassOutputs(found).codes(in_memory(rows, ClassOutputs).y).tolist() == codes


def test_a_category_of_pandas_and_files_of_different_number_types(tmp_path):
    words = pa.array(["no", "yes", "no"])
    pq.write_table(pa.table({"x": [1.5, 2.5, 3.5], "y": words.dictionary_encode()}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"x": [4, 5, 2**60 + 1], "y": words}), tmp_path / "2.parquet")
    rows = in_memory(Files(tmp_path, target="y"), ClassOutputs)
    assert rows.X.tolist() == [[1.5], [2.5], [3.5], [4.0], [5.0], [float(2**60 + 1)]]
    assert rows.y.values[rows.y.codes].tolist() == ["no", "yes", "no", "no", "yes", "no"]


def test_class_weights_and_totals(tmp_path):
    table = make_table(2 * SMALL_BLOCK + 100)
    rows = files(write(tmp_path, table, row_group_size=999), target="label", weight="w")
    survey = rows.survey(ClassOutputs, Run())
    label, s = table["label"].to_numpy(), table["w"].to_numpy()
    totals = np.array([s[label == c].sum() for c in survey.targets.labels])
    np.testing.assert_allclose(survey.targets.weights, totals, rtol=1e-12)
    assert survey.weights.n_rows == (s > 0).sum()
    assert survey.weights.total == pytest.approx(s.sum(), rel=1e-12)
    for class_weight, factors in (
        ("balanced", s.sum() / (3 * totals)),  # by weight, as everything
        ({"no": 2.0, "yes": 0.5, "maybe": 0.1}, [0.1, 2.0, 0.5]),
        ({"yes": 3.0}, [1.0, 1.0, 3.0]),
    ):
        outputs = ClassOutputs.learn(survey.targets, True, class_weight)
        np.testing.assert_allclose(outputs.factors, factors, rtol=1e-12)
        assert outputs.mean_importance == pytest.approx((factors * totals).sum() / s.sum())
        total = source(rows, ClassOutputs, class_weight=class_weight).map_reduce(lambda block: block.s.sum())
        assert total == pytest.approx((s > 0).sum())  # one on average
    whole = files(write(tmp_path, table), target="label", weight="w").survey(ClassOutputs, Run(Workers(2)))
    np.testing.assert_array_equal(survey.targets.weights, whole.targets.weights)  # whatever the row groups


def test_unusual_columns(tmp_path):
    digits = [Decimal("0.1"), Decimal("123456789012345678.123456789"), Decimal("-7.3")]
    table = pa.table(
        {
            "x.1": pa.array(digits, pa.decimal128(38, 9)),
            "half": pa.array(np.array([0.1, 2, 3], dtype=np.float16)),
            "y": [1.0, 2.0, 3.0],
        }
    )
    pq.write_table(table, tmp_path / "rows.parquet")
    rows = in_memory(Files(tmp_path, target="y"), NumberOutputs)
    assert rows.X[:, 0].tolist() == [float(value) for value in digits]
    assert rows.X[:, 1].tolist() == [float(np.float16(0.1)), 2.0, 3.0]


def test_the_index_of_a_pandas_frame_is_no_feature(tmp_path):
    import pandas as pd

    frame = pd.DataFrame({"a": [1.0, 2.0], "y": [0, 1]}, index=pd.Index([7, 9], name="key"))
    frame.to_parquet(tmp_path / "rows.parquet")
    assert Files(tmp_path, target="y").features == ("a",)
    assert Files(tmp_path, target="y", columns=["key"]).features == ("key",)


def test_which_files_and_in_which_order(tmp_path):
    for name in ("b.parquet", "a.pq", "deep/c.PARQUET", "_hidden/d.parquet", ".e.parquet", "_f.parquet"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        pq.write_table(pa.table({"x": [1.0], "y": [1]}), path)
    (tmp_path / "notes.txt").write_text("not rows")

    def names(path):
        tables = Files(path, target="y").tables
        return [Path(table.path).relative_to(tmp_path).as_posix() for table in tables]

    assert names(tmp_path) == ["a.pq", "b.parquet", "deep/c.PARQUET"]
    assert names(str(tmp_path / "[ab].p*q*")) == ["a.pq", "b.parquet"]
    assert names([tmp_path / "b.parquet", str(tmp_path / "a.*")]) == ["b.parquet", "a.pq"]


def test_description(tmp_path):
    path = write(tmp_path, make_table(10), cuts=[4])
    rows = files(path, target="u", weight="w")
    assert repr(rows) == "Files(2 files, 10 rows, 5 features, target 'u', weight 'w')"
    assert pickle.loads(pickle.dumps(rows)).features == rows.features
    assert Files(path, target=["u", "v"], weight="w").features == (*COLUMNS, "label", "count")
    assert rows.with_features(["b", "a"]).features == ("b", "a")
    assert rows.with_features(["u"]).targets == ()


def test_only_the_columns_needed_are_read(tmp_path, monkeypatch):
    read = []
    batches = Parquet.batches
    monkeypatch.setattr(Parquet, "batches", lambda *args: read.append(args[2].columns) or batches(*args))
    rows = files(write(tmp_path, make_table(50)), target="u", weight="w", columns=["b"])
    source(rows, NumberOutputs).map_reduce(columns)
    rows.originals(np.arange(3), "numbers")
    assert read == [["u", "w"], ["b", "u", "w"], ["u", "w"]]


def test_an_outlier_among_the_targets_is_named(tmp_path):
    values = np.linspace(0.0, 1.0, 30)
    values[17] = 1e6
    weights = np.ones(30)
    weights[3] = 0.0
    path = write(tmp_path, pa.table({"x": np.arange(30.0), "y": values, "w": weights}), cuts=[10])
    where = r"Row 7 of .*001\.parquet \(row 17 of all, counted from 0\), 1e\+06"
    with pytest.warns(UserWarning, match=f"{where}, makes up 97 % of the target's variance"):
        LowRankLSSVR(2, C=1.0, random_state=0).fit(Files(path, target="y", weight="w"))
    with pytest.warns(UserWarning, match=r"Row 17 of y, 1e\+06, makes up 97 %"):
        LowRankLSSVR(2, C=1.0, random_state=0).fit(np.arange(30.0)[:, None], values, weights)
    LowRankLSSVR(2, C=1.0, random_state=0).fit(Files(path, target="x", columns=["y"]))  # nothing to say
