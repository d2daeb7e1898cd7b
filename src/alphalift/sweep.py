"""sweep: the tradeoff of one joint or many over a grid of promises."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from loky import ProcessPoolExecutor
from rich.console import Console
from rich.progress import track

from alphalift.errors import InputError, SettingError
from alphalift.joint import Joint
from alphalift.regions import Region
from alphalift.solution import Solution
from alphalift.solvers import Optimal, Solver
from alphalift.utilities import MutualInformation, Utility

if TYPE_CHECKING:
    import pandas as pd

Record = dict[str, Any]

# One process a core: a second level of threads inside would only get in its way.
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


@dataclass(frozen=True, eq=False)
class Tradeoff:
    """Solutions of every joint (outer) under every region (inner), with their figures as records."""

    joints: tuple[Joint, ...]
    regions: tuple[Region, ...]
    solutions: tuple[tuple[Solution, ...], ...]
    records: tuple[Record, ...]

    def at(self, region: Region, joint: int = 0) -> Solution:
        """The solution for a region of the sweep; `joint` is the place of the joint when there were many."""
        if region not in self.regions:
            raise InputError(f"{region} was not part of this sweep of {len(self.regions)} regions")
        return self.solutions[joint][self.regions.index(region)]

    def to_frame(self) -> pd.DataFrame:
        """One row a cell: joint, the region's parameters, utility, worst value and max-lift leakage, status."""
        import pandas as pd

        return pd.DataFrame.from_records(list(self.records))


def sweep(
    joints: Joint | Iterable[Joint],
    regions: Sequence[Region],
    *,
    utility: Utility | None = None,
    solver: Solver | None = None,
    workers: int | None = None,
) -> Tradeoff:
    """Design a mechanism for every joint and region; a process a core where there are several joints.

    `workers=1` stays in this process. A progress bar shows the time left when standard error is a terminal.
    """
    joints = (joints,) if isinstance(joints, Joint) else tuple(joints)
    regions = tuple(regions)
    if not joints or not regions:
        raise InputError("a sweep needs at least one joint and one region")
    if workers is not None and workers < 1:
        raise SettingError(f"workers is {workers}, expected 1 or more")
    workers = min(workers or os.cpu_count() or 1, len(joints))
    tasks = [(joint, regions, utility or MutualInformation(), solver or Optimal()) for joint in joints]
    results = _here(tasks) if workers == 1 else _in_pool(tasks, workers)
    done = dict(_with_progress(results, len(tasks)))
    return Tradeoff(
        joints,
        regions,
        tuple(done[index][0] for index in range(len(joints))),
        tuple({"joint": index, **record} for index in range(len(joints)) for record in done[index][1]),
    )


_Task = tuple[Joint, tuple[Region, ...], Utility, Solver]
_Cells = tuple[tuple[Solution, ...], list[Record]]


def _solve(task: _Task) -> _Cells:
    """All cells of one joint; the records are made here, so that a pool shares that work too."""
    joint, regions, utility, solver = task
    # A promise about X is solved for the joint of X with itself; work is shared among those about the same joint.
    abouts = [region.about(joint) for region in regions]
    found: dict[int, Solution] = {}
    for about in dict.fromkeys(abouts):
        places = [place for place, own in enumerate(abouts) if own == about]
        found |= zip(places, solver.solve(about, [regions[place] for place in places], utility), strict=True)
    solutions = tuple(found[place] for place in range(len(regions)))
    return solutions, [_record(solution) for solution in solutions]


def _record(solution: Solution) -> Record:
    mechanism = solution.mechanism
    return {
        "region": type(solution.region).__name__,
        **solution.region.parameters,
        "utility": solution.utility,
        "normalized_utility": solution.normalized_utility,
        "upper_bound": solution.upper_bound,
        "value": mechanism.worst_value(solution.region),
        "max_lift_leakage": mechanism.leakage(float("inf")),
        "outputs": len(mechanism.p_y),
        "status": solution.status.name.lower(),
    }


def _here(tasks: list[_Task]) -> Iterator[tuple[int, _Cells]]:
    for index, task in enumerate(tasks):
        yield index, _solve(task)


def _in_pool(tasks: list[_Task], workers: int) -> Iterator[tuple[int, _Cells]]:
    pool = ProcessPoolExecutor(max_workers=workers, env=_ONE_THREAD)
    try:
        futures = {pool.submit(_solve, task): index for index, task in enumerate(tasks)}
        for future in as_completed(futures):
            # Popped, so that a finished result is held once, by the caller.
            yield futures.pop(future), future.result()
    finally:
        pool.shutdown(wait=True, kill_workers=True)


def _with_progress(results: Iterator[tuple[int, _Cells]], total: int) -> Iterable[tuple[int, _Cells]]:
    console = Console(stderr=True)
    if total == 1 or not console.is_terminal:
        return results
    return track(results, description="sweep", total=total, console=console, transient=True)
