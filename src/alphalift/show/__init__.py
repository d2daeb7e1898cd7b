"""What people see: figures and plain words. Words need no library of pictures, so names are imported when they are used."""

from typing import TYPE_CHECKING

from alphalift.lazily import when_used

if TYPE_CHECKING:
    from alphalift.show.comparison import comparison_json, comparison_table, plot_comparison
    from alphalift.show.heat import plot_mechanism
    from alphalift.show.html import as_html
    from alphalift.show.kept import plot_kept
    from alphalift.show.lifts import plot_lifts
    from alphalift.show.plots import plot_curve, plot_tradeoff
    from alphalift.show.simplex import plot_simplex
    from alphalift.show.style import save_figure
    from alphalift.show.words import describe
else:
    __getattr__ = when_used(
        __name__,
        {
            "comparison": "comparison_json comparison_table plot_comparison",
            "heat": "plot_mechanism",
            "html": "as_html",
            "kept": "plot_kept",
            "lifts": "plot_lifts",
            "plots": "plot_curve plot_tradeoff",
            "simplex": "plot_simplex",
            "style": "save_figure",
            "words": "describe",
        },
    )

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
