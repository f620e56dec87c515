"""What the paper and the benchmarks share: the catalogue of problems, and the store of results."""

import gzip
import json

import numpy as np
import pytest

from studies.catalogue import DATA, Catalogue
from studies.errors import StudyError
from studies.packages import one_hot
from studies.pmlb import pmlb
from studies.problems import KINDS, MULTI_CLASS, REGRESSION, TWO_CLASS, stratified_splits
from studies.store import Store

# -- problems ------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    """A data folder with two PMLB tables and one IDA set."""
    rng = np.random.default_rng(0)
    for name, targets in (("letters", "abc"), ("1_prices", (1.5, 2.5, 4.0))):
        rows = [f"{i}\t{rng.normal():.3f}\t{targets[i % 3]}" for i in range(40)]
        (tmp_path / "pmlb").mkdir(exist_ok=True)
        with gzip.open(tmp_path / "pmlb" / f"{name}.tsv.gz", "wt") as file:
            file.write("\n".join(["number\tvalue\ttarget", *rows]))
    order = np.array([rng.permutation(30) for _ in range(12)])
    np.savez(
        tmp_path / "ida_banana.npz",
        X=rng.normal(size=(30, 2)),
        t=rng.choice([-1, 1], 30),
        train=order[:, :20],
        test=order[:, 20:],
    )
    return tmp_path


def test_a_folder_adds_its_sets_to_the_catalogue(folder):
    catalogue = Catalogue(folder)
    assert catalogue.absent == []
    assert catalogue.groups["pmlb"] == ["1_prices", "letters"]
    assert catalogue.names(["pmlb", "ida", "wine", "letters"]) == [
        "wine",
        "ida-banana",
        "1_prices",
        "letters",
    ]
    banana = catalogue.problem("ida-banana")
    assert (banana.group, len(banana.splits), set(banana.y)) == ("ida", 10, {0, 1})
    assert catalogue.problem("ida-banana") is banana  # read once


def test_without_the_folder_the_catalogue_says_what_is_left_out(tmp_path):
    catalogue = Catalogue(tmp_path / "none")
    assert [sentence.split(":")[0] for sentence in catalogue.absent] == [
        "The sets of group ida are left out",
        "The sets of group pmlb are left out",
    ]
    assert catalogue.names(["ida", "pmlb"]) == []
    with pytest.raises(
        StudyError, match=r"'letters' must be a set or one of the groups keel, other, ida, pmlb"
    ):
        catalogue.names(["letters"])


def test_a_table_of_pmlb_has_coded_classes_or_numbers_and_three_splits(folder):
    letters, prices = (pmlb(folder / "pmlb", name) for name in ("letters", "1_prices"))
    assert (letters.kind, prices.kind) == (MULTI_CLASS, REGRESSION)
    assert set(letters.y) == {0, 1, 2}
    assert set(prices.y) == {1.5, 2.5, 4.0}
    assert letters.X.shape == (40, 2)
    assert [(len(train), len(test)) for train, test in letters.splits] == [(28, 12)] * 3
    order = np.random.default_rng(1).permutation(40)
    np.testing.assert_array_equal(np.concatenate(letters.splits[1]), order)


def test_a_large_table_is_cut(tmp_path):
    rows = "\n".join(f"{i}\t{i % 2}" for i in range(40_000))
    with gzip.open(tmp_path / "big.tsv.gz", "wt", compresslevel=1) as file:
        file.write(f"x\ttarget\n{rows}")
    problem = pmlb(tmp_path, "big")
    assert problem.kind == TWO_CLASS
    assert [len(part) for part in problem.splits[0]] == [10_000, 20_000]


@pytest.mark.parametrize(
    "content",
    [b"no gzip", gzip.compress(b"a\tb\n1\t2\n", mtime=0), gzip.compress(b"a\ttarget\nx\t1\n", mtime=0), b""],
    ids=["no gzip", "no target", "a word", "empty"],  # never the bytes: gzip writes the time into them
)
def test_a_bad_table_gets_a_sentence(tmp_path, content):
    (tmp_path / "bad.tsv.gz").write_bytes(content)
    with pytest.raises(
        StudyError, match=r"bad.tsv.gz must be a gzipped, tab-separated table with a column target"
    ):
        pmlb(tmp_path, "bad")


