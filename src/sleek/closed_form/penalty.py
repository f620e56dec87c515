"""How strongly learnt numbers are held."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Penalty:
    """1/C for theta, `prior` for the units' coordinates.

    The objective is ½‖θ‖²/C + ½ Σ s r² + ½·prior·‖u‖². A prior that suits 1,000 rows suits 100,000 of the
    same kind; a `pull` is the same thing per row, prior = pull·Σs.
    """

    C: float
    prior: float
