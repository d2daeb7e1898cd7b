"""Tiny curved budgets, for columns: a ball of lifts inside of the promise, which floats can tell from its outside.

A lift that is 1e-6 from 1 is known to ten digits, but its alpha-lift or divergence, 1 + 1e-12 or 1e-12, to hardly any: whether it is
within e^(1e-13) cannot be seen there. The standard deviation of the lift has the digits that the lift has.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from alphalift.arrays import Array
from alphalift.measures.lift import alpha_over
from alphalift.regions.alpha_lift import AlphaLift
from alphalift.regions.base import Intersection, Region, excess
from alphalift.regions.chi_square import ChiSquare
from alphalift.regions.deviations import mean_curvature
from alphalift.regions.kl import KL
from alphalift.regions.renyi import Renyi

# What floats forgive, 1e-12, is a share of such a budget that would be seen; larger ones need no ball.
_ILLEGIBLE = 1e-9


def legible(region: Region, p_s: Array) -> Region:
    """A region within this one whose value tells its inside from its outside: itself, but for tiny curved budgets."""
    if isinstance(region, Intersection):
        return Intersection(*(legible(part, p_s) for part in region.promises))
    if isinstance(region, AlphaLift) and math.isfinite(region.alpha):
        return _in_norm_ball(region, excess(region.epsilon), region.alpha, p_s)
    if isinstance(region, Renyi) and math.isfinite(region.order):
        return _in_norm_ball(region, excess(region.epsilon / alpha_over(region.order)), region.order, p_s)
    if isinstance(region, KL):
        # (1 + d) log(1 + d) = d + kappa d^2 / 2 at most.
        return _ball(region, region.epsilon, region.epsilon, lambda x: 1 / (1 + x), p_s)
    return region


def _in_norm_ball(region: Region, room: float, alpha: float, p_s: Array) -> Region:
    """(1 + d)^alpha = 1 + alpha d + kappa alpha (alpha - 1) d^2 / 2 at most, and (1 + room)^alpha >= 1 + alpha room."""
    return _ball(region, room, room / (alpha - 1), lambda x: (1 + x) ** (alpha - 2), p_s)


def _ball(region: Region, budget: float, half_square: float, curvature: Callable[[float], float], p_s: Array) -> Region:
    """E d^2 <= 2 half_square / kappa, d = l - 1: kappa is the largest mean curvature that a lift in the ball can meet."""
    if not 0 < budget <= _ILLEGIBLE:
        return region
    farthest = math.sqrt(2 * half_square / float(p_s.min()))
    if farthest >= 0.5:  # alpha so near to 1 that the ball is no small one
        return region
    kappa = max(mean_curvature(curvature, end) for end in (-farthest, farthest))
    return ChiSquare(math.sqrt(2 * half_square / max(kappa, 1.0)))
