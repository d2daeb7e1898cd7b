"""What n records say about the people that they came from: bounds on leakage that hold for a population, not only for a table."""

from alphalift.population.leakage import LeakageBound, is_quick, leakage_bound
from alphalift.population.robust import Robust, prior_free, solve_robust

__all__ = ["LeakageBound", "Robust", "is_quick", "leakage_bound", "prior_free", "solve_robust"]
