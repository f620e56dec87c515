"""Numbers as text for people: few digits, signs, per cent."""

from __future__ import annotations


def short(number: float) -> str:
    """Three digits, and no exponent where people do not expect one.

    >>> short(0.0123456), short(-1234.5), short(2.0), short(12345678.0)
    ('0.0123', '-1234', '2', '1.23e+07')
    """
    return f"{number:.0f}" if 1000 <= abs(number) < 1e6 else f"{number:.3g}"


def with_sign(number: float) -> str:
    """As `short`, with a plus.

    >>> with_sign(0.5), with_sign(-1234.5)
    ('+0.5', '-1234')
    """
    return f"{'+' if number >= 0 else ''}{short(number)}"


def rough(number: float) -> str:
    """Two digits, enough for what comes after ±.

    >>> rough(0.0123), rough(123.4)
    ('0.012', '123')
    """
    return f"{number:.0f}" if 100 <= abs(number) < 1e6 else f"{number:.2g}"


def percent(share: float | None) -> str:
    """A share of 1 in per cent; nothing for nothing.

    >>> percent(0.0833), percent(None)
    ('8.3 %', '')
    """
    return "" if share is None else f"{100 * share:.1f} %"
