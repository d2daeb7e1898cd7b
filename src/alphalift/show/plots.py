"""Pictures of a tradeoff curve."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from alphalift.curve import Curve, Family
from alphalift.errors import InputError
from alphalift.joint import Joint
from alphalift.measures import epsilon_max
from alphalift.regions import AlphaLift, Region
from alphalift.show.rarest import rarest_gain, rarest_name
from alphalift.show.style import COLOURS, alpha_text, curve_label, legend, new_figure, quiet
from alphalift.show.text import names_of, plain, shortened
from alphalift.solution import Solution
from alphalift.sweep import Tradeoff

# Points of the line that says what the rarest group may gain, and the letters of its name.
_GAIN_STEPS, _NAME_LETTERS = 100, 30


def plot_tradeoff(tradeoff: Tradeoff, *, mark: Solution | None = None) -> Figure:
    """Normalised utility against epsilon, a curve for each alpha, of a sweep of one joint over AlphaLift."""
    curves: dict[float, list[tuple[float, float]]] = defaultdict(list)
    for region, solution in zip(tradeoff.regions, tradeoff.solutions[0], strict=True):
        if not isinstance(region, AlphaLift):
            raise InputError(f"plot_tradeoff draws alpha and epsilon; {region} has none")
        curves[region.alpha].append((region.epsilon, solution.normalized_utility))
    figure = new_figure(6.4, 5.8)
    axes, below = _two_panels(figure)
    for colour, alpha in zip(COLOURS * len(curves), sorted(curves, reverse=True), strict=False):
        epsilons, utilities = zip(*sorted(curves[alpha]), strict=True)
        _draw_gain(below, Family(AlphaLift, {"alpha": alpha}).at, tradeoff.joints[0], max(epsilons), colour)
        limit = epsilon_max(tradeoff.joints[0], alpha)
        axes.plot(epsilons, utilities, color=colour, marker="o", markersize=2.5, label=f"α = {alpha_text(alpha)}")
        axes.axvline(limit, color=colour, linestyle=":", linewidth=1)
    if mark is not None and isinstance(mark.region, AlphaLift):
        axes.plot(
            mark.region.epsilon,
            mark.normalized_utility,
            "k*",
            markersize=11,
            label=f"the design, α = {alpha_text(mark.region.alpha)}",
        )
    quiet(axes, "", f"share of the {tradeoff.utility_function.kept('X')} kept")
    _finish_gain(below, tradeoff.joints[0], "privacy budget ε (nats): private ← → useful")
    axes.set_xlim(0, None)
    axes.set_ylim(0, 1.03)
    legend(axes, title="right of the dotted line\nX itself may be published", title_fontsize=8)
    return figure


def plot_curve(
    curve: Curve, *, secret: str | None = None, useful: str | None = None, mark: tuple[float, float] | None = None
) -> Figure:
    """The band between both envelopes against epsilon, one for each value of the promise's other parameters.

    `mark` is a design: its epsilon and the share that it keeps.
    """
    figure = new_figure(6.4, 6.0)
    axes, below = _two_panels(figure)
    for colour, envelope in zip(COLOURS * len(curve), curve, strict=False):
        epsilons, lower, upper = envelope.stairs
        # Both rise, so between two epsilons the lower one's left value and the upper one's right value hold.
        ends = np.repeat(epsilons, 2)[1:-1]
        low, high = np.repeat(lower[:-1], 2), np.repeat(upper[1:], 2)
        axes.fill_between(ends, low, high, color=colour, alpha=0.35, linewidth=0)
        axes.plot(ends, low, color=colour, linewidth=1.2, label=curve_label(envelope.family))
        axes.plot(ends, high, color=colour, linewidth=0.6)
        _draw_gain(below, envelope.family.at, envelope.joint, epsilons[-1], colour)
        if math.isfinite(envelope.largest):
            axes.axvline(envelope.largest, color=colour, linestyle=":", linewidth=1)
    if mark is not None:
        axes.plot(*mark, "k*", markersize=11, label="the design")
        first = curve.envelopes[0]
        below.plot(mark[0], rarest_gain(first.family.at(mark[0]), first.joint), "k*", markersize=11)
    name_of_secret, name_of_useful = shortened(names_of(curve.envelopes[0].joint, secret, useful))
    title = f"What each budget keeps of {name_of_useful}, protecting {name_of_secret}"
    quiet(axes, "", f"share of {name_of_useful} kept", title)
    _finish_gain(
        below, curve.envelopes[0].family.at(1.0).about(curve.envelopes[0].joint), "privacy budget ε: private ← → useful"
    )
    axes.set_xlim(0, None)
    axes.set_ylim(0, 1.03)
    apart = f"the optimum lies in the band,\nwhich is at most {curve.within} high;\nright of the dotted line\nX itself may be published"
    legend(axes, title=apart, title_fontsize=8)
    return figure


def _two_panels(figure: Figure) -> tuple[Axes, Axes]:
    """What is kept, and below it what the rarest group may gain, along one epsilon."""
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1.25))
    return above, below


def _draw_gain(axes: Axes, at: Callable[[float], Region], joint: Joint, most: float, colour: str) -> None:
    epsilons = np.linspace(0, most, _GAIN_STEPS)
    axes.plot(epsilons, [rarest_gain(at(float(epsilon)), joint) for epsilon in epsilons], color=colour, linewidth=1.2)


def _finish_gain(axes: Axes, joint: Joint, x_label: str) -> None:
    quiet(
        axes,
        x_label,
        "times as likely,\nat most",
        f"What it lets the rarest group gain, {plain(rarest_name(joint, _NAME_LETTERS))}",
    )
    axes.set_yscale("log")
    certain = 1 / float(joint.p_s.min())
    axes.axhline(certain, color="#888888", linestyle=":", linewidth=1)
    axes.annotate("certainty", (1, certain), xycoords=("axes fraction", "data"), ha="right", va="top", fontsize=8)
    axes.set_ylim(1, 1.15 * certain)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
