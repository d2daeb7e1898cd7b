"""alpha-lift at most e^epsilon for every released value: the paper's Definition 2."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from alphalift.errors import PromiseError
from alphalift.exact import Array, Number, to_float
from alphalift.measures.lift import alpha_over, check_alpha, log_alpha_lifts
from alphalift.regions.base import Region


def parameter(name: str, value: Number, *, upwards: bool) -> float:
    """A promise's parameter as a float, rounded to the side that makes the promise stronger."""
    try:
        return to_float(value, upwards=upwards)
    except (ValueError, TypeError) as error:
        raise PromiseError(f"{name} is {error}") from None


@dataclass(frozen=True, eq=False)
class AlphaLift(Region):
    """(E_S l^alpha)^(1/alpha) <= e^epsilon for every y, alpha in (1, inf], epsilon >= 0 in nats.

    Paper: Definitions 1-2. For a group with prior share p this allows a lift of e^epsilon p^(-1/alpha);
    only at alpha = inf is that e^epsilon.
    """

    alpha: float
    epsilon: float

    def __post_init__(self) -> None:
        alpha = parameter("alpha", self.alpha, upwards=True)
        epsilon = parameter("epsilon", self.epsilon, upwards=False)
        check_alpha(alpha)
        if not 0 <= epsilon < math.inf:
            raise PromiseError(f"epsilon is {epsilon:g}, expected a finite number of nats, 0 or more")
        object.__setattr__(self, "alpha", alpha)
        object.__setattr__(self, "epsilon", epsilon)

    # Written out so that MaxLift(e) equals AlphaLift(inf, e): it is the same promise.
    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AlphaLift):
            return NotImplemented
        return (self.alpha, self.epsilon) == (other.alpha, other.epsilon)

    def __hash__(self) -> int:
        return hash((AlphaLift, self.alpha, self.epsilon))

    @property
    def budget(self) -> float:
        return math.exp(self.epsilon)

    def value(self, lifts: Array, p_s: Array) -> Array:
        """alpha-lift, convex in the lift by Minkowski's inequality (Proposition 1)."""
        return np.exp(log_alpha_lifts(lifts, p_s, self.alpha))

    def support(self, directions: Array, p_s: Array) -> Array:
        """e^eps (E w+^a)^(1/a) with 1/alpha + 1/a = 1 (Hoelder); w+ suffices because lifts are not negative."""
        positive = np.maximum(directions, 0.0)
        largest = positive.max(axis=-1)
        scaled = positive / np.where(largest > 0, largest, 1.0)[..., None]
        conjugate = alpha_over(self.alpha)
        return np.asarray(self.budget * largest * (scaled**conjugate @ p_s) ** (1 / conjugate))

    @property
    def largest_lift(self) -> float | None:
        return self.budget if math.isinf(self.alpha) else None
