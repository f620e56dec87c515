"""Saved models come back to the bit, whatever they are made of, and files of old releases are read."""

import json
import os
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import zoo
from hypothesis import given, settings
from hypothesis import strategies as st

import sleek
from sleek import ClassOutputs, Expansion, NumberOutputs, RobustRBF
from sleek.estimators.settings import training_record
from sleek.model.facts import ARRAYS
from sleek.model.saving import VERSION, dumps, loads

HERE = Path(__file__).parent
OLD = {
    name: expected
    for version in range(1, VERSION + 1)
    for name, expected in json.loads((HERE / f"models/v{version}_expected.json").read_text()).items()
}


def assert_same(a, b):
    assert [type(part.basis) for part in a.parts] == [type(part.basis) for part in b.parts]
    pairs = [(a.theta, b.theta), (a.b, b.b)]
    for one, other in zip(a.parts, b.parts, strict=True):
        assert list(one.units.arrays) == list(other.units.arrays)
        pairs += [(one.units[name], other.units[name]) for name in one.units.arrays]
    assert (a.facts is None) == (b.facts is None)
    if a.facts is not None:
        pairs += [(getattr(a.facts, name), getattr(b.facts, name)) for name in ARRAYS]
        assert (a.facts.n_rows, a.facts.expected) == (b.facts.n_rows, b.facts.expected)
    assert type(a.outputs) is type(b.outputs)
    if isinstance(a.outputs, NumberOutputs):
        pairs += [(a.outputs.mean, b.outputs.mean), (a.outputs.scale, b.outputs.scale)]
        assert a.outputs.flat == b.outputs.flat
    else:
        assert a.outputs.classes.dtype == b.outputs.classes.dtype
        assert a.outputs.classes.tolist() == b.outputs.classes.tolist()
    for x, y in pairs:
        assert x.tobytes() == y.tobytes()
        assert x.shape == y.shape
    assert (a.C, a.feature_names, a.inputs) == (b.C, b.feature_names, b.inputs)
    assert (a.trained_by, a.metadata) == (b.trained_by, b.metadata)


@pytest.mark.parametrize("has_facts", [True, False])
@pytest.mark.parametrize(("basis", "task"), zoo.CASES)
def test_a_model_comes_back_to_the_bit(tmp_path, basis, task, has_facts):
    facts = zoo.model(basis.split("+")[0], task).facts
    assert facts is not None
    model = replace(zoo.model(basis, task), facts=facts if has_facts else None)
    model.save(tmp_path / "m.json")
    again = sleek.load(str(tmp_path / "m.json"))
    assert_same(model, again)
    X = zoo.test_rows(task)
    assert again.decision_function(X).tobytes() == model.decision_function(X).tobytes()
    assert not again.theta.flags.writeable


LABELS = [
    np.array([False, True]),
    np.array([-(2**63), 2**63 - 1]),
    np.array([0, 2**64 - 1], dtype=np.uint64),
    np.array([-1, 1], dtype=np.int8),
    np.array([0.1, 2.5e-310]),
    np.array([0.1, 1.5], dtype=np.float32),
    np.array(["no", "já\n\"'", "\U0001f600"]),
    np.array(["no", "yes"], dtype=object),
]


@pytest.mark.parametrize("labels", LABELS, ids=lambda labels: f"{labels.dtype.name}")
def test_labels_keep_their_kind(labels):
    model = replace(zoo.handmade(labels=range(len(labels))), outputs=ClassOutputs(labels))
    assert_same(model, loads(dumps(model)))


@settings(deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=4, max_size=4))
def test_every_finite_number_comes_back(numbers):
    model = replace(zoo.handmade(), theta=np.array(numbers[:2])[:, None], b=np.array(numbers[2:3]))
    again = loads(dumps(model, metadata={"number": numbers[3]}))
    assert again.theta.tobytes() == model.theta.tobytes()
    assert again.b.tobytes() == model.b.tobytes()
    assert np.float64(again.metadata["number"]).tobytes() == np.float64(numbers[3]).tobytes()


