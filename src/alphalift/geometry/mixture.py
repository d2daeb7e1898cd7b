"""The one linear program: how often to use each candidate point so that their mean is a given distribution."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import highspy
import numpy as np
from scipy.sparse import csc_array, csr_array, hstack, vstack
from scipy.sparse.linalg import splu

from alphalift.arrays import Array

# HiGHS's smallest tolerance. Its answers only choose candidates; weights are solved for again afterwards.
TOLERANCE = 1e-10
# Where it fails at that, on programs that are nearly degenerate.
_LOOSE_TOLERANCE = 1e-8
# A reduced cost above minus this cannot improve the value by more than this: the columns' weights sum to one.
_PRICE_TOLERANCE = 1e-10
_COLUMNS_A_ROUND, _ROUND_PER_ROW = 30, 3
# Solver, simplex strategy, scaling, presolve and tolerance. 4 is the primal simplex, whose basis stays feasible when
# columns are added; 1 is the dual. Scaling 2 is equilibration, HiGHS's own choice; 4 divides by the largest values. The
# interior point without a basis is the last resort: it may use more columns than rows.
_ATTEMPTS: tuple[tuple[str, int, int, str, float], ...] = (
    ("simplex", 4, 2, "off", TOLERANCE),
    ("simplex", 1, 2, "off", TOLERANCE),
    ("simplex", 4, 2, "off", _LOOSE_TOLERANCE),
    ("simplex", 1, 4, "on", _LOOSE_TOLERANCE),
    ("simplex", 4, 0, "off", _LOOSE_TOLERANCE),
    ("ipm", 1, 2, "on", _LOOSE_TOLERANCE),
)
_RULES = ("solver", "simplex_strategy", "simplex_scale_strategy", "presolve", "primal_feasibility_tolerance")
# Rows up to which weights are solved for by a dense system, which is quicker for few of them.
_FEW_ROWS = 200
# By what share of it a budget may be left and count as used up.
_USED_UP = 1e-8

# Rows are points. Sparse ones are for large alphabets, where a point has a few symbols among thousands.
Points: TypeAlias = "Array | csr_array"


@dataclass(frozen=True)
class Levels:
    """What points use up of budgets for all of them together, (count, budgets), as shares of those: sum Q_i level_i <= 1.

    `prices` are what a share costs, 0 or more.
    """

    shares: Array
    prices: Array


@dataclass(frozen=True)
class Mixture:
    """minimise sum Q_i cost_i over Q >= 0 with sum Q_i point_i = mean: the points used, their costs and weights, the duals.

    Any u gives the bound value >= u.mean + min over candidates of (cost - u.point); `prices` attains it. With budgets
    (`Levels`), any lambda >= 0 gives u.mean - sum lambda + min of (cost - u.point + lambda.level).
    """

    stored_points: Points
    costs: Array
    weights: Array
    prices: Array
    levels: Levels | None = None

    @cached_property
    def points(self) -> Array:
        return _dense(self.stored_points)

    @property
    def value(self) -> float:
        return float(self.weights @ self.costs)

    @property
    def budget_prices(self) -> Array:
        """What a share of each budget costs, (budgets,)."""
        return np.empty(0) if self.levels is None else self.levels.prices

    def exact_weights(self, mean: Array) -> Array:
        """The weights of the used points solved for again, to rounding error instead of HiGHS's tolerance."""
        try:
            exact = self._solved_dense(mean) if len(mean) <= _FEW_ROWS else self._solved_sparse(mean)
        except (np.linalg.LinAlgError, RuntimeError):  # scipy's name for a singular matrix is the latter
            return self.weights
        return exact if np.all(exact > 0) else self.weights  # false of what is no number, too

    @cached_property
    def _used_up(self) -> Array:
        """The shares of budgets that are used up, (count, budgets): rows that are to stay at 1, too."""
        if self.levels is None:
            return np.empty((len(self.weights), 0))
        shares = self.levels.shares
        return np.asarray(shares[:, self.weights @ shares > 1 - _USED_UP])

    def _solved_dense(self, mean: Array) -> Array:
        system = np.hstack([self.points / mean, self._used_up]).T
        ones, square = np.ones(len(system)), len(system) == len(self.points)
        return np.asarray(np.linalg.solve(system, ones) if square else np.linalg.lstsq(system, ones)[0], np.float64)

    def _solved_sparse(self, mean: Array) -> Array:
        """Of a square system A w = 1 the solution; else w + W A'(A W A')^-1 (1 - A w), W = diag(w), the nearest to w."""
        system = csc_array(hstack([csr_array(self.stored_points) * (1 / mean), csr_array(self._used_up)]).T)
        if system.shape[0] == system.shape[1]:
            factors = splu(system)
            solved = factors.solve(np.ones(system.shape[0]))
            return np.asarray(solved + factors.solve(1 - system @ solved))
        weighted = (system * self.weights).T
        step = splu(csc_array(system @ weighted)).solve(1 - system @ self.weights)
        return np.asarray(self.weights + weighted @ step)


