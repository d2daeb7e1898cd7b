"""Randomised response: tell the truth, or any other answer with equal chances."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from alphalift.baselines.base import keeps, largest, truth_or_noise
from alphalift.joint import Joint
from alphalift.regions import Region
from alphalift.solution import Solution, Status
from alphalift.utilities import Utility


@dataclass(frozen=True)
class RandomisedResponse:
    """P(y|x) = e^e / (k - 1 + e^e) for y = x and 1 / (k - 1 + e^e) otherwise, k = |X|, with the largest e.

    S. L. Warner, "Randomized response: a survey technique for eliminating evasive answer bias", 1965, for two answers;
    P. Kairouz, S. Oh and P. Viswanath, "Extremal mechanisms for local differential privacy", 2016, for k. Written as the
    truth with probability t = (e^e - 1) / (k - 1 + e^e) and a uniform answer otherwise, which reaches e = inf at t = 1.
    """

    def solve(self, joint: Joint, regions: Sequence[Region], utility: Utility) -> tuple[Solution, ...]:
        return tuple(_solution(joint, region, utility) for region in regions)


def _solution(joint: Joint, region: Region, utility: Utility) -> Solution:
    size = len(joint.x_labels)
    uniform = np.full(size, 1 / size)
    truth = largest(lambda truth: keeps(truth_or_noise(joint, truth, uniform), region))
    e = math.log1p(size * truth / (1 - truth)) if truth < 1 else math.inf
    mechanism = truth_or_noise(joint, truth, uniform)
    return Solution(mechanism, region, utility, Status.FEASIBLE, settings=f"e = {e:.4g}")
