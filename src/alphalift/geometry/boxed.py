"""The linear program of `mixture` with its prices confined to a box, which steadies column generation.

    minimise sum Q_i cost_i + (center + width).up - (center - width).down
    over Q, up, down >= 0  with  sum Q_i point_i + up - down = mean,  sum Q_i = 1

The duals of the first rows lie in [center - width, center + width]; that of the last, a constant for all symbols, is added to
them, so prices lie in the box up to a constant. With few columns, free prices are wild and ask for columns that no optimum
has; O. du Merle et al., "Stabilized column generation", 1999.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import highspy
import numpy as np
from scipy.sparse import csr_array, hstack, vstack

from alphalift.arrays import Array
from alphalift.geometry.mixture import TOLERANCE, Mixture, new_solver

# Prices differ by tens of nats at most: they are logarithms of probabilities. Far beyond, and no number that upsets HiGHS.
_NO_BOX = 1e5
# Which share of a symbol's mass a mixture may miss: what HiGHS's tolerance leaves, and less than a mechanism's columns may.
_MOST_MISSED = 5e-7
# The share of the seconds that the first attempt gets, and what each gets at least.
_FIRST_SHARE, _LEAST_SECONDS = 0.3, 0.5
# Columns kept for each symbol when there are too many, and how many are too many.
_KEPT, _TOO_MANY = 8, 16


@dataclass(frozen=True, eq=False)
class Boxed:
    """Prices within the box, how often each column is used, and how much of the mean the slacks supply."""

    prices: Array
    weights: Array
    slack: float


class BoxedMixture:
    """The program for one mean; columns are added, and those that have long been too dear are forgotten.

    The first column is the mean itself, which stays: with it there is a mixture without slacks.
    """

    def __init__(self, mean: Array, cost_of_mean: float) -> None:
        size = len(mean)
        self._mean, self._size = mean, size
        self.points, self.costs = csr_array((0, size)), np.empty(0)
        # Rows are divided by the mean, as in `mixture`; the last one is sum Q = 1.
        self._solver = new_solver(size + 1)
        rows, limits = np.arange(size, dtype=np.int32), (np.zeros(size), np.full(size, math.inf))
        for sign in (1.0, -1.0):
            self._solver.addCols(size, np.zeros(size), *limits, size, rows, rows, sign / mean)
        self.add(mean[None], np.array([cost_of_mean]))

    def add(self, points: Array, costs: Array) -> None:
        """More columns, (count, |X|)."""
        count, more = len(costs), csr_array(points)
        scaled = csr_array((more.data / self._mean[more.indices], more.indices, more.indptr), shape=more.shape)
        whole = csr_array(np.ones((count, 1)))
        columns = hstack([scaled, whole], format="csr")
        starts, rows = columns.indptr[:-1].astype(np.int32), columns.indices.astype(np.int32)
        limits = np.zeros(count), np.full(count, math.inf)
        self._solver.addCols(count, costs, *limits, columns.nnz, starts, rows, columns.data)
        self.points, self.costs = csr_array(vstack([self.points, more])), np.concatenate([self.costs, costs])

    def solve(self, center: Array, width: Array, seconds: float) -> Boxed | None:
        """The best mixture with prices in the box; none where HiGHS finds none within the seconds."""
        slacks = np.arange(2 * self._size, dtype=np.int32)
        self._solver.changeColsCost(len(slacks), slacks, np.concatenate([center + width, width - center]))
        # Primal simplex; where it fails, or goes in circles, the dual one from the beginning.
        for strategy, share in ((4, _FIRST_SHARE), (1, 1.0)):
            if share == 1.0:
                self._solver.clearSolver()
            self._solver.setOptionValue("simplex_strategy", strategy)
            self._solver.setOptionValue("time_limit", self._solver.getRunTime() + max(share * seconds, _LEAST_SECONDS))
            self._solver.run()
            if self._solver.getModelStatus() == highspy.HighsModelStatus.kOptimal:
                solution = self._solver.getSolution()
                values, duals = np.array(solution.col_value), np.array(solution.row_dual)
                prices = duals[:-1] / self._mean + duals[-1]
                self._forget(prices, values[len(slacks) :])
                return Boxed(prices, values[len(slacks) :][self._kept], float(values[: len(slacks)].sum()))
        return None

    def mix(self, center: Array, seconds: float) -> Mixture | None:
        """The best mixture without a box: with one that is too wide to bind; none where it was not found in time."""
        found = self.solve(center, np.full(self._size, _NO_BOX), seconds)
        if found is None:
            return None
        used = found.weights > TOLERANCE
        points, weights = self.points[used], found.weights[used]
        # A slack is tiny beside 1, and yet may be more of a rare symbol than a mixture can miss.
        if np.abs(points.T @ weights / self._mean - 1).max() > _MOST_MISSED:
            return None
        return Mixture(points, self.costs[used], weights, found.prices)

    def _forget(self, prices: Array, weights: Array) -> None:
        """Where there are too many columns, keep those in use and the cheapest."""
        count = len(self.costs)
        self._kept = np.ones(count, np.bool_)
        if count <= _TOO_MANY * self._size:
            return
        reduced = np.where(weights > 0, -np.inf, self.costs - self.points @ prices)
        reduced[0] = -np.inf
        self._kept[np.argsort(reduced, kind="stable")[_KEPT * self._size :]] = False
        gone = 2 * self._size + np.flatnonzero(~self._kept)
        self._solver.deleteCols(len(gone), gone.astype(np.int32))
        self.points, self.costs = self.points[self._kept], self.costs[self._kept]
