"""Values to predict of which training had none: counted, however many rows there are."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

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
    words: Counter[str] = field(default_factory=Counter)

    def __add__(self, other: Unusual) -> Unusual:
        words = self.words + other.words
        if len(words) > MOST_WORDS:
            words = Counter(dict(words.most_common(MOST_WORDS)))
        return Unusual(self.gaps + other.gaps, self.unknown + other.unknown, words)

    def notes(self, name: str, fill: str | None) -> list[str]:
        """Sentences for the column of this name, whose missing values are taken as `fill`; None: a word."""
        said = []
        if self.gaps and fill is None:
            said.append(f"column {name!r}: {self.gaps:,} missing values are no level that the model knows")
        elif self.gaps:
            said.append(
                f"column {name!r}: {self.gaps:,} missing values, of which training had none, are taken as "
                f"{fill}"
            )
        if self.unknown:
            some = ", ".join(repr(word) for word, _ in self.words.most_common(SHOWN))
            said.append(
                f"column {name!r}: {self.unknown:,} rows hold what the model has never seen, such as {some}"
            )
        return said
