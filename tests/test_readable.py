"""The readable rivals: how many numbers a model has, fits that take too long, ranks, page and picture."""

import gzip
import json
import os
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import Lasso
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from benchmarks import numbers_to_read as count
from benchmarks import readable
from benchmarks.readable_page import standings, with_spread, worst
from benchmarks.readable_picture import frontier
from benchmarks.readable_rivals import READABLE
from benchmarks.report_cells import collect
from benchmarks.rivals import Rival
from benchmarks.trial import Trial
from sleek import LowRankLSSVC
from studies.problems import KINDS, MULTI_CLASS, REGRESSION, TWO_CLASS, Problem, drawn_splits

PRESENT = [key for key, rival in READABLE.items() if rival.missing() is None]


def problem(name="toy", kind=TWO_CLASS, n=120, group="other"):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    score = X[:, 0] + 0.3 * rng.normal(size=n)
    y = score if kind == REGRESSION else np.digitize(score, [0.0] if kind == TWO_CLASS else [-0.5, 0.5])
    return Problem(name, kind, X, y, drawn_splits(n, 2 * n // 3, n // 3, seeds=range(3)), "made up", group)


def fitted(**attributes):
    """Something like a fitted estimator."""
    return SimpleNamespace(**attributes)


def wrapped(**attributes):
    return fitted(fitted_=fitted(**attributes))


# -- numbers to read -----------------------------------------------------------------------------------------


def test_a_tree_has_its_cuts_and_what_its_leaves_say():
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    assert count.tree_numbers(DecisionTreeRegressor().fit(X, [1.0, 2.0, 3.0, 5.0])) == 2 + 4  # 0.5 twice
    assert count.tree_numbers(DecisionTreeClassifier(random_state=0).fit(X, [0, 1, 1, 0])) == 2 + 4
    assert count.tree_numbers(DecisionTreeClassifier().fit(X[:3], [0, 1, 2])) == 2 + 3 * 3
    assert count.tree_numbers(DecisionTreeRegressor().fit(X, np.ones(4))) == 1


def test_a_lasso_has_the_weights_that_are_left():
    X = np.random.default_rng(0).normal(size=(50, 4))
    model = make_pipeline(StandardScaler(), Lasso(0.1)).fit(X, 3 * X[:, 1])
    assert count.lasso_numbers(model) == 2


def test_sleek_has_the_count_that_it_prints():
    X, y, *_ = problem().split(0)
    model = LowRankLSSVC(n_units=3, basis="gaussian_rbf", random_state=0).fit(X, y)
    (part,) = model.model_.parts
    assert count.sleek_numbers(model) >= 2 * len(part.units) + 1
    assert count.sleek_numbers(model) == model.model_.n_numbers


def test_sums_of_trees_count_a_cut_once():
    def leaf():
        return fitted(left=None, right=None)

    def cut(feature, threshold, left, right):
        return fitted(feature=feature, threshold=threshold, left=left, right=right)

    first = cut(0, 0.5, cut(1, 2.0, leaf(), leaf()), leaf())
    second = cut(0, 0.5, leaf(), leaf())
    assert count.figs_numbers(fitted(trees_=[first, second])) == 2 + 5
    assert count.figs_numbers(fitted(trees_=[first, second], classes_=[0, 1])) == 2 + 5
    assert count.figs_numbers(fitted(trees_=[first], classes_=[0, 1, 2])) == 2 + 3 * 3


def test_rules_count_where_they_have_a_weight():
    rules = [
        fitted(agg_dict={("X_0", ">"): "0.5", ("X_1", "<="): "2.0"}),
        fitted(agg_dict={("X_0", ">"): "0.5"}),
        fitted(agg_dict={("X_1", ">"): "9.0"}),
    ]
    model = fitted(rules_=rules, coef=[0.0, 1.5, 2.0, -1.0, 0.0])  # two columns, three rules
    assert count.rulefit_numbers(model) == 2 + 2 + 3 + 1
    assert count.rulefit_numbers(fitted(rules_=[], coef=[0.0, 1.5])) == 3 + 1


def test_terms_of_aplr_have_knots_and_weights():
    names = ["Intercept", "X4", "max(X1-0.25,0)", "min(X1-0.25,0)", "X2 * I(max(X3+1.5,0)*min(X1-0.3,0)!=0)"]
    one = fitted(get_term_names=lambda: names, get_term_coefficients=lambda: np.ones(5))
    assert count.aplr_numbers(fitted(fitted_=one)) == 3 + 5
    for classes, models in ((["0", "1"], 1), (["0", "1", "2"], 3)):
        both = wrapped(get_categories=lambda c=classes: c, get_logit_model=lambda name: one)
        assert count.aplr_numbers(both) == models * 8


def test_splines_bumps_points_and_leaves():
    terms = [fitted(isintercept=False), fitted(isintercept=False), fitted(isintercept=True)]
    assert count.pygam_numbers(wrapped(terms=terms, coef_=np.ones(41))) == 41 + 4
    bumps = wrapped(centres_=np.ones((40, 3)), widths_=np.ones((40, 3)), weights_=np.ones(40))
    assert count.erbf_numbers(bumps) == 40 * 7 + 1
    assert count.fasterrisk_numbers(fitted(points_=np.array([0.0, 3.0, -2.0, 0.0]))) == 2 * 2 + 2
    trees = fitted(get_borders=lambda: {0: [0.5, 1.5], 1: []}, get_leaf_values=lambda: np.ones(64))
    assert count.catboost_numbers(trees) == 2 + 64


def test_a_curve_of_igann_is_a_formula_or_a_table():
    linear = fitted(coef_=np.array([[1.0, 0.0]]))
    values = [np.arange(100.0), np.arange(2.0)]
    assert count.igann_numbers(wrapped(linear_model=linear, regressors=[], unique=values, n_hid=10)) == 2
    assert (
        count.igann_numbers(wrapped(linear_model=linear, regressors=[0], unique=values, n_hid=10)) == 1 + 41
    )
    many = wrapped(linear_model=linear, regressors=[0] * 50, unique=values, n_hid=10)
    assert count.igann_numbers(many) == 1 + 204
    assert count.igann_numbers(Pipeline([("scaled", "passthrough"), ("igann", many)])) == 1 + 204


def test_bins_of_an_ebm_are_steps():
    column = np.array([0.0, 1.0, 1.0, 2.0, 0.0])  # missing, three bins of which two are one step, unknown
    pair = np.zeros((4, 4))
    pair[1:3, 1:3] = [[1.0, 2.0], [3.0, 4.0]]
    model = fitted(
        intercept_=np.zeros(1), term_features_=[(0,), (0, 1)], term_scores_=[column, pair],
        bins_=[[np.array([0.1, 0.2]), np.array([0.2])], [np.array([5.0])]],
    )  # fmt: skip
    assert count.ebm_numbers(model) == 1 + 2 + 4 + 2  # constant, steps, cells, cuts 0.2 and 5
    flat = fitted(
        intercept_=np.zeros(3), term_features_=[(0,)], term_scores_=[np.zeros((4, 3))],
        bins_=[[np.array([0.1])]],
    )  # fmt: skip
    assert count.ebm_numbers(flat) == 3


@pytest.mark.parametrize("key", PRESENT)
@pytest.mark.parametrize("kind", KINDS)
def test_whoever_is_installed_can_be_fitted_and_counted(key, kind):
    toy = problem(kind=kind)
    if READABLE[key].takes(toy):
        record = Trial(READABLE[key], toy, 0).run()
        assert "failed" not in record
        assert record["terms"] > 1
        assert record["error"] < (60 if kind == REGRESSION else 45)


# -- fits that take too long ---------------------------------------------------------------------------------


class Endless(DummyClassifier):
    def fit(self, X, y):
        while True:
            pass


class Crashing(DummyClassifier):
    def fit(self, X, y):
        os._exit(3)


def trial(model):
    def make(kind, n, d, seed):
        return model()

    return Trial(Rival("toy", "Toy", make, lambda fitted: 7, "things", "as it is"), problem(), 0)


def test_a_fit_over_the_limit_is_ended_and_a_crash_is_told():
    record = readable.limited(trial(Endless), seconds=1)
    assert (record["failed"], record["cut"], record["set"]) == ("over the limit of 1 CPU s", 1, "toy")
    assert readable.limited(trial(Crashing), seconds=9)["failed"] == "the process ended with 3"
    assert readable.limited(trial(DummyClassifier), seconds=9)["terms"] == 7


def test_first_splits_and_fast_methods_come_first(monkeypatch):
    monkeypatch.setitem(readable.SLOW, "catboost", 2)
    toys = [problem("toy"), problem("large", group="pmlb"), problem("wine")]
    order = [
        (t.split, t.problem.name, t.rival.key) for t in readable.planned(["tree", "catboost"], toys, None)
    ]
    assert order[:6] == [
        (0, "wine", "tree"), (0, "wine", "catboost"), (0, "toy", "tree"), (0, "large", "tree"),
        (0, "toy", "catboost"), (0, "large", "catboost"),
    ]  # fmt: skip
    assert {name for split, name, _ in order[6:]} == {"wine", "toy"}
    assert max(split for split, _, key in order if key == "catboost") == 1
    assert max(split for split, _, key in order if key == "tree") == 2


# -- the page ------------------------------------------------------------------------------------------------


def results(method, errors, name="toy", numbers=10, **more):
    return [
        {"set": name, "split": split, "method": method, "error": error, "terms": numbers, "cpu_s": 1.0} | more
        for split, error in errors.items()
    ]


def test_ranks_are_those_of_ratios_to_sleek_and_who_did_not_finish_is_last():
    toys = [problem("a"), problem("b")]
    records = [
        *results("sleek", {0: 9.5, 1: 19.5}, "a"), *results("tree", {0: 19.5, 1: 19.5}, "a"),
        *results("ebm", {0: 4.5}, "a", 1000), *results("sleek", {0: 9.5}, "b"),
        *results("tree", {0: 4.5}, "b"),
        {"set": "b", "split": 0, "method": "ebm", "failed": "over the limit", "cut": 60},
    ]  # fmt: skip
    found = {s.method: s for s in standings(toys, collect(toys, records, READABLE))}
    assert found["tree"].ratios == pytest.approx({"a": 40 / 30, "b": 0.5})
    assert found["ebm"].ratios == pytest.approx({"a": 0.5})  # on the one split that both have
    assert (found["sleek"].rank, found["tree"].rank, found["ebm"].rank) == (2.0, 2.0, 2.0)
    assert found["tree"].rank_error == pytest.approx(1.0)
    assert found["tree"].error == pytest.approx((40 / 30 * 0.5) ** 0.5)
    assert found["ebm"].numbers == 1000


def test_who_was_not_run_everywhere_has_no_rank():
    toys = [problem("a"), problem("b"), problem("c")]
    records = [r for toy in toys for r in results("sleek", {0: 9.5}, toy.name)]
    found = standings(toys, collect(toys, [*records, *results("figs", {0: 4.5}, "a")], READABLE))
    assert [s.method for s in found] == ["sleek", "figs"]
    assert (found[0].rank, found[1].share) == (1.0, 1 / 3)
    assert np.isnan(found[1].rank)
    assert with_spread(found[1].rank, np.nan, 2) == "–"
    assert with_spread(found[1].error, np.nan, 2) == "0.50"


def test_losses_name_the_best_rival_and_the_bar_is_none():
    toys = [problem("a")]
    records = [
        *results("sleek", {0: 9.5}, "a"), *results("tree", {0: 7.5}, "a"),
        *results("lasso", {0: 4.5}, "a", 3), *results("catboost", {0: 0.5}, "a"),
    ]  # fmt: skip
    lines = worst([("two-class", toys)], collect(toys, records, READABLE))
    assert lines[0].startswith("On 1 of 1 sets")
    assert "| a | lasso | 2.000 | 9.50 | 4.50 | 10 | 3 |" in lines


def test_the_frontier_has_no_one_who_is_larger_and_worse():
    points = [fitted(numbers=n, error=e) for n, e in ((100, 0.9), (10, 2.0), (50, 3.0), (10, 1.5), (20, 1.0))]
    assert [(p.numbers, p.error) for p in frontier(points)] == [(10, 1.5), (20, 1.0), (100, 0.9)]


@pytest.fixture
def data(tmp_path):
    """A data folder with one table of each kind."""
    (tmp_path / "pmlb").mkdir()
    for name, kind in (("coins", TWO_CLASS), ("dice", MULTI_CLASS), ("1_prices", REGRESSION)):
        toy = problem(kind=kind, n=90)
        rows = [f"{a}\t{b}\t{target}" for (a, b), target in zip(toy.X, toy.y, strict=True)]
        with gzip.open(tmp_path / "pmlb" / f"{name}.tsv.gz", "wt") as file:
            file.write("\n".join(["a\tb\ttarget", *rows]))
    return tmp_path


def test_the_command_writes_a_page_and_a_picture_and_runs_nothing_twice(data, capsys):
    page, picture = data / "docs" / "readable.md", data / "images" / "readable.png"
    store = data / "new" / "readable.jsonl"
    where = ["--data", data, "--results", store, "--report", page, "--picture", picture]
    options = [*map(str, where), "--sets", "pmlb", "--methods", "sleek", "tree"]
    readable.main(options)
    assert "6 run, 6 in all; tables in readable.md" in capsys.readouterr().out
    text = page.read_text()
    assert text.index("## Where sleek loses") < text.index("![error against numbers](../images/readable.png)")
    assert "### regression, PMLB" in text
    assert "arXiv:2602.22422" in text
    assert picture.read_bytes().startswith(b"\x89PNG")
    readable.main(options)
    assert "0 run, 6 in all" in capsys.readouterr().out

    record = json.loads(store.read_text().splitlines()[0])
    with store.open("a") as file:
        file.write(json.dumps(record | {"failed": "over the limit of 1 CPU s", "cut": 1}) + "\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        readable.main(options)
    assert "1 run, 6 in all" in capsys.readouterr().out  # more time now than when it was ended
