"""Two secrets: the list of extreme posteriors, priced and coupled without ever being written down."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array, vstack

from alphalift.arrays import Array
from alphalift.geometry.coupling import Indices, compiled_least_partners, couple
from alphalift.proof.ends import Ends
from alphalift.solvers.run import curve_of
from alphalift.utilities import Utility

# Of a cluster's mass: what is less is rounding.
_NO_SHARE = 1e-14


@dataclass(frozen=True, eq=False)
class BinaryPosteriors:
    """All extreme points of the allowed posteriors of X when there are two secrets.

    The lift of the first secret is then a number, and the region an interval of it. An extreme posterior is a
    single symbol inside the interval, or a pair of symbols mixed so that it lands on an end (support at most
    |S| = 2, on the boundary). There are some |X|^2 pairs; nothing here is larger than a few times |X|.
    """

    deviation: Array
    ends: Ends
    utility: Utility

    @property
    def size(self) -> int:
        return len(self.deviation)

    @cached_property
    def side(self) -> Indices:
        """-1 for symbols below the interval, 0 for those inside, 1 for those above."""
        low, high = self.ends
        return (self.deviation > high).astype(np.int64) - (self.deviation < low)

    @cached_property
    def single_cost(self) -> float:
        """The uncertainty of a symbol alone."""
        return float(self.utility.uncertainty(np.ones((1, 1)))[0])

    @cached_property
    def _ends(self) -> tuple[_End, _End]:
        low, high = (_End.at(self.deviation, end, curve_of(self.utility)) for end in self.ends)
        return low, high

    def first_mixture(self, p_x: Array) -> csr_array:
        """Posteriors that mix to P_X by themselves, found greedily: symbols from far below meet those far above.

        They meet at the end that leaves the others' mean between the ends, so that these can be mixed, too.
        """
        low, high = self.ends
        masses, deviation = p_x.tolist(), self.deviation.tolist()
        order = np.argsort(self.deviation, kind="stable")
        below, inside, above = (deque(order[self.side[order] == side].tolist()) for side in (-1, 0, 1))
        pairs, shares = [], []
        mass, moment, used, most = 1.0, 0.0, 0.0, 0.0  # the first two of what is left
        while (below or above) and (below or inside) and (above or inside):
            x, y = (below or inside)[0], (above or inside)[-1]
            lack, surplus = high * mass - moment, moment - low * mass
            at_low = bool(below) and (not above or lack >= surplus)
            end, room = (low, lack) if at_low else (high, surplus)
            room = room / (high - low) if high > low else math.inf
            share = min(max((end - deviation[x]) / (deviation[y] - deviation[x]), 0.0), 1.0)
            whole = used == most  # after a part, the other end has room for all that is left
            most = min(masses[x] / (1 - share) if share < 1 else math.inf, masses[y] / share if share else math.inf)
            used = min(most, room) if below and above and whole else most
            if 0 < share < 1:
                pairs.append((x, y))
                shares.append((1 - share, share))
            mass, moment = mass - used, moment - used * end
            masses[x] -= used * (1 - share)
            masses[y] -= used * share
            if used == most:
                if masses[x] * share <= masses[y] * (1 - share):
                    (below or inside).popleft()
                else:
                    (above or inside).pop()
        symbols = np.array(pairs, np.int64).reshape(-1, 2)
        return csr_array(vstack([_sparse(symbols, np.array(shares).reshape(-1, 2), self.size), self._alone()]))

    def _alone(self) -> csr_array:
        singles = np.flatnonzero(self.side == 0)[:, None]
        return _sparse(singles, np.ones(singles.shape), self.size)

    def costs(self, points: csr_array) -> Array:
        """The uncertainty of points of this list; all that a row's other entries are is zero."""
        costs = np.full(points.shape[0], self.single_cost)
        pairs = np.diff(points.indptr) == 2
        shares = points.data[np.repeat(pairs, np.diff(points.indptr))].reshape(-1, 2)
        costs[pairs] = self.utility.uncertainty(shares)
        return costs

    def cheapest(self, prices: Array) -> tuple[float, csr_array, Array]:
        """The least reduced cost found, uncertainty - prices.V; each symbol's best posteriors below zero, their costs.

        A pair below zero is found if there is any: for each symbol the best for a unit of moment, and its neighbours.
        """
        points = csr_array(vstack([self._alone(), *(end.candidates(prices, self.size) for end in self._ends)]))
        costs = self.costs(points)
        reduced = costs - points @ prices
        good = reduced < 0
        return float(reduced.min(initial=np.inf)), points[good], costs[good]

    def feasible(self, prices: Array, p_x: Array) -> Array:
        """Prices near these at which no posterior of the list has a negative reduced cost.

        Side by side: the highest prices of all symbols below that the others' leave them, then of those above, then of
        those inside; or first above, then below. The better of the two, whose P_X.prices is the higher.
        """
        found = []
        for first in (-1, 1):
            own = np.where(self.side == 0, np.minimum(prices, self.single_cost), prices)
            for side in (first, -first, 0):
                own = np.where(self.side == side, self._ceilings(own, side), own)
            found.append(own)
        return max(found, key=lambda own: float(own @ p_x))

    def _ceilings(self, prices: Array, side: int) -> Array:
        """The highest price of every symbol on this side of the interval that its posteriors allow; infinite for others."""
        ceilings = np.full(self.size, self.single_cost if side == 0 else np.inf)
        low, high = self._ends
        if side <= 0:
            for end in (low, high) if side else (high,):
                np.minimum.at(ceilings, end.below, end.partners(prices, -1)[1])
        if side >= 0:
            for end in (low, high) if side else (low,):
                np.minimum.at(ceilings, end.above, end.partners(prices, 1)[1])
        return ceilings

    def roles(self, points: csr_array, weights: Array) -> Array:
        """How much of each symbol's mass is mixed to the low end, to the high end, and published alone, (|X|, 3).

        Of points on this list; a point with more symbols has no role.
        """
        roles = np.zeros((self.size, 3))
        sizes = np.diff(points.indptr)
        middle = sum(self.ends) / 2
        role = np.where(sizes == 1, 2, (points @ self.deviation > middle).astype(np.int64))
        listed = np.repeat(sizes <= 2, sizes)
        np.add.at(
            roles,
            (points.indices[listed], np.repeat(role, sizes)[listed]),
            (np.repeat(weights, sizes) * points.data)[listed],
        )
        return roles

    def coupled(self, roles: Array) -> tuple[csr_array, Array]:
        """The cheapest posteriors of this list for such roles, and how often each occurs."""
        alone = np.flatnonzero((self.side == 0) & (roles[:, 2] > 0))[:, None]
        points, weights = [_sparse(alone, np.ones(alone.shape), self.size)], [roles[alone[:, 0], 2]]
        for end, masses in zip(self._ends, roles.T[:2], strict=True):
            own, other, exchanged = couple(masses[end.below] * end.down, (masses[end.above] * end.up)[::-1])
            other = len(end.above) - 1 - other
            points.append(end.points(own, other, self.size))
            weights.append(exchanged * (1 / end.down[own] + 1 / end.up[other]))
        return csr_array(vstack(points)), np.concatenate(weights)


