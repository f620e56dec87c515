"""Models written to files as programs."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sleek._runtime.atomic import write_atomically
from sleek.export.c import to_c
from sleek.export.javascript import to_javascript
from sleek.export.onnx import to_onnx
from sleek.export.python import to_python
from sleek.export.sql import to_sql
from sleek.model.kernel_model import KernelModel

TEXTS: dict[str, Callable[..., str]] = {".h": to_c, ".mjs": to_javascript, ".py": to_python, ".sql": to_sql}


def write(model: KernelModel, path: str | os.PathLike[str], **options: Any) -> None:
    """Write a model in the language that the path ends in: .h, .mjs, .py, .sql or .onnx.

    >>> import tempfile
    >>> from sleek import LowRankLSSVC
    >>> from sleek.datasets import make_ripley
    >>> svc = LowRankLSSVC(3, basis="gaussian_rbf", C=10.0, random_state=0)
    >>> model = svc.fit(*make_ripley(100, random_state=0)).model_
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(model, f"{folder}/ripley.h", name="ripley")
    ...     print(Path(f"{folder}/ripley.h").read_text().splitlines()[0])
    /* A kernel machine of 3 gaussian_rbf units, written by sleek .... C99, needs math.h alone.
    """
    ending = Path(path).suffix.lower()
    if ending == ".onnx":
        write_atomically(path, to_onnx(model, **options).SerializeToString())
    elif ending in TEXTS:
        write_atomically(path, TEXTS[ending](model, **options).encode("utf-8"))
    else:
        raise ValueError(
            f"`path` must end in .onnx, {', '.join(TEXTS)} to name the language, got {str(path)!r}."
        )
