"""Predictions and scores for rows of files."""

import gzip
from copy import copy

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from sklearn.metrics import accuracy_score, r2_score

from sleek import ClassOutputs, Files, LowRankLSSVC, LowRankLSSVR, NumberOutputs
from sleek._runtime.threads import Workers
from sleek.rows import rows as rows_module
from sleek.rows.cutting import Cutting
from sleek.rows.rows import Run

N = 40_000


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3))
    return pa.table(
        {
            "id": np.arange(N),
            **{f"x{j}": X[:, j] for j in range(3)},
            "word": np.where(X[:, 0] + 0.3 * rng.normal(size=N) > 0, "up", "down"),
            "u": np.sin(X[:, 0]) + 0.1 * rng.normal(size=N),
            "v": X[:, 1] * 5,
            "w": rng.choice([0.0, 1.0, 2.5], size=N),
        }
    )


@pytest.fixture(scope="module")
def X(table):
    return np.column_stack([table[f"x{j}"].to_numpy() for j in range(3)])


@pytest.fixture
def path(table, tmp_path):
    folder = tmp_path / "rows"
    folder.mkdir()
    pq.write_table(table.slice(0, 17_001), folder / "1.parquet", row_group_size=3000)
    pq.write_table(table.slice(17_001), folder / "2.parquet")
    return folder


FEATURES = ["x0", "x1", "x2"]


@pytest.fixture(scope="module")
def classifier(table, X):
    model = LowRankLSSVC(3, basis="robust_rbf", C=1.0, random_state=0)
    return model.fit(X[:500], table["word"].to_numpy()[:500])


@pytest.fixture(scope="module")
def regressor(table, X):
    Y = np.column_stack([table[name].to_numpy()[:500] for name in "uv"])
    return LowRankLSSVR(3, basis="robust_rbf", C=1.0, random_state=0).fit(X[:500], Y)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_predictions_are_bit_for_bit_those_in_memory(path, X, classifier, regressor, n_jobs):
    rows, run = Files(path, columns=FEATURES), Run(Workers(n_jobs))
    assert rows.n_rows > Cutting.of(N).block_rows
    for model in (classifier.model_, regressor.model_):
        np.testing.assert_array_equal(rows.evaluate(model.predict_unchecked, run), model.predict(X))
        np.testing.assert_array_equal(rows.evaluate(model.outputs_unchecked, run), model.outputs_unchecked(X))
    np.testing.assert_array_equal(classifier.decision_function(rows), classifier.decision_function(X))
    np.testing.assert_array_equal(regressor.predict(rows), regressor.predict(X))


def with_jobs(model, n_jobs):
    """The fitted model, to predict on so many threads."""
    return copy(model).set_params(n_jobs=n_jobs)


@pytest.mark.parametrize("weight", [None, "w"])
def test_accuracy(path, table, X, classifier, weight):
    rows = Files(path, target="word", columns=FEATURES, weight=weight)
    expected = accuracy_score(
        table["word"].to_numpy(),
        classifier.predict(X),
        sample_weight=table[weight].to_numpy() if weight else None,
    )
    one, two = (with_jobs(classifier, n).score(rows) for n in (1, 2))
    assert one == two == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("weight", [None, "w"])
def test_r_squared(path, table, X, regressor, weight):
    rows = Files(path, target=["u", "v"], columns=FEATURES, weight=weight)
    Y = np.column_stack([table[name].to_numpy() for name in "uv"])
    s = table[weight].to_numpy() if weight else None
    expected = r2_score(Y, regressor.predict(X), sample_weight=s)
    one, two = (with_jobs(regressor, n).score(rows) for n in (1, 2))
    assert one == two == pytest.approx(expected, rel=1e-12)


def judged(rows, outputs, predict):
    """The score of a function's predictions."""
    return rows.map_reduce(
        lambda block: outputs.judge(block.y, predict(block.X), block.s),
        Run(),
        reads=outputs.reads,
        features=True,
    ).score


NUMBERS = NumberOutputs(np.zeros(1), np.ones(1))


def test_r_squared_of_a_constant_target(tmp_path):
    pq.write_table(pa.table({"x": [0.0, 1.0], "y": [2.0, 2.0]}), tmp_path / "rows.parquet")
    rows = Files(tmp_path, target="y")
    assert judged(rows, NUMBERS, lambda X: np.full(len(X), 2.0)) == 1.0
    assert judged(rows, NUMBERS, lambda X: X[:, 0]) == 0.0


