"""What every solver is: a frozen record of settings that answers one joint and any number of regions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Protocol, runtime_checkable

from alphalift.errors import SettingError
from alphalift.geometry.mixture import Mixture, MixtureProgram
from alphalift.geometry.parametric import VertexPaths, count_systems, vertex_paths
from alphalift.joint import Joint
from alphalift.mechanism import Mechanism
from alphalift.regions import Region
from alphalift.solution import Solution, Status
from alphalift.utilities import Utility

# Enumerating more bases than this takes minutes and gigabytes.
MOST_SYSTEMS = 5_000_000


@runtime_checkable
class Solver(Protocol):
    """Answers all regions of one joint together, so that work can be shared between them."""

    def solve(self, joint: Joint, regions: Sequence[Region], utility: Utility) -> tuple[Solution, ...]:
        """One solution for each region, in order."""
        ...


@runtime_checkable
class ChainedSolver(Solver, Protocol):
    """A solver that answers regions one after the other and can go on from the answers that it gave before.

    The answer to a region depends on its joint, the utility and the regions before it in its chain, and on nothing
    else, so that a sweep may stop and continue anywhere.
    """

    def chains(self, regions: Sequence[Region]) -> list[slice]:
        """The parts of the list whose answers follow one another; no part needs another's."""
        ...

    def solve(
        self, joint: Joint, regions: Sequence[Region], utility: Utility, *, after: Sequence[Solution] = ()
    ) -> tuple[Solution, ...]:
        """One solution for each region, in order; `after` are those of the regions before them."""
        ...


def rising(regions: Sequence[Region]) -> list[slice]:
    """The list cut wherever a region does not continue the one before it."""
    starts = [0, *(i + 1 for i, (one, two) in enumerate(pairwise(regions)) if not continues(one, two)), len(regions)]
    return [slice(start, end) for start, end in pairwise(starts)]


def continues(before: Region, region: Region) -> bool:
    """Whether it is the same kind of promise with no parameter smaller: what was allowed before mostly still is."""
    old, new = before.parameters, region.parameters
    return type(before) is type(region) and old.keys() == new.keys() and all(old[name] <= new[name] for name in old)


def max_lift_paths(joint: Joint) -> VertexPaths:
    """The vertices of the paper's polytope for every epsilon; tau = e^epsilon - 1."""
    rows, columns = joint.lift_deviation.shape
    if count_systems(rows, columns) > MOST_SYSTEMS:
        raise SettingError(
            f"enumerating vertices for {rows} secrets and {columns} values of X means {count_systems(rows, columns):.0e} "
            f"linear systems, and {MOST_SYSTEMS:.0e} is the most; use Optimal()"
        )
    return vertex_paths(joint.lift_deviation)


def mixture_program(joint: Joint, utility: Utility, averages: int = 0) -> MixtureProgram:
    """The linear program over candidate posteriors of X (the paper's step 2), with so many promises on average."""
    return MixtureProgram(joint.p_x, float(utility.uncertainty(joint.p_x[None])[0]), averages)


def solution_of(joint: Joint, region: Region, utility: Utility, *, mixture: Mixture, optimal: bool) -> Solution:
    """The mixture as a mechanism (the paper's step 3); `optimal` if its candidates were all that matter."""
    mechanism = Mechanism.mixing(joint, mixture.stored_points, mixture.exact_weights(joint.p_x))
    if not optimal:
        return Solution(mechanism, region, utility, Status.FEASIBLE)
    return Solution(mechanism, region, utility, Status.OPTIMAL, mechanism.utility(utility))
