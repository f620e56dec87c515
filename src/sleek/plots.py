"""Pictures of models: what they decide, and how far they can be relied on. Needs matplotlib.

>>> from sleek import plots
>>> plots.__all__
['plot_coverage', 'plot_decision', 'plot_reliability']
"""

from sleek.report.plots import plot_decision
from sleek.report.uncertainty_plots import plot_coverage, plot_reliability

__all__ = ["plot_coverage", "plot_decision", "plot_reliability"]
