"""Reading tables: every dialect gives the same values, and a bad file a sentence that names the place."""

import datetime
import gzip
import io
import pickle
import re
import sys
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from read_files import read_table, table_of

from sleek import LowRankLSSVR
from sleek._runtime.packages import MissingPackageError
from sleek.cli.data import path_of
from sleek.tables.errors import TableError, no_such_file
from sleek.tables.gaps import MISSING_WORDS
from sleek.tables.values import Coded, Dates, Numbers

CSV = 'age,colour,"note, or not"\n31,red,"a ""quoted"", text"\n,blue,NA\n2.5e1, red ,?\n'


def words(values):
    """Codes as a list of words."""
    return [None if code < 0 else values.values[code] for code in values.array.tolist()]


def check_values(table):
    assert table.names == ["age", "colour", "note, or not"]
    assert table.n_rows == 3
    assert isinstance(table.column("age"), Numbers)
    np.testing.assert_array_equal(table.numbers("age"), [31, np.nan, 25])
    assert words(table.column("colour")) == ["red", "blue", "red"]
    assert words(table.words("note, or not")) == ['a "quoted", text', None, None]


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
    n = 20_017
    numbers = np.random.default_rng(0).normal(size=n)
    table = table_of(
        "x,word\n" + "".join(f"{number!r},w{row % 7}\n" for row, number in enumerate(numbers.tolist()))
    )
    np.testing.assert_array_equal(table.numbers("x"), numbers)
    assert words(table.words("word")) == [f"w{row % 7}" for row in range(n)]
    assert table.place(n - 1).startswith(f"line {n + 1} of ")


def test_a_word_in_the_last_chunk_makes_all_of_the_column_text():
    table = table_of("code\n" + "01\n" * 10_000 + "x\n")
    assert words(table.column("code")) == ["01"] * 10_000 + ["x"]


def test_lines_are_those_of_the_file():
    table = table_of('a,b\n1,"two\nlines"\n\n2,x\n')
    assert [table.place(row).split(" of ")[0] for row in range(2)] == ["line 3", "line 5"]


def test_underscores_do_not_make_numbers():
    assert words(table_of("a\n1_000\n2_000\n").column("a")) == ["1_000", "2_000"]


def test_a_column_without_a_name_is_left_out():
    table = table_of(",a\n0,5\n1,6\n")
    assert table.names == ["a"]
    (note,) = table.notes
    assert note.endswith("data.csv has no name and is left out")
    np.testing.assert_array_equal(table.numbers("a"), [5, 6])


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ("a,b\n1,2\n3\n", "data.csv, line 3: 1 fields, but 2 column names (fields are separated by ',')."),
        ("a,b\n1,2\n\n3,4,5\n", "data.csv, line 4: 3 fields, but 2 column names"),
        ("a,b,a\n1,2,3\n", "data.csv, line 1: two columns are called 'a'."),
        ("1.5,2\n3,4\n", "data.csv, line 1: column names are needed, got '1.5, 2'."),
        (',""\n1,2\n', "data.csv, line 1: column names are needed"),
        ('a,b\n1,"2\n', "data.csv, line 2: unexpected end of data."),
        (b"a,b\n1,\x00\n", "data.csv is no table that can be read: it holds zero bytes"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_bad_files(data, sentence):
    with pytest.raises(TableError) as error:
        table_of(data).column("a")
    assert sentence in str(error.value)


@pytest.mark.parametrize("data", [b"", b" \n\n", b"\xef\xbb\xbf"])
def test_empty_files(tmp_path, data):
    path = tmp_path / "empty.csv"
    path.write_bytes(data)
    with pytest.raises(TableError, match=r"empty\.csv is empty"):
        read_table(str(path))


def test_bad_values_are_named_by_line_and_column():
    table = table_of("a,b\n1,2\n\n3,x\ninf,4\n")
    with pytest.raises(TableError, match=r"Column 'b' must hold numbers, got 'x' in line 4 of .*data\.csv\."):
        table.numbers("b")
    with pytest.raises(TableError, match=r"Column 'a' must hold finite numbers, got inf in line 5 of .*data"):
        table.numbers("a")
    with pytest.raises(TableError, match=r"has no column 'bb'\. Did you mean 'b'\? It has: a, b\."):
        table.column("bb")


def test_errors_have_fields():
    with pytest.raises(TableError) as caught:
        table_of("a,b\n1,2\n\n3,x\n").numbers("b")
    error = caught.value
    assert (error.column, error.row, error.rule, error.found) == ("b", 1, "hold numbers", "x")
    assert error.place.startswith("line 4 of ")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_a_slip_among_numbers_is_not_taken_for_a_category():
    numbers = "".join(f"{number}.5\n" for number in range(60))
    rule = "Column 'a' must hold numbers, as almost all rows do, got 'unknown' in line 62 of"
    with pytest.raises(TableError, match=rule):
        table_of("a\n" + numbers + "unknown\n").column("a")
    few = table_of("a\n" + "0\n1\n2\n" * 20 + "3+\n").column("a")
    assert words(few)[-1] == "3+"


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
    assert table.place(2).startswith("row 2 of ")


def test_parquet_types(parquet):
    table = parquet(
        flag=[True, None],
        money=[Decimal("1.25"), None],
        small=pa.array([1.5, 2.5], pa.float32()),
        gone=pa.array([None, None], pa.string()),
        day=[datetime.date(2024, 1, 31), None],
        inf=[1.0, np.inf],
    )
    assert words(table.words("flag")) == ["true", None]
    assert isinstance(table.column("flag"), Coded)
    np.testing.assert_array_equal(table.numbers("money"), [1.25, np.nan])
    np.testing.assert_array_equal(table.numbers("small"), [1.5, 2.5])
    np.testing.assert_array_equal(table.numbers("gone"), [np.nan, np.nan])
    assert isinstance(table.column("day"), Dates)
    np.testing.assert_array_equal(table.numbers("flag"), [1, np.nan])
    with pytest.raises(TableError, match="Column 'inf' must hold finite numbers, got inf in row 1 of"):
        table.numbers("inf")


def test_bad_parquet(tmp_path, parquet):
    path = tmp_path / "bad.parquet"
    path.write_bytes(b"PAR1 and then nothing of the kind")
    with pytest.raises(TableError, match=r"bad\.parquet cannot be read as a Parquet file: .*complete\?"):
        read_table(str(path))
    empty = parquet(a=pa.array([], pa.float64()), y=pa.array([], pa.float64()))
    with pytest.raises(ValueError, match="There are no rows in"):
        LowRankLSSVR().fit(replace(empty.files, target="y", columns=["a"]))


def test_without_pyarrow(tmp_path, monkeypatch, parquet):
    parquet(a=[1.0])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingPackageError, match=r"needs pyarrow.*: pip install pyarrow"):
        read_table(str(tmp_path / "data.parquet"))


