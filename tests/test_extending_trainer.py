"""A new trainer, as somebody outside the package would write it: units stay where they start.

That makes a Nystroem-like model: bumps at medoids of the rows, whose weights alone are learnt.
"""

import numpy as np

from sleek import LowRankLSSVR, Trainer, Training
from sleek.closed_form.least_squares import fit_outputs
from sleek.testing import TrainerContract


class Still(Trainer):
    """Leave units where they start, and solve for their weights."""

    pull = None  # units are not fitted by least squares under a pull to their start

    def train(self, problem):
        solution = fit_outputs(problem.source, problem.start, problem.penalty.C).solution
        status = "Not trained: units stay where they started."
        return Training(problem.start, solution, 0, {}, status, converged=True, coordinates=None)


class TestStill(TrainerContract):
    def make(self):
        return Still()


def test_an_estimator_takes_it():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(300, 2))
    y = np.sin(2 * X[:, 0]) * X[:, 1]
    settings = {"n_units": 25, "basis": "gaussian_rbf", "C": 100.0, "shape": 1.0, "random_state": 0}
    still = LowRankLSSVR(trainer=Still(), **settings).fit(X, y)
    assert still.status_.startswith("Not trained")
    assert still.score(X, y) > 0.8
    moved = LowRankLSSVR(**settings).fit(X, y)
    assert moved.score(X, y) > still.score(X, y)
