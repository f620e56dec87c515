"""What estimators and their tables look like in a notebook."""

import copy
import json
import pickle
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_html_repr

from sleek import LSSVC, LSSVR, Alternating, LowRankLSSVC, LowRankLSSVR, Simplex
from sleek._runtime.column_table import LONGEST, MOST_LINES, ColumnTable


class Cells(HTMLParser):
    """The rows of a table as texts, and all tags."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.tags = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("th", "td"):
            self.rows[-1].append("")

    def handle_data(self, data):
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data


def links(estimator):
    """Addresses that the diagram of an estimator leads to."""
    return re.findall(r'href\s*=\s*"([^"]*)"', estimator_html_repr(estimator))


@pytest.mark.parametrize("kind", [LowRankLSSVC, LowRankLSSVR, LSSVC, LSSVR])
def test_diagrams_lead_to_no_page_that_is_not_there(kind):
    X, y = np.arange(24.0).reshape(12, 2), np.arange(12) % 2
    model = kind() if kind in (LSSVC, LSSVR) else kind(2, basis="box", C=1.0, random_state=0)
    assert links(model) == []
    assert links(model.fit(X, y)) == []
    assert kind.__name__ in estimator_html_repr(model)


def test_diagrams_of_parts_and_of_pipelines():
    own = LowRankLSSVC(basis=Simplex(), trainer=Alternating(max_iter=7))
    assert links(own) == []
    found = links(make_pipeline(StandardScaler(), own))
    assert any("StandardScaler" in link for link in found)  # scikit-learn's own parts have their pages
    assert not any(name in link for link in found for name in ("sleek", "LSSV", "Simplex", "Alternating"))


def test_what_was_tried_is_a_dict_that_notebooks_show_as_a_table():
    X = np.random.default_rng(0).normal(size=(80, 2))
    model = LowRankLSSVR(effort="quick", random_state=0).fit(X, X[:, 0] ** 2)
    for table in (model.selection_, model.path_):
        assert isinstance(table, dict)
        head, *body = Cells(table._repr_html_()).rows
        assert head == list(table)
        assert len(body) == min(len(table["loss"]), MOST_LINES)
        assert float(body[0][head.index("loss")]) == pytest.approx(table["loss"][0], rel=1e-3)
        assert [line[head.index("basis")] for line in body] == table["basis"][:MOST_LINES]
        frame = pd.DataFrame(table)
        assert frame["n_numbers"].tolist() == table["n_numbers"]
        assert repr(table) == repr(dict(table))
    for again in (pickle.loads(pickle.dumps(model.path_)), copy.deepcopy(model.path_)):
        assert again == model.path_
        assert again._repr_html_() == model.path_._repr_html_()
    assert json.loads(json.dumps(model.path_)) == dict(model.path_)
    given = LowRankLSSVR(2, basis="box", C=1.0, random_state=0).fit(X, X[:, 0])
    assert given.path_ == {}
    assert "empty" in given.path_._repr_html_()


@pytest.mark.parametrize("word", ["</td><script>alert(1)</script>", "a\x1b[31m\n", "x" * 10_000, "&lt;"])
def test_words_in_tables_are_text(word):
    found = Cells(ColumnTable({word: [word, 1.0, float("nan")], "n": [1, 2]})._repr_html_())
    assert found.tags == {"table", "tr", "th", "td"}
    assert max(len(cell) for row in found.rows for cell in row) <= LONGEST
    assert "\x1b" not in found.rows[0][0]
    assert [row[1] for row in found.rows] == ["n", "1", "2", ""]
    assert [row[0] for row in found.rows[2:]] == ["1", ""]
    if word == "&lt;":
        assert found.rows[0][0] == found.rows[1][0] == word


def test_long_tables_are_cut():
    html = ColumnTable(n=[*range(MOST_LINES + 5)])._repr_html_()
    assert len(Cells(html).rows) == MOST_LINES + 1
    assert "and 5 more rows" in html
