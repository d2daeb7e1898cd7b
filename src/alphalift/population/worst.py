"""The largest value of a promise when every lift is known to lie between two ends.

Values are convex in the lifts, so the largest is at ends; which ones depends on the promise. A norm is the mean of l^a - l, of
each lift alone, since E l = 1; distances from l = 1 rise outwards; ratios have one lift low and the others high. A few rows of
ends cover all of them.
"""

from __future__ import annotations

import math

import numpy as np

from alphalift.arrays import Array
from alphalift.regions import AlphaLift, Region, Renyi


def worst_values(region: Region, low: Array, high: Array, p_s: Array) -> Array:
    """At least the value of every lift vector with mean 1 within [low, high], (count, |S|): (count,).

    P_S is one for all rows, (|S|,), or one for each, (count, |S|).
    """
    if high.shape[1] == 1:  # of one secret, whose mean is its lift
        low = high = np.ones_like(high)
    rows = _rows_of_ends(region, low, high)
    priors = p_s if p_s.ndim == 1 else np.tile(p_s, (len(rows), 1))
    values = region.value(np.concatenate(rows), priors).reshape(len(rows), len(high))
    return np.asarray(np.nan_to_num(values, nan=np.inf).max(axis=0))


def worst_of_draws(region: Region, low: Array, high: Array, p_s: Array) -> Array:
    """The same for lifts of many draws, (draws, count, |S|), each with its own P_S, (draws, |S|): (draws, count)."""
    draws, count, secrets = high.shape
    low, high, p_s = low.reshape(-1, secrets), high.reshape(-1, secrets), np.repeat(p_s, count, axis=0)
    return worst_values(region, low, high, p_s).reshape(draws, count)


def _rows_of_ends(region: Region, low: Array, high: Array) -> list[Array]:
    if isinstance(region, AlphaLift | Renyi):
        order = region.alpha if isinstance(region, AlphaLift) else region.order
        return [high] if math.isinf(order) or (high >= 1).all() else [high, _ends_of_power(low, high, order)]
    rows = [high, low, np.where(high - 1 >= 1 - low, high, low)]
    for s in range(high.shape[1]):
        one_low = high.copy()
        one_low[:, s] = low[:, s]
        rows.append(one_low)
    return rows


def _ends_of_power(low: Array, high: Array, order: float) -> Array:
    """Of each lift the end with the larger l^order - l: from 1 on it rises; below, it falls at first."""
    below = np.minimum(high, 1.0)
    with np.errstate(divide="ignore"):
        at_high, at_low = (end * np.expm1((order - 1) * np.log(end)) for end in (below, np.minimum(low, 1.0)))
    return np.where((high >= 1) | (at_high >= at_low), high, low)
