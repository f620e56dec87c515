"""AdaBoost with RBF nets, in the notation of Rätsch, Onoda and Müller (2001).

Round by round a net h_r with outputs ±1 is trained on weighted rows; with ε_r the weighted share of its
mistakes it gets the weight b_r = log((1 - ε_r)/ε_r), and rows are weighted anew by their margin
ρ(z_n) = t_n Σ_r b_r h_r(x_n):

    s_n ∝ exp(-½ ρ(z_n)).

That is steepest descent of Σ_n exp(-½ ρ(z_n)).
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from paper.rbf_net import Net, NetClassifier
from sleek._runtime.checks import check_count
from sleek._runtime.types import FloatArray

PERFECT = 1e-10  # a share of mistakes below this counts as none
ATTEMPTS = 5  # nets trained from other starts before a round is given up


def signs(values: FloatArray) -> FloatArray:
    """-1 or 1, never 0."""
    return np.where(values > 0, 1.0, -1.0)


class NetEnsemble(NetClassifier):
    """What all ensembles of RBF nets share: the nets' outputs ±1, weighted by votes.

    A net that is no better than chance on the weighted rows is trained again from another start, a few times;
    boosting ends early when that does not help, or when a net makes no mistake. O(n_rounds) times the cost of
    a net.
    """

    def __init__(
        self,
        n_rounds: int = 200,
        *,
        n_centers: int = 8,
        ridge: float = 1e-6,
        iterations: int = 10,
        random_state: Any = None,
    ) -> None:
        super().__init__(n_centers, ridge=ridge, iterations=iterations, random_state=random_state)
        self.n_rounds = n_rounds

    def _boost(self, X: FloatArray, t: FloatArray, state: Boosting) -> Self:
        """Train nets until the rounds are over, and publish them with their votes."""
        check_count("n_rounds", self.n_rounds, least=1)
        rng = self._check_net()
        self.nets_: list[Net] = []
        for _ in range(self.n_rounds):
            net, agreement, error = self._round(X, t, state.weights, rng)
            if error < PERFECT or (error >= 0.5 and not self.nets_):
                self.nets_, state = [net], state.restarted()  # one net says it all, or nothing can be said
                state.add(agreement, 1.0)
                break
            vote = state.vote(agreement, error) if error < 0.5 else 0.0
            if vote <= 0.0:
                break
            self.nets_.append(net)
            state.add(agreement, vote)
        self.votes_ = np.array(state.votes)
        self.margins_ = state.margins / self.votes_.sum()
        return self

    def _round(
        self, X: FloatArray, t: FloatArray, weights: FloatArray, rng: np.random.Generator
    ) -> tuple[Net, FloatArray, float]:
        """A net for weighted rows, 1 where it is right and -1 where not, and its share of mistakes."""
        for _ in range(ATTEMPTS):
            net = self._net(X, t, weights, rng)
            agreement = t * signs(net.outputs(X))
            error = float(weights @ (agreement < 0))
            if error < 0.5:
                break
        return net, agreement, error

    def hypotheses(self, X: FloatArray) -> FloatArray:
        """The outputs ±1 of every net for every row, (n, n_nets)."""
        return np.column_stack([signs(net.outputs(X)) for net in self.nets_])

    def _outputs(self, X: FloatArray) -> FloatArray:
        outputs: FloatArray = self.hypotheses(X) @ self.votes_
        return outputs


class SoftEnsemble(NetEnsemble):
    """What the ensembles share that may be wrong about some rows: the price `C`, each in its own meaning."""

    def __init__(
        self,
        C: float = 2.0,
        *,
        n_rounds: int = 200,
        n_centers: int = 8,
        ridge: float = 1e-6,
        iterations: int = 10,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            n_rounds, n_centers=n_centers, ridge=ridge, iterations=iterations, random_state=random_state
        )
        self.C = C


class AdaBoostRBF(NetEnsemble):
    """AdaBoost whose base learners are RBF nets of a few centres.

    Parameters
    ----------
    n_rounds : int, default=200
        Nets at most.
    n_centers, ridge, iterations : the net's parameters, see `RBFNetClassifier`
    random_state : int, RandomState or None, default=None
        Seeds the k-means of every net.

    Attributes
    ----------
    nets_ : list of Net
    votes_ : array of shape (n_nets,)
        The weight b of each net, not negative.
    margins_ : array of shape (n_samples,)
        t Σ b h / Σ b of the training rows, between -1 and 1.
    classes_ : array of two labels

    Examples
    --------
    >>> from sleek.datasets import make_ripley
    >>> X, y = make_ripley(100, random_state=0)
    >>> model = AdaBoostRBF(30, n_centers=4, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.9), len(model.nets_) <= 30
    (True, True)
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Boost nets on rows `X` with two kinds of labels `y`."""
        X, t, s = self._validated(X, y, sample_weight)
        return self._boost(X, t, Boosting(s))


class Boosting:
    """The state of AdaBoost: votes so far, the rows' margins and their weights."""

    def __init__(self, s: FloatArray) -> None:
        self.first = s
        self.weights = s
        self.votes: list[float] = []
        self.margins = np.zeros(len(s))

    def restarted(self) -> Boosting:
        """The state before the first net."""
        return Boosting(self.first)

    def vote(self, agreement: FloatArray, error: float) -> float:
        """The weight b of a net that is wrong on a weighted share `error` of the rows."""
        return float(np.log((1.0 - error) / error))

    def add(self, agreement: FloatArray, vote: float) -> None:
        """Take a net in, and weight the rows anew."""
        self.votes.append(vote)
        self.margins = self.margins + vote * agreement
        self.weights = self._normalized(self.margins)

    def _normalized(self, margins: FloatArray) -> FloatArray:
        """Weights ∝ exp(-½ margin) of sum 1, without overflow."""
        raw = self.first * np.exp(-0.5 * (margins - margins[self.first > 0].min()))
        weights: FloatArray = raw / raw.sum()
        return weights
