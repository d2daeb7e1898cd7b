"""Promises for a population with a known truth: how often they are kept, and at which cost.

    python benchmarks/population.py                                   # a day: 100 draws a cell, two at a time
    python benchmarks/population.py --draws 20 --truths 6x10 --records 10000 --alphas inf 3 --epsilons 0.1

A row has how often true leakage is within the budget for the plain and for the robust design, the robust design's utility as a share
of that of the design that knows the truth, the same for the largest constant shrink of epsilon that is within budget in 95% of the draws
(which knows the truth, too), how often the bounds hold (calibrated on the design's records and on fresh ones, rigorous) and by how
much they exceed the truth on average, and seconds of the processors for a robust design.
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from alphalift import AlphaLift, Joint, Mechanism, MutualInformation, Optimal, Region, Robust, leakage_bound
from alphalift.data import adult
from alphalift.population import solve_robust
from alphalift.tables import read_joint
from where import where

UTILITY = MutualInformation()
SHRINKS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
QUICK = Optimal(relative_gap=1e-3, keep_certificate=False, threads=1)


def truth(name: str, draw: int) -> np.ndarray:
    """The census as it is, or another random joint for every tenth draw."""
    if name in ("race", "income"):
        useful = "education" if name == "race" else "occupation"
        return np.array(read_joint(adult(), sensitive=name, useful=useful).p_sx)
    table = np.random.default_rng(draw % 10).random(tuple(map(int, name.split("x"))))
    return np.asarray(table / table.sum())


def within(mechanism: Mechanism, joint: Joint, promise: Region) -> bool:
    return Mechanism(joint, mechanism.p_y_given_x).worst_value(promise) <= promise.budget


def row(name: str, records: int, promise: AlphaLift, draws: int) -> str:
    generator = np.random.default_rng(records)
    kept = {"plain": 0, "robust": 0, "own": 0, "fresh": 0, "rigorous": 0}
    wide: dict[str, list[float]] = {"own": [], "fresh": [], "rigorous": []}
    shares, seconds = [], 0.0
    shrunk = np.zeros((len(SHRINKS), 2))
    for draw in range(draws):
        table = truth(name, draw)
        counted, again = (
            Joint(generator.multinomial(records, table.ravel()).reshape(table.shape), counts=True) for _ in range(2)
        )
        known = Joint(table[:, [label in counted.x_labels for label in Joint(table).x_labels]])  # values that occur
        known = Joint(np.array(known.p_sx)[[label in counted.s_labels for label in known.s_labels]])
        best = QUICK.solve(known, [promise], UTILITY)[0].utility
        smaller = QUICK.solve(
            counted, [AlphaLift(promise.alpha, share * promise.epsilon) for share in SHRINKS], UTILITY
        )
        plain = smaller[-1].mechanism
        begin = time.process_time()
        robust = solve_robust(counted, Robust(promise), UTILITY, QUICK).mechanism
        seconds += time.process_time() - begin
        kept["plain"] += within(plain, known, promise)
        kept["robust"] += within(robust, known, promise)
        shares.append(Mechanism(known, robust.p_y_given_x).utility(UTILITY) / best)
        for i, own in enumerate(smaller):
            utility = Mechanism(known, own.mechanism.p_y_given_x).utility(UTILITY)
            shrunk[i] += within(own.mechanism, known, promise), utility / best
        leaked = math.log(Mechanism(known, plain.p_y_given_x).worst_value(promise))
        bounds = {"own": (counted, "calibrated"), "fresh": (again, "calibrated"), "rigorous": (again, "rigorous")}
        for method, (joint, how) in bounds.items():
            epsilon = leakage_bound(plain, joint, promise, method=how).epsilon  # type: ignore[arg-type]
            kept[method] += epsilon >= leaked
            wide[method].append(epsilon - leaked)
    safe = [utility / draws for inside, utility in shrunk if inside >= 0.95 * draws]
    coverage = "  ".join(f"{kept[method] / draws:4.2f} {np.mean(own):6.3f}" for method, own in wide.items())
    return (
        f"{name:7} {promise.alpha:5g} {promise.epsilon:4g} {records:8d}  {kept['plain'] / draws:5.2f} {kept['robust'] / draws:6.2f}"
        f" {np.mean(shares):6.3f} {max(safe, default=0.0):6.3f}  {coverage}  {seconds / draws:5.1f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--truths", nargs="+", default=["6x10", "3x8", "race", "income"])
    parser.add_argument("--records", nargs="+", type=int, default=[1000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--alphas", nargs="+", type=float, default=[1.5, 3.0, 10.0, math.inf])
    parser.add_argument("--epsilons", nargs="+", type=float, default=[0.1, 0.3])
    arguments = parser.parse_args()
    print(where(), flush=True)
    print(
        f"{'truth':7} {'alpha':>5} {'eps':>4} {'records':>8}  plain robust  share shrink  {'own':>11}  {'fresh':>11}  {'rigorous':>11}  cpu s"
    )
    cells = itertools.product(arguments.truths, arguments.records, arguments.epsilons, arguments.alphas)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        found = [
            pool.submit(row, name, records, AlphaLift(alpha, epsilon), arguments.draws)
            for name, records, epsilon, alpha in cells
        ]
        for own in found:
            print(own.result(), flush=True)


if __name__ == "__main__":
    main()
