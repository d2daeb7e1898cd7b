"""Every measure of one mechanism in one table: what an observer of Y learns about S, and about X."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

import pandas as pd

from alphalift.measures.catalogue import ABOUT_X, View, about_s


class Printable(pd.DataFrame):
    """A data frame that prints whole: its columns wrapped at the width of the terminal, blank where there is no value."""

    def __repr__(self) -> str:
        return self.to_string(
            na_rep="",
            float_format=lambda value: f"{round(value, 6) + 0.0:.6f}",  # adding 0.0 turns -0.0 into 0.0
            line_width=shutil.get_terminal_size().columns,
            max_rows=pd.get_option("display.max_rows"),
        )


def measures_table(s: View, x: View, alphas: Sequence[float]) -> pd.DataFrame:
    """One row a measure, by (about, measure): worst and mean over outputs, overall value, formula and source.

    l is the lift P(s|y)/P(s), E the mean over secrets, E_Y over outputs, a the order; in nats, except for
    probabilities (vulnerability, guessing, total variation), chi-square and the ratios that have no logarithm.
    """
    rows = [measure.row(s) for measure in about_s(alphas)] + [measure.row(x) for measure in ABOUT_X]
    return Printable(pd.DataFrame(rows).set_index(["about", "measure"]))


def measures_by_output_table(s: View, y_labels: Sequence[str], alphas: Sequence[float]) -> pd.DataFrame:
    """One row an output: P(y) and every measure about S that a single output has."""
    columns = {measure.name: measure.by_output(s) for measure in about_s(alphas) if measure.by_output}
    return Printable({"P(y)": s.p_y, **columns}, index=pd.Index(y_labels, name="output"))
