"""Explanations add up to the outputs, and their slopes are those of the model."""

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
import zoo

from sleek import Expansion, LowRankLSSVC, LowRankLSSVR, RobustRBF, Sigmoidal, Units


def paper_linear_form(model, x, k):
    """α(x) and β(x) as the paper writes them, unit by unit and feature by feature."""
    alpha, beta, (part,) = np.zeros(len(x)), model.b[k], model.parts
    for j in range(model.n_units):
        c, mu, theta = part.units["centers"][j], part.units["shapes"][j], model.theta[j, k]
        if sum(mu[i] * abs(x[i] - c[i]) for i in range(len(x))) < 1:
            for i in range(len(x)):
                alpha[i] += theta * mu[i] * np.sign(c[i] - x[i])
            beta += theta * (1 - sum(mu[i] * c[i] * np.sign(c[i] - x[i]) for i in range(len(x))))
    return alpha, beta


@pytest.mark.parametrize(("basis", "task"), zoo.CASES)
def test_contributions_add_up_to_the_outputs(basis, task):
    model, X = zoo.model(basis, task), zoo.test_rows(task)
    explained = model.explain(X)
    assert np.max(np.abs(explained.outputs - zoo.outputs(model, X)) / zoo.scale(model, X)) < 1e-13
    np.testing.assert_allclose(
        explained.contributions.sum(axis=1) + explained.b, explained.outputs, rtol=1e-15
    )
    np.testing.assert_array_equal(explained.units, model.features(X))
    np.testing.assert_array_equal(explained.predictions, model.predict(X))
    np.testing.assert_allclose(explained.contributions[7, -1], model.theta[-1] * explained.units[7, -1])


@pytest.mark.parametrize(("basis", "task"), zoo.CASES)
def test_slopes_are_those_of_finite_differences(basis, task):
    model, X = zoo.model(basis, task), zoo.test_rows(task)[:50]
    spread = X.std(axis=0)
    X = X + 1e-5 * spread  # ramps of curves have their ends at values of the data
    explained = model.explain(X)
    for i in range(zoo.D):
        step = 1e-6 * spread[i] * np.eye(zoo.D)[i]
        rise = (zoo.outputs(model, X + step) - zoo.outputs(model, X - step)) / (2e-6 * spread[i])
        error = np.abs(explained.slopes[:, :, i] - rise) * spread[i] / zoo.scale(model, X)
        assert np.quantile(error, 0.97) < 1e-7  # a kink may lie between the two points
        assert error.max() < (1e-7 if basis in zoo.SMOOTH else 1.0)


@pytest.mark.parametrize("task", zoo.TASKS)
def test_simplex_models_are_the_papers_linear_form(task):
    model, X = zoo.model("simplex", task), zoo.test_rows(task)
    explained, scale = model.explain(X), zoo.scale(model, X)
    assert explained.exact
    assert np.abs(explained.slopes).max() > 0
    linear = np.einsum("nkd,nd->nk", explained.slopes, X) + explained.intercepts
    assert np.max(np.abs(linear - zoo.outputs(model, X)) / scale) < 1e-12
    for n in range(0, len(X), 20):
        for k in range(len(model.b)):
            alpha, beta = paper_linear_form(model, X[n], k)
            np.testing.assert_allclose(explained.slopes[n, k], alpha, rtol=1e-12, atol=1e-15)
            size = np.abs(alpha) @ np.abs(X[n]) + scale[n, k]
            assert abs(explained.intercepts[n, k] - beta) < 1e-13 * size


def test_the_linear_form_is_exact_on_the_whole_piece():
    """Rows between which no unit switches on or off and no |x_i - c_i| turns share one linear model."""
    model, X = zoo.model("simplex", "number"), zoo.test_rows("number")[:60]
    rng = np.random.default_rng(0)
    explained, checked, units = model.explain(X), 0, model.parts[0].units

    def piece(x):
        distance = np.sum(units["shapes"] * np.abs(x - units["centers"]), axis=1)
        return (distance < 1).tolist(), (x > units["centers"]).tolist()

    for x, alpha, beta in zip(X, explained.slopes[:, 0], explained.intercepts[:, 0], strict=True):
        for _ in range(20):
            other = x + 0.05 * X.std(axis=0) * rng.normal(size=zoo.D)
            if piece(other) == piece(x):  # pieces are convex: all between the two is the same piece
                checked += not np.allclose(other, x)
                y = zoo.outputs(model, other[None])[0, 0]
                assert abs(alpha @ other + beta - y) < 1e-12 * (np.abs(alpha) @ np.abs(other) + abs(y) + 1)
    assert checked > 100


@pytest.mark.parametrize("basis", ["gaussian_rbf", "simplex+gaussian_rbf"])
def test_models_with_a_smooth_part_are_tangent_not_exact(basis):
    model = zoo.model(basis, "number")
    assert not model.explain(zoo.test_rows("number")).exact


def test_models_whose_parts_are_all_linear_between_kinks_are_exact():
    model = zoo.handmade("simplex+simplex", None)
    assert model.n_units == 4
    assert model.explain(np.zeros(3)).exact


