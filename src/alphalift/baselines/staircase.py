"""The staircase mechanisms: every output is either likely or e^e times less likely."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from alphalift.arrays import Array
from alphalift.baselines.base import keeps, largest, subsets
from alphalift.errors import SettingError
from alphalift.joint import Joint
from alphalift.mechanism import Mechanism
from alphalift.regions import Region
from alphalift.solution import Solution, Status
from alphalift.solvers.base import mixture_program
from alphalift.solvers.merging import allowed
from alphalift.utilities import Utility

# Values of X whose 2^|X| columns fit in memory.
_LARGEST = 20
# Steps of the scan, its smallest step, and halvings after it; each costs a linear program.
_STEPS, _FIRST_STEP, _HALVINGS = 24, 1e-4, 30


@dataclass(frozen=True)
class Staircase:
    """The best mixture of columns P(y|x) in {theta_y, e^e theta_y}, with the largest e found that keeps the promise.

    P. Kairouz, S. Oh and P. Viswanath, "Extremal mechanisms for local differential privacy", 2016: one of these is the
    optimum under local differential privacy of X at level e, so the utility grows with e. A column is a set of likely
    x; the linear program sees all 2^|X| of them, which takes a moment for 12 values of X and 10 s for 16.

    While every column keeps the promise, every mixture does. Beyond that e the promise may be broken and kept again,
    since the program changes columns; a scan from the largest e downwards, then bisection, finds where that ends.
    """

    most_values: int = 12

    def __post_init__(self) -> None:
        if not 1 <= self.most_values <= _LARGEST:
            raise SettingError(f"most_values is {self.most_values}, expected 1 to {_LARGEST}")

    def solve(self, joint: Joint, regions: Sequence[Region], utility: Utility) -> tuple[Solution, ...]:
        size = len(joint.x_labels)
        if size > self.most_values:
            raise SettingError(
                f"the staircase mechanism needs a linear program of 2^{size} columns for {size} values of X, and "
                f"most_values is {self.most_values}"
            )
        return tuple(_Staircases(joint, region, utility.on(joint)).solve() for region in regions)


class _Staircases:
    """The family over t = 1 - e^-e, from 0 (nothing) to 1 (everything), under one region."""

    def __init__(self, joint: Joint, region: Region, utility: Utility) -> None:
        self.joint, self.region, self.utility = joint, region, utility
        self.likely = subsets(len(joint.x_labels))

    def solve(self) -> Solution:
        # Rounding can put the mixture of columns that are just allowed just outside.
        sure = self._refine(0.0, largest(self._all_columns_keep))
        t = sure if sure == 1 else self._beyond(sure)
        e = -math.log1p(-t) if t < 1 else math.inf
        return Solution(self.mechanism(t), self.region, self.utility, Status.FEASIBLE, settings=f"e = {e:.4g}")

    def _all_columns_keep(self, t: float) -> bool:
        return bool(allowed(self.columns(t) @ self.joint.lift.T, self.region, self.joint.p_s).all())

    def _beyond(self, sure: float) -> float:
        above = 1.0
        for step in np.geomspace(1.0, _FIRST_STEP, _STEPS):
            t = float(sure + (1 - sure) * step)
            if self._keeps(t):
                return self._refine(t, above)
            above = t
        return self._refine(sure, above)

    def _refine(self, inside: float, outside: float) -> float:
        return largest(self._keeps, inside, outside, halvings=_HALVINGS)

    def _keeps(self, t: float) -> bool:
        return keeps(self.mechanism(t), self.region)

    def columns(self, t: float) -> Array:
        """The posteriors of X that the columns stand for, (2^|X| - 2, |X|)."""
        points = (1 - t * (1 - self.likely)) * self.joint.p_x
        return points / points.sum(axis=1, keepdims=True)

    def mechanism(self, t: float) -> Mechanism:
        """The most useful mixture at t. A program of its own, since a warm start would keep columns of another t."""
        points = self.columns(t)
        mixture = mixture_program(self.joint, self.utility).solve(points, self.utility.uncertainty(points))
        return Mechanism.mixing(self.joint, mixture.points, mixture.exact_weights(self.joint.p_x))
