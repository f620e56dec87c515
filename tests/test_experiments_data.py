"""The paper's data: pools, seeded partitions, original realisations from files, and bad files."""

from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from studies.catalogue import DATA
from studies.errors import StudyError
from studies.ida import PAPER_SETS, IdaSet, drawn_problem, file_of, original_problems
from studies.packages import ripley
from studies.problems import TWO_CLASS, Problem


@pytest.mark.parametrize("ida", PAPER_SETS, ids=lambda ida: ida.name)
def test_seeded_partitions_have_the_papers_sizes(ida: IdaSet):
    problem = drawn_problem(ida, count=3)
    share = {"titanic": 711 / 2201, "diabetes": 268 / 768, "german": 0.3}[ida.name]
    assert np.mean(problem.y > 0) == pytest.approx(share)
    np.testing.assert_allclose(problem.X.mean(axis=0), 0.0, atol=1e-9)
    np.testing.assert_allclose(problem.X.std(axis=0, ddof=1), 1.0)
    for train, test in problem.splits:
        assert (len(train), len(test)) == (ida.n_train, ida.n_test)
        assert len(np.union1d(train, test)) == ida.n_train + ida.n_test
    again = drawn_problem(ida, count=2)
    assert again.fingerprint(1) == problem.fingerprint(1) != problem.fingerprint(2)


@pytest.mark.parametrize("ida", PAPER_SETS, ids=lambda ida: ida.name)
def test_pools_are_those_of_the_original_benchmark(ida: IdaSet):
    path = file_of(DATA, ida)
    if not path.exists():
        pytest.skip(f"{path.name} is not here")
    ours = drawn_problem(ida, count=1)
    theirs = np.load(path)
    scaled = (theirs["X"] - theirs["X"].mean(axis=0)) / theirs["X"].std(axis=0, ddof=1)
    pools = [np.column_stack([X, t]) for X, t in ((ours.X, ours.y), (scaled, theirs["t"] > 0))]
    ordered = [pool[np.lexsort(pool.round(2).T)] for pool in pools]
    np.testing.assert_allclose(ordered[0], ordered[1], atol=2e-3)


def test_ripley_has_its_original_split():
    X, y, X_test, y_test = ripley().split(0)
    assert (X.shape, X_test.shape) == ((250, 2), (1000, 2))
    assert (y.sum(), y_test.sum()) == (125, 500)


def test_a_fingerprint_changes_with_rows_labels_and_order():
    X, y, train, test = (
        np.arange(8.0).reshape(4, 2),
        np.array([1, 0, 1, 0]),
        np.array([0, 1]),
        np.array([2, 3]),
    )

    def fingerprint(X=X, y=y, train=train, test=test):
        return Problem("a", TWO_CLASS, X, y, [(train, test)], "made up").fingerprint(0)

    changed = [{"X": X + 1}, {"y": 1 - y}, {"train": train[::-1]}, {"train": test, "test": train}]
    assert fingerprint() == fingerprint(X=X.copy(), y=y.astype(float))
    assert fingerprint() not in [fingerprint(**change) for change in changed]


@pytest.fixture
def sets():
    """Three small sets with six partitions each, row numbers from 0."""
    rng = np.random.default_rng(0)
    made = {}
    for ida in PAPER_SETS:
        X = rng.normal(size=(50, 4))
        rows = np.array([rng.permutation(50) for _ in range(6)])
        made[ida.original] = {
            "X": X, "t": np.where(X[:, 0] > 0, 1, -1), "train": rows[:, :30], "test": rows[:, 30:],
        }  # fmt: skip
    return made


def write_mat(path: Path, sets: dict) -> Path:
    """The layout of the public file: x, t as a column, row numbers from 1."""
    savemat(
        path,
        {
            name: {
                "x": s["X"],
                "t": s["t"][:, None].astype(float),
                "train": s["train"] + 1,
                "test": s["test"] + 1,
            }
            for name, s in sets.items()
        },
    )
    return path


