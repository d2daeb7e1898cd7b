"""S = X, the local model: every symbol is its own secret, so that a promise is a box and a few separable constraints.

Columns have two lifts, high on a set of symbols and low off it, but for one symbol between them (`local_columns`); bounds
come from one multiplier for each constraint (`geometry.separable`). Symbols of equal mass are alike: they have one price.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from alphalift.arrays import Array
from alphalift.geometry.concave import LocalCertificate
from alphalift.geometry.mixture import Mixture, MixtureProgram
from alphalift.geometry.separable import Cell, compiled_maximise, evaluate
from alphalift.geometry.separable_tree import Node, SeparableSearch, Split
from alphalift.joint import Joint
from alphalift.mechanism import Mechanism
from alphalift.regions import Region, TotalVariation
from alphalift.solvers.local_columns import LocalColumns
from alphalift.solvers.local_model import LocalModel
from alphalift.solvers.run import Run, Settings
from alphalift.utilities import MutualInformation, Utility

# With more kinds of symbols than this, the linear program would take minutes: its start is the answer.
_MOST_KINDS = 400
# Where the relaxed prices and multipliers are sought, and in how many steps.
_LARGEST_SLOPE, _SLOPE_HALVINGS = 64.0, 40
_MULTIPLIERS, _MULTIPLIER_STEPS = (-7.0, 4.0), 24
# Symbols of which branch and bound with a multiplier for each makes short work.
_FEW = 10
# Nodes of the first search, twice as many whenever columns do not help; rounds of columns before a bound is tried.
_FIRST_NODES, _ROUNDS = 64, 40
# Hints for a search, and how far from the ends of the box their places lie.
_MOST_HINTS, _OFF_ENDS = 6, 1e-6
# Shares of the way from the best bound's prices to the linear program's at which columns are sought, in turns.
_SHARES = (0.1, 0.4, 1.0)
# A share of the threshold that a column must be worth.
_LEAST_WORTH = 0.1
# A share of it below which a round of columns has gained nothing.
_LEAST_GAIN = 0.001


def relaxed_prices(model: LocalModel) -> Array:
    """The prices whose bound is best without any branching: with a multiplier fixed, every symbol has its own.

    There sum_x p_x d_x + min (f(l) - d_x l) is largest where the least l passes 1: all symbols are halved at once. With
    many symbols these prices are nearly optimal; columns need not follow them.
    """
    if model.ray:
        return -np.log(model.p)
    size, places = len(model.constraints), np.empty((3, len(model.p)))
    none = np.empty(0)
    cell = Cell(model.low, model.high, np.zeros((1, len(model.p))), none.astype(np.int64), none, none, none)

    def at(mu: Array) -> tuple[float, Array]:
        low, high = np.full(len(model.p), -_LARGEST_SLOPE), np.full(len(model.p), _LARGEST_SLOPE)
        y, gradient, value = np.append(0.0, mu), np.empty(1 + size), -math.inf
        for _ in range(_SLOPE_HALVINGS):
            d = 0.5 * (low + high)
            value = float(model.p @ d) + evaluate(model.terms(d - np.log(model.p)), cell, y, gradient, places)
            low, high = np.where(places[0] < 1, d, low), np.where(places[0] < 1, high, d)
        return value, 0.5 * (low + high)

    mu = np.ones(size)
    for k in range(size):
        low, high = _MULTIPLIERS
        for _ in range(_MULTIPLIER_STEPS):  # the value is concave in mu, so unimodal in its logarithm
            third = (high - low) / 3
            left, right = mu.copy(), mu.copy()
            left[k], right[k] = math.exp(low + third), math.exp(high - third)
            low, high = (low + third, high) if at(left)[0] < at(right)[0] else (low, high - third)
        mu[k] = math.exp(0.5 * (low + high))
    return at(mu)[1] - np.log(model.p)


def is_local(joint: Joint, region: Region, utility: Utility) -> bool:
    """Whether every symbol has a secret of its own, and promise and utility are of the kind that is solved here."""
    size = len(joint.x_labels)
    diagonal = len(joint.s_labels) == size and all(row.count(0) == size - 1 for row in joint.weights)
    simple = isinstance(utility, MutualInformation) and not region.perfect
    # Columns for a distance and other promises at once are found less well here; few symbols need no few multipliers.
    mixed = len(region.components) > 1 and any(isinstance(part, TotalVariation) for part in region.components)
    simple = simple and not (mixed and size <= _FEW)
    return diagonal and simple and LocalModel.of(region, joint.p_x) is not None


class LocalRun(Run):
    """Columns for the prices of symbols' kinds, and a bound at these prices by branching on symbols and on counts."""

    def __init__(self, settings: Settings, joint: Joint, region: Region, utility: Utility, warm: Array) -> None:
        compiled_maximise()
        p = np.array(joint.p_x)
        model = LocalModel.of(region, p)
        assert model is not None
        self.model = model
        self.groups = _alike(joint.x_weights)
        self.kind_of = np.empty(len(p), np.intp)
        for number, group in enumerate(self.groups):
            self.kind_of[group] = number
        self.rows: dict[bytes, tuple[float, Array]] = {}
        super().__init__(settings, joint, region, utility, warm[:0])
        masses = self._by_kind(p[None])[0]
        self.mixtures = MixtureProgram(masses, self.before)
        self.columns, self.costs = np.empty((0, len(masses))), np.empty(0)
        self.threshold = -0.9 * settings.relative_gap * self.everything
        inner = LocalModel.of(self.inner, p)
        assert inner is not None
        self.finder = LocalColumns(inner, self.inner, self.groups)
        self.prices = relaxed_prices(model)
        self.effort = _FIRST_NODES
        self.mixture = self.mix(np.concatenate([p[None], warm]))

    def _by_kind(self, points: Array) -> Array:
        if len(self.groups) == points.shape[1]:
            return np.asarray(points[:, np.concatenate(self.groups)])
        return np.stack([points[:, group].sum(axis=1) for group in self.groups], axis=1)

    def mix(self, points: Array) -> Mixture:
        """The program over kinds of symbols: prices of symbols alike are equal."""
        if not hasattr(self, "finder"):
            return super().mix(points)
        points = points[self.inner.allows(points / self.joint.p_x, self.joint.p_x)]
        costs, kinds = self.utility.uncertainty(points), self._by_kind(points)
        for point, cost, row in zip(points, costs, kinds, strict=True):
            known = self.rows.get(row.tobytes())
            if known is None or cost < known[0]:
                self.rows[row.tobytes()] = (float(cost), point)
        self.columns = np.concatenate([self.columns, kinds])
        self.costs = np.concatenate([self.costs, costs])
        return self.mixtures.solve(self.columns, self.costs)

    def start(self) -> None:
        self.search = self._searched(self.prices)
        self._use(self.search)
        windows, weights = self.finder.windows(self.search.root)
        if len(self.groups) > _MOST_KINDS:
            costs = self.utility.uncertainty(windows)
            self.mixture = Mixture(windows, costs, weights, self._by_kind(self.prices[None])[0])
            return
        self.mixture = self.mix(windows)
        self._generate()

    def price(self) -> bool:
        if len(self.groups) > _MOST_KINDS:
            return False
        search = self._searched(self.mixture.prices[self.kind_of])
        search.hints = self._hints()
        self.found: list[Node] = []
        while not search.finished and self.limit is None and search.nodes < self.effort:
            before = search.nodes
            self.found += search.grow()
            self.nodes += search.nodes - before
            if search.nodes == before:
                break
        self._use(search)
        return True

    def _hints(self) -> list[Split]:
        """How many symbols of a kind lie beyond the lifts that the heaviest column has, but for those at an end."""
        heaviest = self.mixture.points[int(self.mixture.weights.argmax())]
        lifts, found = self.rows[heaviest.tobytes()][1] / self.joint.p_x, []
        for number, group in enumerate(self.groups):
            own = lifts[group]
            for place in np.unique(own.round(9)):
                inside = self.model.low[group[0]] + _OFF_ENDS < place < self.model.high[group[0]] - _OFF_ENDS
                if len(group) > 1 and inside:
                    found.append(Split(float(place), group=number, most=int((own > place + _OFF_ENDS).sum())))
        return sorted(found, key=lambda split: -split.most)[:_MOST_HINTS]

    def improve(self) -> None:
        before = self.mixture.value
        self._offer(self.finder.of_nodes(self.found, self.mixture.prices[self.kind_of]))
        self._generate()
        if before - self.mixture.value < -_LEAST_WORTH * self.threshold:
            self.effort *= 2

    def _generate(self) -> None:
        for _ in range(_ROUNDS):
            if self.limit is not None:
                return
            if not any(self._generate_at(share) for share in _SHARES):
                return
            if self.gap <= self.settings.relative_gap:
                return

    def _generate_at(self, share: float) -> bool:
        """Columns at prices on the way from those of the best bound to the linear program's; whether they help."""
        prices = self.prices + share * (self.mixture.prices[self.kind_of] - self.prices)
        search = self._searched(prices)
        self._use(search)
        return self._offer(self.finder.at(search.root, prices))

    def _offer(self, points: Array) -> bool:
        prices = self.mixture.prices[self.kind_of]
        worth = self.utility.uncertainty(points) - points @ prices < _LEAST_WORTH * self.threshold
        if not worth.any():
            return False
        before = self.mixture.value
        self.mixture = self.mix(points[worth])
        return before - self.mixture.value > -_LEAST_GAIN * self.threshold

    def _searched(self, prices: Array) -> SeparableSearch:
        model = self.model
        # Where a bound closes the gap, but for a tenth.
        threshold = self.mixture.value - float(prices @ self.joint.p_x) + self.threshold
        return SeparableSearch(model.terms(prices), model.low, model.high, self.groups, threshold)

    def _use(self, search: SeparableSearch) -> None:
        prices, before = search.terms.d - np.log(self.joint.p_x), self.upper_bound
        self.use_bound(prices, search.lower_bound, partial(LocalCertificate, prices, search.root, self.groups))
        if self.upper_bound < before:
            self.prices = prices

    def mechanism(self) -> Mechanism:
        if len(self.groups) > _MOST_KINDS:
            return Mechanism.mixing(self.joint, self.mixture.points, self.mixture.weights)
        weights = self.mixture.exact_weights(self._by_kind(self.joint.p_x[None])[0])
        turned = [_turned(self.rows[kinds.tobytes()][1], self.groups) for kinds in self.mixture.points]
        points = np.concatenate([points for points, _ in turned])
        shares = np.concatenate([weight * own for weight, (_, own) in zip(weights, turned, strict=True)])
        return Mechanism.mixing(self.joint, points, shares)


def _alike(weights: Sequence[int]) -> list[NDArray[np.intp]]:
    """Symbols of equal mass together."""
    found: dict[int, list[int]] = {}
    for x, weight in enumerate(weights):
        found.setdefault(weight, []).append(x)
    return [np.array(group) for group in found.values()]


def _turned(point: Array, groups: list[NDArray[np.intp]]) -> tuple[Array, Array]:
    """The point with every group turned round, and weights: their mean has each group's mass spread evenly.

    A number r in [0, 1) turns a group of n symbols by floor(n r); weights are the lengths on which no turn changes.
    """
    places = sorted({k / len(group) for group in groups for k in range(len(group))})
    turned = np.repeat(point[None], len(places), axis=0)
    for row, r in zip(turned, places, strict=True):
        for group in groups:
            if len(group) > 1:
                row[group] = np.roll(point[group], int(r * len(group) + _OFF_ENDS))
    return turned, np.diff([*places, 1.0])
