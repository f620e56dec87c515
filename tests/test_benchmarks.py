"""The page of the speed comparison says what was measured: ratios, verdicts, and what is missing."""

import doctest
import importlib
import json
import shutil
import subprocess

import numpy as np
import pytest

from benchmarks import compare, compare_operations, generated
from benchmarks.generators import first_rows, make_smooth, smooth_best_error, smooth_function
from benchmarks.speed_jobs import QUICK, Scale, fit_jobs, key
from benchmarks.speed_measure import COMMAND
from benchmarks.speed_page import page
from benchmarks.speed_results import Results
from benchmarks.speed_targets import targets
from studies.catalogue import ROOT


def fit(method, seconds, error, rows=1_000_000, turn=0, **more):
    where = {"part": "fit", "problem": "smooth", "rows": rows, "method": method, "round": turn}
    return {**where, "seconds": seconds, "error": error, "peak_mb": 10.0, "test_rows": 5, **more}


def kernel(name, by, seconds):
    return {"kernel": name, "by": by, "seconds": seconds}


def verdicts(records):
    return {target.sentence: (target.measured, target.met) for target in targets(Results(records))}


def row(text, title):
    (line,) = (line for line in text.splitlines() if line.startswith(f"| {title} |"))
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_a_fit_is_compared_by_the_best_turn_of_each_method():
    records = [fit("sleek", 4.0, 12.5), fit("sleek", 2.0, 12.5, turn=1), fit("lightgbm", 14.0, 13.0)]
    records += [fit("svc", 1.0, 15.0, rows=20_000), {**fit("mlp", 0, 0), "over": 120.0}]
    for missing in ("seconds", "error"):
        del records[-1][missing]
    text = page(records)
    assert row(text, "sleek")[1].startswith("1× · 12.50 %")
    assert row(text, "LightGBM")[1] == "7× · 13.00 % <sub>14 s, 10 MB</sub>"
    assert row(text, "SVC")[1] == "0.5× · 15.00 % <sub>1 s, 10 MB, 20,000 rows</sub>"
    assert row(text, "MLP (10)")[1] == "> 60× <sub>> 120 s</sub>"
    assert row(text, "neo-ls-svm")[1] == "–"


@pytest.mark.parametrize(
    ("seconds", "error", "met"), [(2.0, 12.5, True), (2.0, 13.5, False), (3.0, 12.5, False), (None, 0, None)]
)
def test_faster_with_a_higher_error_does_not_meet_the_target(seconds, error, met):
    records = [fit("lightgbm", 14.0, 13.0)]
    if seconds is not None:
        records.append(fit("sleek", seconds, error))
    sentence = "fits smooth rows 5× faster than LightGBM, with no higher error"
    assert verdicts(records)[sentence][1] is met


def test_scaling_counts_rows_and_threads():
    def record(rows, n_jobs, seconds):
        return fit("sleek", seconds, 1.0, rows) | {"part": "scaling", "n_jobs": n_jobs}

    found = verdicts([record(100_000, 2, 1.0), record(1_000_000, 2, 11.0), record(1_000_000, 1, 22.0)])
    assert found["10× the rows take at most 10× the time (smooth)"] == ("11×", False)
    assert found["two threads fit 1.6× faster than one (smooth)"] == ("2×", True)


def test_the_slowest_basis_decides_about_predictions():
    def record(method, rows_per_s, row_us, **more):
        return {
            "part": "predict",
            "method": method,
            "round": 0,
            "rows_per_s": rows_per_s,
            "row_us": row_us,
            **more,
        }

    found = verdicts(
        [
            record("sleek:gaussian_rbf", 30.0, 50.0, model_row_us=12.0),
            record("sleek:simplex", 9.0, 70.0, model_row_us=14.0),
            record("lightgbm", 1.0, 900.0),
            record("logistic", 100.0, 60.0),
        ]
    )
    assert found["20 units predict 10× as many rows per second as LightGBM"] == ("9× (simplex)", False)
    assert found["20 units predict 100× as many rows per second as SVC"] == ("–", None)
    through = "one row through the estimator takes no longer than LogisticRegression's"
    assert found[through] == ("70 µs (simplex) against 60 µs", False)
    assert found["one row through `model_` takes at most 20 µs"] == ("14 µs (simplex)", True)


