"""Dask collections keep every promise that a source of rows makes, on a cluster and without one."""

from itertools import pairwise

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from sleek import DaskRows
from sleek.testing import SourceContract

SIZES = (0, 700, 1)  # and the rest


def chunks(n):
    return (*SIZES, n - sum(SIZES))


class TestArraysHere(SourceContract):
    """Without a client: one partition after the other, in this process."""

    predicts_as_it_lies = True

    @pytest.fixture(autouse=True)
    def no_pool(self):
        """Dask's own threads stay when its work is done, and threads are counted here."""
        with dask.config.set(scheduler="synchronous"):
            yield

    def make(self, X, y, sample_weight):
        cut = chunks(len(X))
        y, s = (None if a is None else da.from_array(a, chunks=(cut,)) for a in (y, sample_weight))
        return DaskRows(da.from_array(X, chunks=(cut, 2)), y, s)


@pytest.mark.usefixtures("client")
class TestFramesOnACluster(SourceContract):
    """With workers that are threads: partitions of every size."""

    predicts_as_it_lies = True

    def make(self, X, y, sample_weight):
        frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=y)
        if sample_weight is not None:
            frame["w"] = sample_weight
        ends = np.cumsum([0, *chunks(len(X))])
        parts = [frame.iloc[a:b] for a, b in pairwise(ends.tolist())]
        whole = dd.from_map(lambda i: parts[i], range(len(parts)), meta=frame.iloc[:0])
        return DaskRows(whole, target="y", weight=None if sample_weight is None else "w")
