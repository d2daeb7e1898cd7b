"""Promises for a population with a known truth: how often they are kept, and at which cost.

    python benchmarks/population.py --keep benchmarks/population.jsonl # a day: 100 draws of all 128 cells, two at a time
    python benchmarks/population.py --draws 20 --truths 6x10 --records 10000 --alphas inf 3 --epsilons 0.1
    python benchmarks/population.py --keep benchmarks/population.jsonl --draws 0 # what was finished so far

All cells get their first draw, then their second; a draw, whose number is its seed, is the same records for every promise. What is finished
is a line of a file, if one is named, and not done again: end it when you like, or after `--minutes`, and go on later. The last lines count
draws by the sources that made them. A robust design has the seconds that it is to take, 10 for a random truth and 30 for the census,
counted as time of the processor, so that other work changes nothing.

A row has, of so many draws, how often true leakage is within the budget for the plain and for the robust design, the robust design's utility
as a share of that of the design that knows the truth, the same for the largest constant shrink of epsilon that is within budget in 95%
of the draws (which knows the truth, too), how often the bounds hold (calibrated on the design's records and on fresh ones, rigorous) and by
how much they exceed the truth on average, the largest gap that a robust design left within its region, and seconds of the processors for one. Ranges are 95% confidence intervals: Clopper
and Pearson's of how often, Student's of the mean share.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import json
import math
import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from alphalift import AlphaLift, Joint, Mechanism, MutualInformation, Optimal, Region, Robust, leakage_bound
from alphalift.clock import Clock
from alphalift.data import adult
from alphalift.population import solve_robust
from alphalift.tables import read_joint
from where import ROOT, sources, where

UTILITY = MutualInformation()
SHRINKS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
QUICK = Optimal(relative_gap=1e-3, keep_certificate=False, threads=1)
SECONDS, SECONDS_CENSUS = 10.0, 30.0
CENSUS = {"race": "education", "income": "occupation"}
BOUNDS = ("own", "fresh", "rigorous")
TABLES = 10
SOURCES = sources(ROOT)


@dataclass(frozen=True)
class Cell:
    truth: str
    records: int
    epsilon: float
    alpha: float

    @property
    def promise(self) -> AlphaLift:
        return AlphaLift(self.alpha, self.epsilon)

    def __str__(self) -> str:
        return f"{self.truth} {self.records} {self.epsilon:g} {self.alpha:g}"


@functools.cache
def truth(name: str, table: int) -> Joint:
    """The census as it is, or one of ten random joints."""
    if name in CENSUS:
        return Joint(np.array(read_joint(adult(), sensitive=name, useful=CENSUS[name]).p_sx))
    random = np.random.default_rng(table).random(tuple(map(int, name.split("x"))))
    return Joint(random / random.sum())


@functools.cache
def known(name: str, table: int, values: tuple[str, ...], secrets: tuple[str, ...]) -> Joint:
    """The truth about what occurs in the records."""
    joint = truth(name, table)
    p_sx = np.array(joint.p_sx)[[label in secrets for label in joint.s_labels]]
    return Joint(p_sx[:, [label in values for label in joint.x_labels]])


@functools.cache
def best(promise: AlphaLift, *of: Any) -> float:
    """What the design keeps that knows the truth."""
    return QUICK.solve(known(*of), [promise], UTILITY)[0].utility


def within(mechanism: Mechanism, joint: Joint, promise: Region) -> bool:
    return Mechanism(joint, mechanism.p_y_given_x).worst_value(promise) <= promise.budget


def drawn(cell: Cell, draw: int) -> dict[str, Any]:
    """One draw of records, and others that no design has seen; the same for all promises."""
    name, table = cell.truth, 0 if cell.truth in CENSUS else draw % TABLES
    shape, p_sx = np.shape(truth(name, table).p_sx), np.ravel(truth(name, table).p_sx)
    generator = np.random.default_rng([cell.records, draw, sum(map(ord, name))])
    counted, again = (Joint(generator.multinomial(cell.records, p_sx).reshape(shape), counts=True) for _ in range(2))
    of = name, table, counted.x_labels, counted.s_labels
    real, most, promise = known(*of), best(cell.promise, *of), cell.promise
    smaller = QUICK.solve(counted, [AlphaLift(cell.alpha, share * cell.epsilon) for share in SHRINKS], UTILITY)
    plain = smaller[-1].mechanism
    begin = time.process_time()
    limit = SECONDS_CENSUS if name in CENSUS else SECONDS
    solution = solve_robust(counted, Robust(promise), UTILITY, replace(QUICK, time_limit=limit))
    seconds = time.process_time() - begin
    robust, stated = solution.mechanism, solution.population
    assert stated is not None
    shrunk = [Mechanism(real, own.mechanism.p_y_given_x) for own in smaller]
    leaked = math.log(Mechanism(real, plain.p_y_given_x).worst_value(promise))
    records = {"own": (counted, "calibrated"), "fresh": (again, "calibrated"), "rigorous": (again, "rigorous")}
    bounds = {
        method: leakage_bound(plain, joint, promise, method=how).epsilon  # type: ignore[arg-type]
        for method, (joint, how) in records.items()
    }
    return {
        "plain": within(plain, real, promise),
        "robust": within(robust, real, promise),
        "share": Mechanism(real, robust.p_y_given_x).utility(UTILITY) / most,
        "shrunk": [[bool(within(own, real, promise)), own.utility(UTILITY) / most] for own in shrunk],
        "above": {method: bound - leaked for method, bound in bounds.items()},
        "seconds": seconds,
        "gap": (min(stated.within, stated.plain) - robust.utility(UTILITY))
        / UTILITY.on(counted).of_publishing_all(counted.p_x),
    }


def by_processor_time() -> None:
    """In this process, clocks of requests count the processor's seconds."""
    Clock.__init__.__defaults__ = (math.inf, time.process_time)


