"""The largest value of a promise when every lift is known to lie between two ends.

Values are convex in the lifts, so the largest is at ends; which ones depends on the promise. Norms rise with every lift;
distances from l = 1 rise outwards; ratios have one lift low and the others high. A few rows of ends cover all of them.
"""

from __future__ import annotations

import numpy as np

from alphalift.arrays import Array
from alphalift.regions import Region


def worst_values(region: Region, low: Array, high: Array, p_s: Array) -> Array:
    """At least the value of every lift vector within [low, high], (count, |S|): (count,)."""
    count, size = high.shape
    rows = [high, low, np.where(high - 1 >= 1 - low, high, low)]
    for s in range(size):
        one_low = high.copy()
        one_low[:, s] = low[:, s]
        rows.append(one_low)
    values = region.value(np.concatenate(rows), p_s).reshape(len(rows), count)
    return np.asarray(np.nan_to_num(values, nan=np.inf).max(axis=0))
