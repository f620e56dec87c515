"""Bad files get a sentence that names file, column and rows."""

import datetime
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sleek import ParquetSource
from sleek.files import survey
from sleek.files.survey import survey_classes, survey_numbers
from sleek.moments import ColumnMoments

N = 10_000


def write(path, name="rows.parquet", row_group_size=1000, **columns):
    """A file of N rows of features a, b and target y, some of them replaced."""
    rng = np.random.default_rng(0)
    values = {"a": rng.normal(size=N), "b": rng.normal(size=N), "y": rng.integers(0, 2, size=N)} | columns
    table = pa.table({name: column for name, column in values.items() if column is not None})
    pq.write_table(table, path / name, row_group_size=row_group_size)
    return path / name


def spoilt(rows, value):
    """N numbers with a bad value in some rows."""
    values = np.random.default_rng(1).normal(size=N).tolist()
    for row in rows:
        values[row] = value
    return pa.array(values, pa.float64())


def sums(source):
    survey_numbers(source).rows().map_reduce(lambda block: ColumnMoments.of(block.X, block.s))


def test_missing_files(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no file or folder '.*nowhere\.parquet'"):
        ParquetSource(tmp_path / "nowhere.parquet")
    with pytest.raises(FileNotFoundError, match=r"No file matches the pattern '.*\*\.parquet'"):
        ParquetSource(str(tmp_path / "*.parquet"))
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(
        FileNotFoundError, match=r"no \.parquet, \.pq, \.csv or \.csv\.gz file in the folder '"
    ):
        ParquetSource(tmp_path)


def test_unusable_paths(tmp_path):
    file = write(tmp_path)
    (tmp_path / "rows.json").write_text("{}")
    with pytest.raises(
        ValueError, match=r"must end in \.parquet, \.pq, \.csv or \.csv\.gz, got .*rows\.json"
    ):
        ParquetSource(tmp_path / "rows.json")
    with pytest.raises(
        TypeError, match="`path` must be a file, a folder, a pattern or a list of these, got 3"
    ):
        ParquetSource(3)
    with pytest.raises(
        TypeError, match="`path` must be a file, a folder, a pattern or a list of these, got 3"
    ):
        ParquetSource([file, 3])
    with pytest.raises(ValueError, match="`path` must name at least one file, got an empty list"):
        ParquetSource([])
    with pytest.raises(
        ValueError, match=r"Every file must be named once, but .*rows\.parquet is named 2 times"
    ):
        ParquetSource([file, tmp_path / "*.parquet"])
    (tmp_path / "rows.csv").write_text("a\n1\n")
    with pytest.raises(ValueError, match=r"all Parquet or all CSV, got .*rows\.parquet and .*rows\.csv"):
        ParquetSource(tmp_path)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"target": "z"}, ValueError, r"no column 'z' in .*rows\.parquet\. Its columns are 'a', 'b', 'y'\."),
        (
            {"columns": ["a", "z"]},
            ValueError,
            r"no column 'z' in .*rows\.parquet\. Its columns are 'a', 'b', 'y'",
        ),
        ({"weight": "z"}, ValueError, r"no column 'z' in .*rows\.parquet"),
        ({"target": "y", "columns": ["a", "y"]}, ValueError, "The target 'y' must not be one of `columns`"),
        ({"weight": "a", "columns": ["a"]}, ValueError, "The weight 'a' must not be one of `columns`"),
        ({"target": "a", "weight": "a"}, ValueError, "The target 'a' must not be the weight too"),
        (
            {"target": ["a", "b", "y"]},
            ValueError,
            r"at least one feature, but .*rows\.parquet has no other column",
        ),
        ({"columns": []}, ValueError, "`columns` must name at least one feature, got an empty list"),
        ({"columns": "a"}, TypeError, "`columns` must be a list of names, got 'a'"),
        ({"columns": ["a", "a"]}, ValueError, r"`columns` must name every column once, got \['a', 'a'\]"),
        ({"columns": [0]}, TypeError, r"`columns` must be a list of names, got \[0\]"),
        ({"target": 0}, TypeError, "`target` must be the name of a column, a list of names or None, got 0"),
        (
            {"weight": ["a", "b"]},
            TypeError,
            r"`weight` must be the name of a column or None, got \['a', 'b'\]",
        ),
    ],
    ids=lambda value: str(value)[:40],
)
def test_columns_that_cannot_be(tmp_path, options, error, message):
    path = write(tmp_path)
    with pytest.raises(error, match=message):
        ParquetSource(path, **options)


