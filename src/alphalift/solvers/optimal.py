"""The certified optimum: column generation for the mechanism, branch and bound for what no mechanism can exceed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from alphalift.arrays import Array
from alphalift.geometry.concave import MergedCertificate
from alphalift.joint import Joint
from alphalift.mechanism import Mechanism
from alphalift.presolve import Merged
from alphalift.regions import After, Region, averages_of, legible, simplest
from alphalift.solution import Solution, Status
from alphalift.solvers.base import continues, rising
from alphalift.solvers.binary import BinaryRun
from alphalift.solvers.large import MANY_SYMBOLS, LargeRun
from alphalift.solvers.local import LocalRun, is_local
from alphalift.solvers.pieces import ManyPiecesRun, PiecesRun
from alphalift.solvers.run import Progress, Run, Settings
from alphalift.solvers.search import SearchRun
from alphalift.utilities import MutualInformation, Utility

# A gap of types, in their own units, that is still a gap.
_LARGEST_GAP = 0.999
# Columns for each symbol of X that a search takes over from those before it.
_MOST_WARM = 8


@dataclass(frozen=True)
class Optimal(Settings):
    """Stops within `relative_gap` of the optimum, or at a limit with the best mechanism and a valid bound.

    `time_limit` is in seconds for each region; `node_limit` bounds the work itself, so that a run that ends
    there can be repeated exactly. `progress` is called as the gap closes. Ctrl-C ends the search and returns
    the best so far. `keep_certificate` keeps the tree that proves the bound in the solution. `threads` share
    the search, one a core unless told; answers do not depend on it.
    """

    def chains(self, regions: Sequence[Region]) -> list[slice]:
        return rising(regions)

    def solve(
        self, joint: Joint, regions: Sequence[Region], utility: Utility, *, after: Sequence[Solution] = ()
    ) -> tuple[Solution, ...]:
        solutions, chain, utility = [], list(after), utility.on(joint)
        merged = Merged.of(joint)
        for region in regions:
            region.validate(joint.p_s)
            if chain and not continues(chain[-1].region, region):
                chain = []
            if legible(region, joint.p_s).kept_by(joint.p_x, joint.lift.T, joint.p_s):
                solution = _published(joint, region, utility)
            elif utility.of_publishing_all(joint.p_x) <= 0:
                solution = _nothing(joint, region, utility)
            elif merges(merged, region, utility):
                solution = self._of_types(merged, region, utility, chain)
            else:
                solution = self._run(joint, region, utility, _columns(chain, len(joint.p_x))).solve()
            solution = replace(solution, region=region)
            chain.append(solution)
            solutions.append(solution)
        return tuple(solutions)

    def _run(self, joint: Joint, region: Region, utility: Utility, warm: Array) -> Run:
        return kind_of_run(joint, region, utility)(self, joint, simplest(region).region, utility, warm)

    def _of_types(self, merged: Merged, region: Region, utility: Utility, chain: Sequence[Solution]) -> Solution:
        """Solve for the types and split what is found over their symbols."""
        before, after = (utility.of_publishing_all(joint.p_x) for joint in (merged.original, merged.joint))
        gain, share = merged.gain, after / before if after > 0 else 1.0
        report = self.progress

        def in_symbols(own: Progress) -> None:
            if report is not None:
                bound = own.upper_bound + gain
                report(Progress(own.utility + gain, bound, own.relative_gap * share, own.seconds))

        settings = replace(self, relative_gap=min(self.relative_gap / share, _LARGEST_GAP), progress=in_symbols)
        warm = merged.posteriors(_columns(chain, len(merged.types)))
        found = settings._run(merged.joint, region, utility, warm).solve()
        columns, masses = merged.split(csr_array(found.mechanism.posteriors), found.mechanism.p_y)
        proof = None if found.certificate is None else MergedCertificate(found.certificate)
        mechanism = Mechanism.mixing(merged.original, columns, masses)
        return Solution(mechanism, region, utility, found.status, found.upper_bound + gain, proof)


def bound_is_estimated(joint: Joint, region: Region, utility: Utility) -> bool:
    """Whether a run's bound is one whose rounding no lemma covers ("Floats" in docs/theory.md): two secrets, and S = X."""
    merged, utility = Merged.of(joint), utility.on(joint)
    solved = merged.joint if merges(merged, region, utility) else joint
    return issubclass(kind_of_run(solved, region, utility), BinaryRun | LocalRun)


def searched_symbols(joint: Joint, region: Region, utility: Utility) -> int:
    """How many symbols a long search is about, equal ones counted once; 0 where a design takes seconds at most."""
    merged, utility = Merged.of(joint), utility.on(joint)
    solved = merged.joint if merges(merged, region, utility) else joint
    published = region.kept_by(joint.p_x, joint.lift.T, joint.p_s)
    long = not published and issubclass(kind_of_run(solved, region, utility), LargeRun)
    return len(solved.p_x) if long else 0


def merges(merged: Merged, region: Region, utility: Utility) -> bool:
    """Whether the problem of types is another one that says all about this one: known for mutual information alone."""
    smaller = merged.joint is not merged.original
    return smaller and not isinstance(region, After) and region.symmetric and isinstance(utility, MutualInformation)


def kind_of_run(joint: Joint, region: Region, utility: Utility) -> type[Run]:
    if utility.pieces(1.0, len(joint.p_x)) is not None:
        return ManyPiecesRun if len(joint.p_x) >= MANY_SYMBOLS and not averages_of(region) else PiecesRun
    # What is known of two secrets, of S = X and of many symbols, is known for mutual information and promises about every output.
    if not isinstance(utility, MutualInformation) or (averages_of(region) and not region.perfect):
        return SearchRun
    if len(joint.p_s) == 2:
        return BinaryRun
    if is_local(joint, region, utility):
        return LocalRun
    return LargeRun if len(joint.p_x) >= MANY_SYMBOLS and not isinstance(region, After) else SearchRun


def _columns(chain: Sequence[Solution], size: int) -> Array:
    """The latest posteriors of the chain, (count, |X|): neighbours share them, and those still allowed are offered again."""
    most = _MOST_WARM * size
    searched = [solution for solution in chain[-most:] if solution.status is not Status.TRIVIAL]
    return np.concatenate([np.empty((0, size)), *(solution.mechanism.p_x_given_y.T for solution in searched)])[-most:]


def _published(joint: Joint, region: Region, utility: Utility) -> Solution:
    everything = Mechanism.publishing_all(joint)
    return Solution(everything, region, utility, Status.TRIVIAL, utility.of_publishing_all(joint.p_x))


def _nothing(joint: Joint, region: Region, utility: Utility) -> Solution:
    """One output for everything, where not even X is worth more."""
    return Solution(Mechanism.mixing(joint, joint.p_x[None], np.ones(1)), region, utility, Status.OPTIMAL, 0.0)
