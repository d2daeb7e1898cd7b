"""Many symbols and three secrets or more: gap, share kept, processor time and memory, beside the best baseline.

    python benchmarks/large.py                      # all rows, for 120 s each
    python benchmarks/large.py 10x200 --seconds 20  # some rows, for so long

Every row is a process of its own, so that memory is its own too. `early` is the share kept with a limit of 10 s, `baseline`
that of the best merging baseline, `file` the size of the mechanism file and `verify` the checker's processor time, where the
file is written (--files). Seconds are those of a clock, then the processor's, which has two cores.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
import time
from dataclasses import dataclass

from alphalift import AlphaLift, Joint, MutualInformation, Optimal, design, read_joint, to_document
from alphalift.baselines import CompleteMerging, SubsetMerging
from alphalift.data import adult
from alphalift.paper import random_joints
from alphalift.proof import checker
from where import where

COLUMNS = ["occupation", "education", "workclass", "marital_status", "sex"]
EARLY = 10.0
SIZES = ["census2", "census3", "census5", "3x1000", "5x500", "10x200", "20x100"]


@dataclass(frozen=True)
class Row:
    """An instance: which joint, alpha and epsilon."""

    size: str
    alpha: float
    epsilon: float

    @property
    def joint(self) -> Joint:
        if self.size.startswith("census"):
            return read_joint(adult(), sensitive="race", useful=COLUMNS[: int(self.size[6:])])
        secrets, symbols = map(int, self.size.split("x"))
        return random_joints(1, 0, (secrets, symbols))[0]


def rows(sizes: list[str]) -> list[Row]:
    found = []
    for size in sizes:
        epsilons = [0.1, 0.3] if size.startswith("census") else [0.1]
        found += [Row(size, alpha, epsilon) for alpha in (3.0, 10.0, math.inf) for epsilon in epsilons]
    return found


def measured(row: Row, seconds: float, files: bool) -> dict[str, float | str]:
    joint, region = row.joint, AlphaLift(row.alpha, row.epsilon)
    Optimal(time_limit=1).solve(random_joints(1, 0, (3, 70))[0], [region], MutualInformation())  # compiles
    early = design(joint, region, solver=Optimal(time_limit=EARLY))
    begin, began = time.process_time(), time.perf_counter()
    solution = design(joint, region, solver=Optimal(time_limit=seconds))
    spent, passed = time.process_time() - begin, time.perf_counter() - began
    baselines = [design(joint, region, solver=solver) for solver in (CompleteMerging(), SubsetMerging())]
    result: dict[str, float | str] = {
        "gap": solution.relative_gap,
        "kept": solution.normalized_utility,
        "baseline": max(own.normalized_utility for own in baselines),
        "early": early.normalized_utility,
        "seconds": spent,
        "passed": passed,
        "status": solution.status.name.lower(),
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
    }
    if files:
        document = to_document(solution)
        begin = time.process_time()
        proven = all(verdict.proven for verdict in checker.check(document))
        result |= {
            "verify": time.process_time() - begin,
            "file": len(json.dumps(document)) / 1e6,
            "proven": str(proven),
        }
    return result


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("sizes", nargs="*", default=SIZES)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--files", action="store_true")
    parser.add_argument("--row", help="for the processes that this starts")
    given = parser.parse_args()
    if given.row:
        size, alpha, epsilon = json.loads(given.row)
        print(json.dumps(measured(Row(size, float(alpha), epsilon), given.seconds, given.files)))
        return
    print(where("scipy"), flush=True)
    print(
        f"{'joint':8} {'alpha':>5} {'eps':>4} {'gap':>8} {'kept':>7} {'early':>7} {'baseline':>8} {'s':>6} {'cpu s':>6} {'GB':>5}  status",
        flush=True,
    )
    for row in rows(given.sizes):
        text = json.dumps([row.size, str(row.alpha), row.epsilon])
        command = [sys.executable, __file__, "--row", text, "--seconds", str(given.seconds)]
        run = subprocess.run([*command, *(["--files"] if given.files else [])], capture_output=True, text=True)
        if run.returncode:
            print(
                f"{row.size:8} {row.alpha:5g} {row.epsilon:4g} failed: {run.stderr.strip().splitlines()[-1]}",
                flush=True,
            )
            continue
        own = json.loads(run.stdout)
        more = (
            f"  file {own['file']:.1f} MB, verify {own['verify']:.1f} s, proven {own['proven']}" if given.files else ""
        )
        print(
            f"{row.size:8} {row.alpha:5g} {row.epsilon:4g} {own['gap']:8.1e} {own['kept']:7.4f} {own['early']:7.4f} {own['baseline']:8.4f} "
            f"{own['passed']:6.1f} {own['seconds']:6.1f} {own['peak']:5.2f}  {own['status']}{more}",
            flush=True,
        )


if __name__ == "__main__":
    main()
