"""One table by a frame, files, a Dask frame and the command line: answers, notes and refusals agree."""

import io
import json
import re
import warnings

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import sleek
from sleek import DaskRows, Files, LowRankLSSVR
from sleek.cli.commands import app

SETTINGS = {"n_units": 4, "basis": "gaussian_rbf", "random_state": 0}
OPTIONS = ("--units", "4", "--basis", "gaussian_rbf", "--jobs", "1", "--json")


def flats(n, seed):
    """Numbers with gaps, a category with gaps, an id, a date."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"id": [f"F{seed}-{i}" for i in range(n)], "area": rng.gamma(9, 9, n).round(1)})
    frame["town"] = rng.choice(["Aarau", "Basel", "Chur"], n)
    frame["since"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n), "D")
    frame["rent"] = (14 * frame.area + 300 * (frame.town == "Basel") + rng.normal(scale=9, size=n)).round(2)
    frame.loc[rng.random(n) < 0.1, "area"] = np.nan
    frame.loc[rng.random(n) < 0.1, "town"] = None
    return frame


def run(*arguments, code=0):
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == code, (done.stdout, done.stderr, done.exception)
    return done


def heard(use):
    """What a use gives, and its warnings as notes, sorted."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = use()
    lines = [line for warning in said for line in str(warning.message).split("\n")]
    return found, sorted(f"{line[0].lower()}{line[1:].rstrip('.')}" for line in lines)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Two tables, as frames and as CSV files; the second in a folder of two files too."""
    folder = tmp_path_factory.mktemp("doors")
    old, new = flats(400, 0), flats(300, 1)
    new.loc[:6, "town"] = "Genf"
    old.to_csv(folder / "old.csv", index=False)
    new.to_csv(folder / "new.csv", index=False)
    (folder / "parts").mkdir()
    new[:120].to_csv(folder / "parts" / "1.csv", index=False)
    new[120:].to_csv(folder / "parts" / "2.csv", index=False)
    return folder, old, new


def test_fits_and_their_notes(made):
    folder, old, _ = made
    features = [name for name in old if name != "rent"]
    ways = {
        "frame": (old[features], old.rent),
        "files": (Files(folder / "old.csv", target="rent"),),
        "dask": (DaskRows(dd.from_pandas(old, npartitions=3), target="rent"),),
    }
    models = {name: heard(lambda way=way: LowRankLSSVR(**SETTINGS).fit(*way)) for name, way in ways.items()}
    model, said = models["frame"]
    assert any("'id' has 400 different texts" in note for note in said)
    for other, also in models.values():
        assert other.model_.inputs == model.model_.inputs
        assert other.column_notes_ == model.column_notes_
        assert also == said
        assert other.n_features_in_ == 4
        np.testing.assert_array_equal(other.unit_weights_, model.unit_weights_)
    report = json.loads(
        run("fit", folder / "old.csv", "-t", "rent", *OPTIONS, "-o", folder / "m.json").stdout
    )
    command = sleek.load(folder / "m.json")
    assert command.inputs == model.model_.inputs
    np.testing.assert_array_equal(command.theta, model.model_.theta)
    assert report["notes"] == [f"{note[0].lower()}{note[1:].rstrip('.')}" for note in model.column_notes_]


def test_predictions_and_their_notes(made, tmp_path):
    folder, old, new = made
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LowRankLSSVR(**SETTINGS).fit(old.drop(columns="rent"), old.rent)
    model.model_.save(tmp_path / "m.json")
    expected, said = heard(lambda: model.predict(new.drop(columns="rent")))
    assert said == ["column 'town': 7 rows hold what the model has never seen, such as 'Genf'"]
    frame = dd.from_pandas(new, npartitions=1)
    for use in (
        lambda: model.model_.predict(new),
        lambda: model.predict({name: new[name] for name in new}),
        lambda: model.predict(Files(folder / "new.csv")),
        lambda: model.predict(Files(folder / "parts")),
        lambda: model.predict(frame).compute(scheduler="synchronous"),
    ):
        found, also = heard(use)
        np.testing.assert_array_equal(found, expected)
        assert also == said
    written = []
    for data in (folder / "new.csv", folder / "parts"):
        done = run("predict", tmp_path / "m.json", data, "--interval", "0.9", "--keep", "id")
        written.append(done.stdout)
        table = pd.read_csv(io.StringIO(done.stdout), float_precision="round_trip")
        assert list(table) == ["id", "prediction", "prediction_low", "prediction_high"]
        np.testing.assert_array_equal(table.prediction, expected)
        assert f"note: {said[0]}" in done.stderr
    assert written[0] == written[1]


def test_refusals(made, tmp_path):
    _, old, new = made
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LowRankLSSVR(**SETTINGS).fit(old.drop(columns="rent"), old.rent)
    model.model_.save(tmp_path / "m.json")
    bad = new.astype({"area": object})
    bad.loc[41, "area"] = "vast"
    bad.to_csv(tmp_path / "bad.csv", index=False)
    sentence = "Column 'area' must hold numbers(, as almost all rows do)?, got 'vast' in "
    for use, place in (
        (lambda: model.predict(bad.drop(columns="rent")), r"row 41\."),
        (lambda: model.model_.predict(bad), r"row 41\."),
        (lambda: model.predict(Files(tmp_path / "bad.csv")), r"line 43 of .*bad\.csv\."),
    ):
        with pytest.raises(ValueError, match=sentence + place):
            use()
    said = " ".join(run("predict", tmp_path / "m.json", tmp_path / "bad.csv", code=2).stderr.split())
    assert re.search(sentence + r"line 43 of \S*bad\.csv\.", said)
