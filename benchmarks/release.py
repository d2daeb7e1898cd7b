"""Releases beside plain copies: rows, seconds, ratios, memory.

    python benchmarks/release.py arrays|parquet|csv|text|count|law|kill [--rows N]      # for kill: how often

Each prints its figures; benchmarks/release.txt keeps a run. Tables are made in a temporary folder. Everything is measured
in its own process, so that memory is that of the task alone.
"""

from __future__ import annotations

import argparse
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet
from scipy.stats import chi2

from alphalift import AlphaLift, Joint, design, read_joint
from alphalift.release import Key, Plan
from alphalift.release.keyed import KeyedDraw
from alphalift.solution import Solution
from where import where

SYMBOLS = 16
KEY = bytes(range(32))
LABELS = [f"value {x:02d}" for x in range(SYMBOLS)]


def solution() -> Solution:
    weights = np.random.default_rng(0).integers(1, 100, (5, SYMBOLS))
    return design(Joint(weights.tolist(), x_labels=LABELS, counts=True), AlphaLift(10, 0.1))


def plan(**options: Any) -> Plan:
    """A plan for the tables that `make` makes; real ids, as the plain copies have them."""
    usual: dict[str, Any] = {
        "useful": "x",
        "record_id": "id",
        "key": Key.of_bytes(KEY),
        "ledger": "none",
        "show_ids": "real",
    }
    return Plan(mechanism=solution(), **(usual | options))


def timed(task: Callable[[], object]) -> float:
    begin = time.perf_counter()
    task()
    return time.perf_counter() - begin


def batches(rows: int, *, text_ids: bool = False):  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(1)
    for start in range(0, rows, 1 << 20):
        count = min(1 << 20, rows - start)
        ids = pa.array(np.arange(start, start + count))
        if text_ids:
            ids = pa.array([f"person-{number:020d}" for number in range(start, start + count)])
        x = pa.DictionaryArray.from_arrays(pa.array(rng.integers(0, SYMBOLS, count, dtype=np.int32)), pa.array(LABELS))
        yield pa.record_batch({"id": ids, "x": x.cast(pa.string())})


def make(path: Path, rows: int, *, text_ids: bool = False) -> None:
    writer = None
    for batch in batches(rows, text_ids=text_ids):
        if writer is None:
            writer = (
                parquet.ParquetWriter(path, batch.schema)
                if path.suffix == ".parquet"
                else csv.CSVWriter(path, batch.schema)
            )
        writer.write_batch(batch)
    if writer is not None:
        writer.close()


def in_process(code: str, *arguments: object) -> tuple[float, float]:
    """Seconds of the code between its marks, and the peak memory of its process in GB."""
    whole = f"import sys, time, resource\nsys.path.insert(0, {str(Path(__file__).parent)!r})\nfrom release import *\n{code}\n"
    whole += "print(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6)"
    done = subprocess.run(
        [sys.executable, "-c", whole, *map(str, arguments)], capture_output=True, text=True, check=True
    )
    seconds, memory = done.stdout.split()[-2:]
    return float(seconds), float(memory)


COPY_PARQUET = """
def copy():
    with parquet.ParquetFile(sys.argv[1]) as file:
        with parquet.ParquetWriter(sys.argv[2], file.schema_arrow) as writer:
            for batch in file.iter_batches(batch_size=1 << 19, columns=["id", "x"]):
                writer.write_batch(batch)
seconds = timed(copy)
"""
RELEASE = """
from alphalift.release import release as apply
ids, shown = (sys.argv[3], "real") if sys.argv[3] != "pseudonym" else ("check", "pseudonym")
own = plan(ids=ids, show_ids=shown)
apply(own, pa.table({"id": [1], "x": [LABELS[0]]}))
seconds = timed(lambda: apply(own, sys.argv[1], out=sys.argv[2]))
"""
COPY_CSV = """
seconds = timed(lambda: duckdb.sql(f"COPY (SELECT id, x FROM read_csv('{sys.argv[1]}', all_varchar=true)) TO '{sys.argv[2]}'"))
"""


def compare_files(ending: str, rows: int, copy: str, *, text_ids: bool = False) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder) / f"in{ending}", Path(folder) / f"out{ending}"
        make(source, rows, text_ids=text_ids)
        base, base_memory = in_process(copy, source, out)
        print(f"{rows} rows, {ending}: copy {base:.1f} s, {base_memory:.2f} GB", flush=True)
        for ids, words in {"unique": "trusted", "check": "checked", "pseudonym": "checked and as pseudonyms"}.items():
            seconds, memory = in_process(RELEASE, source, out, ids)
            print(
                f"  release, ids {words}: {seconds:.1f} s, {seconds / base:.2f} times the copy, "
                f"{rows / seconds / 1e6:.1f} million rows/s, {memory:.2f} GB",
                flush=True,
            )


