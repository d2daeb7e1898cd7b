"""The picture that explains the idea: distributions of three symbols as points of a triangle, and what is allowed among them."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from numpy.typing import NDArray

from alphalift.arrays import Array, dense
from alphalift.errors import InputError
from alphalift.regions import After
from alphalift.show.numbers import Panel, Series
from alphalift.show.style import COLOURS, Picture, new_figure, wrapped
from alphalift.show.text import names_of, plain, shortened
from alphalift.show.words import is_about_x, promise
from alphalift.solution import Solution

# The corners on paper, one a row; an orthonormal basis of the directions that keep the sum.
_CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, math.sqrt(3) / 2]])
_BASIS = np.array([[-1, 1, 0], [-1, -1, 2]]) / np.sqrt([[2], [6]])
_ANGLES, _HALVINGS = 1440, 60
# Sines of angles between neighbouring edges that are straight on; areas, as a share of squared width, that are none.
_STRAIGHT, _FLAT = 1e-6, 1e-9
_ALLOWED, _EDGE, _CHOSEN, _WEIGHT, _GREY = "#CFE0F1", COLOURS[0], COLOURS[1], "#8C2B39", "#777777"
_SIZE = 6.2
# More weights would hide each other.
_NAMED = 12

Allowed = Callable[[Array], NDArray[np.bool_]]


def can_plot_simplex(solution: Solution) -> bool:
    """Whether X or the secret has three symbols, and the picture would show what is promised."""
    three_secrets = len(solution.joint.s_labels) == 3 and not isinstance(solution.region, After)
    return len(solution.joint.x_labels) == 3 or three_secrets


def plot_simplex(solution: Solution, *, secret: str | None = None, useful: str | None = None) -> Picture:
    """What the promise allows in the triangle of all distributions of X, if |X| = 3, or else of S, if |S| = 3.

    A posterior is a point; a mechanism is points whose mean, weighted by P(y), is the prior (the cross): the optimum uses extreme points of
    what is allowed. Over X the allowed posteriors V are those with lifts P(s|x) V / P(s) in the region. Over S only what is also a mixture
    of the P(s|x) can be reached.
    """
    if not can_plot_simplex(solution):
        shape = f"{len(solution.joint.s_labels)} x {len(solution.joint.x_labels)}"
        raise InputError(
            f"a triangle has three corners: plot_simplex draws |X| = 3 or |S| = 3, and the joint is {shape}"
        )
    over_x = len(solution.joint.x_labels) == 3
    secret, useful = names_of(solution.joint, secret, useful)
    scene = _over_x(solution) if over_x else _over_s(solution)
    figure = new_figure(_SIZE, _SIZE)
    axes = figure.subplots()
    _triangle(axes, scene.labels)
    scene.draw(axes)
    axes.set_aspect("equal")
    axes.axis("off")
    axes.set_xlim(-0.1, 1.1)
    axes.set_ylim(-0.08, 0.94)
    legend = figure.legend(loc="outside lower center", ncols=2, fontsize=8, frameon=False)
    for handle in legend.legend_handles:
        if isinstance(handle, PathCollection):
            handle.set_sizes([36])
    about = f"{useful} itself" if is_about_x(solution.region) else secret
    seen = useful if over_x else secret
    title = f"What an output may tell about {seen}; the promise about {about}: {promise(solution.region)}"
    figure.suptitle(wrapped(plain(title), _SIZE - 0.2, 10), fontsize=10)
    figure.panels = (scene.panel(),)
    return figure


class _Scene:
    """What a triangle shows: distributions are rows of three shares."""

    def __init__(
        self,
        labels: tuple[str, ...],
        prior: Array,
        boundary: Array,
        chosen: Array,
        weights: Array,
        names: tuple[str, ...],
    ) -> None:
        self.labels, self.prior, self.boundary = labels, prior, boundary
        self.chosen, self.weights, self.names = chosen, weights, names
        self.extremes = np.zeros((0, 3))
        self.curved = False
        self.values, self.hull = np.zeros((0, 3)), np.zeros((0, 3))

    def draw(self, axes: Axes) -> None:
        """What is allowed at the bottom, the outputs and the prior on top."""
        axes.fill(*_at(self.boundary), color=_ALLOWED, zorder=1, label="allowed by the promise")
        axes.plot(*_at(_closed(self.boundary)), color=_EDGE, linewidth=1.2, zorder=2, label="_edge")
        if len(self.hull):
            reachable: dict[str, Any] = {
                "color": _GREY,
                "linestyle": "--",
                "linewidth": 1,
                "label": "reachable: mixtures of P(s|x)",
            }
            axes.plot(*_at(_closed(self.hull)), zorder=2, **reachable)
            x, y = _at(self.values)
            axes.scatter(x, y, 14, marker="s", color=_GREY, zorder=3, label="P(s|x) of a value x")
        if len(self.extremes):
            word = "corners of it (on its curves every point is extreme)" if self.curved else "extreme posteriors"
            x, y = _at(self.extremes)
            axes.scatter(x, y, 46, facecolors="white", edgecolors=_EDGE, linewidths=1.3, zorder=4, label=word)
        x, y = _at(self.chosen)
        style: dict[str, Any] = {"color": _CHOSEN, "alpha": 0.85, "linewidths": 0, "label": "outputs; area: P(y)"}
        axes.scatter(x, y, _areas(self.weights), zorder=5, **style)
        for point, weight in zip(self.chosen, self.weights.tolist(), strict=True):
            axes.plot(*_at(np.array([point, self.prior])), color=_CHOSEN, linewidth=0.7, alpha=0.6, zorder=3)
            if len(self.weights) <= _NAMED:
                self._tell_weight(axes, point, weight)
        cross: dict[str, Any] = {
            "marker": "+",
            "color": "black",
            "markersize": 13,
            "markeredgewidth": 2,
            "linestyle": "none",
        }
        axes.plot(*_at(self.prior[None]), zorder=6, label="prior: the mean of the outputs", **cross)

    def _tell_weight(self, axes: Axes, point: Array, weight: float) -> None:
        """Beyond the mark, as seen from the prior."""
        (x, from_x), (y, from_y) = _at(np.array([point, self.prior])).tolist()
        far = math.hypot(x - from_x, y - from_y)
        way = ((x - from_x) / far, (y - from_y) / far) if far > _FLAT else (0.0, 1.0)
        apart = 13 + math.sqrt(float(_areas(np.array(weight))) / math.pi)
        text = f"{weight:.0%}" if weight >= 0.01 else "<1%"
        style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 9, "fontweight": "bold", "color": _WEIGHT}
        axes.annotate(text, (x, y), (apart * way[0], apart * way[1]), textcoords="offset points", zorder=7, **style)

    def panel(self) -> Panel:
        """On paper's coordinates, where the corners are (0, 0), (1, 0) and (1/2, sqrt(3)/2)."""
        series = [Series("allowed", "line", *_columns(_closed(self.boundary)))]
        if len(self.extremes):
            series.append(Series("extreme", "points", *_columns(self.extremes)))
        if len(self.hull):
            series.append(Series("P(s|x)", "points", *_columns(self.values)))
        series.append(Series("outputs", "points", *_columns(self.chosen), self.weights.tolist()))
        series.append(Series("prior", "points", *_columns(self.prior[None])))
        corners = ", ".join(
            f"{label} at ({x:.3g}, {y:.3g})" for label, (x, y) in zip(self.labels, _CORNERS, strict=True)
        )
        return Panel(f"corners: {corners}", "", "", tuple(series))


