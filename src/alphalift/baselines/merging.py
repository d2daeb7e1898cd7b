"""Watchdog mechanisms: leave harmless symbols alone, merge the risky ones until the promise is kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from alphalift.arrays import Array
from alphalift.baselines.base import allowed
from alphalift.joint import Joint
from alphalift.mechanism import Mechanism
from alphalift.regions import Region
from alphalift.solution import Solution, Status
from alphalift.utilities import Utility

Subset = tuple[int, ...]


@dataclass(frozen=True)
class CompleteMerging:
    """All high-risk symbols become one output. H. Hsu et al., "Information-theoretic privacy watchdogs", 2019.

    Every X-invariant randomisation of the high-risk set has the same posterior of S, so this stands for all.
    Departure: where the merged set still breaks the promise, low-risk symbols are pulled in, the one that
    lowers its value most first.
    """

    def solve(self, joint: Joint, regions: Sequence[Region], utility: Utility) -> tuple[Solution, ...]:
        return tuple(_solution(Merger(joint, region).complete(), joint, region, utility) for region in regions)


@dataclass(frozen=True)
class SubsetMerging:
    """High-risk symbols are merged in subsets, greedily. Our implementation of the subset merging (SM) of
    M. A. Zarrabian, N. Ding and P. Sadeghi, "On the lift, related privacy measures, and applications", 2023.

    Seed a subset with the worst symbol; add the high-risk symbol that lowers its value most until it is
    within the promise; start the next. Our reading of what the paper leaves open: a last subset that still
    breaks the promise joins the subset with which its value is lowest, again if need be, and pulls in
    low-risk symbols when no subset is left.
    """

    def solve(self, joint: Joint, regions: Sequence[Region], utility: Utility) -> tuple[Solution, ...]:
        return tuple(_solution(Merger(joint, region).subsets(), joint, region, utility) for region in regions)


def _solution(partition: list[Subset], joint: Joint, region: Region, utility: Utility) -> Solution:
    p_y_given_x = np.zeros((len(partition), len(joint.x_labels)))
    for y, subset in enumerate(sorted(partition)):
        p_y_given_x[y, list(subset)] = 1.0
    return Solution(Mechanism(joint, p_y_given_x), region, utility, Status.FEASIBLE)


class Merger:
    """The values of merged subsets of symbols under one region."""

    def __init__(self, joint: Joint, region: Region) -> None:
        self.region = region
        self.p_x, self.p_s = joint.p_x, joint.p_s
        self.weighted_lift = (joint.lift * joint.p_x).T
        risk = region.value(joint.lift.T, joint.p_s)
        harmless = allowed(joint.lift.T, region, joint.p_s)
        self.low_risk: list[Subset] = [(int(x),) for x in np.flatnonzero(harmless)]
        # The worst symbol first.
        self.high_risk: list[Subset] = [(int(x),) for x in np.argsort(-risk, kind="stable") if not harmless[x]]

    def complete(self) -> list[Subset]:
        if not self.high_risk:
            return self.low_risk
        merged, low_risk = self._absorb(_union(self.high_risk), self.low_risk)
        return [merged, *low_risk]

    def subsets(self) -> list[Subset]:
        waiting, done = self.high_risk, list[Subset]()
        while waiting:
            subset, waiting = self._absorb(waiting[0], waiting[1:])
            if not self._keeps(subset):
                subset, done = self._absorb(subset, done)
            if not self._keeps(subset):
                subset, self.low_risk = self._absorb(subset, self.low_risk)
            done.append(subset)
        return [*done, *self.low_risk]

    def _absorb(self, subset: Subset, others: list[Subset]) -> tuple[Subset, list[Subset]]:
        """Merge the others into the subset, the best first, until it keeps the promise; and those left over."""
        others = list(others)
        while others and not self._keeps(subset):
            values = self.region.value(np.array([self._lift(subset + other) for other in others]), self.p_s)
            subset = _union([subset, others.pop(int(values.argmin()))])
        return subset, others

    def _keeps(self, subset: Subset) -> bool:
        return bool(allowed(self._lift(subset)[None], self.region, self.p_s)[0])

    def _lift(self, subset: Subset) -> Array:
        """l(s, A) of a merged set A: the P_X-weighted mean of its symbols' lifts, (|S|,)."""
        members = list(subset)
        return np.asarray(self.weighted_lift[members].sum(axis=0) / self.p_x[members].sum())


def _union(subsets: Iterable[Subset]) -> Subset:
    return tuple(sorted(x for subset in subsets for x in subset))
