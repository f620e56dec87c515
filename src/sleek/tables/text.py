"""Parsing of text columns, as CSV files have them: to numbers if all values are numbers, else to levels."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sleek._runtime.types import FloatArray
from sleek._runtime.warn import warn
from sleek.tables.errors import TableError
from sleek.tables.gaps import Gaps
from sleek.tables.notation import Notation, Written, floats_of, one_array, without_gaps
from sleek.tables.values import TRUTHS, Coded, Numbers, Values

REMEDY = "Turn it into numbers, or name it in `categorical_features` if it is text."


def read_text(strings: Any, gaps: Gaps, decimal: str | None, words: bool = False) -> Values:
    """Strings as numbers if all of them are, else, or if `words` are wanted, as words."""
    trimmed = trim(strings)
    if not words:
        numbers = floats_of(without_gaps(trimmed, gaps.numbers), decimal)
        if numbers is not None:
            return Numbers(numbers)
    return words_of(trimmed, gaps)


def trim(strings: Any) -> Any:
    """Strings without spaces around them; a column of nothing but gaps may have no type."""
    return pc.utf8_trim_whitespace(strings.cast(pa.string()) if pa.types.is_null(strings.type) else strings)


def words_of(trimmed: Any, gaps: Gaps) -> Coded:
    """Words as codes, in the order in which they appear."""
    encoded = one_array(trimmed).dictionary_encode()
    codes = encoded.indices.cast("int32").fill_null(-1).to_numpy(zero_copy_only=False)
    values = encoded.dictionary.to_pylist()
    kept = [value is not None and value not in gaps.text for value in values]
    if all(kept):
        return Coded(codes, values)
    place = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1).astype(np.int32)
    return Coded(place[codes], [value for value, is_kept in zip(values, kept, strict=True) if is_kept])


def survey_text(strings: Any, gaps: Gaps) -> Written:
    """How the values of a column of strings are written."""
    return Written.of(trim(strings), gaps)


def is_text(values: Values) -> bool:
    """Whether a column is text that may be read as something else."""
    return (
        isinstance(values, Coded)
        and not values.typed
        and bool(values.values)
        and all(isinstance(value, str) for value in values.values)
    )


def how_written(values: Values) -> Written | None:
    """How a column in memory is written; None if it is no text."""
    if not isinstance(values, Coded) or values.typed or not all(isinstance(v, str) for v in values.values):
        return None
    words = [value for value, used in zip(values.values, values.used, strict=True) if used]
    return Written.of(pc.utf8_trim_whitespace(pa.array(words, pa.string())), Gaps())


def notation_of(written: Mapping[str, Written], decimal: str | None = None) -> Notation:
    """How numbers are written in columns in memory."""
    return Notation.of(written, decimal, remedy=REMEDY)


def check_slips(notation: Notation, different: Mapping[str, int], numbers: Collection[str]) -> None:
    """Refuse columns of text almost all of whose many different values are numbers."""
    for name, count in different.items():
        column = notation.columns[name]
        if name not in numbers and column.strange is not None and column.has_slips(count):
            raise TableError.of(name, "hold numbers, as almost all rows do", column.strange[1])


def read_texts(
    columns: Mapping[str, Values],
    words: Collection[str] = (),
    numbers: Collection[str] = (),
    decimal: str | None = None,
) -> dict[str, Values]:
    """Columns in memory, those of text that are numbers as numbers, as in a file of the same texts.

    Columns named in `words` stay what they are; those in `numbers` are numbers even if they look like codes.
    """
    texts = {
        name: values.without_unused()
        for name, values in columns.items()
        if isinstance(values, Coded) and is_text(values)
    }
    if not texts:
        return dict(columns)
    gaps = Gaps()
    arrays = {name: pc.utf8_trim_whitespace(pa.array(coded.values)) for name, coded in texts.items()}
    written = {name: Written.of(array, gaps) for name, array in arrays.items()}
    notation = notation_of(written, decimal)
    found = dict(columns)
    for name, coded in texts.items():
        if name in words:
            continue
        column = notation.columns[name]
        if notation.is_number(name) or (name in numbers and column.strange is None):
            floats = floats_of(without_gaps(arrays[name], gaps.numbers), notation.decimal)
            if floats is not None:
                found[name] = Numbers(coded.spread(floats, np.nan))
                warn_of_doubts(notation, name)
        elif column.strange is not None and not column.truths:
            slips = column.has_slips(len(coded.values))
            if slips or name in numbers:
                rule = "hold numbers, as almost all rows do" if slips else "hold numbers"
                row = int(np.argmax(coded.array == column.strange[0]))
                raise TableError.of(name, rule, column.strange[1], row)
    return found


def warn_of_doubts(notation: Notation, name: str) -> None:
    """A warning where a column's numbers could be others, a thousand times as large."""
    for note in notation.doubts(name):
        warn(f"{note[0].upper()}{note[1:]}.")


def text_floats(strings: Any, gaps: Gaps, decimal: str | None) -> FloatArray:
    """Strings that are numbers, or truth values, as floats with NaN for gaps."""
    match read_text(strings, gaps, decimal):
        case Numbers(array):
            return np.asarray(array)
        case Coded() as coded if set(coded.values) <= set(TRUTHS):
            truths = [float(word.lower() == "true") for word in coded.values]
            return np.asarray(coded.spread(np.array(truths), np.nan))
    raise TableError(f"Numbers are needed, got {words_of(strings, gaps).values[0]!r}.")


def label_texts(strings: Any, gaps: Gaps) -> Any:
    """Class labels without spaces around them, null where one is missing."""
    return without_gaps(pc.utf8_trim_whitespace(strings), gaps.text)
