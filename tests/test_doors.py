"""One table by a frame, files, a Dask frame and the command line: answers, notes and refusals agree."""

import io
import json
import pickle
import re
import warnings

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import sleek
from sleek import DaskRows, Files, LowRankLSSVC, LowRankLSSVR
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


@pytest.fixture(scope="module")
def model(made):
    """An estimator that was fitted to the first table, and a file of its model that can be updated."""
    folder, old, _ = made
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = LowRankLSSVR(**SETTINGS).fit(old.drop(columns="rent"), old.rent)
    fitted.model_.save(folder / "fitted.json", metadata={"target": "rent"}, moments=True)
    return fitted


@pytest.mark.filterwarnings("ignore:Column 'town'")
def test_scores(made, model):
    """`score` of a frame, files and a Dask frame, and what `sleek evaluate` prints of one file or two."""
    folder, _, new = made
    ways = {
        "frame": (new.drop(columns="rent"), new.rent),
        "dictionary": ({name: new[name] for name in new if name != "rent"}, new.rent),
        "file": (Files(folder / "new.csv", target="rent"),),
        "folder": (Files(folder / "parts", target="rent"),),
        "dask": (DaskRows(dd.from_pandas(new, npartitions=3), target="rent"),),
    }
    found = {name: model.score(*way) for name, way in ways.items()}
    np.testing.assert_allclose(list(found.values()), found["frame"], rtol=1e-13)
    one, two = (
        json.loads(run("evaluate", folder / "fitted.json", folder / name, "--json").stdout)
        for name in ("new.csv", "parts")
    )
    assert one["r2"] == found["file"] == found["folder"] == found["dask"]
    errors = model.predict(new.drop(columns="rent")) - new.rent
    np.testing.assert_allclose(one["rmse"], np.sqrt(np.mean(errors**2)), rtol=1e-12)
    inside = model.predict_interval(new.drop(columns="rent"), 0.9)
    coverage = np.mean((inside[:, 0] <= new.rent) & (new.rent <= inside[:, 1]))
    assert {level["level"]: level["coverage"] for level in one["intervals"]}[0.9] == pytest.approx(coverage)
    assert {key: value for key, value in one.items() if key != "data"} == {
        key: value for key, value in two.items() if key != "data"
    }


@pytest.mark.filterwarnings("ignore:Column 'town'")
@pytest.mark.parametrize("number", [0, 3, 200])
def test_explanations(made, model, number):
    """A row of a frame, a dictionary of its values, and the row of a file: the same sum, to the bit."""
    folder, _, new = made
    rows = new.drop(columns="rent")
    expected = model.explain(rows[number : number + 1])
    values = {name: rows[name].iloc[number] for name in rows}
    done = run("explain", folder / "fitted.json", f"{folder / 'new.csv'}:{number + 1}", "--json")
    command = json.loads(done.stdout)
    for other in (model.explain(values), model.model_.explain(rows[number : number + 1])):
        np.testing.assert_array_equal(other.rows, expected.rows)
        np.testing.assert_array_equal(other.contributions, expected.contributions)
        assert str(other) == str(expected)
    assert command["prediction"] == expected.predictions[0] == model.predict(rows[number : number + 1])[0]
    assert list(command["features"].values()) == expected.rows[0].tolist()
    assert command["contributions"] == expected.contributions[0].tolist()
    assert [reason["effect"] for reason in command["reasons"]] == [
        reason.effect for reason in expected.reasons[0]
    ]
    assert command["familiar"]["in_words"] == str(model.familiar(rows[number : number + 1])[0])


@pytest.mark.filterwarnings("ignore:Column 'town'")
def test_updates(made, model, tmp_path):
    """Rows that come later by a frame, files, a folder and `sleek update`: the same weights, to the bit."""
    folder, _, new = made
    expected = model.model_.partial_fit(new.drop(columns="rent"), new.rent)
    ways = {"new.csv": folder / "new.csv", "parts": folder / "parts"}
    for name, place in ways.items():
        by_files = clone_of(model).partial_fit(Files(place, target="rent"))
        output = tmp_path / f"{name}.json"
        run("update", folder / "fitted.json", place, "-o", output, "--json")
        for other in (by_files.model_, sleek.load(output)):
            np.testing.assert_array_equal(other.theta, expected.theta)
            np.testing.assert_array_equal(other.b, expected.b)
            assert other.memory.n_rows == expected.memory.n_rows


def clone_of(estimator):
    return pickle.loads(pickle.dumps(estimator))


def test_probabilities(made, tmp_path):
    """Of three classes: a frame, files, a Dask frame, `predict_to` and `sleek predict --proba`."""
    _, old, new = made
    new = new[~new.town.isin(["Genf"])]
    new.to_csv(tmp_path / "new.csv", index=False)
    features, labels = ["area", "since", "rent"], old.town.fillna("Chur")
    model = LowRankLSSVC(**SETTINGS).fit(old[features], labels)
    model.model_.save(tmp_path / "m.json")
    expected = model.predict_proba(new[features])
    np.testing.assert_array_equal(model.model_.predict_proba(new), expected)
    files = Files(tmp_path / "new.csv", columns=features)
    np.testing.assert_array_equal(model.predict_proba(files), expected)
    frame = dd.from_pandas(new[features], npartitions=2)
    np.testing.assert_array_equal(model.predict_proba(frame).compute(scheduler="synchronous"), expected)
    model.predict_to(files, tmp_path / "p.csv", ["id"], proba=True)
    done = run("predict", tmp_path / "m.json", tmp_path / "new.csv", "--keep", "id", "--proba")
    assert done.stdout == (tmp_path / "p.csv").read_text()
    table = pd.read_csv(tmp_path / "p.csv", float_precision="round_trip")
    columns = [f"prediction_probability_{label}" for label in model.classes_]
    np.testing.assert_array_equal(table[columns], expected)
    np.testing.assert_array_equal(table.prediction, model.predict(new[features]))


def test_held_out_rows_without_weight_are_a_sentence_about_the_option(made, tmp_path):
    _, old, _ = made
    path = tmp_path / "t.csv"
    _, held = Files(made[0] / "old.csv").split(0.25, 0)
    weight = 1 - held.part.mask(np.arange(len(old))).astype(int)
    old.assign(w=weight).to_csv(path, index=False)
    done = run("fit", path, "-t", "rent", "--weight", "w", "--test", "0.25", *OPTIONS, code=2)
    assert "--test: all rows held out have weight 0 in column 'w'." in " ".join(done.stderr.split())
