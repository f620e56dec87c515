"""Algorithms that move the units."""

from sleek.trainers.alternating import Alternating
from sleek.trainers.base import Trainer

TRAINERS: dict[str, type[Trainer]] = {"alternating": Alternating}
