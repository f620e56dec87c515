"""The learnable basis functions: one file each, and what their units, coordinates and formulas are.

A basis knows rows and numbers, and nothing of targets, training or models. A new one is one more file in this
room, or a class in a user's own program.
"""

from functools import cache
from importlib import import_module
from inspect import isabstract
from pkgutil import iter_modules

from sleek.bases.base import Basis


def known_bases() -> dict[str, type[Basis]]:
    """Every final basis by its name: those of this room, and those that a user's program has defined.

    A class that is defined again under the same name in the same module, as in a notebook, takes the place of
    the first. Two different classes of one name are refused: a saved model could come back as the other.

    >>> known_bases()["simplex"]
    <class 'sleek.bases.simplex.Simplex'>
    """
    _import_room()
    pending: list[type[Basis]] = list(Basis.__subclasses__())
    found: dict[str, type[Basis]] = {}
    while pending:
        cls = pending.pop(0)
        pending += cls.__subclasses__()
        if isabstract(cls):
            continue
        other = found.get(cls.name)
        if other is not None and _place(other) != _place(cls):
            raise ValueError(
                f"Two bases are called {cls.name!r}: {_place(other)} and {_place(cls)}. Give one of them "
                "another `name`: a saved model says by name which basis it has."
            )
        found[cls.name] = cls
    return found


@cache
def _import_room() -> None:
    """Import the bases of this room, once: a folder is read for that."""
    for module in iter_modules(__path__, prefix=f"{__name__}."):
        import_module(module.name)


def _place(cls: type[Basis]) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"