def test_labels_that_are_no_class_are_mistakes(tmp_path):
    pq.write_table(pa.table({"x": [0.0, 1.0, 2.0, 3.0], "y": [5, 7, 7, 9]}), tmp_path / "rows.parquet")
    whole, real = ClassOutputs(np.array([5, 7])), ClassOutputs(np.array([5.0, 7.0]))
    assert judged(Files(tmp_path, target="y"), whole, lambda X: np.full(len(X), 7)) == 0.5
    (tmp_path / "rows.csv").write_text("x,y\n0,5\n1,7.0\n2,x\n3,9\n")
    rows = Files(tmp_path / "rows.csv", target="y")
    assert judged(rows, whole, lambda X: np.full(len(X), 7)) == 0.0
    assert judged(rows, real, lambda X: np.full(len(X), 7.0)) == 0.25


def test_classes_in_any_order_are_judged(tmp_path):
    pq.write_table(pa.table({"x": [0.0, 1.0], "y": ["b", "a"]}), tmp_path / "rows.parquet")
    outputs = ClassOutputs(np.array(["b", "a"], dtype=object))
    assert judged(Files(tmp_path, target="y"), outputs, lambda X: outputs.classes[X[:, 0].astype(int)]) == 1.0


def read(path):
    if path.suffix == ".parquet":
        return pq.read_table(path)
    raw = path.read_bytes()
    return pa.csv.read_csv(pa.BufferReader(gzip.decompress(raw) if path.suffix == ".gz" else raw))


