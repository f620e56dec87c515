"""Numbers, text, arrays, labels and names in C."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from sleek._runtime.types import AnyArray

# of C99, and of C++, which may include the header too
C_KEYWORDS = frozenset(
    re.findall(
        r"\w+",
        """auto break case char const continue default do double else enum extern float for goto if inline int
        long register restrict return short signed sizeof static struct switch typedef union unsigned void
        volatile while asm bool catch class delete explicit export false friend mutable namespace new operator
        private protected public template this throw true try typeid typename using virtual wchar_t""",
    )
)


def literal(number: Any, dtype: Any) -> str:
    """The shortest decimal that is read back as the same number.

    >>> literal(0.1, np.dtype("float64")), literal(np.float32(0.1), np.dtype("float32"))
    ('0.1', '0.1f')
    """
    return f"{dtype.type(number)!s}{'f' if dtype == np.float32 else ''}"


def string(text: str) -> str:
    """A string literal: UTF-8, with everything but plain letters as octal numbers.

    >>> string('say "no"')
    '"say \\\\042no\\\\042"'
    """
    plain = re.compile(rb"[A-Za-z0-9 _.,;:+*/=<>()-]")
    escaped = [chr(byte) if plain.match(bytes([byte])) else f"\\{byte:03o}" for byte in text.encode("utf-8")]
    return '"' + "".join(escaped) + '"'


def comment(text: str) -> str:
    """Text that cannot end the comment it stands in, nor begin another or a trigraph.

    >>> comment("rate */ of é")
    'rate * / of \\\\xe9'
    """
    escaped = text.encode("unicode_escape").decode("ascii")
    for mark in ("*/", "/*", "??"):
        escaped = escaped.replace(mark, f"{mark[0]} {mark[1]}")
    return escaped.replace("??", "? ?").rstrip("\\")


def identifier(text: str, taken: set[str]) -> str:
    """A C name like the text, and unlike all that are taken, to which it is added.

    >>> taken = {"int"}
    >>> identifier("body mass", taken), identifier("body-mass", taken), identifier("int", taken)
    ('body_mass', 'body_mass_2', 'int_2')
    """
    stem = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_") or "unnamed"
    stem = f"n{stem}" if stem[0].isdigit() else stem
    name, number = stem, 1
    while name in taken:
        number += 1
        name = f"{stem}_{number}"
    taken.add(name)
    return name


def array_in_c(name: str, array: AnyArray) -> str:
    """A constant array, of one or two axes.

    >>> array_in_c("b", np.array([1.0, 0.5]))
    'static const double b[2] = {1.0, 0.5};'
    """
    real, sizes = "double" if array.dtype == np.float64 else "float", "".join(f"[{n}]" for n in array.shape)
    rows = [", ".join(literal(number, array.dtype) for number in row) for row in np.atleast_2d(array)]
    body = rows[0] if array.ndim == 1 else "\n    {" + "},\n    {".join(rows) + "}\n"
    return f"static const {real} {name}{sizes} = {{{body}}};"


def labels_in_c(labels: tuple[Any, ...], name: str) -> str:
    """Class labels as an array of the simplest type that holds them."""
    if isinstance(labels[0], str):
        kind, words = "char *const", [string(label) for label in labels]
    elif isinstance(labels[0], float):
        kind, words = "double", [literal(label, np.dtype(np.float64)) for label in labels]
    elif max(labels) >= 2**63:
        kind, words = "unsigned long long", [f"{label}ULL" for label in labels]
    elif min(labels) > -(2**31) and max(labels) < 2**31:
        kind, words = "long", [f"{int(label)}L" for label in labels]
    else:
        least = "(-9223372036854775807LL - 1)"
        kind = "long long"
        words = [least if label == -(2**63) else f"{label}LL" for label in labels]
    return f"static const {kind} {name}_labels[{len(labels)}] = {{{', '.join(words)}}};"
