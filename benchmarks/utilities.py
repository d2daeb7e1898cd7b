"""Every utility: gaps and times at 6x10 under three promises, and two of them with many symbols.

python benchmarks/utilities.py                     # minutes; prints two tables
python benchmarks/utilities.py 3 --sizes 10x200=5  # three joints of 6x10, and one of 10x200 for 5 s each

Designs are integers with their proof, the time for it included. Seconds are those of a clock, then the processor's.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from alphalift import KL, AlphaLift, Joint, MaxLift, OnAverage, Optimal, design
from alphalift.paper import random_joints
from alphalift.regions import Region
from alphalift.utilities import Decision, FInformation, GuessingAccuracy, MutualInformation, SquaredError, Utility
from alphalift.utilities.f_information import CURVES
from where import where

PROMISES: list[Region] = [AlphaLift(3, 0.1), MaxLift(0.1), OnAverage(KL(0.05))]
ALPHAS, EPSILON = [3.0, 10.0, math.inf], 0.1
SIZES = ["10x200=10", "10x1000=60"]
MOST_SECONDS, ACTIONS = 60.0, 4


class Measured(NamedTuple):
    """A design's relative gap, share of publishing X, seconds of a clock and of the processor, and status."""

    gap: float
    kept: float
    seconds: float
    processor: float
    status: str


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("joints", type=int, nargs="?", default=10)
    parser.add_argument("--sizes", nargs="*", default=SIZES, help="secrets x symbols = seconds")
    chosen = parser.parse_args()
    print(where(), flush=True)
    print("6x10: the median and the largest relative gap, seconds, and processor seconds", flush=True)
    _every_utility(random_joints(chosen.joints, 0, (6, 10)))
    print("many symbols, epsilon 0.1: relative gap, share kept, seconds, processor seconds, status", flush=True)
    for text in chosen.sizes:
        size, _, seconds = text.partition("=")
        secrets, symbols = map(int, size.split("x"))
        _many_symbols(size, random_joints(1, 0, (secrets, symbols))[0], float(seconds or MOST_SECONDS))


def _every_utility(joints: Sequence[Joint]) -> None:
    (small,) = random_joints(1, 1, (3, 5))
    for utility, first in zip(_utilities(10), _utilities(5), strict=True):
        for region in PROMISES:
            _measured(small, region, first, MOST_SECONDS)  # compiles
            found = [_measured(joint, region, utility, MOST_SECONDS) for joint in joints]
            columns = [[own.gap for own in found], [own.seconds for own in found], [own.processor for own in found]]
            ends = [(statistics.median(column), max(column)) for column in columns]
            shown = "{:.0e} {:.0e}".format(*ends[0]) + "".join(" {:7.2f} {:6.2f}".format(*own) for own in ends[1:])
            print(f"{_named(utility):34} {region!r:20} {shown}", flush=True)


def _many_symbols(size: str, joint: Joint, seconds: float) -> None:
    (small,) = random_joints(1, 1, (10, 70))
    for make in (lambda count: GuessingAccuracy(), _squares):
        for alpha in ALPHAS:
            region = AlphaLift(alpha, EPSILON)
            _measured(small, region, make(70), 2.0)  # compiles
            own = _measured(joint, region, make(len(joint.x_labels)), seconds)
            print(
                f"{size:8} {_named(make(1)):16} {alpha:5g} {own.gap:8.1e} {own.kept:7.4f} "
                f"{own.seconds:6.1f} {own.processor:6.1f}  {own.status}",
                flush=True,
            )


def _measured(joint: Joint, region: Region, utility: Utility, seconds: float) -> Measured:
    begin, processor = time.perf_counter(), time.process_time()
    found = design(joint, region, utility=utility, solver=Optimal(time_limit=seconds))
    spent = time.perf_counter() - begin, time.process_time() - processor
    return Measured(found.relative_gap, found.normalized_utility, *spent, found.status.name.lower())


def _utilities(symbols: int) -> list[Utility]:
    """Every one for so many symbols; gains and values are random integers."""
    gains = np.random.default_rng(0).integers(0, 20, (ACTIONS, symbols))
    informations = [FInformation(name) for name in CURVES]
    return [MutualInformation(), *informations, GuessingAccuracy(), Decision(gains.tolist()), _squares(symbols)]


def _squares(symbols: int) -> Utility:
    return SquaredError(np.random.default_rng(1).integers(0, 100, symbols).tolist())


def _named(utility: Utility) -> str:
    text = repr(utility)
    return text if isinstance(utility, FInformation) else text.partition("(")[0]


if __name__ == "__main__":
    main()
