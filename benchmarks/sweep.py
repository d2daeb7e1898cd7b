"""Sweeps that are killed, shared among processes, or sent to a Dask cluster.

    python benchmarks/sweep.py kill [--count 100]         # so many times
    python benchmarks/sweep.py speedup [--count 16]       # joints for the optimum; four times as many for Algorithm 1
    python benchmarks/sweep.py dask [--count 16]          # joints for the optimum

Each prints its figures; benchmarks/sweep.txt keeps a run.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from alphalift import Algorithm1, AlphaLift, MutualInformation, grid, sweep
from alphalift.paper import OPTIMUM_EPSILONS, random_joints
from alphalift.paper.experiment import OPTIMUM
from alphalift.solvers import Solver
from alphalift.solvers.algorithm1 import PAPER_ALPHAS, PAPER_EPSILONS
from alphalift.sweep import Tradeoff
from alphalift.sweep.store import addresses
from alphalift.workers import Crew, Workers, dask
from killing import Counting
from where import where

KILLED = grid(AlphaLift, alpha=PAPER_ALPHAS, epsilon=(0.01, 0.03, 0.1, 0.2, 0.3))
KILLED_JOINTS = 8


def content(tradeoff: Tradeoff) -> str:
    """A hash of all figures and of all bits of all mechanisms."""
    digest = hashlib.sha256(tradeoff.to_frame().to_csv().encode())
    for cells in tradeoff.cells:
        for cell in cells:
            digest.update(cell.p_y_given_x.tobytes())
    return digest.hexdigest()


def seconds_of(task: Callable[[], Tradeoff]) -> tuple[float, Tradeoff]:
    begin = time.perf_counter()
    result = task()
    return time.perf_counter() - begin, result


# --- kill -9 ---


def killed_sweep(folder: Path) -> None:
    """The child: one sweep with two processes, which keeps its cells and a log of those that it began."""
    solver = replace(Counting(OPTIMUM), log=folder / "log")
    joints = random_joints(KILLED_JOINTS, 0)
    print(content(sweep(joints, KILLED, solver=solver, workers=2, resume=folder / "cells")))


def cell_names() -> dict[str, str]:
    """What the log calls a cell, by the cell's address."""
    names: dict[str, str] = {}
    solver = Counting(OPTIMUM)
    for joint in random_joints(KILLED_JOINTS, 0):
        for chain in solver.chains(KILLED):
            steps = [(region,) for region in KILLED[chain]]
            found = addresses(joint, steps, MutualInformation(), solver)
            names |= {
                address: f"{joint.weights[0][0]} {region!r}" for address, (region,) in zip(found, steps, strict=True)
            }
    return names


def finished_cells(folder: Path) -> dict[str, int]:
    """Addresses of finished cells, with the time at which each was written."""
    files = (folder / "cells").glob("*/*")
    return {file.parent.name + file.name: file.stat().st_mtime_ns for file in files if not file.name.startswith(".")}


def kill(count: int) -> None:
    names, rng = cell_names(), random.Random(0)
    expected = content(sweep(random_joints(KILLED_JOINTS, 0), KILLED, solver=Counting(OPTIMUM), workers=2))
    kills = sweeps = equal = twice = rewritten = kept = 0
    while kills < count:
        with tempfile.TemporaryDirectory() as name:
            folder, output = Path(name), ""
            (folder / "log").touch()
            while not output:
                before, begun = finished_cells(folder), len((folder / "log").read_text().splitlines())
                # Most of a short life is start-up: the moments are counted from the first new cell.
                output = run_for(folder, begun, rng.uniform(0, 3))
                after = finished_cells(folder)
                kept += len(before)
                rewritten += sum(after[address] != written for address, written in before.items())
                done = {names[address] for address in before}
                twice += sum(line in done for line in (folder / "log").read_text().splitlines()[begun:])
                kills += not output
            sweeps += 1
            equal += output == expected
    print(f"{kills} times killed with -9, in {sweeps} sweeps of {len(names)} cells; {equal} ended with the same bytes")
    print(f"of {kept} cells found finished at a start, {twice} were begun again and {rewritten} written again")


def run_for(folder: Path, begun: int, seconds: float) -> str:
    """What a sweep prints, or nothing if it was killed, with all its processes, some seconds after its first cell."""
    command = [sys.executable, __file__, "child", "--folder", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    while process.poll() is None and len((folder / "log").read_text().splitlines()) <= begun:
        time.sleep(0.05)
    try:
        printed = process.communicate(timeout=seconds)[0].strip()
        assert process.returncode == 0, "it failed by itself"
        return printed
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return ""


# --- two processes, and Dask ---


def paper_sweep(solver: Solver, joints: int, epsilons: tuple[float, ...]) -> Callable[[Workers], Tradeoff]:
    regions = grid(AlphaLift, alpha=PAPER_ALPHAS, epsilon=epsilons)
    return lambda workers: sweep(random_joints(joints, 0), regions, solver=solver, workers=workers)


def speedup(joints: int) -> None:
    sweeps = {
        f"Algorithm 1, {4 * joints} joints x 950": paper_sweep(Algorithm1(), 4 * joints, PAPER_EPSILONS),
        f"the optimum, {joints} joints x 75": paper_sweep(OPTIMUM, joints, OPTIMUM_EPSILONS),
    }
    print(f"{'sweep':32}{'1 process':>12}{'2':>10}{'ratio':>8}")
    for name, task in sweeps.items():
        alone, one = seconds_of(partial(task, 1))
        both, two = seconds_of(partial(task, 2))
        same = "same bytes" if content(one) == content(two) else "OTHER BYTES"
        print(f"{name:32}{alone:>10.1f} s{both:>8.1f} s{alone / both:>8.2f}  {same}", flush=True)


def nothing(number: int, entries: list[bytes]) -> list[bytes]:
    return entries[:1]


def on_dask(joints: int) -> None:
    from distributed import LocalCluster

    task = paper_sweep(OPTIMUM, joints, OPTIMUM_EPSILONS)
    pool, one = seconds_of(lambda: task(2))
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1")
    with cluster, dask(cluster.scheduler_address) as executor:
        # The workers import and load their kernels once, which is not the cells' cost.
        sweep(random_joints(4, 9), KILLED[:1], solver=OPTIMUM, workers=executor)
        seconds, two = seconds_of(lambda: task(executor))
        calls, entries = 2000, [bytes(1200)] * 40
        begin = time.perf_counter()
        with Crew[int](executor, most=calls, usual=calls) as crew:
            for number in range(calls):
                crew.submit(number, nothing, number, entries)
            assert sum(1 for _ in crew.results()) == calls
        call = (time.perf_counter() - begin) / calls
    cells = len(one.records)
    print(
        f"{cells} cells with two processes: pool {pool:.1f} s (with its start), Dask {seconds:.1f} s (cluster running); "
    )
    print(
        f"{'same' if content(one) == content(two) else 'OTHER'} bytes; {2 * (seconds - pool) / cells * 1e3:+.1f} ms a cell and process beside the pool"
    )
    print(f"an empty call with 48 kB of arguments: {call * 1e3:.2f} ms; a call does cells for a second")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["kill", "speedup", "dask", "child"])
    parser.add_argument("--count", type=int)
    parser.add_argument("--folder", type=Path)
    arguments = parser.parse_args()
    if arguments.what == "child":
        killed_sweep(arguments.folder)
        return
    print(where("distributed"), flush=True)
    tasks = {"kill": (kill, 100), "speedup": (speedup, 16), "dask": (on_dask, 16)}
    task, usual = tasks[arguments.what]
    task(arguments.count or usual)


if __name__ == "__main__":
    main()
