"""Total variation: the posterior of the secret is near its prior in the sum of absolute differences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from alphalift.convex import HALF_SPACES, Part
from alphalift.exact import Array
from alphalift.measures.divergences import total_variation
from alphalift.regions.base import Budgeted


@dataclass(frozen=True)
class TotalVariation(Budgeted):
    """(1/2) sum_s |P(s|y) - P(s)| <= epsilon for every y: no event becomes more than epsilon likelier.

    Strong l1-privacy with the bound 2 epsilon of A. Zamani, T. J. Oechtering, M. Skoglund, "Data disclosure with
    non-zero leakage and non-invertible leakage matrix", 2022.
    """

    neutral: ClassVar[float] = 0.0

    @property
    def budget(self) -> float:
        return self.epsilon

    def value(self, lifts: Array, p_s: Array) -> Array:
        return total_variation(lifts, p_s)

    def support(self, directions: Array, p_s: Array) -> Array:
        """E w + epsilon (max w - min w): move epsilon of mass from the least w to the largest."""
        return np.asarray(directions @ p_s + self.epsilon * np.ptp(directions, axis=-1))

    def part(self, p_s: Array) -> Part:
        """With slacks t_s >= 0: P(s|y) - t_s <= P(s) and sum t <= epsilon, instead of a half-space for every event."""
        size, epsilon = len(p_s), min(self.epsilon, 1.0)
        directions = np.vstack([np.eye(size), np.zeros(size)])
        slacks = np.hstack([-np.eye(size), np.ones((size, 1))])
        return Part(
            HALF_SPACES, np.append(p_s, epsilon), directions, slacks, np.full(size, epsilon), idle=self.epsilon >= 1
        )
