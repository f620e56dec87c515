"""Fits and predictions of Dask collections: the same bits whatever happens to partitions and workers."""

import os
import re
import signal
import subprocess
import sys
import threading
import warnings
from functools import partial
from itertools import combinations_with_replacement, pairwise
from pathlib import Path

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster

import sleek
from sleek import DaskRows, LowRankLSSVC, LowRankLSSVR
from sleek.fit import policy
from sleek.outputs import NumberOutputs
from sleek.rows.arrays import ArrayRows
from sleek.rows.dask import passes
from sleek.rows.rows import Run
from sleek.tables import rules
from sleek.tables.columns import NumberColumn
from sleek.testing.source_tools import same, sums

N = 9000
ATTRIBUTES = ("unit_weights_", "intercept_", "expected_error_", "left_out_rows_", "left_out_residuals_")


def numbers(seed=0, n=N):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X[:, 0] + np.sin(2.0 * X[:, 1]) + 0.3 * rng.normal(size=n)


def quick(kind, **options):
    trainer = sleek.VariableProjection(pull=0.01, max_iter=2)
    return kind(3, basis="gaussian_rbf", trainer=trainer, C=1.0, shape=0.3, random_state=0, **options)


def framed(frame, sizes):
    """A Dask data frame with partitions of these sizes."""
    ends = np.cumsum([0, *sizes])
    parts = [frame.iloc[a:b] for a, b in pairwise(ends.tolist())]
    return dd.from_map(lambda i: parts[i], range(len(parts)), meta=frame.iloc[:0])


def assert_same_fit(one, two):
    for name in ATTRIBUTES:
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)


def source_of(rows):
    survey = rows.survey(NumberOutputs, Run())
    outputs = NumberOutputs.learn(survey.targets, True)
    return rows.source(outputs, survey.weighting(outputs), Run())


@pytest.fixture
def many(monkeypatch):
    """Few rows are treated as many are."""
    monkeypatch.setattr(policy, "CANONICAL_ROWS", 100)
    monkeypatch.setattr(rules, "SORTED_ROWS", 100)


# -- what is fitted


@pytest.mark.usefixtures("many", "client")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_classes_weights_and_several_targets():
    X, y = numbers()
    labels = np.array(["low", "middle", "top"], dtype=object)[np.digitize(y, [-0.5, 1.0])]
    s = np.random.default_rng(1).choice([0.0, 1.0, 2.0], size=N)
    both = np.column_stack([y, y**2])
    cut = ((0, 4096, 1, 4000, 903),)
    dX, dy, dl, ds = (da.from_array(a, chunks=(*cut, *a.shape[1:])) for a in (X, both, labels, s))
    one = quick(LowRankLSSVC, class_weight="balanced").fit(X, labels, s)
    two = quick(LowRankLSSVC, class_weight="balanced").fit(dX, dl, ds)
    assert_same_fit(one, two)
    assert two.classes_.tolist() == ["low", "middle", "top"]
    assert two.score(dX, dl, ds) == pytest.approx(one.score(X, labels, s), rel=1e-12)
    one, two = quick(LowRankLSSVR).fit(X, both, s), quick(LowRankLSSVR).fit(dX, dy, s)
    assert_same_fit(one, two)
    assert two.score(dX, dy) == pytest.approx(one.score(X, both), rel=1e-12)
    frame = pd.DataFrame(X, columns=list("abc")).assign(y=y, z=y**2, w=s)
    rows = DaskRows(framed(frame, (5000, 4000)), target=["y", "z"], weight="w")
    assert_same_fit(one, quick(LowRankLSSVR).fit(rows))
    assert rows.known["counts"].all == [5000, 4000]


@pytest.mark.usefixtures("many", "client")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("trainer", ["varpro", "alternating"])
def test_units_that_are_learnt_on_all_rows(trainer):
    X, y = numbers(n=3000)
    cut = (1000, 1, 1999)
    dX, dy = da.from_array(X, chunks=(cut, 3)), da.from_array(y > 0, chunks=(cut,))
    settings = {"basis": "robust_rbf", "C": 1.0, "shape": 0.3, "max_samples": None, "random_state": 0}
    one, two = (
        LowRankLSSVC(3, trainer=trainer, **settings).set_params(trainer__max_iter=2) for _ in range(2)
    )
    assert_same_fit(one.fit(X, y > 0), two.fit(dX, dy))


