"""A SELECT statement whose columns depend on each other, level by level.

A column that reads others comes a level later, and levels are materialized: engines that are free to inline a
subquery put a copy of its expression at every place that names it, and plans grow exponentially with the
number of levels. So every number is computed once, and no expression is deeper than the engines allow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sleek.export.dialects import SqlDialect, quote

CHUNK = 50  # terms of a sum in one pair of brackets: engines limit the depth of an expression to 1000


class QueryColumn(NamedTuple):
    """A column of a level: its value, and the columns that the value is made of."""

    level: int
    value: str
    reads: Sequence[str]


class Query:
    """Columns over a table, each of which is known as `t.NAME` to later ones.

    Parameters
    ----------
    dialect : SqlDialect
    table : str or sequence of str
        The table, or its schema and name; it is known as PREFIXsource to columns that read no others.
    keep : sequence of str or "*"
        Columns of the table that come along.

    Examples
    --------
    >>> from sleek.export.dialects import DIALECTS
    >>> query = Query(DIALECTS["duckdb"], "rows", ["id"])
    >>> query.add("a", 'sleek_source."x" + 1')
    >>> query.add("b", "t.a * t.a", ["a"])
    >>> print(query.text({"square": "t.b"}, ["b"]))
    WITH sleek_0 AS MATERIALIZED (
    SELECT
      sleek_source."id",
      sleek_source."x" + 1 AS a
    FROM "rows" AS sleek_source
    ), sleek_1 AS MATERIALIZED (
    SELECT
      t."id",
      t.a * t.a AS b
    FROM sleek_0 AS t
    )
    SELECT
      t."id",
      t.b AS "square"
    FROM sleek_1 AS t
    <BLANKLINE>
    """

    def __init__(
        self, dialect: SqlDialect, table: str | Sequence[str], keep: str | Sequence[str] = ()
    ) -> None:
        self.dialect, self.all = dialect, keep == "*"
        self.table = ".".join(quote(part) for part in ([table] if isinstance(table, str) else table))
        if isinstance(keep, str) and not self.all:
            raise ValueError(f'`keep` must be a list of columns or "*", got {keep!r}.')
        names = [] if isinstance(keep, str) else list(dict.fromkeys(keep))
        self.keep = [quote(column) for column in names]
        self.prefix = "sleek_"
        while any(column.lower().startswith(self.prefix) for column in names):
            self.prefix += "_"
        self.columns: dict[str, QueryColumn] = {}

    def add(self, name: str, value: str, reads: Sequence[str] = ()) -> None:
        """A column, one level after the last of those that it reads."""
        level = 1 + max((self.columns[read].level for read in reads), default=-1)
        self.columns[name] = QueryColumn(level, value, reads)

    def text(self, answers: Mapping[str, str], wanted: Sequence[str]) -> str:
        """The statement that gives some columns by name, whose values read the `wanted` ones."""
        for word in map(quote, answers):
            if word in self.keep or (self.dialect.folds_case and word.lower() in map(str.lower, self.keep)):
                raise ValueError(
                    f"The column {word} cannot be both kept and predicted: choose another `name`."
                )
        first, row, fenced = f"{self.prefix}source", f"{self.prefix}row", list[str]()
        kept, source = [f"{first}.{column}" for column in self.keep], f"{self.table} AS {first}"
        if self.all:
            kept = [f"{self.dialect.whole_row.format(first)} AS {row}"]
        for number, columns in enumerate(self.levels(wanted)):
            select = ",\n  ".join([*kept, *columns])
            fenced.append(f"{self.prefix}{number} AS MATERIALIZED (\nSELECT\n  {select}\nFROM {source}\n)")
            source = f"{self.prefix}{number} AS t"
            kept = [f"t.{row}"] if self.all else [f"t.{column}" for column in self.keep]
        if self.all and self.dialect.all_columns:
            kept = [self.dialect.all_columns.format(f"t.{row}")]
        elif self.all:
            kept, source = ["r.*"], f"{source} JOIN {self.table} AS r ON r.rowid = t.{row}"
        select = ",\n  ".join([*kept, *(f"{value} AS {quote(word)}" for word, value in answers.items())])
        return f"WITH {', '.join(fenced)}\nSELECT\n  {select}\nFROM {source}\n"

    def levels(self, wanted: Sequence[str]) -> list[list[str]]:
        """The columns of each level: those that it computes, and those that a later one reads."""
        needed = set(wanted)
        for name in reversed(self.columns):
            if name in needed:
                needed.update(self.columns[name].reads)
        groups: dict[int, list[str]] = {}
        for name, column in self.columns.items():
            if name in needed:
                groups.setdefault(column.level, []).append(name)
        later, found = set(wanted), list[list[str]]()
        for group in (groups[level] for level in sorted(groups, reverse=True)):
            computed = [f"{self.columns[name].value} AS {name}" for name in group]
            passed = [f"t.{name}" for name in self.columns if name in later and name not in group]
            found.append([*passed, *computed])
            later = (later - set(group)) | {read for name in group for read in self.columns[name].reads}
        return found[::-1]


def chunks(terms: Sequence[str], sign: str) -> str:
    """Terms in brackets of at most CHUNK each."""
    while len(terms) > CHUNK:
        terms = [f"({sign.join(terms[i : i + CHUNK])})" for i in range(0, len(terms), CHUNK)]
    return sign.join(terms)
