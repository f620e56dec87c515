"""sleek: sparse least-squares kernel machines.

Kernel machines with a handful of learnable units instead of thousands of support vectors.

The public names are imported when the first of them is used. Importing the package itself is then a matter of
milliseconds: `sleek --help` and the completion of shell commands do not wait for SciPy and scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sleek._public import *  # noqa: F403
else:

    def __getattr__(name: str) -> Any:
        public = import_module("sleek._public")
        if name == "__all__":
            return public.__all__
        if name in public.__all__:
            return getattr(public, name)
        raise AttributeError(f"module 'sleek' has no attribute {name!r}")

    def __dir__() -> list[str]:
        return [*globals(), *import_module("sleek._public").__all__]


__version__ = "0.1.0"
