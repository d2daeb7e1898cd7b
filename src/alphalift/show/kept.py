"""Before and after: the distribution of the useful column, what a receiver sees instead, and what becomes of what."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.path import Path
from numpy.typing import NDArray
from scipy.sparse import coo_array

from alphalift.arrays import Array
from alphalift.mechanism import Mechanism
from alphalift.show.numbers import Panel, Series
from alphalift.show.style import COLOURS, LABEL_PITCH, POINTS, Picture, new_figure, width_of, wrapped
from alphalift.show.text import names_of, plain, shortened

_ROW, _SHORTEST, _TALLEST, _FLOW = 0.26, 2.4, 9.0, 4.2
# Of the height: what lies between the bars of one side together. Of the width: a bar; from it to its label.
_GAPS, _BAR, _APART = 0.16, 0.035, 0.03
_COVER = 0.55
_CURVE = [
    Path.MOVETO,
    Path.CURVE4,
    Path.CURVE4,
    Path.CURVE4,
    Path.LINETO,
    Path.CURVE4,
    Path.CURVE4,
    Path.CURVE4,
    Path.CLOSEPOLY,
]


def plot_kept(mechanism: Mechanism, *, useful: str | None = None) -> Picture:
    """True values at the left as high as P(x), outputs at the right as high as P(y), and bands between them as wide as P(x, y).

    An output with one band tells its value; one with many tells little. Where names do not fit, the most frequent ones have them.
    """
    joint = mechanism.joint
    _, useful = names_of(joint, None, useful)
    flows = coo_array(mechanism.law)
    order = np.lexsort((flows.col, flows.row))
    ys, xs = flows.row[order], flows.col[order]
    shares = flows.data[order] * joint.p_x[xs]
    count = max(len(joint.p_x), len(mechanism.p_y))
    tall = min(_TALLEST, max(_SHORTEST, _ROW * count))
    size = max(6.0, min(9.0, 0.75 * POINTS * tall / count))
    left, right = _Side.of(joint.p_x, joint.x_labels, tall), _Side.of(mechanism.p_y, mechanism.y_labels, tall)
    beside = [width_of(max(side.names, key=len), size) + 0.2 for side in (left, right)]
    wide = _FLOW + sum(beside)
    figure = new_figure(wide, tall + 1.3)
    axes = figure.subplots()
    colours = _colours(len(joint.p_x))
    axes.add_collection(_bands(left, right, xs, ys, shares, colours))
    axes.bar(0, joint.p_x, _BAR, left.low, color=colours)
    axes.bar(1, mechanism.p_y, _BAR, right.low, color="#444444")
    for side, place, way in ((left, 0, -1), (right, 1, 1)):
        side.write(axes, place, way, size)
    axes.set_xlim(-0.05 - beside[0] / _FLOW, 1.05 + beside[1] / _FLOW)
    axes.set_ylim(1 + _GAPS + 0.01, -0.01)
    axes.axis("off")
    axes.text(0, -0.02, plain(useful), ha="center", va="bottom", fontsize=10, fontweight="bold")
    axes.text(1, -0.02, "what is released", ha="center", va="bottom", fontsize=10, fontweight="bold")
    title = f"What becomes of {useful}: {mechanism.normalized_utility():.1%} of the information in it is kept"
    remarks = [side.remark(what) for side, what in ((left, "values"), (right, "outputs"))]
    figure.suptitle(wrapped(plain(title), wide - 0.6, 10), fontsize=10)
    if any(remarks):
        figure.supxlabel("; ".join(filter(None, remarks)), fontsize=8)
    figure.panels = _panels(mechanism, useful, xs, ys, shares)
    return figure


class _Side:
    """The bars of one side from the top: where each begins, and the names of those that have one."""

    def __init__(self, shares: Array, low: Array, named: NDArray[np.intp], names: list[str], pitch: float) -> None:
        self.shares, self.low, self.named, self.names, self.pitch = shares, low, named, names, pitch

    @classmethod
    def of(cls, shares: Array, labels: Sequence[str], tall: float) -> _Side:
        count = len(shares)
        gap = _GAPS / max(count - 1, 1)
        low = np.concatenate([[0.0], np.cumsum(shares)[:-1]]) + gap * np.arange(count)
        if count == 1:
            low = low + _GAPS / 2
        fits = max(1, int(tall / (1.15 * LABEL_PITCH)))
        named = np.sort(np.argsort(-shares, kind="stable")[:fits])
        short = shortened(labels)
        names = [f"{short[i]}  {shares[i]:.1%}" for i in named]
        return cls(shares, low, named, names, (1 + _GAPS) * 1.1 * LABEL_PITCH / tall)

    @property
    def centres(self) -> Array:
        return self.low + self.shares / 2

    def write(self, axes: Axes, place: float, way: int, size: float) -> None:
        """Names beside the bars, moved apart where they would touch, with a line to the bar of each."""
        wanted = self.centres[self.named]
        edge, start = place + way * _BAR / 2, place + way * (_BAR / 2 + _APART)
        for name, at, height in zip(self.names, wanted, spread(wanted, self.pitch, 0.0, 1 + _GAPS), strict=True):
            axes.plot([edge, start], [at, height], color="#888888", linewidth=0.5)
            align = "left" if way > 0 else "right"
            axes.text(start + way * 0.008, height, name, ha=align, va="center", fontsize=size)

    def remark(self, what: str) -> str:
        left = len(self.shares) - len(self.named)
        return (
            f"{left} of {len(self.shares)} {what} are not named, {1 - self.shares[self.named].sum():.0%} together"
            if left
            else ""
        )


def spread(wanted: Array, apart: float, low: float, high: float) -> Array:
    """Rising places, each near the one that is wanted, `apart` from the next, between low and high if they fit there.

    Least squares: without the distances, places may not fall, which pooling adjacent violators solves; then it is cut off.
    """
    steps = apart * np.arange(len(wanted))
    blocks: list[tuple[float, int]] = []
    for value in np.asarray(wanted) - steps:
        mean, count = float(value), 1
        while blocks and blocks[-1][0] > mean:
            before, size = blocks.pop()
            mean, count = (mean * count + before * size) / (count + size), count + size
        blocks.append((mean, count))
    places = np.concatenate([np.full(count, mean) for mean, count in blocks])
    return np.asarray(np.clip(places, low, max(low, high - steps[-1])) + steps)


def _colours(count: int) -> list[str] | Array:
    """One for every value: those that all readers can tell apart, or shades from dark to light in the values' order."""
    return list(COLOURS[:count]) if count < len(COLOURS) else colormaps["cividis"](np.linspace(0, 1, count))


