"""Watchdog mechanisms: leave harmless symbols alone, merge the risky ones until the promise is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from alphalift.joint import Joint
from alphalift.mechanism import Mechanism
from alphalift.regions import Region
from alphalift.solution import Solution, Status
from alphalift.solvers.merging import Merger, Subset
from alphalift.utilities import Utility


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
        p_y_given_x[y, subset] = 1.0
    return Solution(Mechanism(joint, p_y_given_x), region, utility, Status.FEASIBLE)
