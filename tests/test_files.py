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
from sklearn.utils.class_weight import compute_sample_weight

from sleek import ParquetSource, RobustRBF, VariableProjection
from sleek._runtime.threads import Workers
from sleek.closed_form.moments import ColumnMoments, Moments
from sleek.fit.recipe import Request, fit
from sleek.outputs.outputs import ClassTargets, RealTargets
from sleek.rows.files import batches as reading
from sleek.rows.files.survey import survey_classes, survey_numbers
from sleek.rows.sample import Sample
from sleek.rows.source import SMALL_BLOCK, ArraySource

COLUMNS = {"a": np.float64, "b": np.float32, "c": np.int16, "d": np.uint8, "e": np.bool_}


def make_table(n, seed=0, labels=("no", "yes", "maybe")):
    """Features of every type, labels, two numbers, and weights of which a third are zero."""
    rng = np.random.default_rng(seed)
    values = {name: (10 * rng.normal(size=n)).astype(dtype) for name, dtype in COLUMNS.items()}
    values |= {
        "label": rng.choice(np.array(labels), size=n),
        "u": rng.normal(size=n),
        "v": rng.normal(size=n),
    }
    values["w"] = rng.choice([0.0, 0.3, 2.0], size=n)
    return pa.table(values)


def features(table):
    return np.column_stack([table[name].to_numpy().astype(np.float64) for name in COLUMNS])


def write(folder, table, cuts=(), row_group_size=None):
    """The table as several files, cut at the given rows."""
    bounds = [0, *sorted(cuts), len(table)]
    for i, (lo, hi) in enumerate(pairwise(bounds)):
        pq.write_table(table.slice(lo, hi - lo), folder / f"{i:03}.parquet", row_group_size=row_group_size)
    return folder


def source(path, **options):
    return ParquetSource(path, **({"columns": list(COLUMNS)} | options))


def moments(block):
    return Moments.of(np.tanh(block.X), block.T, block.s)


def columns(block):
    return ColumnMoments.of(block.X, block.s)


def collected(block):
    return [(block.start, block.X.tolist(), block.T.tolist(), block.s.tolist())]


def assert_same_sums(rows, arrays):
    assert rows.n_rows == arrays.n_rows
    for task in (moments, columns):
        one, two = rows.map_reduce(task), arrays.map_reduce(task)
        for name in vars(one):
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)
    assert rows.map_reduce(collected) == arrays.map_reduce(collected)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    n=st.integers(30, 200),
    cuts=st.lists(st.integers(0, 200), max_size=3),
    row_group_size=st.integers(1, 250),
    batch_rows=st.integers(1, 70),
    block_rows=st.integers(1, 90),
    weight=st.sampled_from([None, "w"]),
    factor=st.sampled_from([None, (1.0, 0.0, 0.7)]),
    n_jobs=st.sampled_from([1, 2]),
)
def test_class_sums_are_those_of_arrays(
    tmp_path_factory, n, cuts, row_group_size, batch_rows, block_rows, weight, factor, n_jobs
):
    table = make_table(n)
    path = write(tmp_path_factory.mktemp("rows"), table, [cut for cut in cuts if cut <= n], row_group_size)
    label, s = table["label"].to_numpy(), table[weight].to_numpy() if weight else np.ones(n)
    classes, codes = np.unique(label[s > 0], return_inverse=True)
    X, s = features(table)[s > 0], s[s > 0]
    factor = None if factor is None else np.array(factor)
    if factor is not None:
        s = s * factor[codes]
        X, codes, s = X[s > 0], codes[s > 0], s[s > 0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "BATCH_ROWS", batch_rows)
        patch.setattr(reading, "LEAST_ROWS", 1)  # the least size of a batch
        survey = survey_classes(source(path, target="label", weight=weight), Workers(n_jobs))
        np.testing.assert_array_equal(survey.classes, classes)
        rows = survey.rows(factor, Workers(n_jobs))
        rows = type(rows)(**(vars(rows) | {"block_rows": block_rows}))
        assert_same_sums(rows, ArraySource(X, codes, s, ClassTargets(3), block_rows=block_rows))


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
    s = table["w"].to_numpy()
    X, Y = features(table)[s > 0], np.column_stack([table[name].to_numpy() for name in targets])[s > 0]
    s = s[s > 0]
    survey = survey_numbers(source(tmp_path, target=targets, weight="w"), Workers(n_jobs))
    expected = RealTargets.of(Y, s)
    rows = survey.rows(Workers(n_jobs))
    np.testing.assert_array_equal(rows.targets.mean, expected.mean)
    np.testing.assert_array_equal(rows.targets.scale, expected.scale)
    assert_same_sums(rows, ArraySource(X, Y, s, expected))
    arrays = rows.in_memory()
    for name, array in (("X", X), ("y", Y), ("s", s)):
        np.testing.assert_array_equal(getattr(arrays, name), array)
    assert survey.moments.weight == pytest.approx(s.sum())


