"""The binary mechanism: one noisy bit about x."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from alphalift.arrays import Array
from alphalift.baselines.base import keeps, largest, subsets
from alphalift.joint import Joint
from alphalift.mechanism import Mechanism
from alphalift.regions import Region, averages_of
from alphalift.solution import Solution, Status
from alphalift.solvers.merging import allowed
from alphalift.utilities import Utility

# Above this many symbols the subset is found greedily.
_MOST_SYMBOLS = 16
# Sums of the same probabilities in another order.
_EQUAL_SUMS = 1e-12
_HALVINGS = 30


@dataclass(frozen=True)
class BinaryMechanism:
    """Is x in A? The right answer with probability e^e / (1 + e^e), A with P_X(A) nearest to 1/2, the largest e.

    P. Kairouz, S. Oh and P. Viswanath, "Extremal mechanisms for local differential privacy", 2016: for mutual
    information and a small e nothing under local differential privacy of X is more useful. Among sets that are equally
    near to 1/2 the most useful one is taken. A is exact for up to 16 values of X; above, each value, the likeliest
    first, joins the lighter side.
    """

    def solve(self, joint: Joint, regions: Sequence[Region], utility: Utility) -> tuple[Solution, ...]:
        halves, utility = _halves(joint.p_x), utility.on(joint)
        return tuple(_solution(joint, _best(joint, halves, region, utility), region, utility) for region in regions)


def _solution(joint: Joint, half: Array, region: Region, utility: Utility) -> Solution:
    def mechanism(lean: float) -> Mechanism:
        return Mechanism(joint, np.array([1 + lean * half, 1 - lean * half]) / 2)

    lean = largest(lambda lean: keeps(mechanism(lean), region))
    e = 2 * math.atanh(lean) if lean < 1 else math.inf
    return Solution(mechanism(lean), region, utility, Status.FEASIBLE, settings=f"e = {e:.4g}")


def _halves(p_x: Array) -> Array:
    """Sets A with P_X(A) nearest to 1/2 as +1 inside and -1 outside, one of each complementary pair, (count, |X|)."""
    size = len(p_x)
    if size == 1:
        return np.ones((1, 1))
    if size > _MOST_SYMBOLS:
        return _greedy_half(p_x)[None]
    signs = 2 * subsets(size)[: 2 ** (size - 1) - 1] - 1
    imbalance = np.abs(signs @ p_x)
    return signs[imbalance <= imbalance.min() + _EQUAL_SUMS]


def _greedy_half(p_x: Array) -> Array:
    signs, balance = np.zeros(len(p_x)), 0.0
    for x in np.argsort(-p_x, kind="stable"):
        signs[x] = 1.0 if balance <= 0 else -1.0
        balance += signs[x] * p_x[x]
    return signs


def _best(joint: Joint, halves: Array, region: Region, utility: Utility) -> Array:
    """The most useful of the sets, each at the largest e that keeps the promise."""
    if len(halves) == 1:
        return np.asarray(halves[0])
    leans, outside = np.zeros(len(halves)), np.ones(len(halves))
    for step in range(_HALVINGS):
        middle = (leans + outside) / 2 if step else outside
        points, weights = _posteriors(joint.p_x, halves, middle)
        kept = allowed(lifts := points @ joint.lift.T, region, joint.p_s).reshape(2, -1).all(axis=0)
        for promise in averages_of(region):
            kept &= (weights * promise.above_least(lifts, joint.p_s)).reshape(2, -1).sum(axis=0) <= promise.room
        leans, outside = np.where(kept, middle, leans), np.where(kept, outside, middle)
    points, weights = _posteriors(joint.p_x, halves, leans)
    uncertainty = (weights * utility.uncertainty(points)).reshape(2, -1).sum(axis=0)
    return np.asarray(halves[int(uncertainty.argmin())])


def _posteriors(p_x: Array, halves: Array, leans: Array) -> tuple[Array, Array]:
    """P_{X|Y} of the answer yes for every set, then of the answer no, (2 count, |X|), and their probabilities."""
    tilted = np.concatenate([1 + leans[:, None] * halves, 1 - leans[:, None] * halves]) / 2 * p_x
    weights = tilted.sum(axis=1)
    return tilted / weights[:, None], weights
