"""alpha-lift at most e^epsilon for every released value: the paper's Definition 2."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from alphalift.arrays import Array
from alphalift.convex import HALF_SPACES, NORM_BALL, Constraint
from alphalift.measures.lift import alpha_over, log_alpha_lifts
from alphalift.regions.base import (
    Region,
    budget_parameter,
    excess,
    exponential,
    less,
    logarithm,
    order_parameter,
)
from alphalift.regions.deviations import near_half_spaces, near_norm_ball
from alphalift.regions.inverses import of_capped, of_idle

# What the lifts of perfect privacy may exceed 1 by in the kernels before their set is widened: less than any joint notices.
_INTERIOR = 1e-12


def norm_ball(t: float, excess: float, alpha: float, p_s: Array) -> Constraint:
    """(E l^alpha)^(1/alpha) <= t = 1 + excess: for w >= 0, sum_s w_s P(s|y) is at most t (E w^a)^(1/a), 1/a + 1/alpha = 1 (Hoelder)."""
    near = near_half_spaces(excess, p_s) if math.isinf(alpha) else near_norm_ball(excess, alpha, p_s)
    if near is not None:
        return near
    # Beyond what certainty about a secret has, the bound says nothing, and its size would only disturb the kernels.
    eye = np.eye(len(p_s))
    if math.isinf(alpha):
        return Constraint(HALF_SPACES, np.minimum(t * p_s, 1.0), eye, inverse=of_capped(eye, t * p_s >= 1.0))
    largest = float(p_s.min()) ** (1 / alpha - 1)
    parameters = np.array([min(t, largest), alpha_over(alpha), *p_s])
    return Constraint(NORM_BALL, parameters, eye, inverse=of_idle(p_s) if t >= largest else None)


def norm_support(t: float, alpha: float, directions: Array, p_s: Array) -> Array:
    """The same bound for any w: w+ = max(w, 0) suffices because lifts are not negative."""
    positive = np.maximum(directions, 0.0)
    largest = positive.max(axis=-1)
    scaled = positive / np.where(largest > 0, largest, 1.0)[..., None]
    conjugate = alpha_over(alpha)
    return np.asarray(t * largest * (scaled**conjugate @ p_s) ** (1 / conjugate))


@dataclass(frozen=True, eq=False)
class AlphaLift(Region):
    """(E_S l^alpha)^(1/alpha) <= e^epsilon for every y, alpha in (1, inf], epsilon >= 0 in nats.

    Paper: Definitions 1-2. A group with prior share p has a lift of at most e^epsilon p^(-1/alpha);
    only at alpha = inf is that e^epsilon.
    """

    symmetric = True
    alpha: float
    epsilon: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", order_parameter("alpha", self.alpha))
        object.__setattr__(self, "epsilon", budget_parameter("epsilon", self.epsilon))

    # Written out so that MaxLift(e) equals AlphaLift(inf, e): it is the same promise.
    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AlphaLift):
            return NotImplemented
        same_secret = type(self).about is type(other).about
        return same_secret and (self.alpha, self.epsilon) == (other.alpha, other.epsilon)

    def __hash__(self) -> int:
        return hash((type(self).about, self.alpha, self.epsilon))

    @property
    def budget(self) -> float:
        return exponential(self.epsilon)

    @property
    def perfect(self) -> bool:
        return self.epsilon == 0

    def value(self, lifts: Array, p_s: Array) -> Array:
        """alpha-lift, convex in the lift by Minkowski's inequality (Proposition 1)."""
        return np.exp(log_alpha_lifts(lifts, p_s, self.alpha))

    def support(self, directions: Array, p_s: Array) -> Array:
        return norm_support(self.budget, self.alpha, directions, p_s)

    def constraint(self, p_s: Array) -> Constraint:
        # At epsilon = 0 the set has no interior; one that is barely larger has, and bounds it.
        if self.perfect:
            return norm_ball(1 + _INTERIOR, _INTERIOR, self.alpha, p_s)
        return norm_ball(self.budget, excess(self.epsilon), self.alpha, p_s)

    def as_epsilon(self, value: float) -> float:
        return logarithm(value)

    def tightened(self, nats: float) -> Region:
        return AlphaLift(self.alpha, less(self.epsilon, nats))

    @property
    def largest_lift(self) -> float | None:
        return self.budget if math.isinf(self.alpha) else None
