"""Renyi divergence of the secret's posterior from its prior: alpha-lift on another scale (Remark 1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from alphalift.arrays import Array
from alphalift.convex import Constraint
from alphalift.measures.lift import alpha_over
from alphalift.measures.renyi import renyi_divergences
from alphalift.regions.alpha_lift import norm_ball, norm_support
from alphalift.regions.base import (
    Region,
    budget_parameter,
    excess,
    exponential,
    less,
    logarithm,
    order_parameter,
)


@dataclass(frozen=True)
class Renyi(Region):
    """D_order(P(S|y) || P_S) <= epsilon for every y; D_a = a/(a-1) log of alpha-lift at alpha = a. order in (1, inf].

    A. Renyi, "On measures of entropy and information", 1961; the paper's Remark 1.
    """

    symmetric = True
    order: float
    epsilon: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", order_parameter("order", self.order))
        object.__setattr__(self, "epsilon", budget_parameter("epsilon", self.epsilon))

    @property
    def budget(self) -> float:
        return exponential(self.epsilon)

    @property
    def perfect(self) -> bool:
        return self.epsilon == 0

    def value(self, lifts: Array, p_s: Array) -> Array:
        """e^D, a power of alpha-lift."""
        return np.exp(renyi_divergences(lifts, p_s, self.order))

    @property
    def _norm(self) -> float:
        """The same bound on alpha-lift."""
        return exponential(self.epsilon / alpha_over(self.order))

    def support(self, directions: Array, p_s: Array) -> Array:
        return norm_support(self._norm, self.order, directions, p_s)

    def constraint(self, p_s: Array) -> Constraint:
        return norm_ball(self._norm, excess(self.epsilon / alpha_over(self.order)), self.order, p_s)

    def as_epsilon(self, value: float) -> float:
        return logarithm(value)

    def tightened(self, nats: float) -> Region:
        return Renyi(self.order, less(self.epsilon, nats))