def _bands(
    left: _Side, right: _Side, xs: NDArray[np.intp], ys: NDArray[np.intp], shares: Array, colours: list[str] | Array
) -> PathCollection:
    """A band for every x and y that occur together, sorted by y and x: each begins where the one before it ends."""
    paths, from_x, from_y = [], left.low.copy(), right.low.copy()
    begin, end = _BAR / 2, 1 - _BAR / 2
    for x, y, share in zip(xs.tolist(), ys.tolist(), shares.tolist(), strict=True):
        a, b = from_x[x], from_y[y]
        from_x[x] += share
        from_y[y] += share
        upper = [(begin, a), (0.5, a), (0.5, b), (end, b)]
        lower = [(end, b + share), (0.5, b + share), (0.5, a + share), (begin, a + share)]
        paths.append(Path([*upper, *lower, upper[0]], _CURVE))
    return PathCollection(paths, facecolors=[colours[x] for x in xs], edgecolors="none", alpha=_COVER)


def _panels(
    mechanism: Mechanism, useful: str, xs: NDArray[np.intp], ys: NDArray[np.intp], shares: Array
) -> tuple[Panel, ...]:
    x_labels, y_labels = mechanism.joint.x_labels, mechanism.y_labels
    places, outputs = list(range(len(x_labels))), list(range(len(y_labels)))
    before = Series("P(x)", "bars", mechanism.joint.p_x.tolist(), places)
    after = Series("P(y)", "bars", mechanism.p_y.tolist(), outputs)
    bands = Series("P(x, y)", "points", xs.tolist(), ys.tolist(), shares.tolist())
    return (
        Panel("as it is", "P(x)", useful, (before,), y_names=x_labels),
        Panel("as it is released", "P(y)", "released value", (after,), y_names=y_labels),
        Panel("together, where they occur together", useful, "released value", (bands,), x_labels, y_labels),
    )
