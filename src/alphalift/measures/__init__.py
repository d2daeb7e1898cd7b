"""Measures of leakage and information: pure functions of distributions, in nats."""

from alphalift.measures.capacity import Capacity, channel_capacity, maximal_alpha_leakage, renyi_capacity
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
from alphalift.measures.information import entropy, mutual_information
from alphalift.measures.lift import (
    alpha_lift,
    epsilon_max,
    group_bound,
    information_density,
    lift,
    log_alpha_lifts,
    max_lift,
)
from alphalift.measures.renyi import renyi_divergence, renyi_divergences
from alphalift.measures.sibson import alpha_leakage, maximal_leakage, sibson_information

__all__ = [
    "Capacity",
    "additive_bayes_leakage",
    "alpha_leakage",
    "alpha_lift",
    "bayes_capacity",
    "best_guess",
    "channel_capacity",
    "chi_square",
    "entropy",
    "epsilon_max",
    "group_bound",
    "guessing_advantage",
    "information_density",
    "kullback_leibler",
    "lift",
    "local_differential_privacy",
    "local_information_privacy",
    "log_alpha_lifts",
    "max_lift",
    "max_lift_leakage",
    "maximal_alpha_leakage",
    "maximal_leakage",
    "min_entropy_leakage",
    "min_lift_leakage",
    "multiplicative_bayes_leakage",
    "mutual_information",
    "posterior_vulnerability",
    "prior_vulnerability",
    "renyi_capacity",
    "renyi_divergence",
    "renyi_divergences",
    "sibson_information",
    "total_variation",
]
