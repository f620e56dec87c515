"""`sleek edit`: a saved model without some of its units, or with weights of one's own."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Annotated

import typer

from sleek.cli import options as opt
from sleek.cli.exits import InputError, blaming


def edit(
    model: opt.ModelFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="Write the edited model here.")],
    remove: Annotated[
        str | None, typer.Option(help="Units by number and columns by name to take out: 3,age")
    ] = None,
    fix: Annotated[str | None, typer.Option(help="Weights of units: 2=0.5,4=-1")] = None,
    sign: Annotated[str | None, typer.Option(help="Signs of units: 2=+,4=-")] = None,
    note: Annotated[str, typer.Option(help="Why: it is kept in the file.")] = "",
) -> None:
    """Take units or columns out of a model, or set weights, and solve the rest again exactly.

    It needs the sums over rows that [bold]sleek fit --updatable[/bold] keeps in the file, and no rows.
    The training error follows from these sums, the error on new rows does not.

    [bold]Examples[/bold]
    sleek edit model.json --remove age --note "not known in time" -o edited.json
    sleek edit model.json --fix 2=0.5 --sign 4=+ -o edited.json
    """
    from sleek._runtime.counting import plain
    from sleek.cli.models import load_model
    from sleek.cli.output import check_model_output, check_output, write_bytes
    from sleek.model.saving import dumps
    from sleek.report.shown import inputs_of

    check_model_output(output)
    check_output(output, model)
    found = load_model(str(model))
    names = inputs_of(found).names
    gone = [part if part in names else _unit(part, names) for part in opt.names(remove)]
    weights = {_unit(unit, names): _number(value) for unit, value in _pairs("--fix", fix)}
    signs = {_unit(unit, names): value for unit, value in _pairs("--sign", sign)}
    with blaming(opt.name_in_messages(model)):
        edited = found.edited(gone, weights, signs, note)
    write_bytes(dumps(edited, moments=True), output)
    print(plain(str(edited.edits.history[-1])))


def _pairs(option: str, text: str | None) -> list[tuple[str, str]]:
    """What stands on both sides of = in a list."""
    found = []
    for item in opt.names(text):
        left, mark, right = item.partition("=")
        if not mark:
            raise InputError(f"{option} needs unit=value, such as 2=0.5, got {item!r}.")
        found.append((left.strip(), right.strip()))
    return found


def _unit(text: str, names: Collection[str]) -> int:
    if not text.isdecimal():
        from sleek.tables.errors import suggestion

        raise InputError(f"The model has no column or unit {text!r}.{suggestion(text, list(names))}")
    return int(text)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"--fix needs numbers, got {text!r}.") from None
