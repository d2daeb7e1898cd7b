"""Three secrets or more: columns from local minima, and branch and bound for what no mechanism can exceed."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np

from alphalift.arrays import Array
from alphalift.clock import Clock
from alphalift.geometry.concave import ConcaveProgram, Search
from alphalift.joint import Joint
from alphalift.regions import Region, averages_of, legible, perfect_privacy, perfect_privacy_beside
from alphalift.solvers.candidates import first_points, neighbours, pull_inside
from alphalift.solvers.run import Run, Settings, curve_of
from alphalift.utilities import Utility

# Nodes split at once; small at first, while each may still bring a better column.
_FEW_NODES, _MANY_NODES = 16, 64
_IDLE_ROUNDS = 3
# The share of the time that first columns leave to the search.
SEARCH_SHARE = 0.5
# Nats of budget that the program leaves unused which finds columns, to be sure of the margin that they must leave.
PROGRAM_MARGIN = 4e-11


class SearchRun(Run):
    """Columns from local minima, and branch and bound for the least h(V) - u.V, which also finds starts for them."""

    def __init__(self, settings: Settings, joint: Joint, region: Region, utility: Utility, warm: Array) -> None:
        self.program = concave_program(joint, region, utility)
        inner = legible(region, joint.p_s).tightened(PROGRAM_MARGIN)
        self.inner_program = concave_program(joint, inner, utility)
        with (settings.clock or Clock()).stopped():
            self.program.compile()
        super().__init__(settings, joint, region, utility, warm)
        if not region.perfect and is_widened(region, joint):
            # What lies in a wider set would have to move too far to keep the promise; perfect privacy loses hardly anything.
            self.inner = perfect_privacy()
            self.inner_program = concave_program(joint, perfect_privacy_beside(self.averages), utility)
        self.rooms = np.array([promise.room for promise in averages_of(region)])
        # A search may leave this much; the rest of the gap covers what the linear program itself leaves.
        self.threshold = self.final = -0.9 * settings.relative_gap * self.everything
        self.threads = settings.threads or os.cpu_count() or 1
        self.warm = len(warm) > 0
        self.search: Search | None = None
        self.exhausted = False

    def start(self) -> None:
        self.starts = first_points(self.joint, self.inner, self.clock)
        self.mixture = self.mix(self.starts)
        whole, self.clock = self.clock, self.clock.reserving(SEARCH_SHARE * self.clock.left)
        try:
            # From the columns of a smaller budget the search itself, if there is one, is quicker than all of their neighbours.
            if self.warm:
                self._improve_locally(self.starts)
            if not self.warm or self.settings.node_limit == 1:
                self._improve_around(self.mixture.points if self.warm else self.starts)
        finally:
            self.clock = whole

    def price(self) -> bool:
        # What one search has found stays a start: at later prices it leads to other columns.
        self.starts = np.concatenate([self.starts, self._search()])
        return True

    def improve(self) -> None:
        self.exhausted = not self._improve_around(self.starts)

    def _improve_around(self, starts: Array) -> bool:
        """Local phases from the starts and from the neighbours of the columns in use, while these pay."""
        improved, paying = self._improve_locally(starts), True
        while paying and self.limit is None:
            before = self.mixture.value
            if not self._add(neighbours(self.mixture.points)):
                break
            improved = True
            self._improve_locally(starts)
            paying = before - self.mixture.value > -self.threshold
        return improved

    def _improve_locally(self, starts: Array) -> bool:
        """Columns from local minima alone, until they stop paying: cheap, and prices become sensible."""
        improved, idle = False, 0
        while idle < _IDLE_ROUNDS and self.limit is None:
            before = self.mixture.value
            if not self._add(np.concatenate([starts, self.mixture.points])):
                break
            improved = True
            # Degenerate steps change only the prices; a few of them are worth their while.
            idle = idle + 1 if before - self.mixture.value < -0.02 * self.threshold else 0
        return improved

    def _add(self, starts: Array) -> bool:
        """Descend from the starts, keep what has a negative reduced cost, mix again; whether there was any."""
        prices, program = self.mixture.prices, self.inner_program
        costs = self.average_prices @ program.body.used
        points, values = program.local_minima(prices, starts, self.threads, self.clock, costs)
        points = pull_inside(points[values < 0.1 * self.threshold], self.joint, self.inner, self.clock)
        points = points[self.reduced_costs(points) < 0.1 * self.threshold]
        if not len(points):
            return False
        _, first = np.unique(points.round(7), axis=0, return_index=True)
        self.mixture = self.mix(points[first])
        return True

    @property
    def average_prices(self) -> Array:
        """lambda, what a unit of each promise on average costs at the mixture's prices."""
        rooms = np.array([promise.room for promise in self.averages])
        return np.asarray(self.mixture.budget_prices / rooms)

    def new_search(self, prices: Array, costs: Array) -> Search:
        return Search(self.program, prices, self.threshold, self.threads, costs=costs)

    def _search(self) -> Array:
        """Branch and bound at the present prices: improves the bound, returns starts for better columns.

        It ends when closed, at a limit, or once enough starts lie below the threshold, unless those had been exhausted.
        """
        prices, of_averages = self.mixture.prices, self.average_prices
        costs = of_averages @ self.program.body.used
        if self.search is None:
            self.search = self.new_search(prices, costs)
        else:
            self.search.change_prices(prices, self.threshold, costs)
        search = self.search
        found, enough = [np.empty((0, len(prices)))], 2 * len(prices) + 20
        total = 0
        while not search.finished and self.limit is None and (self.exhausted or total < enough):
            points = search.grow(_FEW_NODES if search.nodes < 8 * len(prices) else _MANY_NODES)
            found.append(points[self.reduced_costs(points) < self.final])
            total += len(found[-1])
            self.nodes = search.nodes
        self.use_bound(
            prices,
            search.lower_bound,
            lambda: replace(search.certificate(), average_prices=of_averages),
            float(of_averages @ self.rooms),
        )
        return np.concatenate(found)


def concave_program(joint: Joint, region: Region, utility: Utility) -> ConcaveProgram:
    """The pricing problem of a region: what every V in it costs, but for the prices."""
    curve, scales = curve_of(utility), utility.scales(joint.p_x)
    return ConcaveProgram(region.convex_set(joint), curve, scales, joint.p_s_given_x.T, float(joint.p_s.min()))


def is_widened(region: Region, joint: Joint) -> bool:
    """Whether the kernels' set is larger than what is allowed: good for bounds, but not for columns."""
    pairs = zip(region.components, region.constraints(joint), strict=True)
    return any((own.constraint(joint.p_s).directions != solved.directions).any() for own, solved in pairs)