def _over_x(solution: Solution) -> _Scene:
    joint = solution.region.about(solution.joint)
    mechanism = solution.mechanism

    def allowed(points: Array) -> NDArray[np.bool_]:
        return np.all(points >= 0, axis=1) & solution.region.allows(points @ joint.lift.T, joint.p_s)

    chosen = dense(mechanism.posteriors)
    boundary = _boundary(allowed, joint.p_x, chosen)
    scene = _Scene(joint.x_labels, joint.p_x, boundary, chosen, mechanism.p_y, mechanism.y_labels)
    scene.extremes, scene.curved = _extremes(boundary)
    return scene


def _over_s(solution: Solution) -> _Scene:
    joint, mechanism = solution.joint, solution.mechanism

    def allowed(points: Array) -> NDArray[np.bool_]:
        return np.all(points >= 0, axis=1) & solution.region.allows(points / joint.p_s, joint.p_s)

    chosen = mechanism.p_s_given_y.T
    scene = _Scene(
        joint.s_labels, joint.p_s, _boundary(allowed, joint.p_s, chosen), chosen, mechanism.p_y, mechanism.y_labels
    )
    scene.values = joint.p_s_given_x.T
    scene.hull = _hull(scene.values)
    return scene


def _at(points: Array) -> Array:
    """Where distributions lie on paper, (2, count)."""
    return np.asarray((points @ _CORNERS).T)


def _closed(ring: Array) -> Array:
    """With its first point again at the end."""
    return np.concatenate([ring, ring[:1]])


def _areas(weights: Array) -> Array:
    return np.asarray(20 + 420 * weights)


def _columns(points: Array) -> tuple[list[float], list[float]]:
    x, y = _at(points).tolist()
    return x, y


def _triangle(axes: Axes, labels: tuple[str, ...]) -> None:
    axes.plot(*_at(np.eye(3)[[0, 1, 2, 0]]), color="#444444", linewidth=1)
    ways = (("right", "top"), ("left", "top"), ("center", "bottom"))
    for corner, label, (across, along) in zip(_CORNERS, shortened(labels, 22), ways, strict=True):
        height = -0.02 if along == "top" else 0.02
        inwards = {"right": 0.06, "left": -0.06, "center": 0.0}[across]
        axes.text(corner[0] + inwards, corner[1] + height, label, ha=across, va=along, fontsize=10)


