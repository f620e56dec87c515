"""The package as a whole: what an import costs, and that the README's snippet runs."""

import re
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

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


def test_a_small_fit_does_not_import_numba():
    code = (
        "import sys, sleek; from sleek.datasets import make_ripley; "
        "sleek.LowRankLSSVC(3).fit(*make_ripley(250)); print('numba' in sys.modules)"
    )
    assert printed(code) == "False\n"


def test_readme_snippets_run(tmp_path, monkeypatch):
    """One after the other, in a folder that has the files of the last one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows").mkdir()
    X, y = make_ripley(300, random_state=0)
    pq.write_table(pa.table({"a": X[:, 0], "b": X[:, 1], "y": y}), "rows/1.parquet")
    snippets = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    assert len(snippets) == 3
    names = {}
    for snippet in snippets:
        exec(compile(snippet, "README.md", "exec"), names)
    assert {path.name for path in tmp_path.iterdir()} == {
        "rows",
        "model.json",
        "model.h",
        "predictions.parquet",
    }
