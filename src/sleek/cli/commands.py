"""The commands: their arguments, options and help. The work is done in the modules that they import.

A new command is a function with `@command`; what it needs is imported inside.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Annotated, ParamSpec

import typer

from sleek import __version__
from sleek._runtime.progress import Display
from sleek.cli import options as opt
from sleek.cli.diffing import diff
from sleek.cli.edit_command import edit
from sleek.cli.exits import with_exit_codes
from sleek.cli.explain_command import explain
from sleek.cli.exporting import export
from sleek.cli.inspecting import inspect
from sleek.cli.reporting import report
from sleek.cli.update_command import merge, update

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
    app.command()(with_exit_codes(function))
    return function


def _version(wanted: bool) -> None:
    if wanted:
        print(f"sleek {__version__}")
        raise typer.Exit


@app.callback()
def sleek(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Kernel machines with a handful of units: accurate as an SVM, small enough to read.

    [bold]Look[/bold]      sleek inspect data.csv
    [bold]Learn[/bold]     sleek fit data.csv --target COLUMN -o model.json
    [bold]Use[/bold]       sleek predict model.json new.csv -o predictions.csv
    [bold]Check[/bold]     sleek evaluate model.json test.csv
    [bold]Read[/bold]      sleek show model.json
    [bold]Show[/bold]      sleek report model.json test.csv -o report.html
    [bold]Why[/bold]       sleek explain model.json data.csv:17
    [bold]Edit[/bold]      sleek edit model.json --remove COLUMN -o edited.json
    [bold]Compare[/bold]   sleek diff model.json edited.json
    [bold]Go on[/bold]     sleek update model.json more.csv
    [bold]Ship[/bold]      sleek export model.json --to sql

    First time here? [bold]sleek demo[/bold]
    """


command(inspect)


@command
def fit(
    data: opt.DataFile,
    target: opt.TargetName,
    output: opt.ModelOutput = None,
    task: opt.TaskName = None,
    columns: opt.ColumnNames = None,
    drop: opt.Drop = None,
    categories: opt.Categories = None,
    missing: opt.Missing = None,
    decimal: opt.Decimal = None,
    dates: opt.Dates = None,
    weight: opt.WeightName = None,
    groups: opt.GroupsName = None,
    cv: opt.CrossValidation = None,
    loss: opt.LossChoice = None,
    quantile: opt.Quantile = 0.5,
    power: opt.Power = 1.5,
    balanced: opt.Balanced = False,
    test: opt.TestShare = None,
    units: opt.NumberOfUnits = None,
    max_numbers: opt.MostNumbers = None,
    basis: opt.BasisChoice = opt.BasisName.auto,
    effort: opt.EffortChoice = opt.EffortName.normal,
    monotone: opt.Monotone = None,
    pairwise: opt.Pairwise = False,
    no_interactions: opt.NoInteractions = False,
    interactions: opt.Interactions = None,
    jobs: opt.Jobs = -1,
    seed: opt.Seed = 0,
    updatable: opt.Updatable = False,
    verbose: opt.Verbose = False,
    as_json: opt.AsJson = False,
) -> None:
    """Learn a model from a table.

    Text becomes categories, missing numbers become the column's median.
    Whether the target is a class or a number is decided by its values.
    Reported is the error to expect on new rows, found without a test set.

    [bold]Examples[/bold]
    sleek fit houses.csv --target price -o houses.json
    sleek fit patients.csv -t outcome --drop id,name --test 0.25
    sleek fit visits.csv -t pressure --groups patient
    sleek fit sales.csv -t demand --loss poisson --cv last
    zcat log.csv.gz | sleek fit - -t clicked --json -o clicks.json
    """
    begin = perf_counter()
    from sleek.cli.output import check_model_output, check_output, is_standard_output

    opt.check_numbers(jobs, test)
    check_model_output(output)
    check_output(output, data)
    with Display() as display:
        display(f"reading {opt.name_in_messages(data)}")
        from sleek.cli.data import path_of
        from sleek.cli.training import Choices, train
        from sleek.model.saving import dumps

        choices = Choices(
            target=target,
            task=None if task is None else task.value,
            units=units,
            basis=basis.value,
            max_numbers=max_numbers,
            effort=effort.value,
            weight=weight,
            groups=groups,
            cv=cv,
            loss=loss,
            quantile=quantile,
            power=power,
            columns=opt.names(columns),
            drop=opt.names(drop),
            categories=opt.names(categories),
            jobs=jobs,
            seed=seed,
            verbose=verbose,
            test=test,
            missing=opt.words(missing),
            decimal=None if decimal is None else decimal.value,
            dates=None if dates is None else dates.value,
            balanced=balanced,
            updatable=updatable,
            monotone=opt.monotone(monotone),
            interactions=opt.interactions(pairwise, no_interactions, interactions),
        )
        with path_of(data) as path:
            fitted = train(path, choices, display)
        content = dumps(fitted.model, moments=updatable)
    from sleek.cli.fit_summary import show_fit
    from sleek.cli.output import print_json, say_notes, screen, write_bytes

    to_stdout = output is not None and is_standard_output(output)
    report = fitted.values | {
        "seconds": round(perf_counter() - begin, 3),
        "file": opt.STANDARD if to_stdout else output and str(output),
        "bytes": len(content),
    }
    if output is not None:
        write_bytes(content, output)
    if as_json and not to_stdout:
        print_json(report | {"notes": fitted.notes})
    else:
        say_notes(fitted.notes)
        show_fit(report, fitted.inputs, screen(stderr=to_stdout))


