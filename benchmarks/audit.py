"""Audits of samples with a known truth: how often they say no, yes and that they cannot tell.

    python benchmarks/audit.py                                # 1,000 planted cases for each promise, a quarter of an hour
    python benchmarks/audit.py --cases 120 --promises 1

A case is n records of a mechanism whose worst output takes half of the budget (kept well), all of it (kept, exactly at the boundary) or
1.2 times it (violated by 20%). Plants: "every" is a design for that budget, which uses it up at nearly every output, for one of ten random
6 x 10 joints; "one" a random 6 x 10 table of secrets and outputs, mixed toward independence until its worst output has the value; "census"
a design for race x education, with as many records as the census has, whose rarest race has 0.8% of them. False alarms are the
"no" of the first two, power that of the last; false comfort is "yes" where it is violated, and at the boundary it would be for any
larger value.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from dataclasses import replace

import numpy as np

from alphalift import LIP, PML, Answer, Intersection, Joint, MaxLift, Optimal, Region, Samples, audit_samples, design
from alphalift.arrays import Array
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
    return replace(promise, epsilon=promise.epsilon * factor)  # type: ignore[type-var, call-arg]


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


def row(plant: str, text: str, records: int, cases: int) -> str:
    promise, shown = parse(text), []
    begin, generator = time.process_time(), np.random.default_rng(records)
    for factor in FACTORS:
        truths, found = planted(plant, times(promise, factor)), Counter[Answer]()
        count = cases if factor == 1 else cases // 2 if factor < 1 else cases
        for case in range(count):
            truth = truths[case % len(truths)]
            counts = generator.multinomial(records, truth.ravel()).reshape(truth.shape)
            found[audit_samples(samples_of(counts, promise), promise, seed=case).answer] += 1
        shown.append(f"{found[Answer.NO] / count:6.3f} {found[Answer.YES] / count:6.3f}")
    seconds = (time.process_time() - begin) / (2.5 * cases)
    return f"{text:34} {plant:6} {records:8d} {cases:5d}  {'   '.join(shown)}  {seconds:5.2f}"


def samples_of(counts: Array, promise: Region) -> Samples:
    """The counts as samples; those of PML are of X and Y, of one secret."""
    secrets, outputs = (tuple(map(str, range(size))) for size in counts.shape)
    if isinstance(promise, PML):
        return Samples(counts[None], ("",), secrets, outputs)
    return Samples(counts[:, None], secrets, None, outputs)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=1000, help="of each promise")
    parser.add_argument("--promises", type=int, default=len(PROMISES), help="how many of them")
    arguments = parser.parse_args()
    each = max(arguments.cases // 5, 1)
    print(where(), flush=True)
    print(
        f"{'':56} kept well       at the budget   20% above it\n{'promise':34} {'plant':6} {'records':>8} {'cases':>5}  "
        f"{'   '.join(['    no    yes'] * 3)}  cpu s"
    )
    for text, records in PROMISES[: arguments.promises]:
        for plant in ("every", "one"):
            print(row(plant, text, records, each), flush=True)
    for text in ON_CENSUS[: arguments.promises]:
        print(row("census", text, 32_561, each), flush=True)


if __name__ == "__main__":
    main()
