"""The paper's Figure 1, panels (a)-(d), and Algorithm 1's distance from the certified optimum, (e)-(f)."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from alphalift.arrays import Array
from alphalift.paper.claims import NEAR
from alphalift.paper.experiment import OPTIMUM_EPSILONS, Experiment
from alphalift.show.style import COLOURS, alpha_text, legend, new_figure, quiet
from alphalift.solvers.algorithm1 import PAPER_ALPHAS, PAPER_EPSILONS

_EPSILON = "privacy budget ε (nats)"
_HOLLOW_CIRCLE: dict[str, Any] = {"marker": "o", "markersize": 4, "markerfacecolor": "white", "linestyle": "none"}


def figure1(experiment: Experiment) -> Figure:
    """Curves against epsilon; vertical lines are the mean eps_max of the alpha of their colour."""
    figure = new_figure(14, 7.8)
    (a, b, c), (d, e, f) = figure.subplots(2, 3)
    curves = experiment.algorithm1
    _panel(a, curves.utility, experiment, "normalised utility I(X;Y)/H(X)", "(a) Utility of Algorithm 1")
    _panel(b, curves.alpha_leakage, experiment, "α-lift leakage (nats)", "(b) α-lift leakage of Algorithm 1")
    _panel(c, curves.max_lift_leakage, experiment, "max-lift leakage (nats)", "(c) Max-lift leakage of Algorithm 1")
    _panel(d, curves.utility, experiment, "normalised utility", "(d) Algorithm 1, the optimum, subset merging (SM)")
    _compare(d, experiment)
    distance = experiment.distance
    _distance_panel(e, distance.mean(axis=0), experiment, "(e) Algorithm 1's distance from the optimum: mean")
    _distance_panel(f, distance.max(axis=0), experiment, "(f) The same distance: largest over the joints")
    # One scale for both, so that mean and largest can be compared by eye.
    e.set_ylim(f.get_ylim())
    legend(a, title="dotted: mean εₘₐₓ")
    e.legend(loc="upper right", framealpha=0.95, edgecolor="white")
    _mark_near(e)
    figure.suptitle(
        f"Privacy-utility tradeoff under α-lift: {experiment.distributions} joints (6 × 10), seed {experiment.seed}; "
        "(a)–(d) are means",
        fontsize=11,
    )
    return figure


def _panel(axes: Axes, values: Array, experiment: Experiment, y_label: str, title: str) -> None:
    means = experiment.epsilon_max.mean(axis=0)
    for alpha, colour, curve, limit in zip(PAPER_ALPHAS, COLOURS, values.mean(axis=0), means, strict=False):
        axes.plot(PAPER_EPSILONS, curve, color=colour, linewidth=1.6, label=f"α = {alpha_text(alpha)}")
        axes.axvline(limit, color=colour, linestyle=":", linewidth=1.2)
    quiet(axes, _EPSILON, y_label, title)
    axes.set_xlim(0, 0.96)
    axes.set_ylim(0, None)


def _compare(axes: Axes, experiment: Experiment) -> None:
    """Subset merging and the optimum beside the curves of Algorithm 1."""
    merging, optimum = experiment.subset_merging.utility.mean(axis=0), experiment.optimum.utility.mean(axis=0)
    for colour, dashed, circles in zip(COLOURS, merging, optimum, strict=False):
        axes.plot(PAPER_EPSILONS, dashed, color=colour, linestyle="--", linewidth=1.2)
        axes.plot(experiment.optimum.epsilons, circles, color=colour, markevery=_marked(experiment), **_HOLLOW_CIRCLE)
    legend(
        axes,
        handles=[
            Line2D([], [], color="black", **_HOLLOW_CIRCLE),
            Line2D([], [], color="black"),
            Line2D([], [], color="black", linestyle="--"),
        ],
        labels=["certified optimum", "Algorithm 1", "SM, our implementation"],
    )


def _marked(experiment: Experiment) -> list[int]:
    """Which points of the optimum get a mark: all if there are few, else those where a shorter run has them."""
    epsilons = experiment.optimum.epsilons
    few = len(epsilons) <= len(OPTIMUM_EPSILONS)
    return [place for place, epsilon in enumerate(epsilons) if few or epsilon in OPTIMUM_EPSILONS]


def _distance_panel(axes: Axes, distances: Array, experiment: Experiment, title: str) -> None:
    """Distances (alphas, epsilons); epsilon on a logarithmic scale, because much happens at the small ones."""
    for alpha, colour, curve in zip(PAPER_ALPHAS, COLOURS, distances, strict=False):
        axes.plot(
            experiment.optimum.epsilons,
            curve,
            color=colour,
            linewidth=1.6,
            marker="o",
            markevery=_marked(experiment),
            markersize=3.5,
            label=f"α = {alpha_text(alpha)}",
        )
    quiet(axes, f"{_EPSILON}, logarithmic", "optimum − Algorithm 1, share of H(X)", title)
    axes.set_xscale("log")
    ticks = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()


def _mark_near(axes: Axes) -> None:
    """The mean distance up to which the claims call Algorithm 1 near optimal."""
    grey = "#555555"
    axes.axhline(NEAR, color=grey, linestyle="--", linewidth=1)
    axes.annotate(f"near: at most {NEAR:g}", (0.95, NEAR), (0, 4), textcoords="offset points", ha="right", color=grey)
