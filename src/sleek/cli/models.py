"""Model files as commands read them."""

from __future__ import annotations

import sys
from pathlib import Path

from sleek import ModelFileError
from sleek.cli.exits import InputError
from sleek.cli.options import STANDARD
from sleek.model.kernel_model import KernelModel
from sleek.model.saving import MAX_BYTES, loads
from sleek.tables.errors import TableError, no_such_file


def read_bytes(path: str, most: int = -1) -> bytes:
    """The content of a file, or of standard input; at most so many bytes, if a number is given."""
    if path == STANDARD:
        return sys.stdin.buffer.read(most)
    if Path(path).is_dir():
        raise TableError(f"{path} is a folder: a file is needed.")
    try:
        with open(path, "rb") as file:
            return file.read(most)
    except FileNotFoundError:
        raise no_such_file(path) from None
    except OSError as error:
        raise TableError(f"{path} cannot be read: {error.strerror}.") from None


def load_model(path: str) -> KernelModel:
    """Read a model file; ``-`` is standard input."""
    return model_in(read_bytes(path, MAX_BYTES + 1), path)


def model_in(data: bytes, path: str) -> KernelModel:
    """The model in the bytes of a file."""
    name = "standard input" if path == STANDARD else path
    if len(data) > MAX_BYTES:
        raise InputError(f"{name} is not a model: it has more than {MAX_BYTES:,} bytes.")
    try:
        return loads(data)
    except ModelFileError as error:
        raise InputError(f"{name} is not a model that can be used. {error}") from None
