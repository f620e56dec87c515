"""The accuracy comparison: what is measured of a fit, what is kept, run again or compared."""

import gzip
import json
import warnings

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import average_precision_score, roc_auc_score

from benchmarks import accuracy
from benchmarks.methods import FACTORIES, make
from benchmarks.report import duel, sections, summary
from benchmarks.report_cells import collect, ratio
from benchmarks.rivals import RIVALS, Rival
from benchmarks.trial import Trial
from studies.problems import MULTI_CLASS, REGRESSION, TWO_CLASS, Problem, drawn_splits


def problem(name="toy", kind=TWO_CLASS, n=60, group="other"):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    score = X[:, 0] + 0.5 * rng.normal(size=n)
    y = score if kind == REGRESSION else np.digitize(score, [0.0] if kind == TWO_CLASS else [-0.7, 0.7])
    splits = drawn_splits(n, 2 * n // 3, n - 2 * n // 3, seeds=range(3))
    return Problem(name, kind, X, y, splits, "made up", group)


def rival(make, **more):
    return Rival("toy", "Toy", make, lambda model: 7, "things", "as it is", **more)


# -- one fit -------------------------------------------------------------------------------------------------


def test_a_trial_tells_error_size_times_and_areas():
    toy = problem()
    record = Trial(RIVALS["linear"], toy, 1).run()
    X, y, X_test, y_test = toy.split(1)
    model = RIVALS["linear"].make(TWO_CLASS, *X.shape, 1).fit(X, y)
    scores = model.decision_function(X_test)
    assert record["error"] == pytest.approx(100 * np.mean(model.predict(X_test) != y_test))
    assert record["auc"] == pytest.approx(100 * roc_auc_score(y_test, scores))
    assert record["average_precision"] == pytest.approx(100 * average_precision_score(y_test, scores))
    assert (record["set"], record["split"], record["method"]) == ("toy", 1, "linear")
    assert record["fingerprint"] == toy.fingerprint(1)
    assert record["terms"] == 2
    assert min(record["fit_s"], record["cpu_s"], record["predict_us"]) > 0
    assert record["version"].startswith("scikit-learn ")
    assert json.loads(json.dumps(record)) == record


def test_probabilities_take_the_place_of_a_decision_function():
    def most_frequent(kind, n, d, seed):
        return DummyClassifier()

    assert Trial(rival(most_frequent), problem(), 0).run()["auc"] == 50.0


@pytest.mark.parametrize("kind", [MULTI_CLASS, REGRESSION])
def test_other_kinds_have_no_areas(kind):
    record = Trial(RIVALS["sleek"], problem(kind=kind), 0).run()
    assert "failed" not in record
    assert "auc" not in record
    assert record["terms"] >= 1
    assert record["version"].startswith("sleek-svm ")


def test_the_error_of_a_regression_is_in_per_cent_of_the_targets_spread():
    def mean(kind, n, d, seed):
        return DummyRegressor()

    assert Trial(rival(mean), problem(kind=REGRESSION, n=6000), 0).run()["error"] == pytest.approx(
        100, abs=0.5
    )


def test_a_failure_and_a_warning_are_results_and_nothing_is_printed(capsys):
    class Talker(DummyClassifier):
        def fit(self, X, y):
            print("fitting")
            warnings.warn("careful", stacklevel=1)
            return super().fit(X, y)

        def predict(self, X):
            if len(X) < 20:
                raise RuntimeError("too few")
            return super().predict(X)

    def talker(kind, n, d, seed):
        return Talker()

    assert Trial(rival(talker), problem(), 0).run()["warning"] == "careful"
    assert Trial(rival(talker), problem(n=30), 0).run()["failed"] == "RuntimeError: too few"
    assert capsys.readouterr().out == ""


def test_rivals_take_the_problems_that_they_can_do():
    toy = rival(None, kinds=(TWO_CLASS,), most_rows=40)
    assert toy.takes(problem(n=60))
    assert not toy.takes(problem(n=61 + 2))
    assert not toy.takes(problem(kind=REGRESSION))
    assert toy.limits() == "two-class, at most 40 training rows"
    assert rival(None).limits() == "all"
    assert "no_such_package" in rival(None, package="x", module="no_such_package").missing()


@pytest.mark.parametrize("name", ["sleek", "hgb", "svc", "nystroem", "mlp:3", "logistic"])
@pytest.mark.parametrize("regression", [False, True])
def test_methods_as_they_come_can_be_fitted(name, regression):
    X, y, X_test, _ = problem(kind=REGRESSION if regression else TWO_CLASS, n=200).split(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        predicted = make(name, regression=regression, seed=1).fit(X, y).predict(X_test)
    assert (set(np.unique(predicted)) <= {0, 1}) != regression
    assert name.partition(":")[0] in FACTORIES


# -- the tables ----------------------------------------------------------------------------------------------


def results(method, errors, name="toy"):
    return [{"set": name, "split": split, "method": method, "error": e} for split, e in errors.items()]


def test_methods_are_compared_on_the_splits_that_both_have():
    toy = problem()
    records = [*results("sleek", {0: 10.0, 1: 20.0, 2: 90.0}), *results("svm", {0: 9.5, 1: 9.5})]
    here = collect([toy], records)["toy"]
    assert ratio(toy, here["sleek"], here["svm"]) == pytest.approx(15.5 / 10.0)
    assert (here["sleek"].complete, here["svm"].complete) == (True, False)
    assert here["svm"].text() == "9.50 ± 0.0 (2 splits only)"


def test_a_method_that_failed_on_a_split_is_not_compared():
    toy = problem()
    records = [*results("sleek", {0: 10.0, 1: 20.0}), *results("svm", {0: 9.5})]
    records.append({"set": "toy", "split": 1, "method": "svm", "failed": "Oh: no"})
    here = collect([toy], records)["toy"]
    assert ratio(toy, here["sleek"], here["svm"]) is None
    assert "sleek or SVM has not been run" in "\n".join(duel("t", [toy], {"toy": here}, "svm"))


def test_a_regression_is_compared_without_an_extra_half():
    toy = problem(kind=REGRESSION)
    here = collect([toy], [*results("sleek", {0: 10.0}), *results("svm", {0: 20.0})])["toy"]
    assert ratio(toy, here["sleek"], here["svm"]) == 0.5


def test_a_slow_method_has_ratios_but_no_rank():
    toys = [problem(), problem("second")]
    records = [
        *results("sleek", {0: 10.0}), *results("svm", {0: 20.0}), *results("sleek", {0: 10.0}, "second"),
        *results("svm", {0: 5.0}, "second"), *results("ebm", {0: 40.5}),
    ]  # fmt: skip
    lines = summary("two-class", toys, collect(toys, records))
    assert lines[0] == "### two-class: 2 of 2 sets ranked"
    cells = {
        line.split("|")[1].strip(): [c.strip() for c in line.split("|")[2:4]] for line in lines[4:] if line
    }
    assert cells["EBM"] == ["–", "2.000 (0 / 1)"]
    assert cells["**sleek**"] == ["1.5", f"{(10.5 / 20.5 * 10.5 / 5.5) ** 0.5:.3f} (1 / 1)"]


def test_pmlb_has_sections_of_its_own():
    toys = [problem(), problem("churn", group="pmlb"), problem("houses", REGRESSION, group="pmlb")]
    titles = {title: [p.name for p in some] for title, some in sections(toys)}
    assert titles == {
        "two-class, small tables": ["toy"],
        "two-class, PMLB": ["churn"],
        "regression, PMLB": ["houses"],
    }


# -- the command ---------------------------------------------------------------------------------------------


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


def run(data, *arguments):
    results = data / "new" / "accuracy.jsonl"
    accuracy.main(["--data", str(data), "--results", str(results), *arguments])
    return [json.loads(line) for line in results.read_text().splitlines()]


def test_what_is_finished_is_not_run_again_unless_it_is_asked_for_or_its_rows_change(data, capsys):
    options = ["--sets", "pmlb", "--methods", "linear", "hgb", "--splits", "2"]
    first = run(data, *options)
    assert len(first) == 3 * 2 * 2
    assert "12 run, 12 in all; tables in accuracy.md" in capsys.readouterr().out
    assert run(data, *options) == first
    assert "0 run, 12 in all" in capsys.readouterr().out
    run(data, "--sets", "coins", "--methods", "linear", "--redo", "linear", "--splits", "1")
    assert "1 run, 6 in all" in capsys.readouterr().out
    with gzip.open(data / "pmlb" / "dice.tsv.gz", "at") as file:
        file.write("\n0.5\t0.5\t1")
    run(data, *options)
    assert "5 run, 12 in all" in capsys.readouterr().out
    page = (data / "new" / "accuracy.md").read_text()
    assert "### multi-class, PMLB: 1 of 1 sets ranked" in page
    assert "## Area under the ROC curve, %" in page
    assert "- The sets of group ida are left out" in page


def test_a_word_that_is_no_set_gets_a_sentence(data, capsys):
    with pytest.raises(SystemExit) as end:
        run(data, "--sets", "nonsense")
    assert end.value.code == 2
    assert (
        "'nonsense' must be a set or one of the groups keel, other, ida, pmlb, small"
        in capsys.readouterr().err
    )


def test_a_part_never_writes_into_the_documentation():
    parts = (
        ["--quick"],
        ["--sets", "wine"],
        ["--methods", "svm"],
        ["--splits", "1"],
        ["--kinds", REGRESSION],
    )
    for part in parts:
        assert accuracy.parse(part).report == accuracy.RESULTS.with_suffix(".md")
    assert accuracy.parse([]).report == accuracy.REPORT
    quick = accuracy.parse(["--quick"])
    assert (quick.sets, quick.splits) == (["small"], 2)
    assert "ebm" not in quick.methods
