"""Unseen levels and missing values in rows to predict that training did not have, counted for a warning."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from sleek._runtime.counting import are, how_many

MOST_WORDS = 1000  # that are remembered, of those never seen
SHOWN = 3


@dataclass(frozen=True)
class Unusual:
    """How many values of a column are missing, and how many are words never seen, with the commonest.

    >>> (Unusual(2) + Unusual(unknown=3, words=Counter(pink=3))).notes("colour", None)
    ["column 'colour': 2 missing values are no level that the model knows", "column 'colour': 3 rows hold \
what the model has never seen, such as 'pink'"]
    """

    gaps: int = 0
    unknown: int = 0
    words: Counter[Any] = field(default_factory=Counter)
    zoned: int = 0  # times with a time zone, of which training had none
    unzoned: int = 0  # times without one, where training had them
    filled: int = 0  # missing values that are nothing unusual, and are filled

    def __add__(self, other: Unusual) -> Unusual:
        words = self.words + other.words
        if len(words) > MOST_WORDS:
            words = Counter(dict(words.most_common(MOST_WORDS)))
        zoned, unzoned = self.zoned + other.zoned, self.unzoned + other.unzoned
        gaps, unknown = self.gaps + other.gaps, self.unknown + other.unknown
        return Unusual(gaps, unknown, words, zoned, unzoned, self.filled + other.filled)

    def notes(self, name: str, fill: str | None, everything: bool = False) -> list[str]:
        """Sentences for the column of this name, whose missing values are taken as `fill`; None: a word.

        With `everything`, of gaps that are nothing unusual too.
        """
        said, gaps = [], how_many(self.gaps, "missing value")
        if everything and self.filled and fill is not None:
            filled = how_many(self.filled, "missing value")
            said.append(f"column {name!r}: {filled} {are(self.filled)} taken as {fill}")
        if self.gaps and fill is None:
            said.append(f"column {name!r}: {gaps} {are(self.gaps)} no level that the model knows")
        elif self.gaps:
            said.append(
                f"column {name!r}: {gaps}, of which training had none, {are(self.gaps)} taken as {fill}"
            )
        if self.unknown:
            some = ", ".join(repr(word) for word, _ in self.words.most_common(SHOWN))
            rows = f"{how_many(self.unknown, 'row')} {are(self.unknown, 'holds', 'hold')}"
            said.append(f"column {name!r}: {rows} what the model has never seen, such as {some}")
        for number, what in (
            (self.zoned, "a time zone, of which training had none"),
            (self.unzoned, "no time zone, as those of training had"),
        ):
            if number:
                rows = f"{how_many(number, 'row')} {are(number, 'has', 'have')}"
                said.append(f"column {name!r}: {rows} {what}: taken as UTC")
        return said


NOTHING = Unusual()


def note_strangers(name: str, strangers: Counter[Any]) -> list[str]:
    """A note about values of a target that a model has not learnt from, which are counted, or none.

    >>> note_strangers("colour", Counter(pink=2))
    ["column 'colour': 2 rows hold what the model has never seen, such as 'pink'"]
    """
    return Unusual(unknown=strangers.total(), words=strangers).notes(name, None)