def finished(file: Path | None) -> dict[tuple[str, int], dict[str, Any]]:
    """The draws in the file, by cell and number; a last line that was not written whole is none."""
    if file is None or not file.exists():
        return {}
    whole = [line for line in file.read_text().splitlines(keepends=True) if line.endswith("\n")]
    return {(own["cell"], own["draw"]): own for own in map(json.loads, whole)}


def keep(file: Path | None, cell: Cell, draw: int, found: dict[str, Any]) -> dict[str, Any]:
    found = {"cell": str(cell), "draw": draw, "sources": SOURCES, **found}
    if file is not None:
        with file.open("a") as lines:
            lines.write(json.dumps(found, default=float) + "\n")
    return found


def often(flags: Sequence[bool]) -> str:
    """How often, with Clopper and Pearson's interval."""
    interval = stats.binomtest(sum(flags), len(flags)).proportion_ci()
    return f"{np.mean(flags):4.2f} {interval.low:4.2f}-{interval.high:4.2f}"


def mean(values: Sequence[float]) -> str:
    """With the half-width of Student's interval."""
    if len(values) < 2:
        return f"{values[0]:5.3f}      "
    half = stats.t.ppf(0.975, len(values) - 1) * stats.sem(values)
    return f"{np.mean(values):5.3f}+-{half:4.3f}"


def row(cell: Cell, draws: Sequence[dict[str, Any]]) -> str:
    shrunk = np.array([own["shrunk"] for own in draws]).mean(axis=0)
    shrink = max((utility for inside, utility in shrunk if inside >= 0.95), default=0.0)
    bounds = [[own["above"][method] for own in draws] for method in BOUNDS]
    coverage = "  ".join(f"{often([one >= 0 for one in above])} {np.mean(above):6.3f}" for above in bounds)
    return (
        f"{cell.truth:7} {cell.alpha:5g} {cell.epsilon:4g} {cell.records:8d} {len(draws):5d}"
        f"  {np.mean([own['plain'] for own in draws]):5.2f}  {often([own['robust'] for own in draws])}"
        f"  {mean([own['share'] for own in draws])} {shrink:6.3f}  {coverage}"
        f"  {max(own['gap'] for own in draws):7.1e}  {np.mean([own['seconds'] for own in draws]):5.1f}"
    )


def table_of(cells: Sequence[Cell], found: dict[Cell, list[dict[str, Any]]]) -> Iterator[str]:
    """A row for every cell with draws, and all of them together."""
    yield (
        f"{'truth':7} {'alpha':>5} {'eps':>4} {'records':>8} draws  plain  {'robust':14}  {'share':12} shrink"
        f"  {'own':21}  {'fresh':21}  {'rigorous':21}  {'gap':7}  cpu s"
    )
    yield from (row(cell, found[cell]) for cell in cells if found[cell])
    every = [own for draws in found.values() for own in draws]
    if every:
        yield f"All {len(every)} draws of {sum(map(bool, found.values()))} cells:"
        for name in ("plain", "robust"):
            yield f"  {name:8} within its budget {often([own[name] for own in every])}"
        for method in BOUNDS:
            yield f"  {method:8} bound holds        {often([own['above'][method] >= 0 for own in every])}"
        yield from (f"  {count} draws of {made}" for made, count in Counter(own["sources"] for own in every).items())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--truths", nargs="+", default=["6x10", "3x8", "race", "income"])
    parser.add_argument("--records", nargs="+", type=int, default=[1000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--alphas", nargs="+", type=float, default=[1.5, 3.0, 10.0, math.inf])
    parser.add_argument("--epsilons", nargs="+", type=float, default=[0.1, 0.3])
    parser.add_argument("--keep", type=Path, help="file of finished draws")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no draw after these")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    head = where()
    grid = itertools.product(arguments.truths, arguments.alphas, arguments.epsilons, arguments.records)
    cells = [Cell(name, records, epsilon, alpha) for name, alpha, epsilon, records in grid]
    before, begin = finished(arguments.keep), time.perf_counter()
    found = {cell: [own for (name, _), own in before.items() if name == str(cell)] for cell in cells}
    missing = [(cell, draw) for draw in range(arguments.draws) for cell in cells if (str(cell), draw) not in before]
    with ProcessPoolExecutor(arguments.workers, initializer=by_processor_time) as pool:
        while missing and time.perf_counter() - begin < 60 * arguments.minutes:
            batch, missing = missing[: arguments.workers], missing[arguments.workers :]
            jobs = {pool.submit(drawn, *own): own for own in batch}
            for job in as_completed(jobs):
                cell, draw = jobs[job]
                found[cell].append(keep(arguments.keep, cell, draw, job.result()))
    print(head, *table_of(cells, found), sep="\n")


if __name__ == "__main__":
    main()
