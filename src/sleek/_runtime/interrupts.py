"""Ctrl-C that arrives inside compiled code."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
ASKED = ("_get_wrapper_address()", "_get_jit_address()")  # what numba asks for an address


def interruptible(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Let an interrupt inside a compiled function come through as KeyboardInterrupt.

    Python notices a signal when compiled code takes its lock again to hand over a result. The function then
    returns a result with an exception set, which Python reports as a SystemError caused by that exception,
    or by another such error. And it notices one while numba asks in Python for the address of an argument
    that is a function: numba goes on without an answer, and its TypeError is all that is left.

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
        except TypeError as error:
            if str(error).startswith(ASKED):
                raise KeyboardInterrupt from None
            raise

    return wrapper
