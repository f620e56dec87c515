"""Predictions written to a file while rows are read."""

from __future__ import annotations

import csv
import io
from collections.abc import Generator, Sequence
from contextlib import closing
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sleek._runtime.atomic import appears_when_complete
from sleek.rows.files.files import Files
from sleek.tables.endings import TEXT, WRITTEN, in_words

if TYPE_CHECKING:
    from sleek.rows.files.files import Files

PREDICTION = "prediction"
GROUP_ROWS = 2**17  # written at a time, as a row group of a Parquet file


def write_predictions(
    source: Files,
    pairs: Generator[tuple[Any, Any], None, None],
    path: str | PathLike[str],
    keep: Sequence[str],
) -> int:
    """Write predictions, and the columns `keep`, for all rows to a Parquet or CSV file; return how many.

    The file appears when it is complete, in place of one of the same name; after an error or an interrupt
    there is none. Memory does not grow with the number of rows.

    Parameters
    ----------
    source : Files
    pairs : generator
        Predictions (n,), or (n, k) for several targets, or a dictionary of them, under "", and of further
        columns, under what their names end in; and an Arrow table of the columns `keep`, or None.
    path : str or path
        Ends in .parquet, .pq, .csv, .csv.gz or .tsv.
    keep : list of str
        Columns of the source to copy. Those of a CSV file are copied as text.
    """
    target = Path(path)
    _check_output(source, target, keep)
    n_rows = 0
    with (
        appears_when_complete(target) as unfinished,
        closing(pairs),
        closing(_Writer(unfinished, str(target))) as writer,
    ):
        for values, kept in pairs:
            columns = {} if kept is None else dict(zip(kept.column_names, kept.columns, strict=True))
            writer.append(columns | named_predictions(values, source.targets))
            n_rows += len(values[""] if isinstance(values, dict) else values)
        writer.flush()
    return n_rows


def _check_output(source: Files, target: Path, keep: Sequence[str]) -> None:
    if not target.name.lower().endswith(WRITTEN):
        raise ValueError(f"A file of predictions must end in {in_words(WRITTEN)}, got {target}.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {str(target.parent)!r} to write {target.name!r} to.")
    if target.exists() and any(target.samefile(table.path) for table in source.tables):
        raise ValueError(f"Predictions must go to a new file, but {target} is one of those that are read.")
    taken = [name for name in keep if name.startswith(PREDICTION)]
    if taken:
        raise ValueError(f"A kept column must not be named like the predictions, got {taken[0]!r}.")


def named_predictions(values: Any, targets: Sequence[str]) -> dict[str, Any]:
    """Predictions as columns: one, or one for each of several targets, and more by ends of their names.

    >>> import numpy as np
    >>> list(named_predictions({"": np.zeros((1, 2)), "_low": np.zeros(1)}, ()))
    ['prediction_0', 'prediction_1', 'prediction_low']
    """
    if isinstance(values, dict):
        more = {f"{PREDICTION}{end}": column for end, column in values.items() if end}
        return named_predictions(values[""], targets) | more
    if values.ndim == 1:
        return {PREDICTION: values}
    k = values.shape[1]
    names = targets if len(targets) == k else range(k)
    return {f"{PREDICTION}_{name}": values[:, j] for j, name in enumerate(names)}


class _Writer:
    """Columns into one file, of the kind that its final name says.

    Text is written by Python: a value has quotes only where it needs them, and a float its shortest form.
    """

    def __init__(self, path: Path, name: str) -> None:
        from pyarrow import output_stream

        self.text = name.lower().endswith(TEXT)
        self.delimiter = "\t" if name.lower().endswith(".tsv") else ","
        self.stream = output_stream(path, compression="gzip" if name.lower().endswith(".gz") else None)
        self.waiting: list[Any] = []
        self.writer: Any = None
        self.begun = False

    def append(self, columns: dict[str, Any]) -> None:
        """Add rows; the first ones decide the types."""
        if self.text:
            self._write_text(columns)
            return
        from pyarrow import table

        self.waiting.append(table(columns, schema=self.waiting[0].schema if self.waiting else None))
        if sum(len(part) for part in self.waiting) >= GROUP_ROWS:
            self.flush()

    def _write_text(self, columns: dict[str, Any]) -> None:
        lines = io.StringIO(newline="")
        writer = csv.writer(lines, delimiter=self.delimiter, lineterminator="\n")
        if not self.begun:
            writer.writerow(columns)
            self.begun = True
        values = [c.to_pylist() if hasattr(c, "to_pylist") else c.tolist() for c in columns.values()]
        writer.writerows(zip(*values, strict=True))
        self.stream.write(lines.getvalue().encode("utf-8"))

    def flush(self) -> None:
        """Write what is waiting."""
        if not self.waiting:
            return
        from pyarrow import concat_tables, types
        from pyarrow.parquet import ParquetWriter

        rows = concat_tables(self.waiting)
        if self.writer is None:
            # a dictionary of floats that are all different would only take memory
            repeated = [field.name for field in rows.schema if not types.is_floating(field.type)]
            self.writer = ParquetWriter(self.stream, rows.schema, use_dictionary=repeated)
        self.writer.write_table(rows)
        self.waiting = [rows.slice(0, 0)]  # keeps the types

    def close(self) -> None:
        """Give the file back; it is complete if all was flushed."""
        if self.writer is not None:
            self.writer.close()
        self.stream.close()
