"""Ctrl-C that arrives inside compiled code."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def interruptible(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Let an interrupt inside a compiled function come through as KeyboardInterrupt.

    Python notices a signal when compiled code takes its lock again to hand over a result. The function then
    returns a result with an exception set, which Python reports as a SystemError caused by that exception,
    or by another such error.

    >>> @interruptible
    ... def interrupted():
    ...     raise SystemError("returned a result with an exception set") from KeyboardInterrupt()
    >>> try:
    ...     interrupted()
    ... except KeyboardInterrupt:
    ...     print("interrupted")
    interrupted
    """

    @wraps(function)
    def wrapper(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        try:
            return function(*args, **kwargs)
        except SystemError as error:
            cause: BaseException | None = error
            while isinstance(cause, SystemError):
                cause = cause.__cause__
            if isinstance(cause, KeyboardInterrupt):
                raise cause from None
            raise

    return wrapper
