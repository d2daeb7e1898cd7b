"""design: from a joint and a promise to a mechanism."""

from __future__ import annotations

from alphalift.joint import Joint
from alphalift.regions import Region
from alphalift.solution import Solution
from alphalift.solvers import Automatic, Solver
from alphalift.utilities import MutualInformation, Utility


def design(
    joint: Joint,
    region: Region,
    *,
    utility: Utility | None = None,
    solver: Solver | None = None,
) -> Solution:
    """The mechanism that keeps as much of X as the solver can find within the region.

    Mutual information is the utility and the solver is chosen by the problem, unless named.
    """
    return (solver or Automatic()).solve(joint, [region], utility or MutualInformation())[0]
