"""Pictures can be drawn for every basis, any number of classes, arrays and data frames."""

from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression

from sleek import LSSVC, LSSVR, Expansion, LowRankLSSVC, LowRankLSSVR
from sleek.datasets import make_ripley
from sleek.plots import dependence, plot_coverage, plot_dependence, plot_reliability
from sleek.report.decision_plots import COLORS, MARKERS, plot_decision

mpl.use("agg")


@pytest.fixture
def axes():
    """A function that makes empty axes; all figures are closed in the end."""
    import matplotlib.pyplot as plt

    yield lambda: plt.subplots()[1]
    plt.close("all")


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.mark.parametrize("basis", ["box", "gaussian_rbf", "robust_rbf", "sigmoidal", "simplex"])
def test_units_are_drawn(axes, two_classes, basis):
    X, y = two_classes
    classifier = LowRankLSSVC(3, basis=basis, C=1.0, shape=0.5, random_state=0).fit(X, y)
    bare = plot_decision(classifier, X, y, axes(), resolution=50)
    with_units = plot_decision(classifier, X, y, axes(), classifier.model_, resolution=50)
    extra = 3 if basis in ("box", "sigmoidal") else 4  # a line for each unit, and the centres
    assert len(with_units.collections) == len(bare.collections) + extra
    assert legend_of(bare) == ["0", "1", "boundary", "margins, output ±1"]
    assert legend_of(with_units) == [*legend_of(bare), "unit, halfway line"]


def test_units_of_several_parts_are_drawn(axes, two_classes):
    X, y = two_classes
    one, other = (
        LowRankLSSVC(2, basis=basis, C=1.0, shape=0.5, random_state=0).fit(X, y).model_
        for basis in ("sigmoidal", "gaussian_rbf")
    )
    both = replace(
        one,
        expansion=Expansion((*one.parts, *other.parts)),
        theta=np.concatenate([one.theta, other.theta]),
    )
    bare = plot_decision(both, X, y, axes(), resolution=50)
    assert len(plot_decision(both, X, y, axes(), both, 50).collections) == len(bare.collections) + 5


def test_a_dense_model_is_drawn(axes, two_classes):
    ax = plot_decision(LSSVC().fit(*two_classes), *two_classes, axes(), resolution=50, legend=False)
    assert ax.has_data()
    assert ax.get_legend() is None
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x0", "x1")


def colors_at(ax, points):
    """The opaque colours of the picture at points."""
    (image,) = ax.get_images()
    left, right, bottom, top = image.get_extent()
    pixels = image.get_array()
    height, width = pixels.shape[:2]
    across = ((points[:, 0] - left) / (right - left) * width).astype(int).clip(0, width - 1)
    up = ((points[:, 1] - bottom) / (top - bottom) * height).astype(int).clip(0, height - 1)
    return pixels[up, across, :3]


def test_a_region_has_the_colour_of_its_class(axes, three_classes):
    X, words = three_classes
    classifier = LowRankLSSVC(6, C=10.0, basis="gaussian_rbf", random_state=0).fit(X, words)
    ax = plot_decision(classifier, X, words, axes(), classifier.model_)
    expected = np.array([mpl.colors.to_rgb(color) for color in COLORS[:3]])
    codes = np.searchsorted(classifier.classes_, classifier.predict(X))
    same = np.isclose(colors_at(ax, X), expected[codes]).all(axis=1)
    assert same.mean() > 0.98  # a row beside a boundary may lie in a pixel of the other side
    assert legend_of(ax) == ["north", "south", "west", "boundary", "unit, halfway line"]
    marks = [points for points in ax.collections if points.get_label() in classifier.classes_]
    assert [len(points.get_offsets()) for points in marks] == [
        np.sum(words == w) for w in classifier.classes_
    ]


