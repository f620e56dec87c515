"""
Which penguin is this?
======================

Three species, told apart by the length and depth of their bills. With two columns the whole model is one
picture.
"""

# sphinx_gallery_thumbnail_number = 1
import matplotlib.pyplot as plt
from palmerpenguins import load_penguins

import sleek
from sleek import plots

penguins = load_penguins().dropna(subset=["bill_length_mm"])
X = penguins[["bill_length_mm", "bill_depth_mm"]].to_numpy()
y = penguins["species"].to_numpy()
model = sleek.LowRankLSSVC(random_state=0).fit(X, y)
print(f"expected error {model.expected_error_:.1%} with {model.n_units_} units")

figure, ax = plt.subplots(figsize=(6.4, 4.8), layout="constrained")
plots.plot_decision(model, X, y, ax=ax)
ax.set(xlabel="length of the bill, mm", ylabel="depth of the bill, mm")

# %%
# The bird that is hardest to tell: more than one species may be possible.
bird = X[[model.predict_proba(X).max(axis=1).argmin()]]
chance, possible = model.predict_proba(bird)[0], model.predict_set(bird, confidence_level=0.99)[0]
for at, species in enumerate(model.classes_):
    print(f"{species:<10} {chance[at]:6.1%}  {'possible' if possible[at] else 'ruled out at 99 %'}")
