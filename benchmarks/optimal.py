"""The certified optimum at every size: gap, time and memory, one row an instance.

python benchmarks/optimal.py                 # all rows, about 20 minutes; writes benchmarks/optimal.csv
python benchmarks/optimal.py 6x10 census     # some rows, which are only printed
"""

from __future__ import annotations

import csv
import math
import resource
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from alphalift import AlphaLift, Joint, Optimal, design, read_joint
from alphalift.baselines import CompleteMerging, SubsetMerging
from alphalift.data import adult
from alphalift.geometry.concave import Certificate
from alphalift.paper import random_joints
from where import where


@dataclass(frozen=True)
class Cell:
    """One instance and what it must reach: the gap, within the seconds."""

    row: str
    joint: Joint
    region: AlphaLift
    gap: float
    seconds: float


def uniform(seed: int, *shape: int) -> Joint:
    return random_joints(1, seed, (shape[0], shape[1]))[0]


def census(sensitive: str, *useful: str) -> Joint:
    return read_joint(adult(), sensitive=sensitive, useful=list(useful))


def cells(wanted: set[str]) -> Iterator[Cell]:
    """All instances of the wanted rows."""

    def want(row: str) -> bool:
        return not wanted or row.split()[0] in wanted

    if want("6x10"):
        for seed in range(20):
            for alpha in (1.5, 3, 10, 100, math.inf):
                for epsilon in (0.005, 0.01, 0.03, 0.1, 0.3, 0.6):
                    yield Cell("6x10", uniform(seed, 6, 10), AlphaLift(alpha, epsilon), 1e-4, 20)
    if want("2x1000"):
        for alpha in (1.5, 10, math.inf):
            yield Cell("2x1000", uniform(0, 2, 1000), AlphaLift(alpha, 0.1), 1e-9, 5)
    if want("2x5000"):
        for alpha in (1.5, 10, math.inf):
            yield Cell("2x5000", uniform(0, 2, 5000), AlphaLift(alpha, 0.1), 1e-9, 60)
    if want("3x100"):
        for alpha in (3, math.inf):
            yield Cell("3x100", uniform(0, 3, 100), AlphaLift(alpha, 0.1), 1e-4, 60)
    if want("6x40"):
        for alpha in (3, 10, math.inf):
            for epsilon in (0.05, 0.1, 0.3):
                yield Cell("6x40", uniform(0, 6, 40), AlphaLift(alpha, epsilon), 1e-4, 60)
    if want("6x100"):
        for alpha in (3, math.inf):
            yield Cell("6x100", uniform(0, 6, 100), AlphaLift(alpha, 0.1), 1e-3, 120)
    if want("10x200"):
        yield Cell("10x200", uniform(0, 10, 200), AlphaLift(10, 0.3), 0.02, 120)
    if want("census"):
        problems = {
            "race x education": census("race", "education"),
            "marital_status x occupation": census("marital_status", "occupation"),
            "income x (occupation, education)": census("income", "occupation", "education"),
            "race x (occupation, workclass)": census("race", "occupation", "workclass"),
        }
        for name, joint in problems.items():
            for alpha, epsilon in ((3, 0.1), (10, 0.3), (math.inf, 0.1)):
                yield Cell(f"census {name}", joint, AlphaLift(alpha, epsilon), 1e-4, 10)


def measure(cell: Cell) -> dict[str, object]:
    solver = Optimal(relative_gap=cell.gap, time_limit=cell.seconds)
    begin = time.perf_counter()
    solution = design(cell.joint, cell.region, solver=solver)
    seconds = time.perf_counter() - begin
    baseline = max(
        design(cell.joint, cell.region, solver=other).normalized_utility
        for other in (SubsetMerging(), CompleteMerging())
    )
    return {
        "row": cell.row,
        "alpha": cell.region.alpha,
        "epsilon": cell.region.epsilon,
        "status": solution.status.name.lower(),
        "normalized_utility": f"{solution.normalized_utility:.6f}",
        "relative_gap": f"{solution.relative_gap:.2e}",
        "asked_gap": cell.gap,
        "seconds": f"{seconds:.3f}",
        "leaves": solution.certificate.leaves if isinstance(solution.certificate, Certificate) else "",
        "best_baseline": f"{baseline:.6f}",
        "keeps_promise": bool(solution.mechanism.check(cell.region)),
    }


def main() -> None:
    head = where()
    print(head, flush=True)
    # Compile or load the kernels outside of the clock, as any second call finds them.
    for region in (AlphaLift(3, 0.1), AlphaLift(math.inf, 0.1)):
        design(uniform(99, 3, 4), region)
    records = []
    for cell in cells(set(sys.argv[1:])):
        records.append(measure(cell))
        if cell.row != "6x10":
            print(*records[-1].values(), flush=True)
    summarise(records)
    if len(sys.argv) == 1:
        path = Path(__file__).with_suffix(".csv")
        with path.open("w", newline="", encoding="utf-8") as file:
            file.writelines(f"# {line}\n" for line in head.splitlines())
            writer = csv.DictWriter(file, records[0].keys())
            writer.writeheader()
            writer.writerows(records)


def summarise(records: list[dict[str, object]]) -> None:
    print(f"\n{'row':42} {'cells':>5} {'worst gap':>9} {'median s':>9} {'worst s':>8}  all kept / above baselines")
    for row in dict.fromkeys(str(record["row"]) for record in records):
        mine = [record for record in records if record["row"] == row]
        seconds = [float(str(record["seconds"])) for record in mine]
        gap = max(float(str(record["relative_gap"])) for record in mine)
        kept = all(record["keeps_promise"] for record in mine)
        above = all(float(str(r["normalized_utility"])) >= float(str(r["best_baseline"])) - 1e-4 for r in mine)
        print(f"{row:42} {len(mine):5} {gap:9.1e} {np.median(seconds):9.3f} {max(seconds):8.2f}  {kept} / {above}")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")


if __name__ == "__main__":
    main()
