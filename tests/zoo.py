"""Models of every basis and task, and of two bases at once, for tests of saving, exporting, explaining."""

from dataclasses import replace
from functools import cache

import numpy as np

from sleek import (
    ClassOutputs,
    Expansion,
    KernelModel,
    LowRankLSSVC,
    LowRankLSSVR,
    Network,
    NumberOutputs,
    Part,
    VariableProjection,
)
from sleek.bases import known_bases
from sleek.tables.columns import CategoryColumn, NumberColumn
from sleek.tables.inputs import Inputs

BASES = ("box", "gaussian_rbf", "network", "robust_rbf", "sigmoidal", "simplex")
MIXED = ("gaussian_rbf+sigmoidal", "box+robust_rbf", "box+linear")
SMOOTH = ("gaussian_rbf", "network", "sigmoidal", "gaussian_rbf+sigmoidal")
TASKS = ("binary", "classes", "number", "numbers")
D, ROWS = 5, 400
CASES = [(basis, task) for basis in (*BASES, "linear", "curves", *MIXED) for task in TASKS]
INPUTS = Inputs(
    (
        NumberColumn("age", fill=41.5),
        CategoryColumn('city\'s "name"', levels=("Köln", "it's", "a\\b")),
        NumberColumn("int", fill=None),
    )
)


@cache
def problem(task):
    """Rows in unlike units, some far from zero, and a target; the last 200 rows are not trained on."""
    rng = np.random.default_rng(3)
    Z = rng.normal(size=(ROWS, D))
    X = Z * np.array([1.0, 20.0, 1e-3, 5.0, 300.0]) + np.array([0.0, 60.0, 0.0, -7.0, 1000.0])
    f = np.tanh(2 * Z[:, 0]) + Z[:, 1] * Z[:, 2] - np.abs(Z[:, 3]) + 0.3 * Z[:, 4]
    g = np.cos(Z[:, 0] + Z[:, 4]) * 1e3
    y = {
        "binary": np.where(f > -0.5, "it's", "no"),
        "classes": np.digitize(f, [-1.0, 0.5]) * 10 - 5,
        "number": 5.0 + 100 * f,
        "numbers": np.column_stack([f, g]),
    }[task]
    return X, y


@cache
def fitted(basis, task):
    X, y = problem(task)
    kind = LowRankLSSVC if task in ("binary", "classes") else LowRankLSSVR
    shape = 0.1 if basis == "simplex" else 0.3
    size = "auto" if basis in ("linear", "curves") else 8
    settings = {"basis": basis, "C": 10.0, "shape": shape, "random_state": 0}
    if basis == "network":  # two hidden layers, and nothing to choose: choosing takes seconds
        trainer = VariableProjection(pull=1e-2, tol=1e-3)
        settings |= {"basis": Network(hidden=(4, 3)), "trainer": trainer}
    return kind(size, **settings).fit(X[:200], y[:200])


@cache
def model(basis, task):
    """A fitted model; of several bases, joined by "+", the mean of their models."""
    models = [fitted(name, task).model_ for name in basis.split("+")]
    if len(models) == 1:
        return models[0]
    return KernelModel(
        expansion=Expansion(tuple(part for one in models for part in one.parts)),
        theta=np.concatenate([one.theta for one in models]) / len(models),
        b=np.mean([one.b for one in models], axis=0),
        C=10.0,
        outputs=models[0].outputs,
    )


def test_rows(task):
    return problem(task)[0]


test_rows.__test__ = False


def classifies(model):
    return isinstance(model.outputs, ClassOutputs)


def scale(model, X):
    """What errors are relative to: Σ_j |θ_j φ_j| + |b| of each row and output."""
    return np.abs(model.features(X)) @ np.abs(model.theta) + np.abs(model.b)


def outputs(model, X):
    """The decision values (n, k)."""
    return np.asarray(model.decision_function(X)).reshape(len(X), -1)


def handmade(basis="gaussian_rbf", labels=(0, 1), d=3, m=2, seed=0, **more):
    """A model without training, with any labels (None: a number); bases joined by "+" have m units each."""
    rng = np.random.default_rng(seed)
    parts = tuple(_part(known_bases()[name](), d, m, rng) for name in basis.split("+"))
    k = 1 if labels is None or len(labels) == 2 else len(labels)
    kind = NumberOutputs(np.zeros(k), np.ones(k)) if labels is None else ClassOutputs(np.array(labels))
    return KernelModel(
        expansion=Expansion(parts),
        theta=rng.normal(size=(m * len(parts), k)),
        b=0.1 * rng.normal(size=k),
        C=10.0,
        **{"outputs": kind, **more},
    )


def with_basis(model, basis):
    """The same units taken for those of another basis."""
    return replace(model, expansion=Expansion.of(basis, model.parts[0].units))


def _part(basis, d, m, rng):
    units = basis.start(rng.normal(size=(m, d)), 0.5, rng)
    return Part(basis, basis.project(units.map(lambda _, array: array + 0.1 * rng.normal(size=array.shape))))


def with_inputs(basis="gaussian_rbf", labels=("no", "yes")):
    """A model that reads a table, and a table with gaps and unknown levels, and its features."""
    made = handmade(basis, labels, d=5, m=4, feature_names=INPUTS.feature_names, inputs=INPUTS)
    rng = np.random.default_rng(1)
    n = 60
    age = rng.normal(size=n)
    table = {
        "age": [None if n % 7 == 0 else float(v) for n, v in enumerate(age)],
        'city\'s "name"': [["Köln", "it's", "a\\b", "elsewhere", None][i] for i in rng.integers(5, size=n)],
        "int": rng.normal(size=n).tolist(),
    }
    return made, table, INPUTS.transform(table)
