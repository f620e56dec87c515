"""The columns of a table as a C struct, and the features they become."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sleek.export.c_text import C_KEYWORDS, comment, identifier, literal
from sleek.export.common import each_column, narrowed
from sleek.tables.calendar import YEAR
from sleek.tables.columns import CategoryColumn, DateColumn, NumberColumn, WordColumn
from sleek.tables.inputs import Inputs

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
            if isinstance(column, WordColumn)
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

        def words(column: WordColumn) -> tuple[str, str]:
            member = next(members)
            codes = [
                f"    {self.constants[member, code]} = {code}, /* {comment(level)} */"
                for code, level in enumerate(column.levels)
            ]
            unknown = f"-1 if missing, {len(column.levels)} if none of these"
            enumeration = "\n".join(["enum {", *codes, "};\n"]) if codes else ""
            return enumeration, f"    int {member}; /* {comment(column.name)}: {unknown} */"

        def date(column: DateColumn) -> tuple[str, str]:
            days = "days since 1970-01-01 with fractions, NAN if missing"
            return "", f"    {self.real} {next(members)}; /* {comment(column.name)}: {days} */"

        said = each_column(self.inputs.columns, number, words, date)
        struct = "typedef struct {\n" + "\n".join(member for _, member in said) + f"\n}} {self.name}_row;"
        return "".join(enumeration for enumeration, _ in said) + struct

    def conversion(self) -> str:
        """The function that turns a struct into features."""
        members = iter(self.members)
        place = 0

        def say(number: float) -> str:
            return literal(narrowed("inputs", number, self.dtype)[()], self.dtype)

        def put(values: list[str]) -> list[str]:
            nonlocal place
            begin, place = place, place + len(values)
            return [f"x[{begin + i}] = {value};" for i, value in enumerate(values)]

        def number(column: NumberColumn) -> list[str]:
            value = f"row->{next(members)}"
            filled = value if column.fill is None else f"{value} == {value} ? {value} : {say(column.fill)}"
            return put([filled, *([f"{value} != {value}"] if column.indicator else [])])

        def words(column: WordColumn) -> list[str]:
            value, count = f"row->{next(members)}", len(column.levels)
            if isinstance(column, CategoryColumn):
                others = [f"{value} < -1 || {value} >= {count}"] if column.other else []
                gaps = [f"{value} == -1"] if column.gap else []
                return put([*(f"{value} == {code}" for code in range(count)), *others, *gaps])
            lines = [", ".join(map(say, line)) for line in column.table.tolist()]
            size, width = len(lines), column.table.shape[1]
            table = f"static const {self.real} lines[{size}][{width}] = {{{{{'}, {'.join(lines)}}}}};"
            code = f"{value} == -1 ? {count + 1} : {value} < 0 || {value} > {count} ? {count} : {value}"
            return [
                "{",
                table,
                f"const int line = {code};",
                *put([f"lines[line][{k}]" for k in range(width)]),
                "}",
            ]

        def date(column: DateColumn) -> list[str]:
            value, suffix = f"row->{next(members)}", "f" if self.real == "float" else ""
            floor = f"floor{suffix}"
            year, week = say(YEAR), say(7.0)
            parts = {
                "days": "day",
                "season": f"day - {year} * {floor}(day / {year})",
                "weekday": f"whole - {week} * {floor}(whole / {week})",
                "hour": f"{say(24.0)} * (day - {floor}(day))",
            }
            day = f"const {self.real} day = {value} == {value} ? {value} : {say(column.fill)};"
            whole = f"const {self.real} whole = {floor}(day) + {say(3.0)};"
            said = put([parts[part] for part in column.parts])
            flag = put([f"{value} != {value}"]) if column.indicator else []
            return ["{", day, *([whole] if "weekday" in column.parts else []), *said, *flag, "}"]

        lines = [line for said in each_column(self.inputs.columns, number, words, date) for line in said]
        head = f"static inline void {self.name}_features(const {self.name}_row *row, {self.real} *x) {{\n    "
        return head + "\n    ".join(lines) + "\n}"