class MixtureProgram:
    """The program for one mean and a series of candidate sets; each answer is a warm start for the next.

    The mean itself and the points of the previous answer always stay candidates, so values never rise along
    a series. Candidates are priced, and only promising ones are handed to HiGHS. Where HiGHS fails at every attempt, or
    reaches `deadline` (by `time.perf_counter`), the previous answer stays.

    With budgets, points have shares of them that they use up (`Levels`), the mean none.
    """

    deadline = math.inf

    def __init__(self, mean: Array, cost_of_mean: float, budgets: int = 0) -> None:
        self._mean = mean
        self._points: Points = np.empty((0, len(mean)))
        self._costs, self._shares = np.empty(0), np.empty((0, budgets))
        # Rows are divided by the mean, so that rare symbols weigh as much in HiGHS's tolerances as common ones.
        self._solver = new_solver(len(mean), budgets)
        self._add_columns(mean[None], np.array([cost_of_mean]), np.zeros((1, budgets)))
        self._weights, self._prices = np.ones(1), np.full(len(mean), cost_of_mean)
        self._budget_prices = np.zeros(budgets)

    def solve(self, points: Points, costs: Array, shares: Array | None = None) -> Mixture:
        """The best mixture of these points, the previous answer's, and the mean; with their shares of budgets, if there are any."""
        shares = np.empty((len(costs), 0)) if shares is None else shares
        self._forget_unused()
        most = max(_COLUMNS_A_ROUND, _ROUND_PER_ROW * len(self._mean))
        # Prices of the mean alone say little, so a first handful is handed over unpriced.
        chosen = np.arange(len(costs)) if len(self._costs) == 1 and len(costs) <= most else np.empty(0, np.intp)
        # A column is handed over once: tolerances may leave its reduced cost slightly negative for ever.
        handed = np.zeros(len(costs), dtype=bool)
        while True:
            if not len(chosen):
                reduced = np.where(handed, 0.0, costs - points @ self._prices + shares @ self._budget_prices)
                count = min(most, len(reduced))
                chosen = np.argpartition(reduced, count - 1)[:count] if count else chosen
                chosen = chosen[reduced[chosen] < -_PRICE_TOLERANCE]
            if not len(chosen):
                break
            handed[chosen] = True
            self._add_columns(points[chosen], costs[chosen], shares[chosen])
            if not self._run():
                break
            chosen = chosen[:0]
        used = self._weights > TOLERANCE
        levels = Levels(self._shares[used], self._budget_prices)
        return Mixture(self._points[used], self._costs[used], self._weights[used], self._prices, levels)

    def _forget_unused(self) -> None:
        """Delete the columns that the last answer did not use; its basis survives.

        The mean, the first column, stays: with it the program is feasible whatever rounding does.
        """
        used = self._weights > 0
        used[0] = True
        unused = np.flatnonzero(~used).astype(np.int32)
        if len(unused):
            self._solver.deleteCols(len(unused), unused)
            self._points, self._costs, self._shares = self._points[used], self._costs[used], self._shares[used]
            self._weights = self._weights[used]

    def _add_columns(self, points: Points, costs: Array, shares: Array) -> None:
        count = len(costs)
        if isinstance(points, csr_array):
            scaled = csr_array((points.data / self._mean[points.indices], points.indices, points.indptr), points.shape)
            columns = csr_array(hstack([scaled, csr_array(shares)])) if shares.size else scaled
            rows, starts, values = columns.indices, columns.indptr[:-1], columns.data
        else:
            whole = np.hstack([points / self._mean, shares])
            owners, rows = np.nonzero(whole)
            starts, values = np.searchsorted(owners, np.arange(count)), whole[owners, rows]
        limits = np.zeros(count), np.full(count, math.inf)
        indices = starts.astype(np.int32), rows.astype(np.int32)
        self._solver.addCols(count, costs, *limits, len(values), *indices, values)
        self._points = _stacked(self._points, points)
        self._costs, self._shares = np.concatenate([self._costs, costs]), np.concatenate([self._shares, shares])

    def _run(self) -> bool:
        """Continue from the last basis; where that fails numerically, start afresh with other rules. Whether one worked."""
        for attempt, rules in enumerate(_ATTEMPTS):
            for name, value in zip(_RULES, rules, strict=True):
                self._solver.setOptionValue(name, value)  # type: ignore[arg-type]
            self._solver.setOptionValue("dual_feasibility_tolerance", rules[-1])
            left = self.deadline - time.perf_counter()
            if left <= 0:
                break
            self._solver.setOptionValue(
                "time_limit", self._solver.getRunTime() + left
            )  # HiGHS counts all runs together
            if attempt:
                self._solver.clearSolver()
            self._solver.run()
            if self._solver.getModelStatus() == highspy.HighsModelStatus.kOptimal:
                solution = self._solver.getSolution()
                self._weights, duals = np.array(solution.col_value), np.array(solution.row_dual)
                self._prices = duals[: len(self._mean)] / self._mean
                self._budget_prices = np.maximum(-duals[len(self._mean) :], 0.0)
                return True
        self._weights = np.pad(self._weights, (0, len(self._costs) - len(self._weights)))
        return False


def _dense(points: Points) -> Array:
    return points.toarray() if isinstance(points, csr_array) else points


def _stacked(points: Points, more: Points) -> Points:
    if isinstance(more, csr_array):
        return csr_array(vstack([csr_array(points), more]))
    return np.concatenate([_dense(points), more])


def new_solver(rows: int, budgets: int = 0) -> highspy.Highs:
    """A program without columns; every row must be 1, those of budgets, which come after, at most 1."""
    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    options: dict[str, bool | int | float | str] = {
        "output_flag": False,
        "run_crossover": "off",
        "presolve": "off",
        "threads": 1,
        # With perturbed bounds the primal simplex has stopped at infeasible points on harmless programs.
        "primal_simplex_bound_perturbation_multiplier": 0.0,
    }
    for name, value in options.items():
        solver.setOptionValue(name, value)
    least, most = np.repeat([1.0, -math.inf], [rows, budgets]), np.ones(rows + budgets)
    solver.addRows(rows + budgets, least, most, 0, np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0))
    return solver
