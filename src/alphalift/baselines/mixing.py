"""Uniform mixing: publish x, or now and then a fresh draw from P_X instead, all x alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from alphalift.baselines.base import keeps, largest, truth_or_noise
from alphalift.joint import Joint
from alphalift.regions import Region
from alphalift.solution import Solution, Status
from alphalift.utilities import Utility


@dataclass(frozen=True)
class UniformMixing:
    """P(y|x) = (1 - share) 1[y=x] + share P_X(y) with the smallest share that keeps the promise; P_Y is P_X.

    Known as retention replacement: R. Agrawal, R. Srikant and D. Thomas, "Privacy preserving OLAP", 2005. The lift of y
    is (1 - share) l(s, y) + share, so the riskiest x decides for all.
    """

    def solve(self, joint: Joint, regions: Sequence[Region], utility: Utility) -> tuple[Solution, ...]:
        return tuple(_solution(joint, region, utility) for region in regions)


def _solution(joint: Joint, region: Region, utility: Utility) -> Solution:
    truth = largest(lambda truth: keeps(truth_or_noise(joint, truth, joint.p_x), region))
    mechanism = truth_or_noise(joint, truth, joint.p_x)
    return Solution(mechanism, region, utility, Status.FEASIBLE, settings=f"share = {1 - truth:.4g}")
