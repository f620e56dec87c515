"""What sleek does for a living, in one function: run with numba and threads, and again without either.

As a script it forbids both, as in Pyodide, and writes what it found to the folder of its first argument.
"""

import sys
import threading
from importlib import import_module
from pathlib import Path

BASES = ("gaussian_rbf", "robust_rbf", "box", "sigmoidal", "simplex", "curves", "linear")
PART = {"curves": {}, "linear": {}}  # these have no number of units


def forbid_numba_and_threads():
    """Make this process as poor as one in a browser; other packages are imported first."""
    sys.modules["numba"] = None
    for name in ("joblib", "pandas", "pyarrow.csv", "pyarrow.dataset", "scipy.stats", "sklearn.utils"):
        import_module(name)

    def start(thread):
        raise RuntimeError("can't start new thread")

    threading.Thread.start = start
    sys.platform = "emscripten"


def do_everything(folder):
    """Arrays by name: fits, predictions, explanations, files, updates."""
    import numpy as np

    import sleek

    rng = np.random.default_rng(0)
    found = {}

    # Enough rows for compiled loops. Units stay where they start: learning on and on turns the last digit of
    # a sum into another model.
    X = rng.normal(size=(6000, 6))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=len(X))
    for basis in BASES:
        units = PART.get(basis, {"n_units": 8})
        trainer = sleek.VariableProjection(max_iter=0)
        model = sleek.LowRankLSSVR(
            basis=basis, C=10.0, trainer=trainer, loss="squared_error", random_state=0, n_jobs=2, **units
        ).fit(X, y)
        model.model_.save(folder / f"{basis}.json", moments=True)
        read = sleek.load(folder / f"{basis}.json")
        found[basis] = read.predict(X, n_jobs=2)
        found[f"{basis}, explained"] = read.explain(X[:5]).contributions
        found[f"{basis}, updated"] = read.partial_fit(X[:50], y[:50] + 1).predict(X)

    # The defaults, on a table with categories and gaps.
    table = {
        "a": X[:150, 0],
        "b": X[:150, 1].copy(),
        "c": np.array(["x", "y", "z"])[rng.integers(3, size=150)],
    }
    table["b"][::9] = np.nan
    target = np.sin(2 * table["a"]) + (table["c"] == "x")
    price = sleek.LowRankLSSVR(random_state=0, n_jobs=2).fit(table, target)
    found["a table"] = price.predict(table)
    found["intervals"] = price.predict_interval(table)
    found["effects"] = np.array([len(price.effects().sentence)])
    classes = np.where(target > 0.3, "high", "low")
    few = sleek.LowRankLSSVC(5, basis="box", C=10.0, random_state=0, n_jobs=2).fit(table, classes)
    found["classes"] = few.predict_proba(table)

    # A file, read in blocks.
    np.savetxt(
        folder / "rows.csv", np.column_stack([X, y]), delimiter=",", header="a,b,c,d,e,f,y", comments=""
    )
    files = sleek.Files(folder / "rows.csv", target="y")
    from_file = sleek.LowRankLSSVR(basis="linear", random_state=0, n_jobs=2).fit(files)
    from_file.predict_to(sleek.Files(folder / "rows.csv"), folder / "predictions.csv")
    found["a file"] = np.loadtxt(folder / "predictions.csv", delimiter=",", skiprows=1)
    return found


if __name__ == "__main__":
    forbid_numba_and_threads()
    import numpy as np

    np.savez(Path(sys.argv[1]) / "found.npz", **do_everything(Path(sys.argv[1])))