def test_units_of_several_parts_are_numbered_through():
    model, X = zoo.model("gaussian_rbf+sigmoidal", "number"), zoo.test_rows("number")[:9]
    first, second = (zoo.model(basis, "number").explain(X) for basis in ("gaussian_rbf", "sigmoidal"))
    explained = model.explain(X)
    np.testing.assert_array_equal(explained.units, np.concatenate([first.units, second.units], axis=1))
    np.testing.assert_allclose(explained.slopes, (first.slopes + second.slopes) / 2, rtol=1e-12)
    assert "unit 15" in repr(explained)


def test_at_a_kink_the_slope_is_flat():
    model = zoo.handmade("robust_rbf", None, m=1)
    assert model.explain(model.parts[0].units["centers"][0]).slopes.tolist() == [[[0.0, 0.0, 0.0]]]


def test_one_row_or_several():
    model, X = zoo.model("sigmoidal", "classes"), zoo.test_rows("classes")
    several, one = model.explain(X[:4]), model.explain(X[2])
    assert len(several) == 4
    assert len(one) == 1
    assert [len(part) for part in several] == [1, 1, 1, 1]
    for part in (several[2], several[-2], list(several)[2]):
        np.testing.assert_allclose(part.slopes, one.slopes, rtol=1e-12)
        assert repr(part) == repr(one)
    with pytest.raises(IndexError):
        several[4]
    with pytest.raises(FrozenInstanceError):
        one.b = 3


def test_the_table_names_units_features_and_classes():
    model = zoo.handmade("simplex", ("no", "<yes>"), feature_names=("age", "mass\nindex", "c"))
    text = repr(model.explain([0.1, 0.2, 0.3]))
    for words in (
        "Row 0: prediction '",
        "unit 1",
        "for <yes>",
        "sum",
        "age",
        "mass\\nindex",
        "exact on its linear piece",
    ):
        assert words in text
    lines = text.splitlines()
    assert len({len(line) for line in lines if line.startswith(("unit", "sum", "b "))}) == 1
    html = model.explain([0.1, 0.2, 0.3])._repr_html_()
    assert html.count("<table>") == html.count("</table>") == 2
    assert "for &lt;yes&gt;" in html
    assert "<yes>" not in html


def test_the_heaviest_unit_comes_first_and_features_keep_their_order():
    units = Units({"slopes": np.array([[0.0, 0.1, 1.0], [0.0, 0.0, 0.0]]), "offsets": np.array([0.5, 5.0])})
    expansion = Expansion.of(Sigmoidal(), units)
    model = replace(zoo.handmade("sigmoidal", None), expansion=expansion, theta=np.array([[0.1], [9.0]]))
    lines = repr(model.explain(np.zeros(3))).splitlines()
    assert [line.split()[1] for line in lines if line.startswith("unit")] == ["1", "0"]
    assert [line.split()[0] for line in lines if line.startswith("x")] == ["x0", "x1", "x2"]


def test_long_explanations_are_cut():
    text = repr(zoo.model("simplex", "numbers").explain(zoo.test_rows("numbers")[:9]))
    assert "Row 4:" in text
    assert "Row 5:" not in text
    assert text.endswith("… and 4 more rows")


def test_a_basis_without_a_formula_has_contributions_but_no_slopes():
    class Plain(RobustRBF):
        name = "plain"
        formula = None

    model = zoo.with_basis(zoo.handmade("robust_rbf"), Plain())
    explained = model.explain(np.zeros(3))
    np.testing.assert_allclose(explained.outputs[0], model.decision_function(np.zeros((1, 3))))
    assert explained.slopes is None
    assert explained[0].intercepts is None
    assert "linear model" not in repr(explained)


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (
            [1.0, 2.0],
            r"is expecting 3 features as input \('a', 'b', 'c'\): X must be of shape \(3,\) for one "
            r"row, or \(n, 3\), got \(2,\)",
        ),
        (np.zeros((2, 2, 3)), r"got \(2, 2, 3\)"),
        (3.0, r"got \(\)"),
        ([1.0, np.nan, 2.0], "Input X contains NaN: feature 'b' is nan in row 0"),
        ([[0.0, 0.0, 0.0], [1.0, 1.0, np.inf]], "Input X contains infinity: feature 'c' is inf in row 1"),
        (["a", "b", "c"], "Rows must be numbers, one for each of 3 features"),
    ],
)
def test_bad_rows_are_refused(rows, sentence):
    with pytest.raises(ValueError, match=sentence):
        zoo.handmade(feature_names=("a", "b", "c")).explain(rows)


def test_a_notebook_shows_what_columns_add_as_bars():
    rng = np.random.default_rng(0)
    word = '"><script>alert(1)</script>'
    table = {word: rng.normal(size=200), "b": rng.choice(["x", word], 200)}
    for y, n_bars in (
        (table[word] + 2.0 * (table["b"] == "x"), 2),
        (np.where(table[word] > 0, np.where(table["b"] == "x", "one", "two"), word), 2),
    ):
        kind = LowRankLSSVR if y.dtype.kind == "f" else LowRankLSSVC
        model = kind(3, basis="box", C=10.0, random_state=0).fit(table, y).model_
        html = model.explain({word: 1.5, "b": "x"})._repr_html_()
        assert html.count('class="reason"') >= n_bars
        assert "<script" not in html
        assert 'title=""' not in html
    assert "open" in zoo.handmade().explain([0.1, 0.2, 0.3])._repr_html_()  # only tables: nothing to draw
