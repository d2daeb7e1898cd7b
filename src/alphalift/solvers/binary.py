"""Two secrets: the extreme posteriors are a finite list, for every region."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from alphalift.exact import Array
from alphalift.joint import Joint
from alphalift.regions import Region
from alphalift.utilities import Utility

_HALVINGS = 200
_PAIRS_KEPT = 2


@dataclass(frozen=True, eq=False)
class _Level:
    """All pairs (x, x') whose mixture reaches one end of the region, and the mixtures' uncertainty.

    below, above: symbols on either side; share: weight of the symbol above; cost: uncertainty; the last two
    are (below, above).
    """

    below: NDArray[np.intp]
    above: NDArray[np.intp]
    share: Array
    cost: Array


@dataclass(frozen=True, eq=False)
class BinaryPosteriors:
    """All extreme points of the allowed posteriors of X when there are two secrets.

    The lift of the first secret is then a number, and the region an interval of it. An extreme posterior is a
    single symbol inside the interval, or a pair of symbols mixed so that it lands on an end (support at most
    |S| = 2, on the boundary). Pairs are priced in one sweep over all of them.
    """

    deviation: Array
    ends: tuple[float, float]
    singles: NDArray[np.intp]
    levels: tuple[_Level, ...]
    size: int
    single_cost: float

    @classmethod
    def of(cls, joint: Joint, region: Region, utility: Utility) -> BinaryPosteriors:
        deviation = joint.lift_deviation[0]
        ends = _interval(joint, region)
        inside = (deviation >= ends[0]) & (deviation <= ends[1])
        single = np.zeros((1, len(deviation)))
        single[0, 0] = 1.0
        levels = tuple(_level(deviation, end, utility) for end in ends)
        return cls(
            deviation, ends, np.flatnonzero(inside), levels, len(deviation), float(utility.uncertainty(single)[0])
        )

    def first_mixture(self, p_x: Array) -> Array:
        """Posteriors that mix to P_X by themselves, found greedily: symbols from far below meet those far above."""
        masses, points = p_x.copy(), []
        low, high = self.ends
        order = np.argsort(self.deviation)
        below = [x for x in order if self.deviation[x] < low]
        above = [x for x in order[::-1] if self.deviation[x] > high]
        rising = [x for x in order if low <= self.deviation[x] <= high]
        while below or above:
            lack = sum(masses[x] * (low - self.deviation[x]) for x in below[:1])
            surplus = sum(masses[x] * (self.deviation[x] - high) for x in above[:1])
            level = low if lack >= surplus else high
            one, other = (below or rising), (above or rising[::-1])
            if not one or not other:
                break
            x, y = one[0], other[0]
            share = (level - self.deviation[x]) / (self.deviation[y] - self.deviation[x])
            used = min(masses[x] / (1 - share), masses[y] / share)
            point = np.zeros(self.size)
            point[x], point[y] = 1 - share, share
            points.append(point)
            masses[[x, y]] -= used * point[[x, y]]
            gone = x if masses[x] <= masses[y] * 1e-12 or masses[x] <= 1e-15 else y
            for group in (below, above, rising):
                if gone in group:
                    group.remove(gone)
        return np.concatenate([np.array(points).reshape(-1, self.size), np.eye(self.size)[self.singles]])

    def cheapest(self, prices: Array) -> tuple[float, Array]:
        """The least uncertainty - prices.V over the whole list, and every symbol's best posteriors below zero."""
        single = self.single_cost - prices[self.singles]
        lowest = float(single.min(initial=np.inf))
        chosen = [np.eye(self.size)[self.singles[single < 0]]]
        for level in self.levels:
            if not level.cost.size:
                continue
            # cost - (1 - share) price_below - share price_above
            reduced = level.cost - prices[level.below][:, None]
            reduced -= level.share * (prices[level.above][None] - prices[level.below][:, None])
            lowest = min(lowest, float(reduced.min()))
            chosen.append(self._best(level, reduced))
        return lowest, np.concatenate(chosen)

    def _best(self, level: _Level, reduced: Array) -> Array:
        """The cheapest pairs of every symbol below and of every symbol above, where they are worth it."""
        pairs = set[tuple[int, int]]()
        for axis in (0, 1):
            count = min(_PAIRS_KEPT, reduced.shape[axis])
            best = np.argpartition(reduced, count - 1, axis=axis)
            best = best[:count] if axis == 0 else best[:, :count].T
            for row in best:
                other = np.arange(len(row))
                pairs.update(zip(*((row, other) if axis == 0 else (other, row)), strict=True))
        rows, columns = np.array(sorted(pairs)).T
        worth = reduced[rows, columns] < 0
        rows, columns = rows[worth], columns[worth]
        points = np.zeros((len(rows), self.size))
        share = level.share[rows, columns]
        points[np.arange(len(rows)), level.below[rows]] = 1 - share
        points[np.arange(len(rows)), level.above[columns]] = share
        return points


def _interval(joint: Joint, region: Region) -> tuple[float, float]:
    """The ends of the allowed lifts of the first secret, minus one; inside by rounding, never outside."""
    p_s = joint.p_s
    ends = []
    for furthest in (-1.0, p_s[1] / p_s[0]):
        inside, outside = 0.0, float(furthest)
        for _ in range(_HALVINGS):
            middle = (inside + outside) / 2
            lift = np.array([[1 + middle, 1 - middle * p_s[0] / p_s[1]]])
            if region.value(lift, p_s)[0] <= region.budget:
                inside = middle
            else:
                outside = middle
        last = np.array([[1 + furthest, 1 - furthest * p_s[0] / p_s[1]]])
        ends.append(float(furthest) if region.value(np.maximum(last, 0), p_s)[0] <= region.budget else inside)
    return ends[0], ends[1]


def _level(deviation: Array, end: float, utility: Utility) -> _Level:
    below, above = np.flatnonzero(deviation < end), np.flatnonzero(deviation > end)
    low, high = deviation[below][:, None], deviation[above][None]
    share = (end - low) / (high - low)
    pairs = np.stack([1 - share.ravel(), share.ravel()], axis=1)
    return _Level(below, above, share, utility.uncertainty(pairs).reshape(share.shape))
