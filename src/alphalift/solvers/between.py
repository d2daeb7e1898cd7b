"""Between two budgets: mechanisms without a bound at each, mixtures of columns that move with the budget, and prices on a line."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from alphalift.arrays import Array
from alphalift.geometry.mixture import MixtureProgram
from alphalift.joint import Joint
from alphalift.solvers.base import mixture_program
from alphalift.solvers.candidates import first_points, pull_inside
from alphalift.solvers.search import SearchRun
from alphalift.utilities import Utility

# Columns whose reduced cost is this share of what publishing X is worth, or less, are kept for neighbours; at most so many a symbol.
_NEAR, _MOST_KEPT = 0.02, 4
# Columns that differ by less are one; starts that differ by less lead to one.
_DIGITS = 5
# The weights of a mixture may miss the mean by this, as a share of it; smaller ones are zeros.
_MISSED = 1e-12


def distinct(points: Array) -> Array:
    """Without repetitions, but for small differences."""
    return np.asarray(points[np.unique(points.round(_DIGITS), axis=0, return_index=True)[1]])


class LocalRun(SearchRun):
    """Columns from local minima near those of other budgets: a mechanism, and no bound."""

    def price(self) -> bool:
        return False

    def from_columns(self, starts: Array) -> bool:
        """Columns near these and near those in use, until they stop paying; whether there were any."""
        inside = pull_inside(starts, self.joint, self.inner, self.clock)
        self.mixture = self.mix(np.concatenate([first_points(self.joint, self.inner, self.clock), inside]))
        found = False
        starts = np.concatenate([starts, self.mixture.points])
        while self.limit is None:
            before = self.mixture.value
            if not self._add(starts):
                break
            found, starts = True, self.mixture.points
            if before - self.mixture.value < -0.05 * self.threshold:
                break
        return found

    @property
    def kept(self) -> Array:
        """The columns in use, and others that are worth nearly as much at the prices, (count, |X|)."""
        reduced = self.reduced_costs(self.columns)
        near = np.argsort(reduced)[: _MOST_KEPT * len(self.joint.p_x)]
        near = near[reduced[near] < _NEAR * self.everything]
        return distinct(np.concatenate([self.mixture.points, self.columns[near]]))


@dataclass(frozen=True, eq=False)
class Moving:
    """Posteriors that go from `first` to `last`, rows alike, mixed anew on the way.

    A row is allowed at a budget between if it is at its own ends, since sets of posteriors grow no slower than that.
    """

    joint: Joint
    utility: Utility
    first: Array
    last: Array

    @classmethod
    def of(cls, joint: Joint, utility: Utility, left: Array, right: Array) -> Moving:
        """Every column of either end and the one that is most like it at the other."""
        apart = np.abs(left[:, None] - right[None]).sum(axis=2)
        pairs = {(i, int(apart[i].argmin())) for i in range(len(left))} | {
            (int(apart[:, j].argmin()), j) for j in range(len(right))
        }
        rows = np.array(sorted(pairs))
        # Those of the left end also as they are: with them there is a mixture everywhere.
        first = np.concatenate([left[rows[:, 0]], left])
        return cls(joint, utility, first, np.concatenate([right[rows[:, 1]], left]))

    def at(self, theta: float) -> Array:
        return np.asarray((1 - theta) * self.first + theta * self.last)

    def used_at(self, theta: float) -> Array:
        """Which rows the best mixture there consists of."""
        points = self.at(theta)
        program = mixture_program(self.joint, self.utility)
        mixture = program.solve(points, self.utility.uncertainty(points))
        apart = np.abs(mixture.points[:, None] - points[None]).sum(axis=2)
        return np.unique(apart.argmin(axis=1))

    def mixed(self, rows: Array, thetas: Array) -> tuple[NDArray[np.bool_], Array, Array]:
        """These rows at every theta with weights that make them a mechanism: whether there are such, and where: points, weights."""
        points = (1 - thetas)[:, None, None] * self.first[rows] + thetas[:, None, None] * self.last[rows]
        mean = self.joint.p_x
        systems = np.swapaxes(points / mean, 1, 2)
        ones = np.ones((len(thetas), len(mean), 1))
        try:
            weights = np.linalg.solve(systems, ones) if len(rows) == len(mean) else np.linalg.pinv(systems) @ ones
        except np.linalg.LinAlgError:
            weights = np.linalg.pinv(systems) @ ones
        missed = np.abs(systems @ weights - 1).max(axis=(1, 2))
        weights = np.where(np.abs(weights[..., 0]) < _MISSED, 0.0, weights[..., 0])
        good = (weights.min(axis=1) >= 0) & (missed < _MISSED)
        return good, points[good], weights[good]


@dataclass(eq=False)
class LinePrices:
    """(u0, u1) with the least h(P_X) - u.P_X at both ends together for which the known columns pay nothing.

    Columns at the share theta between the ends ask for h(V) >= (1 - theta) u0.V + theta u1.V: the dual is a linear program over pairs
    of posteriors.
    """

    p_x: Array
    utility: Utility
    program: MixtureProgram = field(init=False)
    offered: list[Array] = field(init=False, default_factory=list)
    costs: list[Array] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        cost = 2 * float(self.utility.uncertainty(self.p_x[None])[0])
        self.program = MixtureProgram(np.tile(self.p_x, 2), cost)

    def offer(self, points: Array, theta: float) -> None:
        self.offered.append(np.hstack([2 * (1 - theta) * points, 2 * theta * points]))
        self.costs.append(2 * self.utility.uncertainty(points))

    def solve(self) -> tuple[Array, Array]:
        prices = self.program.solve(np.concatenate(self.offered), np.concatenate(self.costs)).prices
        size = len(self.p_x)
        return prices[:size].copy(), prices[size:].copy()
