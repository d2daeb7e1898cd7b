"""Promises on average: gaps and times, and the privacy funnel beside what its papers do.

python benchmarks/averages.py                # about five minutes; prints two tables
python benchmarks/averages.py 3 --seconds 5  # three random joints, so many seconds for the convex-concave procedure

The funnel, OnAverage(KL(e)), is I(S;Y) <= e. Greedy merging: A. Makhdoumi et al., "From the information bottleneck to the privacy
funnel", 2014. The convex-concave procedure (cvxpy with Clarabel) from random starts: I(X;Y) is convex in P_XY and is replaced by its
tangent, I(S;Y) <= e is convex; as in T.-Y. Huang, A. El Gamal, "An efficient difference-of-convex solver for privacy funnel", 2024.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time

import cvxpy as cp
import numpy as np

from alphalift import Joint, Mechanism, MutualInformation, Optimal, design, read_joint
from alphalift.arrays import Array
from alphalift.baselines import GreedyMerging
from alphalift.data import adult
from alphalift.paper import random_joints
from alphalift.regions import Region, parse
from where import where

PROMISES = [
    "OnAverage(MaxLift(0.1))",
    "OnAverage(AlphaLift(3, 0.1))",
    "OnAverage(KL(0.05))",
    "OnAverage(TotalVariation(0.05))",
    "OnAverage(ChiSquare(0.2))",
    "OnAverage(KL(0.05)) & MaxLift(0.3)",
    "OnAverage(KL(0.05)) & OnAverage(MaxLift(0.1))",
]
FUNNELS = [0.01, 0.05]
FLOOR, LEAST_STEP, RAREST_OUTPUT = 1e-9, 1e-6, 1e-6
MOST_STARTS = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("joints", type=int, nargs="?", default=10)
    parser.add_argument("--seconds", type=float, default=10.0)
    chosen = parser.parse_args()
    print(where("cvxpy", "clarabel"), flush=True)
    joints = random_joints(chosen.joints, 0, (6, 10))
    design(joints[0], parse(PROMISES[0]))  # compiles
    print("6x10: the largest gap, and seconds of wall and processor time of designs with their proof", flush=True)
    for text in PROMISES:
        print(f"{text:46} {_timed(joints, parse(text))}", flush=True)
    print(
        "the funnel: I(X;Y) / H(X) of greedy merging, the worst and the best of convex-concave starts, the optimum, its bound"
    )
    census = read_joint(adult(), sensitive="race", useful="education")
    named = [(f"6x10 number {i}", joint) for i, joint in enumerate(joints[:3])] + [("census race x education", census)]
    for name, joint in named:
        for epsilon in FUNNELS if name != "census race x education" else [0.001, 0.005]:
            print(f"{name:24} {epsilon:g} {_beside(joint, epsilon, chosen.seconds)}", flush=True)


def _timed(joints: tuple[Joint, ...], region: Region) -> str:
    gaps, seconds, processor = [], [], []
    for joint in joints:
        begin, own = time.perf_counter(), time.process_time()
        gaps.append(design(joint, region).relative_gap)
        seconds.append(time.perf_counter() - begin)
        processor.append(time.process_time() - own)
    both = [f"median {statistics.median(times):.2f} most {max(times):.2f}" for times in (seconds, processor)]
    return f"{max(gaps):.0e}  {both[0]}; processor {both[1]}"


def _beside(joint: Joint, epsilon: float, seconds: float) -> str:
    region, utility = parse(f"OnAverage(KL({epsilon:g}))"), MutualInformation()
    (greedy,) = GreedyMerging().solve(joint, [region], utility)
    begin = time.perf_counter()
    optimum = design(joint, region, solver=Optimal(threads=1))
    own, everything = time.perf_counter() - begin, utility.of_publishing_all(joint.p_x)
    begin = time.perf_counter()
    found = [mechanism.normalized_utility() for mechanism in _climbs(joint, epsilon, seconds)]
    ends = f"{min(found):.5f} {max(found):.5f}" if found else "none    none   "
    return (
        f"{greedy.normalized_utility:.5f}  {ends} of {len(found)} in {time.perf_counter() - begin:.1f} s  "
        f"{optimum.normalized_utility:.5f} {optimum.upper_bound / everything:.5f} in {own:.1f} s"
    )


def _climbs(joint: Joint, epsilon: float, seconds: float) -> list[Mechanism]:
    """Where the convex-concave procedure ends from random mechanisms, as many as the seconds allow."""
    size = len(joint.p_x)
    p_yx, slope = cp.Variable((size + 1, size), nonneg=True), cp.Parameter((size + 1, size))
    p_ys = p_yx @ joint.p_s_given_x.T
    independent = cp.reshape(cp.sum(p_yx, axis=1), (size + 1, 1), order="C") @ joint.p_s[None]
    constraints = [cp.sum(p_yx, axis=0) == joint.p_x, cp.sum(cp.rel_entr(p_ys, independent)) <= epsilon]
    problem = cp.Problem(cp.Maximize(cp.sum(cp.multiply(slope, p_yx))), constraints)
    generator, deadline, found = np.random.default_rng(0), time.perf_counter() + seconds, list[Mechanism]()
    while len(found) < MOST_STARTS and time.perf_counter() < deadline:
        current: Array = generator.dirichlet(np.ones(size + 1), size).T * joint.p_x
        mechanism, before, gain = None, 0.0, math.inf
        while gain > LEAST_STEP and time.perf_counter() < deadline:
            positive = np.maximum(current, FLOOR)
            slope.value = np.log(positive / positive.sum(axis=1, keepdims=True))
            try:
                problem.solve(solver=cp.CLARABEL)
            except cp.error.SolverError:
                break
            current = np.maximum(np.asarray(p_yx.value), 0.0)
            kept = current[current.sum(axis=1) > RAREST_OUTPUT]
            mechanism = Mechanism(joint, kept / kept.sum(axis=0))
            gain, before = mechanism.normalized_utility() - before, mechanism.normalized_utility()
        if mechanism is not None:
            found.append(mechanism)
    return found


if __name__ == "__main__":
    main()
