"""How numbers are written in text: the decimal mark, groups of thousands, signs of currency and percent.

Texts of every column are surveyed once (`Written`, which adds up over pieces of a file), and then the decimal
mark is decided once for the whole table (`Notation`), so that the answer does not depend on how a file is cut
into pieces, nor on whether it is a file or a frame:

- a column of plain floats (1.234, 5e-3) is read as such, unless other columns have decimal commas;
- a value that can be read in one way only (0,5 or 1.234,5; 0.5 or 1,234.5) decides for all columns;
- a group of thousands never begins with 0, and is believed only where the mark cannot be the decimal mark;
- a sign of currency or percent is part of the number only if every value of the column has it;
- anything that could be two numbers is refused with a sentence; `decimal` decides it. Where columns
  contradict each other, 0.5 in one and 0,5 in another, that is every value such as 1,234.

Whole numbers of which some begin with 0, such as 01234, are codes, which are text.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sleek._runtime.types import FloatArray
from sleek.tables import rules
from sleek.tables.dates import TIME
from sleek.tables.errors import TableError
from sleek.tables.gaps import Gaps
from sleek.tables.values import TRUTHS

REMEDY = "Name the decimal mark (`decimal`), or take the column for text (`categories`)."
SIGNS = "Write them alike: no decimal mark decides what a value without the sign means."
HEAD = 1000  # values that are looked at before all of them are
OTHER = {".": ",", ",": "."}
SIGN = "$€£¥%"
BEFORE, AFTER = r"^([+-]?)\s*[$€£¥]?\s*([+-]?)", r"\s*[$€£¥%]?$"
SPACES = ("'", "’", " ", "\u00a0", "\u202f")  # that group digits, besides the mark that is not the decimal


def _plain(mark: str) -> str:
    return rf"(\d+[{mark}]?\d*|[{mark}]\d+)([eE][+-]?\d+)?"


def _groups(mark: str) -> str:
    grouped = "|".join(rf"({separator}\d{{3}})+" for separator in (rf"[{OTHER[mark]}]", *SPACES))
    return rf"[1-9]\d{{0,2}}({grouped})([{mark}]\d*)?"


NO_DIGITS = r"^[+-]?(?i:inf|infinity|nan)$"  # floats all the same
HALF = r"(?:\s?(?P<half>[AaPp])\.?[Mm]\.?)?"  # of the day: AM or PM
CLOCK = rf"^([01]?\d|2[0-4]):[0-5]\d(:[0-5]\d(\.\d+)?)?{HALF}$"  # a time of day
FLOAT = rf"^-?{_plain('.')}$|{NO_DIGITS}"  # as programs write it
NUMBER = {mark: rf"^[+-]?({_plain(mark)}|{_groups(mark)})$" for mark in OTHER}
GROUPED_BY_POINT = r"^[+-]?[1-9]\d{0,2}([.]\d{3})+$"


@dataclass(frozen=True)
class Written:
    """How the values of a column of text are written; `+` adds those of the rows that follow.

    Attributes
    ----------
    n_rows, n_values, n_numbers : int
        Rows, those with a value, and those whose value is a number with one decimal mark or the other.
    point, comma : bool
        Whether every value is a number with a decimal point, or with a decimal comma.
    plain : bool
        Whether every value is a float as programs write it.
    marked : bool
        Whether some value has a mark, so that the two readings differ.
    truths, times : bool
        Whether all values are true or false, or times of day such as 13:45, which are seconds.
    whole, padded : bool
        Whether all values are digits only, and whether one of them begins with a 0 that it does not need.
    signs : mapping from a sign ("" for none) to the first value that has it
    only_point, only_comma, either : str or None
        The first value that is a number with a decimal point only, with a decimal comma only, or that is
        two different numbers.
    strange : tuple of a row and its value, or None
        The first value that is no number.
    """

    n_rows: int = 0
    n_values: int = 0
    n_numbers: int = 0
    point: bool = True
    comma: bool = True
    plain: bool = True
    truths: bool = True
    times: bool = True
    whole: bool = True
    padded: bool = False
    signs: tuple[tuple[str, str], ...] = ()
    only_point: str | None = None
    only_comma: str | None = None
    either: str | None = None
    strange: tuple[int, str] | None = None

    @classmethod
    def of(cls, trimmed: Any, gaps: Gaps) -> Written:
        """The values of an Arrow array of strings without spaces around them."""
        n_rows, there = len(trimmed), without_gaps(trimmed, gaps.numbers).drop_null()
        if len(there) == 0:
            return cls(n_rows)
        floats = _floats(there)
        if floats is not None:
            return cls._of_floats(n_rows, there)
        return cls._of_words(n_rows, trimmed, gaps)

    @classmethod
    def _of_floats(cls, n_rows: int, there: Any) -> Written:
        """Values that are floats as they are: the only question is what their points mean."""
        found = cls(
            n_rows, len(there), len(there), truths=False, times=False, signs=(("", there[0].as_py()),)
        )
        pointed = pc.match_substring(there, ".")
        if pc.any(pointed).as_py():
            grouped = pc.match_substring_regex(there, GROUPED_BY_POINT)
            only = _first(there, pc.and_not(pointed, grouped))
            return replace(
                found, comma=only is None, whole=False, only_point=only, either=_first(there, grouped)
            )
        whole = bool(pc.all(pc.ascii_is_decimal(there)).as_py())
        padded = whole and bool(pc.any(pc.match_substring_regex(there, r"^0\d")).as_py())
        return replace(found, whole=whole, padded=padded)

    @classmethod
    def _of_words(cls, n_rows: int, trimmed: Any, gaps: Gaps) -> Written:
        """Any values: each different one is looked at once."""
        encoded = one_array(trimmed).dictionary_encode()
        words = encoded.dictionary
        codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        there = ~pc.is_in(words, value_set=pa.array(sorted(gaps.numbers), words.type)).to_numpy(
            zero_copy_only=False
        )
        bare = _bare(words)
        point, comma = (
            pc.match_substring_regex(bare, NUMBER[mark]).to_numpy(zero_copy_only=False) for mark in ".,"
        )
        infinite = pc.match_substring_regex(words, NO_DIGITS).to_numpy(zero_copy_only=False)
        point, comma = point | infinite, comma | infinite
        rows = np.bincount(codes + 1, minlength=len(words) + 1)[1:] * there
        number = (point | comma) & there
        marked = pc.match_substring_regex(words, "[.,]").to_numpy(zero_copy_only=False)
        signs = _signs(words, number)

        def first(mask: Any) -> str | None:
            at = np.flatnonzero(mask & there)
            return str(words[int(at[0])].as_py()) if len(at) else None

        odd = first(~number)
        return cls(
            n_rows,
            int(rows.sum()),
            int(rows[number].sum()),
            bool(point[there].all()),
            bool(comma[there].all()),
            bool(pc.match_substring_regex(words, FLOAT).to_numpy(zero_copy_only=False)[there].all()),
            bool(pc.is_in(words, value_set=pa.array(TRUTHS)).to_numpy(zero_copy_only=False)[there].all()),
            bool(pc.match_substring_regex(words, CLOCK).to_numpy(zero_copy_only=False)[there].all()),
            bool(pc.all(pc.ascii_is_decimal(words.filter(pa.array(there)))).as_py()),
            first(pc.match_substring_regex(words, r"^0\d+$").to_numpy(zero_copy_only=False)) is not None,
            signs,
            first(point & ~comma),
            first(comma & ~point),
            first(point & comma & marked),
            None if odd is None else (int(np.argmax(codes == np.argmax(there & ~number))), odd),
        )

    def __add__(self, later: Written) -> Written:
        strange = self.strange
        if strange is None and later.strange is not None:
            strange = (self.n_rows + later.strange[0], later.strange[1])
        known = dict(self.signs)
        return Written(
            self.n_rows + later.n_rows,
            self.n_values + later.n_values,
            self.n_numbers + later.n_numbers,
            self.point and later.point,
            self.comma and later.comma,
            self.plain and later.plain,
            self.truths and later.truths,
            self.times and later.times,
            self.whole and later.whole,
            self.padded or later.padded,
            (*self.signs, *((sign, value) for sign, value in later.signs if sign not in known)),
            self.only_point if self.only_point is not None else later.only_point,
            self.only_comma if self.only_comma is not None else later.only_comma,
            self.either if self.either is not None else later.either,
            strange,
        )

    def has_slips(self, n_different: int) -> bool:
        """Whether almost all of many different values are numbers, so that the others are slips."""
        return n_different > rules.FREE_LEVELS and self.n_numbers >= rules.NUMBER_SHARE * self.n_values

    @property
    def is_text(self) -> bool:
        """Whether the values are words or codes, and no numbers."""
        if self.strange is None:
            return self.padded and self.whole
        return not self.times


@dataclass(frozen=True)
class Notation:
    """The decimal mark of a table, None as long as nothing has decided it; and what columns are.

    >>> texts = {"a": ["0,5", "1.000,25"], "b": ["1.234", "12"], "c": ["red", "12"]}
    >>> notation = Notation.of({name: Written.of(pa.array(column), Gaps()) for name, column in texts.items()})
    >>> notation.decimal, notation.is_number("b"), notation.is_number("c")
    (',', True, False)
    >>> notation.numbers(pa.array(texts["b"]), Gaps())
    array([1234.,   12.])
    """

    columns: Mapping[str, Written]
    decimal: str | None = None
    because: str = ""  # in words, for messages
    remedy: str = REMEDY
    contradicted: bool = False  # by a column with the other mark

    @classmethod
    def of(cls, columns: Mapping[str, Written], decimal: str | None = None, remedy: str = REMEDY) -> Notation:
        """Decide from all columns of a table; `decimal` overrules what they say."""
        if decimal is not None:
            return cls(columns, decimal, "as `decimal` says", remedy)
        clear = {name: one for name, one in columns.items() if not one.is_text and len(one.signs) == 1}
        points = [(one.only_point, name) for name, one in clear.items() if one.point and one.only_point]
        commas = [(one.only_comma, name) for name, one in clear.items() if one.comma and one.only_comma]
        if not points and not commas:
            return cls(columns, remedy=remedy)
        mark, (value, name) = (".", points[0]) if points else (",", commas[0])
        because = f"by {value!r} in column {name!r}"
        return cls(columns, mark, because, remedy, contradicted=bool(points and commas))

    def is_number(self, name: str) -> bool:
        """Whether a column of text holds numbers; refused if it is written in two ways, or could be two."""
        written = self.columns[name]
        if written.is_text or (written.times and written.n_values > 0):
            return not written.is_text
        if len(written.signs) > 1:
            (_, one), (_, two) = written.signs[:2]
            rule = f"with the same sign in every row, got {one!r} and {two!r}"
            raise TableError(f"Column {name!r} must hold numbers {rule}. {SIGNS}")
        if written.only_point is not None and written.only_comma is not None:
            both = f"{written.only_point!r} and {written.only_comma!r}"
            raise self._refuse(name, f"with one decimal mark, got {both}")
        if self._is_open(written) and not written.plain:
            raise self._refuse(name, f"that can be read in one way, got {written.either!r}")
        if self.decimal is None:
            return True
        got = written.only_comma if self.decimal == "." else written.only_point
        if got is not None:
            word = "point" if self.decimal == "." else "comma"
            raise self._refuse(name, f"with a decimal {word} ({self.because}), got {got!r}")
        return True

    def doubts(self, name: str) -> list[str]:
        """A note about a column of plain floats all of whose points could stand between thousands, or none.

        >>> written = {"x": Written.of(pa.array(["1.234", "56"]), Gaps())}
        >>> Notation.of(written).doubts("x")
        ["column 'x': '1.234' is read as 1.234; if the point separates thousands, the decimal mark is ','"]
        """
        value = self.columns[name].either
        if value is None or not self._is_open(self.columns[name]) or not self.is_number(name):
            return []
        read = float(value)
        said = f"column {name!r}: {value!r} is read as {read:g}"
        return [f"{said}; if the point separates thousands, the decimal mark is ','"]

    def _is_open(self, written: Written) -> bool:
        """Whether neither the column nor the others say what its marks are."""
        decided = self.decimal is not None and not self.contradicted
        own = written.only_point is not None or written.only_comma is not None
        return written.either is not None and not decided and not own

    def _refuse(self, name: str, rule: str) -> TableError:
        return TableError(f"Column {name!r} must hold numbers {rule}. {self.remedy}")

    def is_direct(self, name: str) -> bool:
        """Whether a column's numbers can be converted as they stand, by their decimal mark alone."""
        written = self.columns[name]
        pointed = written.only_point is not None or written.either is not None
        if written.is_text or not written.plain or written.strange is not None:
            return False
        return not (pointed and self.decimal == ",")

    def numbers(self, trimmed: Any, gaps: Gaps) -> FloatArray | None:
        """Strings as numbers, NaN for gaps; None if one of them is no number."""
        return floats_of(without_gaps(trimmed, gaps.numbers), self.decimal)


