"""S = X, the local model: the gap that every promise reaches, and what baselines keep beside it.

    python benchmarks/local.py 20 50 200 1000            the rows of benchmarks/local.txt
    python benchmarks/local.py 20 --seconds 5            a small size

Uniform prior and a random one (Dirichlet with ones, as counts in 10^6); n = 1000 for PML and LDP alone. Figures are shares
of H(X). Seconds are of processor time, without compiling.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from alphalift import KL, LDP, LIP, PML, AlphaLift, ChiSquare, Joint, MaxLift, Optimal, Renyi, TotalVariation
from alphalift.baselines import BinaryMechanism, RandomisedResponse, Staircase
from alphalift.errors import AlphaliftError
from alphalift.geometry.separable import compiled_maximise
from alphalift.regions import Region
from alphalift.utilities import MutualInformation
from where import where

PROMISES = [
    *(PML(0.5), MaxLift(1.5), LIP(0.5), LDP(1), LDP(3)),
    *(AlphaLift(1.5, 0.3), AlphaLift(2, 0.3), AlphaLift(10, 0.3), Renyi(3, 0.5), ChiSquare(0.5)),
    *(KL(0.3), TotalVariation(0.2), AlphaLift(2, 0.3) & MaxLift(1), KL(0.3) & LIP(1)),
]
LARGE = [PML(0.5), LDP(1)]
_LARGE_SIZE = 500
# Baselines that look at many settings of |X|^2 numbers are not asked beyond this.
_MOST_FOR_BASELINES = 200


def prior(name: str, size: int) -> Joint:
    """X as its own secret."""
    rng = np.random.default_rng(size)
    weights = np.ones(size, int) if name == "uniform" else (rng.dirichlet(np.ones(size)) * 1e6).astype(int) + 1
    return Joint([weights.tolist()], counts=True).about_x


def best_baseline(joint: Joint, region: Region) -> str:
    """Its share of H(X) and its name."""
    if len(joint.p_x) > _MOST_FOR_BASELINES:
        return "not computed"
    found = []
    for baseline in (RandomisedResponse(), BinaryMechanism(), Staircase()):
        try:
            solution = baseline.solve(joint, [region], MutualInformation())[0]
        except AlphaliftError:  # not every baseline is defined for every joint
            continue
        found.append((solution.normalized_utility, type(baseline).__name__))
    return "{:.6f} {}".format(*max(found)) if found else "none"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("sizes", nargs="+", type=int)
    parser.add_argument("--seconds", type=float, default=20.0)
    arguments = parser.parse_args()
    print(where())
    compiled_maximise()
    print(f"{'n':>5} {'prior':8} {'promise':44} {'kept':>9} {'gap':>8} {'seconds':>8}  best baseline")
    for size in arguments.sizes:
        for name in ("uniform", "random"):
            joint = prior(name, size)
            for region in PROMISES if size < _LARGE_SIZE else LARGE:
                begin = time.process_time()
                solver = Optimal(time_limit=arguments.seconds, threads=1)
                solution = solver.solve(joint, [region], MutualInformation())[0]
                seconds = time.process_time() - begin
                assert solution.mechanism.check(region)
                print(
                    f"{size:5} {name:8} {region!r:44.44} {solution.normalized_utility:9.6f} "
                    f"{solution.relative_gap:8.1e} {seconds:8.2f}  {best_baseline(joint, region)}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
