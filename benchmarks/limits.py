"""Do time limits hold? Requests with limits of 1 to 30 s over many kinds of problem, each a command of its own.

    python benchmarks/limits.py [COUNT]      # 200 unless told, about an hour; as many kinds in turn as there are

A request is `alphalift design ... --out FILE --time-limit T` on a table. From its wall time and its processor time the same
command's on a tiny table is taken off: the interpreter's start and the loading of kernels. It is over its limit if both
are, by more than 2 s and by more than 10%: a machine that others use too is late by the wall, and threads use more than one
processor.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from alphalift.data import adult
from where import where

LARGEST_COUNT = 400
SECONDS, SHARE = 2.0, 0.1
# What a request may take beyond its limit before it is ended, in limits and in seconds.
HOPELESS, GRACE = 3, 60.0
PROMISES = ("AlphaLift(10, 0.1)", "MaxLift(0.1)", "AlphaLift(3, 0.3)", "LDP(1)", "KL(0.01)", "AlphaLift(2, 1e-7)")
Counts = np.ndarray


@dataclass(frozen=True)
class Taken:
    """What a command took: seconds by the wall, of processors, bytes at most, and its exit code."""

    wall: float
    processor: float
    bytes: int
    code: int


def uniform(secrets: int, symbols: int) -> Callable[[np.random.Generator], Counts]:
    return lambda generator: generator.integers(1, LARGEST_COUNT, (secrets, symbols))


def equal_columns(generator: np.random.Generator) -> Counts:
    """6 x 248 of 40 kinds, and of rank 5."""
    kinds = generator.integers(1, LARGEST_COUNT, (6, 40))
    kinds[5] = kinds[4]
    return np.asarray(kinds[:, generator.integers(0, 40, 248)])


def itself(generator: np.random.Generator) -> Counts:
    return np.diag(generator.integers(1, LARGEST_COUNT, 50))


def blocks(generator: np.random.Generator) -> Counts:
    """Four blocks of four secrets and four symbols."""
    return np.asarray(
        np.kron(np.eye(4, dtype=int), np.ones((4, 4), int)) * generator.integers(1, LARGEST_COUNT, (16, 16))
    )


def census(generator: np.random.Generator) -> pd.DataFrame:
    columns = [["occupation", "education", "workclass"], ["occupation", "education", "marital_status"]]
    table = pd.read_csv(adult(), dtype=str, keep_default_na=False)
    chosen = columns[int(generator.integers(len(columns)))]
    return pd.DataFrame({"s": table["race"], "x": table[chosen].agg("/".join, axis=1)})


def rows(counts: Counts) -> pd.DataFrame:
    """The table with these counts."""
    s, x = np.nonzero(counts)
    repeats = counts[s, x]
    return pd.DataFrame({"s": np.repeat(s, repeats), "x": np.repeat(x, repeats)})


KINDS: dict[str, Callable[[np.random.Generator], Counts | pd.DataFrame]] = {
    "2x2000": uniform(2, 2000),
    "5x500": uniform(5, 500),
    "20x200": uniform(20, 200),
    "6x248 equal columns": equal_columns,
    "S = X, 50": itself,
    "block-diagonal 16x16": blocks,
    "6x10": uniform(6, 10),
    "census race x 3 columns": census,
    "6x40": uniform(6, 40),
    "3x100": uniform(3, 100),
}


def run(arguments: list[str], folder: Path, most: float) -> Taken:
    """The command, ended by its own id if it takes longer than `most` seconds."""
    begin = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "alphalift", *arguments],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while True:
        own, status, usage = os.wait4(process.pid, os.WNOHANG)
        wall = time.perf_counter() - begin
        if own:
            process.returncode = os.waitstatus_to_exitcode(status)
            return Taken(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, process.returncode)
        if wall > most:
            process.kill()
        time.sleep(0.02)


def request(table: Path, promise: str, limit: float) -> Taken:
    out = table.with_suffix(".json")
    out.unlink(missing_ok=True)
    options = [
        "-s",
        "s",
        "-u",
        "x",
        "--promise",
        promise,
        "--time-limit",
        f"{limit:g}",
        "--out",
        out.name,
        "--anyway",
        "--population",
    ]
    return run(["design", table.name, *options], table.parent, HOPELESS * limit + GRACE)


def over(taken: Taken, start: Taken, limit: float) -> float:
    """By how many seconds the request is over what is allowed; below 0 if it is not."""
    seconds = min(taken.wall - start.wall, taken.processor - start.processor)
    return seconds - limit - max(SECONDS, SHARE * limit)


def start_of(folder: Path) -> Taken:
    """The same command on a table so small that it takes no time, once the kernels of small and large alphabets are compiled."""
    tiny, large = folder / "tiny.parquet", folder / "large.parquet"
    rows(np.array([[3, 1, 1], [1, 3, 1], [1, 1, 3]])).to_parquet(tiny)
    rows(uniform(3, 100)(np.random.default_rng(0))).to_parquet(large)
    request(large, PROMISES[0], 300)
    return [request(tiny, PROMISES[0], 300) for _ in range(2)][-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", nargs="?", type=int, default=200)
    count = parser.parse_args().count
    print(where("python-flint"), flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        start = start_of(folder)
        print(f"start, taken off: {start.wall:.1f} s, {start.processor:.1f} s of processors")
        print(f"{'kind':26}{'promise':22}{'limit':>7}{'wall':>8}{'processor':>11}{'GB':>7}{'exit':>6}")
        late, failed = 0, 0
        for number in range(count):
            generator = np.random.default_rng(number)
            kind = list(KINDS)[number % len(KINDS)]
            limit = float(np.round(np.exp(generator.uniform(0, np.log(30))), 1))
            promise = PROMISES[int(generator.integers(len(PROMISES)))]
            made, table = KINDS[kind](generator), folder / "table.parquet"
            (made if isinstance(made, pd.DataFrame) else rows(made)).to_parquet(table)
            taken = request(table, promise, limit)
            excess = over(taken, start, limit)
            late, failed = late + (excess > 0), failed + (taken.code != 0)
            wall, processor = taken.wall - start.wall, taken.processor - start.processor
            print(
                f"{kind:26}{promise:22}{limit:7.1f}{wall:8.1f}{processor:11.1f}{taken.bytes / 1e9:7.2f}{taken.code:6}"
                f"{'  late' if excess > 0 else ''}",
                flush=True,
            )
    print(f"{count} requests: {late} over their limit by more than {SECONDS:g} s and {SHARE:.0%}, {failed} failed")


if __name__ == "__main__":
    main()
