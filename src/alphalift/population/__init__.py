"""What n records say about the people that they came from: bounds on leakage, robust designs, and estimates from releases."""

from alphalift.population.advice import Advice, Alternative, advise
from alphalift.population.cover import not_covered, percent, restated, said, uncovered
from alphalift.population.leakage import LeakageBound, is_quick, leakage_bound
from alphalift.population.receiver import Estimate, Interval, estimate
from alphalift.population.robust import Robust, in_region, prior_free, solve_robust

__all__ = [
    "Advice",
    "Alternative",
    "Estimate",
    "Interval",
    "LeakageBound",
    "Robust",
    "advise",
    "estimate",
    "in_region",
    "is_quick",
    "leakage_bound",
    "not_covered",
    "percent",
    "prior_free",
    "restated",
    "said",
    "solve_robust",
    "uncovered",
]
