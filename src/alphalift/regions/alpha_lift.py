"""alpha-lift at most e^epsilon for every released value: the paper's Definition 2."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from alphalift.compiled import SUPPORT, compile_once
from alphalift.errors import PromiseError
from alphalift.exact import Array, Number, to_float
from alphalift.measures.lift import alpha_over, check_alpha, log_alpha_lifts
from alphalift.regions.base import Region

_LARGEST_EXPONENT = 700.0


def parameter(name: str, value: Number, *, upwards: bool) -> float:
    """A promise's parameter as a float, rounded to the side that makes the promise stronger."""
    try:
        return to_float(value, upwards=upwards)
    except (ValueError, TypeError) as error:
        raise PromiseError(f"{name} is {error}") from None


def _norm_support(w: Array, parameters: Array, gradient: Array, hessian: Array) -> float:
    """t (E w^a)^(1/a) and its derivatives; parameters are t, a and P_S. Compiled; a = 1 makes it linear."""
    t, a, p_s = parameters[0], parameters[1], parameters[2:]
    size = len(w)
    largest = w.max()
    if not largest > 0.0:
        return 0.0
    mean = 0.0
    for s in range(size):
        mean += p_s[s] * (w[s] / largest) ** a
    norm = largest * mean ** (1.0 / a)
    if len(gradient):
        for s in range(size):
            gradient[s] = t * p_s[s] * (w[s] / norm) ** (a - 1.0)
        for s in range(size):
            for other in range(s + 1):
                hessian[s, other] = -(a - 1.0) / (t * norm) * gradient[s] * gradient[other]
            hessian[s, s] += (a - 1.0) * gradient[s] / w[s]
    return float(t * norm)


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
        # Beyond the largest float every lift of a float table is within the budget.
        return math.exp(min(self.epsilon, _LARGEST_EXPONENT))

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
    def simplest(self) -> AlphaLift:
        # Perfect privacy is l = 1 for every alpha, and linear at alpha = inf.
        return self if self.epsilon > 0 else AlphaLift(math.inf, 0)

    def tightened(self, nats: float) -> AlphaLift:
        return AlphaLift(self.alpha, self.epsilon - min(nats, 1e-3 * self.epsilon))

    def compiled_support(self, p_s: Array) -> tuple[Any, Array]:
        # At epsilon = 0 the set has no interior; one that is barely larger has, and bounds it.
        t = self.budget if self.epsilon > 0 else 1 + 1e-7
        return compile_once(_norm_support, SUPPORT), np.array([t, alpha_over(self.alpha), *p_s])

    @property
    def largest_lift(self) -> float | None:
        return self.budget if math.isinf(self.alpha) else None
