"""What people see: figures and plain words."""

from alphalift.show.comparison import comparison_json, comparison_table, plot_comparison
from alphalift.show.heat import plot_mechanism
from alphalift.show.html import as_html
from alphalift.show.kept import plot_kept
from alphalift.show.lifts import plot_lifts
from alphalift.show.plots import plot_curve, plot_tradeoff
from alphalift.show.simplex import plot_simplex
from alphalift.show.style import save as save_figure
from alphalift.show.words import describe

__all__ = [
    "as_html",
    "comparison_json",
    "comparison_table",
    "describe",
    "plot_comparison",
    "plot_curve",
    "plot_kept",
    "plot_lifts",
    "plot_mechanism",
    "plot_simplex",
    "plot_tradeoff",
    "save_figure",
]