def without_gaps(strings: Any, words: Collection[str]) -> Any:
    """The strings with nulls in place of these words."""
    missing = pc.is_in(strings, value_set=pa.array(sorted(words), strings.type))
    return pc.if_else(missing, pa.scalar(None, strings.type), strings)


def one_array(strings: Any) -> Any:
    """The chunks of a chunked array in one."""
    if isinstance(strings, pa.ChunkedArray):
        chunks = strings.chunks
        return chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks or [pa.array([], strings.type)])
    return strings


def floats_of(strings: Any, decimal: str | None) -> FloatArray | None:
    """Strings as floats by a decimal mark, NaN for nulls; None if one of them is no number."""
    mark = decimal or "."
    if mark == ".":
        plain = _floats(strings)
        if plain is not None:
            return plain
    times = _seconds(strings)
    if times is not None:
        return times
    bare = _bare(strings)
    if pc.all(pc.match_substring_regex(bare, f"{NUMBER[mark]}|{NO_DIGITS}")).as_py() is False:
        return None
    ungrouped = pc.replace_substring_regex(bare, rf"^\+|[{OTHER[mark]}{''.join(SPACES)}]", "")
    return _floats(ungrouped if mark == "." else pc.replace_substring(ungrouped, ",", "."))


def _seconds(strings: Any) -> FloatArray | None:
    """Times of day as seconds since midnight, None if one of the strings is none.

    >>> _seconds(pa.array(["0:01:30", "13:45", "1:45 PM", "12:00 am"]))
    array([   90., 49500., 49500.,     0.])
    """
    for some in (strings.slice(0, HEAD), strings):
        if pc.all(pc.match_substring_regex(some, CLOCK)).as_py() is False:
            return None
    fields = pc.extract_regex(one_array(strings), f"^{TIME}{HALF}$")
    hours, minutes, seconds, half = (part.fill_null("nan") for part in fields.flatten())
    seconds = pc.if_else(pc.equal(seconds, ""), "0", seconds)
    h, m, s = (part.cast(pa.float64()).to_numpy() for part in (hours, minutes, seconds))
    first, second = (np.isin(half.to_numpy(zero_copy_only=False), list(letters)) for letters in ("aA", "pP"))
    h = np.where(first | second, h % 12 + 12 * second, h)
    return np.asarray(3600 * h + 60 * m + s)


