"""The package as a whole: what an import costs, and that the README's snippet runs."""

import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from distributed import LocalCluster

from sleek.datasets import make_ripley

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


def test_every_module_can_be_imported_first():
    """Each in a process of its own, forked from one that has imported nothing of sleek."""
    source = ROOT / "src"
    files = [path.relative_to(source).with_suffix("") for path in (source / "sleek").rglob("*.py")]
    names = [".".join(file.parts).removesuffix(".__init__") for file in files]
    assert len(names) > 100
    done = subprocess.run([sys.executable, "-c", ALONE, *names], capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("", 0)


def test_rooms_are_small():
    """No source file over 300 lines but compiled kernels; at most 6 modules on the ground floor."""
    files = list((ROOT / "src/sleek").rglob("*.py"))
    long = [f.name for f in files if len(f.read_text().splitlines()) > 300 and "compiled" not in f.name]
    assert long == []
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


def test_readme_snippets_run(tmp_path, monkeypatch):
    """One after the other, in a folder that has the files of the last ones; workers are threads."""
    monkeypatch.chdir(tmp_path)
    cheap = partial(LocalCluster, processes=False, dashboard_address=":0")
    monkeypatch.setattr("dask.distributed.LocalCluster", cheap)
    (tmp_path / "rows").mkdir()
    X, y = make_ripley(300, random_state=0)
    pq.write_table(pa.table({"a": X[:, 0], "b": X[:, 1], "y": y}), "rows/1.parquet")
    snippets = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    assert len(snippets) == 6
    names = {}
    for snippet in snippets:
        exec(compile(snippet, "README.md", "exec"), names)
    assert {path.name for path in tmp_path.iterdir()} == {
        "rows",
        "model.json",
        "model.h",
        "predictions.parquet",
    }
