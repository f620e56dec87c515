"""Reading tables: every dialect gives the same values, and a bad file a sentence that names the place."""

import datetime
import gzip
import io
import sys
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sleek
from sleek._runtime.packages import MissingPackageError
from sleek.tables.csv import CHUNK_ROWS, CsvTable
from sleek.tables.errors import TableError
from sleek.tables.gaps import MISSING_WORDS
from sleek.tables.open import read_table

CSV = 'age,colour,"note, or not"\n31,red,"a ""quoted"", text"\n,blue,NA\n2.5e1, red ,?\n'


def table_of(text, source="data.csv"):
    return CsvTable(text.encode() if isinstance(text, str) else text, source)


def check_values(table):
    assert table.names == ["age", "colour", "note, or not"]
    assert table.n_rows == 3
    np.testing.assert_array_equal(table.values("age"), [31, np.nan, 25])
    np.testing.assert_array_equal(table.numbers("age"), [31, np.nan, 25])
    assert table.values("colour").tolist() == ["red", "blue", "red"]
    assert table.words("note, or not") == ['a "quoted", text', None, None]


@pytest.mark.parametrize(
    "text",
    [
        CSV,
        "\ufeff" + CSV,
        CSV.replace("\n", "\r\n"),
        CSV.replace("\n", "\n\n"),
        "\n" + CSV,
        CSV.rstrip("\n"),
        'age;colour;"note, or not"\n31;red;"a ""quoted"", text"\n;blue;NA\n2,5e1; red ;?\n',
        'age\tcolour\tnote, or not\n31\tred\t"a ""quoted"", text"\n\tblue\tNA\n25\t red \t?\n',
        'age|colour|"note, or not"\n31|red|"a ""quoted"", text"\n|blue|NA\n25| red |?\n',
    ],
    ids=["plain", "BOM", "CRLF", "blank lines", "leading", "no last newline", "semicolons", "tabs", "bars"],
)
def test_dialects(text):
    check_values(table_of(text))


def test_many_rows_are_kept_in_order_across_chunks():
    n = 2 * CHUNK_ROWS + 17
    numbers = np.random.default_rng(0).normal(size=n)
    table = table_of(
        "x,word\n" + "".join(f"{number!r},w{row % 7}\n" for row, number in enumerate(numbers.tolist()))
    )
    np.testing.assert_array_equal(table.values("x"), numbers)
    assert table.words("word") == [f"w{row % 7}" for row in range(n)]
    assert table.place(n - 1) == f"line {n + 1}"


def test_a_word_in_the_last_chunk_makes_all_of_the_column_text():
    table = table_of("code\n" + "01\n" * CHUNK_ROWS + "x\n")
    assert table.values("code").tolist() == ["01"] * CHUNK_ROWS + ["x"]


def test_lines_are_those_of_the_file():
    table = table_of('a,b\n1,"two\nlines"\n\n2,x\n')
    assert [table.place(row) for row in range(2)] == ["line 3", "line 5"]


def test_underscores_do_not_make_numbers():
    assert table_of("a\n1_000\n2_000\n").values("a").tolist() == ["1_000", "2_000"]


def test_a_column_without_a_name_is_left_out():
    table = table_of(",a\n0,5\n1,6\n")
    assert table.names == ["a"]
    assert table.notes == ["column 1 of data.csv has no name and is left out"]
    np.testing.assert_array_equal(table.numbers("a"), [5, 6])


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ("a,b\n", "data.csv has column names but no rows."),
        ("a,b\n1,2\n3\n", "data.csv, line 3: 1 fields, but 2 column names (fields are separated by ',')."),
        ("a,b\n1,2\n\n3,4,5\n", "data.csv, line 4: 3 fields, but 2 column names"),
        ("a,b,a\n1,2,3\n", "data.csv, line 1: two columns are called 'a'."),
        ("1.5,2\n3,4\n", "data.csv, line 1: column names are needed, got '1.5, 2'."),
        (',""\n1,2\n', "data.csv, line 1: column names are needed"),
        ('a,b\n1,"2\n', "data.csv, line 2: unexpected end of data."),
        (b"a,b\n1,caf\xe9\n", "data.csv, line 2: byte 0xe9 is not UTF-8: save the file in UTF-8."),
        (
            "a,b\n1,2\n".encode("utf-16"),
            "data.csv is neither Parquet nor UTF-8 text: save it as CSV in UTF-8.",
        ),
    ],
    ids=lambda value: str(value)[:20],
)
def test_bad_files(data, sentence):
    with pytest.raises(TableError) as error:
        table_of(data)
    assert sentence in str(error.value)


@pytest.mark.parametrize("data", [b"", b" \n\n", b"\xef\xbb\xbf"])
def test_empty_files(tmp_path, data):
    path = tmp_path / "empty.csv"
    path.write_bytes(data)
    with pytest.raises(TableError, match=r"empty\.csv is empty"):
        read_table(str(path))