def test_a_column_that_stands_there_twice(tmp_path):
    table = pa.table([[1.0, 2.0], [1.0, 2.0], [0, 1]], names=["a", "a", "y"])
    pq.write_table(table, tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match=r"There must be one column 'a', but .*rows\.parquet has several"):
        ParquetSource(tmp_path, target="y")


WORDS = ["red", "blue"] * (N // 2)
DATES = [datetime.datetime(2020, 1, 1)] * N


@pytest.mark.parametrize(
    ("column", "type_"),
    [
        (pa.array(WORDS), "string"),
        (pa.array(WORDS).dictionary_encode(), "dictionary<values=string, indices=int32, ordered=0>"),
        (pa.array(DATES), r"timestamp\[us\]"),
        (pa.array([[1.0]] * N), "list<.*>"),
    ],
    ids=["text", "category", "timestamp", "list"],
)
def test_features_that_are_no_numbers(tmp_path, column, type_):
    source = ParquetSource(write(tmp_path, b=column), target="y")
    message = (
        rf"Column 'b' of .*rows\.parquet must hold numbers to be a feature, but is of type {type_}\. Turn it"
    )
    for surveyed in (survey_classes, survey_numbers):
        with pytest.raises(ValueError, match=message):
            surveyed(source)
    survey_classes(source.with_features(["a"]))


def test_targets_and_weights_of_the_wrong_type(tmp_path):
    write(tmp_path, y=pa.array(DATES), b=pa.array(WORDS))
    with pytest.raises(
        ValueError, match=r"'y' of .* must hold numbers or text to be class labels, .* timestamp"
    ):
        survey_classes(ParquetSource(tmp_path, target="y", columns=["a"]))
    with pytest.raises(
        ValueError, match=r"'b' of .* must hold numbers to be a target of regression, .* string"
    ):
        survey_numbers(ParquetSource(tmp_path, target="b", columns=["a"]))
    with pytest.raises(
        ValueError, match=r"'b' of .* must hold numbers to be the weight, but is of type string"
    ):
        survey_classes(ParquetSource(tmp_path, target="a", columns=["y"], weight="b"))
    with pytest.raises(ValueError, match=r"A classifier needs one target column.*, got \['a', 'b'\]"):
        survey_classes(ParquetSource(tmp_path, target=["a", "b"]))
    with pytest.raises(ValueError, match=r"A classifier needs one target column.*, got None"):
        survey_classes(ParquetSource(tmp_path))


def test_truncated_and_corrupt_files(tmp_path):
    raw = write(tmp_path).read_bytes()
    for bad in (raw[: len(raw) // 2], b"", b"PAR1 nothing PAR1"):
        (tmp_path / "bad.parquet").write_bytes(bad)
        with pytest.raises(
            ValueError, match=r"bad\.parquet cannot be read as a Parquet file: .*Is it complete\?"
        ):
            ParquetSource(tmp_path, target="y")
    broken = bytearray(raw)
    middle = pq.ParquetFile(tmp_path / "rows.parquet").metadata.row_group(5).column(0).data_page_offset
    broken[middle : middle + 2000] = bytes(2000)
    (tmp_path / "bad.parquet").write_bytes(broken)
    with pytest.raises(
        ValueError, match=r"bad\.parquet cannot be read as a Parquet file: .*Is it complete\?"
    ):
        sums(ParquetSource(tmp_path, target="y"))


def test_a_file_that_is_removed_meanwhile(tmp_path):
    file = write(tmp_path)
    source = ParquetSource(file, target="y")
    file.unlink()
    with pytest.raises(ValueError, match=r"rows\.parquet cannot be read as a Parquet file: .*No such file"):
        survey_classes(source)


def test_files_with_different_columns(tmp_path):
    write(tmp_path, "1.parquet")
    write(tmp_path, "2.parquet", b=pa.array(WORDS))
    message = (
        r"'b' must be of one kind in every file: it is double in .*1\.parquet, but string in .*2\.parquet"
    )
    with pytest.raises(ValueError, match=message):
        ParquetSource(tmp_path, target="y")
    write(tmp_path, "2.parquet", b=None)
    message = r"Column 'b' must be in every file: it is in .*1\.parquet, but not in .*2\.parquet"
    with pytest.raises(ValueError, match=message):
        ParquetSource(tmp_path, target="y")
    sums(ParquetSource(tmp_path, target="y", columns=["a"]))
    write(tmp_path, "2.parquet", b=np.arange(N))  # another type of number is fine
    sums(ParquetSource(tmp_path, target="y"))


@pytest.mark.parametrize(
    ("value", "word"),
    [(np.nan, "nan"), (-np.inf, "-inf"), (None, "nothing")],
    ids=["nan", "infinity", "null"],
)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_bad_values_in_the_tenth_row_group(tmp_path, value, word, n_jobs):
    write(tmp_path, "1.parquet")
    write(tmp_path, "2.parquet", b=spoilt([9100, 9101], value))
    message = (
        rf"Column 'b' must hold finite numbers, but has {word} in rows 9100, 9101 of .*2\.parquet "
        r"\(rows 19100, 19101 of all, counted from 0\)\. Fill in a number, or leave"
    )
    rows = survey_classes(ParquetSource(tmp_path, target="y")).rows(n_jobs=n_jobs)
    with pytest.raises(ValueError, match=message):
        rows.map_reduce(lambda block: len(block))


def test_only_the_first_of_many_bad_rows_are_listed(tmp_path):
    file = write(tmp_path, b=spoilt(range(10), np.nan))
    with pytest.raises(ValueError, match=r"rows 0, 1, 2 of .* \(rows 0, 1, 2 of all, .*\) and 7 more nearby"):
        sums(ParquetSource(file, target="y"))


@pytest.mark.parametrize("value", [None, np.nan, -1.0])
def test_rows_of_zero_weight_are_not_looked_at(tmp_path, value):
    weights = np.ones(N)
    weights[[5, 9100]] = 0.0
    write(tmp_path, b=spoilt([5, 9100], value), y=spoilt([9100], value), w=weights)
    sums(ParquetSource(tmp_path, target="y", weight="w"))


def test_bad_rows_are_named_by_their_number_before_others_were_left_out(tmp_path):
    weights = np.ones(N)
    weights[:9000:2] = 0.0
    write(tmp_path, b=spoilt([9003], None), w=weights)
    with pytest.raises(
        ValueError, match=r"has nothing in row 9003 of .* \(row 9003 of all, counted from 0\)"
    ):
        sums(ParquetSource(tmp_path, target="y", weight="w"))


@pytest.mark.parametrize(
    ("value", "word"), [(-1.0, r"-1\.0"), (np.nan, "nan"), (np.inf, "inf"), (None, "nothing")]
)
def test_bad_weights(tmp_path, value, word):
    file = write(tmp_path, w=pa.array([1.0] * 9003 + [value] + [1.0] * (N - 9004)))
    message = (
        rf"weights in column 'w' must be finite and not negative, got {word} in row 9003 of .*rows\.parquet"
    )
    with pytest.raises(ValueError, match=message):
        survey_classes(ParquetSource(file, target="y", weight="w"))


def test_no_weight_at_all(tmp_path):
    file = write(tmp_path, w=np.zeros(N))
    with pytest.raises(ValueError, match=r"No row of .*rows\.parquet has a weight above 0 in column 'w'"):
        survey_classes(ParquetSource(file, target="y", weight="w"))


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (
            pa.array([0, 1] * 4500 + [None] * 1000),
            r"a class label in every row, but has none in rows 9000, 9001, 9002",
        ),
        (spoilt([9000], np.nan), r"a class label in every row, but has nan in row 9000 of .*rows\.parquet"),
        (np.random.default_rng(0).normal(size=N), "Unknown label type: continuous"),
        (np.full(N, 7), r"at least 2 classes, got 1 class: 7 \(rows of zero weight do not count\)"),
        (np.arange(N), "at most 1000 classes, but the target has more different values"),
    ],
    ids=["null", "nan", "continuous", "one class", "too many"],
)
def test_bad_labels(tmp_path, column, message, monkeypatch):
    monkeypatch.setattr(survey, "MOST_CLASSES", 1000)
    if isinstance(column, pa.DoubleArray):
        column = pa.array(np.sign(column.to_numpy()))
    with pytest.raises(ValueError, match=message):
        survey_classes(ParquetSource(write(tmp_path, y=column), target="y"))


@pytest.mark.parametrize(("value", "word"), [(None, "nothing"), (np.nan, "nan"), (np.inf, "inf")])
def test_bad_numbers_to_predict(tmp_path, value, word):
    source = ParquetSource(write(tmp_path, y=spoilt([9000], value)), target="y")
    with pytest.raises(
        ValueError, match=rf"Column 'y' must hold finite numbers, but has {word} in row 9000 of"
    ):
        survey_numbers(source)


def test_labels_that_appear_between_two_passes(tmp_path):
    surveyed = survey_classes(ParquetSource(write(tmp_path), target="y"))
    write(tmp_path, y=np.arange(N) % 3)
    with pytest.raises(ValueError, match="There is a new class label 2: the files have changed"):
        surveyed.rows().map_reduce(lambda block: len(block))


def test_files_without_rows(tmp_path):
    write(tmp_path, "1.parquet", a=[], b=[], y=pa.array([], pa.int64()))
    with pytest.raises(
        ValueError, match=r"There are no rows in .*1\.parquet: there is nothing to learn from"
    ):
        survey_classes(ParquetSource(tmp_path, target="y"))
    write(tmp_path, "2.parquet")
    assert survey_classes(ParquetSource(tmp_path, target="y")).counts.sum() == N
    (tmp_path / "rows.csv").write_text("a,y\n")
    with pytest.raises(ValueError, match=r"There are no rows in .*rows\.csv: there is nothing to learn from"):
        survey_classes(ParquetSource(tmp_path / "rows.csv", target="y"))


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("line", [2, 90_000])
def test_a_bad_number_in_a_csv_file(tmp_path, line, n_jobs):
    lines = ["a,b,y"] + ["1.5,2.5,0", "1.5,3,1"] * 50_000
    lines[line - 1] = "1.5,wrong,1"
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    rows = survey_classes(ParquetSource(tmp_path, target="y"), n_jobs).rows(n_jobs=n_jobs)
    message = rf"'b' of .*rows\.csv must hold numbers, but line {line} \(empty ones not counted\) has 'wrong'"
    with pytest.raises(ValueError, match=message):
        rows.map_reduce(lambda block: len(block))


def test_bad_csv_files(tmp_path):
    def source(text, name="rows.csv"):
        (tmp_path / name).write_bytes(text)
        return ParquetSource(tmp_path / name, target="y")

    with pytest.raises(ValueError, match=r"rows\.csv cannot be read as a CSV file: Empty CSV file"):
        source(b"")
    with pytest.raises(
        ValueError, match=r"rows\.csv cannot be read as a CSV file: .*Expected 2 columns, got 3"
    ):
        source(b"a,y\n1,2\n1,2,3\n")
    with pytest.raises(ValueError, match=r"rows\.csv\.gz cannot be read as a CSV file"):
        source(b"a,y\n1,2\n", "rows.csv.gz")
    with pytest.raises(ValueError, match=r"no column 'y' in .*rows\.csv\. Its columns are 'a;y'"):
        source(b"a;y\n1;2\n")
    with pytest.raises(
        ValueError, match=r"Column 'y' must hold a class label .* has none in row 1 of .*rows\.csv"
    ):
        survey_classes(source(b"a,y\n1,2\n1,\n"))
    with pytest.raises(ValueError, match=r"Column 'a' must hold finite numbers, but has nothing in row 1 of"):
        sums(source(b"a,y\n1,2\n,1\n"))


def test_without_pyarrow():
    code = "import sys; sys.modules['pyarrow'] = None; import sleek; sleek.ParquetSource('x.parquet')"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stderr.endswith(
        "ImportError: Reading Parquet and CSV files needs pyarrow, which is not installed: "
        "pip install 'sleek[files]'.\n"
    )
