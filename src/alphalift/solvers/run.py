"""One region's way to a certified optimum: columns are mixed and bounded in turns, until the gap is closed."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from alphalift.arrays import Array, Rows
from alphalift.clock import Clock
from alphalift.effort import most_nodes
from alphalift.errors import SettingError
from alphalift.geometry.bound import UNIT_ROUNDOFF
from alphalift.geometry.concave import AnyCertificate
from alphalift.geometry.mixture import Mixture
from alphalift.joint import Joint
from alphalift.mechanism import Mechanism
from alphalift.regions import Region, averages_of, legible, of_every_output
from alphalift.solution import Solution, Status
from alphalift.solvers.base import mixture_program
from alphalift.utilities import Utility

# For the rounding of h(P_X) - u.P_X, or what floats need for many symbols; whoever finds the least h(V) - u.V looks after
# its own.
_SUM_ROUNDING = 1e-12
# Nats of budget that columns leave unused.
MARGIN = 2e-11


@dataclass(frozen=True)
class Progress:
    """How far a solver has come: the best mechanism's utility, a bound on every mechanism's, their gap, seconds."""

    utility: float
    upper_bound: float
    relative_gap: float
    seconds: float


@dataclass(frozen=True)
class Settings:
    """When a run ends, what it tells and what it keeps: see `Optimal`. `clock` is the request's, if it is part of one."""

    relative_gap: float = 1e-4
    time_limit: float = 60.0
    node_limit: int | None = None
    progress: Callable[[Progress], None] | None = field(default=None, compare=False, repr=False)
    keep_certificate: bool = True
    threads: int | None = field(default=None, compare=False, repr=False)
    clock: Clock | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not 0 < self.relative_gap < 1:
            raise SettingError(f"relative_gap is {self.relative_gap:g}, expected a number between 0 and 1")
        if not self.time_limit > 0:
            raise SettingError(f"time_limit is {self.time_limit:g}, expected seconds above 0")
        if self.node_limit is not None and self.node_limit < 1:
            raise SettingError(f"node_limit is {self.node_limit}, expected 1 or more")
        if self.threads is not None and self.threads < 1:
            raise SettingError(f"threads is {self.threads}, expected 1 or more")


