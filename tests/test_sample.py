"""Samples by class: every class is there, weights say how often it was drawn, blocks do not matter."""

import numpy as np
import pytest
from made_sources import class_source

from sleek import LowRankLSSVC
from sleek._runtime.threads import Workers
from sleek.outputs import ClassOutputs, Labels
from sleek.rows.arrays import array_source
from sleek.rows.sample import Sample

N = 20_000


def rare_source(n_rare=40, block_rows=None):
    rng = np.random.default_rng(0)
    y = rng.permutation((np.arange(N) < n_rare).astype(int))
    outputs = ClassOutputs.learn(ClassOutputs.survey(Labels.of(y), np.ones(N)), flat=True)
    return array_source(rng.normal(size=(N, 2)), Labels.of(y), outputs=outputs, block_rows=block_rows), y


def drawn(size, held=0, block_rows=None, share=0.05):
    source, y = rare_source(block_rows=block_rows)
    return Sample.draw(source, size, 3, Workers(), held, share), y


def test_all_of_a_rare_class_is_drawn():
    sample, y = drawn(1000)
    assert sample.n_rows == 1000
    assert y[sample.numbers].sum() == 40
    plain, _ = drawn(1000, share=0.0)
    assert y[plain.numbers].sum() < 10


def test_weights_undo_how_often_rows_were_drawn():
    """The weighted share of the rare class is its share among all rows."""
    for size in (200, 1000, 5000):
        sample, y = drawn(size)
        s = sample.rows.s
        assert s.sum() == pytest.approx(size)
        assert s @ y[sample.numbers] / s.sum() == pytest.approx(40 / N, rel=0.35)


def test_smaller_samples_are_those_that_a_draw_would_have_given():
    large, _ = drawn(5000)
    for size in (100, 1000):
        small, again = drawn(size)[0], large.smallest(size)
        np.testing.assert_array_equal(small.numbers, again.numbers)
        np.testing.assert_allclose(small.rows.s, again.rows.s, rtol=1e-12)


def test_rows_held_out_are_not_drawn_and_blocks_do_not_matter():
    whole, y = drawn(3000, held=4000)
    cut, _ = drawn(3000, held=4000, block_rows=777)
    np.testing.assert_array_equal(whole.numbers, cut.numbers)
    everything = Sample.draw(rare_source()[0], N, 3, Workers(), 4000, 0.05)
    assert everything.n_rows == N - 4000
    assert set(whole.numbers) <= set(everything.numbers)
    assert y[whole.numbers].sum() == y[everything.numbers].sum()


def test_common_classes_are_drawn_plainly():
    rng = np.random.default_rng(0)
    source = class_source(rng.normal(size=(N, 2)), np.arange(N) % 2)
    a, b = (Sample.draw(source, 500, 1, Workers(), 0, share) for share in (0.0, 0.05))
    np.testing.assert_array_equal(a.numbers, b.numbers)
    assert (b.rows.s == 1.0).all()


def test_a_class_of_ten_among_thousands_is_learnt():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30_000, 2))
    y = np.where(X[:, 0] > 0, 1, 0)
    X[:12] = [6.0, 6.0] + 0.2 * rng.normal(size=(12, 2))
    y[:12] = 2
    model = LowRankLSSVC(random_state=0).fit(X, y)
    assert (model.predict([[6.0, 6.0]]) == [2]).all()
