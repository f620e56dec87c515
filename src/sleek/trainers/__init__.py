"""Algorithms that optimise the parameters of units.

A trainer is given a `Problem` and hands back a `Training`. Which rows it sees, with which settings, how
long and how exactly is decided in `sleek.fit`.
"""

from sleek.trainers.alternating import Alternating
from sleek.trainers.base import Problem, Trainer, Training
from sleek.trainers.varpro import VariableProjection

TRAINERS: dict[str, type[Trainer]] = {"alternating": Alternating, "varpro": VariableProjection}

__all__ = ["TRAINERS", "Alternating", "Problem", "Trainer", "Training", "VariableProjection"]
