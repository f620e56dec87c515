"""How near the kernels come to what the machine can do.

    python benchmarks/roofline.py            every shape and type, a minute
    python benchmarks/roofline.py --quick    one shape

Rooflines are measured in the same run, on the same rows, in one thread:

- loops over |x - c|: the same loop in C (`roofline.c`), the fastest of a few natural forms, compiled here
  with ``cc -O3 -march=native -ffast-math``;
- matrix products: BLAS on the same shapes; and exp and tanh, the faster of NumPy and C.

Rows are handed over in blocks, as a fit does, from an array that is larger than the caches. Contenders take
turns. Every contender's result is checked against the reference first.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib
import inspect
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from sleek import GaussianRBF, RobustRBF, Sigmoidal, Simplex, Units
from sleek.kernels import reference
from sleek.sources import BLOCK_ROWS

Array = NDArray[Any]
Blocks = Sequence[Mapping[str, Array]]

SOURCE = Path(__file__).with_suffix(".c")
FLAGS = ("-O3", "-march=native", "-ffast-math")
C_DISTANCE = ("registers", "pairs", "tiles", "plain")
C_VJP = ("pairs", "units", "tiles", "plain")
C_ELEMENTWISE = ("exp", "tanh")
SHAPES = ((20, 28), (30, 28), (20, 8), (30, 8))  # (m, d)
DTYPES = ("float64", "float32")
N_ROWS = 200_000
STRETCH = 8  # blocks that are timed together: about a millisecond


# -- the loops in C -----------------------------------------------------------------------------------------


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


def c_distance(function: Any) -> Callable[..., Array]:
    """A C loop with the signature of `reference.absolute_distance`."""

    def absolute_distance(X: Array, centers: Array, shapes: Array) -> Array:
        Z = np.empty((len(X), len(centers)), X.dtype)
        call(function, (X, centers, shapes, Z), (len(X), *centers.shape))
        return Z

    return absolute_distance


def c_vjp(function: Any) -> Callable[..., tuple[Array, Array]]:
    """A C loop with the signature of `reference.absolute_distance_vjp`."""

    def absolute_distance_vjp(X: Array, centers: Array, shapes: Array, dZ: Array) -> tuple[Array, Array]:
        d_centers, d_shapes = np.empty_like(centers), np.empty_like(shapes)
        call(function, (X, centers, shapes, dZ, d_centers, d_shapes), (len(X), *centers.shape))
        return d_centers, d_shapes

    return absolute_distance_vjp


def c_elementwise(function: Any) -> Callable[..., Array]:
    """A C loop over all numbers of an array."""

    def elementwise(Z: Array) -> Array:
        result = np.empty_like(Z)
        call(function, (Z, result), (Z.size,))
        return result

    return elementwise


# -- who takes part: kernel -> contender -> function of a block's arrays ------------------------------------

Contenders = dict[str, dict[str, Callable[..., Any]]]


def compiled_module() -> ModuleType | None:
    """The compiled kernels, if the package has them and what they need is installed."""
    try:
        return importlib.import_module("sleek.kernels.compiled")
    except ImportError:
        return None


def public_functions(module: ModuleType | None) -> dict[str, Callable[..., Any]]:
    """The public functions that a module defines itself, compiled ones included."""
    if module is None:
        return {}
    own = {name: value for name, value in vars(module).items() if not name.startswith("_")}
    return {
        name: value
        for name, value in own.items()
        if callable(value) and not inspect.isclass(value) and value.__module__ == module.__name__
    }


def kernels(library: ctypes.CDLL | None) -> Contenders:
    """The kernels with a definition in NumPy: compiled, in C, in NumPy."""
    compiled = public_functions(compiled_module())
    table: Contenders = {}
    for name, function in public_functions(reference).items():
        table[name] = {"compiled": compiled[name]} if name in compiled else {}
        table[name]["NumPy"] = function
    if library is not None:
        for form in C_DISTANCE:
            table["absolute_distance"][f"C, {form}"] = c_distance(library[f"distance_{form}"])
        for form in C_VJP:
            table["absolute_distance_vjp"][f"C, {form}"] = c_vjp(library[f"vjp_{form}"])
    return table


def parts(library: ctypes.CDLL | None) -> Contenders:
    """What rooflines are made of: matrix products forward and back, exp and tanh."""
    table: Contenders = {
        "product": {"BLAS": lambda X, shapes: X @ shapes.T},
        "product_back": {"BLAS": lambda X, dZ: dZ.T @ X},
        "exp": {"NumPy": lambda Z: np.exp(Z)},
        "tanh": {"NumPy": lambda Z: np.tanh(Z)},
    }
    if library is not None:
        for name in C_ELEMENTWISE:
            table[name]["C"] = c_elementwise(library[f"all_{name}"])
    return table


def bases() -> Contenders:
    """Unit values and gradients of every basis, as a fit calls them."""
    table: Contenders = {}
    for basis in (GaussianRBF(), RobustRBF(), Simplex()):
        table[f"{basis.name}.features"] = {
            "sleek": lambda X, centers, shapes, basis=basis: basis.features(
                X, Units({"centers": centers, "shapes": shapes})
            )
        }
        table[f"{basis.name}.vjp"] = {
            "sleek": lambda X, centers, shapes, Phi, dZ, basis=basis: basis.vjp(
                X, Units({"centers": centers, "shapes": shapes}), Phi, dZ
            )
        }
    basis, zeros = Sigmoidal(), np.zeros(max(m for m, _ in SHAPES))
    table["sigmoidal.features"] = {
        "sleek": lambda X, shapes: basis.features(
            X, Units({"slopes": shapes, "offsets": zeros[: len(shapes)]})
        )
    }
    table["sigmoidal.vjp"] = {
        "sleek": lambda X, shapes, Phi, dZ: basis.vjp(
            X, Units({"slopes": shapes, "offsets": zeros[: len(shapes)]}), Phi, dZ
        )
    }
    return table


# -- measuring ----------------------------------------------------------------------------------------------


def make_blocks(n: int, m: int, d: int, dtype: str, seed: int = 0) -> list[dict[str, Array]]:
    """Rows in blocks with everything a contender may ask for by name; some rows lie on a centre."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(dtype)
    centers = X[:m].copy()
    shapes = rng.uniform(0.1, 1.0, size=(m, d)).astype(dtype) / d
    Z = rng.uniform(-2.0, 0.0, size=(n, m)).astype(dtype)
    dZ, Phi = rng.normal(size=(n, m)).astype(dtype), np.exp(Z)
    cuts = [slice(start, start + BLOCK_ROWS) for start in range(0, n, BLOCK_ROWS)]
    return [
        {"X": X[c], "centers": centers, "shapes": shapes, "Z": Z[c], "dZ": dZ[c], "Phi": Phi[c]} for c in cuts
    ]


