"""A new source of rows, written as somebody outside the package would: a table of a database.

The database hands out columns as they are: text, numbers, with NULL where one is missing. What becomes of
them is learnt as from a data frame, and predictions, notes and refusals are those of a frame.
"""

import re
import sqlite3
import warnings
from contextlib import closing

import numpy as np
import pandas as pd
import pytest

from sleek import LowRankLSSVC, LowRankLSSVR, RawBlock, Rows
from sleek.tables import rules
from sleek.testing import SourceContract

SETTINGS = {"n_units": 4, "basis": "gaussian_rbf", "C": 10.0, "random_state": 0}


class Query(Rows):
    """Columns of a table of an SQLite database: features, a target and perhaps a weight."""

    tabular = True  # chunks are columns by name, of any kind

    def __init__(self, path, table, features, target, weight=None):
        self.path, self.table = path, table
        self.features, self.target, self.weight = tuple(features), target, weight

    @property
    def feature_names(self):
        return self.features

    @property
    def n_features(self):
        return len(self.features)

    def chunks(self, reads, features):
        names = [*self.features] if features else []
        if reads:
            names += [self.target, self.weight or "1"]
        with closing(sqlite3.connect(self.path)) as database:
            cursor = database.execute(f"SELECT {', '.join(names)} FROM {self.table} ORDER BY rowid")
            while rows := cursor.fetchmany(1000):
                columns = list(zip(*rows, strict=True))
                y, s = columns[-2:] if reads else (None, None)
                yield RawBlock(dict(zip(self.features, columns, strict=False)) if features else None, y, s)


def write(path, frame, weight=None):
    """A table of the columns of a frame, the last of which is the target unless it is the weight."""
    with closing(sqlite3.connect(path)) as database:
        frame.to_sql("measured", database, index=False)
    names = [name for name in frame if name != weight]
    return Query(path, "measured", names[:-1], names[-1], weight)


class TestQuery(SourceContract):
    @pytest.fixture(autouse=True)
    def folder(self, tmp_path):
        self.folder, self.made = tmp_path, 0

    def make(self, X, y, sample_weight):
        self.made += 1
        frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])]).assign(y=y)
        if sample_weight is not None:
            frame["w"] = sample_weight
        return write(self.folder / f"{self.made}.db", frame, None if sample_weight is None else "w")


def flats(n, seed=0):
    """Flats: an area with gaps, a town of few levels and a street of many, a day, numbers kept as text."""
    rng = np.random.default_rng(seed)
    area, street = rng.gamma(9, 9, n).round(1), rng.integers(0, 40, n)
    frame = pd.DataFrame({"area": area, "town": rng.choice(["Aarau", "Basel", "Chur"], n)})
    frame["street"] = [f"street {number}" for number in street]
    frame["day"] = (pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n), "D")).strftime(
        "%Y-%m-%d"
    )
    frame["rooms"] = [f"{number:.1f}" for number in rng.integers(2, 11, n) / 2]
    frame["rent"] = 14 * area + 300 * (frame.town == "Basel") + 400 * np.sin(street) + rng.normal(size=n)
    frame.loc[rng.random(n) < 0.1, "area"] = np.nan
    frame.loc[rng.random(n) < 0.1, "town"] = None
    return frame


def outcome(use):
    """What a use says: its result, or its error, and its warnings, but for the words for a row's place."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            found = use()
        except ValueError as error:
            found = re.sub(r" \(counted from 0\)", "", str(error))
    return found, [str(warning.message) for warning in heard]


@pytest.mark.parametrize("few", [True, False], ids=["few rows", "many rows"])
@pytest.mark.parametrize("target", ["rent", "dear"])
def test_columns_of_a_database_are_read_as_those_of_a_frame(tmp_path, monkeypatch, target, few):
    monkeypatch.setattr(rules, "SORTED_ROWS", 20_000 if few else 100)
    frame, new = (
        flats(2500, seed).assign(dear=lambda f: np.where(f.rent > 1300, "yes", "no")) for seed in (0, 1)
    )
    frame, new = (f.drop(columns={"rent", "dear"} - {target}) for f in (frame, new))
    features = list(frame.columns[:-1])
    estimator = LowRankLSSVR if target == "rent" else LowRankLSSVC
    query = write(tmp_path / "a.db", frame)
    one = estimator(**SETTINGS).fit(frame[features], frame[target])
    two = estimator(**SETTINGS).fit(query)
    assert two.model_.inputs == one.model_.inputs
    assert two.column_notes_ == one.column_notes_
    assert {type(column).__name__ for column in one.model_.inputs.columns} >= {
        "NumberColumn",
        "CategoryColumn",
        "LevelColumn",
        "DateColumn",
    }
    np.testing.assert_array_equal(two.unit_weights_, one.unit_weights_)
    new.loc[:4, "town"] = "Genf"
    later = write(tmp_path / "b.db", new)
    (found, said), (expected, told) = (outcome(lambda X=X: one.predict(X)) for X in (later, new[features]))
    np.testing.assert_array_equal(found, expected)
    assert said == told == ["Column 'town': 5 rows hold what the model has never seen, such as 'Genf'."]
    (found, _), (expected, _) = (
        outcome(lambda: two.score(later)),
        outcome(lambda: one.score(new[features], new[target])),
    )
    assert found == pytest.approx(expected, rel=1e-12)


def test_what_cannot_be_read_is_refused_as_in_a_frame(tmp_path):
    frame = flats(1500)
    model = LowRankLSSVR(**SETTINGS).fit(frame.drop(columns="rent"), frame.rent)
    bad = frame.astype({"area": object})
    bad.loc[1203, "area"] = "large"
    query = write(tmp_path / "a.db", bad)
    table = bad.drop(columns="rent")

    def refusals(use):
        return [outcome(lambda X=X: use(X))[0] for X in (query, table)]

    def fit(X):
        return LowRankLSSVR(**SETTINGS).fit(X, None if X is query else bad.rent)

    for found, expected in (refusals(model.predict), refusals(fit)):
        for sentence in (found, expected):
            assert sentence.startswith("Column 'area' must hold")
            assert "'large'" in sentence
    assert "row 1203" in refusals(model.predict)[0]
