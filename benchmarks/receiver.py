"""What a receiver estimates from a release, with a known truth: how often intervals have it.

    python benchmarks/receiver.py                             # 1,000 releases of every mechanism, some minutes
    python benchmarks/receiver.py --releases 200 --truths 3x8

The truth is P_X of a population: of a random joint, of the census, and of two columns of which one tells nothing about the secret, so that
outputs of a small budget hardly tell its values apart. A release is so many records of it, each with one output of a mechanism that was
designed for this joint. Intervals are at 95%, of every value's share, of the mean of a score, and of a group; the receiver has the mechanism, or
the codebook's P(y|x) in few digits.

A row has the condition number of P(Y|X), the mean share of values that get an interval (others get a range), how often intervals have
the truth (the mean over values, the least and the largest of them, the score's mean, the group), their mean length, how often ranges have
it (the mean and the least), and how often the intervals of who takes outputs for the values that they most likely are.
"""

from __future__ import annotations

import argparse
import itertools
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from alphalift import Joint, Mechanism, Optimal, design
from alphalift.arrays import Array, dense
from alphalift.data import adult
from alphalift.population import Estimate, Interval
from alphalift.regions import parse
from alphalift.release.told import rounding, told
from alphalift.tables import read_joint
from where import where

PROMISES = ("AlphaLift(3, 0.05)", "AlphaLift(10, 0.3)", "MaxLift(0.1)")
TRUTHS = {"3x8": 4000, "6x10": 4000, "two": 4000, "race": 32_561}
BY = ("mechanism", "codebook")
CONFIDENCE = 0.95


def truth(name: str) -> Joint:
    generator = np.random.default_rng(0)
    if name == "race":
        return read_joint(adult(), sensitive="race", useful="education")
    if name == "two":  # four jobs, which tell about the secret, beside two towns, which do so by chance alone
        secret = generator.integers(0, 3, 4000)
        value = 2 * ((secret + generator.integers(0, 3, 4000)) % 4) + generator.integers(0, 2, 4000)
        return Joint(np.bincount(8 * secret + value, minlength=24).reshape(3, 8), counts=True)
    return Joint(np.rint(1e6 * generator.random(tuple(map(int, name.split("x"))))).astype(int), counts=True)


def scores_of(size: int) -> Array:
    """Every value's indicator, a score, and a group of half of the values."""
    group = np.arange(size) < size // 2
    return np.vstack([np.eye(size), np.arange(size) / (size - 1), group])


def taken_for_values(counts: Array, mechanism: Mechanism, scores: Array) -> Array:
    """Intervals of who reads every output as the value that it most likely is, (2, scores)."""
    read, shares = scores[:, mechanism.p_x_given_y.argmax(axis=0)], counts / counts.sum()
    mean = read @ shares
    error = 1.96 * np.sqrt((read - mean[:, None]) ** 2 @ shares / counts.sum())
    return np.array([mean - error, mean + error])


def row(name: str, promise: str, by: str, releases: int) -> str:
    joint, records = truth(name), TRUTHS[name]
    solution = design(joint, parse(promise), solver=Optimal(relative_gap=1e-3))
    mechanism, p_x = solution.mechanism, joint.p_x
    assert solution.integers is not None  # a design with its proof has them
    exact = dense(mechanism.law)
    law = exact if by == "mechanism" else dense(told(solution.integers, records))
    rounded = None if by == "mechanism" else rounding(law, records)
    scores, generator = scores_of(len(p_x)), np.random.default_rng(1)
    wanted = scores @ p_x
    told_in, held, length, naive = (np.zeros((releases, len(scores))) for _ in range(4))
    for i in range(releases):
        counts = generator.multinomial(records, exact @ p_x / (exact @ p_x).sum()).astype(np.float64)
        found = Estimate(joint.x_labels, law, counts, CONFIDENCE, rounded)
        ends: Sequence[Interval] = found.of_all(scores)
        low, high = (np.array([getattr(own, end) for own in ends]) for end in ("low", "high"))
        told_in[i], length[i] = [own.told for own in ends], high - low
        held[i] = (low <= wanted) & (wanted <= high)
        least, most = taken_for_values(counts, mechanism, scores)
        naive[i] = (least <= wanted) & (wanted <= most)
    return f"{name:5} {promise:18} {by:9} {np.linalg.cond(law):8.1e} {summary(told_in, held, length, naive)}"


def summary(told_in: Array, held: Array, length: Array, naive: Array) -> str:
    values = slice(0, told_in.shape[1] - 2)
    # Of what gets an interval in most releases; of the others, ranges.
    often, times = told_in.mean(axis=0) > 0.5, np.maximum(told_in.sum(axis=0), 1)
    covered, ranged = (told_in * held).sum(axis=0) / times, (1 - told_in) * held
    ranges = ranged.sum(axis=0) / np.maximum((1 - told_in).sum(axis=0), 1)
    own = covered[values][often[values]]
    spread = f"{own.mean():5.3f} {own.min():5.3f} {own.max():5.3f}" if len(own) else f"{'-':>5} {'-':>5} {'-':>5}"
    extra = " ".join(f"{covered[i]:5.3f}" if often[i] else f"{'-':>5}" for i in (-2, -1))
    left = ranges[values][~often[values]]
    open_ranges = f"{left.mean():5.3f} {left.min():5.3f}" if len(left) else f"{'-':>5} {'-':>5}"
    long = f"{length[:, values][:, often[values]].mean():6.3f}" if len(own) else f"{'-':>6}"
    wide = f"{length[:, values][:, ~often[values]].mean():6.3f}" if len(left) else f"{'-':>6}"
    return f"{told_in[:, values].mean():5.2f}  {spread}  {extra} {long}  {open_ranges} {wide}  {naive[:, values].mean():5.3f}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--releases", type=int, default=1000)
    parser.add_argument("--truths", nargs="+", choices=list(TRUTHS), default=list(TRUTHS))
    parser.add_argument("--promises", nargs="+", default=PROMISES)
    parser.add_argument("--by", nargs="+", choices=BY, default=BY)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    print(where(), flush=True)
    print(f"{'':42} condi- {'':5} {'intervals of values':17}  {'score':5} {'group':5} {'':6}  {'ranges':18}  without")
    print(
        f"{'truth':5} {'promise':18} {'by':9}   number  told  {'mean':>5} {'least':>5} {'most':>5}  {'mean':>5} {'':5} length  {'mean':>5} least length  noise"
    )
    with ProcessPoolExecutor(arguments.workers) as pool:
        grid = itertools.product(arguments.truths, arguments.promises, arguments.by)
        jobs = [pool.submit(row, *own, arguments.releases) for own in grid]
        for job in jobs:
            print(job.result(), flush=True)


if __name__ == "__main__":
    main()
