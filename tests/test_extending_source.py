"""A new source of rows, written as somebody outside the package would: a table of a database."""

import sqlite3
from contextlib import closing

import numpy as np
import pytest

from sleek import RawBlock, Rows
from sleek.testing import SourceContract


class TableRows(Rows):
    """Rows of a table of an SQLite database: features, a target and perhaps a weight."""

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
        columns = [*self.features] if features else []
        if reads:
            columns += [self.target, self.weight or "1"]
        with closing(sqlite3.connect(self.path)) as database:
            found = database.execute(f"SELECT {', '.join(columns)} FROM {self.table} ORDER BY rowid")
            while rows := found.fetchmany(1000):
                *X, y, s = [*zip(*rows, strict=True), *([] if reads else (None, None))]
                yield RawBlock(np.column_stack(X) if features else None, y, s)


def write(path, X, y, s):
    names = [f"x{i}" for i in range(X.shape[1])]
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"CREATE TABLE measured ({', '.join(names)}, y, w)")
        lines = zip(*X.T.tolist(), y.tolist(), [1.0] * len(X) if s is None else s.tolist(), strict=True)
        database.executemany(f"INSERT INTO measured VALUES ({', '.join('?' * (len(names) + 2))})", lines)
        database.commit()
    return TableRows(path, "measured", names, "y", None if s is None else "w")


class TestTableRows(SourceContract):
    @pytest.fixture(autouse=True)
    def folder(self, tmp_path):
        self.folder, self.made = tmp_path, 0

    def make(self, X, y, sample_weight):
        self.made += 1
        return write(self.folder / f"{self.made}.db", X, y, sample_weight)
