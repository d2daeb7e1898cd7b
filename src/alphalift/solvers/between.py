"""Between two budgets: columns that move with the budget, and prices on a line that suit both ends and what is between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from alphalift.arrays import Array
from alphalift.clock import Clock
from alphalift.geometry.concave import ConcaveProgram
from alphalift.geometry.mixture import MixtureProgram
from alphalift.joint import Joint
from alphalift.mechanism import Mechanism
from alphalift.regions import Region
from alphalift.solvers.base import mixture_program
from alphalift.solvers.run import MARGIN
from alphalift.utilities import Utility

# Towards the end of a column's way that a budget allows.
_HALVINGS = 24
# Rounds of columns for prices on a line, and starts of local minima in each.
_ROUNDS, _MOST_STARTS = 3, 24


@dataclass(frozen=True, eq=False)
class Track:
    """Posteriors that go from `first` to `last`, rows alike, as far as each budget of `regions` allows, mixed anew at each.

    The first are allowed at all of these budgets, which rise.
    """

    joint: Joint
    utility: Utility
    first: Array
    last: Array
    regions: Sequence[Region]

    @cached_property
    def points(self) -> Array:
        """(budgets, rows, |X|)."""
        region, p_s, lift = self.regions[-1], self.joint.p_s, self.joint.lift.T
        budgets = np.array([own.tightened(MARGIN).budget for own in self.regions])[:, None]
        shape = len(self.regions), len(self.first)
        start, way = (self.first @ lift)[None], ((self.last - self.first) @ lift)[None]

        def allowed(shares: Array) -> Array:
            lifts = start + shares[..., None] * way
            return np.asarray(region.value(lifts.reshape(-1, len(p_s)), p_s).reshape(shape) <= budgets)

        low, high = np.zeros(shape), np.ones(shape)
        whole = allowed(high)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            kept = allowed(middle)
            low, high = np.where(kept, middle, low), np.where(kept, high, middle)
        share = np.where(whole, 1.0, low)[..., None]
        return np.asarray((1 - share) * self.first + share * self.last)

    @cached_property
    def mechanisms(self) -> list[Mechanism]:
        """The best mixture of the posteriors at each budget."""
        program, p_x, found = mixture_program(self.joint, self.utility), self.joint.p_x, []
        lifts = self.points @ self.joint.lift.T
        for points, own, region in zip(self.points, lifts, self.regions, strict=True):
            points = points[region.allows(own, self.joint.p_s)]
            mixture = program.solve(points, self.utility.uncertainty(points))
            found.append(Mechanism.mixing(self.joint, mixture.points, mixture.exact_weights(p_x)))
        return found


def moved(program: ConcaveProgram, prices: Array, points: Array, clock: Clock) -> Array:
    """Where these columns are at another budget, with its prices: local minima near them, and what has none stays."""
    found, values = program.local_minima(prices, points, clock=clock)
    return np.where(np.isfinite(values)[:, None], found, points)


def prices_on_a_line(
    programs: Sequence[ConcaveProgram],
    shares: Sequence[float],
    columns: tuple[Array, Array],
    p_x: Array,
    utility: Utility,
    tolerance: float,
    clock: Clock,
) -> tuple[Array, Array]:
    """(u0, u1) with the least h(P_X) - u.P_X at both ends together for which columns on the way pay nothing.

    Columns at the share theta between the ends ask for h(V) >= (1 - theta) u0.V + theta u1.V. They are those of both ends, and
    local minima at the programs, one for each share: the dual is a linear program over pairs of posteriors.
    """
    size = len(p_x)
    mixtures = MixtureProgram(np.tile(p_x, 2), 2 * float(utility.uncertainty(p_x[None])[0]))

    def wide(points: Array, share: float) -> Array:
        return np.hstack([2 * (1 - share) * points, 2 * share * points])

    offered = [wide(columns[0], 0.0), wide(columns[0], 1.0), wide(columns[1], 1.0), wide(p_x[None], 0.0)]
    costs = [2 * utility.uncertainty(own) for own in (columns[0], columns[0], columns[1], p_x[None])]
    starts = np.concatenate(columns)
    for _ in range(_ROUNDS):
        prices = mixtures.solve(np.concatenate(offered), np.concatenate(costs)).prices
        fresh = []
        for program, share in zip(programs, shares, strict=True):
            found, values = program.local_minima(
                (1 - share) * prices[:size] + share * prices[size:], starts, clock=clock
            )
            found = found[values < -tolerance]
            if len(found):
                found = found[np.unique(found.round(6), axis=0, return_index=True)[1]]
                offered.append(wide(found, share))
                costs.append(2 * utility.uncertainty(found))
                fresh.append(found)
        if not fresh:
            break
        starts = np.concatenate([*fresh, *columns])[:_MOST_STARTS]
    prices = mixtures.solve(np.concatenate(offered), np.concatenate(costs)).prices
    return prices[:size].copy(), prices[size:].copy()
