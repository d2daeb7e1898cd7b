"""Tiny budgets, for kernels: constraints on how far P(S|y) lies from P(S), as a multiple of how far it may.

So near to the prior a curved promise is a ball of lifts around 1, and written in the lifts themselves any promise would be
lost in their digits. The moments are m = (q - P(S)) / scale, q = P(S|y); with multipliers u, v = (u - E u) / scale has
v.q = u.m and E v = 0. "Tiny budgets" in docs/theory.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from alphalift.arrays import Array
from alphalift.convex import HALF_SPACES, SPHERE, ComponentDual, Constraint

# Below it linear promises are written in deviations: far from where lifts have lost their digits.
_TINY = 1e-4
# By how much the ball may be wider than the promise, in standard deviations of the lift: far less than a utility shows.
_WIDER = 3e-6
# alpha - 1 cancels: nearer to 1 its error, and the ball's, is more than the rounding that is added to a mean curvature.
_LEAST_ORDER, _ROUNDING = 1e-6, 1e-9


def directions(p_s: Array, scale: float) -> Array:
    """Of the moments (q - P(S)) / scale, as sum q = 1."""
    return np.asarray((np.eye(len(p_s)) - p_s[:, None]) / scale)


def is_tiny(budget: float) -> bool:
    return 0 < budget < _TINY


def near_half_spaces(excess: float, p_s: Array, shortfall: float | None = None) -> Constraint | None:
    """l <= 1 + excess, and l >= 1 - shortfall if there is one, for every secret; none where the excess is not tiny."""
    if not is_tiny(excess):
        return None
    above, sides = directions(p_s, excess), p_s
    if shortfall is not None:
        above, sides = np.concatenate([above, -above]), np.concatenate([p_s, shortfall / excess * p_s])

    def inverse(multipliers: Array) -> ComponentDual:
        # w = v + E w, whose E w nu gets back: each w_s then costs no more than what its half-space says.
        u = multipliers if shortfall is None else multipliers[: len(p_s)] - multipliers[len(p_s) :]
        return ComponentDual(u / excess, shift=-float(u @ p_s) / excess)

    return Constraint(HALF_SPACES, sides, above, inverse=inverse, centred=True)


def near_norm_ball(excess: float, alpha: float, p_s: Array) -> Constraint | None:
    """(E l^alpha)^(1/alpha) <= 1 + excess, for a finite alpha; none where the ball around 1 is too far from it.

    With 1/a + 1/alpha = 1, C > 0 and |v| <= rho C, E (1 + v/C)^a <= 1 + a (a - 1) kappa E v^2 / 2 C^2. What that leaves of
    sigma(v + C) - C is convex in C, and least at `centre` sd(v).
    """
    rho = math.sqrt(2 * excess * (alpha - 1) / p_s.min())
    if not excess > 0 or rho >= 1 or alpha < 1 + _LEAST_ORDER:
        return None
    power = 1 / (alpha - 1) - 1  # a - 2
    kappa = max(mean_curvature(lambda x: (1 + x) ** power, end) for end in (-rho, rho))
    centre = math.sqrt((1 + excess) * kappa / (2 * (alpha - 1) * excess))

    def inverse(v: Array, deviation: float) -> ComponentDual:
        return ComponentDual(v + centre * deviation, shift=-centre * deviation)

    return _ball(2 * excess * centre, kappa - 1 + excess + excess / (alpha - 1), p_s, inverse)


def near_divergence_ball(epsilon: float, p_s: Array) -> Constraint | None:
    """E l log l <= epsilon, in the same way: b (epsilon + log E e^(v/b)) <= b epsilon + kappa E v^2 / 2b if |v| <= rho b."""
    rho = math.sqrt(2 * epsilon / p_s.min())
    if not epsilon > 0 or rho >= 1:
        return None
    kappa = mean_curvature(math.exp, rho)
    temperature = math.sqrt(kappa / (2 * epsilon))

    def inverse(v: Array, deviation: float) -> ComponentDual:
        return ComponentDual(v, (temperature * deviation,))

    return _ball(2 * epsilon * temperature, kappa - 1 + epsilon, p_s, inverse)


def mean_curvature(curvature: Callable[[float], float], end: float) -> float:
    """At least 2 (f(x) - f(0) - f'(0) x) / (f''(0) x^2) at x = `end`, from f''(x) / f''(0), which is convex or concave.

    It is the mean of that curvature over [0, x] with a density that falls linearly to 0, whose own mean is x / 3.
    """
    return max((2 + curvature(end)) / 3, curvature(end / 3)) + _ROUNDING


def _ball(
    radius: float, looseness: float, p_s: Array, inverse: Callable[[Array, float], ComponentDual]
) -> Constraint | None:
    """E (l - 1)^2 <= radius^2, none if it is too wide: its square by this share."""
    if radius * looseness / 2 > _WIDER:
        return None

    def of_moments(multipliers: Array) -> ComponentDual:
        v = (multipliers - multipliers @ p_s) / radius
        return inverse(v, math.sqrt(v**2 @ p_s))

    return Constraint(SPHERE, np.array([1.0, *p_s]), directions(p_s, radius), inverse=of_moments, centred=True)
