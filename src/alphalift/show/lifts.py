"""What every output tells, against what the promise allows: the value that is promised, and the lifts behind it."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes

from alphalift.arrays import Array
from alphalift.mechanism import Mechanism
from alphalift.proof.statement import checkable
from alphalift.regions import After, Region
from alphalift.show.numbers import Panel, Series
from alphalift.show.style import COLOURS, POINTS, Picture, every, new_figure, quiet, width_of, wrapped
from alphalift.show.text import named, names_of, plain, shortened, up
from alphalift.show.words import is_about_x, promise
from alphalift.solution import Solution

_ROW, _SHORTEST, _TALLEST = 0.24, 1.8, 9.5
_WIDTHS = (3.2, 4.6)  # inches of the two panels
# So many groups have a colour; of more, those that stand out have, and the others are grey.
_COLOURED = 6
_MARKS = "osD^vP"
# Lifts above this are drawn on a logarithmic scale above 1.
_LONG = 5.0
# A budget farther off than this many times the largest value is told and not drawn.
_FAR = 5.0
# A least lift below this is none.
_ROUNDING = 1e-9
_SMALL, _GREY, _FORBIDDEN = 8.0, "#9A9A9A", "#F6D5D8"


def plot_lifts(solution: Solution, *, secret: str | None = None, useful: str | None = None) -> Picture:
    """Beside each other for every output: the promise's value with its budget, and the lifts P(s|y)/P(s).

    Left, what is beyond the budget is shaded. The area of a mark is the output's probability. Right, dashed lines are the most that the promise alone
    allows a group (`Region.group_limit`), dotted ones the least: 1 minus what the others can gain. After other releases an output has
    a lift for each combination of earlier outputs.
    """
    region, mechanism = solution.region, _about(solution)
    secret, useful = names_of(solution.joint, secret, useful)
    outputs = len(mechanism.p_y)
    labels = shortened(solution.mechanism.y_labels)
    tall = min(_TALLEST, max(_SHORTEST, _ROW * outputs))
    step = every(outputs, tall)
    size = max(5.5, min(9.0, 0.8 * POINTS * tall / outputs))
    lifts, p_s, groups = _lifts(region, mechanism)
    coloured = _told_of(lifts, p_s)
    limits = [_limits(region, p_s, s) for s in coloured]
    beside = width_of(max(labels[::step], key=len), size)
    figure = new_figure(sum(_WIDTHS) + beside + 0.9, tall + 1.7 + 0.2 * math.ceil((len(coloured) + 2) / 2))
    left, right = figure.subplots(1, 2, width_ratios=_WIDTHS, sharey=True)
    _values(left, region, mechanism)
    _groups(right, lifts, coloured, limits)
    left.set_ylim(outputs - 0.4, -0.6)
    left.set_yticks(range(0, outputs, step), labels[::step], fontsize=size)
    left.set_ylabel(named("released value y", outputs, step))
    about = f"{useful} itself" if is_about_x(region) else secret
    title = plain(f"Releasing {useful}; the promise about {about}: {promise(region)}")
    figure.suptitle(wrapped(title, sum(_WIDTHS) + beside, 10), fontsize=10, ha="left", x=0.02)
    short = shortened([groups[s] for s in coloured])
    handles = [
        right.scatter([], [], color=COLOURS[place], marker=_MARKS[place], s=20, label=_legend(label, limit, region))
        for place, (label, limit) in enumerate(zip(short, limits, strict=True))
    ]
    if len(coloured) < len(groups):
        handles.append(
            right.scatter([], [], color=_GREY, marker=".", s=12, label=f"the other {len(groups) - len(coloured)}")
        )
    figure.legend(handles=handles, loc="outside lower right", ncols=2, fontsize=_SMALL, frameon=False)
    figure.panels = _panels(solution, mechanism, lifts, [groups[s] for s in coloured], limits)
    return figure


def _about(solution: Solution) -> Mechanism:
    """The mechanism with the joint that the promise is about."""
    joint = solution.region.about(solution.joint)
    return solution.mechanism if joint == solution.joint else Mechanism(joint, solution.mechanism.law)


def _lifts(region: Region, mechanism: Mechanism) -> tuple[Array, Array, tuple[str, ...]]:
    """The lifts of the secret itself by every output, (|Y|, how many earlier ones, |S|); its prior; its labels."""
    if isinstance(region, After):
        lifts = region.together(mechanism.lift.T).reshape(len(mechanism.p_y), -1, len(region.p_s))
        return lifts, region.p_s, region.base.s_labels
    return mechanism.lift.T[:, None, :], mechanism.joint.p_s, mechanism.joint.s_labels


def _told_of(lifts: Array, p_s: Array) -> list[int]:
    """The groups that have a colour: all where they are few, else the rarest, the largest and those that change most."""
    if len(p_s) <= _COLOURED:
        return list(range(len(p_s)))
    most = lifts.max(axis=(0, 1))
    first = [int(p_s.argmin()), int(p_s.argmax()), *map(int, np.argsort(-most, kind="stable"))]
    return sorted(list(dict.fromkeys(first))[:_COLOURED])


def _limits(region: Region, p_s: Array, s: int) -> tuple[float, float]:
    """The least and the largest lift of a secret that the promise allows; P(not s | y) says the least. Bounds where those are."""
    group = np.arange(len(p_s)) == s
    share = float(p_s[s])
    most = region.group_limit(group, p_s)
    least = 1.0 if len(p_s) == 1 else (1 - (1 - share) * region.group_limit(~group, p_s)) / share
    return max(0.0, least), most


def _legend(label: str, limit: tuple[float, float], region: Region) -> str:
    """A legend leaves out what begins with an underscore."""
    bound = "at most" if region.symmetric else "no more than"
    return f"{' ' if label.startswith('_') else ''}{label}: {bound} {up(limit[1], 2)} allowed"


def _areas(p_y: Array) -> Array:
    """Of marks that overlap little, however many there are."""
    return 4 + 100 * p_y / p_y.max() / max(1.0, len(p_y) / 40)


def _values(axes: Axes, region: Region, mechanism: Mechanism) -> None:
    """The value of every output; the budget, and what is beyond it."""
    values = region.value(mechanism.lift.T, mechanism.joint.p_s)
    nothing = min(region.value_of_nothing(mechanism.joint.p_s), float(values.min()))
    axes.scatter(values, range(len(values)), s=_areas(mechanism.p_y), color=COLOURS[0], zorder=3)
    most = float(values.max()) - nothing
    seen = region.budget - nothing <= _FAR * most or most <= 0
    room = 1.12 * max(region.budget - nothing if seen else 0.0, most) or 1.0
    axes.set_xlim(nothing - 0.04 * room, nothing + room)
    if seen:
        axes.axvspan(region.budget, nothing + room, color=_FORBIDDEN, linewidth=0)
        axes.axvline(region.budget, color=COLOURS[1], linewidth=1.4)
    where = "the line" if seen else "far to the right"
    told = f"{_value_name(region)} (at most {region.budget:.4g} is promised: {where}; area of a mark: P(y))"
    quiet(axes, wrapped(told, _WIDTHS[0] + 0.4, 9), "")
    axes.xaxis.label.set_fontsize(9)
    axes.tick_params(axis="y", length=0)


def _value_name(region: Region) -> str:
    """What is measured, in the checker's words where a promise has one measure and no other name for it."""
    known = checkable(region)
    measured, found, _ = ("", "", "") if known is None else known.text.partition(" is at most ")
    inner = region.region if isinstance(region, After) else region
    if len(inner.components) > 1:
        return "largest share that y uses of the promises"
    return f"{measured} of y" if found else f"value of {type(inner).__name__} at y"


