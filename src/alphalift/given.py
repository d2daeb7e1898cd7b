"""What was typed, as the library takes it: promises, places to write to, declared columns, workers, curves."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from alphalift.backwards import Wanted, epsilon_for
from alphalift.clock import Clock
from alphalift.curve import Curve, curve
from alphalift.document import Stored, load, to_document
from alphalift.errors import InputError, ProofError
from alphalift.joint import Joint
from alphalift.measures import epsilon_max
from alphalift.population import Robust, not_covered, uncovered
from alphalift.proof.said import EVERYBODY, with_statement
from alphalift.regions import AlphaLift, Region, grid, parse
from alphalift.regions.parse import PROMISES
from alphalift.release.received import Readable
from alphalift.solution import Solution, Status
from alphalift.sweep import Tradeoff, sweep
from alphalift.tables import read_joint
from alphalift.together import columns_before
from alphalift.utilities import MutualInformation, Utility
from alphalift.utilities import parse as parse_utility
from alphalift.whole import require_file_place, require_not, require_outside, whole_file
from alphalift.workers import Workers
from alphalift.workers import dask as dask_executor

# Seconds that a file gets at least, whatever is left of the time limit.
_LEAST_FILE_SECONDS = 1.0


def region_of(promise: str | None, alpha: str | None, epsilon: str | None) -> Region:
    """The promise, which is given as one text or as alpha and epsilon."""
    if promise is not None and alpha is None and epsilon is None:
        return parse(promise)
    if promise is None and alpha is not None and epsilon is not None:
        return AlphaLift(alpha, epsilon)  # type: ignore[arg-type]  # texts keep the digits that were typed
    raise InputError("give the promise as --alpha and --epsilon, or as --promise")


def utility_of(text: str | None) -> Utility:
    """The utility that is typed: mutual information unless told."""
    return MutualInformation() if text is None else parse_utility(text)


def share_of(text: str, option: str) -> float:
    """A share as people type it: 90% or 0.9."""
    share = text.strip().removesuffix("%")
    try:
        number = float(share) / (100 if share != text.strip() else 1)
    except ValueError:
        number = math.nan
    if not 0 < number <= 1:
        raise InputError(f"{option} is {text!r}, expected a share above 0% and at most 100%, like 90% or 0.9")
    return number


def least_epsilon(
    promise: str | None, alpha: str | None, keep: str, joint: Joint, utility: Utility, time_limit: float
) -> Wanted:
    """The answer to `--keep`: for alpha, or for a kind of promise that is named without its epsilon."""
    wanted = share_of(keep, "--keep")
    if (promise is None) == (alpha is None):
        raise InputError("with --keep give --alpha, or --promise with the name of a kind alone, like --promise KL")
    if alpha is not None:
        order = AlphaLift(alpha, 0).alpha  # type: ignore[arg-type]
        return epsilon_for(
            joint, AlphaLift, alpha=order, normalized_utility=wanted, utility=utility, time_limit=time_limit
        )
    return epsilon_for(joint, kind_of(str(promise)), normalized_utility=wanted, utility=utility, time_limit=time_limit)


def kind_of(name: str) -> type[Region]:
    """A kind of promise with an epsilon and nothing else, by its name."""
    kinds = {own: kind for own, kind in PROMISES.items() if own not in ("AlphaLift", "Renyi")}
    if name.strip() not in kinds:
        raise InputError(f"the kind of promise is {name!r}, expected one of {', '.join(kinds)}, or --alpha instead")
    return kinds[name.strip()]


def certified_curves(
    joint: Joint, alphas: list[float] | None, promise: str | None, accuracy: float, utility: Utility, time_limit: float
) -> Curve:
    """The envelopes of alpha-lift for some alphas, or of a named kind of promise."""
    if bool(alphas) == (promise is not None):
        raise InputError("give --alpha, once or more, or --promise with the name of a kind, like --promise KL")
    if alphas:
        return curve(
            joint,
            AlphaLift,
            alpha=sorted(set(alphas), reverse=True),
            accuracy=accuracy,
            utility=utility,
            time_limit=time_limit,
        )
    return curve(joint, kind_of(str(promise)), accuracy=accuracy, utility=utility, time_limit=time_limit)


def confidence_of(text: str) -> float:
    """A confidence as people type it: 95% or 0.95."""
    share = text.strip().removesuffix("%")
    try:
        number = float(share) / (100 if share != text.strip() else 1)
    except ValueError:
        raise InputError(f"--confidence is {text!r}, expected a share like 95% or 0.95") from None
    if not 0 < number <= 1:
        raise InputError(f"--confidence is {text!r}, expected more than 0% and at most 100%")
    return number


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
    try:
        book = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise InputError(f"{path}: expected a mechanism or a codebook, a JSON file") from None
    if isinstance(book, dict) and book.get("format") == "alphalift-codebook":
        return Readable.of_codebook(book)
    stored = load(path)
    return Readable.of_mechanism(stored.integers, stored.joint.useful)


def check_folder(out: Path) -> None:
    """Fail before the work, not after it."""
    if any(place.exists() and not place.is_dir() for place in (out, *out.parents)):
        raise InputError(f"{out} is a file, or lies in one; expected a folder to write to")


def open_mechanism(path: Path, openings: Sequence[Path]) -> Stored:
    """The mechanism, opened by that of the openings which fits if it withholds its counts."""
    for opening in openings:
        with suppress(ProofError):
            return load(path, opening)
    return load(path)


def check_output(out: Path, given: Sequence[Path]) -> None:
    """Fail before the work, not after it, and never write over the table, which is the first, or what else is given."""
    require_not(out, given)
    require_outside(out, given[0])
    require_file_place(out)


def check_report(out: Path, given: Sequence[Path]) -> None:
    """Fail before the work: a page has a page's ending, so that no table or mechanism is written over, and is nothing that is read."""
    if out.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{out}: a report is a page; expected a name that ends in .html")
    require_not(out, given)
    for path in given:
        require_outside(out, path)
    require_file_place(out)


