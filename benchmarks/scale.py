"""How cost grows: with records, with the symbols of X and S, with joints; seconds and slopes on log-log axes.

    python benchmarks/scale.py [records|symbols|joints]

Without an argument all of them; benchmarks/scale.txt keeps a run, docs/scale.md says what follows.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from alphalift import Algorithm1, AlphaLift, Optimal, design, grid, read_joint, sweep
from alphalift.document import to_document
from alphalift.paper import random_joints
from alphalift.proof import checker
from alphalift.release import release
from alphalift.solvers.algorithm1 import PAPER_ALPHAS, PAPER_EPSILONS
from release import make, plan
from where import where

REGION = AlphaLift(10, 0.1)
SOLVER = Optimal(relative_gap=1e-3, time_limit=30)
REPEATS = 3


def report(name: str, sizes: Sequence[int], seconds: Sequence[float]) -> None:
    """One line: the seconds at every size, and the exponent of a power law through the upper half of them."""
    half = len(sizes) // 2
    slope = np.polyfit(np.log(sizes[-half - 1 :]), np.log(seconds[-half - 1 :]), 1)[0]
    cells = "".join(f"{f'{size:,}: {time_:.3g} s':>20}" for size, time_ in zip(sizes, seconds, strict=True))
    print(f"{name:34}{cells}   slope {slope:.2f}", flush=True)


def seconds_of(task: Callable[[], object]) -> float:
    begin = time.perf_counter()
    task()
    return time.perf_counter() - begin


def records() -> None:
    """Counting and releasing Parquet files; integer ids in rising order, 16 values of x."""
    sizes, own = [1_000_000, 3_000_000, 10_000_000, 30_000_000], plan()
    counting, releasing = [], []
    with tempfile.TemporaryDirectory() as name:
        table, out = Path(name) / "in.parquet", Path(name) / "out.parquet"
        make(table, 10_000)
        read_joint(table, sensitive="x", useful="x")
        release(own, table, out=out)
        for size in sizes:
            make(table, size)
            counting.append(seconds_of(lambda: read_joint(table, sensitive="x", useful="x")))
            releasing.append(seconds_of(lambda: release(own, table, out=out)))
    report("read_joint, by records", sizes, counting)
    report("release, by records", sizes, releasing)


def symbols() -> None:
    """The optimum to a gap of 1e-3 with its rounding and proof, and what the checker takes to prove the file again."""
    for name, shapes in (
        ("|X|, |S| = 6", [(6, x) for x in (5, 10, 20, 40)]),
        ("|S|, |X| = 12", [(s, 12) for s in (3, 6, 12, 24)]),
        ("|X|, |S| = 2", [(2, x) for x in (50, 100, 200, 400)]),
    ):
        designing, proving = [], []
        for shape in shapes:
            times = [design_and_check(seed, shape) for seed in range(REPEATS)]
            designing.append(statistics.median(one for one, _ in times))
            proving.append(statistics.median(two for _, two in times))
        sizes = [x if name.startswith("|X|") else s for s, x in shapes]
        report(f"design, by {name}", sizes, designing)
        report(f"verify, by {name}", sizes, proving)


def design_and_check(seed: int, shape: tuple[int, int]) -> tuple[float, float]:
    (joint,) = random_joints(1, seed, shape)
    begin = time.perf_counter()
    document = to_document(design(joint, REGION, solver=SOLVER))
    designed = time.perf_counter()
    verdicts = checker.check(document)
    assert all(verdict.proven for verdict in verdicts)
    return designed - begin, time.perf_counter() - designed


def joints() -> None:
    """Sweeps of the paper's grid with two processes, their start included."""
    counts = [8, 16, 32, 64]
    paper = grid(AlphaLift, alpha=PAPER_ALPHAS, epsilon=PAPER_EPSILONS)
    few = grid(AlphaLift, alpha=PAPER_ALPHAS, epsilon=(0.05, 0.2))
    for name, solver, regions in (("Algorithm 1, 950 cells", Algorithm1(), paper), ("optimum, 10 cells", SOLVER, few)):
        times = [
            seconds_of(partial(sweep, random_joints(count, 0), regions, solver=solver, workers=2)) for count in counts
        ]
        report(f"{name}, by joints", counts, times)


def main() -> None:
    tasks = {"records": records, "symbols": symbols, "joints": joints}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=list(tasks))
    chosen = parser.parse_args().what
    print(where("pyarrow", "duckdb", "python-flint"), flush=True)
    design(random_joints(1, 0)[0], REGION)  # the kernels are compiled or loaded
    for name, task in tasks.items():
        if chosen in (None, name):
            task()


if __name__ == "__main__":
    main()
