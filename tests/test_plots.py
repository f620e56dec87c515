"""Pictures can be drawn for every basis, and for models without units."""

import matplotlib as mpl
import pytest

from sleek import LSSVC, LowRankLSSVC
from sleek.report.plots import plot_decision

mpl.use("agg")


@pytest.mark.parametrize("basis", ["gaussian_rbf", "robust_rbf", "sigmoidal", "simplex"])
def test_units_are_drawn(two_classes, basis):
    import matplotlib.pyplot as plt

    X, y = two_classes
    classifier = LowRankLSSVC(3, basis=basis, C=1.0, shape=0.5, random_state=0).fit(X, y)
    plain = plot_decision(classifier, X, y, plt.subplots()[1], resolution=50)
    with_units = plot_decision(classifier, X, y, plt.subplots()[1], classifier.model_, resolution=50)
    extra = 3 if basis == "sigmoidal" else 4  # a line for each unit, and the centres
    assert len(with_units.collections) == len(plain.collections) + extra
    plt.close("all")


def test_a_dense_model_is_drawn(two_classes):
    import matplotlib.pyplot as plt

    ax = plot_decision(LSSVC().fit(*two_classes), *two_classes, resolution=50)
    assert ax.has_data()
    plt.close("all")