def write_npz(folder: Path, sets: dict) -> Path:
    for name, arrays in sets.items():
        np.savez(folder / f"ida_{name}.npz", **arrays)
    return folder


def test_both_layouts_give_the_same_partitions(sets, tmp_path):
    from_mat = original_problems(write_mat(tmp_path / "benchmarks.mat", sets))
    from_npz = original_problems(write_npz(tmp_path, sets))
    for mat, npz, arrays in zip(from_mat, from_npz, sets.values(), strict=True):
        assert mat.origin == npz.origin == "original realisations"
        assert len(mat.splits) == 6
        assert mat.fingerprint(5) == npz.fingerprint(5)
        X, _, _, y_test = mat.split(2)
        np.testing.assert_array_equal(X, arrays["X"][arrays["train"][2]])
        np.testing.assert_array_equal(2 * y_test - 1, arrays["t"][arrays["test"][2]])


def test_few_originals_are_replaced_by_seeded_partitions_and_it_says_so(sets, tmp_path):
    rng = np.random.default_rng(0)
    big = rng.normal(size=(768, 8))
    rows = rng.permutation(768)
    sets["diabetis"] = {
        "X": big, "t": np.where(big[:, 0] > 0, 1, -1), "train": rows[None, :468], "test": rows[None, 468:],
    }  # fmt: skip
    problem = original_problems(write_npz(tmp_path, sets))[1]
    assert problem.origin == "seeded partitions of the original pool (1 original held)"
    assert len(problem.splits) == 100
    assert len(problem.splits[0][0]) == 468


def test_a_single_realisation_in_a_mat_file_is_still_one_row(sets, tmp_path):
    for arrays in sets.values():
        arrays["train"], arrays["test"] = arrays["train"][:1], arrays["test"][:1]
    with pytest.raises(StudyError, match=r"fewer than 5 realisations, and its pool of 50 rows"):
        original_problems(write_mat(tmp_path / "one.mat", sets))


def test_bad_files_get_a_sentence(sets, tmp_path):
    with pytest.raises(StudyError, match=r"but there is no .*nowhere"):
        original_problems(tmp_path / "nowhere")
    with pytest.raises(StudyError, match=r"lacks titanic, diabetis, german. Leave --ida out"):
        original_problems(tmp_path)
    mat = write_mat(tmp_path / "benchmarks.mat", sets)
    cut = tmp_path / "cut.mat"
    for length in (0, 100, 3000):
        cut.write_bytes(mat.read_bytes()[:length])
        with pytest.raises(StudyError, match=r"cut.mat could not be read as a MATLAB file|lacks titanic"):
            original_problems(cut)
    cut.write_bytes(mat.read_bytes()[:-500])
    with pytest.raises(StudyError, match=r"cut.mat could not be read as a MATLAB file"):
        original_problems(cut)
    part = write_mat(tmp_path / "part.mat", {"titanic": sets["titanic"], "banana": sets["german"]})
    with pytest.raises(StudyError, match=r"part.mat lacks diabetis, german"):
        original_problems(part)
    (tmp_path / "ida_titanic.npz").write_bytes(b"PK no zip")
    with pytest.raises(StudyError, match=r"ida_titanic.npz could not be read"):
        original_problems(tmp_path)


def test_bad_contents_get_a_sentence(sets, tmp_path):
    sets["german"]["train"][0, 0] = 50
    with pytest.raises(StudyError, match=r"Partitions of german .* name rows that it does not have"):
        original_problems(write_npz(tmp_path, sets))
    sets["german"]["train"][0, 0] = 0
    sets["german"]["t"] = sets["german"]["t"][:-1]
    with pytest.raises(StudyError, match=r"got 50 rows, 49 labels, 6 training and 6 test sets"):
        original_problems(write_npz(tmp_path, sets))
    del sets["german"]["t"]
    with pytest.raises(StudyError, match=r"german in .* lacks t"):
        original_problems(write_npz(tmp_path, sets))