@pytest.mark.parametrize("name", ["out.parquet", "out.csv", "out.csv.gz"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_predictions_are_written_beside_kept_columns(path, table, X, classifier, tmp_path, name, n_jobs):
    out = tmp_path / name
    out.write_text("an earlier file")
    calls = []
    run = Run(Workers(n_jobs), lambda *numbers: calls.append(numbers))
    rows = Files(path, columns=FEATURES)
    n = rows.write(classifier.model_.predict_unchecked, out, ["word", "id", "x0"], run)
    written = read(out)
    assert n == len(written) == N
    assert written.column_names == ["word", "id", "x0", "prediction"]
    assert written.select(["word", "id", "x0"]).equals(table.select(["word", "id", "x0"]))
    assert written["prediction"].to_pylist() == classifier.predict(X).tolist()
    assert calls[-1] == (N, N)
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted([name, "rows"])


def test_several_predictions_have_the_names_of_the_targets(path, X, regressor, tmp_path):
    out = tmp_path / "out.parquet"
    assert regressor.predict_to(Files(path, target=["u", "v"], columns=FEATURES), out) == N
    assert pq.read_table(out).column_names == ["prediction_u", "prediction_v"]
    regressor.predict_to(Files(path, columns=FEATURES), out)
    written = pq.read_table(out)
    np.testing.assert_array_equal(written["prediction_1"].to_numpy(), regressor.predict(X)[:, 1])
    assert pq.ParquetFile(out).num_row_groups == 1


def test_large_output_is_written_in_row_groups(path, tmp_path, monkeypatch):
    monkeypatch.setattr("sleek.rows.files.writing.GROUP_ROWS", 20_000)
    out = tmp_path / "out.parquet"
    Files(path, columns=FEATURES).write(lambda X: X[:, 1], out, ["id"], Run())
    assert pq.ParquetFile(out).num_row_groups == 2
    assert pq.read_table(out)["id"].to_pylist() == list(range(N))


def test_kept_columns_of_different_types_and_of_csv_files(tmp_path):
    pq.write_table(pa.table({"id": pa.array([1], pa.int32()), "x": [1.0]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"id": [2.5], "x": [1]}), tmp_path / "2.parquet")
    out = tmp_path / "out.parquet"
    Files(tmp_path, columns=["x"]).write(lambda X: X[:, 0], out, ["id"], Run())
    assert pq.read_table(out).to_pylist() == [{"id": 1.0, "prediction": 1.0}, {"id": 2.5, "prediction": 1.0}]
    (tmp_path / "rows.csv").write_text("id,x\n007,1\n,2\n")
    source = Files(tmp_path / "rows.csv", columns=["x"])
    source.write(lambda X: X[:, 0], out, ["id", "x"], Run())
    assert pq.read_table(out).to_pylist() == [
        {"id": "007", "x": "1", "prediction": 1.0},
        {"id": None, "x": "2", "prediction": 2.0},
    ]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize("name", ["out.parquet", "out.csv"])
def test_a_failure_leaves_no_file_behind(path, tmp_path, monkeypatch, error, name):
    monkeypatch.setattr(rows_module, "PREDICTED", Cutting(2048))
    monkeypatch.setattr("sleek.rows.files.writing.GROUP_ROWS", 4096)
    calls = []

    def predict(X):
        calls.append(len(X))
        if len(calls) == 12:
            raise error("no more")
        return X[:, 0]

    (tmp_path / name).write_text("an earlier file")
    with pytest.raises(error, match="no more"):
        Files(path, columns=FEATURES).write(predict, tmp_path / name, [], Run())
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted([name, "rows"])
    assert (tmp_path / name).read_text() == "an earlier file"


def test_bad_output(path, tmp_path):
    rows = Files(path, columns=FEATURES)

    def write(name, keep=()):
        rows.write(lambda X: X[:, 0], name, keep, Run())

    with pytest.raises(
        ValueError, match=r"must end in \.csv, \.csv\.gz, \.tsv, \.parquet or \.pq, got .*out\.json"
    ):
        write(tmp_path / "out.json")
    with pytest.raises(FileNotFoundError, match=r"no folder '.*nowhere' to write 'out\.csv' to"):
        write(tmp_path / "nowhere" / "out.csv")
    with pytest.raises(
        ValueError, match=r"must go to a new file, but .*1\.parquet is one of those that are read"
    ):
        write(path / "1.parquet")
    with pytest.raises(ValueError, match=r"1\.parquet has no column 'nr'\. It has: id, x0"):
        write(tmp_path / "out.csv", keep=["nr"])
    with pytest.raises(TypeError, match="`keep` must be a list of names, got 'id'"):
        write(tmp_path / "out.csv", keep="id")
    pq.write_table(pa.table({"prediction": [1.0], "x": [1.0]}), tmp_path / "rows.parquet")
    rows = Files(tmp_path / "rows.parquet", columns=["x"])
    with pytest.raises(ValueError, match="must not be named like the predictions, got 'prediction'"):
        write(tmp_path / "out.csv", keep=["prediction"])
    pq.write_table(
        pa.table({"prediction": ["a"], "id": ["a"], **{x: [1.0] for x in FEATURES}}), path / "3.parquet"
    )
    rows = Files(path, columns=FEATURES)
    with pytest.raises(
        ValueError, match=r"'id' must be of one kind .*int64 in .*1\.parquet, but string in .*3\.pa"
    ):
        write(tmp_path / "out.csv", keep=["id"])
    assert sorted(file.name for file in tmp_path.iterdir()) == ["rows", "rows.parquet"]


def test_bad_rows_to_predict_and_to_score(tmp_path):
    pq.write_table(
        pa.table({"x": pa.array([], pa.float64()), "y": pa.array([], pa.int64())}), tmp_path / "0.parquet"
    )
    rows = Files(tmp_path, target="y")
    with pytest.raises(ValueError, match=r"There are no rows in .*0\.parquet: there is nothing to predict"):
        rows.evaluate(lambda X: X[:, 0], Run())
    pq.write_table(pa.table({"x": [1.0], "y": [1]}), tmp_path / "1.parquet")
    rows = Files(tmp_path, target="y")
    with pytest.raises(ValueError, match="R² needs at least 2 rows of positive weight, got 1"):
        judged(rows, NUMBERS, lambda X: X[:, 0])
    with pytest.raises(
        ValueError, match=r"labels are numbers, .*, but the model's classes are text, such as 'a'"
    ):
        judged(rows, ClassOutputs(np.array(["a", "b"])), lambda X: np.full(len(X), "a"))
    with pytest.raises(ValueError, match=r"A target column is needed here: .* got None"):
        judged(Files(tmp_path, columns=["x"]), NUMBERS, lambda X: X[:, 0])
