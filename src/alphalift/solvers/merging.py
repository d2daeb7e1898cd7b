"""Symbols merged until they keep a promise, greedily: mechanisms by themselves (`baselines`), and first columns of a search."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from alphalift.arrays import Array
from alphalift.errors import SettingError
from alphalift.joint import Joint
from alphalift.regions import Region, averages_of, simplest

Subset = list[int]


def allowed(lifts: Array, region: Region, p_s: Array) -> NDArray[np.bool_]:
    """Whether every row keeps the promise, (count,), in the region's simplest form as well.

    The float slack of a curved value, 1e-12 of a budget that allows nothing, is a deviation of 1e-6 from l = 1, and a
    nearly independent table fits into that; its simplest form is linear.
    """
    return region.allows(lifts, p_s) & simplest(region).region.allows(lifts, p_s)


@dataclass(frozen=True, eq=False)
class _Merged:
    """Some symbols, their mass, and the sum of their lifts, each times its mass: over the mass, that is their lift."""

    members: Subset
    mass: float
    total: Array

    def __add__(self, other: _Merged) -> _Merged:
        return _Merged([*self.members, *other.members], self.mass + other.mass, self.total + other.total)


class Merger:
    """The values of merged subsets of symbols under one region."""

    def __init__(self, joint: Joint, region: Region) -> None:
        if averages_of(region) and not region.perfect:
            raise SettingError("merging what is of high risk needs a promise about every output by itself")
        self.region, self.p_s = region, joint.p_s
        risk = region.value(joint.lift.T, joint.p_s)
        harmless = allowed(joint.lift.T, region, joint.p_s)
        totals = (joint.lift * joint.p_x).T
        symbols = [_Merged([x], float(mass), totals[x]) for x, mass in enumerate(joint.p_x)]
        self.low_risk = [symbols[x] for x in np.flatnonzero(harmless)]
        # The worst symbol first.
        self.high_risk = [symbols[x] for x in np.argsort(-risk, kind="stable") if not harmless[x]]

    def complete(self) -> list[Subset]:
        if not self.high_risk:
            return _sorted(self.low_risk)
        merged, low_risk = self._absorb(reduce(_Merged.__add__, self.high_risk), self.low_risk)
        return _sorted([merged, *low_risk])

    def subsets(self) -> list[Subset]:
        waiting, done, low_risk = self.high_risk, list[_Merged](), self.low_risk
        while waiting:
            subset, waiting = self._absorb(waiting[0], waiting[1:])
            if not self._keeps(subset):
                subset, done = self._absorb(subset, done)
            if not self._keeps(subset):
                subset, low_risk = self._absorb(subset, low_risk)
            done.append(subset)
        return _sorted([*done, *low_risk])

    def _absorb(self, subset: _Merged, others: list[_Merged]) -> tuple[_Merged, list[_Merged]]:
        """Merge the others into the subset, the best first, until it keeps the promise; and those left over."""
        if not others or self._keeps(subset):
            return subset, others
        totals, masses = np.array([own.total for own in others]), np.array([own.mass for own in others])
        left = np.arange(len(others))
        while len(left) and not self._keeps(subset):
            lifts = (subset.total + totals[left]) / (subset.mass + masses[left])[:, None]
            best = int(self.region.value(lifts, self.p_s).argmin())
            subset, left = subset + others[left[best]], np.delete(left, best)
        return subset, [others[i] for i in left]

    def _keeps(self, subset: _Merged) -> bool:
        return bool(allowed((subset.total / subset.mass)[None], self.region, self.p_s)[0])


def _sorted(subsets: list[_Merged]) -> list[Subset]:
    return [sorted(own.members) for own in subsets]
