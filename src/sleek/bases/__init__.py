"""The learnable basis functions; a new one is one more file in this folder."""

from importlib import import_module
from inspect import isabstract
from pkgutil import iter_modules

from sleek.bases.base import Basis


def known_bases() -> dict[str, type[Basis]]:
    """Every final basis by its name: those of this folder, and those that a user's program has defined.

    >>> known_bases()["simplex"]
    <class 'sleek.bases.simplex.Simplex'>
    """
    for module in iter_modules(__path__, prefix=f"{__name__}."):
        import_module(module.name)
    pending, found = [Basis], {}
    while pending:
        cls = pending.pop()
        pending += cls.__subclasses__()
        if not isabstract(cls):
            found[cls.name] = cls
    return found
