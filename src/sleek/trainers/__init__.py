"""Algorithms that move the units."""

from sleek.trainers.alternating import Alternating
from sleek.trainers.base import Trainer
from sleek.trainers.varpro import VariableProjection

TRAINERS: dict[str, type[Trainer]] = {"alternating": Alternating, "varpro": VariableProjection}
