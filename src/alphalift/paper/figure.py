"""The paper's Figure 1, panels (a)-(d)."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from alphalift.exact import Array
from alphalift.paper.experiment import Experiment
from alphalift.show.style import COLOURS, alpha_text, legend, new_figure, quiet
from alphalift.solvers.algorithm1 import PAPER_ALPHAS, PAPER_EPSILONS

_EPSILON = "privacy budget ε (nats)"


def figure1(experiment: Experiment) -> Figure:
    """Mean curves against epsilon; vertical lines are the mean eps_max of the alpha of their colour."""
    figure = new_figure(10, 7.4)
    (a, b), (c, d) = figure.subplots(2, 2)
    curves = experiment.algorithm1
    _panel(a, curves.utility, experiment, "normalised utility I(X;Y)/H(X)", "(a) Utility of Algorithm 1")
    _panel(b, curves.alpha_leakage, experiment, "α-lift leakage (nats)", "(b) α-lift leakage")
    _panel(c, curves.max_lift_leakage, experiment, "max-lift leakage (nats)", "(c) Max-lift leakage")
    _panel(d, curves.utility, experiment, "normalised utility", "(d) Algorithm 1 and subset merging (SM)")
    for colour, curve in zip(COLOURS, experiment.subset_merging.utility.mean(axis=0), strict=False):
        d.plot(PAPER_EPSILONS, curve, color=colour, linestyle="--", linewidth=1.2)
    legend(
        d,
        handles=[Line2D([], [], color="black"), Line2D([], [], color="black", linestyle="--")],
        labels=["Algorithm 1", "SM, our implementation"],
    )
    legend(a, title="dotted: mean εₘₐₓ")
    figure.suptitle(
        f"Privacy-utility tradeoff under α-lift: mean of {experiment.distributions} joints (6 × 10), seed {experiment.seed}",
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
