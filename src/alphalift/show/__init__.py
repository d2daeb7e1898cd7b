"""What people see: figures and plain words."""

from alphalift.show.plots import plot_mechanism, plot_tradeoff
from alphalift.show.words import describe

__all__ = ["describe", "plot_mechanism", "plot_tradeoff"]
