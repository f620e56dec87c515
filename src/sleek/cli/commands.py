"""The commands: their arguments, options and help. The work is done in the modules that they import.

A new command is a function with `@command`; what it needs is imported inside.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, ParamSpec

import typer

from sleek import __version__
from sleek.cli.errors import InputError, guarded
from sleek.cli.options import AsJson, BasisName, Data, Kind, Model, Task, check_numbers, names, one_stdin

P = ParamSpec("P")

app = typer.Typer(
    name="sleek",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def command(function: Callable[P, None]) -> Callable[P, None]:
    """Register a command: its name and help are those of the function."""
    app.command()(guarded(function))
    return function


def _version(wanted: bool) -> None:
    if wanted:
        print(f"sleek {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Kernel machines with a handful of units: accurate as an SVM, small enough to read.

    [bold]Learn[/bold]     sleek fit data.csv --target COLUMN -o model.json
    [bold]Use[/bold]       sleek predict model.json new.csv -o predictions.csv
    [bold]Check[/bold]     sleek evaluate model.json test.csv
    [bold]Read[/bold]      sleek show model.json
    [bold]Ship[/bold]      sleek export model.json --to sql

    First time here? [bold]sleek demo[/bold]
    """


@command
def fit(
    data: Data,
    target: Annotated[str, typer.Option("--target", "-t", help="The column to predict.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the model here; without it, only report.")
    ] = None,
    task: Annotated[
        Task | None,
        typer.Option(
            metavar="TASK", help="classification or regression; by default the target's values decide."
        ),
    ] = None,
    columns: Annotated[str | None, typer.Option(help="Learn from these columns only: a,b,c")] = None,
    drop: Annotated[str | None, typer.Option(help="Leave out these columns: id,date")] = None,
    categories: Annotated[
        str | None, typer.Option(help="Numbers in these columns are codes, not quantities: zip,month")
    ] = None,
    weight: Annotated[str | None, typer.Option(help="A column with the weight of each row.")] = None,
    test: Annotated[
        float | None, typer.Option(help="Hold out this share of the rows, between 0 and 1, and test on it.")
    ] = None,
    units: Annotated[
        int | None, typer.Option(min=1, metavar="INTEGER", help="The number of units; by default chosen.")
    ] = None,
    basis: Annotated[
        BasisName,
        typer.Option(metavar="BASIS", help="auto, gaussian_rbf, sigmoidal, robust_rbf or simplex."),
    ] = BasisName.auto,
    jobs: Annotated[int, typer.Option(help="Threads; -1 means all cores. The result is the same.")] = -1,
    seed: Annotated[int, typer.Option(help="Seed of all that is drawn at random.")] = 0,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Tell what is tried.")] = False,
    as_json: AsJson = False,
) -> None:
    """Learn a model from a table.

    Text becomes categories, missing numbers become the column's median.
    Whether the target is a class or a number is decided by its values.
    Reported is the error to expect on new rows, found without a test set.

    [bold]Examples[/bold]
    sleek fit houses.csv --target price -o houses.json
    sleek fit patients.csv -t outcome --drop id,name --test 0.25
    zcat log.csv.gz | sleek fit - -t clicked --json -o clicks.json
    """
    from sleek.cli.output import STDOUT, check_output, print_json, say_notes, screen, write_bytes
    from sleek.cli.summary import show_fit
    from sleek.cli.training import Choices, train
    from sleek.model.json_file import dumps
    from sleek.tables.table import read_table

    choices = Choices(
        target=target,
        task=None if task is None else task.value,
        units=units,
        basis=basis.value,
        weight=weight,
        columns=names(columns),
        drop=names(drop),
        categories=names(categories),
        jobs=jobs,
        seed=seed,
        verbose=verbose,
        test=test,
    )
    check_numbers(jobs, test)
    check_output(output)
    fitted = train(read_table(str(data)), choices)
    content = dumps(fitted.model)
    report = fitted.report | {"file": None if output is None else str(output), "bytes": len(content)}
    if output is not None:
        write_bytes(content, output)
    to_stdout = output is not None and str(output) == STDOUT
    if as_json and not to_stdout:
        print_json(report | {"notes": fitted.notes})
    else:
        say_notes(fitted.notes)
        show_fit(report, fitted.inputs, screen(stderr=to_stdout))


