"""What n records say about the people that they came from: bounds on leakage that hold for a population, not only for a table."""

from alphalift.population.leakage import LeakageBound, leakage_bound

__all__ = ["LeakageBound", "leakage_bound"]
