"""Reports written to files: a page or Markdown, as the path ends."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from sleek._runtime.atomic import write_atomically
from sleek.model.kernel_model import KernelModel
from sleek.report.html_report import page_of
from sleek.report.included_rows import check_include_rows
from sleek.report.markdown_report import markdown_of
from sleek.report.measured import measure

KINDS: dict[str, Callable[..., str]] = {".html": page_of, ".htm": page_of, ".md": markdown_of}


def write_report(
    model: KernelModel, path: str | os.PathLike[str], X: Any = None, y: Any = None, include_rows: int = 0
) -> None:
    """Write the report of a model; see `KernelModel.report`."""
    if (X is None) != (y is None):
        raise ValueError("A report on data needs both `X` and `y`; without them, neither.")
    ending = Path(path).suffix.lower()
    if ending not in KINDS:
        raise ValueError(f"`path` must end in {', '.join(KINDS)}, got {str(path)!r}.")
    include_rows = check_include_rows(include_rows, X is not None, ending != ".md")
    name = getattr(y, "name", None)  # of a Series
    if isinstance(name, str) and "target" not in model.metadata:
        model = replace(model, metadata={**model.metadata, "target": name})
    measured = None if X is None else measure(model, X, y, include_rows)
    write_atomically(path, KINDS[ending](model, measured).encode("utf-8"))
