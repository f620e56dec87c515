"""Finished results, one JSON line each, in a file that outlives an interruption.

A record says what was measured (`key`: a text made of settings, method, place in a table) and on what
(`fingerprint`: a text that changes with the rows, or with the machine where times are measured). What is
asked for with another fingerprint is not there: it is measured again, and the older record stays for
whoever asks with the older rows. A line that was cut off by an interruption is as if it had never been
written.

>>> from tempfile import TemporaryDirectory
>>> with TemporaryDirectory() as folder:
...     Store(Path(folder) / "records.jsonl").add([{"key": "svm", "fingerprint": "a1", "error": 2.5}])
...     store = Store(Path(folder) / "records.jsonl")
>>> store.get("svm", "a1")["error"], store.get("svm", "b2")
(2.5, None)
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, Any

Record = dict[str, Any]


class Store:
    """The records of a file, and a place for further ones.

    Parameters
    ----------
    path : Path
        The file; it need not exist yet, its folder must.

    Attributes
    ----------
    records : dict of (key, fingerprint) to record
        A later line replaces an earlier one of the same key and fingerprint.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.records: dict[tuple[str, str], Record] = {}
        if path.is_file():
            for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
                record = _parsed(line)
                if record is not None:
                    self.records[record["key"], record["fingerprint"]] = record

    def get(self, key: str, fingerprint: str) -> Record | None:
        """The record of this key and these rows, or None."""
        return self.records.get((key, fingerprint))

    def add(self, records: Iterable[Record]) -> None:
        """Keep records, each with a `key` and a `fingerprint`, in memory and in the file."""
        text = ""
        for record in records:
            self.records[record["key"], record["fingerprint"]] = record
            text += json.dumps(record) + "\n"
        with self.path.open("a+b") as file:
            file.write(_after_a_cut_line(file) + text.encode())

    def forget(self, unwanted: Callable[[Record], bool]) -> None:
        """Drop the records for which `unwanted` is true, from memory and from the file."""
        kept = {identity: record for identity, record in self.records.items() if not unwanted(record)}
        if len(kept) < len(self.records):
            beside = self.path.with_name(self.path.name + ".new")
            beside.write_text("".join(json.dumps(r) + "\n" for r in kept.values()), encoding="utf-8")
            os.replace(beside, self.path)
            self.records = kept


def digest(content: Any) -> str:
    """A short checksum of anything that JSON can hold."""
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:20]


def _parsed(line: str) -> Record | None:
    """The record of a line, or None if the line is not a whole one."""
    try:
        record = json.loads(line)
    except json.JSONDecodeError:
        return None
    whole = isinstance(record, dict) and {"key", "fingerprint"} <= record.keys()
    return record if whole else None


def _after_a_cut_line(file: IO[bytes]) -> bytes:
    """What has to stand before new lines: a newline, if the file's last line was cut off."""
    if not file.seek(0, os.SEEK_END):
        return b""
    file.seek(-1, os.SEEK_END)
    return b"" if file.read(1) == b"\n" else b"\n"
