"""Workers that are killed, and tasks that run twice: every id still has its one output."""

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from alphalift import AlphaLift, Joint, design
from alphalift.release import Key, Plan, release

ROWS = 400_000
PATIENCE = 120
SOLUTION = design(Joint([[5, 2], [1, 4]], ["yes", "no"], ["a", "b"], counts=True), AlphaLift(3, 0.05))
TABLE = pa.table({"id": np.arange(ROWS), "x": pa.array(["a", "b"] * (ROWS // 2))})
PLAN = Plan(
    mechanism=SOLUTION,
    useful="x",
    record_id="id",
    key=Key.of_bytes(bytes(32)),
    ids="unique",
    ledger="none",
    show_ids="real",
)


def stuck_once(folder):
    """Batches as they are; but the first task that meets the last id notes its process and waits for another to meet it."""

    def pass_on(batches):
        for batch in batches:
            if batch.column(0)[-1].as_py() == ROWS - 1:
                try:
                    (folder / "first").touch(exist_ok=False)
                except FileExistsError:
                    (folder / "again").touch()
                else:
                    (folder / "part").write_text(str(os.getpid()))
                    (folder / "part").rename(folder / "pid")
                    until = time.monotonic() + PATIENCE
                    while not (folder / "again").exists() and time.monotonic() < until:
                        time.sleep(0.05)
            yield batch

    return pass_on


@pytest.fixture
def slow(spark, tmp_path):
    """A frame of four partitions that gets stuck in its last one, once, and the folder of its notes."""
    pq.write_table(TABLE, tmp_path / "in.parquet")
    frame = spark.read.parquet(str(tmp_path / "in.parquet")).repartitionByRange(4, "id").sortWithinPartitions("id")
    (tmp_path / "notes").mkdir()
    return frame.mapInArrow(stuck_once(tmp_path / "notes"), frame.schema), tmp_path / "notes"


def parent(pid):
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def children(pid):
    found = []
    for folder in Path("/proc").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):
            if folder.name.isdigit() and parent(folder.name) == pid:
                found.append(int(folder.name))
    return found


def python_workers(worker):
    """All Python workers of the executor that has this one: those that draw, too."""
    return children(parent(worker))


def executor(worker):
    pid = parent(parent(worker))
    assert b"CoarseGrainedExecutorBackend" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return [pid]


def kill_when_stuck(folder, victims, gateway):
    until = time.monotonic() + PATIENCE
    while not (folder / "pid").exists() and time.monotonic() < until:
        time.sleep(0.05)
    pids = victims(int((folder / "pid").read_text()))
    ours = pids[0]
    while ours not in (gateway, 1):
        ours = parent(ours)
    assert ours == gateway, "only what this session has started"
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    (folder / "killed").write_text(str(len(pids)))


def in_order(table):
    return pa.table([column.cast(pa.string()) for column in table.columns], table.column_names).sort_by("id")


@pytest.fixture(scope="module")
def expected():
    return in_order(release(PLAN, TABLE).table)


@pytest.mark.parametrize("victims", [python_workers, executor])
@pytest.mark.parametrize("to_files", [False, True])
def test_a_process_killed_in_the_middle(spark, slow, expected, victims, to_files, tmp_path):
    frame, folder = slow
    killer = threading.Thread(target=kill_when_stuck, args=(folder, victims, spark.sparkContext._gateway.proc.pid))
    killer.start()
    begin, out = time.monotonic(), tmp_path / "out"
    done = release(PLAN, frame, out=out if to_files else None)
    found = pq.read_table(out) if to_files else done.table.toArrow()
    assert time.monotonic() - begin < PATIENCE
    killer.join()
    assert int((folder / "killed").read_text()) >= 1
    assert (folder / "again").exists()
    assert in_order(found) == expected
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_tasks_for_the_same_records_that_run_at_a_time(slow, expected):
    """As with speculation, which starts no copies in this cluster: one waits in the middle until the other is there."""
    frame, folder = slow
    lazy = release(PLAN, frame).table
    with ThreadPoolExecutor() as pool:
        results = [pool.submit(lazy.toArrow) for _ in range(2)]
        assert all(in_order(result.result()) == expected for result in results)
    assert (folder / "again").exists()
