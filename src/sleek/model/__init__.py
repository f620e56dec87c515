"""The fitted model, which needs no estimator to predict, be explained, updated, merged, saved and loaded."""

from sleek.model.explanation import Explanation
from sleek.model.facts import Facts
from sleek.model.kernel_model import KernelModel

__all__ = ["Explanation", "Facts", "KernelModel"]
