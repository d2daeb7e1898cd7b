"""The list of all measures: for each its name, formula and source, and how it is computed from what Y says."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from alphalift.arrays import Array
from alphalift.measures.capacity import channel_capacity, maximal_alpha_leakage
from alphalift.measures.divergences import chi_square, kullback_leibler, total_variation
from alphalift.measures.extremes import (
    local_differential_privacy,
    local_information_privacy,
    max_lift_leakage,
    min_lift_leakage,
)
from alphalift.measures.guessing import (
    additive_bayes_leakage,
    bayes_capacity,
    best_guess,
    guessing_advantage,
    min_entropy_leakage,
    multiplicative_bayes_leakage,
    posterior_vulnerability,
    prior_vulnerability,
)
from alphalift.measures.lift import log_alpha_lifts
from alphalift.measures.renyi import renyi_divergences
from alphalift.measures.sibson import alpha_leakage, maximal_leakage, sibson_information

# One order near Shannon's, one in between, one near the maximum; infinity has rows of its own.
ALPHAS = (1.5, 3.0, 10.0)


@dataclass(frozen=True)
class View:
    """What Y says about one variable: its name, its prior (count,), P_Y (|Y|,) and its lifts (|Y|, count)."""

    about: str
    prior: Array
    p_y: Array
    lifts: Array

    @property
    def channel(self) -> Array:
        """P(y|s) = l P(y), (|Y|, count)."""
        return self.lifts * self.p_y[:, None]


@dataclass(frozen=True)
class Measure:
    """A row of the table. Without `overall` the worst output counts for the whole mechanism.

    In a formula {s} and {S} stand for the variable, l is the lift, E the mean over the variable, E_Y over outputs, a
    the order.
    """

    name: str
    formula: str
    citation: str
    by_output: Callable[[View], Array] | None = None
    overall: Callable[[View], float] | None = None
    # The worst output is the one with the largest value, except for the smallest lift.
    worst: Callable[[Array], float] = np.max

    def row(self, view: View) -> dict[str, object]:
        """Its numbers for one variable; NaN where a measure has no value for a single output."""
        values = self.by_output(view) if self.by_output else None
        worst = math.nan if values is None else float(self.worst(values))
        return {
            "about": view.about,
            "measure": self.name,
            "worst": worst,
            "mean": math.nan if values is None else float(view.p_y @ values),
            "overall": self.overall(view) if self.overall else worst,
            "formula": self.formula.format(s=view.about.lower(), S=view.about),
            "citation": self.citation,
        }


_LIFT, _SMITH, _BRAUN = "Zarrabian, Ding, Sadeghi 2023", "Smith 2009", "Braun, Chatzikokolakis, Palamidessi 2009"
_LIAO = "Liao, Kosut, Sankar, Calmon 2019"

_EXTREMES = (
    Measure("max-lift", "log max_{s} l", _LIFT, lambda v: max_lift_leakage(v.lifts)),
    Measure("min-lift", "log min_{s} l", _LIFT, lambda v: min_lift_leakage(v.lifts), worst=np.min),
    Measure(
        "local information privacy",
        "max_{s} |log l|",
        "Jiang, Seif, Tandon, Li 2021",
        lambda v: local_information_privacy(v.lifts),
    ),
    Measure(
        "local differential privacy",
        "log(max_{s} l / min_{s} l)",
        "Kasiviswanathan et al. 2011",
        lambda v: local_differential_privacy(v.lifts),
    ),
)
_DIVERGENCES = (
    Measure("total variation", "E|l-1| / 2", "Rassouli, Gunduz 2020", lambda v: total_variation(v.lifts, v.prior)),
    Measure(
        "chi-square", "sqrt(E(l-1)^2)", "Zamani, Oechtering, Skoglund 2021", lambda v: chi_square(v.lifts, v.prior)
    ),
    Measure("Kullback-Leibler", "E[l log l]", "Kullback, Leibler 1951", lambda v: kullback_leibler(v.lifts, v.prior)),
)
_INFORMATION = (
    Measure(
        "mutual information",
        "I({S};Y) = E_Y E[l log l]",
        "Shannon 1948",
        overall=lambda v: sibson_information(v.channel, v.prior, 1.0),
    ),
    Measure(
        "maximal leakage",
        "log sum_y max_{s} P(y|{s})",
        "Issa, Wagner, Kamath 2020",
        overall=lambda v: maximal_leakage(v.channel),
    ),
)
_GUESSING = (
    Measure("prior Bayes vulnerability", "max_{s} P({s})", _SMITH, overall=lambda v: prior_vulnerability(v.prior)),
    Measure(
        "posterior Bayes vulnerability",
        "E_Y max_{s} P({s}|y)",
        _SMITH,
        lambda v: best_guess(v.lifts, v.prior),
        lambda v: posterior_vulnerability(v.channel, v.prior),
    ),
    Measure(
        "guessing advantage (additive Bayes)",
        "E_Y max_{s} P({s}|y) - max_{s} P({s})",
        _BRAUN,
        lambda v: guessing_advantage(v.lifts, v.prior),
        lambda v: additive_bayes_leakage(v.channel, v.prior),
    ),
)
_RATIOS = (
    Measure(
        "multiplicative Bayes leakage",
        "E_Y max_{s} P({s}|y) / max_{s} P({s})",
        _BRAUN,
        overall=lambda v: multiplicative_bayes_leakage(v.channel, v.prior),
    ),
    Measure(
        "min-entropy leakage",
        "log(E_Y max_{s} P({s}|y) / max_{s} P({s}))",
        _SMITH,
        overall=lambda v: min_entropy_leakage(v.channel, v.prior),
    ),
    Measure("Bayes capacity", "sum_y max_{s} P(y|{s})", _BRAUN, overall=lambda v: bayes_capacity(v.channel)),
    Measure("channel capacity", "max_prior I({S};Y)", "Shannon 1948", overall=lambda v: channel_capacity(v.channel)),
)
# What Y says about X is the utility; these say it in words that people know.
ABOUT_X = (*_INFORMATION, *_GUESSING)


def _of_order(alpha: float) -> tuple[Measure, ...]:
    """The measures of one order; below 1 there is no alpha-lift and no maximal alpha-leakage, at 1 no alpha-lift."""
    order = f"{alpha:g}"
    lift = Measure(
        f"log alpha-lift, alpha={order}",
        "log (E l^a)^(1/a)",
        "Ding, Zarrabian, Sadeghi 2021",
        lambda v: np.maximum(log_alpha_lifts(v.lifts, v.prior, alpha), 0.0),
    )
    renyi = Measure(
        f"Renyi divergence, alpha={order}",
        "log E[l^a] / (a-1)",
        "Renyi 1961",
        lambda v: renyi_divergences(v.lifts, v.prior, alpha),
    )
    sibson = Measure(
        f"Sibson information, alpha={order}",
        "a/(a-1) log sum_y (sum_{s} P({s}) P(y|{s})^a)^(1/a)",
        "Sibson 1969",
        overall=lambda v: sibson_information(v.channel, v.prior, alpha),
    )
    arimoto = Measure(
        f"alpha-leakage, alpha={order}",
        "a/(a-1) log E_Y[|P(.|y)|_a / |P|_a]",
        f"Arimoto 1977; {_LIAO}",
        overall=lambda v: alpha_leakage(v.channel, v.prior, alpha),
    )
    maximal = Measure(
        f"maximal alpha-leakage, alpha={order}",
        "max over priors of Sibson information",
        _LIAO,
        overall=lambda v: maximal_alpha_leakage(v.channel, v.prior, alpha),
    )
    return (*([lift] if alpha > 1 else []), renyi, sibson, arimoto, *([maximal] if alpha >= 1 else []))


def about_s(alphas: Iterable[float]) -> tuple[Measure, ...]:
    """Every measure of the secret, those of an order once for each alpha."""
    orders = [measure for alpha in alphas for measure in _of_order(alpha)]
    return (*_EXTREMES, *_DIVERGENCES, *orders, *_INFORMATION, *_GUESSING, *_RATIOS)
