"""The frozen result of a fit, and all that it can do by itself: predict, explain, be saved and loaded."""

from sleek.model.explanation import Explanation
from sleek.model.facts import Facts
from sleek.model.kernel_model import KernelModel

__all__ = ["Explanation", "Facts", "KernelModel"]