def test_compressed_files(tmp_path):
    path = tmp_path / "data.csv.gz"
    path.write_bytes(gzip.compress(CSV.encode()))
    check_values(read_table(str(path)))
    path.write_bytes(gzip.compress(CSV.encode())[:-9])
    with pytest.raises(TableError, match=r"data\.csv\.gz cannot be read as a CSV file: .* Is it complete\?"):
        read_table(str(path)).column("age")


@pytest.mark.parametrize("word", sorted(MISSING_WORDS - {""}))
def test_words_for_a_gap(word):
    table = table_of(f"a,b,y\n1,x,0\n{word},{word},1\n3,x,0\n")
    np.testing.assert_array_equal(table.numbers("a"), [1, np.nan, 3])
    assert words(table.words("b")) == ["x", None, "x"]


def test_a_word_for_nothing_among_numbers_may_mean_something_among_words():
    text = "a,b\n1,Minor\nNone,None\n-,-\n"
    table = table_of(text)
    np.testing.assert_array_equal(table.numbers("a"), [1, np.nan, np.nan])
    assert words(table.column("b")) == ["Minor", "None", "-"]
    table = table_of(text, missing=["None"])
    assert words(table.column("b")) == ["Minor", None, "-"]
    assert words(table.column("a")) == ["1", None, "-"]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ('x,y\n"1,234.5",a\n12,b\n', [1234.5, 12]),
        ("x,y\n$1.50,a\n$-2,b\n", [1.5, -2]),
        ("x,y\n50%,a\n 7.5 %,b\n", [50, 7.5]),
        ("x;y\n1.234,5;a\n12;b\n", [1234.5, 12]),
        ("x;y\n3 €;a\n1.000,00 €;b\n", [3, 1000]),
        ('x,y\n"1,5",a\n"2,25",b\n', [1.5, 2.25]),
        ("x,y\n+1e3,a\n-.5,b\n", [1000, -0.5]),
    ],
)
def test_ways_of_writing_numbers(text, numbers):
    np.testing.assert_array_equal(table_of(text).numbers("x"), numbers)


@pytest.mark.parametrize("text", ["x,y\n1-2,a\n3,b\n"])
def test_what_could_mean_two_things_is_text(text):
    assert isinstance(table_of(text).column("x"), Coded)


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252", "utf-8-sig"])
def test_encodings(encoding):
    table = table_of('größe,b\n1,"café"\n2,naïve\n'.encode(encoding))
    assert table.names == ["größe", "b"]
    assert words(table.column("b")) == ["café", "naïve"]
    assert len(table.notes) == (encoding == "cp1252")
    assert all("data.csv is not UTF-8: it is read as Windows-1252" in note for note in table.notes)


def test_a_strange_letter_far_down():
    data = b"a,b\n" + b"1,x\n" * 200_000 + b"1,caf\xe9\n"
    table = table_of(data)
    assert words(table.column("b"))[-1] == "café"
    assert any("it is read as Windows-1252" in note for note in table.notes)


def test_arrow_and_json_lines(tmp_path):
    table = pa.table({"a": [1.5, None], "b": ["x", None]})
    with pa.ipc.new_file(tmp_path / "data.arrow", table.schema) as file:
        file.write_table(table)
    (tmp_path / "data.jsonl").write_text('{"a": 1.5, "b": "x"}\n{"a": null, "b": null}\n')
    for name in ("data.arrow", "data.jsonl"):
        found = read_table(str(tmp_path / name))
        np.testing.assert_array_equal(found.numbers("a"), [1.5, np.nan])
        assert words(found.words("b")) == ["x", None]


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(CSV.encode())))
    with path_of(Path("-")) as path:
        check_values(read_table(path))
    assert not Path(path).exists()


def test_files_that_are_not_there(tmp_path):
    (tmp_path / "data.csv").write_text("a\n1\n")
    assert str(no_such_file(str(tmp_path / "dat.csv"))).endswith("does not exist. Did you mean 'data.csv'?")
    said = str(no_such_file(str(tmp_path / "nowhere" / "x.csv")))
    assert re.search(r"x\.csv does not exist\. There is no folder .*nowhere\.", said)
