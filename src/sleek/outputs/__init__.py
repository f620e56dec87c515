"""What a model predicts, classes or numbers, and what its outputs mean.

An `Outputs` object owns everything that depends on the kind of target: how targets are read off rows, encoded
as the columns T that the closed form fits, judged, decoded, named and saved. No other package asks which kind
it is. A new kind is one class: see `Outputs`.
"""

from sleek.outputs.base import Outputs, known_outputs
from sleek.outputs.classes import ClassOutputs
from sleek.outputs.labels import Labels
from sleek.outputs.loss import LogisticLoss, Loss, SquaredLoss
from sleek.outputs.numbers import NumberOutputs

__all__ = [
    "ClassOutputs",
    "Labels",
    "LogisticLoss",
    "Loss",
    "NumberOutputs",
    "Outputs",
    "SquaredLoss",
    "known_outputs",
]
