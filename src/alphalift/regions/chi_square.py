"""Strong chi-square privacy: the lifts have a small variance. It is alpha-lift at alpha = 2."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from alphalift.arrays import Array
from alphalift.convex import Constraint
from alphalift.measures.divergences import chi_square
from alphalift.regions.alpha_lift import norm_ball
from alphalift.regions.base import Budgeted


@dataclass(frozen=True)
class ChiSquare(Budgeted):
    """E_S (l - 1)^2 <= epsilon^2 for every y; E l^2 = 1 + E (l - 1)^2, so this is alpha = 2 at sqrt(1 + epsilon^2).

    A. Zamani, T. J. Oechtering, M. Skoglund, "A design framework for strongly chi^2-private data disclosure", 2021.
    """

    symmetric = True

    @property
    def budget(self) -> float:
        return self.epsilon

    def value(self, lifts: Array, p_s: Array) -> Array:
        return chi_square(lifts, p_s)

    def support(self, directions: Array, p_s: Array) -> Array:
        """E w + epsilon sd(w) (Cauchy and Schwarz)."""
        mean = directions @ p_s
        return np.asarray(mean + self.epsilon * np.sqrt((directions - mean[..., None]) ** 2 @ p_s))

    def constraint(self, p_s: Array) -> Constraint:
        t = math.hypot(1.0, self.epsilon)
        return norm_ball(t, self.epsilon**2 / (1 + t), 2.0, p_s)
