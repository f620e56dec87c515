"""Contract suites that others inherit: what a basis, a source of rows, a trainer and outputs promise.

They are plain classes with test methods, to be run by pytest; nothing else of sleek imports them.
"""

from sleek.testing.basis_contract import BasisContract
from sleek.testing.outputs_contract import OutputsContract
from sleek.testing.source_contract import SourceContract
from sleek.testing.trainer_contract import TrainerContract

__all__ = ["BasisContract", "OutputsContract", "SourceContract", "TrainerContract"]
