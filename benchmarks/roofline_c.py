"""The loops of `roofline.c`, compiled in this run, with the signatures of sleek's kernels."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Function = Callable[..., Any]

SOURCE = Path(__file__).with_name("roofline.c")
FLAGS = ("-O3", "-march=native", "-ffast-math")
FORMS = {  # of every kernel that is a loop
    "absolute_distance": ("registers", "pairs", "tiles", "plain"),
    "absolute_distance_vjp": ("pairs", "units", "tiles", "plain"),
    "output_gradient": ("plain",),
    "column_moments": ("rows",),
}


def compiler() -> str | None:
    """The C compiler's path, or None."""
    return shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


def compile_c(folder: Path, dtype: str) -> ctypes.CDLL:
    """Compile `roofline.c` for one type of numbers."""
    real, bits = {"float64": ("double", 64), "float32": ("float", 32)}[dtype]
    library = folder / f"roofline_{dtype}.so"
    command = [str(compiler()), *FLAGS, f"-DREAL={real}", f"-DREAL_BITS={bits}", "-shared", "-fPIC"]
    subprocess.run(
        [*command, str(SOURCE), "-o", str(library), "-lm"], check=True, capture_output=True, text=True
    )
    return ctypes.CDLL(str(library))


def call(function: Any, arrays: Sequence[Array], sizes: Sequence[int]) -> None:
    """Call a C function of pointers followed by long integers."""
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
    function(*pointers, *map(ctypes.c_long, sizes))


def absolute_distance(function: Any) -> Function:
    """A C loop with the signature of `reference.absolute_distance`."""

    def run(X: Array, centers: Array, shapes: Array) -> Array:
        Z = np.empty((len(X), len(centers)), X.dtype)
        call(function, (X, centers, shapes, Z), (len(X), *centers.shape))
        return Z

    return run


def absolute_distance_vjp(function: Any) -> Function:
    """A C loop with the signature of `reference.absolute_distance_vjp`."""

    def run(X: Array, centers: Array, shapes: Array, dZ: Array) -> tuple[Array, Array]:
        d_centers, d_shapes = np.empty_like(centers), np.empty_like(shapes)
        call(function, (X, centers, shapes, dZ, d_centers, d_shapes), (len(X), *centers.shape))
        return d_centers, d_shapes

    return run


def output_gradient(function: Any) -> Function:
    """A C loop with the signature of `reference.output_gradient`, for one output."""

    def run(Phi: Array, T: Array, s: Array, theta: Array, b: Array) -> Array:
        dPhi = np.empty_like(Phi)
        call(function, (Phi, T, s, theta, b, dPhi), Phi.shape)
        return dPhi

    return run


def column_moments(function: Any) -> Function:
    """A C loop with the signature of `reference.column_moments`."""

    def run(X: Array, s: Array) -> tuple[float, Array, Array, Array, Array]:
        d = X.shape[1]
        weight, mean, squares = np.empty(1), np.empty(d), np.empty(d)
        low, high = np.empty(d, X.dtype), np.empty(d, X.dtype)
        call(function, (X, s, weight, mean, squares, low, high), X.shape)
        return float(weight[0]), mean, squares, low, high

    return run


def elementwise(function: Any) -> Function:
    """A C loop over all numbers of an array."""

    def run(Z: Array) -> Array:
        result = np.empty_like(Z)
        call(function, (Z, result), (Z.size,))
        return result

    return run


def loops(library: ctypes.CDLL) -> dict[str, dict[str, Function]]:
    """Every form of every kernel: kernel -> title -> function."""
    wrappers = (absolute_distance, absolute_distance_vjp, output_gradient, column_moments)
    return {
        wrap.__name__: {
            f"C, {form}": wrap(library[f"{wrap.__name__}_{form}"]) for form in FORMS[wrap.__name__]
        }
        for wrap in wrappers
    }
