"""Edges: mixtures of two symbols where the segment between them enters and leaves the region.

They are the first columns of a large alphabet: all that there are can be listed once and priced in milliseconds, and where a
promise is one curved constraint most of the best columns are among them.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from alphalift.arrays import Array
from alphalift.clock import Clock
from alphalift.joint import Joint
from alphalift.regions import Region
from alphalift.utilities import Utility

# Pairs that are looked at; where there are more, partners of every symbol are drawn.
_MOST_PAIRS = 600_000
_PAIRS_A_CALL = 1 << 15
# Halvings to the lowest value of a segment whose ends are both outside, and to where a segment leaves the region.
_TO_LOWEST, _TO_END = 14, 34
# A step along a segment by which its fall is measured: well above rounding, below what the halvings to the lowest tell apart.
_STEP = 1e-6


@dataclass(frozen=True, eq=False)
class Edges:
    """V = share at `first` and the rest at `second`, sorted by `first`; `costs` are their uncertainties."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    share: Array
    costs: Array
    size: int

    @classmethod
    def of(cls, joint: Joint, region: Region, utility: Utility, threads: int, clock: Clock) -> Edges:
        """All that were found in time; none for perfect privacy, whose region is a point of lifts."""
        size = len(joint.p_x)
        segments = _Segments(joint, region)
        pairs = segments.pairs() if not region.perfect else np.empty((0, 2), np.int64)
        blocks = [pairs[i : i + _PAIRS_A_CALL] for i in range(0, len(pairs), _PAIRS_A_CALL)]

        def found(block: NDArray[np.int64]) -> tuple[NDArray[np.int64], Array]:
            return segments.ends(block) if not clock.over else (block[:0], np.empty(0))

        with ThreadPoolExecutor(threads) as pool:
            parts = [(np.empty((0, 2), np.int64), np.empty(0)), *pool.map(found, blocks)]
        ends, share = np.concatenate([own for own, _ in parts]), np.concatenate([own for _, own in parts])
        order = np.argsort(ends[:, 0], kind="stable")
        ends, share = ends[order], share[order]
        return cls(ends[:, 0], ends[:, 1], share, utility.uncertainty(np.stack([share, 1 - share], axis=1)), size)

    def cheapest(self, prices: Array, enough: float) -> Array:
        """For every symbol, as the first and as the second, the one with the least reduced cost, if that is below enough."""
        reduced = self.costs - self.share * prices[self.first] - (1 - self.share) * prices[self.second]
        paying = np.flatnonzero(reduced < enough)
        paying = paying[np.argsort(reduced[paying], kind="stable")]
        chosen = [np.unique(own[paying], return_index=True)[1] for own in (self.first, self.second)]
        return self._points(paying[np.unique(np.concatenate(chosen))])

    def _points(self, chosen: NDArray[np.intp]) -> Array:
        rows = np.arange(len(chosen))
        symbols = np.concatenate([self.first[chosen], self.second[chosen]])
        values = np.concatenate([self.share[chosen], 1 - self.share[chosen]])
        points = csr_array((values, (np.tile(rows, 2), symbols)), shape=(len(chosen), self.size))
        return np.asarray(points.toarray(), np.float64)


@dataclass(frozen=True, eq=False)
class _Segments:
    """Lifts between two symbols, and where the region holds them."""

    joint: Joint
    region: Region

    def pairs(self) -> NDArray[np.int64]:
        """Symbols outside with all others, each pair once, (count, 2); the first one is outside."""
        inside = self.region.allows(self.joint.lift.T, self.joint.p_s)
        outer, size = np.flatnonzero(~inside), len(inside)
        most = max(1, _MOST_PAIRS // max(1, len(outer)))
        if most < size:
            chance = np.random.default_rng(0)
            partners = np.array([chance.choice(size, most, replace=False) for _ in outer])
        else:
            partners = np.tile(np.arange(size), (len(outer), 1))
        pairs = np.stack([np.repeat(outer, partners.shape[1]), partners.ravel()], axis=1)
        first, second = pairs.T
        once = inside[second] | (first < second) if most >= size else first != second
        return np.asarray(pairs[once & (first != second)], np.int64)

    def ends(self, pairs: NDArray[np.int64]) -> tuple[NDArray[np.int64], Array]:
        """For every pair whose segment meets the region the ends of what it shares with it: pairs, and the first one's share."""
        lowest = self._lowest(pairs)
        kept = self._value(pairs, lowest) <= self.region.budget
        pairs, lowest = pairs[kept], lowest[kept]
        high = self._end(pairs, lowest, np.ones(len(pairs)))
        both = lowest > 0
        low = self._end(pairs[both], lowest[both], np.zeros(int(both.sum())))
        return np.concatenate([pairs, pairs[both]]), np.concatenate([high, low])

    def _value(self, pairs: NDArray[np.int64], share: Array) -> Array:
        lifts = self.joint.lift.T
        mixed = share[:, None] * lifts[pairs[:, 0]] + (1 - share)[:, None] * lifts[pairs[:, 1]]
        return np.asarray(self.region.value(mixed, self.joint.p_s), np.float64)

    def _lowest(self, pairs: NDArray[np.int64]) -> Array:
        """Where the value is about lowest: at the second symbol where that is inside, else found by its convexity."""
        share = np.zeros(len(pairs))
        outside = np.flatnonzero(self._value(pairs, share) > self.region.budget)
        low, high, own = np.zeros(len(outside)), np.ones(len(outside)), pairs[outside]
        for _ in range(_TO_LOWEST):
            middle = (low + high) / 2
            falls = self._value(own, middle + _STEP) < self._value(own, middle - _STEP)
            low, high = np.where(falls, middle, low), np.where(falls, high, middle)
        share[outside] = (low + high) / 2
        return share

    def _end(self, pairs: NDArray[np.int64], inside: Array, outside: Array) -> Array:
        """The last share inside on the way from `inside` to `outside`."""
        for _ in range(_TO_END):
            middle = (inside + outside) / 2
            kept = self._value(pairs, middle) <= self.region.budget
            inside, outside = np.where(kept, middle, inside), np.where(kept, outside, middle)
        return inside
