"""Every kind of file through one door: Parquet, Arrow, JSON lines, text in any encoding, packed or not."""

import gzip
import io
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from read_files import read_table

from sleek import Files, LowRankLSSVC, LowRankLSSVR
from sleek.rows.files import formats
from sleek.rows.files.sampling import sample_files

SETTINGS = {"n_units": 4, "C": 100.0, "basis": "gaussian_rbf", "random_state": 0}


def towns(n=300):
    """A number with gaps, words beyond ASCII, dates as text, and a number to predict."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n).round(3)),
            "town": rng.choice(["Zürich", "Genève", "Chur"], n),
            "day": [f"2024-{month:02d}-{day:02d}" for month, day in rng.integers(1, 13, (n, 2))],
        }
    )
    return frame, (frame["size"].fillna(1) + (frame.town == "Chur")).round(3)


def as_json(frame):
    return frame.to_json(orient="records", lines=True, force_ascii=False).encode()


def as_arrow(frame, **options):
    stream = io.BytesIO()
    pyarrow.feather.write_feather(pa.Table.from_pandas(frame, preserve_index=False), stream, **options)
    return stream.getvalue()


def as_parquet(frame):
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), stream)
    return stream.getvalue()


KINDS = {
    "a.parquet": as_parquet,
    "a.arrow": lambda frame: as_arrow(frame, compression="uncompressed"),
    "a.feather": lambda frame: as_arrow(frame, compression="lz4", chunksize=50),
    "a.jsonl": as_json,
    "a.ndjson.gz": lambda frame: gzip.compress(as_json(frame)),
    "a.json": as_json,  # by what is in it
    "a.csv": lambda frame: frame.to_csv(index=False).encode(),
    "marked.csv": lambda frame: frame.to_csv(index=False).encode("utf-8-sig"),
    "wide.csv": lambda frame: frame.to_csv(index=False).encode("utf-16"),
    "western.csv": lambda frame: frame.to_csv(index=False).encode("cp1252"),
    "packed.csv": lambda frame: gzip.compress(frame.to_csv(index=False).encode()),
    "a.tsv": lambda frame: frame.to_csv(index=False, sep="\t").encode(),
    "a.txt": lambda frame: frame.to_csv(index=False, sep=";", decimal=",").encode(),
}


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_gives_the_model_of_the_frame(tmp_path, name, monkeypatch):
    monkeypatch.setattr(formats, "PIECE_BYTES", 4000)  # of JSON: several pieces
    frame, y = towns()
    path = tmp_path / name
    path.write_bytes(KINDS[name](frame.assign(y=y)))
    files = Files(path, target="y")
    model = LowRankLSSVR(**SETTINGS).fit(files)
    expected = LowRankLSSVR(**SETTINGS).fit(frame, y)
    assert model.model_.feature_names == expected.model_.feature_names
    np.testing.assert_array_equal(model.predict(frame), expected.predict(frame))
    np.testing.assert_array_equal(model.predict(files), model.predict(frame))
    table = read_table(str(path))
    assert table.n_rows == len(frame)
    assert set(table.words("town").values) == {"Chur", "Genève", "Zürich"}
    assert any("Windows-1252" in note for note in model.column_notes_) == (name == "western.csv")


def test_an_encoding_that_first_bytes_do_not_tell(tmp_path):
    frame, y = towns(40_000)
    text = frame.assign(town="Chur", y=y).to_csv(index=False) + "1,Zürich,2024-01-01,1\n"
    (tmp_path / "a.csv").write_bytes(text.encode("cp1252"))
    model = LowRankLSSVR(**SETTINGS).fit(Files(tmp_path, target="y"))
    assert any("it is read as Windows-1252" in note for note in model.column_notes_)
    with pytest.raises(ValueError, match=r"Name its encoding: Files\(…, encoding='cp1252'\)"):
        LowRankLSSVR(**SETTINGS).fit(Files(tmp_path, target="y", encoding="utf-8"))
    files = Files(tmp_path, target="y", encoding="windows-1252", columns=["town"])
    assert set(sample_files(files, 10**6).columns["town"].values) == {"Chur", "Zürich"}
    with pytest.raises(LookupError, match="unknown encoding: klingon"):
        Files(tmp_path, encoding="klingon")


def test_lines_within_quotes_wherever_they_fall(tmp_path):
    texts = [f"first\nsecond {number}" for number in range(60_000)]
    frame = pd.DataFrame({"text": texts, "x": np.arange(60_000)})
    frame.to_csv(tmp_path / "a.csv", index=False)
    files = Files(tmp_path, columns=["x"])
    found = np.concatenate([block.X["x"].array for block in files.chunks(None, True)])
    np.testing.assert_array_equal(found, np.arange(60_000))


def test_columns_without_a_name_are_left_out(tmp_path):
    frame, y = towns()
    frame.assign(y=y).to_csv(tmp_path / "a.csv")  # with pandas' index
    files = Files(tmp_path, target="y")
    assert files.features == ("size", "town", "day")
    assert files.notes == [f"column 1 of {tmp_path / 'a.csv'} has no name and is left out"]


def test_json_of_several_minds(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"a": 1, "y": 1}\n{"a": "x", "y": 2}\n')
    with pytest.raises(ValueError, match=r"a\.jsonl cannot be read as a JSON lines file: .*changed from"):
        Files(tmp_path, target="y")
    lines = [f'{{"a": {i}, "y": {i % 2}}}' for i in range(20)]
    lines[15] = '{"y": 1}'  # no a at all
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    table = sample_files(Files(tmp_path), 100)
    assert table.n_rows == 20
    assert np.isnan(table.columns["a"].array).tolist() == [i == 15 for i in range(20)]


def test_words_that_mean_a_gap_are_for_the_user_to_say(tmp_path):
    (tmp_path / "a.csv").write_text("damage,x,y\n" + "None,1,0\nMinor,-99,1\nNA,2,1\n" * 40)
    usual = LowRankLSSVC(3, C=100.0, basis="gaussian_rbf", random_state=0).fit(Files(tmp_path, target="y"))
    assert usual.model_.feature_names == ("damage=Minor", "damage=None", "damage is missing", "x")
    own = LowRankLSSVC(3, C=100.0, basis="gaussian_rbf", random_state=0).fit(
        Files(tmp_path, target="y", missing=["-99", "Minor"])
    )
    assert own.model_.feature_names[:3] == ("damage=NA", "damage=None", "damage is missing")
    assert own.model_.inputs.columns[1].fill == 1.5
    with pytest.raises(TypeError, match="`missing` must be a list of words, got 'NA'"):
        Files(tmp_path, missing="NA")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("estimator", [LowRankLSSVC, LowRankLSSVR])
def test_rows_without_a_target_can_be_left_out(tmp_path, kind, estimator):
    frame, y = towns()
    frame["town"], y = frame.town.replace("Chur", "Basel"), (y > 0).astype(float)
    y[[3, 40, 41]] = np.nan
    if kind == "csv":
        frame.assign(y=y).to_csv(tmp_path / "a.csv", index=False)
    else:
        frame.assign(y=y).to_parquet(tmp_path / "a.parquet", index=False)
    with pytest.raises(ValueError, match=r"'y' must hold a class label|Targets must be finite"):
        estimator(**SETTINGS).fit(Files(tmp_path, target="y"))
    model = estimator(**SETTINGS).fit(Files(tmp_path, target="y", drop_missing_targets=True))
    there = y.notna()
    expected = estimator(**SETTINGS).fit(frame[there], y[there])
    np.testing.assert_array_equal(model.predict(frame), expected.predict(frame))
    kept = np.flatnonzero(there)
    np.testing.assert_array_equal(model.left_out_rows_, kept[expected.left_out_rows_])


def test_a_split_holds_out_the_same_rows_in_every_pass(tmp_path):
    frame, y = towns(2000)
    frame.assign(y=y).to_parquet(tmp_path / "a.parquet", index=False)
    train, test = Files(tmp_path, target="y").split(0.3, random_state=1)
    model = LowRankLSSVR(**SETTINGS).fit(train)
    out = numbers_of(test)
    np.testing.assert_array_equal(out, np.setdiff1d(np.arange(2000), numbers_of(train)))
    expected = LowRankLSSVR(**SETTINGS).fit(frame.drop(index=out), y.drop(index=out))
    np.testing.assert_array_equal(model.predict(frame), expected.predict(frame))
    assert model.score(test) == pytest.approx(expected.score(frame.iloc[out], y.iloc[out]))
    assert model.left_out_rows_.max() < 2000
    assert not np.isin(model.left_out_rows_, out).any()
    other = Files(tmp_path, target="y").split(0.3, random_state=2)[1]
    assert numbers_of(other).tolist() != out.tolist()
    with pytest.raises(ValueError, match="split all of them once"):
        train.split()
    with pytest.raises(ValueError, match="`test_share` must be between 0 and 1, got 2"):
        Files(tmp_path).split(2)


def numbers_of(files):
    return np.concatenate([chunk.numbers for chunk in files.chunks(None, True)])


def test_what_training_had_none_of_is_counted_at_the_users_line(tmp_path):
    frame, y = towns()
    model = LowRankLSSVR(**SETTINGS).fit(frame.fillna(0.0), y)
    new = frame.assign(town=["Bern"] * 100 + ["Thun"] * 50 + ["Chur"] * 150)
    new.to_parquet(tmp_path / "a.parquet", index=False)
    files, gaps = Files(tmp_path / "a.parquet"), int(frame["size"].isna().sum())
    wanted = [
        f"Column 'size': {gaps} missing values, of which training had none, are taken as",
        "Column 'town': 150 rows hold what the model has never seen, such as 'Bern', 'Thun'.",
    ]
    uses = (
        lambda: model.predict(new),
        lambda: model.predict(files),
        lambda: model.predict_to(files, tmp_path / "out.csv"),
        lambda: model.model_.predict(new),
    )
    for use in uses:
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            use()
        (warning,) = heard
        assert all(sentence in str(warning.message) for sentence in wanted)
        assert warning.filename == __file__
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        LowRankLSSVR(**SETTINGS).fit(frame.assign(id=[f"F{i}" for i in range(300)]), y)
        LowRankLSSVR(**SETTINGS).fit(np.ones((30, 1)) * 1e9 + np.arange(30)[:, None] * 1e-7, np.arange(30.0))
        LowRankLSSVR(300, random_state=0).fit(np.repeat(np.arange(20.0), 3)[:, None], np.arange(60.0))
    assert len(heard) >= 3
    assert {warning.filename for warning in heard} == {__file__}


def test_some_rows_as_a_table(tmp_path):
    frame, y = towns(3000)
    frame.assign(y=y).to_csv(tmp_path / "a.csv", index=False)
    files = Files(tmp_path)
    some = sample_files(files, 500)
    assert some.n_rows == 3000
    assert 200 < len(some.columns) <= 500
    drawn = pd.DataFrame({"size": some.columns["size"].array, "y": some.columns["y"].array})
    assert len(drawn.merge(frame.assign(y=y), on=["size", "y"])) >= len(drawn)
    assert not some.unusable
    (tmp_path / "a.csv").write_text("x;y\n1,5;a\n2.5;b\n")
    assert "with one decimal mark" in sample_files(Files(tmp_path), 500).unusable["x"]
