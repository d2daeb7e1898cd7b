"""design: from a joint and a promise to a mechanism."""

from __future__ import annotations

from alphalift.joint import Joint
from alphalift.regions import Region
from alphalift.solution import Solution
from alphalift.solvers import Optimal, Solver
from alphalift.utilities import MutualInformation, Utility


def design(
    joint: Joint,
    region: Region,
    *,
    utility: Utility | None = None,
    solver: Solver | None = None,
) -> Solution:
    """The mechanism that keeps as much of X as the solver can find within the region.

    Unless named, the utility is mutual information and the solver is `Optimal()`, which returns the optimum
    to within 1e-4 and a bound on what any mechanism could reach.
    """
    return (solver or Optimal()).solve(joint, [region], utility or MutualInformation())[0]
