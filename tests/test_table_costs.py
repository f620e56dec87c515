"""Twice as many columns, levels or different values take at most about twice the time."""

from time import process_time

import numpy as np
import pyarrow as pa
import pytest
from read_files import table_of

from sleek.rows.opening import category_names
from sleek.tables.dates import date_order
from sleek.tables.dialect import Dialect
from sleek.tables.errors import TableError
from sleek.tables.frames import columns_by_name
from sleek.tables.gaps import Gaps
from sleek.tables.inputs import Inputs
from sleek.tables.notation import Written


def cost(function, *arguments):
    """The least time of several calls."""
    times = []
    for _ in range(4):
        begin = process_time()
        function(*arguments)
        times.append(process_time() - begin)
    return min(times)


def names(count):
    return [f"column {place}" for place in range(count)]


def many_columns(count):
    header = ",".join(names(count)).encode()
    Dialect.of(header + b"\n" + b",".join([b"1"] * count), "data.csv").places(names(count))


def many_names(count):
    category_names(names(count), names(count))


def many_inputs(count):
    table = {name: np.zeros(1) for name in names(count)}
    columns_by_name(table)
    Inputs.learn(table).find(table)


def many_dates(count):
    seconds = np.datetime64("2020-01-01T00:00:00") + np.arange(count)
    assert date_order(seconds.astype(str).tolist()) == "ymd"


def many_words(count):
    Written.of(pa.array([f"w{word}" for word in range(count)]), Gaps())


def a_slip_among_many(count):
    data = "x,y\n" + "\n".join(f"{word}.5,1" for word in range(count)) + "\noops,1\n"
    with pytest.raises(TableError, match=f"as almost all rows do, got 'oops' in line {count + 2} of"):
        table_of(data).column("x")


@pytest.mark.parametrize(
    ("function", "count"),
    [
        (many_columns, 4000),
        (many_names, 5000),
        (many_inputs, 500),
        (many_dates, 10_000),
        (many_words, 20_000),
        (a_slip_among_many, 20_000),
    ],
)
def test_cost_grows_with_what_there_is(function, count):
    function(100)  # what is imported and compiled once
    assert cost(function, 4 * count) < 4 * 2.5 * cost(function, count) + 0.01
