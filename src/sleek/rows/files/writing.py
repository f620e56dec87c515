"""Predictions written to a file while rows are read."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from os import PathLike
from pathlib import Path
from typing import Any

from sleek._runtime.atomic import appears_when_complete
from sleek._runtime.types import AnyArray
from sleek.rows.files.files import Files
from sleek.rows.files.layout import suffixes
from sleek.rows.files.passes import predictions
from sleek.rows.rows import Run

PREDICTION = "prediction"
PARQUET, TEXT = (".parquet", ".pq"), (".csv", ".csv.gz", ".tsv")
GROUP_ROWS = 2**17  # written at a time, as a row group of a Parquet file


def write_predictions(
    source: Files,
    predict: Callable[..., AnyArray],
    path: str | PathLike[str],
    *,
    keep: Sequence[str] = (),
    run: Run,
) -> int:
    """Write the columns `keep` and ``predict(X)`` for all rows to a Parquet or CSV file; return how many.

    The file appears when it is complete, in place of one of the same name; after an error or an interrupt
    there is none. Memory does not grow with the number of rows.

    Parameters
    ----------
    source : Files
    predict : callable
        Features (n, d) to predictions (n,), or (n, k) for several targets; or to a dictionary of them, under
        "", and of further columns, under what their names end in.
    path : str or path
        Ends in .parquet, .pq, .csv, .csv.gz or .tsv.
    keep : list of str
        Columns of the source to copy. Those of a CSV file are copied as text.
    run : Run
        Threads and progress.

    Returns
    -------
    int

    Examples
    --------
    >>> import pyarrow as pa, pyarrow.parquet as pq, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pq.write_table(pa.table({"id": [7, 8], "a": [1.0, 2.0]}), f"{folder}/rows.parquet")
    ...     rows = Files(f"{folder}/rows.parquet", columns=["a"])
    ...     out = f"{folder}/out.parquet"
    ...     n = write_predictions(rows, lambda X: 10 * X[:, 0], out, keep=["id"], run=Run())
    ...     pq.read_table(out).to_pylist()
    [{'id': 7, 'prediction': 10.0}, {'id': 8, 'prediction': 20.0}]
    """
    return write_pairs(source, predictions(source, predict, keep, run), path, keep)


def write_pairs(
    source: Files,
    pairs: Generator[tuple[AnyArray, Any], None, None],
    path: str | PathLike[str],
    keep: Sequence[str],
) -> int:
    """Write pairs of predictions and an Arrow table of the columns `keep`; return how many rows."""
    target = Path(path)
    _check_output(source, target, keep)
    n_rows = 0
    with (
        appears_when_complete(target) as unfinished,
        closing(pairs),
        closing(_Writer(unfinished, str(target))) as writer,
    ):
        for values, kept in pairs:
            columns = dict(zip(kept.column_names, kept.columns, strict=True))
            writer.append(columns | _named(values, source))
            n_rows += len(values[""] if isinstance(values, dict) else values)
        writer.flush()
    return n_rows


def _check_output(source: Files, target: Path, keep: Sequence[str]) -> None:
    if not target.name.lower().endswith(PARQUET + TEXT):
        raise ValueError(f"A file of predictions must end in {suffixes(PARQUET + TEXT)}, got {target}.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {str(target.parent)!r} to write {target.name!r} to.")
    if target.exists() and any(target.samefile(table.path) for table in source.tables):
        raise ValueError(f"Predictions must go to a new file, but {target} is one of those that are read.")
    taken = [name for name in keep if name.startswith(PREDICTION)]
    if taken:
        raise ValueError(f"A kept column must not be named like the predictions, got {taken[0]!r}.")


def _named(values: Any, source: Files) -> dict[str, AnyArray]:
    """Predictions as columns: one, or one for each of several targets, and more by ends of their names."""
    if isinstance(values, dict):
        more = {f"{PREDICTION}{end}": column for end, column in values.items() if end}
        return _named(values[""], source) | more
    if values.ndim == 1:
        return {PREDICTION: values}
    k = values.shape[1]
    names = source.targets if len(source.targets) == k else range(k)
    return {f"{PREDICTION}_{name}": values[:, j] for j, name in enumerate(names)}


class _Writer:
    """Tables of the same columns into one file, of the kind that its final name says."""

    def __init__(self, path: Path, name: str) -> None:
        from pyarrow import output_stream

        self.text = name.lower().endswith(TEXT)
        self.delimiter = "\t" if name.lower().endswith(".tsv") else ","
        self.stream = output_stream(path, compression="gzip" if name.lower().endswith(".gz") else None)
        self.waiting: list[Any] = []
        self.writer: Any = None

    def append(self, columns: dict[str, Any]) -> None:
        """Add rows; the first ones settle the types."""
        from pyarrow import table

        self.waiting.append(table(columns, schema=self.waiting[0].schema if self.waiting else None))
        if sum(len(part) for part in self.waiting) >= GROUP_ROWS:
            self.flush()

    def flush(self) -> None:
        """Write what is waiting."""
        from pyarrow import concat_tables

        rows = concat_tables(self.waiting)
        if self.writer is None:
            self.writer = self._opened(rows.schema)
        self.writer.write_table(rows)
        self.waiting = [rows.slice(0, 0)]  # keeps the types

    def _opened(self, schema: Any) -> Any:
        from pyarrow import types
        from pyarrow.csv import CSVWriter, WriteOptions
        from pyarrow.parquet import ParquetWriter

        if self.text:
            return CSVWriter(self.stream, schema, write_options=WriteOptions(delimiter=self.delimiter))
        # a dictionary of floats that are all different would only take memory
        repeated = [field.name for field in schema if not types.is_floating(field.type)]
        return ParquetWriter(self.stream, schema, use_dictionary=repeated)

    def close(self) -> None:
        """Give the file back; it is complete if all was flushed."""
        if self.writer is not None:
            self.writer.close()
        self.stream.close()
