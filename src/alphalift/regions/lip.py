"""Local information privacy: no secret becomes much likelier, and none much less likely."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from alphalift.arrays import Array
from alphalift.convex import HALF_SPACES, Constraint
from alphalift.errors import PromiseError
from alphalift.exact import Number
from alphalift.regions.base import LARGEST_EXPONENT, Region, budget_parameter, excess, exponential, less, logarithm
from alphalift.regions.deviations import is_tiny, near_half_spaces
from alphalift.regions.inverses import of_capped


@dataclass(frozen=True, init=False)
class LIP(Region):
    """e^-lower <= l(s, y) <= e^upper for every s and y; `LIP(epsilon)` has both equal.

    F. du Pin Calmon, N. Fawaz, "Privacy against statistical inference", 2012; asymmetric: M. A. Zarrabian, N. Ding,
    P. Sadeghi, "On the lift, related privacy measures, and applications to privacy-utility trade-offs", 2023.
    """

    symmetric = True
    lower: float
    upper: float

    def __init__(
        self, epsilon: Number | None = None, *, lower: Number | None = None, upper: Number | None = None
    ) -> None:
        if (epsilon is None) == (lower is None and upper is None) or (lower is None) != (upper is None):
            raise PromiseError("LIP takes one epsilon for both sides, or lower= and upper=")
        for name, own in (("lower", lower), ("upper", upper)):
            number = budget_parameter("epsilon" if own is None else name, epsilon if own is None else own)  # type: ignore[arg-type]
            object.__setattr__(self, name, number)

    def __repr__(self) -> str:
        if self.lower == self.upper:
            return f"LIP(epsilon={self.lower})"
        return f"LIP(lower={self.lower}, upper={self.upper})"

    @property
    def budget(self) -> float:
        return exponential(self.upper)

    @property
    def perfect(self) -> bool:
        return min(self.lower, self.upper) == 0

    def value(self, lifts: Array, p_s: Array) -> Array:
        """The largest of l and e^(upper - lower) / l, both convex."""
        least = lifts.min(axis=-1)
        with np.errstate(over="ignore"):
            # e^upper as the budget has it, so that a huge one leaves the lower end as it is.
            falls = math.exp(min(self.upper, LARGEST_EXPONENT) - self.lower) / np.where(least > 0, least, 1.0)
        return np.asarray(np.maximum(lifts.max(axis=-1), np.where(least > 0, falls, np.inf)))

    def support(self, directions: Array, p_s: Array) -> Array:
        """e^upper E w+ - e^-lower E w-: every lift at the end that its w asks for."""
        high, low = self.budget * np.maximum(directions, 0.0), math.exp(-self.lower) * np.minimum(directions, 0.0)
        return np.asarray((high + low) @ p_s)

    def constraint(self, p_s: Array) -> Constraint:
        near = near_half_spaces(excess(self.upper), p_s, -math.expm1(-self.lower))
        if near is not None and is_tiny(self.lower):
            return near
        least = math.exp(-self.lower)
        # What the others must have is not left for one; beyond that the upper half says nothing.
        left = p_s - math.expm1(-self.lower) * (1 - p_s)  # 1 - least (1 - p_s), without cancellation
        sides = np.concatenate([np.minimum(self.budget * p_s, left), -least * p_s])
        capped = np.append(self.budget * p_s >= left, np.zeros(len(p_s), np.bool_))
        directions = np.concatenate([np.eye(len(p_s)), -np.eye(len(p_s))])
        return Constraint(HALF_SPACES, sides, directions, inverse=of_capped(directions, capped))

    def as_epsilon(self, value: float) -> float:
        return logarithm(value)

    def tightened(self, nats: float) -> Region:
        return LIP(lower=less(self.lower, nats), upper=less(self.upper, nats))