def date_of(text: str) -> str:
    """A day as people write it for machines."""
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise InputError(f"--date is {text!r}, expected a day like 2026-05-31") from None


def write_text(path: Path, text: str, *, private: bool = False) -> None:
    """The text as a file that appears whole; with `private` readable by its owner alone."""
    with whole_file(path, private=private) as part:
        part.write_text(text, encoding="utf-8", newline="")


@dataclass(frozen=True)
class Declared:
    """What was declared about a table's columns."""

    drop_missing: bool
    bins: dict[str, list[float]]
    alphabet: dict[str, list[str]] = field(default_factory=dict)
    anyway: bool = False

    def read(self, table: Path, sensitive: list[str], useful: list[str], after: Sequence[Stored] = ()) -> Joint:
        """The joint, with the columns beside it that were released before."""
        beside = columns_before(after)
        if not all(variable.columns for variable in beside):
            raise InputError("a mechanism given with --after does not say which columns it releases; design it again")
        return read_joint(
            table,
            sensitive=sensitive,
            useful=useful,
            missing="drop" if self.drop_missing else "symbol",
            bins=self.bins,
            alphabet=self.alphabet,
            beside=beside,
            anyway=self.anyway,
        )

    def source(self, columns: list[str]) -> str:
        """Where the domain came from, for the file's provenance."""
        declared = [*self.bins, *self.alphabet]
        read = [column for column in columns if column not in declared]
        parts = [
            f"{'declared' if names is declared else 'read from the table'} for {', '.join(names)}"
            for names in (declared, read)
            if names
        ]
        return f"domain {' and '.join(parts)}"


def read_alphabet(texts: list[str] | None) -> dict[str, list[str]]:
    """Declared values by column, read from files with one value a line."""
    declared = {}
    for column, file in alphabet_files(texts).items():
        try:
            declared[column] = file.read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            raise InputError(f"{file} is not a text in UTF-8; expected one value a line") from None
    return declared


def alphabet_files(texts: list[str] | None) -> dict[str, Path]:
    files: dict[str, Path] = {}
    for text in texts or []:
        column, sign, file = text.partition("=")
        if not sign or not Path(file).is_file():
            raise InputError(f"an alphabet is written as 'column=FILE' with a file that exists, not {text!r}")
        if column in files:
            raise InputError(f"--alphabet is given twice for the column {column!r}; put all its values into one file")
        files[column] = Path(file)
    return files


def read_bins(texts: list[str] | None) -> dict[str, list[float]]:
    """Declared bins by column: 'age=18,30' are <18, 18 to <30 and >=30."""
    bins: dict[str, list[float]] = {}
    for text in texts or []:
        column, sign, edges = text.rpartition("=")
        if column in bins:
            raise InputError(f"--bins is given twice for the column {column!r}; put all its edges into one")
        try:
            bins[column] = [float(edge) for edge in edges.split(",")]
        except ValueError:
            sign = ""
        if not sign:
            raise InputError(f"bins are written as 'column=18,30,65', not {text!r}")
    return bins


@contextmanager
def chosen_workers(count: int | None, dask: str | None) -> Iterator[Workers]:
    """Who computes: processes here, or a Dask cluster."""
    if count is not None and dask is not None:
        raise InputError("give --workers, for processes on this machine, or --dask, for a cluster, not both")
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
