"""The exact optimum for promises that cap the lift: the paper's steps 1-3 for max-lift."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from alphalift.errors import SettingError
from alphalift.joint import Joint
from alphalift.regions import Region
from alphalift.solution import Solution
from alphalift.solvers.base import max_lift_paths, mixture_program, solution_of
from alphalift.utilities import Utility


@dataclass(frozen=True)
class Vertices:
    """Enumerate the polytope's vertices (step 1), mix them by a linear program (step 2), read off Y (step 3).

    Departure: the vertices of all epsilons come from one enumeration, since V is linear in e^epsilon. The
    optimum is as complete as that list of floats; `Optimal` proves its bound without any.
    """

    def solve(self, joint: Joint, regions: Sequence[Region], utility: Utility) -> tuple[Solution, ...]:
        paths, utility = max_lift_paths(joint), utility.on(joint)
        program = mixture_program(joint, utility)
        found: dict[int, Solution] = {}
        # In rising order of the cap: what a smaller cap allows stays allowed, which warm-starts the next.
        for index in sorted(range(len(regions)), key=lambda i: _cap(regions[i])):
            points = paths.at(_cap(regions[index]) - 1.0)
            mixture = program.solve(points, utility.uncertainty(points))
            found[index] = solution_of(joint, regions[index], utility, mixture=mixture, optimal=True)
        return tuple(found[index] for index in range(len(regions)))


def _cap(region: Region) -> float:
    if region.largest_lift is None:
        raise SettingError(f"Vertices solves promises that cap the lift, such as MaxLift; {region} is curved")
    return region.largest_lift
