"""The package as a whole: what an import costs, and that the README's snippet runs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def printed(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout


def test_import_pulls_in_nothing_heavy():
    heavy = "numba torch dask onnx matplotlib pyarrow typer rich sklearn.metrics"
    code = (
        "import sys, sklearn.base; before = set(sys.modules); from sleek import LowRankLSSVC; "
        f"print(set('{heavy}'.split()) & (set(sys.modules) - before))"
    )
    assert printed(code) == "set()\n"


def test_the_package_alone_imports_nothing_but_the_standard_library():
    code = "import sys, sleek; print(sleek.__version__, {'numpy', 'scipy', 'sklearn'} & set(sys.modules))"
    assert printed(code).endswith(" set()\n")


def test_public_names():
    import sleek

    assert set(sleek.__all__) <= set(dir(sleek))
    assert {name for name in sleek.__all__ if getattr(sleek, name) is None} == set()
    with pytest.raises(AttributeError, match="module 'sleek' has no attribute 'LowRankSVC'"):
        _ = sleek.LowRankSVC


ALONE = """
import importlib, os, sys
import numba, numpy, onnx, pyarrow.csv, pyarrow.parquet, rich, scipy.optimize, sklearn.utils.validation, typer

for name in sys.argv[1:]:
    child = os.fork()
    if child == 0:
        try:
            importlib.import_module(name)
            os._exit(0)
        except BaseException as error:
            print(f"{name}: {error!r}", flush=True)
            os._exit(1)
    os.waitpid(child, 0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_every_module_can_be_imported_first():
    """Each in a process of its own, forked from one that has imported nothing of sleek."""
    source = ROOT / "src"
    files = [path.relative_to(source).with_suffix("") for path in (source / "sleek").rglob("*.py")]
    names = [".".join(file.parts).removesuffix(".__init__") for file in files]
    assert len(names) > 100
    done = subprocess.run([sys.executable, "-c", ALONE, *names], capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("", 0)


def test_the_ground_floor_is_small():
    assert len(list((ROOT / "src/sleek").glob("*.py"))) <= 6


def test_every_room_says_what_belongs_there():
    rooms = [path.parent for path in (ROOT / "src/sleek").glob("*/__init__.py")]
    assert [room.name for room in rooms if not (room / "__init__.py").read_text().startswith('"""')] == []


def test_a_small_fit_does_not_import_numba():
    code = (
        "import sys, sleek; from sleek.datasets import make_ripley; "
        "sleek.LowRankLSSVC(3).fit(*make_ripley(250)); print('numba' in sys.modules)"
    )
    assert printed(code) == "False\n"
