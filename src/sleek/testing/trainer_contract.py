"""The promises every trainer makes, as tests that a new one inherits.

Supply a factory and run pytest::

    from sleek.testing import TrainerContract

    class TestMyTrainer(TrainerContract):
        def make(self):
            return MyTrainer()
"""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
from sklearn.base import clone

from sleek.bases.expansion import Expansion, Part
from sleek.bases.gaussian_rbf import GaussianRBF
from sleek.bases.robust_rbf import RobustRBF
from sleek.closed_form.least_squares import fit_outputs
from sleek.closed_form.solve import Penalty
from sleek.outputs.classes import ClassOutputs
from sleek.outputs.labels import Labels
from sleek.outputs.numbers import NumberOutputs
from sleek.rows.arrays import array_source
from sleek.rows.source import Source
from sleek.trainers.base import Limit, Problem, Trainer, Training

N, D, M = 90, 2, 4


class TrainerContract:
    """Subclass it and define `make`."""

    def make(self) -> Trainer:
        """A trainer to be tested, quick enough for 90 rows."""
        raise TypeError(f"{type(self).__name__} must define make(self), which returns the trainer to test.")

    # -- problems

    def rows(self, n_outputs: int = 1, weights: str = "ones", n_jobs: int = 1) -> Source:
        """Two classes for one output, numbers for several."""
        rng = np.random.default_rng(0)
        X = rng.normal(size=(N, D))
        s = {"ones": np.ones(N), "counts": rng.integers(1, 4, size=N).astype(float)}[weights]
        if n_outputs == 1:
            y = (X[:, 0] * X[:, 1] + 0.2 * rng.normal(size=N) > 0).astype(np.int64)
            outputs = ClassOutputs(np.array([0, 1]))
            return array_source(X, Labels.of(y), s, outputs=outputs, n_jobs=n_jobs, block_rows=31)
        Y = np.column_stack([np.sin(X[:, 0]), *(X[:, 1] ** k for k in range(1, n_outputs))])
        numbers = NumberOutputs.learn(NumberOutputs.survey(Y, s), flat=False)
        return array_source(X, Y, s, outputs=numbers, n_jobs=n_jobs, block_rows=31)

    def start(self, n_parts: int = 1) -> Expansion:
        """Units of one basis, or of two."""
        rng = np.random.default_rng(1)
        bases = (GaussianRBF(), RobustRBF())[:n_parts]
        return Expansion(
            tuple(Part(basis, basis.start(rng.normal(size=(M, D)), 0.4, rng)) for basis in bases)
        )

    def problem(
        self, n_outputs: int = 1, n_parts: int = 1, weights: str = "ones", n_jobs: int = 1
    ) -> Problem:
        """Rows, units at their start, and a penalty that lets them move."""
        return Problem(self.rows(n_outputs, weights, n_jobs), self.start(n_parts), Penalty(10.0, 1e-2))

    # -- promises

    def test_it_hands_back_units_with_their_closed_form(self) -> None:
        for n_outputs, n_parts, weights in (
            (1, 1, "ones"),
            (3, 1, "counts"),
            (1, 2, "counts"),
            (2, 2, "ones"),
        ):
            problem = self.problem(n_outputs, n_parts, weights)
            training = self.make().train(problem)
            assert [len(part) for part in training.expansion.parts] == [M] * n_parts
            assert all(np.isfinite(array).all() for array in _arrays(training.expansion))
            solution = fit_outputs(problem.source, training.expansion, problem.penalty.C).solution
            np.testing.assert_allclose(training.solution.theta, solution.theta, rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(training.solution.b, solution.b, rtol=1e-9, atol=1e-12)

    def test_it_tells_how_it_went(self) -> None:
        lines: list[str] = []
        training = self.make().train(replace(self.problem(), report=lines.append))
        assert training.n_iter >= 0
        assert training.status.endswith(".")
        assert all(len(column) == training.n_iter for column in training.history.values())
        assert all(isinstance(line, str) and line for line in lines)

    def test_constraints_hold(self) -> None:
        for part in self.make().train(self.problem(n_parts=2)).expansion.parts:
            for parameter in part.basis.parameters:
                assert part.units[parameter.name].min() >= parameter.lower

    def test_the_problem_is_left_alone(self) -> None:
        problem = self.problem()
        before = [array.copy() for array in _arrays(problem.start)]
        self.make().train(problem)
        for array, copy in zip(_arrays(problem.start), before, strict=True):
            np.testing.assert_array_equal(array, copy)

    def test_the_result_is_the_same_every_time_and_for_any_number_of_threads(self) -> None:
        trainings = [self.make().train(self.problem(n_jobs=n_jobs)) for n_jobs in (1, 1, 2)]
        for other in trainings[1:]:
            for a, b in zip(_arrays(trainings[0].expansion), _arrays(other.expansion), strict=True):
                np.testing.assert_array_equal(a, b)

    def test_it_can_be_cloned_and_pickled(self) -> None:
        trainer = self.make()
        expected = _arrays(trainer.train(self.problem()).expansion)
        for copy in (clone(trainer), pickle.loads(pickle.dumps(trainer))):
            for a, b in zip(expected, _arrays(copy.train(self.problem()).expansion), strict=True):
                np.testing.assert_array_equal(a, b)

    # -- of trainers that fit units by least squares under a pull

    def test_what_it_declares_of_pull_is_what_it_does(self) -> None:
        trainer = self.make()
        training = trainer.train(self.problem())
        assert (training.coordinates is None) == (trainer.pull is None)

    def test_it_stops_when_it_is_told_to(self) -> None:
        if self.make().pull is not None:
            assert self.make().train(replace(self.problem(), limit=Limit(2))).n_iter <= 2

    def test_it_goes_on_from_where_it_was(self) -> None:
        if self.make().pull is None:
            return
        problem = self.problem()
        short = self.make().train(replace(problem, limit=Limit(5)))
        longer = self.make().train(replace(problem, begin=short.reached, limit=Limit(5)))
        assert _objective(longer, problem) <= _objective(short, problem) * (1 + 1e-9)

    def test_a_strong_prior_holds_the_units(self) -> None:
        if self.make().pull is None:
            return
        problem = replace(self.problem(), penalty=Penalty(10.0, 1e9))
        training = self.make().train(problem)
        assert training.coordinates is not None
        u = training.coordinates.vector(training.expansion)
        assert np.abs(u).max() < 1e-3


def _arrays(expansion: Expansion) -> list[np.ndarray]:
    return [array for part in expansion.parts for array in part.units.arrays.values()]


def _objective(training: Training, problem: Problem) -> float:
    """½‖θ‖²/C + ½ Σ s r² + ½·prior·‖u‖²."""
    theta, b = training.solution
    assert training.coordinates is not None
    u = training.coordinates.vector(training.expansion)

    def squares(block: object) -> float:
        r = block.T - training.expansion.features(block.X) @ theta - b  # type: ignore[attr-defined]
        return float(np.sum(block.s[:, None] * r**2))  # type: ignore[attr-defined]

    penalty = problem.penalty
    held = float(np.sum(theta**2)) / penalty.C + penalty.prior * float(u @ u)
    return 0.5 * (held + problem.source.map_reduce(squares))
