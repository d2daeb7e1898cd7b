"""A mechanism as a heat map: P(y|x), and beside it what each output says about the secret."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import TwoSlopeNorm
from matplotlib.image import AxesImage
from scipy.sparse import coo_array

from alphalift.arrays import Array, Rows, is_sparse
from alphalift.mechanism import Mechanism
from alphalift.show.numbers import Panel, Series
from alphalift.show.style import LABEL_PITCH, POINTS, Picture, every, new_figure, width_of, wrapped
from alphalift.show.text import named, names_of, plain, shortened

# Inches of a cell where there are few, and of all of them at most and at least.
_CELL_WIDTH, _CELL_HEIGHT, _WIDEST, _NARROWEST = 0.42, 0.3, 9.5, 1.9
# Cells that a number fits in; letters at least and at most.
_NUMBERED_WIDTH, _NUMBERED_HEIGHT = 0.3, 0.17
_SMALLEST, _LARGEST, _TITLE = 5.5, 9.0, 10.0
# More symbols than this are drawn in groups: thinner lines would be lost between the dots of a page.
_MOST_CELLS = 500
_BARS, _BAR = 1.5, 0.15  # inches of both colour bars with their numbers; of one without


class _Axis(NamedTuple):
    """Symbols along one side of a heat map: how long it is, how many symbols each cell stands for, what is named."""

    name: str
    labels: list[str]
    inches: float

    @property
    def group(self) -> int:
        return -(-len(self.labels) // _MOST_CELLS)

    @property
    def every(self) -> int:
        return every(len(self.labels), self.inches)

    @property
    def pitch(self) -> float:
        return self.inches / len(self.labels)

    @property
    def size(self) -> float:
        """Of its letters, in points."""
        return min(_LARGEST, max(_SMALLEST, 0.8 * POINTS * max(self.pitch, LABEL_PITCH)))

    @property
    def shown(self) -> list[str]:
        return self.labels[:: self.every]

    @property
    def told(self) -> str:
        text = named(self.name, len(self.labels), self.every)
        return text if self.group == 1 else f"{text}, {self.group} in a cell"


def plot_mechanism(mechanism: Mechanism, *, secret: str | None = None, useful: str | None = None) -> Picture:
    """P(y|x) as a heat map, and beside it what each output says about the secret: the lift l(s, y).

    Where there is space, numbers stand in the cells and all symbols are named; then some of them are; beyond 500 a cell
    stands for several symbols and has the largest P(y|x), or the lift farthest from 1, of them.
    """
    joint = mechanism.joint
    secret, useful = names_of(joint, secret, useful)
    x = _axis(f"{useful} (true value)", joint.x_labels, _CELL_WIDTH)
    s = _axis(f"{secret} (the secret)", joint.s_labels, _CELL_WIDTH)
    y = _axis("released value y", mechanism.y_labels, _CELL_HEIGHT)
    below = max(width_of(max(own.shown, key=len), own.size) for own in (x, s))
    beside = width_of(max(y.shown, key=len), y.size)
    figure = new_figure(x.inches + s.inches + beside + _BARS + 0.5, y.inches + below + 1.2)
    left, right = figure.subplots(1, 2, width_ratios=[x.inches, s.inches], sharey=True)
    channel, lift = _largest(mechanism.law, y.group, x.group), _farthest(mechanism.lift.T, y.group, s.group)
    shown = _heat(left, channel, y, x, {"cmap": "Blues", "vmin": 0, "vmax": 1})
    _title(left, f"How {useful} is released: P(y|x)", x)
    _bar(left, shown, y)
    left.set_yticks(range(0, len(y.labels), y.every), y.shown, fontsize=y.size)
    left.set_ylabel(y.told)
    span = max(float(np.abs(lift - 1).max()), 0.05)
    norm = TwoSlopeNorm(1.0, max(0.0, 1 - span), 1 + span)
    shown = _heat(right, lift, y, s, {"cmap": "PuOr_r", "norm": norm})
    _title(right, "How much likelier the secret becomes: P(s|y)/P(s)", s)
    _bar(right, shown, y)
    figure.panels = (
        _panel("P(y|x)", mechanism.law, x.name, joint.x_labels, mechanism.y_labels),
        _panel("P(s|y)/P(s)", mechanism.lift.T, s.name, joint.s_labels, mechanism.y_labels),
    )
    return figure


def _axis(name: str, labels: Sequence[str], cell: float) -> _Axis:
    return _Axis(plain(name), shortened(labels), min(_WIDEST, max(_NARROWEST, cell * len(labels))))


def _title(axes: Axes, text: str, axis: _Axis) -> None:
    axes.set_xlabel(wrapped(axis.told, axis.inches + 0.6, _TITLE))
    axes.set_title(wrapped(plain(text), axis.inches + 0.4, _TITLE), loc="left", fontsize=_TITLE)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)


def _bar(axes: Axes, image: AxesImage, y: _Axis) -> None:
    """A colour bar that is as thick beside long axes as beside short ones."""
    axes.figure.colorbar(image, ax=axes, shrink=0.8, pad=0.1 / y.inches, fraction=0.05, aspect=0.8 * y.inches / _BAR)


def _heat(axes: Axes, matrix: Array, y: _Axis, columns: _Axis, options: dict[str, Any]) -> AxesImage:
    sides = (-0.5, matrix.shape[1] * columns.group - 0.5, matrix.shape[0] * y.group - 0.5, -0.5)
    image = axes.imshow(matrix, aspect="auto", extent=sides, interpolation="nearest", **options)
    axes.set_xlim(-0.5, len(columns.labels) - 0.5)
    axes.set_ylim(len(y.labels) - 0.5, -0.5)
    places = range(0, len(columns.labels), columns.every)
    axes.set_xticks(places, columns.shown, rotation=60, ha="right", rotation_mode="anchor", fontsize=columns.size)
    if columns.pitch >= _NUMBERED_WIDTH and y.pitch >= _NUMBERED_HEIGHT:
        _number(axes, image, matrix)
    return image


def _number(axes: Axes, image: AxesImage, matrix: Array) -> None:
    """Write every number into its cell, but for those that would be 0.00."""
    for (row, column), value in np.ndenumerate(matrix):
        if value >= 0.005:
            red, green, blue, _ = image.cmap(image.norm(np.array(value)))
            dark = 0.3 * red + 0.6 * green + 0.1 * blue < 0.5
            colour = "white" if dark else "#333333"
            axes.text(column, row, f"{value:.2f}", ha="center", va="center", fontsize=6.5, color=colour)


def _largest(rows: Rows, by_row: int, by_column: int) -> Array:
    """The largest entry of every block of so many rows and columns; nothing of the size of `rows` is made."""
    entries = coo_array(rows)
    found = np.zeros((-(-rows.shape[0] // by_row), -(-rows.shape[1] // by_column)))
    np.maximum.at(found, (entries.row // by_row, entries.col // by_column), entries.data)
    return found


def _farthest(lifts: Array, by_row: int, by_column: int) -> Array:
    """The lift farthest from 1 in every such block."""
    above = 1 + _largest(np.maximum(lifts - 1, 0), by_row, by_column)
    below = 1 - _largest(np.maximum(1 - lifts, 0), by_row, by_column)
    return np.where(above - 1 >= 1 - below, above, below)


def _panel(title: str, matrix: Rows, x: str, columns: tuple[str, ...], outputs: tuple[str, ...]) -> Panel:
    """Every cell, or as points those that are not 0 where the matrix is kept sparse."""
    if is_sparse(matrix):
        found = coo_array(matrix)
        cells = Series(title, "points", found.col.tolist(), found.row.tolist(), found.data.tolist())
    else:
        places = np.indices(matrix.shape).reshape(2, -1)
        cells = Series(title, "cells", places[1].tolist(), places[0].tolist(), matrix.ravel().tolist())
    return Panel(title, x, "released value", (cells,), columns, outputs)