def test_many_classes_are_told_apart(axes):
    rng = np.random.default_rng(0)
    codes = np.arange(200) % 10
    X = np.column_stack([codes % 4, codes // 4]) + 0.1 * rng.normal(size=(200, 2))
    ax = plot_decision(LSSVC().fit(X, codes), X, codes, axes(), resolution=40)
    looks = {
        (tuple(points.get_facecolor()[0]), points.get_paths()[0].vertices.tobytes())
        for points in ax.collections
        if points.get_label().isdigit()
    }
    assert len(looks) == 10
    assert len(set(COLORS)) == len(set(MARKERS)) == 8
    box = ax.get_legend().get_bbox_to_anchor().transformed(ax.transAxes.inverted())
    assert box.x0 > 1  # beside the picture, not on it


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "arrow"])
def test_axes_are_called_by_the_columns(axes, two_classes, make):
    X, y = two_classes
    frame = make({"across": X[:, 0], "unused": np.zeros(len(X)), "up": X[:, 1]})
    classifier = LowRankLSSVC(3, C=1.0, shape=0.5, basis="gaussian_rbf", random_state=0)
    classifier.fit(pd.DataFrame(X, columns=["across", "up"]), y)
    ax = plot_decision(classifier.model_, frame, y, axes(), resolution=40)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("across", "up")
    array = plot_decision(classifier.model_, X, y, axes(), resolution=40)
    np.testing.assert_array_equal(ax.get_images()[0].get_array(), array.get_images()[0].get_array())
    if make is not pa.table:  # which scikit-learn takes for columns without names
        same = plot_decision(classifier, frame, y, axes(), resolution=40)
        np.testing.assert_allclose(ax.get_images()[0].get_array(), same.get_images()[0].get_array())


def test_classifiers_of_others_are_drawn(axes, three_classes):
    X, words = three_classes
    frame = pd.DataFrame(X, columns=["a", "b"])
    ax = plot_decision(LogisticRegression().fit(frame, words), frame, words, axes(), resolution=40)
    assert legend_of(ax)[:3] == ["north", "south", "west"]


def test_what_cannot_be_drawn(axes, two_classes):
    X, y = two_classes
    wide = np.column_stack([X, X])
    with pytest.raises(ValueError, match=r"rows of two features, got an array of shape \(200, 4\)"):
        plot_decision(LSSVC().fit(wide, y), wide, y, axes())
    numbers = LowRankLSSVR(3, C=1.0, shape=0.5, basis="gaussian_rbf").fit(X, y).model_
    with pytest.raises(ValueError, match="needs a classifier, got a model of a number"):
        plot_decision(numbers, X, y, axes())


def test_a_class_that_wins_nowhere_and_a_column_that_is_constant(axes, two_classes):
    X, y = two_classes
    flat = np.column_stack([X[:, 0], np.ones(len(X))])
    classifier = LowRankLSSVC(2, C=1e-9, shape=0.5, basis="gaussian_rbf").fit(flat, y)
    assert plot_decision(classifier, flat, y, axes(), classifier.model_, 40).has_data()


# -- how far probabilities and intervals can be relied on ---------------------------------------------------


def bars_of(ax):
    """The dots of a picture: x and share."""
    return ax.containers[0].lines[0].get_data()


@pytest.mark.parametrize("kind", ["estimator", "model", "another"])
def test_reliability_is_how_often_a_class_occurs(axes, two_classes, kind):
    X, y = two_classes
    fitted = LowRankLSSVC(4, C=10.0, random_state=0).fit(X, y)
    classifier = {"estimator": fitted, "model": fitted.model_, "another": LogisticRegression().fit(X, y)}[
        kind
    ]
    ax = plot_reliability(classifier, X, y, ax=axes(), n_bins=4)
    P = classifier.predict_proba(X)[:, 1]
    bins = np.array_split(np.argsort(P, kind="stable"), 4)
    x, share = bars_of(ax)
    np.testing.assert_allclose(x, [P[rows].mean() for rows in bins])
    np.testing.assert_allclose(share, [y[rows].mean() for rows in bins])
    assert ax.get_ylabel() == "how often it is 1"
    assert len(ax.figure.axes) == 2


def test_reliability_of_several_classes(axes, three_classes):
    X, y = three_classes
    classifier = LowRankLSSVC(4, C=10.0, random_state=0).fit(X, y)
    ax = plot_reliability(classifier, X, y, ax=axes())
    assert ax.get_ylabel() == "how often it is right"
    assert (
        plot_reliability(classifier, X, y, label="south", ax=axes()).get_ylabel() == "how often it is south"
    )
    with pytest.raises(ValueError, match="`label` must be one of"):
        plot_reliability(classifier, X, y, label="east", ax=axes())
    with pytest.raises(ValueError, match="a class for each of 240 rows, got 5"):
        plot_reliability(classifier, X, y[:5], ax=axes())


