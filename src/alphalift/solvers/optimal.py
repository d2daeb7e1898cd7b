"""The certified optimum: column generation for the mechanism, branch and bound for what no mechanism can exceed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from scipy.sparse import csr_array, vstack

from alphalift.convex import ConvexSet
from alphalift.errors import SettingError
from alphalift.exact import Array
from alphalift.geometry.concave import Certificate, ConcaveProgram, PairCertificate, Search
from alphalift.geometry.mixture import Mixture
from alphalift.joint import Joint
from alphalift.mechanism import Mechanism
from alphalift.regions import Region, simplest
from alphalift.solution import Solution, Status
from alphalift.solvers.base import continues, mixture_program, rising
from alphalift.solvers.binary import BinaryPosteriors
from alphalift.solvers.candidates import neighbours, pull_inside, towards_symbols
from alphalift.utilities import Utility

# For the rounding of u.P_X; the kernels look after their own sums.
_ROUNDING = 1e-12
# Nodes split at once; small at first, while each may still bring a better column.
_FEW_NODES, _MANY_NODES = 16, 64
_IDLE_ROUNDS = 3
# Nats of budget that columns leave unused, and that the program which finds them does, to be sure of it.
_MARGIN, _PROGRAM_MARGIN = 2e-11, 4e-11
# Columns kept for each symbol of X in the exact program for two secrets.
_MOST_KEPT = 6
# Columns for each symbol of X that a search takes over from those before it.
_MOST_WARM = 8


@dataclass(frozen=True)
class Progress:
    """How far a solver has come: the best mechanism's utility, a bound on every mechanism's, their gap, seconds."""

    utility: float
    upper_bound: float
    relative_gap: float
    seconds: float


@dataclass(frozen=True)
class Optimal:
    """Stops within `relative_gap` of the optimum, or at a limit with the best mechanism and a valid bound.

    `time_limit` is in seconds for each region; `node_limit` bounds the work itself, so that a run that ends
    there can be repeated exactly. `progress` is called as the gap closes. Ctrl-C ends the search and returns
    the best so far. `keep_certificate` keeps the tree that proves the bound in the solution. `threads` share
    the search, one a core unless told; answers do not depend on it.
    """

    relative_gap: float = 1e-4
    time_limit: float = 60.0
    node_limit: int | None = None
    progress: Callable[[Progress], None] | None = field(default=None, compare=False, repr=False)
    keep_certificate: bool = True
    threads: int | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not 0 < self.relative_gap < 1:
            raise SettingError(f"relative_gap is {self.relative_gap:g}, expected a number between 0 and 1")
        if not self.time_limit > 0:
            raise SettingError(f"time_limit is {self.time_limit:g}, expected seconds above 0")
        if self.node_limit is not None and self.node_limit < 1:
            raise SettingError(f"node_limit is {self.node_limit}, expected 1 or more")
        if self.threads is not None and self.threads < 1:
            raise SettingError(f"threads is {self.threads}, expected 1 or more")

    def chains(self, regions: Sequence[Region]) -> list[slice]:
        return rising(regions)

    def solve(
        self, joint: Joint, regions: Sequence[Region], utility: Utility, *, after: Sequence[Solution] = ()
    ) -> tuple[Solution, ...]:
        solutions, chain = [], list(after)
        for region in regions:
            region.validate(joint.p_s)
            if chain and not continues(chain[-1].region, region):
                chain = []
            if region.allows(joint.lift.T, joint.p_s).all():
                solution = _published(joint, region, utility)
            else:
                run = _Run(self, joint, simplest(region), utility, _columns(chain, len(joint.p_x)))
                solution = replace(run.solve(), region=region)
            chain.append(solution)
            solutions.append(solution)
        return tuple(solutions)


def _columns(chain: Sequence[Solution], size: int) -> Array:
    """The latest posteriors of the chain, (count, |X|): neighbours share them, and those still allowed are offered again."""
    most = _MOST_WARM * size
    searched = [solution for solution in chain[-most:] if solution.status is not Status.TRIVIAL]
    return np.concatenate([np.empty((0, size)), *(solution.mechanism.p_x_given_y.T for solution in searched)])[-most:]


def _published(joint: Joint, region: Region, utility: Utility) -> Solution:
    everything = Mechanism.publishing_all(joint)
    return Solution(everything, region, utility, Status.TRIVIAL, utility.of_publishing_all(joint.p_x))


class _Run:
    """One region's search: the linear program over the columns so far, and the best bound so far."""

    def __init__(self, settings: Optimal, joint: Joint, region: Region, utility: Utility, warm: Array) -> None:
        self.settings, self.joint, self.region, self.utility = settings, joint, region, utility
        self.program = concave_program(joint, region, utility)
        # Columns lie a little inside, so that rounding them to integers later breaks no promise; bounds do not.
        self.inner = region.tightened(_MARGIN)
        self.inner_program = concave_program(joint, region.tightened(_PROGRAM_MARGIN), utility)
        # The clock starts after this: compiling, once on a machine, is not part of a search's time.
        self.program.compile()
        self.begin = time.perf_counter()
        self.everything = utility.of_publishing_all(joint.p_x)
        self.before = float(utility.uncertainty(joint.p_x[None])[0])
        # A search may leave this much; the rest of the gap covers what the linear program itself leaves.
        self.threshold = -0.9 * settings.relative_gap * self.everything
        self.upper_bound = self.everything
        self.certificate: Certificate | PairCertificate | None = None
        self.nodes = 0
        self.search: Search | None = None
        self.mixtures = mixture_program(joint, utility)
        self.columns, self.costs = np.empty((0, len(joint.p_x))), np.empty(0)
        self.mixture = self._mix(warm[self.inner.allows(warm @ joint.lift.T, joint.p_s)])

    def _mix(self, points: Array) -> Mixture:
        """Offer more columns and mix again."""
        self.columns = np.concatenate([self.columns, points])
        self.costs = np.concatenate([self.costs, self.utility.uncertainty(points)])
        return self.mixtures.solve(self.columns, self.costs)

    @property
    def gap(self) -> float:
        return max(0.0, self.upper_bound - (self.before - self.mixture.value)) / self.everything

    @property
    def limit(self) -> Status | None:
        """The limit that has been reached, if any."""
        if self.settings.node_limit is not None and self.nodes >= self.settings.node_limit:
            return Status.NODE_LIMIT
        if time.perf_counter() - self.begin > self.settings.time_limit:
            return Status.TIME_LIMIT
        return None

    def solve(self) -> Solution:
        try:
            status = self._close_gap()
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
        weights = self.mixture.exact_weights(self.joint.p_x)
        mechanism = Mechanism.mixing(self.joint, self.mixture.points, weights)
        return Solution(mechanism, self.region, self.utility, status, self.upper_bound, self.certificate)

    def _close_gap(self) -> Status:
        if len(self.joint.p_s) == 2:
            return self._close_binary()
        starts = towards_symbols(self.joint, self.inner)
        self.mixture = self._mix(starts)
        self._improve_locally(starts)
        exhausted = False
        while True:
            found = self._price(until_closed=exhausted)
            self._report()
            if self.gap <= self.settings.relative_gap:
                return Status.OPTIMAL
            if self.limit is not None:
                return self.limit
            # What one search has found stays a start: at later prices it leads to other columns.
            starts = np.concatenate([starts, found])
            exhausted = not self._improve_around(starts)

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
        prices = self.mixture.prices
        points, values = self.inner_program.local_minima(prices, starts)
        points = pull_inside(points[values < 0.1 * self.threshold], self.joint, self.inner)
        points = points[self.utility.uncertainty(points) - points @ prices < 0.1 * self.threshold]
        if not len(points):
            return False
        _, first = np.unique(points.round(7), axis=0, return_index=True)
        self.mixture = self._mix(points[first])
        return True

    def _price(self, *, until_closed: bool) -> Array:
        """Branch and bound at the present prices: raises the bound, returns starts for better columns.

        It ends when closed, at a limit, or, unless `until_closed`, once enough starts lie below the threshold.
        """
        prices = self.mixture.prices
        if self.search is None:
            self.search = Search(self.program, prices, self.threshold, self.settings.threads or os.cpu_count() or 1)
        else:
            self.search.change_prices(prices)
        search = self.search
        found, enough = [np.empty((0, len(prices)))], 2 * len(prices) + 20
        total = 0
        while not search.finished and self.limit is None and (until_closed or total < enough):
            points = search.grow(_FEW_NODES if search.nodes < 8 * len(prices) else _MANY_NODES)
            objective = self.utility.uncertainty(points) - points @ prices
            found.append(points[objective < self.threshold])
            total += len(found[-1])
            self.nodes = search.nodes
        self._use_bound(prices, search.lower_bound, search.certificate)
        return np.concatenate(found)

    def _use_bound(
        self, prices: Array, lowest: float, certificate: Callable[[], Certificate | PairCertificate]
    ) -> None:
        """No allowed V has h(V) - prices.V below `lowest`: a bound on every mechanism, kept if it is the best so far."""
        rounding = _ROUNDING * (1 + float(np.abs(prices) @ self.joint.p_x))
        bound = self.before - float(prices @ self.joint.p_x) - lowest + rounding
        if bound < self.upper_bound:
            self.upper_bound = bound
            self.certificate = certificate() if self.settings.keep_certificate else None

    def _close_binary(self) -> Status:
        """Two secrets: every extreme posterior is on a finite list, and pricing over it is exact."""
        posteriors = BinaryPosteriors.of(self.joint, self.inner, self.utility)
        all_posteriors = BinaryPosteriors.of(self.joint, self.region, self.utility)
        self.mixture = self._mix(posteriors.first_mixture(self.joint.p_x))
        columns, costs = csr_array(self.columns), self.costs
        while True:
            prices = self.mixture.prices
            lowest, points, their_costs = posteriors.cheapest(prices)
            least = min(0.0, all_posteriors.cheapest(prices)[0])
            self._use_bound(prices, least, partial(PairCertificate, prices))
            self._report()
            if self.gap <= self.settings.relative_gap:
                return Status.OPTIMAL
            if lowest > -1e-13:  # no column is left that could help: floats end here
                return Status.FEASIBLE
            if self.limit is not None:
                return self.limit
            kept = _MOST_KEPT * len(prices)
            columns, costs = vstack([columns[-kept:], points]), np.concatenate([costs[-kept:], their_costs])
            self.mixture = self.mixtures.solve(columns, costs)

    def _report(self) -> None:
        if self.settings.progress is not None:
            seconds = time.perf_counter() - self.begin
            self.settings.progress(Progress(self.before - self.mixture.value, self.upper_bound, self.gap, seconds))


def concave_program(joint: Joint, region: Region, utility: Utility) -> ConcaveProgram:
    """The pricing problem of a region: what every V in it costs, but for the prices."""
    curve = utility.compiled_curve()
    if curve is None:
        raise SettingError(f"Optimal needs a compiled curve, which {utility} does not bring")
    body = ConvexSet.intersecting([component.part(joint.p_s) for component in region.components])
    return ConcaveProgram(body, curve, joint.p_s_given_x.T)