def arguments_of(function: Callable[..., Any]) -> list[str]:
    """The names of the arrays a contender asks for."""
    signature = inspect.signature(getattr(function, "py_func", function))
    return [p.name for p in signature.parameters.values() if p.default is inspect.Parameter.empty]


def check(name: str, contenders: Mapping[str, Callable[..., Any]], blocks: Blocks) -> None:
    """Every contender must compute what the reference does."""
    block = blocks[0]
    tolerance = 1e-9 if block["X"].dtype == np.float64 else 2e-3
    arrays = [block[a] for a in arguments_of(contenders["NumPy"])]
    truth = contenders["NumPy"](*(a.astype(np.float64) for a in arrays))
    for title, function in contenders.items():
        result = function(*arrays)
        for ours, theirs in zip(np.atleast_3d(result), np.atleast_3d(truth), strict=True):
            if not np.allclose(ours, theirs, rtol=tolerance, atol=tolerance * np.abs(theirs).max()):
                raise ArithmeticError(f"{name} by {title} differs from the reference.")


def seconds(function: Callable[..., Any], blocks: Blocks) -> NDArray[np.float64]:
    """The time of every stretch of blocks in one pass over all of them."""
    arguments = [tuple(block[a] for a in arguments_of(function)) for block in blocks]
    times = [time.perf_counter()]
    for start in range(0, len(blocks), STRETCH):
        for arrays in arguments[start : start + STRETCH]:
            function(*arrays)
        times.append(time.perf_counter())
    return np.diff(times)


def measure(dtype: str, m: int, d: int, n: int = N_ROWS, turns: int = 7) -> list[dict[str, Any]]:
    """Time of a pass for every contender of every kernel at one shape.

    Contenders take `turns` turns. The best time of each stretch of blocks counts: an interruption of a
    millisecond spoils one stretch, not a whole pass.
    """
    records = []
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        library = compile_c(Path(folder), dtype) if compiler() else None
        blocks = make_blocks(n, m, d, dtype)
        checked, unchecked = kernels(library), {**parts(library), **bases()}
        for name, contenders in (*checked.items(), *unchecked.items()):
            if name in checked:
                check(name, contenders, blocks)
            times: dict[str, list[NDArray[np.float64]]] = {title: [] for title in contenders}
            for _ in range(turns):
                for title, function in contenders.items():
                    times[title].append(seconds(function, blocks))
            for title, passes in times.items():
                best = np.min(passes, axis=0).sum()
                records.append({"kernel": name, "by": title, "seconds": float(best)})
    return records


def unmatched() -> list[str]:
    """Compiled kernels that have no reference of the same name, and so no roofline here."""
    return sorted(set(public_functions(compiled_module())) - set(public_functions(reference)))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the time of every contender relative to the fastest C loop or to BLAS."""
    from rich.console import Console
    from speed_kernels import roofline_table

    parser = argparse.ArgumentParser(description="Compare the kernels with C and BLAS.")
    parser.add_argument("--quick", action="store_true", help="one shape, fewer rows")
    options = parser.parse_args(arguments)
    shapes, n, turns = (SHAPES[:1], 50_000, 3) if options.quick else (SHAPES, N_ROWS, 7)
    console = Console()
    for dtype in DTYPES:
        for m, d in shapes:
            with console.status(f"{dtype}, {m} units, {d} features"):
                found = measure(dtype, m, d, n, turns)
            job = {"part": "roofline", "dtype": dtype, "m": m, "d": d, "n": n, "kernels": found}
            text = "\n".join(roofline_table([job]))
            console.print(text.replace("<sub>", "").replace("</sub>", ""), markup=False)


if __name__ == "__main__":
    main()
