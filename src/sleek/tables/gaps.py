"""Which words of a text stand for a missing value."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

# What pandas takes for a missing value, and the question mark of the UCI repository.
MISSING_WORDS = frozenset(
    {
        *("", "NA", "N/A", "n/a", "<NA>", "#NA", "#N/A", "#N/A N/A"),
        *("NaN", "nan", "-NaN", "-nan", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
        *("null", "NULL", "?"),
    }
)


@dataclass(frozen=True)
class Gaps:
    """Words that stand for a missing value: in a column of numbers, and in one of text.

    "None" and a dash are no numbers, but may well be the words for something: of 10,000 birds that hit a
    plane 8,939 did damage "None".

    >>> sorted(Gaps.of(["x", "-99"]).numbers), "None" in Gaps().text
    (['', '-99', 'x'], False)
    """

    numbers: frozenset[str] = field(default=MISSING_WORDS | {"None", "-"})
    text: frozenset[str] = field(default=MISSING_WORDS)

    @classmethod
    def of(cls, words: Collection[str] | None) -> Gaps:
        """These words and no others, beside nothing at all; None: the usual ones."""
        return cls() if words is None else cls(frozenset(words) | {""}, frozenset(words) | {""})
