"""What n records say about the people that they came from: bounds on leakage, robust designs, and estimates from releases."""

from alphalift.population.leakage import LeakageBound, is_quick, leakage_bound
from alphalift.population.receiver import Estimate, Interval, estimate
from alphalift.population.robust import Robust, prior_free, solve_robust

__all__ = [
    "Estimate",
    "Interval",
    "LeakageBound",
    "Robust",
    "estimate",
    "is_quick",
    "leakage_bound",
    "prior_free",
    "solve_robust",
]
