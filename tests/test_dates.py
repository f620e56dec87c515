"""Dates and times as text: orders, zones, times of day."""

import warnings
from datetime import date

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from read_files import table_of

from sleek import DaskRows, Files, LowRankLSSVR
from sleek.tables.columns import DateColumn, NumberColumn
from sleek.tables.dates import date_order, days_of_texts, note_dates
from sleek.tables.frames import columns_by_name, values_of
from sleek.tables.inputs import Inputs
from sleek.tables.learning import learn_columns

MOMENTS = st.datetimes(min_value=pd.Timestamp("1700-01-01"), max_value=pd.Timestamp("2200-01-01"))
FORMS = {"ymd": "%Y-%m-%d", "dmy": "%d/%m/%Y", "mdy": "%m/%d/%Y"}


@settings(max_examples=100, deadline=None)
@given(st.lists(MOMENTS, min_size=1, max_size=5), st.sampled_from(sorted(FORMS)), st.booleans())
def test_days_are_those_of_the_calendar(moments, order, timed):
    texts = [f"{moment:{FORMS[order]}}" + (f" {moment:%H:%M:%S}" if timed else "") for moment in moments]
    whole = [pd.Timestamp(moment).floor("s" if timed else "D") for moment in moments]
    expected = [(moment - pd.Timestamp(0)) / pd.Timedelta(days=1) for moment in whole]
    np.testing.assert_allclose(days_of_texts(texts, order), expected, rtol=0, atol=1e-9)
    found = date_order(texts)
    assert found == order or (found != "ymd" and not np.isnan(days_of_texts(texts, found)).any())


def test_days_that_the_calendar_does_not_have():
    texts = ["2023-02-29", "2024-13-01", "2024-01/02", "2024-01-01 25:00", "2024-01-01 10:61", "x", "", None]
    assert np.isnan(days_of_texts(texts)).all()


def test_day_and_month_in_doubt_are_noted_with_both_readings(tmp_path):
    words = ["3/4/2024", "5/6/2024", "12/12/2024"] * 4
    (note,) = note_dates("sold", words, "mdy")
    assert note.startswith(
        "column 'sold': '3/4/2024' is taken as 2024-03-04 (month, day, year), but could be 2024-04-03"
    )
    columns = columns_by_name({"sold": words})
    learnt = learn_columns(columns, (), np.arange(12.0)[:, None])
    assert learnt.doubts == [note]
    assert learnt.inputs.columns[0].order == "mdy"
    assert learn_columns(columns, (), np.arange(12.0)[:, None], dates="dmy").inputs.columns[0].order == "dmy"
    assert note_dates("sold", ["3/14/2024"], "mdy") == note_dates("sold", ["3.4.2024"], "dmy") == []
    frame = pd.DataFrame({"sold": words, "x": np.arange(12.0) % 5, "y": np.arange(12.0) ** 2})
    frame.to_csv(tmp_path / "sold.csv", index=False)
    model = LowRankLSSVR(2, random_state=0, max_units=2, basis="gaussian_rbf", C=1.0)
    model.fit(Files(tmp_path, target="y", dates="dmy"))
    assert model.model_.inputs.columns[0].order == "dmy"
    with pytest.raises(ValueError, match=r"`dates` must be 'dmy', 'mdy' or None, got 'ymd'"):
        Files(tmp_path, dates="ymd")


@pytest.mark.parametrize("text", [True, False])
def test_time_zones_of_which_training_had_none_are_noted(text):
    moments = pd.date_range("2024-01-01", periods=12, freq="7h")
    bare, zoned = pd.Series(moments), pd.Series(moments.tz_localize("Europe/Berlin"))
    if text:
        bare, zoned = bare.astype(str), zoned.map(lambda moment: moment.isoformat())
    for trained, asked, words in ((bare, zoned, "have a time zone"), (zoned, bare, "have no time zone")):
        (column,) = Inputs.learn({"when": trained}).columns
        assert isinstance(column, DateColumn)
        assert column.zoned is (trained is zoned)
        values = columns_by_name({"when": asked})["when"]
        (note,) = column.unusual(column.settle(values), values).notes("when", None)
        assert f"12 rows {words}" in note
        own = columns_by_name({"when": trained})["when"]
        assert column.unusual(column.settle(own), own).notes("when", None) == []
    utc = Inputs.learn({"when": zoned}).transform({"when": zoned})
    np.testing.assert_allclose(
        utc[:, 0], Inputs.learn({"when": bare}).transform({"when": bare})[:, 0] - 1 / 24
    )


def test_times_of_day_are_seconds():
    table = table_of(b"at,y\n13:45,a\n0:00:30,b\n,c\n", "data.csv")
    np.testing.assert_array_equal(table.numbers("at"), [13.75 * 3600, 30, np.nan])
    texts = ["13:45", "00:00:30", "09:00"]
    inputs = Inputs.learn({"at": texts})
    assert inputs.columns == (NumberColumn("at", 9 * 3600.0, gaps=False),)
    for column in (texts, pd.to_datetime(texts, format="mixed").time.tolist()):
        np.testing.assert_array_equal(inputs.transform({"at": column})[:, 0], [13.75 * 3600, 30, 9 * 3600])
    assert table_of(b"at,y\n13:45,a\n25:00,b\n", "data.csv").column("at").values == ["13:45", "25:00"]


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    days=st.lists(st.dates(date(2000, 1, 1), date(2040, 12, 31)), min_size=12, max_size=20, unique=True),
    form=st.sampled_from(["%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%d.%m.%Y", "%Y-%m-%d"]),
    dates=st.sampled_from([None, "dmy", "mdy"]),
    early=st.booleans(),
)
def test_dates_are_read_as_they_were_written_or_the_doubt_is_said(tmp_path, days, form, dates, early):
    """By frames, files and Dask alike; what `dates` has decided is no doubt."""
    days = [day.replace(day=1 + day.day % 12) if early else day for day in days]
    frame = pd.DataFrame({"day": [day.strftime(form) for day in days], "y": np.arange(len(days)) * 1.0})
    frame.to_csv(tmp_path / "d.csv", index=False)
    doors = [(Files(tmp_path / "d.csv", target="y", dates=dates),)]
    if dates is None:
        doors += [(frame[["day"]], frame["y"]), (DaskRows(dd.from_pandas(frame, npartitions=2), target="y"),)]
    true = np.array([(day - date(1970, 1, 1)).days for day in days], dtype=float)
    for door in doors:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            (column,) = LowRankLSSVR(basis="linear").fit(*door).model_.inputs.columns
        assert isinstance(column, DateColumn)
        read = column.settle(values_of("day", frame["day"]))
        doubted = any("but could be" in str(warning.message) for warning in caught)
        assert doubted or dates is not None or (read == true).all()
        assert not (doubted and dates is not None)
