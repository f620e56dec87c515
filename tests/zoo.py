"""Models of every basis and task for the tests of saving, exporting and explaining."""

from functools import cache

import numpy as np

from sleek import KernelModel, LowRankLSSVC, LowRankLSSVR, Units
from sleek.bases import known_bases
from sleek.tables.columns import CategoryColumn, Inputs, NumberColumn

BASES = ("gaussian_rbf", "robust_rbf", "sigmoidal", "simplex")
TASKS = ("binary", "classes", "number", "numbers")
D, ROWS = 5, 400
CASES = [(basis, task) for basis in BASES for task in TASKS]
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
    return kind(8, basis=basis, C=10.0, shape=shape, random_state=0).fit(X[:200], y[:200])


def model(basis, task):
    return fitted(basis, task).model_


def test_rows(task):
    return problem(task)[0]


test_rows.__test__ = False


def scale(model, X):
    """What errors are relative to: Σ_j |θ_j φ_j| + |b| of each row and output."""
    return np.abs(model.features(X)) @ np.abs(model.theta) + np.abs(model.b)


def outputs(model, X):
    """The decision values (n, k)."""
    return np.asarray(model.decision_function(X)).reshape(len(X), -1)


def handmade(basis="gaussian_rbf", labels=(0, 1), d=3, m=2, seed=0, **more):
    """A model without training, with any labels (None for regression)."""
    rng = np.random.default_rng(seed)
    made = known_bases()[basis]()
    units = made.start(rng.normal(size=(m, d)), 0.5, rng)
    units = made.project(units.map(lambda _, array: array + 0.1 * rng.normal(size=array.shape)))
    classes = None if labels is None else np.array(labels)
    k = 1 if classes is None or len(classes) == 2 else len(classes)
    return KernelModel(
        basis=made,
        units=Units(dict(units.arrays)),
        theta=rng.normal(size=(m, k)),
        b=0.1 * rng.normal(size=k),
        C=10.0,
        classes=classes,
        flat=k == 1,
        **more,
    )


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