def test_bad_values_are_named_by_line_and_column():
    table = table_of("a,b\n1,2\n\n3,x\ninf,4\n")
    with pytest.raises(TableError, match=r"data\.csv, line 4, column 'b': a number is needed, got 'x'"):
        table.numbers("b")
    with pytest.raises(
        TableError, match=r"data\.csv, line 5, column 'a': a finite number is needed, got inf"
    ):
        table.values("a")
    with pytest.raises(TableError, match=r"has no column 'bb'\. Did you mean 'b'\? It has: a, b\."):
        table.require(["a", "bb"])


def test_a_slip_among_numbers_is_not_taken_for_a_category():
    numbers = "".join(f"{number}.5\n" for number in range(60))
    with pytest.raises(
        TableError, match="line 62, column 'a': almost all other rows hold numbers, got 'unknown'"
    ):
        table_of("a\n" + numbers + "unknown\n").values("a")
    few = table_of("a\n" + "0\n1\n2\n" * 20 + "3+\n").values("a")
    assert few[-1] == "3+"


@pytest.fixture
def parquet(tmp_path):
    """A function that writes columns to a file and reads the table."""

    def make(**columns):
        path = tmp_path / "data.parquet"
        pq.write_table(pa.table(columns), path)
        return read_table(str(path))

    return make


def test_parquet_has_the_same_values(parquet):
    table = parquet(
        **{
            "age": [31, None, 25],
            "colour": pa.array(["red", "blue", "red"]).dictionary_encode(),
            "note, or not": ['a "quoted", text', None, None],
        }
    )
    check_values(table)
    assert table.place(2) == "row 3"


def test_parquet_types(parquet):
    table = parquet(
        flag=[True, None],
        money=[Decimal("1.25"), None],
        small=pa.array([1.5, 2.5], pa.float32()),
        gone=pa.array([None, None], pa.string()),
        day=[datetime.date(2024, 1, 31), None],
        inf=[1.0, np.inf],
    )
    assert table.words("flag") == ["true", None]
    assert table.values("flag").tolist() == [True, None]
    np.testing.assert_array_equal(table.numbers("money"), [1.25, np.nan])
    np.testing.assert_array_equal(table.values("small"), [1.5, 2.5])
    np.testing.assert_array_equal(table.numbers("gone"), [np.nan, np.nan])
    assert table.values("day").dtype.kind == "M"
    with pytest.raises(TableError, match="row 1, column 'flag': a number is needed, got True"):
        table.numbers("flag")
    with pytest.raises(TableError, match="row 2, column 'inf': a finite number is needed, got inf"):
        table.values("inf")


def test_bad_parquet(tmp_path, parquet):
    path = tmp_path / "bad.parquet"
    path.write_bytes(b"PAR1 and then nothing of the kind")
    with pytest.raises(TableError, match=r"bad\.parquet is damaged: "):
        read_table(str(path))
    with pytest.raises(TableError, match="has column names but no rows"):
        parquet(a=pa.array([], pa.float64()))


def test_parquet_without_pyarrow(tmp_path, monkeypatch, parquet):
    parquet(a=[1.0])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingPackageError, match=r"needs pyarrow.*: pip install 'sleek-svm\[files\]'"):
        read_table(str(tmp_path / "data.parquet"))


def test_compressed_files(tmp_path):
    path = tmp_path / "data.csv.gz"
    path.write_bytes(gzip.compress(CSV.encode()))
    check_values(read_table(str(path)))
    path.write_bytes(gzip.compress(CSV.encode())[:-9])
    with pytest.raises(TableError, match=r"data\.csv\.gz is damaged: "):
        read_table(str(path))


@pytest.mark.parametrize("word", sorted(MISSING_WORDS - {""}))
def test_every_word_for_a_gap_is_one_for_both_readers(tmp_path, word):
    (tmp_path / "data.csv").write_text(f"a,b,y\n1,x,0\n{word},{word},1\n3,x,0\n")
    table = read_table(str(tmp_path / "data.csv"))
    np.testing.assert_array_equal(table.numbers("a"), [1, np.nan, 3])
    assert table.words("b") == ["x", None, "x"]
    rows = sleek.Files(tmp_path / "data.csv", columns=["a"], target="y")
    with pytest.raises(ValueError, match="Column 'a' must hold finite numbers, but has nothing in row 1"):
        sleek.LowRankLSSVC(2).fit(rows)


def test_what_is_kept_is_copied_as_it_stands():
    assert table_of("a,b\n?, x\n,NA\n").original("a") == ["?", None]
    assert table_of("a,b\n?, x\n,NA\n").original("b") == [" x", "NA"]


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(CSV.encode())))
    check_values(read_table("-"))


def test_files_that_are_not_there(tmp_path):
    (tmp_path / "data.csv").write_text("a\n1\n")
    with pytest.raises(TableError, match=r"dat\.csv does not exist\. Did you mean 'data\.csv'\?"):
        read_table(str(tmp_path / "dat.csv"))
    with pytest.raises(TableError, match=r"x\.csv does not exist\. There is no folder .*nowhere\."):
        read_table(str(tmp_path / "nowhere" / "x.csv"))
    with pytest.raises(TableError, match="is a folder: a file is needed"):
        read_table(str(tmp_path))
