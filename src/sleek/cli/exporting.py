"""`sleek export`: a saved model as a program."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sleek._runtime.packages import need
from sleek.cli.errors import InputError, blaming
from sleek.cli.output import is_standard_output
from sleek.model.kernel_model import KernelModel

ENDINGS = {".onnx": "onnx", ".h": "c", ".sql": "sql", ".py": "python"}
OPTIONS = {
    "onnx": ("name", "dtype", "interval"),
    "c": ("name", "dtype", "interval"),
    "sql": ("name", "table", "dialect", "proba", "interval"),
    "python": ("name", "interval"),
}


def kind_of(kind: str | None, path: Path | None) -> str:
    """The language asked for, or that of the file's ending."""
    if kind is None:
        kind = ENDINGS.get(path.suffix.lower()) if path is not None else None
        if kind is None:
            raise InputError(f"Say --to {', '.join(OPTIONS)}, or let -o end in {', '.join(ENDINGS)}.")
    if kind == "onnx" and (path is None or is_standard_output(path)):
        raise InputError("ONNX is not text: name a file with -o model.onnx.")
    return kind


def program(model: KernelModel, kind: str, options: dict[str, Any]) -> bytes:
    """The bytes of the program, with those options that are not None."""
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in OPTIONS[kind]:
            takers = ", ".join(taker for taker, names in OPTIONS.items() if name in names)
            raise InputError(f"--{name} is for {takers}, not for {kind}.")
    with blaming(f"export to {kind}"):
        if kind == "onnx":
            return _onnx(model, given)
        from sleek.export import to_c, to_python, to_sql

        writers: dict[str, Callable[..., str]] = {"c": to_c, "python": to_python, "sql": to_sql}
        return writers[kind](model, **given).encode("utf-8")


def _onnx(model: KernelModel, options: dict[str, Any]) -> bytes:
    need("onnx", "onnx", "Export to ONNX")
    from sleek.export import to_onnx

    return bytes(to_onnx(model, **options).SerializeToString())
