"""How near the kernels come to what the machine can do.

    python -m benchmarks.roofline            every shape and type, a minute
    python -m benchmarks.roofline --quick    one shape

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
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from benchmarks.roofline_c import compile_c, compiler, elementwise, loops
from sleek import GaussianRBF, RobustRBF, Sigmoidal, Simplex, Units
from sleek.kernels import reference
from sleek.rows.source import rows_per_block

Array = NDArray[Any]
Blocks = Sequence[Mapping[str, Array]]

SHAPES = ((20, 28), (30, 28), (20, 8), (30, 8))  # (m, d)
DTYPES = ("float64", "float32")
N_ROWS = 200_000
STRETCH = 8  # blocks that are timed together: about a millisecond


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
    in_c = {} if library is None else loops(library)
    return {
        name: ({"compiled": compiled[name]} if name in compiled else {})
        | {"NumPy": function}
        | in_c.get(name, {})
        for name, function in public_functions(reference).items()
        if set(arguments_of(function)) <= make_blocks(1, 1, 1, "float64")[0].keys()
    }


def parts(library: ctypes.CDLL | None) -> Contenders:
    """What rooflines are made of: matrix products forward, back and with itself, exp and tanh."""
    table: Contenders = {
        "product": {"BLAS": lambda X, shapes: X @ shapes.T},
        "product_back": {"BLAS": lambda X, dZ: dZ.T @ X},
        "product_self": {"BLAS": lambda Phi: Phi.T @ Phi},
        "exp": {"NumPy": lambda Z: np.exp(Z)},
        "tanh": {"NumPy": lambda Z: np.tanh(Z)},
    }
    if library is not None:
        for name in ("exp", "tanh"):
            table[name]["C"] = elementwise(library[f"all_{name}"])
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
    sigmoidal = Sigmoidal()
    table["sigmoidal.features"] = {
        "sleek": lambda X, slopes, offsets: sigmoidal.features(
            X, Units({"slopes": slopes, "offsets": offsets})
        )
    }
    table["sigmoidal.vjp"] = {
        "sleek": lambda X, slopes, offsets, Phi, dZ: sigmoidal.vjp(
            X, Units({"slopes": slopes, "offsets": offsets}), Phi, dZ
        )
    }
    return table


# -- measuring ----------------------------------------------------------------------------------------------


def make_blocks(n: int, m: int, d: int, dtype: str, seed: int = 0) -> list[dict[str, Array]]:
    """Rows in blocks with everything a contender may ask for by name; some rows lie on a centre."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    Z = rng.uniform(-2.0, 0.0, size=(n, m))
    slopes = rng.uniform(0.1, 1.0, size=(m, d)) / d
    T, theta = rng.choice([-1.0, 1.0], size=(n, 1)), rng.normal(size=(m, 1))
    rows = {"X": X, "Z": Z, "dZ": rng.normal(size=(n, m)), "Phi": np.exp(Z), "T": T, "s": np.ones(n)}
    units = {"centers": X[:m], "shapes": slopes, "slopes": slopes, "offsets": np.zeros(m), "theta": theta}
    rows, units = ({k: a.astype(dtype) for k, a in arrays.items()} for arrays in (rows, units))
    rows |= {"A": rows["Phi"], "B": rows["T"]}
    units |= {"b": np.zeros(1, dtype)}
    size = rows_per_block(n)
    return [
        {name: array[start : start + size] for name, array in rows.items()} | units
        for start in range(0, n, size)
    ]


def arguments_of(function: Callable[..., Any]) -> list[str]:
    """The names of the arrays a contender asks for."""
    signature = inspect.signature(getattr(function, "py_func", function))
    return [p.name for p in signature.parameters.values() if p.default is inspect.Parameter.empty]


def as_tuple(result: Any) -> tuple[Any, ...]:
    """What a kernel returns, as a tuple."""
    return result if isinstance(result, tuple) else (result,)


def check(name: str, contenders: Mapping[str, Callable[..., Any]], block: Mapping[str, Array]) -> None:
    """Every contender must compute what the reference does."""
    tolerance = 1e-9 if block["X"].dtype == np.float64 else 2e-3
    arrays = [block[a] for a in arguments_of(contenders["NumPy"])]
    truth = as_tuple(contenders["NumPy"](*(a.astype(np.float64) for a in arrays)))
    for title, function in contenders.items():
        for ours, theirs in zip(as_tuple(function(*arrays)), truth, strict=True):
            if not np.allclose(ours, theirs, rtol=tolerance, atol=tolerance * np.max(np.abs(theirs))):
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
                check(name, contenders, blocks[0])
            times: dict[str, list[NDArray[np.float64]]] = {title: [] for title in contenders}
            for _ in range(turns):
                for title, function in contenders.items():
                    times[title].append(seconds(function, blocks))
            for title, passes in times.items():
                best = np.min(passes, axis=0).sum()
                records.append({"kernel": name, "by": title, "seconds": float(best)})
    return records


def unmatched() -> list[str]:
    """Compiled kernels that have no definition in NumPy, or ask for something unknown: not measured."""
    return sorted(set(public_functions(compiled_module())) - set(kernels(None)))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the time of every contender relative to the fastest C loop or to BLAS."""
    from rich.console import Console

    from benchmarks.speed_kernels import roofline_table

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
