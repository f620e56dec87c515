"""Endings of file names, by the kind of file."""

from __future__ import annotations

from pathlib import PurePath

PARQUET = (".parquet", ".pq")
ARROW = (".arrow", ".feather")
JSON_LINES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
TEXT = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
WRITTEN = (".csv", ".csv.gz", ".tsv", *PARQUET)  # of tables that are written


def is_named_like_a_table(path: PurePath) -> bool:
    """Whether a file's ending is that of a table that can be written.

    >>> is_named_like_a_table(PurePath("a.CSV")), is_named_like_a_table(PurePath("model.json"))
    (True, False)
    """
    return path.name.lower().endswith(WRITTEN)


def in_words(endings: tuple[str, ...]) -> str:
    """Endings of names in words.

    >>> in_words((".a", ".b", ".c"))
    '.a, .b or .c'
    """
    return ", ".join(endings[:-1]) + " or " + endings[-1]
