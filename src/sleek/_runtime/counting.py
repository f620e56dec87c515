"""Words of messages: counts that agree with their nouns, and names of the user's on one line."""

from __future__ import annotations


def how_many(number: int, noun: str, plural: str | None = None) -> str:
    """A number and a noun that agrees with it.

    >>> how_many(1, "unit"), how_many(2000, "unit"), how_many(2, "category", "categories")
    ('1 unit', '2,000 units', '2 categories')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def are(number: int, one: str = "is", many: str = "are") -> str:
    """The verb that agrees with a number.

    >>> are(1), are(2), are(1, "has", "have")
    ('is', 'are', 'has')
    """
    return one if number == 1 else many


def plain(text: str) -> str:
    """A name or value of the user's on one line: control characters are not let through to a terminal.

    >>> plain("größe"), plain("two\\nlines")
    ('größe', 'two\\\\nlines')
    """
    return text if text.isprintable() else repr(text)[1:-1]