@pytest.mark.parametrize("name", sorted(OLD))
def test_files_of_former_releases_are_read(name):
    model, expected = sleek.load(HERE / f"models/{name}.json"), OLD[name]
    X = np.array(expected["rows"])
    np.testing.assert_allclose(model.decision_function(X), expected["outputs"], rtol=1e-11, atol=1e-13)
    if zoo.classifies(model):
        assert model.predict(X).tolist() == expected["predictions"]
    assert_same(model, loads(dumps(model)))  # and written as this release does


@pytest.mark.filterwarnings("ignore:Column")  # rows hold gaps and words that are no level
@pytest.mark.parametrize("name", sorted(name for name in OLD if not name.startswith("v1")))
def test_files_since_the_second_format_have_parts_facts_and_columns(name):
    model, expected = sleek.load(HERE / f"models/{name}.json"), OLD[name]
    assert [part.basis.name for part in model.parts] == expected["parts"]
    facts = model.facts and {
        "n_rows": model.facts.n_rows,
        "influence": model.facts.influence.tolist(),
        "expected": model.facts.expected.value,
    }
    assert facts == expected["facts"]
    if "table" in expected:
        found = model.predict(expected["table"]).tolist()
        if zoo.classifies(model):
            assert found == expected["predictions"]
        else:  # the last digit is that of the machine's NumPy
            np.testing.assert_allclose(found, expected["predictions"], rtol=1e-12)


@pytest.mark.parametrize("name", sorted(name for name in OLD if name.startswith("v3")))
def test_files_since_the_third_format_have_effects(name):
    effects, expected = sleek.load(HERE / f"models/{name}.json").effects(), OLD[name]
    np.testing.assert_allclose(effects.mean, expected["mean"], rtol=1e-9)
    shares = {k if isinstance(k, str) else " and ".join(k): v for k, v in effects.shares.items()}
    assert shares == pytest.approx(expected["shares"], abs=1e-9)


@pytest.mark.parametrize("name", sorted(name for name in OLD if not name.startswith("v3")))
def test_files_of_former_formats_say_what_they_lack(name):
    with pytest.raises(ValueError, match="distribution of every column"):
        sleek.load(HERE / f"models/{name}.json").effects()


def test_all_files_of_former_releases_are_there():
    """A release adds its files and takes none away."""
    assert {file.stem for file in (HERE / "models").glob("v*.json")} == {
        *OLD,
        *(f"v{n}_expected" for n in range(1, VERSION + 1)),
    }
    assert {int(name[1]) for name in OLD} == set(range(1, VERSION + 1))


def test_inputs_metadata_and_training_are_kept():
    model, table, X = zoo.with_inputs("box+sigmoidal")
    estimator = zoo.fitted("simplex", "number")
    model = replace(model, trained_by=training_record(estimator), metadata={"a": [1, {"b": None}]})
    again = loads(dumps(model))
    assert_same(model, again)
    np.testing.assert_array_equal(again.inputs.transform(table), X)
    assert again.trained_by["settings"]["basis"] == "simplex"
    assert loads(dumps(model, metadata={"x": 1})).metadata == {"x": 1}


def test_training_records_hold_plain_values():
    estimator = sleek.LowRankLSSVC(
        np.int64(3),
        trainer=sleek.VariableProjection(pull=0.1),
        init=np.zeros((3, 2)),
        class_weight={"a": 2.0},
        random_state=np.random.RandomState(0),
    )
    record = training_record(estimator)
    assert json.loads(json.dumps(record)) == record
    assert record["settings"]["n_units"] == 3
    assert record["settings"]["trainer"]["settings"]["pull"] == 0.1
    assert record["settings"]["init"] == "array of shape (3, 2)"


def test_an_estimators_model_saves_itself_and_pickles(tmp_path):
    estimator = zoo.fitted("gaussian_rbf", "binary")
    estimator.model_.save(tmp_path / "m.json")
    assert_same(pickle.loads(pickle.dumps(sleek.load(tmp_path / "m.json"))), estimator.model_)


def test_a_basis_of_ones_own_is_found_by_name_with_its_settings():
    class Wide(RobustRBF):
        name = "wide"

        def __init__(self, width=1.0):
            self.width = width

    model = zoo.with_basis(zoo.handmade("robust_rbf"), Wide(width=2.5))
    (again,) = loads(dumps(model)).parts
    assert isinstance(again.basis, Wide)
    assert again.basis.width == 2.5