def _bare(strings: Any) -> Any:
    """Without signs of currency and percent, and spaces beside them."""
    if not pc.any(pc.match_substring_regex(strings, f"[{SIGN}]")).as_py():
        return strings
    return pc.replace_substring_regex(pc.replace_substring_regex(strings, BEFORE, r"\1\2"), AFTER, "")


def _signs(words: Any, numbers: Any) -> tuple[tuple[str, str], ...]:
    """The signs that numbers have, each with the first that has it."""
    some = words.filter(pa.array(numbers))
    if len(some) == 0:
        return ()
    encoded = pc.replace_substring_regex(some, f"[^{SIGN}]", "").dictionary_encode()
    codes = encoded.indices.to_numpy()
    return tuple(
        (sign, str(some[int(np.argmax(codes == code))].as_py()))
        for code, sign in enumerate(encoded.dictionary.to_pylist())
    )


def _first(strings: Any, mask: Any) -> str | None:
    at = pc.index(mask, True).as_py()
    return None if at < 0 else str(strings[at].as_py())


def _floats(strings: Any) -> FloatArray | None:
    """Strings that are floats as they are; to find out by an error takes longer than by a look."""
    if pc.all(pc.match_substring_regex(strings.slice(0, HEAD), FLOAT)).as_py() is False:
        return None
    try:
        numbers = pc.cast(strings, pa.float64())
    except pa.ArrowInvalid:
        return None
    if isinstance(numbers, pa.ChunkedArray):
        return np.asarray(numbers.to_numpy(), dtype=np.float64)
    return np.asarray(numbers.to_numpy(zero_copy_only=False), dtype=np.float64)


def joined(parts: Collection[Written]) -> Written:
    """How the values of consecutive pieces of a column are written."""
    return reduce(add, parts, Written())
