"""Privacy promises: each is a convex set of lift vectors, one file a promise."""

from alphalift.regions.alpha_lift import AlphaLift
from alphalift.regions.base import Region, grid, lift_interval
from alphalift.regions.max_lift import MaxLift

__all__ = ["AlphaLift", "MaxLift", "Region", "grid", "lift_interval"]
