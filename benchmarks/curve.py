"""Certified curves beside a sweep, and the least epsilon for a wish.

    python benchmarks/curve.py [6x10] [--accuracy 1e-3] [--seconds 60] [--alphas inf 10 3]

One random joint of this shape: envelopes to ten times the accuracy and to it, at most the seconds for all alphas together; then the optimum at the 190
epsilons of the paper's grid for the same alphas, by a sweep in this process; then `epsilon_for` for three wishes at each alpha.
Seconds by the wall and of processors, kernels compiled beforehand.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import TypeVar

from alphalift import AlphaLift, Joint, curve, epsilon_for, grid, sweep
from alphalift.paper import random_joints
from alphalift.solvers.algorithm1 import PAPER_EPSILONS
from where import where

WISHES = (0.6, 0.8, 0.95)
T = TypeVar("T")


def timed(work: Callable[[], T]) -> tuple[T, str]:
    """What it returns, and what it took."""
    wall, own = time.perf_counter(), time.process_time()
    found = work()
    return found, f"{time.perf_counter() - wall:7.2f} s by the wall, {time.process_time() - own:7.2f} s of processors"


def sweep_of(joint: Joint, alphas: list[float], epsilons: list[float]) -> int:
    """How many cells a sweep over these had to solve."""
    return len(sweep(joint, grid(AlphaLift, alpha=alphas, epsilon=epsilons)).records)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("shape", nargs="?", default="6x10")
    parser.add_argument("--accuracy", type=float, default=1e-3)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--alphas", type=float, nargs="+", default=[float("inf"), 10.0, 3.0])
    parser.add_argument("--points", type=int, default=len(PAPER_EPSILONS))
    given = parser.parse_args()
    print(where())
    secrets, symbols = map(int, given.shape.split("x"))
    (joint,) = random_joints(1, 0, (secrets, symbols))
    curve(joint, AlphaLift, alpha=given.alphas, accuracy=0.1, time_limit=30.0)
    epsilon_for(joint, AlphaLift, alpha=given.alphas[0], normalized_utility=0.9)
    for accuracy in (10 * given.accuracy, given.accuracy):

        def envelopes(accuracy: float = accuracy) -> object:
            return curve(joint, AlphaLift, alpha=given.alphas, accuracy=accuracy, time_limit=given.seconds)

        found, took = timed(envelopes)
        print(f"curves to {accuracy:g}: {took}")
        for own in found:  # type: ignore[attr-defined]
            name = f"alpha = {own.family.parameters['alpha']:g}"
            print(f"  {name}: apart at most {own.accuracy:.5f}, {len(own.points)} solves", flush=True)
    step = max(1, len(PAPER_EPSILONS) // given.points)
    epsilons = list(PAPER_EPSILONS[::step])
    cells, took = timed(lambda: sweep_of(joint, given.alphas, epsilons))
    print(f"sweep of {len(epsilons)} epsilons, {cells} cells: {took}", flush=True)
    for alpha in given.alphas:
        for wish in WISHES:
            answer, took = timed(lambda a=alpha, w=wish: epsilon_for(joint, AlphaLift, alpha=a, normalized_utility=w))  # type: ignore[misc]
            low = "none" if answer.fails is None else f"{answer.fails:g}"
            print(f"epsilon_for alpha = {alpha:g}, {wish:.0%}: between {low} and {answer.keeps:g}, {took}", flush=True)


if __name__ == "__main__":
    main()