def test_a_whole_fit_is_the_same_as_in_memory(tmp_path):
    table = make_table(3000, labels=("no", "yes"))
    write(tmp_path, table, cuts=[700], row_group_size=300)
    survey = survey_classes(source(tmp_path, target="label"))
    codes = np.unique(table["label"].to_numpy(), return_inverse=True)[1]
    arrays = ArraySource(features(table), codes, np.ones(len(codes)), ClassTargets(2))
    request = Request((RobustRBF(),), VariableProjection(max_iter=5), 3, 1.0, None, None, True)
    one, two = (
        fit(rows, request, np.random.default_rng(0), Workers(1), None, lambda line: None)
        for rows in (survey.rows(), arrays)
    )
    for name, array in one.units.arrays.items():
        np.testing.assert_array_equal(array, two.units.arrays[name])
    np.testing.assert_array_equal(one.solution.theta, two.solution.theta)
    np.testing.assert_array_equal(one.loo_rows, two.loo_rows)


def test_samples_are_those_of_arrays(tmp_path):
    table = make_table(5000)
    survey = survey_numbers(source(write(tmp_path, table, row_group_size=700), target="u"))
    sample = Sample.draw(survey.rows(), 40, 1, Workers(1))
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
    survey = survey_classes(ParquetSource(tmp_path, target="y"))
    labels = np.array([2.0, 1.0, 2.0, 2.0]) if isinstance(labels, pa.Array) else labels
    classes, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    np.testing.assert_array_equal(survey.classes, classes)
    assert survey.classes.dtype == classes.dtype
    np.testing.assert_array_equal(survey.counts, counts)
    np.testing.assert_array_equal(survey.rows().in_memory().y, codes)


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
    survey = survey_classes(ParquetSource(tmp_path / "rows.csv", target="y"))
    np.testing.assert_array_equal(survey.classes, classes)
    assert survey.classes.dtype == classes.dtype
    assert survey.rows().in_memory().y.tolist() == codes


def test_a_category_of_pandas_and_files_of_different_number_types(tmp_path):
    words = pa.array(["no", "yes", "no"])
    pq.write_table(pa.table({"x": [1.5, 2.5, 3.5], "y": words.dictionary_encode()}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"x": [4, 5, 2**60 + 1], "y": words}), tmp_path / "2.parquet")
    rows = survey_classes(ParquetSource(tmp_path, target="y")).rows().in_memory()
    assert rows.X.tolist() == [[1.5], [2.5], [3.5], [4.0], [5.0], [float(2**60 + 1)]]
    assert rows.y.tolist() == [0, 1, 0, 0, 1, 0]