@command
def predict(
    model: Model,
    data: Data,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="A .csv or .parquet file; default: CSV on the screen."),
    ] = None,
    scores: Annotated[bool, typer.Option("--scores", help="Add the decision values of the classes.")] = False,
    keep: Annotated[
        str | None, typer.Option(help="Columns of the data to write too: id,name; '*' for all.")
    ] = None,
) -> None:
    """Predict every row of a table.

    Columns that the model does not read are ignored.
    Missing numbers are filled with the median of the rows learnt from.

    [bold]Examples[/bold]
    sleek predict model.json new.csv --keep id -o predictions.csv
    cat new.csv | sleek predict model.json - --scores | sort -t, -k2 -g | head
    """
    from sleek.cli import applying
    from sleek.cli.output import check_output, say_notes, write_columns
    from sleek.tables.table import read_table

    one_stdin(model, data)
    check_output(output)
    columns, notes = applying.predict(
        applying.load_model(str(model)), read_table(str(data)), scores, names(keep)
    )
    say_notes(notes)
    write_columns(columns, output)


@command
def evaluate(
    model: Model,
    data: Data,
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="The true values; by default the column learnt.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare predictions with the truth.

    Prints accuracy and a table of mistakes for classes, RMSE and R² for numbers.

    [bold]Example[/bold]
    sleek evaluate model.json test.csv --json
    """
    from sleek.cli import applying
    from sleek.cli.output import print_json, say_notes, screen
    from sleek.cli.scoring import show_scores
    from sleek.tables.table import read_table

    one_stdin(model, data)
    scores, notes = applying.evaluate(applying.load_model(str(model)), read_table(str(data)), target)
    if as_json:
        print_json(scores | {"notes": notes})
    else:
        say_notes(notes)
        show_scores(scores, screen())


@command
def show(
    model: Model,
    row: Annotated[
        str | None, typer.Option(help="Explain the prediction for these values: age=41,colour=red")
    ] = None,
    explain: Annotated[
        str | None, typer.Option(help="Explain the prediction for a row of a file: data.csv:1")
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="All columns, not only those that matter most.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Print a model: where its units are, how wide, and what they weigh.

    [bold]Examples[/bold]
    sleek show model.json
    sleek show model.json --explain data.csv:17
    """
    from sleek.cli import explaining
    from sleek.cli.applying import load_model
    from sleek.cli.output import print_json, screen
    from sleek.cli.show import model_as_json, show_model

    if row is not None and explain is not None:
        raise InputError("--row and --explain both name a row: give one of them.")
    one_stdin(model, Path((explain or "").rpartition(":")[0]))
    found = load_model(str(model))
    if row is None and explain is None:
        if as_json:
            print_json(model_as_json(found))
        else:
            show_model(found, screen(), everything)
        return
    x = (
        explaining.row_of_text(found, row)
        if row is not None
        else explaining.row_of_file(found, explain or "")
    )
    explanation = found.explain(x)
    if as_json:
        print_json(explaining.explanation_as_json(explanation))
    else:
        explaining.show_explanation(found, explanation, screen())


@command
def export(
    model: Model,
    to: Annotated[
        Kind | None, typer.Option(help="The language; by default the ending of the output says it.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file to write; default: the screen.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="What to call the function, graph or result.")] = None,
    table: Annotated[str | None, typer.Option(help="SQL: the table to select from.")] = None,
    dialect: Annotated[str | None, typer.Option(help="SQL: the database's dialect.")] = None,
    dtype: Annotated[str | None, typer.Option(help="C and ONNX: float32 or float64.")] = None,
) -> None:
    """Write a model as a program that needs no sleek.

    [bold]Examples[/bold]
    sleek export model.json --to sql --table patients
    sleek export model.json -o model.h
    sleek export model.json -o model.onnx
    """
    from sleek.cli.applying import load_model
    from sleek.cli.exporting import kind_of, program
    from sleek.cli.output import check_output, write_bytes

    kind = kind_of(None if to is None else to.value, output)
    check_output(output)
    options = {"name": name, "table": table, "dialect": dialect, "dtype": dtype}
    write_bytes(program(load_model(str(model)), kind, options), output)


@command
def demo() -> None:
    """Learn a small problem and draw what was learnt, in a few seconds."""
    from sleek.cli.demo import run
    from sleek.cli.output import screen

    run(screen())
