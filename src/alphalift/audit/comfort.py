"""Whether samples show that a promise is kept: every output by itself has to (an intersection-union test).

To say so wrongly, one fixed output must be above its budget and be bounded below it all the same. That is as likely as one bound is
to fail, however many outputs there are: their number needs no correction.
"""

from __future__ import annotations

import numpy as np

from alphalift.arrays import Array
from alphalift.audit.counted import Counts
from alphalift.population.posterior import drawn
from alphalift.population.worst import worst_of_draws
from alphalift.regions import Region

_DRAWS = 1000


def values_seen(counts: Counts, promise: Region) -> Array:
    """The promise's value at every output, for the records as they are, (|Y|,)."""
    lifts, p_s = _lifts_seen(counts)
    return np.asarray(promise.value(lifts, p_s))


def most_telling(counts: Counts, promise: Region, output: int) -> int:
    """The secret whose lift makes most of the value that was seen at this output: that with the least value if it were 1."""
    lifts, p_s = _lifts_seen(counts)
    others = np.where(np.eye(len(p_s)) > 0, 1.0, lifts[output])
    # Where several lifts make the value by themselves, that which is farthest from 1.
    return int(np.lexsort((-np.abs(lifts[output] - 1), promise.value(others, p_s)))[0])


def _lifts_seen(counts: Counts) -> tuple[Array, Array]:
    """Lifts among the records, (|Y|, |S|), and P_S."""
    p_s, p_y = counts.sum(axis=1) / counts.sum(), counts.sum(axis=0) / counts.sum()
    return np.asarray((counts / counts.sum() / np.outer(p_s, p_y)).T), p_s


def values_at_most(counts: Counts, promise: Region, level: float, generator: np.random.Generator) -> Array:
    """For every output a bound on the promise's value, each too small with probability `level` at most, (|Y|,).

    By draws of what the counts, (|S|, |Y|), may have come from, with a further record for every secret where it hurts most; at least
    what was seen.
    """
    draws = drawn(counts.astype(np.float64), np.eye(counts.shape[1]), _DRAWS, generator)
    bounds = np.concatenate([worst_of_draws(promise, own.low, own.high, own.p_s) for own in draws])
    return np.maximum(np.quantile(bounds, 1 - level, axis=0, method="higher"), values_seen(counts, promise))
