"""What each command imports: modules are named, seconds are not measured."""

import subprocess
import sys

import numpy as np
import pytest

from sleek import GaussianRBF, LowRankLSSVC

PROGRAM = """
import sys
from sleek.cli import main
sys.argv = ["sleek", *sys.argv[1:]]
code = 0
try:
    main()
except SystemExit as end:
    code = end.code
print("", *(name for name, module in sys.modules.items() if module), sep="\\n", file=sys.stderr)
raise SystemExit(code)
"""
LEARNING = {"sklearn", "scipy", "numba", "joblib", "sleek.estimators", "sleek.trainers", "sleek.cli.training"}
TABLES = {"pyarrow", "narwhals", "sleek.rows.files"}
OTHER_FILES = {"pandas", "pyarrow.parquet", "pyarrow.dataset", "pyarrow.json"}  # than CSV
PLAIN = {"numpy", *LEARNING, *TABLES}


def modules_of(*arguments, code=0):
    """The modules that a command has imported when it ends, and what it says on standard error."""
    command = [sys.executable, "-c", PROGRAM, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr[:2000]
    said, _, modules = done.stderr.partition("\nsys\n")
    return set(modules.split("\n")), said


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("startup")
    X = np.random.default_rng(0).normal(size=(80, 3)).round(3)
    lines = [",".join(map(str, row)) for row in X.tolist()]
    (folder / "new.csv").write_text("\n".join(["x0,x1,x2", *lines, ""]))
    model = LowRankLSSVC(4, basis="gaussian_rbf", C=10.0, random_state=0).fit(X, X[:, 0] * X[:, 1] > 0)
    model.model_.save(folder / "model.json")
    model = LowRankLSSVC(4, basis="sigmoidal", C=10.0, random_state=0).fit(X, X[:, 0] * X[:, 1] > 0)
    model.model_.save(folder / "tanh.json")
    table = {"a": X[:, 0], "c": ["x", "y"] * 40}
    LowRankLSSVC(4, basis="gaussian_rbf", C=10.0).fit(table, X[:, 0] > 0).model_.save(folder / "levels.json")
    days = np.datetime64("2024-01-01") + np.arange(80)
    table = {"a": X[:, 0], "day": days.astype("datetime64[us]")}
    LowRankLSSVC(4, basis="gaussian_rbf", C=10.0).fit(table, X[:, 0] > 0).model_.save(folder / "dates.json")
    return folder


@pytest.mark.parametrize(
    ("arguments", "unwanted"),
    [
        (["show", "model.json"], LEARNING | TABLES | {"numpy.ma"}),
        (["show", "model.json", "--json"], LEARNING | TABLES),
        (["explain", "model.json", "--row", "x0=1,x1=2,x2=3"], LEARNING | TABLES | {"pandas"}),
        (["explain", "levels.json", "--row", "a=1,c=x"], LEARNING | TABLES | {"pandas"}),
        (["explain", "dates.json", "--row", "a=1,day=2024-02-01"], LEARNING | OTHER_FILES),
        (["show", "tanh.json"], LEARNING | TABLES | {"numpy.ma"}),
        (["export", "model.json", "--to", "c"], LEARNING | TABLES),
        (["export", "model.json", "--to", "sql"], LEARNING | TABLES),
        (["export", "model.json", "--to", "python"], LEARNING | TABLES),
        (["explain", "model.json", "new.csv:3"], LEARNING | OTHER_FILES),
        (["predict", "model.json", "new.csv"], LEARNING | OTHER_FILES),
        (["predict", "model.json", "new.csv", "--proba"], LEARNING | OTHER_FILES),
        (["inspect", "new.csv"], LEARNING | OTHER_FILES),
        (["--version"], PLAIN),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_command_imports_only_what_it_needs(files, monkeypatch, arguments, unwanted):
    monkeypatch.chdir(files)
    found, _ = modules_of(*arguments)
    assert sorted(found & unwanted) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["show", "nodel.json"],
        ["predict", "nodel.json", "new.csv"],
        ["evaluate", "model.json", "old.csv"],
        ["fit", "old.csv", "--target", "x0"],
        ["export", "nodel.json", "--to", "c"],
        ["update", "model.json", "old.csv"],
        ["inspect", "old.csv"],
    ],
    ids=" ".join,
)
def test_a_file_that_is_not_there_is_said_before_anything_is_imported(files, monkeypatch, arguments):
    monkeypatch.chdir(files)
    found, said = modules_of(*arguments, code=2)
    assert "does not exist." in said
    assert ("Did you mean 'model.json'?" in said) == ("nodel.json" in arguments)
    assert sorted(found & PLAIN) == []


def test_loading_a_model_and_predicting_few_rows_needs_numpy_alone(files):
    code = (
        "import sys, sleek; model = sleek.load('model.json'); model.predict([[0.0, 1.0, 2.0]]); "
        "model.predict_proba([[0.0, 1.0, 2.0]]); print(*sys.modules, sep='\\n')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=files, check=True)
    assert not set(done.stdout.split("\n")) & (LEARNING | TABLES)


def test_bases_are_cloned_and_set_as_scikit_learn_does():
    from sklearn.base import clone

    from sleek import VariableProjection

    trainer = VariableProjection(pull=0.1, tol=1e-3)
    copy = clone(trainer)
    assert copy is not trainer
    assert copy.get_params() == trainer.get_params() == {"pull": 0.1, "max_iter": 200, "tol": 1e-3}
    assert repr(copy) == "VariableProjection(pull=0.1, tol=0.001)"
    assert repr(GaussianRBF()) == "GaussianRBF()"
    estimator = LowRankLSSVC(trainer=trainer, basis=GaussianRBF()).set_params(trainer__max_iter=7)
    assert (trainer.max_iter, estimator.get_params()["trainer__tol"]) == (7, 1e-3)
    assert clone(estimator).trainer.max_iter == 7
    with pytest.raises(ValueError, match="Invalid parameter 'steps' for estimator"):
        trainer.set_params(steps=3)


def test_an_update_imports_no_estimator(files, tmp_path):
    X = np.random.default_rng(0).normal(size=(80, 3))
    estimator = LowRankLSSVC(4, basis="gaussian_rbf", C=10.0, random_state=0).fit(X, X[:, 0] > 0)
    estimator.model_.save(tmp_path / "m.json", {"target": "y"}, moments=True)
    lines = [",".join(map(str, [*row, str(row[0] > 0).lower()])) for row in X[:5].tolist()]
    (tmp_path / "new.csv").write_text("\n".join(["x0,x1,x2,y", *lines, ""]))
    modules, _ = modules_of("update", tmp_path / "m.json", tmp_path / "new.csv", "-o", tmp_path / "n.json")
    assert not modules & (LEARNING - {"scipy"})  # which solves
