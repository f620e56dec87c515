"""Types of options and arguments, and parsing of lists in them."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from sleek.cli.exits import InputError

STANDARD = "-"  # standard input, or standard output
_FIELD = re.compile(r'\s*(?:"((?:[^"]|"")*)"\s*|([^,]*))(,|$)', flags=re.DOTALL)


class Task(StrEnum):
    """What a target is."""

    classification = "classification"
    regression = "regression"


class EffortName(StrEnum):
    """What time a fit may take."""

    quick = "quick"
    normal = "normal"
    thorough = "thorough"


class BasisName(StrEnum):
    """The bases by name, written out so that help and completion need not import them."""

    auto = "auto"
    box = "box"
    curves = "curves"
    gaussian_rbf = "gaussian_rbf"
    linear = "linear"
    network = "network"
    sigmoidal = "sigmoidal"
    robust_rbf = "robust_rbf"
    simplex = "simplex"


class DateOrder(StrEnum):
    """Which of day and month comes first in a date such as 1/2/2024."""

    dmy = "dmy"
    mdy = "mdy"


class DecimalMark(StrEnum):
    """What stands before the fraction of a number in text."""

    point = "."
    comma = ","


class Kind(StrEnum):
    """The languages of exported programs."""

    onnx = "onnx"
    c = "c"
    sql = "sql"
    python = "python"
    javascript = "javascript"


ModelFile = Annotated[
    Path, typer.Argument(help="A model file that [bold]sleek fit[/bold] has written, or -.")
]
DataFile = Annotated[
    Path, typer.Argument(help="A CSV, Parquet, Arrow or JSON lines file, a folder of such, or - for stdin.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
WeightName = Annotated[str | None, typer.Option(help="A column with the weight of each row.")]

# of `sleek fit`
TargetName = Annotated[str, typer.Option("--target", "-t", help="The column to predict.")]
ModelOutput = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write the model here; without it, only report.")
]
TaskName = Annotated[
    Task | None,
    typer.Option(metavar="TASK", help="classification or regression; by default the target's values decide."),
]
ColumnNames = Annotated[str | None, typer.Option(help="Learn from these columns only: a,b,c")]
Drop = Annotated[str | None, typer.Option(help="Leave out these columns: id,date")]
Categories = Annotated[
    str | None, typer.Option(help="Numbers in these columns are codes, not quantities: zip,month")
]
Missing = Annotated[
    str | None,
    typer.Option(help="Words that mean a missing value, instead of NA, null, ? and the like: none,-99"),
]
Decimal = Annotated[
    DecimalMark | None,
    typer.Option(metavar="MARK", help="The decimal mark in text, . or , where the file leaves it open."),
]
Dates = Annotated[
    DateOrder | None,
    typer.Option(metavar="ORDER", help="dmy or mdy: what 1/2/2024 means; by default mdy, with a note."),
]
GroupsName = Annotated[
    str | None,
    typer.Option(help="A column that says which rows belong together: the error to expect is for new ones."),
]
CrossValidation = Annotated[
    str | None,
    typer.Option(metavar="N|last", help="Judge by so many folds, or by the last rows in their order."),
]
LossChoice = Annotated[
    str | None,
    typer.Option(
        metavar="LOSS",
        help="squared_error, absolute_error, huber, quantile, poisson, gamma or tweedie; classes: log_loss.",
    ),
]
Quantile = Annotated[float, typer.Option(help="The quantile of --loss quantile.")]
Power = Annotated[float, typer.Option(help="The power of --loss tweedie, from 1 to 3.")]
Balanced = Annotated[bool, typer.Option("--balanced", help="Let all classes weigh the same.")]
TestShare = Annotated[
    float | None, typer.Option(help="Hold out this share of the rows, between 0 and 1, and test on it.")
]
NumberOfUnits = Annotated[
    int | None, typer.Option(min=1, metavar="INTEGER", help="The number of units; by default chosen.")
]
MostNumbers = Annotated[
    int | None,
    typer.Option(min=2, metavar="INTEGER", help="The most numbers that you want to read of the model."),
]
BasisChoice = Annotated[
    BasisName,
    typer.Option(
        metavar="BASIS",
        help="auto, box, curves, gaussian_rbf, linear, network, sigmoidal, robust_rbf or simplex.",
    ),
]
EffortChoice = Annotated[
    EffortName, typer.Option(metavar="EFFORT", help="quick, normal or thorough: what time it may take.")
]
Monotone = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN+|COLUMN-", help="The prediction never falls (+) or rises (-) in it: age+, price-."
    ),
]
Pairwise = Annotated[bool, typer.Option("--pairwise", help="At most two columns act together.")]
NoInteractions = Annotated[bool, typer.Option("--no-interactions", help="No columns act together.")]
Interactions = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMNS", help="Only these columns act together: a,b; once for each group."),
]
Jobs = Annotated[int, typer.Option(help="Threads; -1 means all cores. The result is the same.")]
Seed = Annotated[int, typer.Option(help="Seed of all that is drawn at random.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Tell what is tried.")]

Updatable = Annotated[
    bool,
    typer.Option(
        "--updatable",
        help="Keep sums over rows in the file, for update and merge; classes: squared loss without --loss.",
    ),
]

# of `sleek update` and `sleek merge`
UpdatedOutput = Annotated[
    Path | None, typer.Option("--output", "-o", help="Write the model here; default: the file it was in.")
]
ForgetRows = Annotated[bool, typer.Option("--forget", help="Take the rows out instead of adding them.")]
Alone = Annotated[
    bool, typer.Option("--alone", help="Without the rows the model has: its units and these rows, to merge.")
]
Again = Annotated[
    bool,
    typer.Option("--again", help="Add rows that came in before, or take out rows that another file brought."),
]
Fading = Annotated[
    float,
    typer.Option(
        "--forgetting-factor", metavar="FACTOR", help="Rows fade by it with every new one, such as 0.999."
    ),
]
ModelFiles = Annotated[list[Path], typer.Argument(help="Two or more model files that share their units.")]
MergedOutput = Annotated[Path, typer.Option("--output", "-o", help="Write the merged model here.")]

# of other commands
TableOutput = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="A .csv, .tsv or .parquet file; default: CSV on the screen."),
]
Scores = Annotated[bool, typer.Option("--scores", help="Add the decision values of the classes.")]
Proba = Annotated[bool, typer.Option("--proba", help="Classes: add the probability of each.")]
Interval = Annotated[
    float | None,
    typer.Option(metavar="LEVEL", help="Numbers: add ends that hold with this probability, such as 0.9."),
]
Keep = Annotated[str | None, typer.Option(help="Columns of the data to write too: id,name; '*' for all.")]
Spreadsheet = Annotated[
    bool,
    typer.Option("--spreadsheet", help="Text that a spreadsheet would run gets an apostrophe."),
]
TrueTargetName = Annotated[
    str | None, typer.Option("--target", "-t", help="The true values; by default the column learnt.")
]
RowValues = Annotated[
    str | None, typer.Option(help="A row by its values: age=41,colour=red; what is not named is missing.")
]
Everything = Annotated[bool, typer.Option("--all", help="All units, in all digits.")]
ExportTo = Annotated[
    Kind | None, typer.Option(help="The language; by default the ending of the output says it.")
]
ProgramOutput = Annotated[
    Path | None, typer.Option("--output", "-o", help="The file to write; default: the screen.")
]


def fields(text: str) -> list[str]:
    """A list separated by commas; what stands in double quotes is taken as it is.

    >>> fields('id, "last, first" ,x,')
    ['id', 'last, first', 'x']
    """
    found = []
    for match in _FIELD.finditer(text):
        quoted, bare = match[1], match[2]
        if quoted is not None:
            found.append(quoted.replace('""', '"'))
        elif bare.strip():
            found.append(bare.strip())
    return found


def names(text: str | None) -> tuple[str, ...]:
    """The names of columns in an option, none without it."""
    return () if text is None else tuple(fields(text))


def words(text: str | None) -> tuple[str, ...] | None:
    """The words in an option, None without it."""
    return None if text is None else tuple(fields(text))


def monotone(texts: list[str] | None) -> dict[str, int]:
    """Columns with their direction.

    >>> monotone(["age+", "price-"])
    {'age': 1, 'price': -1}
    """
    found = {}
    for text in texts or ():
        if text[-1:] not in ("+", "-") or not text[:-1]:
            raise InputError(f"--monotone takes a column and + or -, such as age+, got {text!r}.")
        found[text[:-1]] = 1 if text[-1] == "+" else -1
    return found


def interactions(
    pairwise: bool, none: bool, groups: list[str] | None
) -> str | tuple[tuple[str, ...], ...] | None:
    """Which columns may act together, from the three options that say it."""
    if pairwise + none + bool(groups) > 1:
        raise InputError("--pairwise, --no-interactions and --interactions exclude each other.")
    if groups:
        return tuple(names(group) for group in groups)
    return "pairwise" if pairwise else "no_interactions" if none else None


def check_numbers(jobs: int, test: float | None) -> None:
    """Refuse numbers that typer cannot."""
    if jobs == 0:
        raise InputError("--jobs must be a number of threads, or -1 for all cores, got 0.")
    if test is not None and not 0 < test < 1:
        raise InputError(f"--test must be a share of the rows between 0 and 1, got {test}.")


def is_stream(path: Path) -> bool:
    """Whether standard input is meant."""
    return str(path) == STANDARD


def name_in_messages(path: Path) -> str:
    """What to call a file in messages."""
    return "standard input" if is_stream(path) else str(path)


def one_stdin(model: Path, data: Path) -> None:
    """Refuse to read two things from standard input."""
    if str(model) == str(data) == STANDARD:
        raise InputError("Model and data cannot both be standard input (-).")
