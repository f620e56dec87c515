"""`get_params` and `set_params` as in scikit-learn, without importing it.

scikit-learn asks objects for `get_params` and `set_params`, whatever their class: `clone`, nested parameters
and grid searches work. Its `BaseEstimator` would do the same, but importing it takes a second, for which a
command that only reads a model should not wait.
"""

from __future__ import annotations

from inspect import signature
from typing import Any, Self


class Parameters:
    """An object whose settings are the parameters of its constructor, under the same names.

    >>> class Steps(Parameters):
    ...     def __init__(self, length=1.0, most=10):
    ...         self.length, self.most = length, most
    >>> Steps(most=3), Steps().set_params(length=2.0).get_params()
    (Steps(most=3), {'length': 2.0, 'most': 10})
    """

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        """The names of the parameters and their defaults."""
        if cls.__init__ is object.__init__:
            return {}
        found = list(signature(cls).parameters.values())
        return {each.name: each.default for each in found if each.kind is not each.VAR_KEYWORD}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings by name; deep: also those of settings that have some, as ``name__other``."""
        found = {name: getattr(self, name) for name in self._defaults()}
        for name, value in list(found.items()) if deep else []:
            if hasattr(value, "get_params") and not isinstance(value, type):
                found |= {f"{name}__{inner}": own for inner, own in value.get_params().items()}
        return found

    def set_params(self, **params: Any) -> Self:
        """Set some of the settings."""
        known = self._defaults()
        for key, value in params.items():
            name, _, inner = key.partition("__")
            if name not in known:
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: {sorted(known)}."
                )
            if inner:
                getattr(self, name).set_params(**{inner: value})
            else:
                setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        changed = [
            f"{name}={value!r}"
            for name, default in self._defaults().items()
            if (value := getattr(self, name)) is not default and repr(value) != repr(default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"