@dataclass(frozen=True, eq=False)
class _End:
    """An end of the interval: symbols below and above it, the nearest first, and how far they are from it."""

    below: Indices
    above: Indices
    down: Array
    up: Array
    curve: Any

    @classmethod
    def at(cls, deviation: Array, end: float, curve: Any) -> _End:
        order = np.argsort(deviation, kind="stable")
        below, above = order[deviation[order] < end][::-1], order[deviation[order] > end]
        return cls(below, above, end - deviation[below], deviation[above] - end, curve)

    def partners(self, prices: Array, side: int) -> tuple[Indices, Array]:
        """For every symbol on this side: which of the other side is its cheapest partner, and its ceiling price."""
        own, other, symbols = (self.down, self.up, self.above) if side < 0 else (self.up, self.down, self.below)
        partner, ceiling = np.zeros(len(own), np.int64), np.full(len(own), np.inf)
        if len(other):
            far_first = np.ascontiguousarray(other[::-1])
            compiled_least_partners()(own, far_first, prices[symbols[::-1]], self.curve, partner, ceiling)
        return len(other) - 1 - partner, ceiling

    def candidates(self, prices: Array, size: int) -> csr_array:
        """The pairs of every symbol and its cheapest partner, or one next to that."""
        count = len(self.above)
        if not count or not len(self.below):
            return csr_array((0, size))
        near = np.arange(-1, 2)
        above = np.clip(self.partners(prices, -1)[0][:, None] + near, 0, count - 1)
        below = np.clip(self.partners(prices, 1)[0][:, None] + near, 0, len(self.below) - 1)
        pairs = [np.arange(len(self.below))[:, None] * count + above, below * count + np.arange(count)[:, None]]
        return self.points(*np.divmod(np.unique(np.concatenate(pairs, axis=None)), count), size)

    def points(self, below: Indices, above: Indices, size: int) -> csr_array:
        """Pairs, by their numbers on either side, mixed to the end."""
        down, up = self.down[below], self.up[above]
        symbols = np.stack([self.below[below], self.above[above]], axis=1)
        return _sparse(symbols, np.stack([up, down], axis=1) / (down + up)[:, None], size)


