"""What all exporters ask of a model: its parts as formulas, what its outputs mean, its columns."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike

from sleek import __version__
from sleek._runtime.types import AnyArray, FloatArray
from sleek.bases.expansion import Part
from sleek.bases.formula import Formula
from sleek.model.kernel_model import KernelModel
from sleek.outputs.classes import ClassOutputs
from sleek.outputs.numbers import NumberOutputs
from sleek.tables.columns import Column, DateColumn, NumberColumn, WordColumn

T = TypeVar("T")
AXES = (("unit", "feature"), ("unit",))  # of the numbers that a formula can speak of
# Words that programs use themselves: arrays of a basis that are called like one of them get a number.
WORDS = frozenset(
    [
        *keyword.kwlist,
        *dir(builtins),
        *(
            "row",
            "features",
            "labels",
            "larger",
            "outputs",
            "decision",
            "predict",
            "theta",
            "b",
            "exp",
            "tanh",
        ),
        *("proba", "interval", "units", "half", "log_odds", "sqrt", "probabilities", "leverage", "wider"),
        *("size_constant", "size_low", "size_high", "size_weights", "leverage_center"),
        *("scores", "names", "values", "missing", "number", "category", "unit", "weight"),
    ]
)


@dataclass(frozen=True)
class Choice:
    """The answer is one of the labels: of two the second where the output is above 0, else the largest's."""

    labels: tuple[Any, ...]


@dataclass(frozen=True)
class Numbers:
    """The answer is the outputs themselves: so many numbers, or one number that stands alone."""

    count: int
    alone: bool


def answer_of(model: KernelModel) -> Choice | Numbers:
    """What a program has to make of the model's outputs: the one place where exporters ask.

    A kind of outputs that derives from another may answer differently, and is not taken for it.
    """
    match model.outputs:
        case ClassOutputs() as outputs if type(outputs) is ClassOutputs:
            return Choice(tuple(outputs.classes.tolist()))
        case NumberOutputs() as outputs if type(outputs) is NumberOutputs:
            return Numbers(outputs.n_outputs, outputs.flat)
    raise ValueError(
        f"A model with outputs of the kind {model.outputs.kind!r} cannot be exported: exporters know what "
        f"{ClassOutputs.kind!r} and {NumberOutputs.kind!r} mean."
    )


@dataclass(frozen=True, eq=False)
class PartFormula:
    """One part of a model as exporters write it down.

    Attributes
    ----------
    formula : Formula
    arrays : mapping
        The numbers of its units by their names in the formula, each (m, d) or (m,).
    first : int
        The number of its first unit among those of all parts.
    suffix : str
        What the names of its arrays end in: its number, or nothing where no other names could be meant.
    """

    formula: Formula
    arrays: Mapping[str, AnyArray]
    first: int
    suffix: str

    def __len__(self) -> int:
        return len(next(iter(self.arrays.values())))

    def named(self) -> dict[str, AnyArray]:
        """The arrays by names that no other part has."""
        return {f"{key}{self.suffix}": array for key, array in self.arrays.items()}


def parts_of(model: KernelModel, dtype: DTypeLike = "float64") -> list[PartFormula]:
    """The parts as formulas with their numbers in the wanted precision, checked."""
    plain = len(model.parts) == 1 and WORDS.isdisjoint(model.parts[0].units.arrays)
    return [
        PartFormula(
            formula=_formula(part, model.n_features),
            arrays={key: narrowed(key, array, dtype) for key, array in part.units.arrays.items()},
            first=place.start,
            suffix="" if plain else f"_{number}",
        )
        for number, (part, place) in enumerate(zip(model.parts, model.expansion.places(), strict=True))
    ]


def _formula(part: Part, d: int) -> Formula:
    """The basis as a formula, once it has been seen to agree with what the basis computes."""
    basis, formula = part.basis, part.basis.formula
    for parameter in basis.parameters:
        if parameter.axes not in AXES:
            raise ValueError(
                f"The basis {basis.name!r} has numbers {parameter.name!r} for each "
                f"({', '.join(parameter.axes)}), so a model of it cannot be exported: formulas speak of "
                "numbers for each (unit, feature) or (unit)."
            )
    if formula is None:
        raise ValueError(
            f"The basis {basis.name!r} has no formula, so a model of it cannot be exported: give "
            f"{type(basis).__name__} a class attribute `formula` (see sleek.bases.formula)."
        )
    points = [array for array in part.units.arrays.values() if array.shape[1:] == (d,)]
    rows = np.concatenate([np.zeros((1, d)), *points])
    with np.errstate(all="ignore"):  # far away units overflow on their way to 0
        said, computed = formula.values(rows, part.units), part.features(rows)
    if not np.allclose(said, computed, rtol=1e-6, atol=1e-9, equal_nan=True):
        raise ValueError(
            f"The formula of the basis {basis.name!r} is not what its features compute, so a model of it "
            f"cannot be exported: correct `{type(basis).__name__}.formula`."
        )
    return formula


def narrowed(name: str, array: FloatArray | float, dtype: DTypeLike) -> AnyArray:
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


def each_column(
    columns: Iterable[Column],
    number: Callable[[NumberColumn], T],
    words: Callable[[WordColumn], T],
    date: Callable[[DateColumn], T],
) -> list[T]:
    """What to say for each column, by its kind."""
    said = []
    for column in columns:
        match column:
            case NumberColumn():
                said.append(number(column))
            case WordColumn():
                said.append(words(column))
            case DateColumn():
                said.append(date(column))
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
    return f"A kernel machine of {model.expansion}, written by sleek {__version__}."
