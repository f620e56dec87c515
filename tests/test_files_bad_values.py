"""Bad values in files get a sentence that names file, column and rows."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sleek import ClassOutputs, Files, LowRankLSSVC, LowRankLSSVR, NumberOutputs
from sleek._runtime.threads import Workers
from sleek.outputs import class_survey
from sleek.rows.rows import Run

N = 10_000


def write(path, name="rows.parquet", row_group_size=1000, **columns):
    """A file of N rows of features a, b and target y, some of them replaced."""
    rng = np.random.default_rng(0)
    values = {"a": rng.normal(size=N), "b": rng.normal(size=N), "y": rng.integers(0, 2, size=N)} | columns
    table = pa.table({name: column for name, column in values.items() if column is not None})
    pq.write_table(table, path / name, row_group_size=row_group_size)
    return path / name


def spoilt(rows, value):
    """N numbers with a bad value in some rows."""
    values = np.random.default_rng(1).normal(size=N).tolist()
    for row in rows:
        values[row] = value
    return pa.array(values, pa.float64())


def survey_classes(rows):
    """The classes, and how much each weighs."""
    survey = rows.survey(ClassOutputs, Run()).targets
    return ClassOutputs.learn(survey, True).classes, survey.weights


def read_all(rows, reads="numbers", n_jobs=1):
    return rows.map_reduce(len, Run(Workers(n_jobs)), reads=reads, features=True)


@pytest.mark.parametrize(
    ("value", "word"),
    [(np.nan, "nothing"), (-np.inf, "-inf"), (None, "nothing")],
    ids=["nan", "infinity", "null"],
)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_bad_values_in_the_tenth_row_group(tmp_path, value, word, n_jobs):
    write(tmp_path, "1.parquet")
    write(tmp_path, "2.parquet", b=spoilt([9100, 9101], value))
    message = (
        rf"Column 'b' must hold finite numbers, got {word} in row 9100 of .*2\.parquet "
        r"\(row 19100 of all, counted from 0\)\."
    )
    with pytest.raises(ValueError, match=message):
        read_all(Files(tmp_path, target="y"), "labels", n_jobs)


@pytest.mark.parametrize("value", [None, np.nan, -1.0])
def test_rows_of_zero_weight_are_not_looked_at(tmp_path, value):
    weights = np.ones(N)
    weights[[5, 9100]] = 0.0
    write(tmp_path, b=spoilt([5, 9100], value), y=spoilt([9100], value), w=weights)
    assert read_all(Files(tmp_path, target="y", weight="w")) == N - 2


def test_bad_rows_are_named_by_their_number_before_others_were_left_out(tmp_path):
    weights = np.ones(N)
    weights[:9000:2] = 0.0
    write(tmp_path, b=spoilt([9003], None), w=weights)
    with pytest.raises(
        ValueError, match=r"got nothing in row 9003 of .* \(row 9003 of all, counted from 0\)"
    ):
        read_all(Files(tmp_path, target="y", weight="w"))


@pytest.mark.parametrize(
    ("value", "word"), [(-1.0, r"-1\.0"), (np.nan, "nan"), (np.inf, "inf"), (None, "nothing")]
)
def test_bad_weights(tmp_path, value, word):
    file = write(tmp_path, w=pa.array([1.0] * 9003 + [value] + [1.0] * (N - 9004)))
    message = (
        rf"Column 'w' must hold weights, finite and not negative, got {word} in row 9003 of .*rows\.parquet"
    )
    with pytest.raises(ValueError, match=message):
        survey_classes(Files(file, target="y", weight="w"))


def test_no_weight_at_all(tmp_path):
    file = write(tmp_path, w=np.zeros(N))
    with pytest.raises(ValueError, match=r"No row of .*rows\.parquet has a weight above 0 in column 'w'"):
        survey_classes(Files(file, target="y", weight="w"))


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (
            pa.array([0, 1] * 4500 + [None] * 1000),
            r"a class label in every row, got nothing in row 9000 of",
        ),
        (spoilt([9000], np.nan), r"a class label in every row, got nan in row 9000 of .*rows\.parquet"),
        (np.random.default_rng(0).normal(size=N), "Unknown label type: continuous"),
        (np.full(N, 7), r"at least 2 classes, got 1 class: 7 \(rows of zero weight do not count\)"),
        (np.arange(N), "at most 1000 classes, but the target has more different values"),
    ],
    ids=["null", "nan", "continuous", "one class", "too many"],
)
def test_bad_labels(tmp_path, column, message, monkeypatch):
    monkeypatch.setattr(class_survey, "MOST_CLASSES", 1000)
    if isinstance(column, pa.DoubleArray):
        column = pa.array(np.sign(column.to_numpy()))
    with pytest.raises(ValueError, match=message):
        survey_classes(Files(write(tmp_path, y=column), target="y"))


@pytest.mark.parametrize(("value", "word"), [(None, "nan"), (np.nan, "nan"), (np.inf, "inf")])
def test_bad_numbers_to_predict(tmp_path, value, word):
    source = Files(write(tmp_path, y=spoilt([9000], value)), target="y")
    with pytest.raises(ValueError, match=rf"Targets must be finite numbers, got {word} in row 9000 of"):
        source.survey(NumberOutputs, Run())


def test_too_little_to_learn_from(tmp_path):
    pq.write_table(pa.table({"x": [1.0], "y": [1.0]}), tmp_path / "1.parquet")
    with pytest.raises(ValueError, match=r"at least 2 rows of positive weight .*, got 1 of one kind"):
        LowRankLSSVR().fit(Files(tmp_path, target="y"))


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ({0: 1.0, 1: 0.0}, "must be positive and finite for every class, got 0.0 for 1: leave out the rows"),
        ({0: -2.0}, "must be positive and finite for every class, got -2.0 for 0"),
        ({0: np.nan}, "must be positive and finite for every class, got nan for 0"),
    ],
)
def test_bad_class_weights(tmp_path, class_weight, message):
    with pytest.raises(ValueError, match=message):
        LowRankLSSVC(class_weight=class_weight).fit(Files(write(tmp_path), target="y"))


def source_of(rows):
    survey = rows.survey(ClassOutputs, Run())
    outputs = ClassOutputs.learn(survey.targets, True)
    return rows.source(outputs, survey.weighting(outputs), Run())


def test_labels_that_appear_between_two_passes(tmp_path):
    source = source_of(Files(write(tmp_path), target="y"))
    write(tmp_path, y=np.arange(N) % 3)
    with pytest.raises(ValueError, match="There is a new class label 2: the rows have changed"):
        source.map_reduce(len)


@pytest.mark.parametrize("change", [-1, 1])
def test_rows_that_come_or_go_between_two_passes(tmp_path, change):
    rows = Files(write(tmp_path), target="y")
    source = source_of(rows)
    table = pq.read_table(tmp_path / "rows.parquet")
    table = table.slice(1) if change < 0 else pa.concat_tables([table, table.slice(0, 1)])
    pq.write_table(table, tmp_path / "rows.parquet")
    message = "have changed since they were counted: 10000 of them have had a positive weight, now it is"
    with pytest.raises(ValueError, match=f"{message} {N + change}"):
        source.map_reduce(len)
    with pytest.raises(ValueError, match=message):
        rows.in_memory("labels", N, Run())


def test_files_without_rows(tmp_path):
    write(tmp_path, "1.parquet", a=[], b=[], y=pa.array([], pa.int64()))
    with pytest.raises(
        ValueError, match=r"There are no rows in .*1\.parquet: there is nothing to learn from"
    ):
        survey_classes(Files(tmp_path, target="y"))
    write(tmp_path, "2.parquet")
    assert survey_classes(Files(tmp_path, target="y"))[1].sum() == N
    (tmp_path / "rows.csv").write_text("a,y\n")
    with pytest.raises(ValueError, match=r"There are no rows in .*rows\.csv: there is nothing to learn from"):
        survey_classes(Files(tmp_path / "rows.csv", target="y"))


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("line", [2, 90_000])
def test_a_bad_number_in_a_csv_file(tmp_path, line, n_jobs):
    lines = ["a,b,y"] + ["1.5,2.5,0", "1.5,3,1"] * 50_000
    lines[line - 1] = "1.5,wrong,1"
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    message = rf"'b' must hold numbers, got 'wrong' in line {line} of .*rows\.csv\."
    with pytest.raises(ValueError, match=message):
        read_all(Files(tmp_path, target="y"), "labels", n_jobs)


def test_bad_csv_files(tmp_path):
    def source(text, name="rows.csv"):
        (tmp_path / name).write_bytes(text)
        return Files(tmp_path / name, target="y")

    with pytest.raises(ValueError, match=r"rows\.csv is empty: a line of column names and rows are needed"):
        source(b"")
    with pytest.raises(ValueError, match=r"rows\.csv, line 3: 3 fields, but 2 column names"):
        source(b"a,y\n1,2\n1,2,3\n")
    with pytest.raises(ValueError, match=r"rows\.csv\.gz cannot be read as a CSV file"):
        source(b"a,y\n1,2\n", "rows.csv.gz")
    with pytest.raises(ValueError, match=r"rows\.csv has no column 'y'\. It has: a:y\."):
        source(b"a:y\n1:2\n")
    with pytest.raises(
        ValueError, match=r"Column 'y' must hold a class label .* got nothing in line 3 of .*rows\.csv"
    ):
        survey_classes(source(b"a,y\n1,2\n1,\n"))
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        survey_classes(source(b"a,y\n1,2.5\n1,1\n"))
    with pytest.raises(ValueError, match=r"Column 'a' must hold finite numbers, got nothing in line 3 of"):
        read_all(source(b"a,y\n1,2\n,1\n"))
