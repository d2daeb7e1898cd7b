"""One budget beside another that has been solved: from its columns and its tree, instead of from the beginning."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from alphalift.arrays import Array, dense
from alphalift.geometry.between import Resumed
from alphalift.geometry.concave import Certificate, Search
from alphalift.joint import Joint
from alphalift.presolve import Merged
from alphalift.regions import Region, simplest
from alphalift.solution import Solution
from alphalift.solvers.candidates import pull_inside
from alphalift.solvers.optimal import Optimal, _kind_of_run, _merges
from alphalift.solvers.run import Settings
from alphalift.solvers.search import SearchRun
from alphalift.utilities import Utility


class NeighbourRun(SearchRun):
    """Columns near those of its neighbours, and the tree of one of them bounded again; then as any other."""

    def __init__(
        self, settings: Settings, joint: Joint, region: Region, utility: Utility, warm: Array, tree: Certificate
    ) -> None:
        self._tree = tree
        super().__init__(settings, joint, region, utility, np.empty((0, len(joint.p_x))))
        self._warm = warm

    def start(self) -> None:
        self.mixture = self.mix(pull_inside(self._warm, self.joint, self.inner, self.clock))
        self.starts = self.mixture.points
        self._improve_locally(self.starts)

    def new_search(self, prices: Array) -> Search:
        if self._tree.dual.shape[1] != self.program.moments.shape[1] + 1:  # of another form of the promise
            return super().new_search(prices)
        return Resumed(self.program, prices, self.threshold, self.threads, self._tree)


def solve_near(solver: Optimal, joint: Joint, region: Region, near: list[Solution]) -> Solution:
    """As the solver does; from these solutions for the same joint and utility at other budgets, where a tree can be taken over."""
    utility = near[0].utility_function
    trees = [own.certificate for own in near if isinstance(own.certificate, Certificate)]
    if region.allows(joint.lift.T, joint.p_s).all():
        return solver.solve(joint, [region], utility)[0]
    plain = not _merges(Merged.of(joint), region, utility) and _kind_of_run(joint, region, utility) is SearchRun
    if not plain or not trees or region.perfect:
        return solver.solve(joint, [region], utility, after=near[-1:])[0]
    warm = np.concatenate([dense(own.mechanism.posteriors) for own in near])
    found = NeighbourRun(solver, joint, simplest(region).region, utility, warm, trees[0]).solve()
    return replace(found, region=region)
