"""What is wrong with a table, in one sentence that names the place."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches


class TableError(ValueError):
    """A table does not hold what is needed; the text says where, and what to do."""


class UselessColumnError(TableError):
    """A column has nothing that a model could learn from: an id, free text, no value at all."""


def suggestion(word: str, known: Sequence[str], alike: float = 0.6) -> str:
    """A question that names the closest known word, or nothing if none is as much alike (1: the same).

    >>> suggestion("Agee", ["age", "colour"]), suggestion("town", ["age", "colour"])
    (" Did you mean 'age'?", '')
    """
    spellings = {name.casefold(): name for name in known}
    near = get_close_matches(word.casefold(), spellings, n=1, cutoff=alike)
    return f" Did you mean {spellings[near[0]]!r}?" if near else ""
