"""A comparison as a bar chart and as a table for the terminal."""

from __future__ import annotations

import json
import math
import textwrap
from dataclasses import asdict
from typing import Any

from matplotlib.axes import Axes

from alphalift.compare import OPTIMUM, Comparison, Row
from alphalift.regions import Region, averages_of
from alphalift.show.numbers import Panel, Series
from alphalift.show.style import COLOURS, Picture, new_figure, quiet
from alphalift.show.text import names_of, plain
from alphalift.show.words import bound_remark, is_about_x, promise

_BASELINE, _GREY = "#BBCCDD", "#777777"
_COLUMNS = ("mechanism", "utility", "of optimum", "value", "outputs", "time", "kept")
_WIDTH, _TITLE_WIDTH = 80, 84
# Less than this is rounding.
_VALUE_DIGITS = 12


def plot_comparison(comparison: Comparison, *, secret: str | None = None, useful: str | None = None) -> Picture:
    """A bar for each mechanism, the most useful at the top, with the bound on all that keep the promise as a line."""
    rows = comparison.rows
    secret, useful = map(plain, names_of(comparison.solution.joint, secret, useful))
    figure = new_figure(8.4, 1.5 + 0.34 * len(rows))
    axes = figure.subplots()
    for place, row in enumerate(rows):
        _bar(axes, place, row)
        _figures(axes, place, row, comparison)
    bound = comparison.normalized_bound
    axes.axvline(bound, color=COLOURS[1], linestyle="--", linewidth=1.2)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_yticks(range(len(rows)), [row.name for row in rows])
    axes.get_yticklabels()[rows.index(comparison.optimum)].set_fontweight("bold")
    kept = comparison.solution.utility_function.kept(useful)
    label = f"share of the {kept} kept\ndashed: no mechanism that keeps the promise exceeds {_up(bound)}"
    label += bound_remark(comparison.solution)
    about = f"{useful} itself" if is_about_x(comparison.region) else secret
    title = f"Releasing {useful}; the promise about {about}: {plain(promise(comparison.region))}"
    quiet(axes, label, "", textwrap.fill(title, _TITLE_WIDTH))
    axes.xaxis.label.set_fontsize(9)
    axes.set_xlim(0, 1)
    axes.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    axes.grid(False, axis="y")
    axes.tick_params(axis="y", length=0)
    figure.panels = (_panel(comparison),)
    return figure


def _panel(comparison: Comparison) -> Panel:
    """The bars of what applies, what breaks the promise apart, and the bound."""
    rows, bound = comparison.rows, comparison.normalized_bound
    series = [
        Series(
            name,
            "bars",
            [row.normalized_utility for row in rows if row.applies and row.kept is kept],
            [place for place, row in enumerate(rows) if row.applies and row.kept is kept],
        )
        for name, kept in (("keeps the promise", True), ("breaks the promise", False))
    ]
    series.append(Series("no mechanism that keeps the promise exceeds", "line", [bound] * 2, [0, len(rows) - 1]))
    names = tuple(row.name for row in rows)
    return Panel("mechanisms under one promise", "share kept", "mechanism", tuple(series), y_names=names)


def _bar(axes: Axes, place: int, row: Row) -> None:
    if not row.applies:
        return
    if row.kept:
        axes.barh(place, row.normalized_utility, 0.68, color=COLOURS[0] if row.name == OPTIMUM else _BASELINE)
    else:
        axes.barh(place, row.normalized_utility, 0.68, color="#F2F2F2", edgecolor="#AAAAAA", hatch="///", linewidth=0.6)


def _figures(axes: Axes, place: int, row: Row, comparison: Comparison) -> None:
    """The row's percentage and remark in a column of their own, where no bar and no line can cover them."""
    axes.annotate(
        f"{row.normalized_utility:.1%}" if row.applies else "", (1, place), (44, 0), ha="right", **_style(axes, row)
    )
    axes.annotate(_remark(row, comparison), (1, place), (54, 0), ha="left", **_style(axes, row))


