"""Posteriors for S = X: symbols with a high lift and symbols with a low one, and one between them that makes the mass 1."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from alphalift.arrays import Array
from alphalift.geometry.separable import DISTANCE
from alphalift.geometry.separable_tree import Node
from alphalift.measures.information import entropy
from alphalift.regions import Region
from alphalift.solvers.local_model import LocalModel

_HALVINGS = 45
# Exchanges of two symbols for each column.
_EXCHANGES = 4
# Orders of the symbols beside the one that prices ask for, and how far they lie from it, as a share of the costs' spread.
_ORDERS, _NOISE = 24, 1.0
_SEED = 0
# Lifts nearer than this to a level are at it; nothing is divided by less than the tiny number.
_SAME, _TINY = 1e-12, 1e-300
# A change must gain more than this; orders are stirred by at least the spread; the mass of a column may miss 1 by its error.
_GAIN, _LEAST_SPREAD, _MASS_ERROR = 1e-13, 1e-6, 1e-9


class LocalColumns:
    """Finds columns for the model, those of a slightly smaller region than the promise."""

    def __init__(self, model: LocalModel, region: Region, groups: list[NDArray[np.intp]]) -> None:
        self.model, self.region, self.groups = model, region, groups
        self.random = np.random.default_rng(_SEED)
        self.distance = any(kind == DISTANCE for kind, _, _ in model.constraints)

    # --- what every way to columns needs ---

    def _levels(self, node: Node) -> tuple[Array, Array]:
        """Low and high lifts of the symbols, as the multipliers of a node ask for."""
        best, other, _ = node.places
        known = other >= 0
        low = np.where(known, np.minimum(best, other), node.low)
        high = np.where(known, np.maximum(best, other), np.maximum(best, 1.0))
        low, high = np.clip(low, self.model.low, self.model.high), np.clip(high, self.model.low, self.model.high)
        return np.minimum(low, 1.0), np.maximum(high, 1.0)

    def _costs(self, lifts: Array, d: Array) -> Array:
        """p (-l log l - d l) of every symbol."""
        return self.model.p * (entropy(lifts[..., None]) - d * lifts)

    def _filled(self, low: Array, high: Array, key: Array) -> Array:
        """Lifts, (rows, |X|): high in rising order of the key as long as there is mass, then one between, then low."""
        p = self.model.p
        masses, order = p * (high - low), np.argsort(key, axis=1, kind="stable")
        ordered = np.take_along_axis(masses, order, axis=1)
        left = (1 - low @ p)[:, None] - (np.cumsum(ordered, axis=1) - ordered)
        share = np.clip(left / np.maximum(ordered, _TINY), 0.0, 1.0)
        shares = np.empty_like(share)
        np.put_along_axis(shares, order, share, axis=1)
        return low + shares * (high - low)

    def _exchanged(self, lifts: Array, low: Array, high: Array, d: Array) -> Array:
        """The lifts after exchanges of a high and a low symbol, each the best: the one between them comes near an end."""
        p, lifts = self.model.p, lifts.copy()
        step = self._costs(high, d) - self._costs(low, d)
        masses = p * (high - low)
        for _ in range(_EXCHANGES):
            between = (lifts > low + _SAME) & (lifts < high - _SAME)
            if not between.any():
                break
            odd = int(np.flatnonzero(between)[0])
            ups, downs = np.flatnonzero(lifts >= high - _SAME), np.flatnonzero(lifts <= low + _SAME)
            ups, downs = ups[high[ups] > low[ups]], downs[high[downs] > low[downs]]
            freed, taken = np.append(masses[ups], 0.0), np.append(masses[downs], 0.0)
            place = lifts[odd] + (freed[:, None] - taken[None]) / p[odd]
            allowed = (place >= low[odd] - 0.0) & (place <= high[odd])
            place = np.clip(place, low[odd], high[odd])
            own = p[odd] * (-place * np.log(np.maximum(place, _TINY)) - d[odd] * place)
            total = own - np.append(step[ups], 0.0)[:, None] + np.append(step[downs], 0.0)[None]
            total = np.where(allowed, total, np.inf)
            at = int(total.argmin())
            a, b = divmod(at, len(taken))
            now = float(self._costs(lifts, d)[odd])
            if total[a, b] >= now - _GAIN:
                break
            if a < len(ups):
                lifts[ups[a]] = low[ups[a]]
            if b < len(downs):
                lifts[downs[b]] = high[downs[b]]
            lifts[odd] = place[a, b]
        return lifts

    def _settled(self, lifts: Array, low: Array, high: Array) -> Array:
        """High lifts raised together as far as the promise allows, the symbol between them making up for it."""
        p, model = self.model.p, self.model
        up = lifts >= high - _SAME
        between = (~up) & (lifts > low + _SAME)
        odd = np.where(between.any(axis=1), between.argmax(axis=1), (~up).argmax(axis=1))
        rows = np.arange(len(lifts))
        base, top = np.where(up, 0.0, lifts), np.where(up, lifts, 0.0)
        base[rows, odd] = 0.0
        fixed, raised = base @ p, top @ p

        def at(factor: Array) -> Array:
            result = base + np.minimum(factor[:, None] * top, model.high * (top > 0))
            result[rows, odd] = (1 - result @ p) / p[odd]
            return result

        most = np.maximum((1 - fixed - low[odd] * p[odd]) / np.maximum(raised, _TINY), 0.0)
        least = 0.7 * most
        for _ in range(_HALVINGS):
            middle = 0.5 * (least + most)
            tried = at(middle)
            good = self._keeps(tried) | (tried[rows, odd] > middle * high[rows, odd])
            least, most = np.where(good, middle, least), np.where(good, most, middle)
        return at(least)

    def _keeps(self, lifts: Array) -> NDArray[np.bool_]:
        return np.asarray((lifts >= 0).all(axis=1) & self.region.allows(np.maximum(lifts, 0.0), self.model.p))

    def _kept(self, lifts: Array) -> Array:
        """As posteriors; those that break the promise are moved towards P_X, far enough."""
        if not len(lifts):
            return np.empty((0, len(self.model.p)))
        lifts = lifts[(np.abs(lifts @ self.model.p - 1) < _MASS_ERROR) & (lifts >= 0).all(axis=1)]
        broken = ~self._keeps(lifts)
        if broken.any():
            own = lifts[broken] - 1
            inside, outside = np.zeros(len(own)), np.ones(len(own))
            for _ in range(_HALVINGS):
                middle = 0.5 * (inside + outside)
                good = self._keeps(1 + middle[:, None] * own)
                inside, outside = np.where(good, middle, inside), np.where(good, outside, middle)
            lifts[broken] = 1 + inside[:, None] * own
        points = np.maximum(lifts, 0.0) * self.model.p
        return np.asarray(points / points.sum(axis=1, keepdims=True))

    # --- columns ---

    def at(self, node: Node, prices: Array) -> Array:
        """Columns for these prices: for each kind of symbols one with it high and one with it low, and some at random."""
        d = prices + np.log(self.model.p)
        if self.model.ray:
            return self._kept(self._subsets(d))
        low, high = self._levels(node)
        found = [self._between(low, high, d, self._keys(low, high, d))]
        if self.distance:
            found.append(self._one_raised(d))
        return self._kept(np.concatenate(found))

    def of_nodes(self, nodes: list[Node], prices: Array) -> Array:
        """A column from every node of a search."""
        d, found = prices + np.log(self.model.p), [np.empty((0, len(self.model.p)))]
        if not self.model.ray:
            for node in nodes[:200]:
                low, high = self._levels(node)
                key = (self._costs(high, d) - self._costs(low, d)) / (self.model.p * np.maximum(high - low, _SAME))
                found.append(self._between(low, high, d, key[None]))
        return self._kept(np.concatenate(found))

    def _keys(self, low: Array, high: Array, d: Array) -> Array:
        """Orders of the symbols: by cost for each unit of mass, with one symbol first or last, or noise."""
        p = self.model.p
        key = (self._costs(high, d) - self._costs(low, d)) / (p * np.maximum(high - low, _SAME))
        firsts = np.array([group[0] for group in self.groups])
        forced = np.repeat(key[None], 2 * len(firsts), axis=0)
        rows = np.arange(len(firsts))
        forced[rows, firsts], forced[rows + len(firsts), firsts] = -np.inf, np.inf
        spread = float(key.std()) + _LEAST_SPREAD
        noise = self.random.normal(size=(_ORDERS, len(p))) * spread * _NOISE
        return np.concatenate([forced, key + noise])

    def _between(self, low: Array, high: Array, d: Array, keys: Array) -> Array:
        """Columns with these levels in these orders."""
        count = len(keys)
        lows, highs = np.repeat(low[None], count, axis=0), np.repeat(high[None], count, axis=0)
        if self.model.constraints and not self.distance:
            highs = self._scaled(lows, highs, keys)
        lifts = self._filled(lows, highs, keys)
        lifts = np.array([self._exchanged(*row, d) for row in zip(lifts, lows, highs, strict=True)])
        if self.model.constraints and not self.distance:
            lifts = self._settled(lifts, low, highs)
        return lifts.reshape(-1, len(low))

    def _scaled(self, low: Array, high: Array, keys: Array) -> Array:
        """The high levels times the largest factor at which the promise is kept; as they are where there is none: `_kept` moves those."""
        least, most = np.full(len(low), 0.5), np.full(len(low), 2.0)

        def at(factor: Array) -> Array:
            return np.maximum(np.minimum(high * factor[:, None], self.model.high), low)

        for _ in range(25):
            middle = 0.5 * (least + most)
            good = self._keeps(self._filled(low, at(middle), keys))
            least, most = np.where(good, middle, least), np.where(good, most, middle)
        full = np.abs(self._filled(low, at(least), keys) @ self.model.p - 1) < _MASS_ERROR
        return np.where(full[:, None], at(least), high)

    def _one_raised(self, d: Array) -> Array:
        """For a bound on sum p |l - 1|: one symbol as high as it may be, the others at 1 or as low as they may be."""
        model, found = self.model, []
        for x in (group[0] for group in self.groups):
            low, high = model.low.copy(), np.ones_like(model.p)
            low[x] = high[x] = model.high[x]
            step = self._costs(high, d) - self._costs(low, d)
            key = step / np.maximum(model.p * (high - low), _TINY)
            spread = float(key.std()) + _LEAST_SPREAD
            keys = [key, *(key + spread * self.random.normal(size=(2, len(key))))]
            for own in keys:
                lifts = self._filled(low[None], high[None], own[None])[0]
                found.append(self._exchanged(lifts, low, high, d))
        return np.array(found)

    def _subsets(self, d: Array) -> Array:
        """For lifts up to a factor: 1 or e^epsilon, of sets that no symbol more or less makes better."""
        p, t = self.model.p, float(self.model.high[0])
        low, high = np.ones_like(p), np.full(len(p), t)
        keys = self._keys(low, high, d)
        order = np.argsort(keys, axis=1, kind="stable")
        ends = np.where(np.isneginf(keys).any(axis=1), 1, 0)
        masses = 1 + (t - 1) * np.cumsum(p[order], axis=1)
        base, step = self._costs(low, d), self._costs(high, d) - self._costs(low, d)
        value = (base.sum() + np.cumsum(step[order], axis=1)) / masses + np.log(masses)
        best = np.maximum(value.argmin(axis=1), ends)
        ranks = np.empty_like(order)
        np.put_along_axis(ranks, order, np.arange(len(p))[None], axis=1)
        chosen = ranks <= best[:, None]
        rows = np.arange(len(chosen))
        for _ in range(len(p)):
            mass = (1 + (t - 1) * (chosen @ p))[:, None]
            cost = (base.sum() + chosen @ step)[:, None]
            sign = np.where(chosen, -1.0, 1.0)
            masses = np.maximum(mass + sign * (t - 1) * p, 1.0)  # the 1 of no symbol at all may have been rounded away
            changed = (cost + sign * step) / masses + np.log(masses)
            x = changed.argmin(axis=1)
            better = changed[rows, x] < (cost / mass + np.log(mass))[:, 0] - _GAIN
            if not better.any():
                break
            chosen[rows[better], x[better]] ^= True
        lifts = np.where(chosen, t, 1.0)
        return np.unique(lifts / (lifts @ p)[:, None], axis=0)

    def windows(self, node: Node) -> tuple[Array, Array]:
        """Posteriors and weights that mix to P_X where all symbols have the same levels: windows on a circle of symbols.

        A symbol has a part of the circle as long as what it can take; a window that turns round covers each equally often.
        """
        low, high = self._levels(node)
        p, model = self.model.p, self.model
        if model.ray:
            low, high = self._best_ray()
        elif model.constraints and not self.distance:
            high = np.maximum(self._scaled(low[None], high[None], self.random.random((1, len(p))))[0], 1.0)
        order = self.random.permutation(len(p))
        # Sums of many symbols against the share of one: with the digits of a float, rare symbols would lose theirs.
        lengths = (p * (high - low))[order].astype(np.longdouble)
        total, width = lengths.sum(), 1 - (p.astype(np.longdouble) * low).sum()
        starts = np.cumsum(lengths) - lengths
        corners = np.unique(np.concatenate([starts, (starts - width) % total]))
        begin = corners[:, None]
        covered = np.zeros((len(corners), len(p)), np.longdouble)
        for shift in (np.longdouble(0), total):
            left, right = np.maximum(begin, starts + shift), np.minimum(begin + width, starts + lengths + shift)
            covered += np.maximum(right - left, 0.0)
        lifts = np.empty(covered.shape)
        lifts[:, order] = low[order] + covered / np.maximum(lengths, _TINY) * (high - low)[order]
        gaps = np.diff(np.append(corners, corners[0] + total))
        weights = (0.5 * (gaps + np.roll(gaps, 1)) / total).astype(np.float64)
        return self._kept(lifts), weights

    def _best_ray(self) -> tuple[Array, Array]:
        """The levels m and t m, for the share of high symbols that is best where there are many."""
        t = float(self.model.high[0])
        shares = np.linspace(0.0, 1.0, 10_001)
        masses = 1 + (t - 1) * shares
        share = shares[(np.log(masses) - shares * t * math.log(t) / masses).argmin()]
        m = 1 / (1 + (t - 1) * float(share))
        return np.full(len(self.model.p), m), np.full(len(self.model.p), t * m)
