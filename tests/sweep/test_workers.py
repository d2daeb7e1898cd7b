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
from test_store import JOINTS, REGIONS, content, expected

from alphalift import SettingError, WorkerError, sweep
from alphalift.workers import Crew, dask, processes
from killing import Counting

SOLVER = Counting()


def deaths(folder, count):
    """A folder with a file for every process that is to die."""
    (folder / "deaths").mkdir(exist_ok=True)
    for number in range(count):
        (folder / "deaths" / str(number)).touch()
    return folder / "deaths"


def pool():
    return ProcessPoolExecutor(2, mp_context=get_context("spawn"))


@pytest.mark.parametrize("workers", [1, 2, 5, pool, processes(2)], ids=["here", "2", "5", "spawn", "loky"])
def test_who_computes_does_not_matter(workers):
    assert content(sweep(JOINTS, REGIONS, solver=SOLVER, workers=workers)) == expected()


def test_an_executor_that_is_given_stays_open():
    with ThreadPoolExecutor(3) as threads:
        assert content(sweep(JOINTS, REGIONS, solver=SOLVER, workers=threads)) == expected()
        assert threads.submit(len, "abc").result() == 3


class TestLosses:
    def test_a_lost_process_costs_only_what_it_was_doing(self, tmp_path):
        solver = replace(SOLVER, deaths=deaths(tmp_path, 2))
        assert content(sweep(JOINTS, REGIONS, solver=solver, workers=2)) == expected()
        assert not list(solver.deaths.iterdir()), "they died"

    def test_a_call_that_always_kills_is_given_up(self, tmp_path):
        solver = replace(SOLVER, deaths=deaths(tmp_path, 100))
        with pytest.raises(WorkerError, match="Try fewer of them") as error:
            sweep(JOINTS, REGIONS, solver=solver, workers=2)
        assert error.value.__cause__ is not None

    def test_an_executor_that_is_given_and_breaks_ends_the_sweep_but_not_what_was_kept(self, tmp_path):
        solver = replace(SOLVER, deaths=deaths(tmp_path, 0))
        with pool() as executor:
            sweep(JOINTS[:2], REGIONS, solver=solver, workers=executor, resume=tmp_path / "cells")
            deaths(tmp_path, 1)
            with pytest.raises(WorkerError, match="function that makes executors"):
                sweep(JOINTS, REGIONS, solver=solver, workers=executor, resume=tmp_path / "cells")
        again = sweep(JOINTS, REGIONS, solver=solver, workers=1, resume=tmp_path / "cells")
        assert again.resumed >= 12
        assert content(again) == expected()

    def test_errors_of_the_work_are_no_losses(self):
        with Crew(pool, most=1, usual=1) as crew:
            crew.submit("bad", int, "x")
            with pytest.raises(ValueError, match="invalid literal"):
                next(crew.results())

    def test_what_workers_may_be(self):
        for workers in (0, -1, "4", 2.5):
            with pytest.raises(SettingError, match="workers is"):
                sweep(JOINTS, REGIONS, workers=workers)


def test_workers_with_another_version_are_refused(monkeypatch):
    """Their numbers would be kept under this version's addresses."""
    monkeypatch.setitem(sys.modules["alphalift.sweep.run"].__dict__, "code", lambda: ["another"])
    with pytest.raises(WorkerError, match="other versions"):
        sweep(JOINTS, REGIONS, solver=SOLVER, workers=2)


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
        until = time.monotonic() + 300
        while finished() < cells:
            assert process.poll() is None, "it ended before it was killed"
            assert time.monotonic() < until, "it does nothing"
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    kept, log = finished(), tmp_path / "killed" / "log"
    log.unlink()
    resumed, found = run(tmp_path / "killed")
    assert (int(resumed), found) == (kept, run(tmp_path / "whole")[1])
    assert len(log.read_text().splitlines()) == 24 * 6 - kept, "only what was missing"


@pytest.mark.filterwarnings("ignore")
def test_a_dask_cluster_of_processes_gives_the_same_and_outlives_a_lost_worker(tmp_path):
    from distributed import LocalCluster

    cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1")
    with cluster, dask(cluster.scheduler_address) as executor:
        assert content(sweep(JOINTS, REGIONS, solver=SOLVER, workers=executor)) == expected()
        solver = replace(SOLVER, deaths=deaths(tmp_path, 1))
        assert content(sweep(JOINTS, REGIONS, solver=solver, workers=executor)) == expected()
        assert not list(solver.deaths.iterdir()), "they died"


def test_no_scheduler_there():
    with pytest.raises(WorkerError, match="no Dask scheduler"), dask("tcp://127.0.0.1:9", timeout=1):
        pass
