"""Total variation: the posterior of the secret is near its prior in the sum of absolute differences."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from alphalift.arrays import Array
from alphalift.convex import HALF_SPACES, Constraint
from alphalift.measures.divergences import total_variation
from alphalift.regions.base import Budgeted
from alphalift.regions.deviations import directions, is_tiny
from alphalift.regions.inverses import of_idle


@dataclass(frozen=True)
class TotalVariation(Budgeted):
    """(1/2) sum_s |P(s|y) - P(s)| <= epsilon for every y: no event becomes more than epsilon likelier.

    Strong l1-privacy with the bound 2 epsilon of A. Zamani, T. J. Oechtering, M. Skoglund, "Data disclosure with
    non-zero leakage and non-invertible leakage matrix", 2022.
    """

    symmetric = True

    @property
    def budget(self) -> float:
        return self.epsilon

    def value(self, lifts: Array, p_s: Array) -> Array:
        return total_variation(lifts, p_s)

    def support(self, directions: Array, p_s: Array) -> Array:
        """E w + epsilon (max w - min w): move epsilon of mass from the least w to the largest."""
        return np.asarray(directions @ p_s + self.epsilon * np.ptp(directions, axis=-1))

    def constraint(self, p_s: Array) -> Constraint:
        """With slacks t_s >= 0: P(s|y) - t_s <= P(s) and sum t <= epsilon, instead of a half-space for every event."""
        size, epsilon = len(p_s), min(self.epsilon, 1.0)
        slacks = np.hstack([-np.eye(size), np.ones((size, 1))])
        if is_tiny(epsilon):  # all of it divided by epsilon
            above, sides = np.vstack([directions(p_s, epsilon), np.zeros(size)]), np.append(np.zeros(size), 1.0)
            return Constraint(HALF_SPACES, sides, above, slacks, np.ones(size), centred=True)
        of_posterior = np.vstack([np.eye(size), np.zeros(size)])
        inverse = of_idle(p_s) if self.epsilon >= 1 else None
        sides, widths = np.append(p_s, epsilon), np.full(size, epsilon)
        return Constraint(HALF_SPACES, sides, of_posterior, slacks, widths, inverse=inverse)
