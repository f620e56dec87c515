"""Columns of a table as features: equal to scikit-learn's encoders, and clear about what cannot be used."""

from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder

from sleek.tables.columns import PARTS, CategoryColumn, DateColumn, NumberColumn
from sleek.tables.inputs import Inputs
from sleek.tables.reading import texts

WORDS = ["red", "green", "blue", "Blue", "", "a=b", "größe"]


def random_table(seed, rows, gaps):
    rng = np.random.default_rng(seed)
    table = {}
    for number in range(rng.integers(1, 4)):
        values = rng.normal(size=rows) * 10.0 ** rng.integers(-3, 4)
        values[rng.random(rows) < gaps] = np.nan
        table[f"number {number}"] = values
    for category in range(rng.integers(1, 4)):
        values = np.array(WORDS, dtype=object)[rng.integers(0, rng.integers(1, len(WORDS) + 1), size=rows)]
        values[rng.random(rows) < gaps] = None
        table[f"category {category}"] = values
    return table


@pytest.mark.filterwarnings("ignore:Found unknown categories")
@pytest.mark.parametrize("gaps", [0.0, 0.2])
@pytest.mark.parametrize("seed", range(5))
def test_it_does_what_scikit_learns_encoders_do(seed, gaps):
    table = random_table(seed, 260, gaps)
    numbers = [name for name in table if name.startswith("number")]
    words = [name for name in table if name.startswith("category")]
    for name in words:
        table[name][100::7] = "never seen"
    train = {name: values[:60] for name, values in table.items()}
    levels = [sorted({value for value in train[name] if value is not None}) for name in words]
    encoder = ColumnTransformer(
        [
            ("numbers", SimpleImputer(strategy="median"), numbers),
            ("words", OneHotEncoder(categories=levels, handle_unknown="ignore", sparse_output=False), words),
        ]
    )
    frame = pd.DataFrame(table)
    frame[words] = frame[words].fillna("(missing)")
    for name, known in zip(words, levels, strict=True):
        if any(value is None for value in train[name]):
            known.append("(missing)")  # a level of its own
    encoder.fit(frame[:60])
    inputs = Inputs.learn(train)
    np.testing.assert_array_equal(inputs.transform(table), encoder.transform(frame))
    one_hot = [
        f"{name} is missing" if level == "(missing)" else f"{name}={level}"
        for name, known in zip(words, levels, strict=True)
        for level in known
    ]
    assert inputs.feature_names == (*numbers, *one_hot)


def test_lists_arrays_and_data_frames_are_the_same():
    table = {
        "a": [1, None, 3],
        "b": ["x", None, "y"],
        "c": [True, False, True],
        "d": [Decimal("0.5"), 1, 2.5],
    }
    frame = pd.DataFrame(table)
    frame["a"] = frame["a"].astype("Int64")  # with pandas.NA
    frame["b"] = frame["b"].astype("category")
    inputs = Inputs.learn(table)
    assert inputs.columns == (
        NumberColumn("a", 2.0),
        CategoryColumn("b", ("x", "y"), gap=True),
        CategoryColumn("c", ("false", "true")),
        NumberColumn("d", 1.0, gaps=False),
    )
    assert Inputs.learn(frame) == inputs
    np.testing.assert_array_equal(inputs.transform(frame), inputs.transform(table))
    arrays = {name: np.array(values, dtype=object) for name, values in table.items()} | {
        "c": np.array(table["c"]),
        "d": np.array([0.5, 1, 2.5], dtype=np.float32),
    }
    np.testing.assert_array_equal(inputs.transform(arrays), inputs.transform(table))


def test_codes_can_be_categories():
    inputs = Inputs.learn(
        {"zip": [10115, 80331, 10115], "month": [1.0, np.nan, 12.0]}, categories=["zip", "month"]
    )
    assert inputs.feature_names == ("zip=10115", "zip=80331", "month=1", "month=12", "month is missing")
    np.testing.assert_array_equal(inputs.transform({"zip": ["80331"], "month": [12]}), [[0, 1, 0, 1, 0]])


def test_texts_of_values():
    values = [None, np.nan, pd.NA, "x", np.bool_(True), 3, 3.0, np.float32(2.5)]
    assert texts(values) == [None, None, None, "x", "true", "3", "3", "2.5"]


def test_other_columns_and_a_constant_are_fine():
    inputs = Inputs.learn({"a": [1.0, 1.0]})
    np.testing.assert_array_equal(inputs.transform({"z": ["?"], "a": [5]}), [[5.0]])


