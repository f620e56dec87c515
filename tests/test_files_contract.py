"""Files keep every promise that a source of rows makes."""

from typing import ClassVar

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from sleek import Files
from sleek.testing import SourceContract


class FilesContract(SourceContract):
    """Rows of a folder of files."""

    suffix: ClassVar[str]

    @pytest.fixture(autouse=True)
    def folder(self, tmp_path):
        self.folder, self.made = tmp_path, 0

    def make(self, X, y, sample_weight):
        columns = {f"x{i}": X[:, i] for i in range(X.shape[1])} | {"y": y}
        if sample_weight is not None:
            columns["w"] = sample_weight
        self.made += 1
        folder = self.folder / str(self.made)
        folder.mkdir()
        table = pa.table(columns)
        for name, part in (("a", table.slice(0, 700)), ("b", table.slice(700))):
            self.write(part, folder / f"{name}{self.suffix}")
        return Files(folder, target="y", weight=None if sample_weight is None else "w")


class TestParquet(FilesContract):
    suffix = ".parquet"

    def write(self, table, path):
        pq.write_table(table, path, row_group_size=1500)


class TestCSV(FilesContract):
    suffix = ".csv"

    def write(self, table, path):
        pa.csv.write_csv(table, path)