def test_a_kernel_is_compared_with_the_fastest_form_in_c():
    kernels = [
        kernel("absolute_distance", "compiled", 2.0),
        kernel("absolute_distance", "NumPy", 20.0),
        kernel("absolute_distance", "C, tiles", 1.0),
        kernel("absolute_distance", "C, plain", 3.0),
        kernel("squared_distance", "NumPy", 4.0),
        kernel("product", "BLAS", 1.0),
        kernel("sigmoidal.features", "sleek", 2.0),
        kernel("tanh", "NumPy", 0.5),
        kernel("tanh", "C", 0.7),
    ]
    shape = {"part": "roofline", "dtype": "float64", "m": 20, "d": 28, "n": 200_000, "c": True, "round": 0}
    record = {**shape, "kernels": kernels, "unmatched": ["other"]}
    text = page([record])
    assert row(text, "`absolute_distance`, compiled")[1] == "50 %"
    assert row(text, "`absolute_distance`, NumPy")[1] == "5 %"
    assert row(text, "`squared_distance`, NumPy")[1] == "50 %"  # two products
    assert row(text, "`sigmoidal.features`, sleek")[1] == "75 %"  # one product, and the faster tanh
    assert "<sub>0.1 (tiles)</sub>" in text
    assert "`other`" in text
    found = verdicts([record])
    loop = "50 % (`absolute_distance`, 20 × 28, float64)"
    assert found["compiled loops reach 70 % of C's speed"] == (loop, False)
    assert found["compiled products reach 70 % of BLAS's"] == ("–", None)


def test_a_file_is_compared_by_rows_per_second():
    def record(method, rows, seconds, peak_mb):
        how_fast = {"seconds": seconds, "rows_per_s": rows / seconds, "peak_mb": peak_mb}
        return {"part": "parquet", "method": method, "rows": rows, "round": 0, **how_fast}

    records = [record("memory", 20, 2.0, 50.0), record("parquet", 200, 40.0, 1600.0)]
    found = verdicts(records)
    assert found["a Parquet file is fitted in 1.5 GB of memory"] == ("1.6 GB (200 rows)", False)
    assert found["per row at least half as fast as in memory"] == ("0.5×", True)
    assert row(page(records), "from the file, 200 rows")[1].startswith("0.5×")
    assert "Not measured: No." in page(
        [{"part": "parquet", "method": "parquet", "rows": 2, "skipped": "No."}]
    )


@pytest.mark.parametrize(
    "name",
    [
        "compare",
        "generated",
        "generators",
        "methods",
        "numbers_to_read",
        "readable_rivals",
        "report_cells",
        "rivals",
        "speed_jobs",
        "speed_results",
        "speed_targets",
        "trial",
    ],
)
def test_examples_in_the_benchmarks_run(name):
    result = doctest.testmod(importlib.import_module(f"benchmarks.{name}"))
    assert result.attempted > 0
    assert result.failed == 0


def test_the_best_first_fit_is_that_of_the_least_sum():
    def turn(number, import_s, fit_s):
        times = {"import_s": import_s, "fit_s": fit_s}
        return {"part": "cold", "basis": "auto", "rows": 9, "round": number, "cold": times, "warm": times}

    records = [turn(0, 2.0, 5.0), turn(1, 1.0, 5.5)]
    assert row(page(records), "defaults, cold")[1:] == ["1.00", "5.50", "6.50"]
    found = verdicts(records)
    assert found["first fit of a process, nothing compiled yet: at most 6 s"] == ("5.5 s", True)
    assert found["first fit of a process, compiled before: at most 2 s"] == ("5.5 s", False)


def test_failures_are_told():
    record = {"part": "fit", "problem": "ring", "rows": None, "method": "svc", "round": 0, "failed": "Oh: no"}
    assert "- fit svc ring: Oh: no" in page([record])
    assert "Failures" not in page([])


def test_nothing_measured_is_a_page_of_open_targets():
    text = page([])
    assert "not measured" in text
    assert "missed" not in text
    assert "| met |" not in text


def test_methods_take_turns_and_no_job_is_done_twice():
    jobs = [job for job in fit_jobs(Scale()) if (job["problem"], job["rows"]) == ("smooth", 10_000)]
    methods = [job["method"] for job in jobs]
    assert methods[:7] == methods[7:14] == methods[14:]
    capped = {key(job) for job in fit_jobs(Scale()) if job["method"] == "svc" and job["problem"] == "smooth"}
    assert len(capped) == 2 * 3  # 10,000 and 20,000 rows, three turns
    assert all(job["rows"] is None or job["rows"] <= 1_000 for job in fit_jobs(QUICK))