@command
def predict(
    model: opt.ModelFile,
    data: opt.DataFile,
    output: opt.TableOutput = None,
    scores: opt.Scores = False,
    proba: opt.Proba = False,
    interval: opt.Interval = None,
    keep: opt.Keep = None,
    decimal: opt.Decimal = None,
    spreadsheet: opt.Spreadsheet = False,
) -> None:
    """Predict every row of a table.

    Columns that the model does not read are ignored.
    Missing numbers are filled with the median of the rows learnt from.

    [bold]Examples[/bold]
    sleek predict model.json new.csv --keep id --proba -o predictions.csv
    cat new.csv | sleek predict model.json - --scores | sort -t, -k2 -g | head
    """
    from sleek.cli.output import check_output, check_table_output, say_notes
    from sleek.cli.spreadsheets import check_spreadsheet

    opt.one_stdin(model, data)
    check_table_output(output)
    if spreadsheet:
        check_spreadsheet(output)
    check_output(output, model, data)
    with Display() as display:
        display(f"predicting {opt.name_in_messages(data)}")
        from sleek.cli.applying import predict
        from sleek.cli.data import path_of
        from sleek.cli.models import load_model

        found = load_model(str(model))
        wanted = {"scores": scores, "proba": proba, "interval": interval}
        with path_of(data) as path:
            notes = predict(found, path, output, opt.names(keep), decimal, spreadsheet, **wanted)
    say_notes(notes)


@command
def evaluate(
    model: opt.ModelFile,
    data: opt.DataFile,
    target: opt.TrueTargetName = None,
    weight: opt.WeightName = None,
    decimal: opt.Decimal = None,
    as_json: opt.AsJson = False,
) -> None:
    """Compare predictions with the truth.

    Prints accuracy and a table of mistakes for classes, RMSE and R² for numbers.
    Two classes have the area under the ROC curve and the average precision besides.
    Log loss and Brier score tell how good probabilities are, coverage how good intervals are.

    [bold]Examples[/bold]
    sleek evaluate model.json test.csv
    sleek evaluate model.json survey.csv --weight households --json
    """
    opt.one_stdin(model, data)
    with Display() as display:
        display(f"predicting {opt.name_in_messages(data)}")
        from sleek.cli.applying import evaluate
        from sleek.cli.data import path_of
        from sleek.cli.models import load_model

        found = load_model(str(model))
        with path_of(data) as path:
            scores, notes = evaluate(found, path, target, weight, decimal)
    from sleek.cli.output import print_json, say_notes, screen
    from sleek.cli.scoring import show_scores

    if as_json:
        print_json(scores | {"notes": notes})
    else:
        say_notes(notes)
        show_scores(scores, screen())


@command
def show(model: opt.ModelFile, everything: opt.Everything = False, as_json: opt.AsJson = False) -> None:
    """Print a model in words: how good it is, what each column does, and all of it in numbers.

    [bold]Examples[/bold]
    sleek show model.json
    sleek show model.json --all
    """
    from sleek.cli.models import load_model
    from sleek.cli.output import print_json, screen
    from sleek.cli.show import model_as_json, show_model

    found = load_model(str(model))
    if as_json:
        print_json(model_as_json(found))
    else:
        show_model(found, screen(), everything)


command(report)
command(explain)
command(edit)
command(diff)
command(update)
command(merge)
command(export)


@command
def demo() -> None:
    """Learn a small problem and draw what was learnt, in a few seconds."""
    from sleek.cli.demo import run
    from sleek.cli.output import screen

    run(screen())
