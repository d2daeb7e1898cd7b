"""X-invariant randomisation: answers for high-risk symbols that do not depend on which of them it was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from alphalift.joint import Joint
from alphalift.mechanism import Mechanism
from alphalift.regions import Region
from alphalift.solution import Solution, Status
from alphalift.solvers.merging import Merger
from alphalift.utilities import Utility


@dataclass(frozen=True)
class XInvariant:
    """A high-risk x is answered by a draw from P_X within the high-risk set, a low-risk one by itself.

    H. Hsu, S. Asoodeh and F. P. Calmon, "Information-theoretic privacy watchdogs", 2019. All answers from the set have
    the posterior of the merged set, so privacy and utility are those of `CompleteMerging`, and so is the set: where it
    still breaks the promise, low-risk symbols are pulled in. The released table looks like X and has its marginal.
    """

    def solve(self, joint: Joint, regions: Sequence[Region], utility: Utility) -> tuple[Solution, ...]:
        return tuple(_solution(joint, region, utility) for region in regions)


def _solution(joint: Joint, region: Region, utility: Utility) -> Solution:
    p_y_given_x = np.zeros((len(joint.x_labels), len(joint.x_labels)))
    for subset in Merger(joint, region).complete():
        members = list(subset)
        p_y_given_x[np.ix_(members, members)] = (joint.p_x[members] / joint.p_x[members].sum())[:, None]
    return Solution(Mechanism(joint, p_y_given_x), region, utility, Status.FEASIBLE)