def test_coverage_is_how_many_targets_are_within(axes):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(300, 2))
    y = X[:, 0] + 0.3 * np.abs(X[:, 1]) * rng.normal(size=300)
    regressor = LowRankLSSVR(8, basis="gaussian_rbf", C=100.0, random_state=0).fit(X, y)
    for one in (regressor, regressor.model_, LSSVR().fit(X, y)):
        ax = plot_coverage(one, X, y, 0.8, ax=axes(), n_bins=5)
        ends = one.predict_interval(X, 0.8)
        inside = (ends[:, 0] <= y) & (y <= ends[:, 1])
        assert np.mean(bars_of(ax)[1]) == pytest.approx(inside.mean())
    with pytest.raises(ValueError, match="one target and one level"):
        plot_coverage(regressor, X, y, [0.8, 0.9], ax=axes())
    groups = np.where(X[:, 0] > 0, "a", "b")
    regressor.conformalize(X, y, groups)
    assert len(bars_of(plot_coverage(regressor, X, y, ax=axes(), groups=groups))[0]) == 10


def flats(n=200):
    """A number with gaps, a category, a date."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "area": np.where(rng.random(n) < 0.2, np.nan, rng.normal(80, 20, n).round(1)),
            "town": rng.choice(["Aarau", "Basel", "Chur"], n, p=[0.2, 0.5, 0.3]),
            "built": pd.Timestamp("1990-01-01") + pd.to_timedelta(rng.integers(0, 9000, n), unit="D"),
        }
    )
    return table, 10 * table.area.fillna(40) + 200 * (table.town == "Basel")


def test_dependence_is_the_mean_of_predictions(axes):
    table, rent = flats()
    estimator = LowRankLSSVR(8, C=100.0, random_state=0, basis="gaussian_rbf").fit(table, rent)
    towns = dependence(estimator, table, "town")
    assert towns.values == ["Basel", "Chur", "Aarau"]  # the commonest first
    expected = [estimator.predict(table.assign(town=town)).mean() for town in towns.values]
    np.testing.assert_allclose(towns.outputs[:, 0], expected, rtol=1e-12)
    areas = dependence(estimator, table, "area", n_values=5)
    assert areas.values[-1] == "(missing)"
    assert areas.values[0] == table.area.min()
    expected = [estimator.predict(table.assign(area=area)).mean() for area in [*areas.values[:-1], None]]
    np.testing.assert_allclose(areas.outputs[:, 0], expected, rtol=1e-12)
    days = dependence(estimator.model_, table, 2, n_values=4)
    expected = [estimator.predict(table.assign(built=pd.Timestamp(day))).mean() for day in days.values]
    np.testing.assert_allclose(days.outputs[:, 0], expected, rtol=1e-12)
    ax = plot_dependence(estimator, table, "area", axes())
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["y", "y, (missing)"]
    assert len(plot_dependence(estimator, table, "town", axes()).lines[0].get_xdata()) == 3
    with pytest.raises(ValueError, match=r"reads no column 'twn', .* Did you mean 'town'\?"):
        dependence(estimator, table, "twn")
    with pytest.raises(ValueError, match="reads no column 7"):
        dependence(estimator, table, 7)


def test_dependence_of_classes_is_that_of_probabilities(axes):
    table, rent = flats()
    size = np.where(rent > 900, "large", np.where(rent > 600, "middle", "small"))
    classifier = LowRankLSSVC(8, C=100.0, random_state=0, basis="gaussian_rbf").fit(table, size)
    found = dependence(classifier, table, "town")
    expected = [classifier.predict_proba(table.assign(town=town)).mean(axis=0) for town in found.values]
    np.testing.assert_allclose(found.outputs, expected, rtol=1e-12)
    assert found.names == ("large", "middle", "small")
    ax = plot_dependence(classifier, table, "town", axes())
    assert len(ax.lines) == 3
    assert ax.get_ylabel() == "probability"
    X, y = make_ripley(100, random_state=0)
    two = LowRankLSSVC(4, C=10.0, random_state=0).fit(X, y)
    found = dependence(two, X, 1, n_values=3)
    expected = [
        two.predict_proba(np.column_stack([X[:, 0], np.full(100, v)])).mean(axis=0) for v in found.values
    ]
    np.testing.assert_allclose(found.outputs, expected, rtol=1e-12)
