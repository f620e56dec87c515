"""Numbers in text: read as what was written, or refused; never as other numbers."""

import csv
import io
import warnings
from unittest import mock

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from read_files import read_table, table_of

from sleek import DaskRows, Files, LowRankLSSVR
from sleek.rows.files import chunks as reading
from sleek.rows.files import texts
from sleek.tables.errors import TableError
from sleek.tables.frames import columns_by_name
from sleek.tables.gaps import Gaps
from sleek.tables.notation import Notation, Written, joined
from sleek.tables.text import read_texts
from sleek.tables.values import Numbers

QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
FORMATS = [
    "{}",
    "{:.3f}",
    "{:.2f}",
    "{:g}",
    "{:.4e}",
    "{:+.3f}",
    "{:.0f}",
    "{:,.2f}",
    "{:,.3f}",
    "{:,.0f}",
    "${:,.2f}",
    "{:.1f} %",
]
NUMBERS = st.one_of(
    st.floats(-1e7, 1e7, allow_nan=False),
    st.integers(-(10**6), 10**6).map(float),
    st.integers(-5000, 5000).map(lambda number: number / 1000),
)


@st.composite
def tables(draw):
    """Columns of numbers, each with its texts, and the bytes of a CSV file that pandas writes of them."""
    mark = draw(st.sampled_from(".,"))
    n_rows = draw(st.integers(2, 6))
    numbers, written = {}, {}
    for place in range(draw(st.integers(1, 3))):
        way = draw(st.sampled_from(FORMATS))
        found = draw(st.lists(NUMBERS, min_size=n_rows, max_size=n_rows))
        said = [way.format(number) for number in found]
        numbers[f"x{place}"] = [float(text.replace(",", "").strip("$ %").replace("$", "")) for text in said]
        written[f"x{place}"] = [
            text.translate(str.maketrans(".,", ",.")) if mark == "," else text for text in said
        ]
    frame = pd.DataFrame(written).assign(y=[f"w{row}" for row in range(n_rows)])
    data = frame.to_csv(
        index=False,
        sep=draw(st.sampled_from(",;\t|")),
        quoting=draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])),
        lineterminator=draw(st.sampled_from(["\n", "\r\n"])),
    ).encode(draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"])))
    return numbers, frame, data


def outcome(function, *arguments):
    """What a function returns, or its sentence."""
    try:
        return function(*arguments)
    except TableError as error:
        return str(error)


def check(numbers, read):
    for name, column in numbers.items():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = outcome(read, name)
        if isinstance(found, str):
            assert "must hold numbers" in found
        elif not is_noted(caught, name):
            assert isinstance(found, Numbers), found
            np.testing.assert_array_equal(found.array, column)


def is_noted(said, name="x0"):
    """Whether there is a sentence about a point that may separate thousands."""
    texts = [str(getattr(one, "message", one)) for one in said]
    return any(f"olumn {name!r}: " in text and "the point separates thousands" in text for text in texts)


@QUICK
@given(tables())
def test_numbers_in_files_are_read_as_they_were_written_or_refused(tmp_path, made):
    numbers, _, data = made
    check(numbers, table_of(data).column)
    (tmp_path / "data.csv").write_bytes(data)
    small = {"BATCH_ROWS": 2, "LEAST_ROWS": 2}
    with mock.patch.object(texts, "BATCH_ROWS", 2), mock.patch.multiple(reading, **small):
        check(numbers, read_table(tmp_path / "data.csv").column)


@QUICK
@given(st.lists(st.integers(1000, 999_999), min_size=1, max_size=5), st.sampled_from(",."))
def test_columns_with_both_marks_decide_nothing_for_the_others(whole, mark):
    """0.5 in one column and 0,5 in another: 748,886 was read as 748886 then."""
    written = [f"{number // 1000}{mark}{number % 1000:03d}" for number in whole]
    data = pd.DataFrame({"x0": written, "point": "0.5", "comma": "0,5"}).to_csv(index=False, sep=";")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = outcome(table_of(data).column, "x0")
    assert "that can be read in one way" in found if isinstance(found, str) else is_noted(caught)
    for decimal, unit in ((mark, 1000.0), (".,"[mark == "."], 1.0)):
        read = table_of(data, decimal=decimal).column("x0").array
        np.testing.assert_array_equal(read, np.array(whole) / unit)


@QUICK
@given(tables())
def test_numbers_stored_as_text_in_a_frame_are_those_of_the_file(made):
    numbers, frame, data = made
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = outcome(read_texts, columns_by_name(frame[list(numbers)]))
    if isinstance(found, str):
        table = table_of(data, "data.csv")
        others = [outcome(table.column, name) for name in numbers]
        assert any(found.split(". ")[0] in other for other in others if isinstance(other, str))
        return
    check({name: each for name, each in numbers.items() if not is_noted(caught, name)}, found.__getitem__)


@pytest.fixture(scope="module")
def identity():
    """A model that says what it has read as x0, with and without columns of its own."""
    x = np.random.default_rng(0).normal(scale=1000.0, size=200)
    return LowRankLSSVR(basis="linear", C=1e12, random_state=0).fit(pd.DataFrame({"x0": x}), x)


@settings(QUICK, max_examples=12)
@given(tables(), st.integers(1, 3))
def test_every_door_reads_the_same_numbers_or_says_why_not(tmp_path, identity, made, n_partitions):
    numbers, frame, data = made
    (tmp_path / "folder").mkdir(exist_ok=True)
    (tmp_path / "folder" / "data.csv").write_bytes(data)
    identity.model_.save(tmp_path / "model.json")
    from typer.testing import CliRunner

    from sleek.cli.commands import app

    def command(path):
        output = tmp_path / "out.csv"
        done = CliRunner().invoke(
            app, ["predict", str(tmp_path / "model.json"), str(path), "-o", str(output)]
        )
        if done.exit_code:
            raise TableError(done.output)
        for line in done.output.replace("\n", " ").split("note"):
            warnings.warn(line, stacklevel=1)
        return pd.read_csv(output)["prediction"].to_numpy()

    doors = {
        "frame": lambda: identity.model_.predict(frame),
        "dask": lambda: identity.predict(DaskRows(dd.from_pandas(frame, n_partitions), target="y")).compute(),
        "files": lambda: identity.predict(Files(tmp_path / "folder")),
        "command": lambda: command(tmp_path / "folder" / "data.csv"),
        "folder": lambda: command(tmp_path / "folder"),
    }
    refused = set()
    for door, read in doors.items():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = outcome(read)
        refused.add(isinstance(found, str))
        if isinstance(found, str):
            assert "must hold numbers" in " ".join(found.split()), (door, found)
        elif not is_noted(caught):
            np.testing.assert_allclose(found, numbers["x0"], rtol=1e-6, atol=1e-6, err_msg=door)
    assert len(refused) == 1


@QUICK
@given(tables(), st.integers(1, 3))
def test_the_decision_does_not_depend_on_how_a_file_is_cut(made, size):
    numbers, frame, _ = made
    whole = {name: Written.of(pa.array(frame[name]), Gaps()) for name in numbers}
    pieces = {
        name: joined(
            [Written.of(pa.array(frame[name][i : i + size]), Gaps()) for i in range(0, len(frame), size)]
        )
        for name in numbers
    }
    one, other = Notation.of(whole), Notation.of(pieces)
    assert (one.decimal, one.because) == (other.decimal, other.because)
    for name in numbers:
        assert outcome(one.is_number, name) == outcome(other.is_number, name)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_three_decimals(separator):
    table = table_of(f"x{separator}y\n0.126{separator}a\n12.500{separator}b\n".encode(), "data.csv")
    np.testing.assert_array_equal(table.numbers("x"), [0.126, 12.5])


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("x;y\n5%;a\n0.10;b\n", "with the same sign in every row, got '5%' and '0.10'. Write them alike"),
        ("x;y\n1,5;a\n2.5;b\n", "with one decimal mark, got '2.5' and '1,5'"),
        ("x;y\n1,234;a\n", r"that can be read in one way, got '1,234'\. Name the decimal mark \(`decimal`\)"),
        ("x;z;v\n1,234;0.5;0,5\n", r"that can be read in one way, got '1,234'\. Name the decimal mark"),
        ("x;z;y\n0,5;0.5;a\n", r"with a decimal point \(by '0\.5' in column 'z'\), got '0,5'"),
    ],
)
def test_what_could_be_two_numbers_is_refused(text, rule):
    with pytest.raises(TableError, match=f"data.csv: Column 'x' must hold numbers {rule}"):
        table_of(text.encode(), "data.csv").column("x")


