"""sweep: the tradeoff of one joint or many over a grid of promises."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import Progress

from alphalift.errors import InputError, WorkerError
from alphalift.joint import Joint, require_joint
from alphalift.regions import Region, as_region
from alphalift.shown import Shown
from alphalift.solution import Solution, Status
from alphalift.solvers import ChainedSolver, Optimal, Solver
from alphalift.sweep.cells import Cell, Record, pack, reliable, solution_of, unpack
from alphalift.sweep.store import Store, addresses, code
from alphalift.utilities import Utility, as_utility
from alphalift.workers import Crew, Workers

if TYPE_CHECKING:
    import pandas as pd

# A process reports after about this long: seldom enough to cost nothing, often enough to lose little.
_SECONDS = 1.0
# Runs under way for each process, so that none waits for this one.
_RUNS_A_PROCESS = 2


@dataclass(frozen=True, eq=False)
class Tradeoff(Shown):
    """Every joint (outer) under every region (inner): mechanisms and their figures.

    `resumed` cells came from the folder of an earlier sweep. Solutions have no certificate, which is large: `design` the
    cell that is to be released.
    """

    joints: tuple[Joint, ...]
    regions: tuple[Region, ...]
    utility_function: Utility
    cells: tuple[tuple[Cell, ...], ...] = field(repr=False)
    resumed: int = 0

    @cached_property
    def solutions(self) -> tuple[tuple[Solution, ...], ...]:
        """The solution of every joint (outer) and region (inner)."""
        return tuple(
            tuple(
                solution_of(cell, region.about(joint), region, self.utility_function)
                for cell, region in zip(cells, self.regions, strict=True)
            )
            for joint, cells in zip(self.joints, self.cells, strict=True)
        )

    @cached_property
    def records(self) -> tuple[Record, ...]:
        """One record a cell: joint, the region and its parameters, utility, worst value, max-lift leakage, status."""
        return tuple(
            {"joint": place, "region": type(region).__name__, **region.parameters, **cell.figures}
            for place, cells in enumerate(self.cells)
            for cell, region in zip(cells, self.regions, strict=True)
        )

    def at(self, region: Region, joint: int = 0) -> Solution:
        """The solution for a region of the sweep; `joint` is the place of the joint when there were many."""
        if region not in self.regions:
            raise InputError(f"{region} was not part of this sweep of {len(self.regions)} regions")
        return self.solutions[joint][self.regions.index(region)]

    def to_frame(self) -> pd.DataFrame:
        """The records as a data frame."""
        import pandas as pd

        return pd.DataFrame.from_records(list(self.records))


def sweep(
    joints: Joint | Iterable[Joint],
    regions: Sequence[Region | str] | Region | str,
    *,
    utility: Utility | str | None = None,
    solver: Solver | None = None,
    workers: Workers = None,
    resume: str | Path | None = None,
) -> Tradeoff:
    """Design a mechanism for every joint and region.

    `workers` is a number of processes (1: this one alone; unless told, one a core where there are several joints), or
    any `concurrent.futures.Executor`, such as that of a Dask client, or a function that makes one: then a lost process
    costs only what it was doing. Answers do not depend on it. `resume` names a folder in which finished cells are kept:
    what is there already is not computed again, and the result is the same, bit for bit, unless a time limit ended a
    cell. A progress bar shows the time left when standard error is a terminal.
    """
    given: Iterable[object] = joints if isinstance(joints, Iterable) and not isinstance(joints, Joint) else [joints]
    joints = tuple(map(require_joint, given))
    promises = tuple(map(as_region, [regions] if isinstance(regions, str | Region) else regions))
    if not joints or not promises:
        raise InputError("a sweep needs at least one joint and one region")
    utility, solver = as_utility(utility), solver or Optimal()
    if isinstance(solver, Optimal):
        solver = replace(solver, keep_certificate=False)
    runs = [run for place, joint in enumerate(joints) for run in _runs(place, joint, promises, utility, solver)]
    resumed = 0
    if resume is not None:
        store = Store(resume)
        for run in runs:
            run.keep_in(store)
        resumed = sum(run.cells_done for run in runs)
    _finish(runs, workers, len(joints))
    cells: list[dict[int, Cell]] = [{} for _ in joints]
    for run in runs:
        cells[run.joint_place] |= run.cells()
    ordered = tuple(tuple(found[place] for place in range(len(promises))) for found in cells)
    return Tradeoff(joints, promises, utility, ordered, resumed)


# --- the parts of a sweep ---


@dataclass(frozen=True)
class _Task:
    """Regions of one joint in steps, each answered after those before it; all that a process needs to know."""

    joint: Joint
    steps: tuple[tuple[Region, ...], ...]
    utility: Utility
    solver: Solver
    code: list[str]


@dataclass
class _Run:
    """A task, where its regions stand in the sweep, and the steps that are finished, packed."""

    task: _Task
    joint_place: int
    places: list[int]
    done: list[bytes] = field(default_factory=list)
    store: Store | None = None
    addresses: list[str] = field(default_factory=list)

    def keep_in(self, store: Store) -> None:
        """Take what the store has, and put into it what is finished from now on."""
        task = self.task
        self.store, self.addresses = store, addresses(task.joint, task.steps, task.utility, task.solver)
        self.look()

    def look(self) -> None:
        """Take what the store has next, perhaps from another run of the same problem."""
        while self.store is not None and not self.finished:
            entry = self.store.get(self.addresses[len(self.done)])
            if entry is None or not self._believes(entry):
                break
            self.done.append(entry)

    def _believes(self, entry: bytes) -> bool:
        return reliable(entry, self.task.joint, self.task.steps[len(self.done)], self.task.utility)

    def accept(self, entries: list[bytes]) -> None:
        for entry in entries:
            if self.store is not None:
                self.store.put(self.addresses[len(self.done)], entry)
            self.done.append(entry)

    @property
    def cells_done(self) -> int:
        """How many cells are done."""
        return sum(map(len, self.task.steps[: len(self.done)]))

    @property
    def finished(self) -> bool:
        return len(self.done) == len(self.task.steps)

    def cells(self) -> dict[int, Cell]:
        """The cells by the places of their regions."""
        return dict(zip(self.places, (cell for entry in self.done for cell in unpack(entry)), strict=True))


def _runs(
    joint_place: int, joint: Joint, regions: tuple[Region, ...], utility: Utility, solver: Solver
) -> Iterator[_Run]:
    """What can be computed apart: a promise about X is solved for the joint of X with itself, and chains need no other."""
    abouts = [region.about(joint) for region in regions]
    for about in dict.fromkeys(abouts):
        places = [place for place, own in enumerate(abouts) if own == about]
        asked = [regions[place] for place in places]
        chains: list[tuple[slice, tuple[tuple[Region, ...], ...]]]
        if isinstance(solver, ChainedSolver):
            chains = [(chain, tuple((region,) for region in asked[chain])) for chain in solver.chains(asked)]
        else:
            chains = [(slice(None), (tuple(asked),))]
        for chain, steps in chains:
            yield _Run(_Task(about, steps, utility, solver, code()), joint_place, places[chain])


def _advance(task: _Task, done: list[bytes]) -> list[bytes]:
    """The next steps after those done, packed: at least one, and until it is time to report."""
    if task.code != code():
        raise WorkerError("the workers have other versions of alphalift or its libraries; their numbers may differ")
    end = time.monotonic() + _SECONDS
    before = [region for step in task.steps[: len(done)] for region in step]
    cells = [cell for entry in done for cell in unpack(entry)]
    known = [solution_of(cell, task.joint, region, task.utility) for cell, region in zip(cells, before, strict=True)]
    entries: list[bytes] = []
    for step in task.steps[len(done) :]:
        if isinstance(task.solver, ChainedSolver):
            found = task.solver.solve(task.joint, step, task.utility, after=known)
        else:
            found = task.solver.solve(task.joint, step, task.utility)
        if any(solution.status is Status.INTERRUPTED for solution in found):
            raise KeyboardInterrupt  # the search ended early, and is not to be taken for a finished one
        known += found
        entries.append(pack(found))
        if time.monotonic() > end:
            break
    return entries


# --- who computes ---


def _finish(runs: list[_Run], workers: Workers, joints: int) -> None:
    """Go on with all runs until they are finished."""
    console = Console(stderr=True)
    total = sum(len(run.places) for run in runs)
    shown = console.is_terminal and total > 1
    with Progress(console=console, transient=True, disable=not shown) as progress:
        bar = progress.add_task("sweep", total=total, completed=sum(run.cells_done for run in runs))
        for run, entries in _computed([run for run in runs if not run.finished], workers, joints):
            run.accept(entries)
            if shown:
                progress.update(bar, completed=sum(run.cells_done for run in runs))


def _computed(runs: list[_Run], workers: Workers, joints: int) -> Iterator[tuple[_Run, list[bytes]]]:
    """The next entries of some run, again and again until all are finished."""
    if not runs:
        return
    waiting = iter(runs)
    # One joint alone stays in this process unless told: its searches use the cores by themselves.
    with Crew[_Run](workers, most=len(runs), usual=joints) as crew:

        def go_on(run: _Run | None) -> None:
            """With this run, or the next one if the store has what is left of it."""
            while run is not None:
                run.look()
                if not run.finished:
                    task = run.task if crew.size == 1 else _for_a_worker(run.task)
                    crew.submit(run, _advance, task, list(run.done))
                    return
                run = next(waiting, None)

        # Where the number of workers is known, other runs wait, so that what is begun is finished first.
        most = 1 if crew.size == 1 else crew.size and _RUNS_A_PROCESS * crew.size
        for run in islice(waiting, most):
            go_on(run)
        for run, entries in crew.results():
            yield run, entries
            go_on(run)


def _for_a_worker(task: _Task) -> _Task:
    """With one thread, since there is a process a core already, and without a line on the progress, which nobody sees."""
    solver = task.solver
    if isinstance(solver, Optimal):
        return replace(task, solver=replace(solver, threads=solver.threads or 1, progress=None))
    return task
