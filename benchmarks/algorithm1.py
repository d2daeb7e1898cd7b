"""Algorithm 1 beside the straightforward reference: agreement in every cell, and the ratio of their times.

python benchmarks/algorithm1.py           # a few minutes; prints a table, fails if they disagree
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

import reference
from alphalift import Algorithm1, AlphaLift, Joint, MutualInformation, grid
from where import where

JOINTS = 3
COARSE = reference.PAPER_EPSILONS[4::9][:20]
ALLOWED_DIFFERENCE = 1e-6


def ours(p_sx: reference.Array, epsilons: tuple[float, ...]) -> reference.Array:
    """Normalised utility of every cell, by the package, in this process."""
    regions = grid(AlphaLift, alpha=reference.PAPER_ALPHAS, epsilon=epsilons)
    solutions = Algorithm1().solve(Joint(p_sx), regions, MutualInformation())
    utility = np.array([solution.normalized_utility for solution in solutions])
    return utility.reshape(len(reference.PAPER_ALPHAS), len(epsilons))


def timed(work: Callable[[], reference.Array]) -> tuple[reference.Array, float]:
    """The result and the shorter time of two runs: the machine's noise only ever adds."""
    seconds = []
    for _ in range(2):
        begin = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - begin)
    return result, min(seconds)


def compare(name: str, p_sx: reference.Array, epsilons: tuple[float, ...]) -> float:
    """Print the two times and the largest difference; return the difference."""
    mine, fast = timed(lambda: ours(p_sx, epsilons))
    theirs, slow = timed(lambda: reference.algorithm1(p_sx, epsilons=epsilons))
    difference = float(np.abs(mine - theirs).max())
    print(
        f"{name:28} {mine.size:5} cells  ours {fast:6.2f} s  reference {slow:6.2f} s  "
        f"ratio {slow / fast:5.1f}  differ by {difference:.1e}"
    )
    return difference


def main() -> None:
    print(where("scipy", "pycddlib-standalone"), flush=True)
    ours(reference.random_joint(99), COARSE)  # imports and caches, on both sides of no comparison
    worst = max(compare(f"joint {seed}, 20 epsilons", reference.random_joint(seed), COARSE) for seed in range(JOINTS))
    worst = max(
        worst,
        *(
            compare(f"joint {seed}, the paper's grid", reference.random_joint(seed), reference.PAPER_EPSILONS)
            for seed in range(JOINTS)
        ),
    )
    if worst > ALLOWED_DIFFERENCE:
        sys.exit(f"the two differ by {worst:.1e}, more than {ALLOWED_DIFFERENCE:.0e}")


if __name__ == "__main__":
    main()
