"""Is the certified optimum ever below Algorithm 1, or above its own bound? Hundreds of random joints, 2x2 to 6x12.

python benchmarks/dominance.py           # 300 joints on all cores, about ten minutes; fails if any cell breaks a rule
python benchmarks/dominance.py 20        # the first 20 of them
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from loky import ProcessPoolExecutor

from alphalift import Algorithm1, AlphaLift, Joint, Optimal, SettingError, Solution, grid, sweep
from alphalift.arrays import Array
from where import where

SEED = 20240
JOINTS = 300
# From the strongest promise to the weakest on both axes, so that running maxima see every stronger promise.
ALPHAS = (math.inf, 100.0, 10.0, 3.0, 1.5)
EPSILONS = (0.01, 0.05, 0.2, 0.5)
GAP = 1e-4
# One thread, since there is a process for every core.
SOLVER = Optimal(relative_gap=GAP, time_limit=30, keep_certificate=False, threads=1)
ROUNDING = 1e-12
VISIBLY_BELOW = 1e-9
MOST_LISTED = 10


@dataclass(frozen=True)
class Cell:
    """One joint under one promise; utilities and bounds in nats, `entropy` is H(X)."""

    joint: str
    alpha: float
    epsilon: float
    status: str
    entropy: float
    algorithm1: float
    utility: float
    upper_bound: float
    stronger: float  # the largest utility that a stronger promise of the same sweep allowed
    excess: float  # worst alpha-lift / e^epsilon - 1
    marginal_error: float

    def __str__(self) -> str:
        return f"joint {self.joint}, alpha {self.alpha:g}, epsilon {self.epsilon:g}, {self.status}"

    @property
    def shortfall(self) -> float:
        """How far below Algorithm 1, as a share of H(X)."""
        return (self.algorithm1 - self.utility) / self.entropy


@dataclass(frozen=True)
class Rule:
    """What must not exceed `allowed` in any cell."""

    name: str
    measure: Callable[[Cell], float]
    allowed: float

    def broken(self, cells: list[Cell]) -> list[Cell]:
        """The cells that break it, the worst first."""
        # Not "above": a measure that is not a number breaks the rule too.
        return sorted((c for c in cells if not self.measure(c) <= self.allowed), key=self.measure, reverse=True)


RULES = (
    Rule("below Algorithm 1, share of H(X)", lambda cell: cell.shortfall, GAP),
    Rule("below a stronger promise, share of H(X)", lambda cell: (cell.stronger - cell.utility) / cell.entropy, GAP),
    Rule("own utility above the bound, nats", lambda cell: cell.utility - cell.upper_bound, ROUNDING),
    Rule("Algorithm 1 above the bound, nats", lambda cell: cell.algorithm1 - cell.upper_bound, ROUNDING),
    Rule("a stronger promise above the bound, nats", lambda cell: cell.stronger - cell.upper_bound, ROUNDING),
    Rule("alpha-lift above e^epsilon, relative", lambda cell: cell.excess, ROUNDING),
    Rule("mixture of posteriors off P_X", lambda cell: cell.marginal_error, ROUNDING),
)


def random_table(index: int) -> tuple[str, Array]:
    """Uniform entries, uniform entries with zero cells, or a sparse Dirichlet, in turn; each row and column has mass."""
    generator = np.random.default_rng((SEED, index))
    shape = (int(generator.integers(2, 7)), int(generator.integers(2, 13)))
    kind = ("uniform", "zero cells", "sparse")[index % 3]
    while True:
        if kind == "sparse":
            table = generator.dirichlet(np.full(shape[0] * shape[1], 0.3)).reshape(shape)
        else:
            table = generator.random(shape)
        if kind == "zero cells":
            table *= generator.random(shape) < 0.75
        if table.any(axis=0).all() and table.any(axis=1).all():
            return f"{index:3} {kind} {shape[0]}x{shape[1]}", table / table.sum()


def judge(index: int) -> list[Cell]:
    """All cells of one joint; none where Algorithm 1 refuses it as too large."""
    name, table = random_table(index)
    joint = Joint(table)
    regions = grid(AlphaLift, alpha=ALPHAS, epsilon=EPSILONS)
    try:
        (heuristic,) = sweep(joint, regions, solver=Algorithm1(), workers=1).solutions
    except SettingError:
        return []
    (certified,) = sweep(joint, regions, solver=SOLVER, workers=1).solutions
    utility = np.array([solution.utility for solution in certified]).reshape(len(ALPHAS), len(EPSILONS))
    stronger = np.maximum.accumulate(np.maximum.accumulate(utility, axis=0), axis=1).ravel()
    return [cell_of(name, *found) for found in zip(certified, heuristic, stronger.tolist(), strict=True)]


def cell_of(name: str, certified: Solution, heuristic: Solution, stronger: float) -> Cell:
    region, mechanism = certified.region, certified.mechanism
    assert isinstance(region, AlphaLift)
    return Cell(
        joint=name,
        alpha=region.alpha,
        epsilon=region.epsilon,
        status=certified.status.name.lower(),
        entropy=certified.utility_function.of_publishing_all(mechanism.joint.p_x),
        algorithm1=heuristic.utility,
        utility=certified.utility,
        upper_bound=certified.upper_bound,
        stronger=stronger,
        excess=mechanism.check(region).worst_value / region.budget - 1,
        marginal_error=float(np.abs(mechanism.p_x_given_y @ mechanism.p_y - mechanism.joint.p_x).max()),
    )


def all_cells(joints: int) -> list[list[Cell]]:
    # One thread a process: a second level of threads inside would only get in its way.
    one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with ProcessPoolExecutor(max_workers=os.cpu_count(), env=one_thread) as pool:
        return list(pool.map(judge, range(joints)))


def report(found: list[list[Cell]], seconds: float) -> bool:
    """Print the summary; whether every rule held in every cell."""
    cells = [cell for joint in found for cell in joint]
    refused = sum(not joint for joint in found)
    print(
        f"seed {SEED}, {len(found)} joints ({refused} too large for Algorithm 1), {len(cells)} cells, {seconds:.0f} s"
    )
    print(f"alpha {', '.join(f'{a:g}' for a in ALPHAS)}; epsilon {', '.join(f'{e:g}' for e in EPSILONS)}; gap {GAP:g}")
    statuses = Counter(cell.status for cell in cells).most_common()
    print("status: " + ", ".join(f"{status} {count}" for status, count in statuses))
    worst_gap = max((cell.upper_bound - cell.utility) / cell.entropy for cell in cells)
    print(f"largest gap between utility and bound {worst_gap:.1e} of H(X)\n")
    print(f"{'rule':42} {'allowed':>8} {'worst':>9} {'cells that break it':>20}")
    for rule in RULES:
        worst, broken = max(map(rule.measure, cells)), rule.broken(cells)
        print(f"{rule.name:42} {rule.allowed:8.0e} {worst:9.1e} {len(broken):20}")
        for cell in broken[:MOST_LISTED]:
            print(f"  {rule.measure(cell):.1e} at {cell}")
    list_shortfalls(cells)
    return not any(rule.broken(cells) for rule in RULES)


def list_shortfalls(cells: list[Cell]) -> None:
    """Cells below Algorithm 1 at all, which the gap allows: how many, and the worst."""
    gains = [-cell.shortfall for cell in cells]
    below = sorted((cell for cell in cells if cell.shortfall > VISIBLY_BELOW), key=lambda cell: -cell.shortfall)
    print(f"\nabove Algorithm 1 by more than the gap: {sum(gain > GAP for gain in gains)} cells, ", end="")
    print(f"by up to {max(gains):.3f} of H(X), on average {np.mean(gains):.4f}")
    print(f"below it by more than {VISIBLY_BELOW:g}: {len(below)} cells", end="")
    by_alpha = Counter(cell.alpha for cell in below)
    print("".join(f", {by_alpha[alpha]} at alpha {alpha:g}" for alpha in ALPHAS if by_alpha[alpha]))
    for cell in below[:MOST_LISTED]:
        print(f"  {cell.shortfall:.1e} at {cell}")


def main() -> None:
    print(where(), flush=True)
    joints = int(sys.argv[1]) if len(sys.argv) > 1 else JOINTS
    begin = time.perf_counter()
    found = all_cells(joints)
    if not report(found, time.perf_counter() - begin):
        sys.exit("a rule was broken")


if __name__ == "__main__":
    main()
