"""Columns as the bytes of a file: CSV, tab separated text or Parquet, by the file's ending."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

PARQUET = (".parquet", ".pq")
TEXT = (".csv", ".csv.gz", ".tsv")
ENDINGS = (*TEXT, *PARQUET)


def is_named_like_a_table(path: PurePath) -> bool:
    """Whether a file's ending is that of a table.

    >>> is_named_like_a_table(PurePath("a.CSV")), is_named_like_a_table(PurePath("model.json"))
    (True, False)
    """
    return path.name.lower().endswith(ENDINGS)


def is_parquet(path: PurePath) -> bool:
    """Whether a file's ending is that of a Parquet file."""
    return path.name.lower().endswith(PARQUET)


def table_bytes(columns: Mapping[str, Sequence[Any]], path: PurePath | None) -> bytes:
    """The content of a file of this name; CSV without one.

    >>> table_bytes({"id": ["a", None], "prediction": [1.5, 2.5]}, PurePath("out.tsv"))
    b'id\\tprediction\\na\\t1.5\\n\\t2.5\\n'
    """
    name = "" if path is None else path.name.lower()
    if name.endswith(PARQUET):
        return _parquet(columns)
    text = _text(columns, "\t" if name.endswith(".tsv") else ",")
    return gzip.compress(text, mtime=0) if name.endswith(".gz") else text


def _text(columns: Mapping[str, Sequence[Any]], delimiter: str) -> bytes:
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return stream.getvalue().encode("utf-8")


def _parquet(columns: Mapping[str, Sequence[Any]]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    stream = io.BytesIO()
    pq.write_table(pa.table({name: pa.array(values) for name, values in columns.items()}), stream)
    return stream.getvalue()