def test_no_rows_and_no_columns():
    inputs = Inputs.learn({"a": [1.0], "b": ["x"]})
    assert inputs.transform({"a": [], "b": []}).shape == (0, 2)
    assert Inputs(()).transform({"a": [1.0]}).shape == (0, 0)


NAMES = [f"name {number}" for number in range(60)]


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([None, np.nan], "'x' has no value in any row"),
        (np.array([np.nan, np.nan]), "'x' has no value in any row"),
        (NAMES, r"'x' has 60 different texts in 60 rows \('name 0', 'name 1', …\), too many"),
        ([*NAMES, *NAMES[:50]], "'x' has 60 different texts in 110 rows"),
        ([1.0, "red", 2], r"'x' must hold either numbers or text, got 'red' and 1\.0"),
        ([1.0, True], r"'x' must hold either numbers or text, got True and 1\.0"),
        ([b"raw"], "'x' must hold either numbers or text, got b'raw'"),
        ([1j], "'x' must hold either numbers or text, got 1j"),
        ([1.0, np.inf], r"'x' must hold finite numbers, got inf in row 1"),
        (np.zeros((2, 2)), "'x' must be one value per row, got 2 dimensions"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_columns_that_cannot_be_used(values, reason):
    with pytest.raises(ValueError, match=reason):
        Inputs.learn({"good": np.arange(float(len(values))), "x": values})


def test_many_levels_are_fine_if_they_repeat():
    assert len(Inputs.learn({"x": NAMES * 10}).feature_names) == 60
    assert len(Inputs.learn({"x": NAMES[:9]}).feature_names) == 9


def test_all_refusals_are_told_at_once():
    with pytest.raises(ValueError, match=r"'b' must hold(.|\n)*'a' has no value"):
        Inputs.learn({"a": [None, None], "b": [1, "red"]})


@pytest.mark.parametrize(
    "values",
    [
        [date(2024, 1, 31), None, date(2024, 2, 3)],
        [datetime(2024, 1, 31), None, datetime(2024, 2, 3)],
        np.array(["2024-01-31", "NaT", "2024-02-03"], dtype="datetime64[D]"),
        ["2024-01-31", None, "2024-02-03 00:00"],
        ["31.1.2024", None, "3.2.2024"],
        ["1/31/2024", None, "2/3/2024"],
    ],
    ids=str,
)
def test_dates_are_days(values):
    inputs = Inputs.learn({"x": values})
    assert inputs.feature_names == ("x: days since 1970",)
    days = [(date(2024, 1, 31) - date(1970, 1, 1)).days, (date(2024, 2, 3) - date(1970, 1, 1)).days]
    np.testing.assert_array_equal(inputs.transform({"x": values})[:, 0], [days[0], sum(days) / 2, days[1]])


def test_parts_of_the_calendar_are_those_of_datetime():
    rng = np.random.default_rng(0)
    instants = np.datetime64("1890-01-01T00:00:00") + rng.integers(0, 2**32, 500).astype("timedelta64[s]")
    X = DateColumn("x", PARTS, 0.0).encode(instants)
    for (days, season, weekday, hour), instant in zip(X, instants.tolist(), strict=True):
        assert weekday == instant.weekday()
        assert hour == pytest.approx(instant.hour + instant.minute / 60 + instant.second / 3600, abs=1e-6)
        away = abs(season - (instant.timetuple().tm_yday - 1 + hour / 24))
        assert min(away, 365.25 - away) < 1.5  # leap years shift it by a day
        assert days == pytest.approx((instant - datetime(1970, 1, 1)).total_seconds() / 86_400)


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ({"ages": [1], "word": ["x"]}, "The table has no column 'age'. Did you mean 'ages'?"),
        ({"other": [1]}, "The table has no column 'age', 'word'.$"),
        ({"age": [1, "old"], "word": ["x", "x"]}, "'age' must hold numbers, got 'old' in row 1"),
        ({"age": [1, True], "word": ["x", "x"]}, "'age' must hold numbers, got True in row 1"),
        ({"age": [1, -np.inf], "word": ["x", "x"]}, "'age' must hold finite numbers, got -inf in row 1"),
        ({"age": [1, 2], "word": ["x"]}, "All columns must be of one length, got {'age': 2, 'word': 1}"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_tables_that_do_not_fit(table, reason):
    with pytest.raises(ValueError, match=reason):
        Inputs((NumberColumn("age", 40.0), CategoryColumn("word", ("x",)))).transform(table)


def test_without_a_fill_missing_numbers_are_refused():
    with pytest.raises(ValueError, match="'age' must hold finite numbers, got nothing in row 1"):
        Inputs((NumberColumn("age"),)).transform({"age": [1.0, None, np.nan]})
