"""The two ends: publish nothing, publish X as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from alphalift.baselines.base import keeps
from alphalift.joint import Joint
from alphalift.mechanism import Mechanism
from alphalift.regions import Region
from alphalift.solution import Solution, Status
from alphalift.utilities import Utility


@dataclass(frozen=True)
class PublishNothing:
    """One output for every x: it keeps every promise and is worth nothing."""

    def solve(self, joint: Joint, regions: Sequence[Region], utility: Utility) -> tuple[Solution, ...]:
        return tuple(Solution(_nothing(joint), region, utility, Status.FEASIBLE) for region in regions)


@dataclass(frozen=True)
class PublishAll:
    """All or nothing: Y = X where the promise allows that for every x, and nothing where it does not.

    A solver never returns a mechanism that breaks its promise; what publishing X would leak regardless is
    `Mechanism.publishing_all(joint).check(region)`, which `compare` lists.
    """

    def solve(self, joint: Joint, regions: Sequence[Region], utility: Utility) -> tuple[Solution, ...]:
        everything = Mechanism.publishing_all(joint)
        return tuple(
            Solution(everything, region, utility, Status.TRIVIAL)
            if keeps(everything, region)
            else Solution(_nothing(joint), region, utility, Status.FEASIBLE)
            for region in regions
        )


def _nothing(joint: Joint) -> Mechanism:
    return Mechanism(joint, np.ones((1, len(joint.x_labels))))
