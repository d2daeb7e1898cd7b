"""Pictures of a tradeoff curve and of a mechanism."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import TwoSlopeNorm
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from alphalift.arrays import Array
from alphalift.curve import Curve, Envelope
from alphalift.errors import InputError
from alphalift.measures import epsilon_max
from alphalift.mechanism import Mechanism
from alphalift.regions import AlphaLift
from alphalift.show.style import COLOURS, alpha_text, legend, new_figure, quiet
from alphalift.show.words import printable
from alphalift.solution import Solution
from alphalift.sweep import Tradeoff

_MOST_NUMBERED_CELLS = 300
_LONGEST_LABEL = 34


def plot_tradeoff(tradeoff: Tradeoff, *, mark: Solution | None = None) -> Figure:
    """Normalised utility against epsilon, a curve for each alpha, of a sweep of one joint over AlphaLift."""
    curves: dict[float, list[tuple[float, float]]] = defaultdict(list)
    for region, solution in zip(tradeoff.regions, tradeoff.solutions[0], strict=True):
        if not isinstance(region, AlphaLift):
            raise InputError(f"plot_tradeoff draws alpha and epsilon; {region} has none")
        curves[region.alpha].append((region.epsilon, solution.normalized_utility))
    figure = new_figure(6.4, 4.2)
    axes = figure.subplots()
    for colour, alpha in zip(COLOURS * len(curves), sorted(curves, reverse=True), strict=False):
        epsilons, utilities = zip(*sorted(curves[alpha]), strict=True)
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
    quiet(
        axes, "privacy budget ε (nats): private ← → useful", f"share of the {tradeoff.utility_function.kept('X')} kept"
    )
    axes.set_xlim(0, None)
    axes.set_ylim(0, 1.03)
    legend(axes, title="right of the dotted line\nX itself may be published", title_fontsize=8)
    return figure


def plot_curve(curve: Curve, *, secret: str = "S", useful: str = "X") -> Figure:
    """The band between both envelopes against epsilon, one for each value of the promise's other parameters."""
    figure = new_figure(6.4, 4.4)
    axes = figure.subplots()
    for colour, envelope in zip(COLOURS * len(curve), curve, strict=False):
        epsilons, lower, upper = envelope.stairs
        # Both rise, so between two epsilons the lower one's left value and the upper one's right value hold.
        ends = np.repeat(epsilons, 2)[1:-1]
        low, high = np.repeat(lower[:-1], 2), np.repeat(upper[1:], 2)
        axes.fill_between(ends, low, high, color=colour, alpha=0.35, linewidth=0)
        axes.plot(ends, low, color=colour, linewidth=1.2, label=_curve_label(envelope))
        axes.plot(ends, high, color=colour, linewidth=0.6)
        if math.isfinite(envelope.largest):
            axes.axvline(envelope.largest, color=colour, linestyle=":", linewidth=1)
    title = f"What each budget keeps of {_short(useful)}, protecting {_short(secret)}"
    quiet(axes, "privacy budget ε: private ← → useful", f"share of {_short(useful)} kept", title)
    axes.set_xlim(0, None)
    axes.set_ylim(0, 1.03)
    apart = f"the optimum lies in the band,\nwhich is at most {curve.within} high;\nright of the dotted line\nX itself may be published"
    legend(axes, title=apart, title_fontsize=8)
    return figure


def _curve_label(envelope: Envelope) -> str:
    parameters = envelope.family.parameters
    names = [f"{'α' if name == 'alpha' else name} = {alpha_text(value)}" for name, value in parameters.items()]
    return ", ".join(names) or type(envelope.family.at(1.0)).__name__


def plot_mechanism(mechanism: Mechanism, *, secret: str = "S", useful: str = "X") -> Figure:
    """P(y|x) as a heat map, and beside it what each output says about the secret: the lift l(s, y)."""
    outputs, values = mechanism.p_y_given_x.shape
    secrets = len(mechanism.joint.s_labels)
    figure = new_figure(5.0 + 0.42 * (values + secrets), 2.2 + 0.34 * max(outputs, 4))
    left, right = figure.subplots(1, 2, width_ratios=[values, secrets], sharey=True)
    channel = _heat(left, mechanism.p_y_given_x, mechanism.joint.x_labels, {"cmap": "Blues", "vmin": 0, "vmax": 1})
    quiet_heat(left, f"{useful} (true value)", f"How {useful} is released: P(y|x)")
    figure.colorbar(channel, ax=left, shrink=0.8, pad=0.01)
    left.set_yticks(range(outputs), [_short(label) for label in mechanism.y_labels])
    left.set_ylabel("released value y")
    lift = mechanism.lift.T
    span = max(float(np.abs(lift - 1).max()), 0.05)
    norm = TwoSlopeNorm(1.0, max(0.0, 1 - span), 1 + span)
    shown = _heat(right, lift, mechanism.joint.s_labels, {"cmap": "PuOr_r", "norm": norm})
    quiet_heat(right, f"{secret} (the secret)", "How much likelier: P(s|y)/P(s)")
    figure.colorbar(shown, ax=right, shrink=0.8, pad=0.02)
    return figure


def quiet_heat(axes: Axes, x_label: str, title: str) -> None:
    axes.set_xlabel(x_label)
    axes.set_title(title, loc="left", fontsize=10)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)


def _heat(axes: Axes, matrix: Array, columns: tuple[str, ...], options: dict[str, object]) -> AxesImage:
    image = axes.imshow(matrix, aspect="auto", **options)  # type: ignore[arg-type]
    axes.set_xticks(
        range(len(columns)), [_short(label) for label in columns], rotation=60, ha="right", rotation_mode="anchor"
    )
    if matrix.size <= _MOST_NUMBERED_CELLS:
        for (row, column), value in np.ndenumerate(matrix):
            if value >= 0.005:
                red, green, blue, _ = image.cmap(image.norm(np.array(value)))
                dark = 0.3 * red + 0.6 * green + 0.1 * blue < 0.5
                axes.text(
                    column,
                    row,
                    f"{value:.2f}",
                    ha="center",
                    va="center",
                    fontsize=6,
                    color="white" if dark else "#333333",
                )
    return image


def _short(label: str) -> str:
    # A dollar would start matplotlib's mathematics.
    label = printable(label).replace("$", r"\$")
    return label if len(label) <= _LONGEST_LABEL else label[: _LONGEST_LABEL - 1] + "…"
