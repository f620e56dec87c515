"""The scikit-learn estimators.

They check what users give, open rows, learn what outputs mean, ask `sleek.fit` for a fit and publish it.
Nothing here computes.
"""
