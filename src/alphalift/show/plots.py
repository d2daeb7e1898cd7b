"""Pictures of a tradeoff curve."""

from __future__ import annotations

from collections import defaultdict

from matplotlib.figure import Figure

from alphalift.errors import InputError
from alphalift.measures import epsilon_max
from alphalift.regions import AlphaLift
from alphalift.show.style import COLOURS, alpha_text, legend, new_figure, quiet
from alphalift.solution import Solution
from alphalift.sweep import Tradeoff


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
    quiet(axes, "privacy budget ε (nats): private ← → useful", "share of the information in X kept")
    axes.set_xlim(0, None)
    axes.set_ylim(0, 1.03)
    legend(axes, title="right of the dotted line\nX itself may be published", title_fontsize=8)
    return figure
