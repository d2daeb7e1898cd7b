"""Sweeps on processes: any executor, processes that are lost, a killed sweep that resumes, a Dask cluster."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context

import pytest
from test_store import EXPECTED, JOINTS, REGIONS, content

from alphalift import SettingError, WorkerError, sweep
from alphalift.workers import Crew, dask, processes
from killing import Counting

SOLVER = Counting()


def pool():
    return ProcessPoolExecutor(2, mp_context=get_context("spawn"))


@pytest.mark.parametrize("workers", [1, 2, 5, pool, processes(2)], ids=["here", "2", "5", "spawn", "loky"])
def test_who_computes_does_not_matter(workers):
    assert content(sweep(JOINTS, REGIONS, solver=SOLVER, workers=workers)) == EXPECTED


def test_an_executor_that_is_given_stays_open():
    with ThreadPoolExecutor(3) as threads:
        assert content(sweep(JOINTS, REGIONS, solver=SOLVER, workers=threads)) == EXPECTED
        assert threads.submit(len, "abc").result() == 3


class TestLosses:
    def test_a_lost_process_costs_only_what_it_was_doing(self, tmp_path):
        (tmp_path / "deaths").write_text("2")
        solver = replace(SOLVER, dies_at=tmp_path / "deaths")
        assert content(sweep(JOINTS, REGIONS, solver=solver, workers=2)) == EXPECTED
        assert not (tmp_path / "deaths").exists(), "somebody died"

    def test_a_call_that_always_kills_is_given_up(self, tmp_path):
        (tmp_path / "deaths").write_text("1000")
        with pytest.raises(WorkerError, match="with fewer of them"):
            sweep(JOINTS, REGIONS, solver=replace(SOLVER, dies_at=tmp_path / "deaths"), workers=2)

    def test_an_executor_that_is_given_and_breaks_ends_the_sweep_but_not_what_was_kept(self, tmp_path):
        solver = replace(SOLVER, dies_at=tmp_path / "deaths")
        with pool() as executor:
            sweep(JOINTS[:2], REGIONS, solver=solver, workers=executor, resume=tmp_path / "cells")
            (tmp_path / "deaths").write_text("1")
            with pytest.raises(WorkerError, match="function that makes executors"):
                sweep(JOINTS, REGIONS, solver=solver, workers=executor, resume=tmp_path / "cells")
        again = sweep(JOINTS, REGIONS, solver=solver, workers=1, resume=tmp_path / "cells")
        assert again.resumed >= 12
        assert content(again) == EXPECTED

    def test_errors_of_the_work_are_no_losses(self):
        with Crew(pool, most=1, usual=1) as crew:
            crew.submit("bad", int, "x")
            with pytest.raises(ValueError, match="invalid literal"):
                next(crew.results())

    def test_numbers_of_workers(self):
        for workers in (0, -1):
            with pytest.raises(SettingError, match="workers"):
                sweep(JOINTS, REGIONS, workers=workers)


SWEEP = """
import sys, hashlib
from dataclasses import replace
from pathlib import Path
from test_store import JOINTS, REGIONS, SOLVER, content
from alphalift import sweep
from alphalift.paper import random_joints
if __name__ == "__main__":
    folder = Path(sys.argv[1])
    tradeoff = sweep(random_joints(24, 0, (4, 6)), REGIONS, solver=replace(SOLVER, log=folder / "log"), workers=2, resume=folder / "cells")
    print(tradeoff.resumed, hashlib.sha256(content(tradeoff)).hexdigest())
"""


def test_a_killed_sweep_resumes_with_the_same_bytes(tmp_path):
    """A few moments here; benchmarks/sweep.py has a hundred."""
    command = [sys.executable, "-c", SWEEP]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}

    def run(folder):
        done = subprocess.run([*command, folder], env=environment, capture_output=True, check=True, text=True)
        return done.stdout.split()

    def finished():
        return len([path for path in (tmp_path / "killed" / "cells").glob("*/*") if not path.name.startswith(".")])

    for folder in ("whole", "killed"):
        (tmp_path / folder).mkdir()
    for cells in (1, 40, 80):
        process = subprocess.Popen([*command, tmp_path / "killed"], env=environment, start_new_session=True)
        while finished() < cells:
            assert process.poll() is None, "it ended before it was killed"
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    kept = finished()
    resumed, found = run(tmp_path / "killed")
    assert (int(resumed), found) == (kept, run(tmp_path / "whole")[1])


@pytest.mark.filterwarnings("ignore")
def test_a_dask_cluster_of_processes_gives_the_same_and_outlives_a_lost_worker(tmp_path):
    from distributed import LocalCluster

    cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1")
    with cluster, dask(cluster.scheduler_address) as executor:
        assert content(sweep(JOINTS, REGIONS, solver=SOLVER, workers=executor)) == EXPECTED
        (tmp_path / "deaths").write_text("1")
        solver = replace(SOLVER, dies_at=tmp_path / "deaths")
        assert content(sweep(JOINTS, REGIONS, solver=solver, workers=executor)) == EXPECTED
        assert not (tmp_path / "deaths").exists(), "somebody died"


def test_no_scheduler_there():
    with pytest.raises(WorkerError, match="no Dask scheduler"), dask("tcp://127.0.0.1:9", timeout=1):
        pass