class Run(ABC):
    """The linear program over the columns so far, and the best bound so far; how to find either is a subclass's."""

    def __init__(self, settings: Settings, joint: Joint, region: Region, utility: Utility, warm: Array) -> None:
        self.settings, self.joint, self.region, self.utility = settings, joint, region, utility
        # Columns lie a little inside, so that rounding them to integers later breaks no promise; bounds do not.
        inner = legible(region, joint.p_s).tightened(MARGIN)
        # What every column has to keep, and what all of them have to keep on average.
        self.inner, self.averages = of_every_output(inner), averages_of(inner)
        self.clock = settings.clock or Clock(settings.time_limit)
        self.everything = utility.of_publishing_all(joint.p_x)
        self.before = float(utility.uncertainty(joint.p_x[None])[0])
        self.upper_bound = self.everything
        self.certificate: AnyCertificate | None = None
        self.nodes = 0
        self.most_nodes = min(settings.node_limit or math.inf, most_nodes(joint))
        self.mixtures = mixture_program(joint, utility, len(self.averages))
        self.mixtures.deadline = time.perf_counter() + self.clock.left
        self.columns, self.costs = np.empty((0, len(joint.p_x))), np.empty(0)
        self.used = np.empty((0, len(self.averages)))
        self.mixture = self.mix(warm[self.inner.allows(warm @ joint.lift.T, joint.p_s)])

    @abstractmethod
    def start(self) -> None:
        """Mix the first columns."""

    @abstractmethod
    def price(self) -> bool:
        """Bound every mechanism at the mixture's prices (`use_bound`); whether columns may be left that help."""

    @abstractmethod
    def improve(self) -> None:
        """Mix better columns, such as `price` has found."""

    def solve(self) -> Solution:
        try:
            status = self._close_gap()
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
        return Solution(self.mechanism(), self.region, self.utility, status, self.upper_bound, self.certificate)

    def mechanism(self) -> Mechanism:
        """The best mixture so far."""
        weights = self.mixture.exact_weights(self.joint.p_x)
        mechanism = Mechanism.mixing(self.joint, self.mixture.stored_points, weights)
        used = self.shares(mechanism.posteriors).T @ mechanism.p_y if self.averages else np.zeros(1)
        # A mean that a solver's tolerance left above its budget: values fall at least as fast as noise grows.
        return mechanism.with_noise(1 - 1 / used.max()) if used.max() > 1 else mechanism

    def _close_gap(self) -> Status:
        self.start()
        while True:
            hopeful = self.price()
            self._report()
            if self.gap <= self.settings.relative_gap:
                return Status.OPTIMAL
            if self.limit is not None:
                return self.limit
            if not hopeful:
                return Status.FEASIBLE
            self.improve()

    def mix(self, points: Array) -> Mixture:
        """Offer more columns and mix again."""
        self.columns = np.concatenate([self.columns, points])
        self.costs = np.concatenate([self.costs, self.utility.uncertainty(points)])
        self.used = np.concatenate([self.used, self.shares(points)])
        return self.mixtures.solve(self.columns, self.costs, self.used)

    def shares(self, points: Rows) -> Array:
        """Which shares of their budgets, (count, averages), promises on average see used up by these posteriors."""
        return self.uses(points) / np.array([promise.room for promise in self.averages])

    def uses(self, points: Rows) -> Array:
        """How much of their budgets that is, (count, averages)."""
        if not self.averages:
            return np.empty((points.shape[0], 0))
        lifts, p_s = points @ self.joint.lift.T, self.joint.p_s
        return np.stack([promise.above_least(lifts, p_s) for promise in self.averages], axis=1)

    def reduced_costs(self, points: Array) -> Array:
        """h(V) - u.V + lambda.psi(V) of every row at the mixture's prices."""
        found = self.utility.uncertainty(points) - points @ self.mixture.prices
        return np.asarray(found + self.shares(points) @ self.mixture.budget_prices)

    def use_bound(
        self, prices: Array, lowest: float, certificate: Callable[[], AnyCertificate], paid: float = 0.0
    ) -> None:
        """No allowed V has h(V) - prices.V below `lowest`: a bound on every mechanism, kept if it is the best so far.

        With promises on average, what V uses of them costs something, and `paid` is what all of their budgets cost.
        """
        size = len(prices)
        share = max(_SUM_ROUNDING, UNIT_ROUNDOFF * (size + 16) * (1 + math.log(size)))
        rounding = share * (1 + paid + float(np.abs(prices) @ self.joint.p_x))
        bound = self.before - float(prices @ self.joint.p_x) + paid - lowest + rounding
        if bound < self.upper_bound:
            self.upper_bound = bound
            self.certificate = certificate() if self.settings.keep_certificate else None

    @property
    def gap(self) -> float:
        return max(0.0, self.upper_bound - (self.before - self.mixture.value)) / self.everything

    @property
    def limit(self) -> Status | None:
        """The limit that has been reached, if any."""
        if self.nodes >= self.most_nodes:
            return Status.NODE_LIMIT
        return Status.TIME_LIMIT if self.clock.over else None

    def _report(self) -> None:
        if self.settings.progress is not None:
            now = Progress(self.before - self.mixture.value, self.upper_bound, self.gap, self.clock.elapsed)
            self.settings.progress(now)


def curve_of(utility: Utility) -> Any:
    """The compiled phi with h(V) = sum_x phi(V_x), on which every way to a bound relies."""
    curve = utility.compiled_curve()
    if curve is None:
        raise SettingError(f"Optimal needs a compiled curve, which {utility} does not bring")
    return curve
