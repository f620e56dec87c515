"""`sleek update` and `sleek merge`: their arguments, options and help."""

from __future__ import annotations

from functools import partial

from sleek._runtime.progress import Display
from sleek.cli import options as opt
from sleek.cli.exits import InputError


def update(
    model: opt.ModelFile,
    data: opt.DataFile,
    output: opt.UpdatedOutput = None,
    target: opt.TrueTargetName = None,
    weight: opt.WeightName = None,
    forget: opt.ForgetRows = False,
    alone: opt.Alone = False,
    forgetting_factor: opt.Fading = 1.0,
    again: opt.Again = False,
    as_json: opt.AsJson = False,
) -> None:
    """Add rows to a model, or take them out, without the rows it has.

    The model must have been fitted with --updatable. Its units stay where they are; what they weigh is then
    that of all rows together. Says whether the new rows still have the errors that were to be expected.

    [bold]Examples[/bold]
    sleek fit 2024.csv -t price --updatable -o model.json
    sleek update model.json january.csv
    sleek update model.json gone.csv --forget -o without.json
    sleek update north.json south.csv --alone -o south.json
    """
    from sleek.cli.output import check_model_output, check_output, is_standard_output

    opt.one_stdin(model, data)
    if output is None and opt.is_stream(model):
        raise InputError("A model from standard input has no file: name one with -o.")
    if alone and (forget or output is None):
        raise InputError("--alone makes another model: name its file with -o, and leave out --forget.")
    place = model if output is None else output
    check_model_output(place)
    check_output(place, data, *([model] if opt.is_stream(model) else []))
    with Display() as display:
        display(f"reading {opt.name_in_messages(data)}")
        from sleek.cli import updating
        from sleek.cli.output import print_json, say_notes, screen

        change = updating.Change(target, weight, forget, alone, forgetting_factor, again)
        waiting = partial(display, f"waiting for another update of {place}")
        found, content = updating.update_file(model, data, place, change, waiting)
    to_stdout = is_standard_output(place)
    report = found.values | {"file": opt.STANDARD if to_stdout else str(place), "bytes": len(content)}
    if as_json and not to_stdout:
        print_json(report | {"notes": found.notes})
    else:
        say_notes(found.notes)
        updating.show(report, screen(stderr=to_stdout))


def merge(models: opt.ModelFiles, output: opt.MergedOutput, as_json: opt.AsJson = False) -> None:
    """Merge models of several places into the model of all their rows.

    They must share their units: one place fits with --updatable, the others begin with its file.
    Nothing is averaged: the sums over rows are added, and the weights solved from them.

    [bold]Example[/bold]
    sleek merge north.json south.json west.json -o all.json
    """
    from sleek.cli.output import check_model_output, check_output, is_standard_output

    if sum(opt.is_stream(path) for path in models) > 1:
        raise InputError("Only one model can be standard input (-).")
    check_model_output(output)
    check_output(output, *models)
    from sleek.cli import updating
    from sleek.cli.models import load_model
    from sleek.cli.output import print_json, screen
    from sleek.model.saving import dumps

    found = updating.merge(
        [load_model(str(path)) for path in models], [opt.name_in_messages(path) for path in models]
    )
    content = dumps(found.model, moments=True)
    updating.write(content, output)
    to_stdout = is_standard_output(output)
    report = found.values | {"file": opt.STANDARD if to_stdout else str(output), "bytes": len(content)}
    if as_json and not to_stdout:
        print_json(report)
    else:
        updating.show(report, screen(stderr=to_stdout))