def arrays(rows: int) -> None:
    """One core: numbers of symbols in, numbers of outputs out."""
    mechanism = solution()
    rng = np.random.default_rng(0)
    x = rng.integers(0, SYMBOLS, rows)
    law = mechanism.mechanism.p_y_given_x if mechanism.integers else np.empty(0)
    draw = KeyedDraw(KEY, mechanism.integers, "n", ["x"], "id")  # type: ignore[arg-type]
    blocks = [slice(start, start + (1 << 20)) for start in range(0, rows, 1 << 20)]
    numbers = pa.array(np.arange(rows))
    texts = numbers.slice(0, rows // 5).cast(pa.string())
    draw.outputs(numbers[:10], x[:10])
    draw.outputs(texts[:10], x[:10])

    def keyed() -> None:
        for block in blocks:
            draw.outputs(numbers[block], x[block])

    def by_group() -> None:
        for symbol in range(SYMBOLS):
            rng.choice(len(law), int((x == symbol).sum()), p=law[:, symbol])

    def pure() -> None:
        for symbol in x[: rows // 100].tolist():
            random.choices(range(len(law)), weights=law[:, symbol].tolist())

    def report(name: str, seconds: float, count: int) -> None:
        print(f"{name}: {count / seconds / 1e6:.2f} million rows/s", flush=True)

    report("keyed, integer ids", timed(keyed), rows)
    report("keyed, text ids", timed(lambda: draw.outputs(texts, x[: rows // 5])), rows // 5)
    report("numpy, choice for each group", timed(by_group), rows)
    report("pure Python, random.choices", timed(pure), rows // 100)
    try:
        import opendp.prelude as dp
    except ImportError:
        print("OpenDP is not installed")
        return
    dp.enable_features("contrib")
    respond = dp.m.make_randomized_response(LABELS, 0.8)
    values = [LABELS[symbol] for symbol in x[: rows // 100].tolist()]
    report("OpenDP, randomised response", timed(lambda: [respond(value) for value in values]), rows // 100)


def count(rows: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "in.parquet"
        writer = None
        for batch in batches(rows):
            batch = batch.append_column("s", pa.array(np.arange(len(batch)) % 5).cast(pa.string()))
            writer = writer or parquet.ParquetWriter(source, batch.schema)
            writer.write_batch(batch)
        if writer is not None:
            writer.close()
        hand = min(
            timed(lambda: duckdb.execute(f"SELECT s, x, count(*) FROM '{source}' GROUP BY s, x").fetchall())
            for _ in range(3)
        )
        ours = min(timed(lambda: read_joint(source, sensitive="s", useful="x")) for _ in range(3))
        print(
            f"{rows} rows counted: by hand {hand:.2f} s, read_joint {ours:.2f} s, {ours / hand:.2f} times (best of 3 each)"
        )


def law(rows: int) -> None:
    """Chi-square with power: accepts the law, rejects one with a single entry moved by 1e-3."""
    mechanism = solution()
    integers = mechanism.integers
    assert integers is not None
    draw = KeyedDraw(KEY, integers, "n", ["x"], "id")
    column = max(range(SYMBOLS), key=lambda x: sum(1 for row in integers.weights if x in row))
    shares = np.array([row.get(column, 0) for row in integers.weights]) / 2.0**integers.bits
    counts = np.zeros(len(shares), np.int64)
    for start in range(0, rows, 1 << 20):
        size = min(1 << 20, rows - start)
        counts += np.bincount(
            draw.outputs(pa.array(np.arange(start, start + size)), np.full(size, column)), minlength=len(shares)
        )

    def p_value(expected: np.ndarray) -> float:
        some = expected > 0
        return float(
            chi2.sf(((counts[some] - rows * expected[some]) ** 2 / (rows * expected[some])).sum(), some.sum() - 1)
        )

    moved = shares.copy()
    moved[[shares.argmax(), np.where(shares > 0, shares, np.inf).argmin()]] += [-1e-3, 1e-3]
    print(f"{rows} draws of one symbol with {int((shares > 0).sum())} outputs: p = {p_value(shares):.3f} for the integers, "
          f"{p_value(moved):.1e} with one entry moved by 1e-3; {int(counts[shares == 0].sum())} draws of impossible outputs")  # fmt: skip


def kill(times: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder) / "in.parquet", Path(folder) / "out.parquet"
        make(source, 2_000_000)
        code = f"import sys\nsys.path.insert(0, {str(Path(__file__).parent)!r})\nfrom release import *\n{RELEASE}"
        command = [sys.executable, "-c", code, str(source), str(out), "unique"]
        seconds = timed(lambda: subprocess.run(command, check=True))
        rng = random.Random(0)
        outcomes = {"old": 0, "new": 0, "partial": 0}
        for _ in range(times):
            out.write_text("old")
            process = subprocess.Popen(command)
            time.sleep(rng.uniform(0.3, 1.05) * seconds)
            process.send_signal(signal.SIGKILL)
            process.wait()
            outcomes[_state(out)] += 1
            for left in Path(folder).glob(".*"):
                left.unlink()
        print(f"kill -9 at {times} random moments: {outcomes}")


def _state(out: Path) -> str:
    if out.read_bytes()[:4] == b"old":
        return "old"
    try:
        return "new" if parquet.ParquetFile(out).metadata.num_rows == 2_000_000 else "partial"
    except pa.ArrowException:
        return "partial"


def main() -> None:
    tasks: dict[str, tuple[Callable[[int], None], int]] = {
        "arrays": (arrays, 10_000_000),
        "parquet": (lambda rows: compare_files(".parquet", rows, COPY_PARQUET), 100_000_000),
        "csv": (lambda rows: compare_files(".csv", rows, COPY_CSV), 20_000_000),
        "text": (lambda rows: compare_files(".parquet", rows, COPY_PARQUET, text_ids=True), 10_000_000),
        "count": (count, 100_000_000),
        "law": (law, 100_000_000),
        "kill": (kill, 200),
    }
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("task", choices=tasks)
    options.add_argument("--rows", type=int)
    chosen = options.parse_args()
    print(where("pyarrow", "duckdb"), flush=True)
    task, usual = tasks[chosen.task]
    task(chosen.rows or usual)
    print(f"peak memory of this process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")


if __name__ == "__main__":
    main()
