"""Files as the tests of reading look at them: columns as values, numbers or words."""

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from sleek import Files
from sleek.rows.files.chunks import Origin
from sleek.tables.columns import NumberColumn
from sleek.tables.inputs import Inputs
from sleek.tables.reading import as_words
from sleek.tables.values import Columns


class ReadTable:
    """The columns of a file, as `Files` hand them out."""

    def __init__(self, path, **options):
        self.files = Files(path, **options)
        self.names = list(self.files.features)
        self.n_rows = self.files.count()

    @property
    def notes(self):
        return self.files.notes

    def column(self, name, **options):
        files = replace(self.files, columns=[name], **options)
        values = Columns.joined([chunk.X for chunk in files.chunks(None, True)])[name]
        if files.is_text(name) and name in files.word_columns and not options:
            files.check_words(name, len(values.values))
        return values

    def words(self, name):
        return as_words(self.column(name, categories=[name]))

    def numbers(self, name):
        inputs = Inputs((NumberColumn(name, 0.0),))
        rows = self.files.read_by(inputs)
        parts = [chunk.X.settled[0] for chunk in rows.chunks(None, True)]
        return np.concatenate(parts).astype(np.float64)

    def place(self, row):
        return str(Origin(self.files.tables[0], 0, 0, row + 1).place(row))


def read_table(path, **options):
    return ReadTable(path, **options)


def table_of(data, name="data.csv", **options):
    """The table in the bytes of a file."""
    folder = Path(tempfile.mkdtemp())
    (folder / name).write_bytes(data.encode() if isinstance(data, str) else data)
    return ReadTable(folder / name, **options)
