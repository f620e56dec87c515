"""Types of categories are honoured: of numbers too, and in their order."""

import subprocess
import sys

import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sleek import DaskRows, Files, LowRankLSSVR, load
from sleek.tables import rules
from sleek.tables.columns import CategoryColumn, LevelColumn
from sleek.tables.inputs import Inputs

CODES = [3, 1, None, 3, 7, 1] * 4
TEXTS = [None if code is None else str(code) for code in CODES]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(pd.Categorical(CODES)),
        pd.Series(pd.Categorical(TEXTS)),
        pl.Series(TEXTS, dtype=pl.Categorical),
        pa.array(CODES).dictionary_encode(),
        pa.array(TEXTS).dictionary_encode(),
    ],
    ids=["pandas numbers", "pandas text", "polars", "arrow numbers", "arrow text"],
)
def test_categories_of_numbers_are_categories(column):
    inputs = Inputs.learn({"code": column})
    assert inputs.columns == (CategoryColumn("code", ("1", "3", "7"), gap=True),)
    np.testing.assert_array_equal(inputs.transform({"code": column})[2], [0, 0, 0, 1])


@pytest.mark.parametrize("typed", [True, False], ids=["by type", "by name"])
@pytest.mark.parametrize("sorted_rows", [20_000, 50], ids=["few rows", "many rows"])
def test_categories_of_numbers_are_categories_by_every_door(tmp_path, monkeypatch, typed, sorted_rows):
    """By the type that pandas knows, which Parquet keeps as a remark, or by name; of any number of rows."""
    monkeypatch.setattr(rules, "SORTED_ROWS", sorted_rows)
    rng = np.random.default_rng(0)
    code, x = rng.integers(1, 9, 300), rng.normal(size=300)
    y = rng.permutation(8)[code - 1] + x
    frame = pd.DataFrame({"code": pd.Categorical(code) if typed else code, "x": x, "y": y})
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_csv(tmp_path / "t.csv", index=False)
    named = None if typed else ["code"]
    dask = DaskRows(dd.from_pandas(frame, npartitions=3), target="y", categories=named)
    doors = [
        (Files(tmp_path / "t.parquet", target="y", categories=named),),
        (Files(tmp_path / "t.csv", target="y", categories=["code"]),),
        (dask,),
    ]
    expected = LowRankLSSVR(basis="linear", categorical_features=named).fit(frame[["code", "x"]], y).model_
    assert isinstance(expected.inputs.columns[0], CategoryColumn)
    for door in doors:
        found = LowRankLSSVR(basis="linear").fit(*door).model_
        assert found.inputs == expected.inputs
        np.testing.assert_allclose(found.predict(frame), expected.predict(frame), rtol=1e-9)
    words = "-m sleek fit t.parquet -t y --basis linear -o m.json" + " --categories code" * (not typed)
    subprocess.run([sys.executable, *words.split()], cwd=tmp_path, check=True, capture_output=True)
    assert load(tmp_path / "m.json").inputs == expected.inputs


SIZES = ["M", "S", None, "L", "XL", "M"] * 4


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(pd.Categorical(SIZES, ["S", "M", "L", "XL"], ordered=True)),
        pl.Series(SIZES, dtype=pl.Enum(["S", "M", "L", "XL"])),
        pa.DictionaryArray.from_arrays(
            pa.array([{"S": 0, "M": 1, "L": 2, "XL": 3}.get(size) for size in SIZES]),
            pa.array(["S", "M", "L", "XL"]),
            ordered=True,
        ),
    ],
    ids=["pandas", "polars", "arrow"],
)
def test_ordered_categories_keep_their_order(column):
    inputs = Inputs.learn({"size": column})
    (found,) = inputs.columns
    assert isinstance(found, LevelColumn)
    assert inputs.feature_names == ("rank of size", "size is missing")
    np.testing.assert_array_equal(
        inputs.transform({"size": column})[:6], [[1, 0], [0, 0], [1, 1], [2, 0], [3, 0], [1, 0]]
    )


def test_ordered_categories_in_files_and_model_files(tmp_path):
    rng = np.random.default_rng(0)
    ranks = rng.integers(0, 4, 120)
    size = pd.Categorical.from_codes(ranks, ["S", "M", "L", "XL"], ordered=True)
    frame = pd.DataFrame({"size": size, "x": rng.normal(size=120), "y": ranks + rng.normal(0, 0.1, 120)})
    model = LowRankLSSVR(3, random_state=0, basis="gaussian_rbf", C=10.0)
    by_frame = model.fit(frame[["size", "x"]], frame.y).predict(frame[["size", "x"]])
    frame.to_parquet(tmp_path / "sizes.parquet")
    files = Files(tmp_path, target="y")
    assert np.array_equal(model.fit(files).predict(files), by_frame)
    model.model_.save(tmp_path / "model.json")
    assert load(tmp_path / "model.json").inputs == model.model_.inputs
    assert np.array_equal(load(tmp_path / "model.json").predict(frame), by_frame)
    pq.write_table(pq.read_table(tmp_path / "sizes.parquet").slice(0, 1), tmp_path / "one.parquet")
    model.forget(frame[["size", "x"]].iloc[:3], frame.y.iloc[:3])  # ranks do not depend on targets
