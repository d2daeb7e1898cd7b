"""Audits of samples with a known truth: how often they say no, yes and that they cannot tell.

    python benchmarks/audit.py                                # 5,625 planted cases, about ten minutes
    python benchmarks/audit.py --cases 400 --match "every PML"

A case is n records of a mechanism whose worst output takes half of the budget (kept well), all of it (kept, exactly at the boundary) or
1.2 times it (violated by 20%). Plants: "every" is a design for that budget, which uses it up at nearly every output, for one of ten random
6 x 10 joints; "one" a random 6 x 10 table of secrets and outputs, mixed toward independence until its worst output has the value; "census"
a design for race x education, with as many records as the census has, whose rarest race has 0.8% of them. False alarms are the
"no" of the first two, power that of the last; false comfort is "yes" where it is violated, and at the boundary it would be for any
larger value. The last lines add all rows up.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np

from alphalift import LIP, PML, Answer, Intersection, Joint, MaxLift, Optimal, Region, Samples, audit_samples, design
from alphalift.arrays import Array
from alphalift.audit.counted import Counts
from alphalift.data import adult
from alphalift.regions import parse
from alphalift.tables import read_joint
from where import where

# The promise, and the n at which a violation of 20% is to be found in one of its outputs.
PROMISES = (
    ("MaxLift(0.3)", 300_000),
    ("AlphaLift(3, 0.2)", 100_000),
    ("AlphaLift(10, 0.3)", 200_000),
    ("LIP(0.3)", 300_000),
    ("LDP(0.5)", 300_000),
    ("TotalVariation(0.1)", 200_000),
    ("ChiSquare(0.3)", 100_000),
    ("KL(0.05)", 400_000),
    ("Renyi(2, 0.1)", 300_000),
    ("PML(0.7)", 300_000),
    ("MaxLift(0.4) & AlphaLift(2, 0.05)", 300_000),
)
ON_CENSUS = ("MaxLift(0.5)", "AlphaLift(10, 0.3)", "LIP(0.5)")
CENSUS = 32_561
FACTORS = (0.5, 1.0, 1.2)
QUICK = Optimal(relative_gap=1e-2, keep_certificate=False)
TABLES, HALVINGS = 10, 60


def times(promise: Region, factor: float) -> Region:
    """The promise with its budget times a factor."""
    if isinstance(promise, Intersection):
        return Intersection(*(times(component, factor) for component in promise.components))
    if isinstance(promise, LIP):
        return LIP(lower=promise.lower * factor, upper=promise.upper * factor)
    if isinstance(promise, MaxLift):
        return type(promise)(promise.epsilon * factor)
    budgeted: Any = promise
    return replace(budgeted, epsilon=budgeted.epsilon * factor)


def designed(joint: Joint, promise: Region) -> Array:
    """P(s, y), (|S|, |Y|), of a design that uses up the budget."""
    mechanism = design(joint, promise, solver=QUICK).mechanism
    return np.asarray(promise.about(joint).p_sx @ mechanism.p_y_given_x.T)


def mixed(table: Array, promise: Region) -> Array:
    """The table of s and y, mixed toward independence until its worst output just keeps the promise."""
    alone = np.outer(table.sum(axis=1), table.sum(axis=0))
    away, low, high = table / alone - 1, 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        kept = promise.allows(1 + middle * away.T, table.sum(axis=1)).all()
        low, high = (middle, high) if kept else (low, middle)
    return np.asarray((1 + low * away) * alone)


def planted(plant: str, promise: Region) -> list[Array]:
    generators = [np.random.default_rng(seed) for seed in range(TABLES)]
    if plant == "census":
        return [designed(read_joint(adult(), sensitive="race", useful="education"), promise)]
    if plant == "one":
        return [mixed(own.dirichlet(np.ones(60)).reshape(6, 10), promise) for own in generators]
    tables = [own.random((6, 10)) for own in generators]
    return [designed(Joint(table / table.sum()), promise) for table in tables]


def row(plant: str, text: str, records: int, cases: int) -> tuple[str, dict[float, Counter[Answer]]]:
    """A line of the table, and how often each answer was given for each factor; of promises kept well there are a quarter as many."""
    promise, all_found = parse(text), dict[float, Counter[Answer]]()
    begin, generator = time.process_time(), np.random.default_rng(records)
    for factor in FACTORS:
        truths, found = planted(plant, times(promise, factor)), Counter[Answer]()
        for case in range(max(cases // 4, 1) if factor < 1 else cases):
            truth = truths[case % len(truths)]
            counts = generator.multinomial(records, truth.ravel()).reshape(truth.shape)
            found[audit_samples(samples_of(counts, promise), promise, seed=case).answer] += 1
        all_found[factor] = found
    seconds = (time.process_time() - begin) / sum(found.total() for found in all_found.values())
    shown = "   ".join(shares(found) for found in all_found.values())
    return f"{text:34} {plant:6} {records:8d} {cases:5d}  {shown}  {seconds:5.2f}", all_found


def shares(found: Counter[Answer]) -> str:
    return f"{found[Answer.NO] / found.total():6.3f} {found[Answer.YES] / found.total():6.3f}"


def samples_of(counts: Counts, promise: Region) -> Samples:
    """The counts as samples; those of PML are of X and Y, of one secret."""
    secrets, outputs = (tuple(map(str, range(size))) for size in counts.shape)
    if isinstance(promise, PML):
        return Samples(counts[None], ("",), secrets, outputs)
    return Samples(counts[:, None], secrets, None, outputs)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=100, help="at the budget, and above it, in each row")
    parser.add_argument("--promises", type=int, default=len(PROMISES), help="how many of them")
    parser.add_argument("--match", default="", help="only rows whose promise or plant has this in it")
    arguments = parser.parse_args()
    rows = [(plant, text, n) for text, n in PROMISES[: arguments.promises] for plant in ("every", "one")]
    rows += [("census", text, CENSUS) for text in ON_CENSUS[: arguments.promises]]
    rows = [(plant, text, n) for plant, text, n in rows if arguments.match in f"{plant} {text}"]
    print(where(), flush=True)
    print(f"{'':57} kept well       at the budget   20% above it")
    answers = "   ".join(["    no    yes"] * 3)
    print(f"{'promise':34} {'plant':6} {'records':>8} {'cases':>5}  {answers}  cpu s")
    sums: dict[str, dict[float, Counter[Answer]]] = {}
    for plant, text, records in rows:
        line, found = row(plant, text, records, arguments.cases)
        print(line, flush=True)
        own = sums.setdefault(plant, {factor: Counter() for factor in FACTORS})
        for factor in FACTORS:
            own[factor] += found[factor]
    for plant, own in sums.items():
        print(
            f"{'all':34} {plant:6} {'':8} {own[1.0].total():5d}  {'   '.join(shares(own[factor]) for factor in FACTORS)}"
        )


if __name__ == "__main__":
    main()
