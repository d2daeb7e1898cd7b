"""Greedy merging: the privacy funnel's agglomeration, two outputs at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from alphalift.arrays import Array
from alphalift.joint import Joint
from alphalift.measures import entropy
from alphalift.mechanism import Mechanism
from alphalift.regions import Region
from alphalift.solution import Solution, Status
from alphalift.solvers.merging import allowed
from alphalift.utilities import Utility

# A share of X's utility below which a merge costs nothing, and how near to the best counts as equally good.
_FREE, _EQUAL = 1e-12, 1e-9


@dataclass(frozen=True)
class GreedyMerging:
    """Start from Y = X; merge the two outputs that lower I(S;Y) most for the utility lost, until the promise is kept.

    A. Makhdoumi, S. Salamatian, N. Fawaz and M. Medard, "From the information bottleneck to the privacy funnel", 2014,
    whose pairwise greedy algorithm this is, for promises on average. Departure: they bound I(S;Y) and I(X;Y). A promise
    about every output goes on merging while one breaks it, with pairs of which at least one does. Counted is what a merge
    lowers I(S;Y) by for each unit of utility lost. Merging harmless pairs as well only costs utility. Where pairs are
    equally good, all of them if S = X, the one that loses least is merged.
    """

    def solve(self, joint: Joint, regions: Sequence[Region], utility: Utility) -> tuple[Solution, ...]:
        return tuple(_solution(joint, region, utility.on(joint)) for region in regions)


def _solution(joint: Joint, region: Region, utility: Utility) -> Solution:
    outputs = _Outputs(joint, utility)
    while len(outputs.p_yx) > 1:
        broken = ~allowed(outputs.lifts, region, joint.p_s)
        if not broken.any():
            if region.kept_by(outputs.p_ys.sum(axis=1), outputs.lifts, joint.p_s):
                break
            broken[:] = True
        outputs.merge_one_of(broken)
    return Solution(Mechanism(joint, (outputs.p_yx > 0).astype(np.float64)), region, utility, Status.FEASIBLE)


class _Outputs:
    """The outputs so far, and for every two of them what their merging is worth."""

    def __init__(self, joint: Joint, utility: Utility) -> None:
        self.joint, self.utility = joint, utility
        self.p_ys, self.p_yx = joint.p_sx.T.copy(), np.diag(joint.p_x)
        self.free = _FREE * utility.of_publishing_all(joint.p_x)
        size = len(self.p_yx)
        # By how much merging y with a later output lowers I(S;Y) and the utility; nothing is gained elsewhere.
        self.gained, self.lost = np.full((size, size), -np.inf), np.ones((size, size))
        for y in range(size - 1):
            self._weigh(y, np.arange(y + 1, size))

    @property
    def lifts(self) -> Array:
        """l(s, y), (|Y|, |S|)."""
        return self.p_ys / self.p_ys.sum(axis=1, keepdims=True) / self.joint.p_s

    def merge_one_of(self, chosen: NDArray[np.bool_]) -> None:
        """Merge the most worthwhile pair with at least one chosen output."""
        rates = np.where(chosen[:, None] | chosen, self.gained / self.lost, -np.inf)
        best = rates.max()
        equal = rates >= best - _EQUAL * abs(best)
        one, other = np.unravel_index(int(np.where(equal, self.lost, np.inf).argmin()), rates.shape)
        for rows in (self.p_ys, self.p_yx):
            rows[one] += rows[other]
        self.p_ys, self.p_yx = (np.delete(rows, other, axis=0) for rows in (self.p_ys, self.p_yx))
        self.gained, self.lost = (np.delete(np.delete(m, other, 0), other, 1) for m in (self.gained, self.lost))
        self._weigh(int(one), np.delete(np.arange(len(self.p_yx)), one))

    def _weigh(self, y: int, others: NDArray[np.intp]) -> None:
        pairs = np.minimum(y, others), np.maximum(y, others)
        self.gained[pairs] = _rise(entropy, self.p_ys[y], self.p_ys[others])
        self.lost[pairs] = np.maximum(_rise(self.utility.uncertainty, self.p_yx[y], self.p_yx[others]), self.free)


def _rise(uncertainty: Callable[[Array], Array], one: Array, others: Array) -> Array:
    """P(y) h(V_y) of each merged output minus those of its two parts; rows are P(y) V_y."""

    def weighted(rows: Array) -> Array:
        masses = rows.sum(axis=1)
        return masses * uncertainty(rows / masses[:, None])

    return weighted(one + others) - weighted(one[None]) - weighted(others)
