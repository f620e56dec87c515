"""Columns of text, as CSV files have them, as what they say: numbers, or words.

Numbers may have a decimal comma, separators of thousands, a currency or percent sign, as far as all of the
column is written in one way.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sleek._runtime.types import AnyArray, FloatArray
from sleek.tables.gaps import Gaps
from sleek.tables.values import Coded, Numbers, Values

HEAD = 1000  # values that are looked at before all of them are
SIGNS = r"^([+-]?)\s*[$€£¥]?\s*|\s*[$€£¥%]?$"
THOUSANDS = {".": r"^[+-]?\d{1,3}(,\d{3})+(\.\d+)?$", ",": r"^[+-]?\d{1,3}([. ]\d{3})+(,\d+)?$"}
PLAIN = {".": r"^[+-]?(\d+\.?\d*|\.\d+)$", ",": r"^[+-]?(\d+,?\d*|,\d+)$"}


def read_text(strings: Any, gaps: Gaps, comma: bool, words: bool = False) -> Values:
    """A chunked array of strings as numbers if all of them are, else, or if `words` are wanted, as words."""
    trimmed = pc.utf8_trim_whitespace(strings)
    if not words:
        numbers = numbers_of(trimmed, gaps, comma)
        if numbers is not None:
            return Numbers(numbers)
    return words_of(trimmed, gaps)


def words_of(trimmed: Any, gaps: Gaps) -> Coded:
    """Words as codes, in the order in which they appear."""
    if isinstance(trimmed, pa.ChunkedArray):
        trimmed = trimmed.combine_chunks()
    if isinstance(trimmed, pa.ChunkedArray):
        trimmed = pa.concat_arrays(trimmed.chunks)
    encoded = trimmed.dictionary_encode()
    codes = encoded.indices.cast(pa.int32()).fill_null(-1).to_numpy(zero_copy_only=False)
    values = encoded.dictionary.to_pylist()
    kept = [value is not None and value not in gaps.text for value in values]
    if all(kept):
        return Coded(codes, values)
    place = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1).astype(np.int32)
    return Coded(place[codes], [value for value, is_kept in zip(values, kept, strict=True) if is_kept])


def numbers_of(trimmed: Any, gaps: Gaps, comma: bool) -> FloatArray | None:
    """Numbers with NaN for gaps, None if one of the strings is no number."""
    if _cast(_without_gaps(trimmed.slice(0, HEAD), gaps), comma) is None:
        return None
    return _cast(_without_gaps(trimmed, gaps), comma)


def strange_rows(trimmed: Any, gaps: Gaps, comma: bool) -> AnyArray:
    """Which of the strings are neither a number nor a gap."""
    found = words_of(trimmed, Gaps(frozenset(), frozenset()))
    bad = [_number(value, gaps, comma) is None for value in found.values]
    return np.asarray(found.spread(np.array(bad, dtype=bool), False))


def _number(text: str, gaps: Gaps, comma: bool) -> float | None:
    array = numbers_of(pa.array([text], pa.string()), gaps, comma)
    return None if array is None else float(array[0])


def _without_gaps(strings: Any, gaps: Gaps) -> Any:
    missing = pc.is_in(strings, value_set=pa.array(sorted(gaps.numbers), strings.type))
    return pc.if_else(missing, pa.scalar(None, strings.type), strings)


def _cast(strings: Any, comma: bool) -> FloatArray | None:
    """Numbers as they are, or as the first way of writing them that all of them follow."""
    if not comma:
        plain = _floats(strings)
        if plain is not None:
            return plain
    bare = pc.replace_substring_regex(strings, SIGNS, r"\1")
    for decimal in (",", ".") if comma else (".", ","):
        if decimal == "," and not comma:
            continue  # a comma in a file separated by commas is for thousands
        simple = pc.match_substring_regex(bare, PLAIN[decimal])
        spaced = pc.match_substring_regex(bare, THOUSANDS[decimal])
        if not _all(pc.or_(simple, spaced)):
            continue
        text = pc.replace_substring_regex(bare, "[ ,]" if decimal == "." else "[ .]", "")
        found = _floats(pc.replace_substring(text, ",", ".") if decimal == "," else text)
        if found is not None:
            return found
    return _floats(pc.replace_substring(strings, ",", ".")) if comma else None


def _all(truths: Any) -> bool:
    return pc.all(truths).as_py() is not False


def _floats(strings: Any) -> FloatArray | None:
    try:
        numbers = pc.cast(strings, pa.float64())
    except pa.ArrowInvalid:
        return None
    if isinstance(numbers, pa.ChunkedArray):
        return np.asarray(numbers.to_numpy(), dtype=np.float64)
    return np.asarray(numbers.to_numpy(zero_copy_only=False), dtype=np.float64)