def _style(axes: Axes, row: Row) -> dict[str, Any]:
    return {
        "xycoords": axes.get_yaxis_transform(),
        "textcoords": "offset points",
        "va": "center",
        "fontsize": 8.5,
        "color": "black" if row.kept else _GREY,
        "fontweight": "bold" if row.name == OPTIMUM else "normal",
    }


def _remark(row: Row, comparison: Comparison) -> str:
    if not row.applies:
        return "not applicable"
    if not row.kept:
        return f"breaks the promise: {row.worst_value:#.4g} > {comparison.region.budget:#.4g}"
    if row.name == OPTIMUM:
        return row.note
    return "" if math.isnan(row.share_of_optimum) else f"{row.share_of_optimum:.0%} of the optimum"


def comparison_table(comparison: Comparison) -> str:
    """The rows as text of fixed width, then what they mean and what did not apply, in lines of 80 characters."""
    cells = [_COLUMNS, *(_cells(row) for row in comparison.rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join([line[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(line[1:], widths[1:], strict=True))])
        for line in cells
    ]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:], "", *_remarks(comparison)])


def comparison_json(comparison: Comparison) -> str:
    """The promise, the bound as a share of publishing X, and a record for every row, whose figures are null where it does not apply."""
    rows = [{name: _finite(value) for name, value in asdict(row).items()} for row in comparison.rows]
    content = {
        "promise": repr(comparison.region),
        "budget": _finite(comparison.region.budget),
        "bound": comparison.normalized_bound,
        "mechanisms": rows,
    }
    return json.dumps(content, indent=1, ensure_ascii=False)


def _finite(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _cells(row: Row) -> tuple[str, ...]:
    if not row.applies:
        return (row.name, *"-" * (len(_COLUMNS) - 1))
    share = "-" if math.isnan(row.share_of_optimum) or not row.kept else f"{row.share_of_optimum:.1%}"
    value = f"{round(row.worst_value, _VALUE_DIGITS) + 0.0:#.4g}"
    time = f"{row.seconds:.2f} s" if row.seconds < 10 else f"{row.seconds:.0f} s"
    return (
        row.name,
        f"{row.normalized_utility:.1%}",
        share,
        value,
        str(row.outputs),
        time,
        "yes" if row.kept else "NO",
    )


def _remarks(comparison: Comparison) -> list[str]:
    best, optimum, budget = comparison.best_baseline, comparison.optimum, comparison.region.budget
    broken = [row for row in comparison.rows if row.kept is False]
    settings = [f"{row.name} {row.note}" for row in comparison.rows if row.kept and row.note and row.name != OPTIMUM]
    excused: dict[str, list[str]] = {}
    for row in comparison.rows:
        if not row.applies:
            excused.setdefault(row.note, []).append(row.name)
    remarks = [
        f"Promise: {promise(comparison.region)}. The value is {_whose(comparison.region)}; at most {budget:#.4g} is promised.",
        *(f"To {row.name} breaks the promise." for row in broken),
        f"The optimum (status: {optimum.note}) keeps {optimum.normalized_utility:.2%} of what publishing X would; "
        f"no mechanism that keeps the promise exceeds {_up(comparison.normalized_bound)}"
        f"{bound_remark(comparison.solution)}. "
        f"The best of the others, {best.name}, keeps {best.normalized_utility:.2%}.",
        *([f"Settings: {', '.join(settings)}."] if settings else []),
        *(f"{', '.join(names)}: {note}." for note, names in excused.items()),
    ]
    return [line for remark in remarks for line in textwrap.wrap(remark, _WIDTH, subsequent_indent="  ")]


def _whose(region: Region) -> str:
    """Whose value the rows have; of several promises it is the share of the one that is used most."""
    if not averages_of(region):
        return "that of the worst output"
    return (
        "the mean over outputs"
        if len(region.components) == 1
        else "the largest share of any, by its mean or its worst output"
    )


def _up(share: float) -> str:
    """Rounded up: a bound must not look smaller than it is."""
    return f"{min(1.0, math.ceil(share * 1e4 - 1e-9) / 1e4):.2%}"