def _sparse(symbols: Indices, shares: Array, size: int) -> csr_array:
    """One row for each row of symbols and their shares: a pair among a thousand symbols is almost all zeros."""
    count, width = symbols.shape
    return csr_array((shares.ravel(), symbols.ravel(), np.arange(count + 1) * width), shape=(count, size))


@dataclass(frozen=True, eq=False)
class Clusters:
    """Symbols that are neighbours on the line and on the same side of the interval, taken for one.

    of_symbol: the number of each symbol's cluster, rising along the line unless every symbol is alone.
    """

    posteriors: BinaryPosteriors
    p_x: Array
    of_symbol: Indices
    finest: bool

    @classmethod
    def none(cls, posteriors: BinaryPosteriors, p_x: Array) -> Clusters:
        """Every symbol alone."""
        return cls(posteriors, p_x, np.arange(len(p_x)), True)

    @classmethod
    def of(cls, posteriors: BinaryPosteriors, p_x: Array, most: int) -> Clusters:
        """About `most`, or as many as there are different deviations, the finest that make sense: equal ones stay together."""
        order = np.argsort(posteriors.deviation, kind="stable")
        different = np.cumsum(np.diff(posteriors.deviation[order], prepend=-np.inf) > 0) - 1
        count = int(different[-1]) + 1
        groups = different if count <= most else different * most // count
        starts = (np.diff(groups, prepend=-1) > 0) | (np.diff(posteriors.side[order], prepend=-2) > 0)
        of_symbol = np.empty(len(order), np.int64)
        of_symbol[order] = np.cumsum(starts) - 1
        return cls(posteriors, p_x, of_symbol, count <= most)

    @cached_property
    def count(self) -> int:
        return int(self.of_symbol.max()) + 1

    @property
    def trivial(self) -> bool:
        """Whether every symbol is alone, and has its own number."""
        return self.count == len(self.of_symbol)

    def sums(self, values: Array) -> Array:
        """Of the symbols' values in every cluster, (|X|, ...) -> (count, ...)."""
        sums = np.zeros((self.count, *values.shape[1:]))
        np.add.at(sums, self.of_symbol, values)
        return sums

    @cached_property
    def masses(self) -> Array:
        return self.sums(self.p_x)

    @cached_property
    def deviation(self) -> Array:
        """The clusters' means, which keep every balance of their symbols."""
        means = self.sums(self.p_x * self.posteriors.deviation) / self.masses
        return np.clip(means, self._least, self._largest)

    @cached_property
    def _least(self) -> Array:
        least = np.full(self.count, np.inf)
        np.minimum.at(least, self.of_symbol, self.posteriors.deviation)
        return least

    @cached_property
    def _largest(self) -> Array:
        largest = np.full(self.count, -np.inf)
        np.maximum.at(largest, self.of_symbol, self.posteriors.deviation)
        return largest

    def shared(self, roles: Array) -> Array:
        """Each cluster's roles for its symbols, in proportion to their mass; or one after another where they are equal.

        The latter splits fewer symbols; the former keeps the mean deviation of each role.
        """
        ends = np.cumsum(roles, axis=1)[
            self.of_symbol
        ]  # of each role, and of the symbol below, as masses of the cluster
        after = self._masses_up_to
        before = after - self.p_x
        spans = np.diff(np.clip(ends, before[:, None], after[:, None]), axis=1, prepend=before[:, None])
        spans[spans < _NO_SHARE * self.masses[self.of_symbol, None]] = 0.0
        shares = (roles / self.masses[:, None])[self.of_symbol]
        equal = (self._least == self._largest)[self.of_symbol]
        return np.where(equal[:, None], spans, shares * self.p_x[:, None])

    @cached_property
    def _masses_up_to(self) -> Array:
        """Of the symbols of its cluster up to each one, itself included."""
        order = np.argsort(self.of_symbol, kind="stable")
        sums = np.cumsum(self.p_x[order])
        starts = np.searchsorted(self.of_symbol[order], np.arange(self.count))
        up_to = np.empty(len(order))
        up_to[order] = sums - (sums[starts] - self.p_x[order][starts])[self.of_symbol[order]]
        return up_to

    def interpolated(self, prices: Array) -> Array:
        """The clusters' prices for their symbols, linear between the means of clusters on one side."""
        if self.trivial:
            return prices
        values, found = self.posteriors.deviation, np.empty(len(self.p_x))
        side_of = np.empty(self.count, np.int64)
        side_of[self.of_symbol] = self.posteriors.side
        for side in (-1, 0, 1):
            own, symbols = side_of == side, self.posteriors.side == side
            places, heights = self.deviation[own], prices[own]
            if side:
                k = 0 if side > 0 else len(places)
                places = np.insert(places, k, self.posteriors.ends[side > 0])
                heights = np.insert(heights, k, self.posteriors.single_cost)
            if own.any():
                found[symbols] = np.interp(values[symbols], places, heights)
        return found