def test_the_decimal_mark_can_be_named(tmp_path):
    data = b"x;y\n1,234;a\n"
    assert table_of(data, "data.csv", decimal=",").numbers("x") == [1.234]
    assert table_of(data, "data.csv", decimal=".").numbers("x") == [1234]
    (tmp_path / "data.csv").write_bytes(data)
    assert Files(tmp_path, columns=["x"], decimal=",").in_memory is not None
    with pytest.raises(ValueError, match=r"`decimal` must be '\.', ',' or None, got ';'"):
        Files(tmp_path, decimal=";")


def test_codes_that_begin_with_0_are_text():
    table = table_of(b"zip,n\n01234,1\n1234,2\n99999,3\n", "data.csv")
    assert table.column("zip").values == ["01234", "1234", "99999"]
    np.testing.assert_array_equal(table.numbers("zip"), [1234, 1234, 99999])
    frame = read_texts(columns_by_name(pd.read_csv(io.StringIO("zip\n01234\n1234\n"), dtype=str)))
    assert frame["zip"].values == ["01234", "1234"]


def test_numbers_stored_as_text_in_dask_frames_are_numbers():
    """The decimal mark is decided from all partitions: the second alone could be read as 1.234."""
    x = [f"{number:.1f}".replace(".", ",") for number in np.arange(40) / 8] + ["1.234"] * 40
    frame = pd.DataFrame({"x": x, "zip": ["01234", "99999"] * 40, "y": np.arange(80.0)})
    rows = DaskRows(dd.from_pandas(frame, npartitions=2), target="y")
    ways = [(rows, None), (frame[["x", "zip"]], frame["y"])]
    models = [LowRankLSSVR(basis="linear", random_state=0).fit(*way) for way in ways]
    assert models[0].model_.inputs == models[1].model_.inputs
    assert [type(column).__name__ for column in models[0].model_.inputs.columns] == [
        "NumberColumn",
        "CategoryColumn",
    ]
    assert models[0].model_.inputs.columns[0].fill == np.median(
        [*np.round(np.arange(40) / 8, 1), *[1234] * 40]
    )
    np.testing.assert_array_equal(models[0].predict(rows.X).compute(), models[1].predict(frame[["x", "zip"]]))
    slips = frame.assign(x=[*(f"{number}" for number in range(79)), "oops"])
    with pytest.raises(TableError, match="Column 'x' must hold numbers, as almost all rows do, got 'oops'"):
        LowRankLSSVR().fit(DaskRows(dd.from_pandas(slips, npartitions=2), target="y"))


@pytest.mark.parametrize("way", ["{:.3f}", "{:,.2f}", "${:.2f}"])
@pytest.mark.parametrize("door", ["frame", "array", "list", "dask"])
def test_targets_written_as_text_are_refused_outside_of_files(door, way):
    """A column of a frame decides with the others; a target by itself would be read as a plain float."""
    frame = pd.DataFrame({"x": np.arange(40.0)}).assign(y=[way.format(1000 + n / 7) for n in range(40)])
    doors = {
        "frame": (frame[["x"]], frame["y"]),
        "array": (frame[["x"]].to_numpy(), frame["y"].to_numpy()),
        "list": (frame[["x"]], frame["y"].tolist()),
        "dask": (DaskRows(dd.from_pandas(frame, npartitions=2), target="y"),),
    }
    with pytest.raises(ValueError, match=r"Targets must be numbers, got the text '.*000.*'\. Turn them into"):
        LowRankLSSVR(basis="linear").fit(*doors[door])
