"""Passes over files: threads that end, memory that does not grow, progress that is told."""

import json
import subprocess
import sys
import threading

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sleek import Files, NumberOutputs
from sleek._runtime.threads import Workers
from sleek.rows import rows as rows_module
from sleek.rows.cutting import Cutting
from sleek.rows.files import chunks as reading
from sleek.rows.files.formats import Parquet
from sleek.rows.rows import Run


@pytest.fixture
def path(tmp_path):
    """40 blocks of rows in two files."""
    rng = np.random.default_rng(0)
    table = pa.table(
        {"a": rng.normal(size=80_000), "b": rng.normal(size=80_000), "y": rng.normal(size=80_000)}
    )
    pq.write_table(table.slice(0, 30_000), tmp_path / "1.parquet", row_group_size=5000)
    pq.write_table(table.slice(30_000), tmp_path / "2.parquet", row_group_size=5000)
    return tmp_path


@pytest.fixture(autouse=True)
def no_thread_is_left_behind(monkeypatch):
    monkeypatch.setattr(reading, "BATCH_ROWS", 4096)
    before = threading.active_count()
    yield
    assert threading.active_count() == before


def source(path, n_jobs, progress=None):
    rows = Files(path, target="y")
    survey = rows.survey(NumberOutputs, Run())
    outputs = NumberOutputs.learn(survey.targets, True)
    return rows.source(outputs, survey.weighting(outputs), Run(Workers(n_jobs), progress))


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_error_or_interrupt_in_a_task_comes_through(path, n_jobs, error):
    def task(block):
        if block.start == 4096:
            raise error("in a task")
        return 0

    before = threading.active_count()
    with pytest.raises(error, match="in a task"):
        source(path, n_jobs).map_reduce(task)
    assert threading.active_count() == before


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_in_reading_comes_through(path, n_jobs, monkeypatch):
    data = source(path, n_jobs)
    batches = Parquet.batches

    def failing(self, table, asked):
        for i, batch in enumerate(batches(self, table, asked)):
            if i == 3:
                raise OSError("the disk is gone")
            yield batch

    monkeypatch.setattr(Parquet, "batches", failing)
    before = threading.active_count()
    with pytest.raises(ValueError, match=r"1\.parquet cannot be read as a Parquet file: the disk is gone"):
        data.map_reduce(len)
    assert threading.active_count() == before


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupt_while_results_are_added_comes_through(path, n_jobs):
    class Interrupting:
        def __add__(self, other):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        source(path, n_jobs).map_reduce(lambda block: Interrupting())


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_predictions_may_be_given_up(path, n_jobs, monkeypatch):
    monkeypatch.setattr(rows_module, "PREDICTED", Cutting(2048))
    pairs = Files(path, target="y").evaluations(lambda X: X[:, 0], Run(Workers(n_jobs)))
    next(pairs)
    assert any(thread.name.startswith("sleek-reader") for thread in threading.enumerate())
    pairs.close()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_reading_is_only_a_few_chunks_ahead(path, n_jobs, monkeypatch):
    read, batches = [], Parquet.batches

    def counted(self, table, asked):
        for batch in batches(self, table, asked):
            read.append(len(batch))
            yield batch

    done = []

    def task(block):
        done.append(len(block))
        # chunks ahead, one in hand, one being read; blocks that wait for a thread, and one being cut
        assert sum(read) - sum(done) <= (2 + 1 + 1) * 4096 + (4 * n_jobs + 1) * 4096
        return 0

    data = source(path, n_jobs)
    monkeypatch.setattr(Parquet, "batches", counted)
    data.map_reduce(task)
    assert sum(read) == sum(done) == 80_000


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_progress_is_told_in_the_callers_thread(path, n_jobs):
    calls = []

    def progress(done, n_rows):
        calls.append((done, n_rows, threading.current_thread()))

    source(path, n_jobs, progress).map_reduce(len)
    done = [call[0] for call in calls]
    assert done == sorted(set(done))
    assert len(done) >= 18
    assert done[-1] == 80_000
    assert {call[1:] for call in calls} == {(80_000, threading.current_thread())}


MEASURE = """
import json, sys, tracemalloc
import numpy as np, pyarrow as pa
from sleek import Files, NumberOutputs
from sleek._runtime.threads import Workers
from sleek.kernels import compiled
from sleek.kernels.column_statistics import ColumnMoments
from sleek.rows.rows import Run

rows = Files(sys.argv[1], target="y")
pa.array([0.0]).to_numpy()  # for which pyarrow imports pandas, and moments numba: code is no memory of rows
ColumnMoments.of(np.ones((4096, 8)), np.ones(4096))
tracemalloc.start()
run = Run(Workers(int(sys.argv[3])))
survey = rows.survey(NumberOutputs, run)
outputs = NumberOutputs.learn(survey.targets, True)
data = rows.source(outputs, survey.weighting(outputs), run)
columns = data.map_reduce(lambda block: ColumnMoments.of(block.X, block.s))
rows.write(lambda X: X.sum(axis=1), sys.argv[2], (), run)
peak = pa.default_memory_pool().max_memory() + tracemalloc.get_traced_memory()[1]
print(json.dumps({"rows": data.n_rows, "mean": columns.mean.tolist(), "peak": peak}))
"""


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_memory_is_far_below_the_size_of_the_data(tmp_path, n_jobs):
    n, d = 1_500_000, 8
    rng = np.random.default_rng(0)
    values = {f"x{j}": rng.normal(size=n) for j in range(d)} | {"y": rng.normal(size=n)}
    path = tmp_path / "one_row_group.parquet"
    pq.write_table(pa.table(values), path, row_group_size=n, compression="none", use_dictionary=False)
    arguments = [sys.executable, "-c", MEASURE, str(path), str(tmp_path / "out.parquet"), str(n_jobs)]
    run = subprocess.run(arguments, capture_output=True, text=True, check=True)
    found = json.loads(run.stdout)
    assert found["rows"] == n
    np.testing.assert_allclose(found["mean"], [values[f"x{j}"].mean() for j in range(d)], atol=1e-12)
    assert found["peak"] < 8 * n * (d + 1) / 2
