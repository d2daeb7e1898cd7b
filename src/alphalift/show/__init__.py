"""What people see: figures and plain words."""

from alphalift.show.comparison import comparison_table, plot_comparison
from alphalift.show.plots import plot_curve, plot_mechanism, plot_tradeoff
from alphalift.show.words import describe

__all__ = ["comparison_table", "describe", "plot_comparison", "plot_curve", "plot_mechanism", "plot_tradeoff"]
