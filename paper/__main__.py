"""``python -m paper``: the command ``sleek reproduce`` by itself."""

import sys

from paper.errors import ExperimentError, need


def main() -> None:
    """Run the command, or say what is missing for it."""
    try:
        typer = need("typer", "Commands")
    except ExperimentError as error:
        print(f"sleek reproduce: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    from paper.command import command

    typer.run(command)


if __name__ == "__main__":
    main()