def table(n=N):
    """Numbers with gaps, a category of few levels, one of many, truth values, a date."""
    rng = np.random.default_rng(3)
    town = rng.integers(0, 40, size=n)
    size = np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n))
    frame = pd.DataFrame(
        {
            "size": size,
            "colour": rng.choice(["red", "green", None], size=n),
            "town": pd.Series([f"t{i}" for i in town]),
            "flag": rng.random(n) < 0.5,
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, size=n), unit="D"),
        }
    )
    score = np.nan_to_num(size) + (frame["colour"] == "red") + np.sin(town) + 0.2 * rng.normal(size=n)
    return frame, np.where(score > 0.3, "yes", "no")


@pytest.mark.parametrize("where", ["here", "cluster"])
@pytest.mark.parametrize("rows", ["few", "many"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_categories_dates_and_gaps(where, rows, request):
    for fixture in [*(["client"] if where == "cluster" else []), *(["many"] if rows == "many" else [])]:
        request.getfixturevalue(fixture)
    frame, y = table(N if rows == "many" else 900)
    whole = framed(frame.assign(y=y), (0, 500, 7, len(y) - 507))
    one = quick(LowRankLSSVC).fit(frame, y)
    two = quick(LowRankLSSVC).fit(DaskRows(whole, target="y"))
    assert_same_fit(one, two)
    assert two.model_.inputs == one.model_.inputs
    assert two.feature_names_in_.tolist() == list(frame)
    lazy = two.predict_proba(whole)
    assert lazy.dtype == np.float64
    np.testing.assert_allclose(lazy.compute(), one.predict_proba(frame), atol=1e-12)
    assert two.score(DaskRows(whole, target="y")) == one.score(frame, y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_gaps_of_an_array(many, client):
    X, y = numbers(n=3000)
    X[5::50, 1] = np.nan
    dX, dy = da.from_array(X, chunks=(1100, 3)), da.from_array(y, chunks=1100)
    one, two = quick(LowRankLSSVR).fit(X, y), quick(LowRankLSSVR).fit(dX, dy)
    assert_same_fit(one, two)
    assert two.n_features_in_ == 3
    assert not hasattr(two, "feature_names_in_")
    np.testing.assert_allclose(two.predict(dX), one.predict(X), rtol=1e-10)


# -- partitions and workers


@pytest.mark.parametrize(
    "sizes",
    [(N,), (N - 1, 1), (1,) * 5 + (N - 5,), (0, N, 0), (2048,) * 4 + (808,), (3000, 0, 0, 3000, 3000)],
)
def test_it_does_not_matter_how_rows_are_cut(sizes, client):
    X, y = numbers()
    expected = source_of(ArrayRows(X, y[:, None], np.ones(N))).map_reduce(sums)
    rows = DaskRows(da.from_array(X, chunks=(sizes, 3)), da.from_array(y, chunks=(sizes,)))
    source = source_of(rows)
    assert source.partitions.kept
    assert same(source.map_reduce(sums), expected)


def test_rows_that_do_not_fit_are_read_in_every_pass(client, monkeypatch):
    monkeypatch.setattr("sleek.rows.dask.cluster.fits", lambda client, n_bytes: False)
    X, y = numbers()
    expected = source_of(ArrayRows(X, y[:, None], np.ones(N))).map_reduce(sums)
    source = source_of(DaskRows(da.from_array(X, chunks=(2500, 3)), da.from_array(y, chunks=(2500,))))
    assert not source.partitions.kept
    for _ in range(2):
        assert same(source.map_reduce(sums), expected)
    some = np.array([0, 2499, 2500, 8999])
    np.testing.assert_array_equal(source.rows_at(some).X, X[some])


def test_a_worker_more_and_rows_all_on_one(client):
    X, y = numbers()
    expected = source_of(ArrayRows(X, y[:, None], np.ones(N))).map_reduce(sums)
    one = sorted(client.scheduler_info()["workers"])[0]
    dX, dy = client.persist(
        [da.from_array(X, chunks=(900, 3)), da.from_array(y, chunks=900)],
        workers=[one],
        allow_other_workers=False,
    )
    source = source_of(DaskRows(dX, dy))
    assert same(source.map_reduce(sums), expected)
    client.cluster.scale(3)
    client.wait_for_workers(3)
    try:
        assert same(source.map_reduce(sums), expected)
        assert same(source_of(DaskRows(dX, dy)).map_reduce(sums), expected)
    finally:
        client.cluster.scale(2)


def killing(marker, block):
    """A task that kills its worker once."""
    if block.start >= 4096 and not os.path.exists(marker):
        with open(marker, "w"):
            pass
        os.kill(os.getpid(), signal.SIGKILL)
    return sums(block)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_worker_that_is_killed(many, tmp_path):
    X, y = numbers()
    source = source_of(ArrayRows(X, y[:, None], np.ones(N)))
    expected, fitted = source.map_reduce(sums), quick(LowRankLSSVR).fit(X, y)
    dX, dy = da.from_array(X, chunks=(1000, 3)), da.from_array(y, chunks=1000)
    with (
        dask.config.set(
            {
                "distributed.comm.timeouts.connect": "5s",
                "distributed.scheduler.work-stealing": False,  # else an idle worker may fetch a partition
            }
        ),
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
        Client(cluster) as client,
    ):
        source = source_of(DaskRows(dX, dy))
        assert same(source.map_reduce(sums), expected)

        # sums travel, rows do not, but for those of blocks that reach into another partition
        whole = (da.from_array(X, chunks=(4096, 3)), da.from_array(y, chunks=4096))
        aligned = source_of(DaskRows(*whole))
        assert same(aligned.map_reduce(sums), expected)
        sent = client.run(_sent_bytes)
        assert same(aligned.map_reduce(sums), expected)
        more = [count - sent[worker] for worker, count in client.run(_sent_bytes).items()]
        assert max(more) < X.nbytes / 8

        before = set(client.run(os.getpid).values())
        assert same(source.map_reduce(partial(killing, str(tmp_path / "killed"))), expected)
        client.wait_for_workers(2)
        left = set(client.run(os.getpid).values())
        assert len(left - before) == 1  # one of them is new

        # somewhere in the middle of a fit
        fatal = threading.Timer(0.3, os.kill, (min(left), signal.SIGKILL))
        fatal.start()
        assert_same_fit(quick(LowRankLSSVR).fit(dX, dy), fitted)
        fatal.join()


def _sent_bytes(dask_worker):
    return dask_worker.transfer_outgoing_bytes_total


# -- errors


def broken(i):
    if i == 2:
        raise OSError("The disk is gone")
    return pd.DataFrame({"a": [1.0, 2.0, float(i)], "y": [0.0, 1.0, 2.0]})


def broken_frame():
    return dd.from_map(broken, range(4), meta=broken(0).iloc[:0])


@pytest.mark.parametrize("where", ["here", "cluster"])
def test_a_partition_that_raises(where, request):
    if where == "cluster":
        request.getfixturevalue("client")
    with pytest.raises(ValueError, match=r"^Partition 2 cannot be computed: OSError: The disk is gone\.$"):
        LowRankLSSVR(1).fit(DaskRows(broken_frame(), target="y"))


@pytest.mark.parametrize("where", ["here", "cluster"])
def test_bad_rows_are_named(where, request):
    if where == "cluster":
        request.getfixturevalue("client")
    frame = pd.DataFrame({"a": np.arange(9.0), "y": np.arange(9.0), "w": np.ones(9)})
    for column, row, value, said in (
        ("y", 5, np.inf, "Targets must be finite numbers, got inf in row 1 of partition 1 .row 5 of all"),
        ("w", 7, -1.0, "Weights must be finite and not negative, got -1.0 in row 3 of partition 1 "),
        ("a", 2, np.inf, "'a' .*inf.* in row 2 of partition 0"),
    ):
        bad = frame.copy()
        bad.loc[row, column] = value
        with pytest.raises(ValueError, match=said):
            LowRankLSSVR(1).fit(DaskRows(framed(bad, (4, 5)), target="y", weight="w"))
    whole, short = framed(frame, (4, 5)), framed(frame.iloc[1:], (4, 4))
    with pytest.raises(
        ValueError, match=r"rows of partition 1 must be as many in X and y, got 5 in X, 4 in y\."
    ):
        LowRankLSSVR(1).fit(whole[["a"]], short["y"])


def test_what_is_asked_for_must_be_there():
    frame = framed(pd.DataFrame({"a": [1.0], "y": [1.0]}), (1,))
    array = da.zeros((4, 2), chunks=2)
    for make, kind, said in (
        (
            partial(DaskRows, frame, target="z"),
            ValueError,
            "no column 'z' in the frame. Its columns are 'a', 'y'",
        ),
        (partial(DaskRows, frame, target="y", columns=["y"]), ValueError, "'y' must play one part only"),
        (partial(DaskRows, frame, frame["y"], target="y"), ValueError, "Give `y` or `target`, not both"),
        (partial(DaskRows, array, target="y"), ValueError, "those of X have no names"),
        (partial(DaskRows, array[:, 0]), ValueError, "must be a 2D array, got 1 dimensions"),
        (partial(DaskRows, np.zeros((2, 2))), TypeError, "must be a Dask array or data frame, got ndarray"),
        (partial(DaskRows, array, np.zeros(3)), ValueError, "must have the same rows, got 4 and 3"),
        (
            partial(DaskRows, frame, np.zeros(1)),
            TypeError,
            "`y` must be a Dask collection with the partitions",
        ),
        (partial(DaskRows, frame, array[:, 0]), ValueError, "the same partitions, got 1 and 2"),
        (partial(LowRankLSSVR().fit, frame), ValueError, "no targets"),
        (
            partial(LowRankLSSVR().fit, array, da.zeros(4, chunks=1) * np.nan),
            ValueError,
            "Targets must be finite",
        ),
    ):
        with pytest.raises(kind, match=said):
            make()


def test_rows_that_change_between_two_passes_are_noticed(client, tmp_path):
    calls = str(tmp_path / "calls")  # a file: workers have copies of the function

    def changing(i):
        with open(calls, "ab") as file:
            file.write(b".")
        rows = np.arange(10.0 + os.path.getsize(calls))
        return pd.DataFrame({"a": rows, "y": rows})

    frame = dd.from_map(changing, range(2), meta=pd.DataFrame({"a": [0.0], "y": [0.0]}).iloc[:0])
    with pytest.raises(ValueError, match="has changed since its rows were counted"):
        LowRankLSSVR(1).fit(DaskRows(frame, target="y"))


# -- predictions


def test_predictions_are_lazy_with_the_chunks_of_the_rows():
    X, y = numbers(n=1000)
    model = LowRankLSSVR(3, random_state=0).fit(X, np.column_stack([y, -y]))
    classifier = LowRankLSSVC(3, random_state=0).fit(X, np.where(y > 0, "yes", "no"))
    lazy = da.from_array(X, chunks=((0, 300, 1, 699), 2))
    frame = framed(pd.DataFrame(X, columns=list("abc")), (0, 300, 700))
    for predict in (
        model.predict,
        model.predict_interval,
        model.predict_std,
        partial(model.predict_interval, confidence_level=[0.5, 0.9]),
        partial(model.predict_quantiles, quantiles=[0.1, 0.9]),
        classifier.predict,
        classifier.decision_function,
        classifier.predict_proba,
        classifier.predict_log_proba,
        classifier.predict_set,
    ):
        expected, found = predict(X), predict(lazy)
        assert isinstance(found, da.Array)
        assert (found.shape, found.dtype, found.chunks[0]) == (
            expected.shape,
            expected.dtype,
            (0, 300, 1, 699),
        )
        assert (found._meta.ndim, found._meta.dtype, len(found._meta)) == (expected.ndim, expected.dtype, 0)
        assert found.compute().dtype == expected.dtype
        if expected.dtype.kind == "f":
            np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-13)
        else:
            np.testing.assert_array_equal(found, expected)
    named = LowRankLSSVR(3, random_state=0).fit(pd.DataFrame(X, columns=list("cab")), y)
    found = named.predict(frame)  # columns are found by name
    assert np.isnan(found.shape[0])
    assert found.dtype == np.float64
    expected = named.predict(pd.DataFrame(X, columns=list("abc"))[list("cab")])
    np.testing.assert_allclose(found.compute(), expected, rtol=1e-11, atol=1e-13)
    assert frame.assign(p=found).compute()["p"].tolist() == found.compute().tolist()
    with pytest.raises(ValueError, match="no feature 'c', which the model was fitted to"):
        named.predict(frame[["a", "b"]])
    named.predict(broken_frame().rename(columns={"y": "b"}).assign(c=0.0))  # nothing is computed
    bad = da.from_array(np.where(np.arange(1000)[:, None] == 400, np.inf, X), chunks=(300, 3))
    with pytest.raises(ValueError, match="feature number 0 is inf in row 100 of partition 1"):
        model.predict(bad).compute()
    with pytest.warns(UserWarning, match="are taken as the medians"):
        model.predict(da.from_array(np.full((1, 3), np.nan), chunks=1)).compute()
    assert model.predict(lazy.astype(np.float32)).dtype == np.float64
    with pytest.raises(TypeError, match="a Dask array, which Dask can write"):
        named.predict_to(DaskRows(frame), "out.parquet")


def test_the_example_of_a_partitioned_folder(many, tmp_path, monkeypatch):
    """It runs as it stands in docs/guides/cluster.md, with fewer rows, and predictions are beside theirs.

    By one thread: those of one process share the categories of a folder's keys, and an index of pandas
    that several threads ask for the first time can say that its values are not unique.
    """
    monkeypatch.chdir(tmp_path)
    text = (Path(__file__).parents[1] / "docs/guides/cluster.md").read_text()
    (snippet,) = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    short = snippet.replace("30_000", "2_000").replace("npartitions=8", "npartitions=2")
    names = {}
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster,
        Client(cluster),
    ):
        exec(compile(short, "cluster.md", "exec"), names)
    back = pd.read_parquet("predicted")
    assert len(back) == 2000
    expected = names["model"].predict_proba(back[["age", "plan", "year"]])[:, 1]
    np.testing.assert_allclose(back["chance"], expected, rtol=1e-9)


def test_conformal_levels_from_dask_rows(client):
    X, y = numbers(n=600)
    model = LowRankLSSVR(3, random_state=0).fit(X[:300], y[:300])
    dX, dy = da.from_array(X[300:], chunks=(77, 3)), da.from_array(y[300:], chunks=77)
    lazily = model.conformalize(dX, dy).predict_interval(X[:5])
    np.testing.assert_array_equal(lazily, model.conformalize(X[300:], y[300:]).predict_interval(X[:5]))


def test_workers_that_are_all_paused_are_told(monkeypatch):
    monkeypatch.setattr(passes, "PATIENCE", 0.5)
    X, y = numbers(n=600)
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0", memory_limit="50MB"
        ) as cluster,
        Client(cluster),
        pytest.raises(UserWarning, match="Every worker of the Dask cluster is paused"),
    ):
        LowRankLSSVR(3, random_state=0).fit(da.from_array(X, chunks=(300, 3)), y)


