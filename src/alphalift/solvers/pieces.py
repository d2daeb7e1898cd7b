"""Utilities of which the uncertainty is the least of linear functions: columns and bounds from one convex program a piece.

"Pieces" in docs/theory.md. Everything is in units of what publishing X is worth, so that one accuracy serves every utility.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array, vstack

from alphalift.arrays import Array, Rows, scaled
from alphalift.clock import Clock
from alphalift.geometry.boxed import Boxed, BoxedMixture
from alphalift.geometry.concave import PiecesCertificate
from alphalift.geometry.linear import LinearProgram
from alphalift.geometry.mixture import TOLERANCE, Mixture
from alphalift.joint import Joint
from alphalift.mechanism import Mechanism
from alphalift.regions import Region, averages_of, legible, perfect_privacy, perfect_privacy_beside
from alphalift.solution import Solution
from alphalift.solvers.candidates import first_points, pull_inside
from alphalift.solvers.cells import PieceSearch
from alphalift.solvers.large import MANY_SYMBOLS
from alphalift.solvers.run import Progress, Run, Settings
from alphalift.solvers.search import PROGRAM_MARGIN, is_widened
from alphalift.utilities import Utility
from alphalift.utilities.pieces import Actions

# Prices are steadied: they are this share of the way from the linear program's to the best so far. Free prices of few columns are
# wild; P. Wentges, "Weighted Dantzig-Wolfe decomposition for linear mixed-integer programming", 1997.
_STEADY = 0.7
# Where nothing pays at steadied prices, half as much, and none at all below this.
_HARDLY_STEADY = 0.2
# The reduced cost from which on a column is worth its while, as a share of what may be left in the end.
_PAYING = 0.1
# How far prices of many symbols may be from the best so far, by how much that grows where nothing pays and the box still binds, and
# what the slacks of a box may supply and still count as nothing.
_BOX, _WIDER, _NO_SLACK = 0.5, 4.0, 1e-9
# Shares of P_X, or what is near it, that make up for what a mixture with slacks misses: the least that does is taken.
_SHARES = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.03, 0.1, 0.2, 0.3, 0.5, 0.7)
# Cells that are split at once, and columns in use for each symbol that are enough for a round.
_CELLS, _ENOUGH = 16, 64


class _Prices(NamedTuple):
    """u of every symbol, and what a unit of each promise on average costs."""

    symbols: Array
    averages: Array

    def times(self, factor: float) -> _Prices:
        return _Prices(factor * self.symbols, factor * self.averages)

    def plus(self, other: _Prices) -> _Prices:
        return _Prices(self.symbols + other.symbols, self.averages + other.averages)


@dataclass(frozen=True)
class _Shares(Utility):
    """A utility in units of what publishing X is worth."""

    original: Utility
    everything: float

    def uncertainty(self, points: Array) -> Array:
        return self.original.uncertainty(points) / self.everything

    def uncertainties(self, points: Rows) -> Array:
        return self.original.uncertainties(points) / self.everything

    def of_publishing_all(self, p_x: Array) -> float:
        return 1.0


class PiecesRun(Run):
    """A linear program for each piece; cells are split until their pieces are near enough to h."""

    def __init__(self, settings: Settings, joint: Joint, region: Region, utility: Utility, warm: Array) -> None:
        everything, size = utility.of_publishing_all(joint.p_x), len(joint.p_x)
        pieces = utility.pieces(everything, size)
        assert pieces is not None
        self.original, self.threads = utility, settings.threads or os.cpu_count() or 1
        inner = legible(region, joint.p_s).tightened(PROGRAM_MARGIN)
        widened = not region.perfect and is_widened(region, joint)
        if widened:  # as for a search: what lies in a wider set would have to move too far to keep the promise
            inner = perfect_privacy_beside(averages_of(inner))
        vectors, least = joint.p_s_given_x.T, float(joint.p_s.min())
        program = LinearProgram.of(region.convex_set(joint), inner.convex_set(joint), vectors, least)
        with (settings.clock or Clock()).stopped():
            program.compile()
        super().__init__(settings, joint, region, _Shares(utility, everything), warm)
        if widened:
            self.inner = perfect_privacy()
        self.rooms = np.array([promise.room for promise in averages_of(region)])
        self.left = 0.9 * settings.relative_gap  # the rest of the gap covers what the linear program itself leaves
        self.search = PieceSearch(program, pieces, self._cost, self.left / 2, self.threads)
        # Where columns must pay, where they are looked for, and those of the best bound.
        self.prices = self.at = self.best = self.mixture_prices
        self.best_value = -np.inf
        self.found = np.empty((0, size))

    @property
    def mixture_prices(self) -> _Prices:
        rooms = np.array([promise.room for promise in self.averages])
        return _Prices(self.mixture.prices, self.mixture.budget_prices / rooms)

    def paid(self, prices: _Prices) -> float:
        """u.P_X less what the budgets of promises on average cost."""
        return float(prices.symbols @ self.joint.p_x - prices.averages @ self.rooms)

    def solve(self) -> Solution:
        found, scale = super().solve(), self.utility.original.of_publishing_all(self.joint.p_x)  # type: ignore[attr-defined]
        return replace(found, utility_function=self.original, upper_bound=found.upper_bound * scale)

    def mechanism(self) -> Mechanism:
        """The best mixture so far; outputs after which the same action is best are one, which loses nothing and keeps the promise."""
        if not isinstance(self.search.pieces, Actions):
            return super().mechanism()
        weights, points = self.mixture.exact_weights(self.joint.p_x), self.mixture.stored_points
        _, action = np.unique((points @ self.search.pieces.table.T).argmin(axis=1), return_inverse=True)
        groups = csr_array((weights, (action, np.arange(len(weights)))))
        masses = np.asarray(groups.sum(axis=1))
        return Mechanism.mixing(self.joint, scaled(groups @ points, 1 / masses, np.ones(points.shape[1])), masses)

    def start(self) -> None:
        if (
            self.inner.perfect or len(self.joint.p_x) < MANY_SYMBOLS
        ):  # else they are dense: the linear program would be slow
            self.mixture = self.mix(first_points(self.joint, self.inner, self.clock))
        # What is least for a piece alone is a column, whatever prices will be.
        self._price_at(self.mixture_prices.times(0.0))
        self.mixture = self.mix(self._inside(self.search.points))

    def price(self) -> bool:
        self.prices = self.mixture_prices
        share = _STEADY if self.best_value > -np.inf else 0.0
        while True:
            points = self._price_at(self.prices.times(1 - share).plus(self.best.times(share)))
            self.found = self._paying(points)
            if len(self.found) or share == 0 or self.gap <= self.settings.relative_gap or self.limit is not None:
                return len(self.found) > 0
            share = share / 2 if share > _HARDLY_STEADY else 0.0

    def improve(self) -> None:
        self.mixture = self.mix(self.found)

    def _price_at(self, prices: _Prices) -> Array:
        """Bound every mechanism at these prices; points that may be columns. Cells are split until some of these pay, or all are closed."""
        self.at = prices
        search, paid = self.search, self.paid(prices)
        costs = prices.averages @ search.program.outer.body.used
        search.start(prices.symbols, self.paid(self.prices) - paid - self.left, self.clock, costs)
        found = [search.points[search.points.any(axis=1)]]
        count = len(self._paying(found[0]))
        while len(search.open) and count < _ENOUGH + len(prices.symbols) // 4 and self.limit is None:
            points = search.grow(_CELLS)
            if points is None:
                break
            found.append(points[points.any(axis=1)])
            count += len(self._paying(found[-1]))
            self.nodes = search.pieces.count
        lowest = search.lower_bound
        if paid + lowest > self.best_value:
            self.best, self.best_value = prices, paid + lowest
        self.use_bound(
            prices.symbols,
            lowest,
            lambda: PiecesCertificate(prices.symbols, search.duals.copy(), search.pieces.splits(), prices.averages),
            float(prices.averages @ self.rooms),
        )
        return np.concatenate(found)

    def _cost(self, points: Array) -> Array:
        """h(V) and what V uses of promises on average, at the prices where columns are looked for."""
        return np.asarray(self.utility.uncertainty(points) + self.uses(points) @ self.at.averages)

    def _paying(self, points: Array) -> Array:
        """Those that would lower the mixture's cost, inside of the promise."""
        return self._cheap(self._inside(self._cheap(points)))

    def _cheap(self, points: Array) -> Array:
        reduced = self.utility.uncertainty(points) - points @ self.prices.symbols
        reduced = reduced + self.uses(points) @ self.prices.averages
        return np.asarray(points[reduced < -_PAYING * self.left])

    def _inside(self, points: Array) -> Array:
        points = points[points.any(axis=1)]
        return pull_inside(points, self.joint, self.inner, self.clock) if len(points) else points

    def _report(self) -> None:
        if self.settings.progress is not None:
            scale = self.original.of_publishing_all(self.joint.p_x)
            bound = self.upper_bound * scale
            own = (self.before - self.mixture.value) * scale
            self.settings.progress(Progress(own, bound, self.gap, self.clock.elapsed))