def _groups(axes: Axes, lifts: Array, coloured: list[int], limits: list[tuple[float, float]]) -> None:
    """The lifts of all groups by every output, and what the promise allows those with a colour."""
    rows = np.repeat(np.arange(len(lifts)), lifts.shape[1])
    flat = lifts.reshape(len(rows), -1)
    others = [s for s in range(flat.shape[1]) if s not in coloured]
    if others:
        axes.scatter(
            flat[:, others], np.repeat(rows[:, None], len(others), 1), color=_GREY, marker=".", s=6, linewidths=0
        )
    axes.axvline(1, color="black", linewidth=0.8)
    for place, (s, (least, most)) in enumerate(zip(coloured, limits, strict=True)):
        colour = COLOURS[place]
        axes.scatter(
            flat[:, s],
            rows,
            color=colour,
            marker=_MARKS[place],
            s=max(4.0, 18 / max(1.0, len(lifts) / 40)),
            zorder=3,
            alpha=0.9,
            linewidths=0,
        )
        axes.axvline(most, color=colour, linestyle="--", linewidth=1)
        if least > _ROUNDING:
            axes.axvline(least, color=colour, linestyle=":", linewidth=1)
    # What is allowed sets the scale only while it is near what happens.
    drawn = [float(flat.max()), *(most for _, most in limits if most <= _FAR * flat.max())]
    long = max(drawn) > _LONG
    if long:
        axes.set_xscale("symlog", linthresh=1, linscale=0.6)
        ticks = [0.0, 0.5, *(float(f"{m}e{e}") for e in range(7) for m in (1, 2, 5))]
        axes.set_xticks([tick for tick in ticks if tick <= 1.15 * max(drawn)])
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.minorticks_off()
    axes.set_xlim(0 if flat.min() > 0.05 else -0.05, 1.12 * max(drawn))
    scale = ", logarithmic above 1" if long else ""
    quiet(
        axes,
        f"lift P(s|y)/P(s): how many times as likely{scale}\n(dashed: the most that the promise allows, dotted: the least)",
        "",
    )
    axes.xaxis.label.set_fontsize(9)
    axes.tick_params(axis="y", length=0)


def _panels(
    solution: Solution, mechanism: Mechanism, lifts: Array, told_of: list[str], limits: list[tuple[float, float]]
) -> tuple[Panel, ...]:
    """The numbers: of all groups, by the most and the least that an output (with those before) makes of them."""
    region, outputs = solution.region, len(mechanism.p_y)
    places, ends = [float(y) for y in range(outputs)], [0.0, float(outputs - 1)]
    values = region.value(mechanism.lift.T, mechanism.joint.p_s).tolist()
    groups = _lifts(region, mechanism)[2]
    budget = Series("promised", "line", [region.budget] * 2, ends)
    first = Series("value", "points", values, places, mechanism.p_y.tolist())
    sides = (
        [("", lifts.max(axis=1))]
        if lifts.shape[1] == 1
        else [(", most", lifts.max(axis=1)), (", least", lifts.min(axis=1))]
    )
    own = [
        Series(f"{group}{side}", "points", found[:, s].tolist(), places)
        for s, group in enumerate(groups)
        for side, found in sides
    ]
    allowed = [
        Series(f"allowed to {group}", "line", [most] * 2, ends)
        for group, (_, most) in zip(told_of, limits, strict=True)
    ]
    names = solution.mechanism.y_labels
    return (
        Panel(_value_name(region), "value", "released value", (first, budget), y_names=names),
        Panel("lifts of every output", "lift P(s|y)/P(s)", "released value", (*own, *allowed), y_names=names),
    )
