"""Two secrets and many symbols: the gap, processor time and memory of the run itself; writes nothing.

    python benchmarks/binary.py > benchmarks/binary.txt     # some minutes
    python benchmarks/binary.py 2000                         # random joints of this many symbols only

The census: sex beside four and six columns as one. Random: uniform counts. `proven` is the checker's own bound at the
certificate's prices, from integers, its share above the run's bound, and its seconds; - where it refuses for its limits.
"""

from __future__ import annotations

import resource
import sys
import time

import numpy as np

from alphalift import AlphaLift, Joint, MaxLift, MutualInformation, Region, read_joint
from alphalift.data import adult
from alphalift.proof.checker import RefusedError, optimum_bound
from alphalift.proof.export import exported
from alphalift.proof.statement import checkable
from alphalift.solvers.binary import BinaryRun
from alphalift.solvers.run import Settings
from where import where

COLUMNS = ["occupation", "education", "workclass", "marital_status", "race", "relationship"]
REGIONS = [MaxLift(0.1), MaxLift(0.19), AlphaLift(10, 0.3), AlphaLift(3, 0.1)]
SIZES = [1000, 20_000, 100_000]
MOST_CHECKED = 20_000


def main() -> None:
    print(where("scipy", "python-flint"), flush=True)
    sizes = [int(size) for size in sys.argv[1:]] or SIZES
    _run(_random(50), MaxLift(0.1), 1e-9)  # compiles
    print(
        "joint         region                gap asked   gap      status     outputs  seconds  peak MB  proven",
        flush=True,
    )
    if sizes == SIZES:
        for count in (4, 6):
            joint = read_joint(adult(), sensitive="sex", useful=COLUMNS[:count])
            for region in REGIONS:
                _row(joint, region, 1e-9)
    for size in sizes:
        for region in REGIONS:
            _row(_random(size), region, 1e-9 if size <= 1000 else 1e-6)


def _random(size: int) -> Joint:
    counts = np.random.default_rng(size).integers(1, 10**9, (2, size))
    return Joint(counts.tolist(), counts=True)


def _run(joint: Joint, region: Region, gap: float) -> tuple[BinaryRun, str]:
    run = BinaryRun(Settings(gap, 60), joint, region, MutualInformation(), np.empty((0, len(joint.p_x))))
    return run, run._close_gap().name


def _row(joint: Joint, region: Region, gap: float) -> None:
    joint.lift_deviation, joint.p_x  # noqa: B018 - cached, and not the run's
    begin = time.process_time()
    run, status = _run(joint, region, gap)
    seconds = time.process_time() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    name, outputs = f"2x{len(joint.p_x)}", len(run.mixture.weights)
    print(
        f"{name:12}  {region!s:34.34}  {gap:.0e}  {run.gap:8.1e}  {status:10}  {outputs:6}  {seconds:6.2f}  {peak:7.0f}  "
        f"{_proven(run)}",
        flush=True,
    )


def _proven(run: BinaryRun) -> str:
    promise = checkable(run.region)
    if len(run.joint.p_x) > MOST_CHECKED or promise is None or run.certificate is None:
        return "not tried"
    begin = time.process_time()
    try:
        written = exported(run.certificate, run.joint, run.region)
        bound = float(optimum_bound([[list(row) for row in run.joint.weights]], promise, written))
    except RefusedError as refusal:
        return f"- ({refusal}; {time.process_time() - begin:.1f} s)"
    return f"{(bound - run.upper_bound) / run.everything:+.0e} in {time.process_time() - begin:.1f} s"


if __name__ == "__main__":
    main()