def _boundary(allowed: Allowed, centre: Array, chosen: Array) -> Array:
    """The farthest allowed point in every direction, (count, 3), in order around the centre: what is allowed is convex and has it.

    Directions through the chosen points are among them, since sets without an interior lie in few directions.
    """
    angles = np.linspace(-math.pi, math.pi, _ANGLES, endpoint=False)
    away = (chosen - centre) @ _BASIS.T
    far = away[np.hypot(*away.T) > _FLAT]
    own = np.arctan2(far[:, 1], far[:, 0])
    angles = np.unique(np.concatenate([angles, own, (own + 2 * math.pi) % (2 * math.pi) - math.pi]).round(9))
    exact = {round(float(angle), 9): tuple(way / np.hypot(*way)) for angle, way in zip(own, far, strict=True)}
    flat = np.array([exact.get(float(angle), (math.cos(angle), math.sin(angle))) for angle in angles])
    ways = flat @ _BASIS
    with np.errstate(divide="ignore"):
        side = np.where(ways < 0, centre / -np.where(ways < 0, ways, 1.0), np.inf).min(axis=1)
    inside, outside = np.zeros(len(ways)), side
    at_side = allowed(np.maximum(centre + side[:, None] * ways, 0.0))
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        kept = allowed(np.maximum(centre + middle[:, None] * ways, 0.0))
        inside, outside = np.where(kept, middle, inside), np.where(kept, outside, middle)
    reached = np.where(at_side, side, inside)
    return np.maximum(centre + reached[:, None] * ways, 0.0)


def _extremes(ring: Array) -> tuple[Array, bool]:
    """Corners of a convex ring of points, (count, 3), found where straight sides meet; and whether some of it is curved.

    A side is where neighbouring edges go straight on. One point between two sides is a corner; of two the sides' lines meet in one.
    """
    plane = ring @ _BASIS.T
    plane = plane[np.hypot(*(plane - np.roll(plane, 1, axis=0)).T) > 1e-12]
    width = float(np.ptp(plane, axis=0).max()) if len(plane) else 0.0
    if len(plane) < 3 or abs(_area(plane)) < _FLAT * width**2:
        ends = ring[
            [int((ring @ _BASIS[i]).argmin()) for i in (0, 1)] + [int((ring @ _BASIS[i]).argmax()) for i in (0, 1)]
        ]
        return np.unique(ends.round(12), axis=0), False
    before, after = plane - np.roll(plane, 1, axis=0), np.roll(plane, -1, axis=0) - plane
    sine = np.abs(before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]) / (np.hypot(*before.T) * np.hypot(*after.T))
    straight = (sine < _STRAIGHT).tolist()
    if not any(straight):
        return np.zeros((0, 3)), True
    first = straight.index(True)
    plane, straight = np.roll(plane, -first, axis=0), straight[first:] + straight[:first]
    corners, curved = [], False
    sides = [i for i, flat in enumerate(straight) if flat] + [len(straight)]
    for last, next_one in pairwise(sides):
        between = plane[last + 1 : next_one]
        if len(between) == 1:
            corners.append(between[0])
        elif len(between) == 2:
            corners.append(_meeting(plane[last], between[0], between[1], plane[next_one % len(plane)]))
        elif len(between):
            corners += [between[0], between[-1]]
            curved = True
    return np.array(corners) @ _BASIS + 1 / 3, curved


def _area(plane: Array) -> float:
    x, y = plane.T
    return float((x * np.roll(y, -1) - y * np.roll(x, -1)).sum()) / 2


def _meeting(a: Array, b: Array, c: Array, d: Array) -> Array:
    """Where the lines through a, b and through c, d meet."""
    u, v = b - a, d - c
    along = ((c - a)[0] * v[1] - (c - a)[1] * v[0]) / (u[0] * v[1] - u[1] * v[0])
    return np.asarray(a + along * u)


def _hull(points: Array) -> Array:
    """Corners of the convex hull in order (Andrew's monotone chain), (count, 3)."""
    order = sorted(map(tuple, (points @ _BASIS.T).tolist()))
    rings = []
    for path in (order, order[::-1]):
        ring: list[tuple[float, ...]] = []
        for point in path:
            while len(ring) >= 2 and _left(ring[-2], ring[-1], point) <= 0:
                ring.pop()
            ring.append(point)
        rings += ring[:-1]
    return np.array(rings or order[:1]) @ _BASIS + 1 / 3


def _left(a: tuple[float, ...], b: tuple[float, ...], c: tuple[float, ...]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
