"""What one page knows: its table, the jobs that it has asked for, and the designs that came of them."""

from __future__ import annotations

import contextlib
import shutil
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from alphalift.errors import InputError
from alphalift.web.lane import Job, Lane
from alphalift.web.live import Groups, Stairs
from alphalift.web.place import Place

# Orders that the slider has, from privacy to usefulness.
ALPHAS = ("inf", "100", "30", "10", "5", "3", "2", "1.5", "1.1")
# Jobs of a kind that are remembered, and how long one may take, in seconds, and which lane has it.
_MOST_JOBS = 12
_LIMITS = {
    "look": 120.0,
    "tells": 600.0,
    "count": 300.0,
    "curve": 150.0,
    "design": 150.0,
    "apply": 1800.0,
    "report": 300.0,
}
_BEHIND = ("tells", "curve")


@dataclass(frozen=True)
class OpenTable:
    """The table that the page is about: where it lies, what it is called, how a command names it, and whether a browser handed it over."""

    number: int
    path: Path
    name: str
    typed: str
    guarded: bool

    @property
    def told(self) -> dict[str, Any]:
        return {"path": str(self.path), "name": self.name, "number": self.number}


class UnknownError(InputError):
    """What is asked about is not there, or not any more."""


class Page:
    """The state behind the page: one table, two lanes and a few jobs of every kind."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.table: OpenTable | None = None
        self._front, self._behind = Lane(), Lane()
        self._jobs: dict[str, OrderedDict[int, Job]] = {kind: OrderedDict() for kind in _LIMITS}
        self._number = 0
        # How often a table was opened or given up, and how tables were released: with a key, without one.
        self.openings, self._released_keyed, self._released_afresh = 0, False, False
        self._stairs: tuple[int, int, Stairs] | None = None

    def warm(self) -> None:
        self._front.warm()
        self._behind.warm()

    def close(self) -> None:
        self._front.close()
        self._behind.close()

    def open(self, path: Path, name: str, *, typed: str | None = None, guarded: bool = False) -> Job:
        """Take another table; whatever was computed of the one before is given up."""
        self.forget_table()
        self._number += 1
        self.table = OpenTable(self._number, path, name, typed or name, guarded)
        job = self.add("look", {"guarded": guarded})
        self.warm()
        return job

    def forget_table(self) -> None:
        """Give up the table, and whatever was computed of it, before another one takes its place."""
        self.openings += 1
        if self.table is not None:
            self.place.remove(self.table.path)
        self._front.clear()
        self._behind.clear()
        for kind, jobs in self._jobs.items():
            for job in jobs.values():
                self._forget(kind, job)
            jobs.clear()
        self.table = None

    def add(self, kind: str, task: dict[str, Any]) -> Job:
        """A job about the table, with what it is to be done with."""
        if self.table is None:
            raise UnknownError("open a table first")
        self._number += 1
        given = task | {"table": self.table.told}
        if kind == "design":
            given["folder"] = str(self.folder(self._number))
        job = Job(self._number, kind, {"do": kind, "with": given}, _LIMITS[kind])
        jobs = self._jobs[kind]
        jobs[job.number] = job
        while len(jobs) > _MOST_JOBS:
            self._forget(kind, jobs.popitem(last=False)[1])
        (self._behind if kind in _BEHIND else self._front).add(job)
        return job

    def job(self, number: object, *kinds: str) -> Job:
        """The job of this number, of one of these kinds if they are told."""
        for kind in kinds or self._jobs:
            if isinstance(number, int) and number in self._jobs[kind]:
                return self._jobs[kind][number]
        raise UnknownError("that is not here any more; do it again")

    def latest(self, kind: str) -> list[Job]:
        """The jobs of a kind, the newest first."""
        return list(reversed(self._jobs[kind].values()))

    def stop(self, job: Job) -> None:
        (self._behind if job.kind in _BEHIND else self._front).stop(job)

    def folder(self, number: int) -> Path:
        """Where a design's files are."""
        return self.place.folder / f"design-{number}"

    def design(self, number: object) -> Job:
        """A design that is done."""
        job = self.job(number, "design")
        if job.state != "done":
            raise UnknownError("this design is not done")
        return job

    def require_first(self, *, keyed: bool, again: bool) -> None:
        """Remember a release, begun or done; refuse a second answer about the same people unless it is asked for.

        What is released under the page's key its ledger remembers, and refuses; nobody remembers what is drawn without a key, but this page.
        """
        if not again and (self._released_afresh or (self._released_keyed and not keyed)):
            raise InputError(
                "this page has released a table already, and drawing once more without a key answers about people twice: "
                "tick that it is another release about the same people, or start another page for other people"
            )
        if keyed:
            self._released_keyed = True
        else:
            self._released_afresh = True

    def groups(self, number: object) -> Groups:
        """The secret's values, as they were counted."""
        result = self.job(number, "count").result
        if result is None:
            raise UnknownError("the columns are not counted yet")
        return Groups(result["secret"], tuple(result["secrets"]), tuple(result["shares"]))

    def stairs(self, number: object) -> Stairs | None:
        """The certified curve as far as it is known."""
        job = self.job(number, "curve")
        if self._stairs is None or self._stairs[:2] != (job.number, job.changes):
            known = job.result or job.progress
            if "epsilons" not in known:
                return None
            self._stairs = job.number, job.changes, Stairs(known["epsilons"], known["lower"], known["upper"])
        return self._stairs[2]

    def _forget(self, kind: str, job: Job) -> None:
        if kind == "design":
            with contextlib.suppress(OSError):
                shutil.rmtree(self.folder(job.number))
