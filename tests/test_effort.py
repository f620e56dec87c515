"""effort= trades time for accuracy, and nothing else."""

import numpy as np
import pytest

from sleek import LowRankLSSVC, LowRankLSSVR
from sleek.datasets import make_ripley
from sleek.fit.policy import EFFORTS


def test_a_quick_fit_tries_less_and_does_its_job():
    X, y = make_ripley(3250, random_state=0)
    quick, normal = (
        LowRankLSSVC(effort=effort, random_state=0).fit(X[:2250], y[:2250]) for effort in ("quick", "normal")
    )
    assert len(quick.selection_["loss"]) < len(normal.selection_["loss"])
    assert max(quick.selection_["n_units"]) <= 30
    assert min(quick.selection_["n_rows"]) == EFFORTS["quick"].heats[0]
    assert quick.score(X[2250:], y[2250:]) > normal.score(X[2250:], y[2250:]) - 0.02


def test_on_few_rows_a_quick_fit_tries_one_shape_of_each_basis():
    X, y = make_ripley(200, random_state=0)
    model = LowRankLSSVC(effort="quick", random_state=0).fit(X, y)
    tried = model.selection_
    shapes = {
        (basis, shape) for basis, shape in zip(tried["basis"], tried["shape"], strict=True) if shape == shape
    }
    assert len({basis for basis, _ in shapes}) == len(shapes)


def test_thorough_may_have_more_units():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(2500, 3))
    y = np.sin(9 * X[:, 0]) * np.cos(7 * X[:, 1]) + (X[:, 2] > 0.5) * np.sin(15 * X[:, 1])
    thorough = LowRankLSSVR(effort="thorough", random_state=0).fit(X, y)
    assert max(thorough.selection_["n_units"]) > EFFORTS["normal"].most_units
    few = LowRankLSSVR(effort="thorough", max_units=40, random_state=0).fit(X, y)
    assert max(few.selection_["n_units"]) <= 40


@pytest.mark.parametrize("effort", ["none", 3, None])
def test_other_words_get_a_sentence(effort):
    with pytest.raises(ValueError, match=r"`effort` must be one of 'normal', 'quick', 'thorough', got"):
        LowRankLSSVC(effort=effort).fit([[0.0], [1.0]], [0, 1])
