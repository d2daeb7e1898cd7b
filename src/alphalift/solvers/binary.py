"""Two secrets: the extreme posteriors are a finite list, for every region."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from alphalift.compiled import kernel
from alphalift.exact import Array
from alphalift.joint import Joint
from alphalift.regions import Region, lift_interval
from alphalift.utilities import Utility


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
        ends = lift_interval(region, joint.p_s)
        inside = (deviation >= ends[0]) & (deviation <= ends[1])
        single = np.zeros((1, len(deviation)))
        single[0, 0] = 1.0
        levels = tuple(_level(deviation, end, utility) for end in ends)
        return cls(
            deviation, ends, np.flatnonzero(inside), levels, len(deviation), float(utility.uncertainty(single)[0])
        )

    def first_mixture(self, p_x: Array) -> Array:
        """Posteriors that mix to P_X by themselves, found greedily: symbols from far below meet those far above."""
        masses, points = p_x.copy(), [np.zeros((0, self.size))]
        low, high = self.ends
        order = np.argsort(self.deviation).tolist()
        below = [x for x in order if self.deviation[x] < low]
        inside = [x for x in order if low <= self.deviation[x] <= high]
        above = [x for x in order[::-1] if self.deviation[x] > high]
        while (below or above) and (below or inside) and (above or inside):
            x, y = (below or inside)[0], (above or inside[::-1])[0]
            lack = masses[x] * (low - self.deviation[x]) if below else 0.0
            surplus = masses[y] * (self.deviation[y] - high) if above else 0.0
            level = low if lack >= surplus else high
            share = (level - self.deviation[x]) / (self.deviation[y] - self.deviation[x])
            if 0 < share < 1:
                gone = x if masses[x] * share <= masses[y] * (1 - share) else y
                used = masses[x] / (1 - share) if gone == x else masses[y] / share
                point = np.zeros(self.size)
                point[x], point[y] = 1 - share, share
                points.append(point[None])
                masses -= used * point
            else:  # a symbol on the end itself, or nearly: it is a posterior alone
                gone = x if share <= 0 else y
            for group in (below, inside, above):
                if gone in group:
                    group.remove(gone)
        return np.concatenate([*points, np.eye(self.size)[self.singles]])

    def cheapest(self, prices: Array) -> tuple[float, csr_array, Array]:
        """The least uncertainty - prices.V over the whole list; each symbol's best posteriors below zero, their costs."""
        single = self.single_cost - prices[self.singles]
        lowest = float(single.min(initial=np.inf))
        worth = self.singles[single < 0]
        points = [_sparse(worth[:, None], np.ones((len(worth), 1)), self.size)]
        costs = [np.full(len(worth), self.single_cost)]
        for level in self.levels:
            if not level.cost.size:
                continue
            below, above, reduced = _best_pairs(level, prices)
            lowest = min(lowest, float(reduced.min()))
            below, above = below[reduced < 0], above[reduced < 0]
            share = level.share[below, above]
            symbols = np.stack([level.below[below], level.above[above]], axis=1)
            points.append(_sparse(symbols, np.stack([1 - share, share], axis=1), self.size))
            costs.append(level.cost[below, above])
        return lowest, csr_array(vstack(points)), np.concatenate(costs)


def _sparse(symbols: NDArray[np.intp], shares: Array, size: int) -> csr_array:
    """One row for each row of symbols and their shares: a pair among a thousand symbols is almost all zeros."""
    count, width = symbols.shape
    return csr_array((shares.ravel(), symbols.ravel(), np.arange(count + 1) * width), shape=(count, size))


def _best_pairs(level: _Level, prices: Array) -> tuple[NDArray[np.intp], NDArray[np.intp], Array]:
    """The two cheapest pairs of every symbol below and of every symbol above, and their reduced costs."""
    below, above = prices[level.below], prices[level.above]
    per_row, per_column = _two_least(level.cost, level.share, below, above)
    columns = len(above)
    flat = [np.arange(len(below))[:, None] * columns + per_row, per_column * columns + np.arange(columns)[:, None]]
    i, j = np.divmod(np.unique(np.concatenate(flat, axis=None)), columns)
    return i, j, level.cost[i, j] - below[i] - level.share[i, j] * (above[j] - below[i])


@kernel
def _two_least(cost, share, price_below, price_above):  # type: ignore[no-untyped-def]
    """Where the two least cost - (1 - share) price_below - share price_above are, for every row and every column."""
    rows, columns = cost.shape
    per_row, per_column = np.zeros((rows, 2), np.int64), np.zeros((columns, 2), np.int64)
    row_least, column_least = np.full((rows, 2), np.inf), np.full((columns, 2), np.inf)
    for i in range(rows):
        for j in range(columns):
            reduced = cost[i, j] - price_below[i] - share[i, j] * (price_above[j] - price_below[i])
            if reduced < row_least[i, 1]:
                _insert(row_least[i], per_row[i], reduced, j)
            if reduced < column_least[j, 1]:
                _insert(column_least[j], per_column[j], reduced, i)
    return per_row, per_column


@kernel
def _insert(least, place, value, index):  # type: ignore[no-untyped-def]
    """Keep the two least values with their places."""
    if value < least[0]:
        least[1], place[1] = least[0], place[0]
        least[0], place[0] = value, index
    else:
        least[1], place[1] = value, index


def _level(deviation: Array, end: float, utility: Utility) -> _Level:
    below, above = np.flatnonzero(deviation < end), np.flatnonzero(deviation > end)
    low, high = deviation[below][:, None], deviation[above][None]
    share = (end - low) / (high - low)
    pairs = np.stack([1 - share.ravel(), share.ravel()], axis=1)
    return _Level(below, above, share, utility.uncertainty(pairs).reshape(share.shape))
