"""
How large must a model be?
==========================

Tumours of the breast, 30 measurements each. ``path_`` has every size that was tried with its error; you may
prefer another point of it than the default.
"""

# sphinx_gallery_thumbnail_number = 1
import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

import sleek
from sleek import plots

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
model = sleek.LowRankLSSVC(random_state=0).fit(X_train, y_train)
figure, ax = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
ax = plots.plot_path(model, ax=ax)
limits = ax.set_ylim(0, 0.12)

# %%
# The chosen one and two that are asked for by hand: a linear model, and as few as two units.
for name, settings in {"chosen": {}, "linear": {"basis": "linear"}, "two units": {"n_units": 2}}.items():
    fitted = sleek.LowRankLSSVC(random_state=0, **settings).fit(X_train, y_train)
    print(f"{name:<10} {fitted.n_numbers_:4} numbers  error {1 - fitted.score(X_test, y_test):.1%}")
