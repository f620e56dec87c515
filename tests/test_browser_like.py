"""Where there is neither numba nor a thread, as in a browser, everything works and says the same."""

import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from browser_like import BASES, do_everything

from sleek import LowRankLSSVR, kernels
from sleek._runtime import threads
from sleek.estimators import base


def test_numpy_in_one_thread_does_what_compiled_loops_in_two_do(tmp_path):
    poor, rich = tmp_path / "poor", tmp_path / "rich"
    poor.mkdir()
    rich.mkdir()
    script = Path(__file__).with_name("browser_like.py")
    subprocess.run([sys.executable, "-W", "error", script, poor], check=True)
    expected = do_everything(rich)
    with np.load(poor / "found.npz") as found:
        assert set(found) == set(expected) > set(BASES)
        for name, values in expected.items():
            scale = np.abs(values).max()
            np.testing.assert_allclose(found[name], values, rtol=0, atol=1e-6 * scale, err_msg=name)


def test_without_numba_no_block_is_too_large_for_numpy(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    kernels.can_compile.cache_clear()
    try:
        assert not kernels.can_compile()
        assert kernels._implementation(large=True) is kernels.reference
    finally:
        kernels.can_compile.cache_clear()


def test_many_rows_without_numba_are_a_warning(monkeypatch):
    X = np.random.default_rng(0).normal(size=(200, 2))
    monkeypatch.setattr(base, "can_compile", lambda: False)
    monkeypatch.setattr(base, "MANY_ROWS", 200)
    with pytest.warns(UserWarning, match=r"numba is not installed: NumPy works on the 200 rows"):
        LowRankLSSVR(basis="linear").fit(X, X[:, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LowRankLSSVR(basis="linear").fit(X[1:], X[1:, 0])


def test_without_threads_items_are_made_when_they_are_asked_for(monkeypatch):
    monkeypatch.setattr(sys, "platform", "emscripten")
    assert threads.Workers(8).n_jobs == 1
    made, closed = [], []

    def make():
        try:
            for i in range(5):
                made.append(i)
                yield i
        finally:
            closed.append(True)

    ahead = threads.read_ahead(make(), n_ahead=3)
    assert next(ahead) == 0
    assert made == [0]
    ahead.close()
    assert closed == [True]
