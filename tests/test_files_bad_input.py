"""Bad files and columns get a sentence that names them."""

import datetime
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sleek import ClassOutputs, Files, NumberOutputs
from sleek.rows.rows import Run

N = 10_000


def write(path, name="rows.parquet", row_group_size=1000, **columns):
    """A file of N rows of features a, b and target y, some of them replaced."""
    rng = np.random.default_rng(0)
    values = {"a": rng.normal(size=N), "b": rng.normal(size=N), "y": rng.integers(0, 2, size=N)} | columns
    table = pa.table({name: column for name, column in values.items() if column is not None})
    pq.write_table(table, path / name, row_group_size=row_group_size)
    return path / name


def survey_classes(rows):
    return rows.survey(ClassOutputs, Run())


def survey_numbers(rows):
    return rows.survey(NumberOutputs, Run())


def read_all(rows):
    rows.map_reduce(len, Run(), reads="numbers", features=True)


def test_missing_files(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no file or folder '.*nowhere\.parquet'"):
        Files(tmp_path / "nowhere.parquet")
    with pytest.raises(FileNotFoundError, match=r"No file matches the pattern '.*\*\.parquet'"):
        Files(str(tmp_path / "*.parquet"))
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(
        FileNotFoundError, match=r"no \.parquet, \.pq, \.arrow, .* \.tsv or \.tsv\.gz file in the folder '"
    ):
        Files(tmp_path)


def test_unusable_paths(tmp_path):
    file = write(tmp_path)
    (tmp_path / "rows.bin").write_bytes(b"a\0b")
    with pytest.raises(ValueError, match=r"rows\.bin is no table that can be read: it holds zero bytes"):
        Files(tmp_path / "rows.bin")
    with pytest.raises(
        TypeError, match="`path` must be a file, a folder, a pattern or a list of these, got 3"
    ):
        Files(3)
    with pytest.raises(
        TypeError, match="`path` must be a file, a folder, a pattern or a list of these, got 3"
    ):
        Files([file, 3])
    with pytest.raises(ValueError, match="`path` must name at least one file, got an empty list"):
        Files([])
    with pytest.raises(
        ValueError, match=r"Every file must be named once, but .*rows\.parquet is named 2 times"
    ):
        Files([file, tmp_path / "*.parquet"])
    (tmp_path / "rows.csv").write_text("a\n1\n")
    with pytest.raises(ValueError, match=r"all CSV or all Parquet, got .*rows\.csv and .*rows\.parquet"):
        Files(tmp_path)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"target": "z"}, ValueError, r"rows\.parquet has no column 'z'\. It has: a, b, y\."),
        (
            {"columns": ["a", "z"]},
            ValueError,
            r"rows\.parquet has no column 'z'\. It has: a, b, y\.",
        ),
        ({"weight": "z"}, ValueError, r"rows\.parquet has no column 'z'"),
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
        Files(path, **options)


def test_a_column_that_stands_there_twice(tmp_path):
    table = pa.table([[1.0, 2.0], [1.0, 2.0], [0, 1]], names=["a", "a", "y"])
    pq.write_table(table, tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match=r"There must be one column 'a', but .*rows\.parquet has several"):
        survey_classes(Files(tmp_path, target="y"))


WORDS = ["red", "blue"] * (N // 2)
DATES = [datetime.datetime(2020, 1, 1)] * N


@pytest.mark.parametrize(
    ("column", "found"),
    [
        (pa.array(WORDS), "'red'"),
        (pa.array(WORDS).dictionary_encode(), "'red'"),
        (pa.array(DATES), "dates"),
        (pa.array([[1.0]] * N), r"\[1\.0\]"),
    ],
    ids=["text", "category", "timestamp", "list"],
)
def test_features_that_are_no_numbers(tmp_path, column, found):
    source = Files(write(tmp_path, b=column), target="y")
    with pytest.raises(ValueError, match=f"Column 'b' must hold numbers, got {found}"):
        source.map_reduce(len, Run(), reads="labels", features=True)
    survey_classes(source)
    survey_classes(source.with_features(["a"]))


def test_targets_and_weights_of_the_wrong_type(tmp_path):
    write(tmp_path, y=pa.array(DATES), b=pa.array(WORDS))
    with pytest.raises(
        ValueError, match=r"'y' of .* must hold numbers or text to be class labels, .* timestamp"
    ):
        survey_classes(Files(tmp_path, target="y", columns=["a"]))
    with pytest.raises(ValueError, match=r"Column 'b' must hold numbers, got 'red' in row 0 of"):
        survey_numbers(Files(tmp_path, target="b", columns=["a"]))
    with pytest.raises(ValueError, match=r"Column 'b' must hold numbers, got 'red' in row 0 of"):
        survey_classes(Files(tmp_path, target="a", columns=["y"], weight="b"))
    with pytest.raises(ValueError, match=r"A classifier needs one target column.*, got \['a', 'b'\]"):
        survey_classes(Files(tmp_path, target=["a", "b"]))
    with pytest.raises(ValueError, match=r"A classifier needs one target column.*, got None"):
        survey_classes(Files(tmp_path))


def test_truncated_and_corrupt_files(tmp_path):
    raw = write(tmp_path).read_bytes()
    for bad in (raw[: len(raw) // 2], b"", b"PAR1 nothing PAR1"):
        (tmp_path / "bad.parquet").write_bytes(bad)
        with pytest.raises(
            ValueError, match=r"bad\.parquet cannot be read as a Parquet file: .*Is it complete\?"
        ):
            Files(tmp_path, target="y")
    broken = bytearray(raw)
    middle = pq.ParquetFile(tmp_path / "rows.parquet").metadata.row_group(5).column(0).data_page_offset
    broken[middle : middle + 2000] = bytes(2000)
    (tmp_path / "bad.parquet").write_bytes(broken)
    with pytest.raises(
        ValueError, match=r"bad\.parquet cannot be read as a Parquet file: .*Is it complete\?"
    ):
        read_all(Files(tmp_path, target="y"))


def test_a_file_that_is_removed_meanwhile(tmp_path):
    file = write(tmp_path)
    source = Files(file, target="y")
    file.unlink()
    with pytest.raises(ValueError, match=r"rows\.parquet cannot be read as a Parquet file: .*No such file"):
        survey_classes(source)


def test_files_with_different_columns(tmp_path):
    write(tmp_path, "1.parquet")
    write(tmp_path, "2.parquet", b=pa.array(WORDS))
    message = (
        r"'b' must be of one kind in every file: it is double in .*1\.parquet, but string in .*2\.parquet"
    )
    source = Files(tmp_path, target="y")
    survey_classes(source.with_features(["a"]))
    for use in (lambda: survey_classes(source), lambda: source.with_features(["b"])):
        with pytest.raises(ValueError, match=message):
            use()
    write(tmp_path, "2.parquet", b=None)
    message = r"Column 'b' must be in every file: it is in .*1\.parquet, but not in .*2\.parquet"
    with pytest.raises(ValueError, match=message):
        survey_classes(Files(tmp_path, target="y"))
    read_all(Files(tmp_path, target="y", columns=["a"]))
    write(tmp_path, "2.parquet", b=np.arange(N))  # another type of number is fine
    read_all(Files(tmp_path, target="y"))


def test_without_pyarrow():
    code = "import sys; sys.modules['pyarrow'] = None; import sleek; sleek.Files('x.parquet')"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stderr.endswith(
        "Error: Reading files needs pyarrow, which is not installed: pip install pyarrow.\n"
    )
