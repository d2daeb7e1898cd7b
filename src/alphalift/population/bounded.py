"""Intervals for means that are known to lie between two ends, such as shares: of nominal coverage, within the ends, never empty.

Feldman and Cousins' (1998): a mean is in the interval if what was found is among the likeliest outcomes that it has, likeliest beside
the best mean within the ends. Far from the ends that is the usual interval; cut off at them, that one would be empty by chance. The variance
goes with the mean as in Wilson's interval for a share: what is rare was found too rarely together with too small a variance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from alphalift.arrays import Array

# Of the way to an end: enough for nine digits.
_HALVINGS = 30
# A variance is at least this share of the squared way between the ends: zero would be certainty.
_LEAST_VARIANCE = 1e-24


@dataclass(frozen=True, eq=False)
class Found:
    """Means as n outcomes tell them, each with its variance there, by how much that rises with the mean, and its ends: (count,)."""

    mean: Array
    variance: Array
    slope: Array
    least: Array
    most: Array

    def deviation(self, mean: Array) -> Array:
        """The standard error if this is the mean."""
        floor = _LEAST_VARIANCE * (self.most - self.least) ** 2
        return np.asarray(np.sqrt(np.maximum(self.variance + self.slope * (mean - self.mean), floor)))


def intervals(found: Found, confidence: float) -> tuple[Array, Array]:
    """The least and the largest means that are not refuted, (count,) each."""
    best = np.clip(found.mean, found.least, found.most)
    return _end(found, best, found.least, confidence), _end(found, best, found.most, confidence)


def _end(found: Found, best: Array, end: Array, confidence: float) -> Array:
    """Between the best mean, which is not refuted, and an end: the farthest that is not."""
    kept, refuted = best.copy(), end.copy()
    whole = _is_kept(found, end, confidence)
    for _ in range(_HALVINGS):
        middle = (kept + refuted) / 2
        inside = _is_kept(found, middle, confidence)
        kept, refuted = np.where(inside, middle, kept), np.where(inside, refuted, middle)
    return np.where(whole, end, kept)


def _is_kept(found: Found, mean: Array, confidence: float) -> Array:
    """Whether outcomes with a smaller likelihood ratio than this one have at most so much probability, if this is the mean."""
    deviation = found.deviation(mean)
    outcome = (found.mean - mean) / deviation
    below, above = (mean - found.least) / deviation, (found.most - mean) / deviation
    ratio = outcome**2 - (outcome - np.clip(outcome, -below, above)) ** 2
    return np.asarray(ndtr(_reach(ratio, above)) - ndtr(-_reach(ratio, below)) <= confidence)


def _reach(ratio: Array, room: Array) -> Array:
    """How many standard errors from the mean the ratio (twice its logarithm) is reached; beyond the end it rises as a line."""
    with np.errstate(divide="ignore", invalid="ignore"):
        beyond = np.where(room > 0, (room + ratio / room) / 2, np.inf)
    return np.where(np.sqrt(ratio) <= room, np.sqrt(ratio), beyond)
