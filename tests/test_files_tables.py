"""Files with categories, gaps and dates: the same as the table in memory, whatever their size."""

import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_frames import people

from sleek import Files, LowRankLSSVC, LowRankLSSVR
from sleek.tables import rules
from sleek.tables.columns import CategoryColumn, NumberColumn

SETTINGS = {"n_units": 6, "C": 100.0, "basis": "gaussian_rbf", "random_state": 0}


def written(folder, frame, kind):
    """The frame in two files of a kind."""
    for number, part in enumerate((frame[: len(frame) // 3], frame[len(frame) // 3 :])):
        if kind == "parquet":
            table = pa.Table.from_pandas(part, preserve_index=False)
            pq.write_table(table, folder / f"{number}.parquet", row_group_size=5000)
        else:
            part.to_csv(folder / f"{number}.csv", index=False)
    return folder


@pytest.mark.parametrize("kind", ["parquet", "csv"])
@pytest.mark.parametrize("n", [900, 24_000])
def test_a_fit_is_that_of_the_frame(tmp_path, n, kind):
    frame, y = people(n=n)
    w = np.arange(n) % 3
    folder = written(tmp_path, frame.assign(y=y, w=w), kind)
    files = Files(folder, target="y", weight="w", columns=list(frame), categories=["zip"])
    model = LowRankLSSVR(**SETTINGS).fit(files)
    expected = LowRankLSSVR(**SETTINGS).fit(frame, y, w)
    assert [type(column) for column in model.model_.inputs.columns] == [
        type(column) for column in expected.model_.inputs.columns
    ]
    assert model.model_.feature_names == expected.model_.feature_names
    np.testing.assert_allclose(model.predict(frame), expected.predict(frame), rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(model.predict(files), model.predict(frame))
    assert model.score(files) > 0.9
    assert model.feature_importances_.shape == (6,)
    assert model.predict_to(files, tmp_path / "out.parquet", keep=["zip"]) == n
    out = pd.read_parquet(tmp_path / "out.parquet")
    np.testing.assert_allclose(out.prediction, model.predict(frame), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(out.zip.astype(str), frame.zip)


def test_numbers_that_turn_out_to_be_words_far_down(tmp_path):
    rng = np.random.default_rng(0)
    n = 120_000
    code = rng.integers(0, 4, n).astype(str)
    code[-5:] = "x"
    frame = pd.DataFrame({"code": code, "y": np.where(code == "1", "yes", "no")})
    frame.to_csv(tmp_path / "a.csv", index=False)
    model = LowRankLSSVC(3, C=10.0, random_state=0, basis="gaussian_rbf").fit(Files(tmp_path, target="y"))
    assert model.model_.inputs.columns == (CategoryColumn("code", ("0", "1", "2", "3", "x")),)
    assert model.score(Files(tmp_path, target="y")) > 0.999


def test_ids_are_left_out_and_gaps_noted(tmp_path):
    n = 25_000
    table = {
        "id": [f"i{i}" for i in range(n)],
        "x": [None if i % 10 == 0 else i % 7 for i in range(n)],
        "y": [i % 7 + 0.5 for i in range(n)],
    }
    pq.write_table(pa.table(table), tmp_path / "a.parquet")
    with pytest.warns(UserWarning, match="Column 'id' has 25000 different texts .* It is left out"):
        model = LowRankLSSVR(**SETTINGS).fit(Files(tmp_path, target="y"))
    assert model.model_.inputs.columns == (NumberColumn("x", 3.0),)
    assert any("'x'" in note for note in model.column_notes_)


def test_a_slip_is_named_by_its_row(tmp_path):
    pq.write_table(pa.table({"x": [1.0, 2.0, np.inf, None], "y": [0, 1, 0, 1]}), tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=r"'x' must hold finite numbers, got inf in row 2 of .*a\.parquet"):
        LowRankLSSVC(2).fit(Files(tmp_path, target="y"))


def test_decimal_commas(tmp_path):
    rows = "".join(f"{i % 10},5;{'ab'[i % 2]};{i % 10}\n" for i in range(100))
    (tmp_path / "a.csv").write_text("x;c;y\n" + rows)
    model = LowRankLSSVR(4, C=100.0, random_state=0, basis="gaussian_rbf").fit(Files(tmp_path, target="y"))
    assert isinstance(model.model_.inputs.columns[0], NumberColumn)
    assert model.score(Files(tmp_path, target="y")) > 0.99


def test_categories_stay_codes_until_a_block_is_worked_on():
    """300,000 rows of 300 levels as features would take 720 MB; as codes they take 1.2 MB."""
    rng = np.random.default_rng(0)
    n = 300_000
    codes = rng.integers(0, 300, n)
    frame = pd.DataFrame({"code": pd.Categorical.from_codes(codes, [f"level {i}" for i in range(300)])})
    y = rng.permutation(300)[codes] % 20 > 9
    model = LowRankLSSVC(4, C=10.0, basis="gaussian_rbf", max_samples=5000, random_state=0)
    tracemalloc.start()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(frame, y)
    model.predict(frame)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 150e6
    assert model.score(frame, y) > 0.9


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_folders_can_be_columns(tmp_path, kind):
    """A directory that is partitioned as Hive, Spark and pyarrow do it."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"town": rng.choice(["Sankt Gallen", "Bonn"], 400), "x": rng.normal(size=400)})
    frame["year"] = rng.integers(2020, 2023, 400)
    frame["y"] = (frame.town == "Bonn") * 2.0 + frame.x + (frame.year - 2020)
    for (town, year), part in frame.groupby(["town", "year"]):
        folder = tmp_path / f"town={town.replace(' ', '%20')}" / f"year={year}"
        folder.mkdir(parents=True)
        rest = part.drop(columns=["town", "year"])
        if kind == "parquet":
            rest.to_parquet(folder / "part.parquet", index=False)
        else:
            rest.to_csv(folder / "part.csv", index=False)
    files = Files(tmp_path, target="y")
    assert files.features == ("x", "town", "year")
    model = LowRankLSSVR(8, C=100.0, basis="gaussian_rbf", random_state=0).fit(files)
    expected = LowRankLSSVR(8, C=100.0, basis="gaussian_rbf", random_state=0).fit(
        frame[["x", "town", "year"]].astype({"year": float}), frame.y
    )
    assert model.score(files) > 0.95
    np.testing.assert_allclose(
        model.predict(frame[["x", "town", "year"]]), expected.predict(frame[["x", "town", "year"]]), rtol=1e-9
    )


KINDS = {
    "whole numbers": np.arange(40) % 4,
    "numbers": np.arange(40) % 4 / 2,
    "truth values": np.arange(40) % 2 == 0,
    "words": np.array(list("abcd"))[np.arange(40) % 4],
    "numbers as text": (np.arange(40) % 4).astype(str),
    "codes": pd.Categorical(np.arange(40) % 4),
    "dates": pd.date_range("2020-01-01", periods=40),
    "nothing": [None] * 40,
}


@pytest.mark.parametrize(("kind", "few"), [("parquet", 20_000), ("parquet", 10), ("csv", 20_000)])
@pytest.mark.parametrize("one", KINDS)
@pytest.mark.parametrize("two", KINDS)
def test_files_of_different_types_lose_no_value(tmp_path, monkeypatch, one, two, kind, few):
    """A column that is of one type in a file and of another in the next is refused, or all of it is read."""
    monkeypatch.setattr(rules, "SORTED_ROWS", few)
    for name in (one, two):
        frame = pd.DataFrame({"c": KINDS[name], "x": np.arange(40.0)}).assign(y=np.arange(40.0))
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.{kind}"
        frame.to_parquet(path) if kind == "parquet" else frame.to_csv(path, index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            inputs = LowRankLSSVR(basis="linear").fit(Files(tmp_path, target="y")).model_.inputs
        except ValueError as error:
            said = str(error)
        else:
            said = ""
    if said:
        assert "Column 'c' must be of one kind in every file" in said
        assert one != two
        return
    found = {} if inputs is None else {column.name: column for column in inputs.columns}
    if "nothing" not in (one, two) and "c" in found:
        assert not getattr(found["c"], "gaps", getattr(found["c"], "gap", False))
