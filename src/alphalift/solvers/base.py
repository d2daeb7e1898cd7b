"""What every solver is: a frozen record of settings that answers one joint and any number of regions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

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


class Solver(Protocol):
    """Answers all regions of one joint together, so that work can be shared between them."""

    def solve(self, joint: Joint, regions: Sequence[Region], utility: Utility) -> tuple[Solution, ...]:
        """One solution for each region, in order."""
        ...


def max_lift_paths(joint: Joint) -> VertexPaths:
    """The vertices of the paper's polytope for every epsilon; tau = e^epsilon - 1."""
    rows, columns = joint.lift_deviation.shape
    if count_systems(rows, columns) > MOST_SYSTEMS:
        raise SettingError(
            f"enumerating vertices for {rows} secrets and {columns} values of X means {count_systems(rows, columns):.0e} "
            f"linear systems, and {MOST_SYSTEMS:.0e} is the most; use Optimal()"
        )
    return vertex_paths(joint.lift_deviation)


def mixture_program(joint: Joint, utility: Utility) -> MixtureProgram:
    """The linear program over candidate posteriors of X (the paper's step 2)."""
    return MixtureProgram(joint.p_x, float(utility.uncertainty(joint.p_x[None])[0]))


def solution_of(joint: Joint, region: Region, utility: Utility, *, mixture: Mixture, optimal: bool) -> Solution:
    """The mixture as a mechanism (the paper's step 3); `optimal` if its candidates were all that matter."""
    mechanism = Mechanism.mixing(joint, mixture.points, mixture.exact_weights(joint.p_x))
    if not optimal:
        return Solution(mechanism, region, utility, Status.FEASIBLE)
    return Solution(mechanism, region, utility, Status.OPTIMAL, mechanism.utility(utility))