class _Whole(Mixture):
    """A mixture with a column for what the others miss: its mean is right as it is, and its columns may be more than rows."""

    def exact_weights(self, mean: Array) -> Array:
        return self.weights


class ManyPiecesRun(PiecesRun):
    """The same for many symbols, where free prices take long to settle: they are confined to a box around the best so far."""

    def start(self) -> None:
        size = len(self.joint.p_x)
        self.boxed = BoxedMixture(self.joint.p_x, self.before)
        self._offer(self.mixture.points)
        if self.inner.perfect:  # else these are dense: the linear program would be slow
            self._offer(first_points(self.joint, self.inner, self.clock))
        self.prices = self.mixture_prices.times(0.0)
        self._price_at(self.prices)
        # What is least for a piece alone is a column, whatever prices will be.
        self._offer(self._inside(self.search.points))
        self.best, self.width = self._alone(np.full(size, self.search.lower_bound)), np.full(size, _BOX)

    def _offer(self, points: Array) -> None:
        self.boxed.add(points, self.utility.uncertainty(points))

    def price(self) -> bool:
        boxed = self.boxed.solve(self.best.symbols, self.width, self.clock.left)
        if boxed is None:
            return False
        self.prices = self._alone(boxed.prices)
        self.found = self._paying(self._price_at(self.prices))
        settled = boxed.slack < _NO_SLACK and (not len(self.found) or self.search.lower_bound >= -self.left)
        if not len(self.found):
            self.width = _WIDER * self.width
        self._mix(boxed)
        return not settled

    def _mix(self, boxed: Boxed) -> None:
        """The columns of a solution with slacks as a mixture: what they miss of P_X is a column of its own, near P_X."""
        used = boxed.weights > TOLERANCE
        points, weights = self.boxed.points[: len(used)][used], boxed.weights[used] / boxed.weights[used].sum()
        mean, p_x = points.T @ weights, self.joint.p_x
        for share in _SHARES:
            rest = (p_x - (1 - share) * mean)[None] / share
            if rest.min() >= 0 and self.inner.allows(rest @ self.joint.lift.T, self.joint.p_s).all():
                break
        else:
            return
        own = self.boxed.costs[: len(used)][used], self.utility.uncertainty(rest)
        mixture = _Whole(
            csr_array(vstack([points, csr_array(rest)])),
            np.concatenate(own),
            np.append((1 - share) * weights, share),
            boxed.prices,
        )
        if mixture.value < self.mixture.value:
            self.mixture = mixture

    def improve(self) -> None:
        self._offer(self.found)

    def _alone(self, symbols: Array) -> _Prices:
        """Prices where no promise is on average: a box steadies those of symbols alone."""
        return _Prices(symbols, np.empty(0))