def test_the_tables_beside_the_repository_are_those_of_their_list():
    if not (DATA / "pmlb").is_dir():
        pytest.skip("PMLB's tables are not here")
    catalogue = Catalogue()
    assert len(catalogue.groups["pmlb"]) == 36
    problem = catalogue.problem("glass")
    assert (problem.X.shape, len(np.unique(problem.y)), problem.kind) == ((205, 9), 5, MULTI_CLASS)


def test_names_are_unique_and_groups_cover_them():
    catalogue = Catalogue()
    whole = [name for group, names in catalogue.groups.items() if group != "small" for name in names]
    assert sorted(whole) == sorted(set(whole)) == sorted(catalogue.names())
    small = [catalogue.problem(name) for name in catalogue.names(["small"])]
    assert {problem.kind for problem in small} == set(KINDS)
    assert max(len(problem.splits[0][0]) for problem in small) <= 600


def test_words_become_columns_and_rows_with_gaps_go():
    import pandas as pd

    table = pd.DataFrame({"a": ["1", " 2 ", "?", "4"], "b": ["x", "y", "x", "z"], "c": ["0"] * 4})
    X, y = one_hot(table, pd.Series([" yes", "no", "no", "no"]))
    np.testing.assert_array_equal(X, [[1, 1, 0, 0], [2, 0, 1, 0], [4, 0, 0, 1]])
    np.testing.assert_array_equal(y, [1, 0, 0])


def test_stratified_splits_keep_the_share_of_every_class():
    y = np.repeat([0, 1], [90, 10])
    for train, test in stratified_splits(y, TWO_CLASS, 50, 40, seeds=[0, 1]):
        assert (y[train].sum(), y[test].sum()) == (5, 4)
        assert not set(train) & set(test)


# -- the store -----------------------------------------------------------------------------------------------


def record(key, fingerprint="rows", **values):
    return {"key": key, "fingerprint": fingerprint, **values}


def test_results_are_found_by_key_and_fingerprint_and_later_ones_win(tmp_path):
    store = Store(tmp_path / "records.jsonl")
    store.add([record("svm", error=1.0), record("svm", "other rows", error=2.0)])
    store.add([record("svm", error=3.0)])
    for view in (store, Store(store.path)):
        assert view.get("svm", "rows")["error"] == 3.0
        assert view.get("svm", "other rows")["error"] == 2.0
        assert view.get("svm", "new rows") is None
        assert view.get("knn", "rows") is None
    assert len(store.path.read_text().splitlines()) == 3


@pytest.mark.parametrize("cut", [1, 5, 25])
def test_a_half_written_line_is_run_again_and_nothing_is_lost(tmp_path, cut):
    path = tmp_path / "records.jsonl"
    Store(path).add([record("first", error=1.0), record("second", error=2.0)])
    path.write_bytes(path.read_bytes()[:-cut])
    store = Store(path)
    assert store.get("first", "rows")["error"] == 1.0
    if cut > 1:  # a line that lacks nothing but its end is a whole one
        assert store.get("second", "rows") is None
    store.add([record("third", error=3.0)])
    again = Store(path)
    assert again.get("first", "rows")["error"] == 1.0
    assert again.get("third", "rows")["error"] == 3.0


@pytest.mark.parametrize("line", ["", "{}", "[1]", '"key"', '{"key": "a"}', '{"key": "a", "fing', "\x00\x00"])
def test_lines_that_are_no_records_are_passed_over(tmp_path, line):
    path = tmp_path / "records.jsonl"
    path.write_text(f"{line}\n{json.dumps(record('good'))}\n")
    assert list(Store(path).records) == [("good", "rows")]


def test_a_line_cut_within_a_letter_is_passed_over(tmp_path):
    path = tmp_path / "records.jsonl"
    path.write_bytes(f"{json.dumps(record('good'))}\n".encode() + '{"key": "µ'.encode()[:-1])
    assert list(Store(path).records) == [("good", "rows")]


def test_forgetting_rewrites_the_file(tmp_path):
    store = Store(tmp_path / "records.jsonl")
    store.add([record("a", method="svm"), record("b", method="knn"), record("c", "other", method="svm")])
    store.forget(lambda r: r["method"] == "svm")
    assert [r["key"] for r in store.records.values()] == ["b"]
    assert Store(store.path).records == store.records
    assert [path.name for path in tmp_path.iterdir()] == ["records.jsonl"]
