"""Corners: block-diagonal and nearly equal columns, tiny budgets, alpha near 1, S and X nearly independent.

    python benchmarks/corners.py                 # for 30 s each at most
    python benchmarks/corners.py --seconds 10

A row has the gap as a share of publishing X, the share kept, that of the best merging baseline, and seconds of the processor.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import numpy as np

from alphalift import KL, LDP, LIP, AlphaLift, ChiSquare, Joint, MaxLift, Optimal, Region, TotalVariation, design
from alphalift.baselines import CompleteMerging, SubsetMerging
from where import where


def counted(table: np.ndarray) -> Joint:
    return Joint(np.rint(table).astype(int).tolist(), counts=True)


def block_diagonal() -> Joint:
    """4 blocks of 4 symbols: columns of a block are equal."""
    return counted(np.kron(np.eye(4), np.random.default_rng(0).integers(5, 50, (1, 4))))


def nearly_equal() -> Joint:
    """5 x 40: eight columns, each five times, moved by a thousandth."""
    generator = np.random.default_rng(1)
    return counted(1e7 * np.repeat(generator.random((5, 8)), 5, axis=1) * (1 + 1e-3 * generator.normal(size=(5, 40))))


def nearly_independent(distance: float) -> Joint:
    generator = np.random.default_rng(2)
    product = np.outer(generator.dirichlet(np.ones(4)), generator.dirichlet(np.ones(8)))
    return counted(1e12 * product * (1 + distance * generator.uniform(-1, 1, product.shape)))


def rows() -> Iterator[tuple[str, Joint, Region]]:
    promise: Region
    for promise in (LDP(1), LIP(0.5), KL(0.3), TotalVariation(0.2)):
        yield "block-diagonal 4x16", block_diagonal(), promise
    for promise in (AlphaLift(10, 0.1), MaxLift(0.1)):
        yield "nearly equal 5x40", nearly_equal(), promise
    plain = counted(1000 * np.random.default_rng(3).random((5, 10)) + 1)
    for budget in (1e-9, 1e-7, 1e-5, 1e-3):
        for promise in (AlphaLift(2, budget), KL(budget), MaxLift(budget), ChiSquare(budget)):
            yield "plain 5x10", plain, promise
    for epsilon in (1e-6, 1e-5):
        yield "plain 5x10", plain, AlphaLift(1.001, epsilon)
    for distance in (1e-3, 1e-6):
        for promise in (AlphaLift(3, distance**2 / 10), MaxLift(distance / 10)):
            yield f"independent to {distance:g}", nearly_independent(distance), promise


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=30.0)
    seconds = parser.parse_args().seconds
    print(where(), flush=True)
    design(counted(10 * np.ones((3, 4)) + np.eye(3, 4)), AlphaLift(3, 0.01))  # compiles
    print(f"{'joint':22} {'promise':38} {'gap':>8} {'kept':>8} {'baseline':>8} {'cpu s':>6}  status", flush=True)
    for name, joint, region in rows():
        begin = time.process_time()
        found = design(joint, region, solver=Optimal(time_limit=seconds))
        spent = time.process_time() - begin
        best = max(design(joint, region, solver=own).normalized_utility for own in (CompleteMerging(), SubsetMerging()))
        print(
            f"{name:22} {region!s:38} {found.relative_gap:8.1e} {found.normalized_utility:8.5f} {best:8.5f} {spent:6.2f}  "
            f"{found.status.name.lower()}",
            flush=True,
        )


if __name__ == "__main__":
    main()
