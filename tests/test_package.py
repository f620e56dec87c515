"""The package as a whole: what an import costs, and that the README's snippet runs."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_import_pulls_in_nothing_heavy():
    # scikit-learn imports pandas where it is installed, and pandas imports pyarrow: that is not ours to judge
    heavy = "numba torch dask onnx matplotlib pyarrow typer sklearn.metrics"
    code = "import sys; sys.modules['pandas'] = None; import sleek; "
    code += f"print([name for name in '{heavy}'.split() if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


def test_a_small_fit_does_not_import_numba():
    code = (
        "import sys, sleek; from sleek.datasets import make_ripley; "
        "sleek.LowRankLSSVC(3).fit(*make_ripley(250)); print('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


def test_readme_snippets_run():
    snippets = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    assert snippets
    for snippet in snippets:
        exec(compile(snippet, "README.md", "exec"), {})


def test_contributing_names_every_source_file():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    files = [path.relative_to(ROOT / "src/sleek") for path in (ROOT / "src/sleek").rglob("*.py")]
    missing = [str(file) for file in files if file.name != "__init__.py" and f"`{file}`" not in text]
    assert missing == []
