"""Fields of model files: what a table declares is what is read, and everything else has a sentence."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sleek import ModelFileError
from sleek._runtime import fields

INNER = {"x": fields.number(), "flag": fields.optional(fields.truth(), False)}
TABLE = {
    "text": fields.text(),
    "kind": fields.text(among=("a", "b")),
    "count": fields.count(0),
    "positive": fields.number(above=0),
    "vector": fields.array("n", least=0),
    "matrix": fields.array("n", "d"),
    "triangle": fields.triangle("n"),
    "square": fields.triangle("n", symmetric=True),
    "names": fields.nullable(fields.names("d")),
    "parts": fields.texts(among=("a", "b", "c"), least=1),
    "inner": fields.record(INNER),
    "list": fields.several(fields.record(INNER), "n"),
    "more": fields.plain_object(),
}
GOOD = {
    "text": "t",
    "kind": "b",
    "count": 0,
    "positive": 0.5,
    "vector": [1, 0.0],
    "matrix": [[1, 2, 3], [4, 5, 6]],
    "triangle": [[1], [2, 3]],
    "square": [[1], [2, 3]],
    "names": ["u", "v", "w"],
    "parts": ["c", "a"],
    "inner": {"x": -1},
    "list": [{"x": 1, "flag": True}, {"x": 2}],
    "more": {"any": [1]},
}


def test_a_table_is_read():
    found = fields.read(GOOD, TABLE, "block")
    assert found["matrix"].shape == (2, 3)
    assert found["triangle"].tolist() == [[1, 0], [2, 3]]
    assert found["square"].tolist() == [[1, 2], [2, 3]]
    assert found["list"] == ({"x": 1.0, "flag": True}, {"x": 2.0, "flag": False})
    assert found["names"] == ("u", "v", "w")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"text": 1}, "`block.text` must be text, got 1."),
        ({"kind": "c"}, "`block.kind` must be one of a, b, got 'c'."),
        ({"count": -1}, "`block.count` must be a whole number of at least 0, got -1."),
        ({"positive": 0}, "`block.positive` must be positive, got 0.0."),
        ({"vector": [1, -1]}, "`block.vector` must not be negative, got -1.0."),
        ({"vector": [1, 1, 1]}, "`block.matrix` must have shape (3, 3), got (2, 3)."),
        ({"matrix": [[1, 2], [3]]}, "`block.matrix` must have rows of one length, and at least one number."),
        ({"triangle": [[1], [2]]}, "`block.triangle` must be a triangle of 2 rows."),
        ({"names": ["u"]}, "`block.names` must be null or 3 names, got 1."),
        ({"parts": []}, "`block.parts` must be some of a, b, c, got ()."),
        ({"parts": ["a", "a"]}, "`block.parts` must be different from each other."),
        ({"inner": 3}, "`block.inner` must be an object, got 3."),
        ({"inner": {}}, "`block.inner` must have the key 'x', which is missing."),
        ({"inner": {"x": 1, "y": 2}}, "`block.inner` has an unknown key 'y'."),
        ({"list": [{"x": 1}]}, "`block.list` must have 2 entries, got 1."),
        ({"more": []}, "`block.more` must be an object, got []."),
        ({"other": 1}, "`block` has an unknown key 'other'."),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_what_does_not_fit_has_a_sentence(change, sentence):
    with pytest.raises(ModelFileError) as refusal:
        fields.read(GOOD | change, TABLE, "block")
    assert str(refusal.value) == sentence


values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-2, 2) | st.text(max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
)


@settings(max_examples=300, deadline=None)
@given(key=st.sampled_from(sorted(TABLE)), value=values, gone=st.none() | st.sampled_from(sorted(TABLE)))
def test_whatever_is_there_is_read_or_refused(key, value, gone):
    block = {name: item for name, item in (GOOD | {key: value}).items() if name != gone}
    try:
        found = fields.read(block, TABLE, "block")
    except ModelFileError as error:
        sentence = str(error)
        assert sentence.endswith(".")
    else:
        assert gone is None
        assert set(found) == set(TABLE)
