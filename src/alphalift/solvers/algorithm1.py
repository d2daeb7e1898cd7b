"""The paper's Algorithm 1, line by line: a heuristic for every alpha, fed by the vertices of max-lift."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from alphalift.arrays import Array
from alphalift.errors import SettingError
from alphalift.joint import Joint
from alphalift.measures import log_alpha_lifts
from alphalift.regions import AlphaLift, Region
from alphalift.solution import Solution
from alphalift.solvers.base import max_lift_paths, mixture_program, solution_of
from alphalift.utilities import Utility

# The paper's section V.
PAPER_ALPHAS = (math.inf, 100.0, 10.0, 3.0, 1.5)
PAPER_EPSILONS = tuple(5 * j / 1000 for j in range(1, 191))

# Without a slack, rounding drops half of the vertices that are exactly at the budget.
_SLACK = 1e-12


@dataclass(frozen=True)
class Algorithm1:
    """Settings of Algorithm 1: n_j (one number for all j, or one for each), delta, epsilon_{|B|+1}.

    A and B are the alphas and epsilons of the regions asked for. A single region is put into the paper's
    own grid, of which only the cells that it depends on are computed (larger or equal alpha, smaller or
    equal epsilon), with the same result.
    Departure: where the largest epsilon is not below `epsilon_end`, the grid ends one step after it.
    """

    n: int | tuple[int, ...] = 3
    delta: float = 0.01
    epsilon_end: float = 1.0

    def __post_init__(self) -> None:
        counts = (self.n,) if isinstance(self.n, int) else self.n
        if not counts or any(count < 1 for count in counts):
            raise SettingError("n is the number of epsilon' between neighbouring epsilons, 1 or more")
        if not 0 <= self.delta < 1:
            raise SettingError(f"delta is {self.delta:g}, expected a small relative tolerance in [0, 1)")
        if not 0 < self.epsilon_end < math.inf:
            raise SettingError(f"epsilon_end is {self.epsilon_end:g}, expected a finite number above 0")

    def solve(self, joint: Joint, regions: Sequence[Region], utility: Utility) -> tuple[Solution, ...]:
        asked = [_as_alpha_lift(region) for region in regions]
        alphas = sorted({region.alpha for region in asked}, reverse=True)
        epsilons = sorted({region.epsilon for region in asked})
        if len(asked) == 1:
            alphas = sorted({*PAPER_ALPHAS, *alphas}, reverse=True)
            epsilons = sorted({*PAPER_EPSILONS, *epsilons})
        last_alpha = min(region.alpha for region in asked)
        last_epsilon = max(region.epsilon for region in asked)
        run = _Run(self, joint, utility.on(joint), tuple(epsilons))
        cells = run.cells(
            tuple(alpha for alpha in alphas if alpha >= last_alpha),
            epsilons.index(last_epsilon) + 1,
            wanted=set(asked),
        )
        return tuple(cells[region] for region in asked)

    def fine_epsilons(self, epsilons: tuple[float, ...]) -> list[list[float]]:
        """B'_j for every j (line 3): n_j values from epsilon_j up to, not including, epsilon_{j+1}."""
        counts = (self.n,) * len(epsilons) if isinstance(self.n, int) else self.n
        if len(counts) != len(epsilons):
            raise SettingError(f"n has {len(counts)} entries for a grid of {len(epsilons)} epsilons")
        last = epsilons[-1]
        step = last - epsilons[-2] if len(epsilons) > 1 else max(last, 0.01)
        ends = (*epsilons, self.epsilon_end if self.epsilon_end > last else last + step)
        return [[ends[j] + k * (ends[j + 1] - ends[j]) / count for k in range(count)] for j, count in enumerate(counts)]


def _as_alpha_lift(region: Region) -> AlphaLift:
    if not isinstance(region, AlphaLift):
        raise SettingError(f"Algorithm1 is defined for AlphaLift and MaxLift, not for {region}")
    return region


class _Run:
    """One joint's run of Algorithm 1 on a grid; sets of candidate posteriors are (count, |X|)."""

    def __init__(self, settings: Algorithm1, joint: Joint, utility: Utility, epsilons: tuple[float, ...]) -> None:
        self.settings, self.joint, self.utility, self.epsilons = settings, joint, utility, epsilons
        fine = settings.fine_epsilons(epsilons)  # line 3: B'_j
        paths = max_lift_paths(joint)
        # Line 4: E_inf of every epsilon' in B', and for each vertex the k of the B'_k that it comes from.
        sets = [[paths.at(math.expm1(epsilon)) for epsilon in row] for row in fine]
        self.vertices = np.concatenate([points for row in sets for points in row])
        self.k = np.repeat(np.arange(len(sets)), [sum(map(len, row)) for row in sets])
        self.costs = utility.uncertainty(self.vertices)
        self.lifts = self.vertices @ joint.lift.T
        # Line 3: F_j starts with the posteriors of the optimum for alpha = inf; epsilon_j is first in B'_j.
        program = mixture_program(joint, utility)
        self.initial = [program.solve(row[0], utility.uncertainty(row[0])) for row in sets]

    def cells(self, alphas: tuple[float, ...], width: int, wanted: set[AlphaLift]) -> dict[AlphaLift, Solution]:
        """Lines 5-14 on these alphas and the first `width` epsilons; solutions of the wanted cells."""
        solutions: dict[AlphaLift, Solution] = {}
        # U of the previous alpha at every epsilon. The paper's is empty for alpha_0; the initial set is as good.
        previous = self.initial[:width]
        for alpha in alphas:  # line 5
            ordered = _Ordered.by(log_alpha_lifts(self.lifts, self.joint.p_s, alpha), self)
            # The program carries U of (alpha_i, epsilon_{j-1}) over by itself; P_X, its first point, adds
            # nothing, since h is concave and the initial F_j already mixes to P_X.
            program = mixture_program(self.joint, self.utility)
            for j, epsilon in enumerate(self.epsilons[:width]):  # line 6
                points, costs = ordered.band(j, epsilon, self.settings.delta)  # lines 8-11
                mixture = program.solve(  # line 12, on the union of line 7 and the band
                    np.concatenate([self.initial[j].points, previous[j].points, points]),
                    np.concatenate([self.initial[j].costs, previous[j].costs, costs]),
                )
                previous[j] = mixture  # line 13: U of (alpha_i, epsilon_j)
                region = AlphaLift(alpha, epsilon)
                if region in wanted:
                    optimal = math.isinf(alpha)
                    solutions[region] = solution_of(self.joint, region, self.utility, mixture=mixture, optimal=optimal)
        return solutions


@dataclass(frozen=True)
class _Ordered:
    """All vertices in rising order of their log alpha-lift, so that a band of values is a slice."""

    values: Array
    vertices: Array
    costs: Array
    k: NDArray[np.intp]

    @classmethod
    def by(cls, values: Array, run: _Run) -> _Ordered:
        order = np.argsort(values)
        return cls(values[order], run.vertices[order], run.costs[order], run.k[order])

    def band(self, j: int, epsilon: float, delta: float) -> tuple[Array, Array]:
        """Lines 8-11: vertices of B'_k, k >= j, with (1-delta) e^eps <= alpha-lift <= e^eps; and their costs."""
        low = np.searchsorted(self.values, epsilon + math.log1p(-delta) - _SLACK, side="left")
        high = np.searchsorted(self.values, epsilon + _SLACK, side="right")
        later = self.k[low:high] >= j
        return self.vertices[low:high][later], self.costs[low:high][later]