def test_a_process_measures_a_fit_on_the_rows_that_were_written(tmp_path):
    def run(**job):
        command = [*COMMAND, json.dumps(job)]
        return json.loads(
            subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        )

    run(part="prepare", folder=str(tmp_path), problem="smooth", rows=300, test_rows=200)
    where = {"folder": str(tmp_path), "problem": "smooth", "rows": 250, "method": "logistic"}
    found = run(part="fit", **where, round=0, limit=60, warm_up_rows=50, test_rows=200)
    assert found["rows_fitted"] == 250
    assert found["seconds"] > 0
    assert 12 < found["error"] < 45


def test_only_the_rows_asked_for_are_read(tmp_path):
    A = np.arange(12.0).reshape(4, 3)
    np.save(tmp_path / "A.npy", A)
    np.testing.assert_array_equal(first_rows(tmp_path / "A.npy", 2), A[:2])
    np.testing.assert_array_equal(first_rows(tmp_path / "A.npy", None), A)


def test_the_smooth_problem_has_the_noise_it_says():
    X, y = make_smooth(100_000, random_state=5)
    error = 100 * np.mean((smooth_function(X) > 0) != y)
    assert abs(error - smooth_best_error()) < 0.5


def test_two_trees_take_turns_and_neither_always_begins():
    order = []

    class Fake:
        def __init__(self, side):
            self.side = side

        def measure(self, name):
            order.append(self.side)
            return {"seconds": len(order), "answer": f"{self.side} units"}

    base, tree = compare.take_turns(Fake("3"), Fake("4"), "fit", turns=4)
    assert "".join(order) == "34" + "34433443"  # the first turn of each does not count
    assert [turn["seconds"] for turn in base] == [3, 6, 7, 10]
    text = compare.line("fit", base, tree)
    assert f"{4 / 3:.2f}×" in text
    assert text.endswith(f"{5 / 6:.2f}–{4 / 3:.2f}  4 units, were 3 units")


def test_an_operation_that_a_version_does_not_know_is_told_in_its_line(monkeypatch, tmp_path):
    def prepare(folder):
        raise AttributeError("no effects")

    monkeypatch.setitem(compare_operations.OPERATIONS, "effects", (prepare, 1))
    old = compare_operations.measure("effects", tmp_path)
    assert compare.line("effects", [old], [{"seconds": 1.0}]).endswith("base: AttributeError: no effects")


def test_a_measurement_is_that_of_one_call_after_a_first_that_does_not_count(monkeypatch, tmp_path):
    times = iter([10.0, 16.0])
    calls = []
    monkeypatch.setattr(compare_operations, "seconds", lambda: next(times))
    monkeypatch.setitem(
        compare_operations.OPERATIONS, "short", (lambda folder: lambda: calls.append(folder), 3)
    )
    assert compare_operations.measure("short", tmp_path) == {"seconds": 2.0, "answer": ""}
    assert calls == [tmp_path] * 4


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git on this machine")
def test_the_base_is_the_commit_and_not_what_is_in_the_folder_now(tmp_path):
    source = tmp_path / "repository" / "src" / "one.py"
    source.parent.mkdir(parents=True)
    source.write_text("committed")
    root = tmp_path / "repository"
    person = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for command in (["init", "-q"], ["add", "src"], [*person, "commit", "-q", "-m", "one"]):
        subprocess.run(["git", "-C", str(root), *command], check=True)
    source.write_text("changed")
    assert (compare.unpack("HEAD", tmp_path / "base", root) / "src/one.py").read_text() == "committed"


def test_runs_on_generated_problems_are_compared(tmp_path, capsys):
    few = ["--sizes", "60", "--samples", "1", "--problems", "xor", "counts", "--results", str(tmp_path)]
    generated.main([*few, "--save", "before"])
    generated.main([*few, "--against", "before"])
    assert "xor        error 1.000 ± 0.000" in capsys.readouterr().out.splitlines()[-2]
    with pytest.raises(SystemExit):
        generated.main([*few, "--against", "nothing"])
    assert "results here: before, last" in capsys.readouterr().err


@pytest.mark.parametrize("name", generated.PROBLEMS)
def test_a_generated_problem_is_the_same_in_every_run(name):
    kind, draw = generated.PROBLEMS[name]
    (X, y), (again, too) = (draw(200, np.random.default_rng(3)) for _ in range(2))
    np.testing.assert_array_equal(X, again)
    np.testing.assert_array_equal(y, too)
    assert np.isfinite(X).all()
    assert len(np.unique(y)) > (1 if kind != "regression" else 100)