def test_dask_is_imported_only_when_asked_for():
    code = (
        "import sys, sleek, numpy as np; x = np.arange(50.0)[:, None]; "
        "m = sleek.LowRankLSSVR(1).fit(x, x[:, 0]); m.predict(x); m.score(x, x[:, 0]); "
        "print({'dask', 'distributed', 'sleek.rows.dask'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("set()\n", "")


OBJECTS = {
    "numbers": [1, 2, 3, 1] * 5,
    "truth values": [True, False] * 10,
    "words": list("abcd") * 5,
    "dates": list(pd.date_range("2020-01-01", periods=20)),
    "nothing": [None] * 20,
}


@pytest.mark.parametrize("few", [20_000, 10], ids=["few rows", "many rows"])
@pytest.mark.parametrize(("one", "two"), list(combinations_with_replacement(OBJECTS, 2)))
def test_partitions_of_different_objects_are_read_as_one_frame_or_refused(monkeypatch, one, two, few):
    monkeypatch.setattr(rules, "SORTED_ROWS", few)
    x = np.random.default_rng(0).normal(size=40)
    values = pd.Series([*OBJECTS[one], *OBJECTS[two]], dtype=object)
    frame = pd.DataFrame({"c": values, "x": x, "y": x + np.arange(40) % 4})
    with dask.config.set({"dataframe.convert-string": False}):
        parts = [dd.from_pandas(frame[:20], npartitions=1), dd.from_pandas(frame[20:], npartitions=1)]
        ways = [(frame[["c", "x"]], frame["y"]), (DaskRows(dd.concat(parts), target="y"),)]
        said = []
        for way in ways:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    inputs = LowRankLSSVR(basis="linear").fit(*way).model_.inputs
                    said.append([NumberColumn] * 2 if inputs is None else [type(c) for c in inputs.columns])
                except ValueError as error:
                    said.append(re.sub(r"one kind of values.*|either numbers or text.*", "…", str(error)))
    assert said[0] == said[1]