def test_parts_of_one_basis_stay_apart():
    """With settings of their own, for one."""
    first, second = (zoo.handmade("robust_rbf", None, seed=seed) for seed in (0, 1))
    model = replace(
        first,
        expansion=Expansion((first.parts[0], second.parts[0])),
        theta=np.concatenate([first.theta, second.theta]),
    )
    assert [len(part) for part in loads(dumps(model)).parts] == [2, 2]
    assert_same(model, loads(dumps(model)))


TWO_BASES = """
import sys
sys.path.insert(0, {here!r})
import zoo
from sleek import RobustRBF
from sleek.model.saving import dumps, loads

model = zoo.handmade("robust_rbf")
data = dumps(model)

class One(RobustRBF):
    name = "robust_rbf"

for task in (lambda: dumps(model), lambda: dumps(zoo.with_basis(model, One())), lambda: loads(data)):
    try:
        task()
    except ValueError as error:
        print(error)
"""


def test_two_bases_of_one_name_are_refused_when_saving_and_loading():
    """In a process of its own: here a class would stay for the other tests."""
    command = [sys.executable, "-c", TWO_BASES.format(here=str(HERE))]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(said) == 3
    for sentence in said:
        assert sentence.startswith("Two bases are called 'robust_rbf': sleek.bases.robust_rbf.RobustRBF and")


def test_a_basis_that_its_name_does_not_stand_for_is_not_saved():
    def defined():
        class Again(RobustRBF):
            name = "defined_again"

        return Again

    old = zoo.with_basis(zoo.handmade("robust_rbf"), defined()())
    new = zoo.with_basis(zoo.handmade("robust_rbf"), defined()())
    assert dumps(new)
    with pytest.raises(
        ValueError, match="The basis 'defined_again' of this model is not the one that this name"
    ):
        dumps(old)


# ---- writing


def test_writing_is_all_or_nothing(tmp_path, monkeypatch):
    target = tmp_path / "m.json"
    zoo.handmade().save(target)
    before = target.read_bytes()

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        zoo.handmade(seed=1).save(target)
    assert target.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["m.json"]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    zoo.handmade().save(tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert sleek.load(tmp_path / "real.json")


@pytest.mark.parametrize(
    ("metadata", "sentence"),
    [
        ({"a": float("nan")}, "`metadata.a` must be finite numbers, text"),
        ({"a": {"b": object()}}, "`metadata.a.b` must be finite numbers, text"),
        ({1: 2}, "`metadata` must be finite numbers, text"),
        ({"a": "\ud800"}, "`metadata.a` must be finite numbers, text"),
        ({"a": 10**30}, "`metadata.a` must be finite numbers, text"),
    ],
)
def test_what_json_cannot_say_is_refused_when_it_is_saved(tmp_path, metadata, sentence):
    with pytest.raises(ValueError, match=sentence):
        zoo.handmade().save(tmp_path / "m.json", metadata)
    assert not list(tmp_path.iterdir())


def test_models_that_could_not_be_read_are_not_written():
    deep = []
    for _ in range(50):
        deep = [deep]
    with pytest.raises(ValueError, match="nested more than 32 levels deep"):
        dumps(zoo.handmade(), metadata={"deep": deep})
    with pytest.raises(ValueError, match="Class labels must be truth values"):
        dumps(replace(zoo.handmade(), outputs=ClassOutputs(np.array([1j, 2j]))))
    with pytest.raises(ValueError, match="Class labels must be truth values"):
        dumps(replace(zoo.handmade(), outputs=ClassOutputs(np.array([1, "a"], dtype=object))))
    with pytest.raises(ValueError, match=r"cannot be saved. `C` must be positive, got -1.0"):
        dumps(replace(zoo.handmade(), C=-1.0))
    model, _, X = zoo.with_inputs()
    with pytest.raises(ValueError, match=r"cannot be saved. `facts.low` must have 5 numbers, got 3"):
        dumps(replace(model, facts=facts_of(X[:, :3])))


def facts_of(X):
    from sleek.model.facts import ExpectedError, Facts

    deviation, error = X.std(axis=0), ExpectedError(0.1, 0.01, "leave-one-out")
    return Facts(len(X), X.min(axis=0), X.max(axis=0), deviation, deviation, np.ones(1), error)
