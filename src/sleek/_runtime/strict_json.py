"""A strict JSON parser for files that are not trusted: no NaN, no doubled keys, bounded depth."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np

from sleek._runtime.json_values import ModelFileError

MAX_DEPTH = 32
MAX_DIGITS = 20  # of a whole number: all 64-bit ones
# A string, or its unfinished rest; possessive, so that no file takes more than linear time.
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\Z)', re.DOTALL)
_STEPS = np.zeros(256, dtype=np.int8)  # of the depth, for each byte
_STEPS[list(b"[{")], _STEPS[list(b"]}")] = 1, -1


def parse(data: bytes) -> Any:
    """JSON without its loopholes: no NaN, no overflow, no key twice, no deep nesting."""
    _check_depth(data)
    try:
        return json.loads(
            data.decode("utf-8"),
            parse_constant=_refuse_constant,
            parse_int=_whole,
            parse_float=_real,
            object_pairs_hook=_object,
        )
    except UnicodeDecodeError as error:
        raise ModelFileError(f"A model must be UTF-8 text, but byte {error.start} is not.") from None
    except json.JSONDecodeError as error:
        raise ModelFileError(
            f"A model must be JSON: {error.msg} in line {error.lineno}, column {error.colno}."
        ) from None


def _check_depth(data: bytes) -> None:
    """Before parsing: a parser that recurses may end the process instead of raising an error."""
    marks = np.frombuffer(_STRING.sub(b"", data), dtype=np.uint8)
    if np.cumsum(_STEPS[marks], dtype=np.int64).max(initial=0) > MAX_DEPTH:
        raise ModelFileError(f"A model is nested at most {MAX_DEPTH} levels deep, this file is deeper.")


def _refuse_constant(word: str) -> None:
    raise ModelFileError(f"Numbers of a model must be finite, got {word}.")


def _whole(text: str) -> int:
    if len(text.lstrip("-")) > MAX_DIGITS:
        raise ModelFileError(
            f"Whole numbers have at most {MAX_DIGITS} digits, got {text[:MAX_DIGITS]}… with {len(text)}."
        )
    return int(text)


def _real(text: str) -> float:
    number = float(text)
    if not np.isfinite(number):
        raise ModelFileError(f"Numbers of a model must fit into 64 bits, got {text[:40]}.")
    return number


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in pairs:
        if key in result:
            raise ModelFileError(f"Key {key!r:.80} is given twice.")
        result[key] = value
    return result
