"""Intervals for all lifts at once, which hold for any number of records."""

from __future__ import annotations

import numpy as np
from scipy.special import betaincinv

from alphalift.arrays import Array
from alphalift.audit.counted import Counts


def lift_intervals(counts: Counts, level: float) -> tuple[Array, Array]:
    """Ends of l(s, y), (|S|, |Y|) each: all of them hold together, except with probability `level` at most.

    l = 1 / (p + (1 - p) b / a), where a = P(y|s), b = P(y|not s) and p = P(s) each have the exact interval of Clopper and Pearson, at a
    level that all 2 |S| |Y| + |S| of them share. Of one secret, which then is certain, it is 1.
    """
    secrets, outputs = counts.shape
    if secrets == 1:
        return np.ones(counts.shape), np.ones(counts.shape)
    each = level / (2 * secrets * outputs + secrets)
    n_s, total = counts.sum(axis=1, keepdims=True), counts.sum()
    a = _clopper_pearson(counts, n_s, each)
    b = _clopper_pearson(counts.sum(axis=0) - counts, total - n_s, each)
    p = _clopper_pearson(n_s, total, each)
    corners = [_lift(one, other, share) for one, other in ((a[0], b[1]), (a[1], b[0])) for share in p]
    return np.minimum(*corners[:2]), np.maximum(*corners[2:])


def _lift(a: Array, b: Array, p: Array) -> Array:
    mean = p * a + (1 - p) * b
    return np.asarray(np.divide(a, mean, out=np.ones_like(mean), where=mean > 0))


def _clopper_pearson(successes: Counts, trials: Counts, level: float) -> tuple[Array, Array]:
    """Both ends of the probability of a success; 0 and 1 where there was no, or no other, trial."""
    failures = trials - successes
    low = betaincinv(np.maximum(successes, 1), failures + 1, level / 2)
    high = betaincinv(successes + 1, np.maximum(failures, 1), 1 - level / 2)
    return np.where(successes > 0, low, 0.0), np.where(failures > 0, high, 1.0)
