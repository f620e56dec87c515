"""
Which digits cannot be told apart?
==================================

Handwritten digits of 8 × 8 pixels. A *set* holds every digit that cannot be ruled out at 99 %: mostly one,
sometimes two or three, and those deserve a second look.
"""

# sphinx_gallery_thumbnail_number = 1
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import sleek

digits = load_digits()
X, y = digits.data[:, digits.data.std(axis=0) > 0], digits.target
X, X_new, y, y_new, _, images = train_test_split(X, y, digits.images, test_size=597, random_state=0)
model = sleek.LowRankLSSVC(random_state=0).fit(X, y)
print(f"error on 597 new digits {1 - model.score(X_new, y_new):.1%} with {model.n_units_} units")

# %%
sets = model.predict_set(X_new, confidence_level=0.99)
sizes = sets.sum(axis=1)
print(
    f"one digit {np.mean(sizes == 1):.0%}, several {np.mean(sizes > 1):.0%}; "
    f"the true one is among them in {np.mean(sets[np.arange(597), y_new]):.1%}"
)
chance = model.predict_proba(X_new)
unsure = np.argsort(chance.max(axis=1))[:10]
figure, axes = plt.subplots(2, 5, figsize=(7.2, 3.6), layout="constrained")
for ax, row in zip(axes.flat, unsure, strict=True):
    ax.imshow(images[row], cmap="gray_r")
    named = " or ".join(str(digit) for digit in np.flatnonzero(sets[row]))
    ax.set_title(f"{named}\n(it is {y_new[row]})", fontsize=9)
    ax.axis("off")
