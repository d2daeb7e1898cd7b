"""What the commands have the library compute and write of what was typed: wishes, curves, mechanisms, files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from alphalift.clock import Clock
from alphalift.document import Stored, load, to_document
from alphalift.errors import InputError, ProofError
from alphalift.given import Asked, check_workers
from alphalift.joint import Joint
from alphalift.measures import epsilon_max
from alphalift.population import Robust, not_covered, uncovered
from alphalift.proof.said import EVERYBODY, with_statement
from alphalift.regions import AlphaLift, Region, grid
from alphalift.solution import Solution, Status
from alphalift.utilities import Utility
from alphalift.workers import Workers
from alphalift.workers import dask as dask_executor

if TYPE_CHECKING:
    from alphalift.backwards import Wanted
    from alphalift.curve import Curve
    from alphalift.release.received import Readable
    from alphalift.sweep import Tradeoff

# Seconds that a file gets at least, whatever is left of the time limit.
_LEAST_FILE_SECONDS = 1.0


def least_epsilon(asked: Asked, share: float, joint: Joint, utility: Utility, time_limit: float) -> Wanted:
    """The answer to `--keep`."""
    from alphalift.backwards import epsilon_for

    return epsilon_for(
        joint, asked.kind, normalized_utility=share, utility=utility, time_limit=time_limit, **asked.single
    )


def certified_curves(asked: Asked, accuracy: float, joint: Joint, utility: Utility, time_limit: float) -> Curve:
    """The envelopes of the promises of one kind."""
    from alphalift.curve import curve

    settings: dict[str, Any] = {"accuracy": accuracy, "utility": utility, "time_limit": time_limit, **asked.parameters}
    return curve(joint, asked.kind, **settings)


@dataclass(frozen=True)
class Wish:
    """Whom a promise is for: what is asked of `design`, and what is stated of the population where that does not cover it."""

    asked: Region | Robust
    statement: str = ""

    @classmethod
    def of(cls, region: Region, joint: Joint, *, confidence: float | None, everybody: bool, after: bool) -> Wish:
        """A table is a sample unless it is said to be everybody; where no margin is known, and none was asked for, it is as it was."""
        if everybody:
            return cls(region, EVERYBODY)
        if confidence is not None:
            return cls(Robust(region, confidence))
        reason = uncovered(region, joint, after=after)
        return cls(region, not_covered(reason)) if reason else cls(Robust(region))

    def told(self, solution: Solution) -> Solution:
        """The solution that says so, too."""
        if not self.statement:
            return solution
        return replace(solution, settings=with_statement(solution.settings, self.statement))


def readable_of(path: Path) -> Readable:
    """How the outputs of a release are read: by its codebook, or by its mechanism, which is proven again."""
    from alphalift.release.received import Readable

    try:
        book = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise InputError(f"{path}: expected a mechanism or a codebook, a JSON file") from None
    if isinstance(book, dict) and book.get("format") == "alphalift-codebook":
        return Readable.of_codebook(book)
    stored = load(path)
    return Readable.of_mechanism(stored.integers, stored.joint.useful)


def open_mechanism(path: Path, openings: Sequence[Path]) -> Stored:
    """The mechanism, opened by that of the openings which fits if it withholds its counts."""
    for opening in openings:
        with suppress(ProofError):
            return load(path, opening)
    return load(path)


@contextmanager
def chosen_workers(count: int | None, dask: str | None) -> Iterator[Workers]:
    """Who computes: processes here, or a Dask cluster."""
    check_workers(count, dask)
    if dask is None:
        yield count
    else:
        with dask_executor(dask) as executor:
            yield executor


def sweep_curves(
    joint: Joint,
    alphas: list[float],
    points: int,
    workers: Workers = None,
    resume: Path | None = None,
    utility: Utility | None = None,
) -> Tradeoff:
    """Evenly spaced epsilons up to the largest eps_max, shared by all alphas; a single one if S tells nothing."""
    from alphalift.sweep import sweep

    ends = [epsilon_max(joint, alpha) for alpha in alphas]
    # Rounded up to six digits, so that each curve reaches the point from which X itself may be published.
    epsilons = np.unique(np.ceil(np.append(np.linspace(0, max(ends), points), ends) * 1e6 - 1e-6) / 1e6 + 0.0)
    regions = grid(AlphaLift, alpha=alphas, epsilon=epsilons.tolist())
    return sweep(joint, regions, utility=utility, workers=workers, resume=resume)


def document_of(solution: Solution, clock: Clock) -> dict[str, Any]:
    """The mechanism as a file has it; its certificate is shortened to what there is time for, and soon after Ctrl-C."""
    seconds = 0.0 if solution.status is Status.INTERRUPTED else clock.left
    try:
        return to_document(solution, clock=Clock(max(seconds, _LEAST_FILE_SECONDS)))
    except KeyboardInterrupt:
        return to_document(solution, clock=Clock(0))
