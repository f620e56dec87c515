"""Saved models come back to the bit, and bad files end in a sentence."""

import copy
import json
import os
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import zoo
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sleek
from sleek import KernelModel, ModelFileError, RobustRBF
from sleek.model.json_file import dumps, loads, training_record

HERE = Path(__file__).parent
CORPUS = sorted((HERE / "corpus").glob("*.json"))
SENTENCES = dict(line.split("\t") for line in (HERE / "corpus/sentences.tsv").read_text("utf-8").splitlines())
FIRST = json.loads((HERE / "models/v1_expected.json").read_text())
VALID = [
    dumps(zoo.with_inputs()[0]),
    dumps(zoo.handmade("sigmoidal", (3, 1, 2))),
    dumps(zoo.handmade(labels=None)),
]


def assert_same(a, b):
    assert type(a.basis) is type(b.basis)
    assert list(a.units.arrays) == list(b.units.arrays)
    pairs = [(a.theta, b.theta), (a.b, b.b), *((a.units[name], b.units[name]) for name in a.units.arrays)]
    for x, y in pairs:
        assert x.tobytes() == y.tobytes()
        assert x.shape == y.shape
    assert (a.C, a.flat, a.feature_names, a.inputs) == (b.C, b.flat, b.feature_names, b.inputs)
    if a.classes is None:
        assert b.classes is None
    else:
        assert a.classes.dtype == b.classes.dtype
        assert a.classes.tolist() == b.classes.tolist()
    assert (a.trained_by, a.metadata) == (b.trained_by, b.metadata)


@pytest.mark.parametrize(("basis", "task"), zoo.CASES)
def test_a_model_comes_back_to_the_bit(tmp_path, basis, task):
    model = zoo.model(basis, task)
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
    model = replace(zoo.handmade(labels=range(len(labels))), classes=labels)
    assert_same(model, loads(dumps(model)))


@settings(deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=4, max_size=4))
def test_every_finite_number_comes_back(numbers):
    model = replace(zoo.handmade(), theta=np.array(numbers[:2])[:, None], b=np.array(numbers[2:3]))
    again = loads(dumps(model, metadata={"number": numbers[3]}))
    assert again.theta.tobytes() == model.theta.tobytes()
    assert again.b.tobytes() == model.b.tobytes()
    assert np.float64(again.metadata["number"]).tobytes() == np.float64(numbers[3]).tobytes()


@pytest.mark.parametrize("name", sorted(FIRST))
def test_files_of_the_first_release_are_read(name):
    model, expected = sleek.load(HERE / f"models/{name}.json"), FIRST[name]
    X = np.array(expected["rows"])
    np.testing.assert_allclose(model.decision_function(X), expected["outputs"], rtol=1e-11, atol=1e-13)
    if model.classes is not None:
        assert model.predict(X).tolist() == expected["predictions"]


def test_inputs_metadata_and_training_are_kept():
    model, table, X = zoo.with_inputs()
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

    model = replace(zoo.handmade("robust_rbf"), basis=Wide(width=2.5))
    again = loads(dumps(model))
    assert isinstance(again.basis, Wide)
    assert again.basis.width == 2.5


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
        dumps(replace(zoo.handmade(), classes=np.array([1j, 2j])))
    with pytest.raises(ValueError, match="Class labels must be truth values"):
        dumps(replace(zoo.handmade(), classes=np.array([1, "a"], dtype=object)))
    with pytest.raises(ValueError, match=r"cannot be saved. `C` must be positive, got -1.0"):
        dumps(replace(zoo.handmade(), C=-1.0))


# ---- reading what strangers wrote


@pytest.mark.parametrize("file", CORPUS, ids=lambda file: file.stem)
def test_bad_files_end_in_their_sentence(file):
    with pytest.raises(ModelFileError) as refusal:
        sleek.load(file)
    assert str(refusal.value).startswith(f"{file}: ")
    assert SENTENCES[file.name] in str(refusal.value).replace(f"sleek {sleek.__version__}", "sleek")