def test_class_weights_and_counts(tmp_path):
    table = make_table(2 * SMALL_BLOCK + 100)
    survey = survey_classes(source(write(tmp_path, table, row_group_size=999), target="label", weight="w"))
    label, s = table["label"].to_numpy(), table["w"].to_numpy()
    np.testing.assert_array_equal(survey.counts, [((label == c) & (s > 0)).sum() for c in survey.classes])
    np.testing.assert_allclose(survey.weights, [s[label == c].sum() for c in survey.classes], rtol=1e-12)
    assert survey.weight == pytest.approx(s.sum(), rel=1e-12)
    for class_weight in ("balanced", {"no": 2.0, "yes": 0.5, "maybe": 0.0}, {"yes": 3.0}):
        expected = compute_sample_weight(class_weight, label[s > 0])
        codes = survey.rows().in_memory().y
        np.testing.assert_array_equal(survey.class_factor(class_weight)[codes], expected)
    assert survey.class_factor(None) is None
    whole = survey_classes(source(write(tmp_path, table), target="label", weight="w"), Workers(2))
    np.testing.assert_array_equal(survey.weights, whole.weights)  # whatever the row groups


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
    rows = survey_numbers(ParquetSource(tmp_path, target="y")).rows().in_memory()
    assert rows.X[:, 0].tolist() == [float(value) for value in digits]
    assert rows.X[:, 1].tolist() == [float(np.float16(0.1)), 2.0, 3.0]


def test_the_index_of_a_pandas_frame_is_no_feature(tmp_path):
    import pandas as pd

    frame = pd.DataFrame({"a": [1.0, 2.0], "y": [0, 1]}, index=pd.Index([7, 9], name="key"))
    frame.to_parquet(tmp_path / "rows.parquet")
    assert ParquetSource(tmp_path, target="y").features == ("a",)
    assert ParquetSource(tmp_path, target="y", columns=["key"]).features == ("key",)


def test_which_files_and_in_which_order(tmp_path):
    for name in ("b.parquet", "a.pq", "deep/c.PARQUET", "_hidden/d.parquet", ".e.parquet", "_f.parquet"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        pq.write_table(pa.table({"x": [1.0], "y": [1]}), path)
    (tmp_path / "notes.txt").write_text("not rows")

    def files(path):
        tables = ParquetSource(path, target="y").tables
        return [Path(table.path).relative_to(tmp_path).as_posix() for table in tables]

    assert files(tmp_path) == ["a.pq", "b.parquet", "deep/c.PARQUET"]
    assert files(str(tmp_path / "[ab].p*q*")) == ["a.pq", "b.parquet"]
    assert files([tmp_path / "b.parquet", str(tmp_path / "a.*")]) == ["b.parquet", "a.pq"]


def test_description(tmp_path):
    path = write(tmp_path, make_table(10), cuts=[4])
    rows = source(path, target="u", weight="w")
    assert repr(rows) == "ParquetSource(2 files, 10 rows, 5 features, target 'u', weight 'w')"
    assert pickle.loads(pickle.dumps(rows)).features == rows.features
    assert ParquetSource(path, target=["u", "v"], weight="w").features == (*COLUMNS, "label")
    assert rows.with_features(["b", "a"]).features == ("b", "a")
    assert rows.with_features(["u"]).targets == ()


def test_only_the_columns_needed_are_read(tmp_path, monkeypatch):
    read = []
    batches = reading._parquet_batches
    monkeypatch.setattr(
        reading, "_parquet_batches", lambda *args: read.append(args[1].columns) or batches(*args)
    )
    survey = survey_numbers(source(write(tmp_path, make_table(50)), target="u", weight="w", columns=["b"]))
    survey.rows().map_reduce(columns)
    assert read == [["u", "w"], ["b", "u", "w"]]


def test_an_outlier_among_the_targets_is_named(tmp_path):
    values = np.linspace(0.0, 1.0, 30)
    values[17] = 1e6
    path = write(tmp_path, pa.table({"x": np.arange(30.0), "y": values}), cuts=[10])
    survey = survey_numbers(ParquetSource(path, target="y"))
    where = r"Column 'y' in row 7 of .*001\.parquet \(row 17 of all, counted from 0\), 1e\+06"
    with pytest.warns(UserWarning, match=f"{where}, makes up 97 % of the target's variance"):
        survey.warn_of_outliers()
    survey_numbers(ParquetSource(path, target="x", columns=["y"])).warn_of_outliers()  # nothing to say
