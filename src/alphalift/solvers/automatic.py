"""What `design` does when no solver is named: publish X where that is allowed, else the best solver we have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from alphalift.joint import Joint
from alphalift.mechanism import Mechanism
from alphalift.regions import Region
from alphalift.solution import Solution, Status
from alphalift.solvers.algorithm1 import Algorithm1
from alphalift.solvers.base import Solver
from alphalift.solvers.vertices import Vertices
from alphalift.utilities import Utility


@dataclass(frozen=True)
class Automatic:
    """Trivial regions at once, lift caps exactly by Vertices, curved ones by Algorithm1."""

    def solve(self, joint: Joint, regions: Sequence[Region], utility: Utility) -> tuple[Solution, ...]:
        groups: dict[Solver | None, list[int]] = {}
        for index, region in enumerate(regions):
            groups.setdefault(_choose(joint, region), []).append(index)
        found: dict[int, Solution] = {}
        for solver, indices in groups.items():
            chosen = [regions[index] for index in indices]
            if solver is None:
                everything = Mechanism.publishing_all(joint)
                answers = tuple(Solution(everything, region, utility, Status.TRIVIAL) for region in chosen)
            else:
                answers = solver.solve(joint, chosen, utility)
            found.update(zip(indices, answers, strict=True))
        return tuple(found[index] for index in range(len(regions)))


def _choose(joint: Joint, region: Region) -> Solver | None:
    """The solver for this region, or None where X may be published as it is (epsilon >= epsilon_max)."""
    if region.allows(joint.lift.T, joint.p_s).all():
        return None
    return Algorithm1() if region.largest_lift is None else Vertices()
