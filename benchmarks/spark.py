"""Spark beside the embedded engine: the same outputs, and how long each takes.

    python benchmarks/spark.py identical|speed [--rows N]

`identical` compares every id's output with the embedded engine's: 1, 7 and 64 partitions, two actions on one lazy frame,
Python workers killed in the middle. `speed` runs everything on one core: a plain copy by Spark of the same columns, and
releases by Spark and by the embedded engine; ratios are of processor time, of all processes together, which other work on
the machine disturbs less. Needs pyspark and Java; benchmarks/spark.txt keeps a run.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from alphalift.release import release
from release import make, plan, timed
from where import where


def session(cores: int) -> Any:
    from pyspark.sql import SparkSession

    os.environ |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "4g",
        "spark.sql.warehouse.dir": tempfile.gettempdir(),
        "spark.task.maxFailures": "8",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    # In local mode the second number is how often a task may fail.
    builder = SparkSession.builder.master(f"local[{cores},8]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def identical(rows: int) -> None:
    spark = session(2)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "in.parquet"
        make(source, rows)
        expected = _by_id(release(plan(), source).table)
        frame = spark.read.parquet(str(source))

        def compare(name: str, table: pa.Table) -> None:
            equal = pc.sum(pc.equal(_by_id(table), expected)).as_py() if table.num_rows == rows else 0
            print(f"{name}: {equal} of {rows} ids have the output of the embedded engine", flush=True)

        for partitions in (1, 7, 64):
            lazy = release(plan(), frame.repartition(partitions)).table
            compare(f"{partitions} partitions", lazy.toArrow())
            if partitions == 7:
                compare("the same lazy frame, second action", lazy.toArrow())
        lazy = release(plan(ids="unique"), frame.repartition(7)).table
        stop, killed = threading.Event(), list[int]()
        killer = threading.Thread(target=_kill_workers, args=(spark.sparkContext._gateway.proc.pid, stop, killed))
        killer.start()
        table = lazy.toArrow()
        stop.set()
        killer.join()
        compare(f"{len(killed)} Python workers killed on the way", table)


def _by_id(table: pa.Table) -> pa.Array:
    """The outputs in the order of the ids."""
    return table.column(1).cast(pa.string()).combine_chunks().take(pa.array(np.argsort(table.column(0).to_numpy())))


def _kill_workers(root: int, stop: threading.Event, killed: list[int], most: int = 3) -> None:
    """Every second kill one of the Python workers that this program's Spark has started, a few times."""
    while len(killed) < most and not stop.wait(1.0):
        daemons = _children(root)
        for worker in [pid for daemon in daemons for pid in _children(daemon)][-1:]:
            with suppress(ProcessLookupError):
                os.kill(worker, signal.SIGKILL)
                killed.append(worker)


def _children(parent: int) -> list[int]:
    found = []
    for folder in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            if int((folder / "stat").read_text().rpartition(")")[2].split()[1]) == parent:
                found.append(int(folder.name))
    return found


def speed(rows: int, repeats: int = 3) -> None:
    # Spark's threads, its Python workers and the embedded engine's threads share this one core.
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    spark = session(1)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "in.parquet"
        make(source, rows)
        frame = spark.read.parquet(str(source))

        def by_spark(ids: Literal["check", "unique"]) -> Callable[[Path], object]:
            return lambda out: release(plan(ids=ids), frame, out=out)

        def lazy(out: Path) -> object:
            return release(plan(ids="unique"), frame).table.write.parquet(str(out))

        def embedded(out: Path) -> object:
            return release(plan(), source, out=out.with_suffix(".parquet"))

        tasks: dict[str, Callable[[Path], object]] = {
            "Spark, plain copy": lambda out: frame.select("id", "x").write.parquet(str(out)),
            "Spark, release, ids trusted": by_spark("unique"),
            "Spark, release, ids checked": by_spark("check"),
            "Spark, lazy frame, ids trusted": lazy,
            "embedded release, ids checked": embedded,
        }
        best = dict.fromkeys(tasks, (float("inf"), float("inf")))
        # In turns, so that what else the machine does falls on all; the first round warms up.
        for turn in range(1 + repeats):
            for name, task in tasks.items():
                out = Path(folder) / f"out {turn} {name}"
                before = _processor_seconds(os.getpid())
                seconds = timed(lambda task=task, out=out: task(out))  # type: ignore[misc]
                used = _processor_seconds(os.getpid()) - before
                best[name] = min(best[name], (used, seconds)) if turn else best[name]
        copy = best["Spark, plain copy"][0]
        print(f"{rows} rows, one core, best of {repeats}:")
        for name, (used, seconds) in best.items():
            print(
                f"  {name:30} {used:6.1f} s of processor, {seconds:6.1f} s  {rows / used / 1e6:5.2f} million rows/s  "
                f"{used / copy:.2f} times the copy"
            )


def _processor_seconds(pid: int) -> float:
    """Of the process, of those that it has started, and of theirs, also if they have ended."""
    with suppress(OSError):
        used = (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[11:15]
        return sum(map(int, used)) / os.sysconf("SC_CLK_TCK") + sum(map(_processor_seconds, _children(pid)))
    return 0.0


def main() -> None:
    tasks = {"identical": identical, "speed": speed}
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("task", choices=tasks)
    options.add_argument("--rows", type=int, default=10_000_000)
    chosen = options.parse_args()
    print(where("pyspark", "pyarrow"), flush=True)
    begin = time.perf_counter()
    tasks[chosen.task](chosen.rows)
    print(f"{time.perf_counter() - begin:.0f} s in all")


if __name__ == "__main__":
    main()
