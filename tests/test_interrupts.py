"""Ctrl-C at any time is a KeyboardInterrupt, also inside compiled code, and leaves nothing running."""

import json
import subprocess
import sys

import pytest

from sleek._runtime.interrupts import interruptible

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="has no interval timer")

# The timer's signal is handled as that of Ctrl-C is.
HARNESS = """
import json, random, signal, sys, threading
import numpy as np

signal.signal(signal.SIGALRM, signal.default_int_handler)


def interrupted(work, delay):
    signal.setitimer(signal.ITIMER_REAL, delay)
    try:
        work()
    except BaseException as error:
        return type(error).__name__
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return "nothing"


def interrupt_often(work, times, longest):
    random.seed(0)
    found = [interrupted(work, random.uniform(0.001, longest)) for _ in range(times)]
    left = [thread.name for thread in threading.enumerate() if thread.is_alive()]  # some were never started
    print(json.dumps([found, left]))


rng = np.random.default_rng(0)
"""

KERNELS = """
from sleek.kernels import centred_products, column_moments, squared_distance

A, B, s = rng.normal(size=(4096, 20)), rng.normal(size=(4096, 2)), np.ones(4096)
def work():
    while True:
        centred_products(A, B, s)
        column_moments(A, s)
        squared_distance(A, A[:5], A[5:10])
for kernel in (lambda: centred_products(A, B, s), lambda: column_moments(A, s)):
    kernel()  # compiled before interrupts begin
squared_distance(A, A[:5], A[5:10])
interrupt_often(work, 100, 0.02)
"""

FIT = """
from sklearn.base import clone
from sleek import Files, LowRankLSSVC, VariableProjection

X = rng.normal(size=(24_000, 4))
y = X[:, 0] * X[:, 1] > 0
if sys.argv[1] == "arrays":
    rows = (X, y)
else:
    import pyarrow as pa, pyarrow.parquet as pq

    pq.write_table(pa.table({f"x{i}": X[:, i] for i in range(4)} | {"y": y}), sys.argv[2])
    rows = (Files(sys.argv[2], target="y"),)
model = LowRankLSSVC(
    20,
    basis="gaussian_rbf",
    C=1.0,
    shape=0.1,
    trainer=VariableProjection(pull=0.01, max_iter=100_000, tol=1e-300),
    max_samples=None,  # in every step all rows
    n_jobs=int(sys.argv[3]),
    random_state=0,
)
model.set_params(trainer__max_iter=2).fit(*rows)  # compiled before interrupts begin
model = clone(model).set_params(trainer__max_iter=100_000)
interrupt_often(lambda: model.fit(*rows), 10, 0.2)
assert not hasattr(model, "model_")
"""


def run(code, *arguments):
    """What came out of every interrupt, and the threads that were left."""
    command = [sys.executable, "-W", "ignore", "-c", HARNESS + code, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_compiled_code_is_interrupted():
    found, _ = run(KERNELS)
    assert set(found) == {"KeyboardInterrupt"}


@pytest.mark.parametrize(("kind", "n_jobs"), [("arrays", 1), ("files", 2)])
def test_a_fit_is_interrupted(tmp_path, kind, n_jobs):
    found, threads = run(FIT, kind, tmp_path / "rows.parquet", n_jobs)
    assert set(found) == {"KeyboardInterrupt"}
    assert threads == ["MainThread"]


def test_an_interrupt_that_numba_loses_is_one():
    @interruptible
    def called(message):
        raise TypeError(message)

    with pytest.raises(KeyboardInterrupt):
        called("_get_wrapper_address() missing 1 required positional argument: 'sig'")
    with pytest.raises(TypeError, match="takes no keyword"):
        called("f() takes no keyword arguments")
