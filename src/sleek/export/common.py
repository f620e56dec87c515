"""What all exporters ask of a model."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Collection, Iterable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike

from sleek import __version__
from sleek._runtime.types import AnyArray, FloatArray
from sleek.bases.formula import Formula
from sleek.model.kernel_model import KernelModel
from sleek.tables.columns import CategoryColumn, Column, NumberColumn

T = TypeVar("T")


def formula_of(model: KernelModel) -> Formula:
    """The basis as a formula, once it has been seen to agree with what the basis computes."""
    basis, formula = model.basis, model.basis.formula
    if formula is None:
        raise ValueError(
            f"The basis {basis.name!r} has no formula, so a model of it cannot be exported: give "
            f"{type(basis).__name__} a class attribute `formula` (see sleek.bases.formula)."
        )
    d = model.n_features
    points = [array for array in model.units.arrays.values() if array.shape[1:] == (d,)]
    rows = np.concatenate([np.zeros((1, d)), *points])
    with np.errstate(all="ignore"):  # far away units overflow on their way to 0
        said, computed = formula.values(rows, model.units), model.features(rows)
    if not np.allclose(said, computed, rtol=1e-6, atol=1e-9, equal_nan=True):
        raise ValueError(
            f"The formula of the basis {basis.name!r} is not what its features compute, so a model of it "
            f"cannot be exported: correct `{type(basis).__name__}.formula`."
        )
    return formula


def arrays_of(model: KernelModel, dtype: Any) -> dict[str, AnyArray]:
    """All arrays of the model in the wanted precision: the units', theta and b."""
    return {
        name: narrowed(name, array, dtype)
        for name, array in {**model.units.arrays, "theta": model.theta, "b": model.b}.items()
    }


def narrowed(name: str, array: FloatArray | float, dtype: Any) -> AnyArray:
    """An array in another precision, refused if a number is too large for it."""
    with np.errstate(over="ignore"):
        result: AnyArray = np.asarray(array).astype(dtype)
    if not np.isfinite(result).all():
        largest = np.abs(array).max()
        raise ValueError(f"`{name}` has numbers up to {largest:.3g}, too large for {dtype}: use float64.")
    return result


def check_dtype(dtype: DTypeLike) -> Any:
    """float32 or float64."""
    try:
        found: Any = np.dtype(dtype)
    except TypeError:
        found = dtype
    if not isinstance(found, np.dtype) or found.name not in ("float32", "float64"):
        raise ValueError(f"`dtype` must be 'float32' or 'float64', got {dtype!r}.")
    return found


def check_name(name: Any, reserved: Collection[str] = keyword.kwlist) -> str:
    """A word that can name things in a program."""
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) or name in reserved:
        raise ValueError(
            "`name` must begin with a letter, go on with letters, digits and underscores, and not be a word "
            f"of the language, got {name!r}."
        )
    return name


def feature_names(model: KernelModel) -> tuple[str, ...]:
    """The model's own, or x0, x1, …"""
    return model.feature_names or tuple(f"x{i}" for i in range(model.n_features))


def labels_of(model: KernelModel) -> list[Any]:
    """Class labels as plain values; none for regression."""
    return [] if model.classes is None else list(model.classes.tolist())


def each_column(
    columns: Iterable[Column], number: Callable[[NumberColumn], T], category: Callable[[CategoryColumn], T]
) -> list[T]:
    """What to say for each column, by its kind."""
    said = []
    for column in columns:
        match column:
            case NumberColumn():
                said.append(number(column))
            case CategoryColumn():
                said.append(category(column))
            case _:
                raise ValueError(f"A column of type {type(column).__name__} cannot be exported.")
    return said


def bare(text: str) -> str:
    """An expression without the brackets around all of it.

    >>> bare("((a + b) * c)"), bare("(a) + (b)"), bare("z")
    ('(a + b) * c', '(a) + (b)', 'z')
    """
    if not text.startswith("("):
        return text
    depth = 0
    for place, mark in enumerate(text):
        depth += (mark == "(") - (mark == ")")
        if depth == 0 and place < len(text) - 1:
            return text
    return text[1:-1]


def call(function: str) -> Callable[..., str]:
    """The word for applying a function."""
    return lambda *operands: f"{function}({', '.join(map(bare, operands))})"


def title(model: KernelModel) -> str:
    """The first words of an exported program."""
    units = f"{len(model.units)} {model.basis.name} units"
    return f"A kernel machine of {units}, written by sleek {__version__}."


def task(model: KernelModel) -> str:
    """What the model predicts, as half a sentence."""
    if model.classes is not None:
        return f"one of {len(model.classes)} classes"
    return "a number" if model.flat else f"{len(model.b)} numbers"