def test_there_is_a_sentence_for_every_bad_file():
    assert {file.name for file in CORPUS} == set(SENTENCES)


def test_large_files_are_refused_before_they_are_read(tmp_path):
    with open(tmp_path / "zeros.json", "wb") as file:
        file.truncate(2**30)
    with pytest.raises(ModelFileError, match="1,073,741,824 bytes, and more than 16,777,216 are refused"):
        sleek.load(tmp_path / "zeros.json")
    zoo.handmade().save(tmp_path / "m.json")
    with pytest.raises(ModelFileError, match="more than 100 are refused"):
        sleek.load(tmp_path / "m.json", max_bytes=100)


def test_only_files_are_read(tmp_path):
    with pytest.raises(ModelFileError, match="A model is read from a regular file"):
        sleek.load(tmp_path)
    with pytest.raises(FileNotFoundError):
        sleek.load(tmp_path / "none.json")


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 10**6,
        b'{"a":' * 10**6,
        b'"' + b'\\"' * 10**6,  # a string without end
        b'["' + b'","' * 10**6,
        b"1" * 10**6,
        b"0." + b"1" * 10**6,
        b"-" * 10**6,
        b"[]" * 10**6,
        b"\x00" * 10**6,
    ],
    ids=range(9),
)
def test_monstrous_files_are_refused_in_no_time(data):
    with pytest.raises(ModelFileError):
        loads(data)


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.integers(),
    st.floats(),
    st.text(max_size=3),
    st.sampled_from(["str", "int64", "simplex", "sigmoidal", "number", "category", 1e308, 2**63, 5e-324]),
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
)


def places(document, path=()):
    """The path of every value in a document."""
    yield path
    if isinstance(document, dict | list):
        items = document.items() if isinstance(document, dict) else enumerate(document)
        for key, value in items:
            yield from places(value, (*path, key))


@st.composite
def spoilt_documents(draw):
    """A valid document with a few values replaced, removed, repeated or swapped."""
    document = json.loads(draw(st.sampled_from(VALID)))
    for _ in range(draw(st.integers(1, 3))):
        *path, last = draw(st.sampled_from([place for place in places(document) if place]))
        parent = document
        for key in path:
            parent = parent[key]
        change = draw(st.sampled_from(["replace", "remove", "repeat", "copy"]))
        if change == "replace":
            parent[last] = draw(values)
        elif change == "remove":
            del parent[last]
        elif change == "repeat" and isinstance(parent, list):
            parent.append(copy.deepcopy(parent[last]))
        else:
            parent[last] = (
                copy.deepcopy(parent[draw(st.sampled_from(list(parent)))]) if isinstance(parent, dict) else 0
            )
    return json.dumps(document).encode("ascii")


@st.composite
def spoilt_bytes(draw):
    """A valid file with a few bytes changed, removed or put in."""
    data = bytearray(draw(st.sampled_from(VALID)))
    for _ in range(draw(st.integers(1, 4))):
        begin = draw(st.integers(0, len(data) - 1))
        end = begin + draw(st.integers(0, 3))
        data[begin:end] = draw(
            st.binary(max_size=3) | st.sampled_from([b"[", b"}", b'"', b"-", b"e9", b"null", b"1"])
        )
    return bytes(data)


def a_model_or_a_sentence(data):
    try:
        model = loads(data)
    except ModelFileError:
        return
    assert isinstance(model, KernelModel)
    with np.errstate(all="ignore"):
        assert len(model.predict(np.zeros((2, model.n_features)))) == 2
    assert dumps(model)


@settings(max_examples=600, deadline=None, suppress_health_check=list(HealthCheck))
@given(spoilt_documents())
def test_spoilt_documents_are_a_model_or_a_sentence(data):
    a_model_or_a_sentence(data)


@settings(max_examples=600, deadline=None, suppress_health_check=list(HealthCheck))
@given(spoilt_bytes() | st.binary(max_size=200))
def test_spoilt_bytes_are_a_model_or_a_sentence(data):
    a_model_or_a_sentence(data)
