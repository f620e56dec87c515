"""Pictures of models: what they decide, how far they can be relied on, what units bring. Needs matplotlib.

>>> from sleek import plots
>>> plots.__all__
['dependence', 'plot_coverage', 'plot_decision', 'plot_dependence', 'plot_effect', 'plot_effects',
 'plot_path', 'plot_reliability']
"""

from sleek.report.decision_plots import plot_decision
from sleek.report.dependence import dependence, plot_dependence
from sleek.report.effect_plots import plot_effect, plot_effects
from sleek.report.frontier import plot_path
from sleek.report.uncertainty_plots import plot_coverage, plot_reliability

__all__ = [
    "dependence",
    "plot_coverage",
    "plot_decision",
    "plot_dependence",
    "plot_effect",
    "plot_effects",
    "plot_path",
    "plot_reliability",
]
