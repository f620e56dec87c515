"""Files that strangers wrote are a model or a sentence."""

import copy
import json
import warnings
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import zoo
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sleek
from sleek import KernelModel, ModelFileError
from sleek.model.saving import dumps, loads
from sleek.tables.columns import DateColumn, LevelColumn
from sleek.tables.errors import TableError
from sleek.tables.inputs import Inputs

HERE = Path(__file__).parent
FOLDERS = (HERE / "corpus", HERE / "corpus/v2")  # of the first format, of the second
CORPUS = sorted(file for folder in FOLDERS for file in folder.glob("*.json"))
SENTENCES = {
    folder / name: sentence
    for folder in FOLDERS
    for name, sentence in (
        line.split("\t") for line in (folder / "sentences.tsv").read_text("utf-8").splitlines()
    )
}
DATED = Inputs(
    (
        DateColumn("when", ("days", "season", "hour"), 100.0, indicator=True),
        LevelColumn("zip", ("a", "b"), ((1.0,), (2.0,)), (0.5,), (0.0,)),
    )
)
VALID = [
    dumps(zoo.handmade(d=5, feature_names=DATED.feature_names, inputs=DATED)),
    dumps(zoo.with_inputs()[0]),
    dumps(zoo.handmade("sigmoidal", (3, 1, 2))),
    dumps(zoo.handmade("box+gaussian_rbf", None)),
    (HERE / "models/v1_binary.json").read_bytes(),
    (HERE / "models/v2_binary.json").read_bytes(),
    (HERE / "models/v2_number.json").read_bytes(),
]


@pytest.mark.parametrize("file", CORPUS, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_bad_files_end_in_their_sentence(file):
    with pytest.raises(ModelFileError) as refusal:
        sleek.load(file)
    assert str(refusal.value).startswith(f"{file}: ")
    assert SENTENCES[file] in str(refusal.value).replace(f"sleek {sleek.__version__}", "sleek")


def test_there_is_a_sentence_for_every_bad_file():
    assert set(CORPUS) == set(SENTENCES)
    assert len(CORPUS) == 87 + 77


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
    st.sampled_from(
        ["str", "int64", "simplex", "sigmoidal", "number", "category", "classes", 1e308, 2**63, 5e-324]
    ),
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
        if model.inputs is not None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of gaps that training did not have
                gaps = {column.name: [None] for column in model.inputs.columns}
                assert [column.fill_in_words for column in model.inputs.columns]
                with suppress(TableError):  # there is nothing to fill them with
                    assert len(model.predict(gaps)) == 1
    assert dumps(model)


@pytest.mark.parametrize("fill", [1e308, -1e308, 1e12])
def test_a_date_is_filled_with_a_date(fill):
    document = json.loads(VALID[0])
    document["inputs"][0]["fill"] = fill
    with pytest.raises(ModelFileError, match=r"`inputs.fill` must be within ±1e\+11"):
        loads(json.dumps(document).encode())


@settings(max_examples=600, deadline=None, suppress_health_check=list(HealthCheck))
@given(spoilt_documents())
def test_spoilt_documents_are_a_model_or_a_sentence(data):
    a_model_or_a_sentence(data)


@settings(max_examples=600, deadline=None, suppress_health_check=list(HealthCheck))
@given(spoilt_bytes() | st.binary(max_size=200))
def test_spoilt_bytes_are_a_model_or_a_sentence(data):
    a_model_or_a_sentence(data)
