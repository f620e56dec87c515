"""The columns of a table as a C struct, and the features they become."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sleek.export.c_text import C_KEYWORDS, comment, identifier, literal
from sleek.export.common import each_column, narrowed
from sleek.tables.columns import CategoryColumn, Inputs, NumberColumn

MACROS = ("H", "N_FEATURES", "N_UNITS", "N_OUTPUTS", "N_CLASSES")


class RowType:
    """A struct with a member for each column: numbers as they are, categories as an enumeration."""

    def __init__(self, inputs: Inputs, name: str, real: str, dtype: Any, reserved: Collection[str]) -> None:
        self.inputs, self.name, self.real, self.dtype = inputs, name, real, dtype
        taken = set(C_KEYWORDS)
        self.members = [identifier(column.name, taken) for column in inputs.columns]
        constants = {f"{name}_{word}" for word in reserved} | {f"{name.upper()}_{word}" for word in MACROS}
        self.constants = {
            (member, code): identifier(f"{name}_{member}_{level}", constants)
            for member, column in zip(self.members, inputs.columns, strict=True)
            if isinstance(column, CategoryColumn)
            for code, level in enumerate(column.levels)
        }

    @property
    def argument(self) -> str:
        """The parameter of the documented functions."""
        return f"const {self.name}_row *row"

    @property
    def prepare(self) -> str:
        """What they do first."""
        size = len(self.inputs.feature_names)
        return f"    {self.real} x[{size}];\n    {self.name}_features(row, x);\n"

    def declaration(self) -> str:
        """The enumerations and the struct."""
        members = iter(self.members)

        def number(column: NumberColumn) -> tuple[str, str]:
            missing = "must be a number" if column.fill is None else "NAN if missing"
            return "", f"    {self.real} {next(members)}; /* {comment(column.name)}: {missing} */"

        def category(column: CategoryColumn) -> tuple[str, str]:
            member = next(members)
            codes = [
                f"    {self.constants[member, code]} = {code}, /* {comment(level)} */"
                for code, level in enumerate(column.levels)
            ]
            unknown = "-1 if missing or none of these"
            enumeration = "\n".join(["enum {", *codes, "};\n"]) if codes else ""
            return enumeration, f"    int {member}; /* {comment(column.name)}: {unknown} */"

        said = each_column(self.inputs.columns, number, category)
        struct = "typedef struct {\n" + "\n".join(member for _, member in said) + f"\n}} {self.name}_row;"
        return "".join(enumeration for enumeration, _ in said) + struct

    def conversion(self) -> str:
        """The function that turns a struct into features."""
        members = iter(self.members)
        place = 0

        def number(column: NumberColumn) -> list[str]:
            nonlocal place
            value, place = f"row->{next(members)}", place + 1
            if column.fill is None:
                return [f"x[{place - 1}] = {value};"]
            fill = literal(narrowed("fill", column.fill, self.dtype)[()], self.dtype)
            return [f"x[{place - 1}] = {value} == {value} ? {value} : {fill};"]

        def category(column: CategoryColumn) -> list[str]:
            nonlocal place
            value, begin = f"row->{next(members)}", place
            place += len(column.levels)
            return [f"x[{begin + code}] = {value} == {code};" for code in range(len(column.levels))]

        lines = [line for said in each_column(self.inputs.columns, number, category) for line in said]
        head = f"static inline void {self.name}_features(const {self.name}_row *row, {self.real} *x) {{\n    "
        return head + "\n    ".join(lines) + "\n}"
