"""Measures of leakage and information: pure functions of distributions, in nats."""

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
from alphalift.measures.renyi import renyi_divergence

__all__ = [
    "alpha_lift",
    "entropy",
    "epsilon_max",
    "group_bound",
    "information_density",
    "lift",
    "log_alpha_lifts",
    "max_lift",
    "mutual_information",
    "renyi_divergence",
]
