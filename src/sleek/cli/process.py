"""Changes to the process that only a command that owns it may make: pandas is not imported."""

from __future__ import annotations

import sys
from contextlib import suppress


class OwnProcess:
    """Whether this process belongs to one command, as `main` says; in tests and notebooks it does not."""

    hides_pandas = False

    def spare_pandas(self) -> None:
        """Keep pyarrow from importing pandas.

        It would, for a third of a second, only to ask whether arrays are those of pandas, and no command has
        any. It asks once and remembers the answer.
        """
        if not self.hides_pandas or "pandas" in sys.modules:
            return
        sys.meta_path.insert(0, _NoPandas())
        try:
            with suppress(ImportError):  # whoever needs pyarrow says so
                import pyarrow

                pyarrow.array([0.0])
        finally:
            sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _NoPandas)]


class _NoPandas:
    """Says that pandas is not installed."""

    def find_spec(self, name: str, path: object, target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("No module named 'pandas'", name=name)


own_process = OwnProcess()
