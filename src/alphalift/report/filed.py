"""A mechanism file that is proven, as words and pictures take it: a solution, with what the file states beside it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from alphalift.document import Stored, load
from alphalift.joint import Joint
from alphalift.mechanism import Mechanism
from alphalift.proof import checker
from alphalift.proof.rounding import as_floats
from alphalift.regions import After, Region
from alphalift.solution import Solution, Status
from alphalift.utilities import MutualInformation

# What a file may state of how it was found; the others say that nothing is proven, and it is.
_STATED = {status.name.lower(): status for status in Status if not status.name.startswith("UNPROVEN")}


@dataclass(frozen=True, eq=False)
class Filed:
    """A file, every claim of which is proven: its content, that of its opening, and the solution that they are.

    `sha256` is that of the file as it lies there.
    """

    document: Mapping[str, Any]
    stored: Stored
    solution: Solution
    sha256: str

    @classmethod
    def read(cls, path: Path, opening: Path | None = None) -> Filed:
        """The file with its opening, if it needs one; a `ProofError` unless every claim is proven."""
        stored = load(path, opening)
        document = checker.read(path)
        counts = (document["joint"] if opening is None else checker.read(opening))["counts"]
        return cls(document, stored, _solution(document, stored, counts), hashlib.sha256(path.read_bytes()).hexdigest())

    @property
    def withheld(self) -> bool:
        """Whether the file is there to be shared: its counts are in an opening."""
        return "commitment" in self.document["joint"]

    @property
    def secret(self) -> str:
        """What the promise is about; a promise about X is in the file as one about the joint of X with itself."""
        origin = self.solution.joint.origin
        if self.solution.joint.is_about_x:
            return f"{self.useful} itself"
        return " and ".join(origin.sensitive) if origin else "the secret"

    @property
    def useful(self) -> str:
        origin = self.solution.joint.origin
        binned = () if origin is None else [column for column, _ in origin.bins]
        return " and ".join(f"{own} (in bins)" if own in binned else own for own in origin.useful) if origin else "X"


def _solution(document: Mapping[str, Any], stored: Stored, counts: list[list[int]]) -> Solution:
    joint, integers = _joint(stored, counts), stored.integers
    region = stored.region
    if stored.after is not None:
        region = stored.after.promise(region.region if isinstance(region, After) else region, joint)
    law = as_floats(integers.weights, integers.bits, len(joint.x_labels))
    claims, provenance = document["claims"], document["provenance"]
    bound = np.nextafter(float(Fraction(claims["optimum_at_most"])), np.inf) if claims else np.inf
    return Solution(
        mechanism=Mechanism(joint, law),
        region=region,
        utility_function=stored.utility or MutualInformation(),
        status=_status(str(provenance["status"]), region, joint) if claims else Status.UNPROVEN_UTILITY,
        upper_bound=float(bound),
        integers=integers,
        settings=str(provenance["solver"]),
        after=stored.after,
    )


def _joint(stored: Stored, counts: list[list[int]]) -> Joint:
    """With the number of records, where the counts are those of a table."""
    joint = stored.joint
    if joint.origin is None:
        return joint
    nobody = [0] * len(joint.x_without_mass)
    labels = [*joint.x_labels, *joint.x_without_mass]
    return Joint([[*row, *nobody] for row in counts], joint.s_labels, labels, counts=True, origin=joint.origin)


def _status(stated: str, region: Region, joint: Joint) -> Status:
    """What the file states, unless it does not know or the promise does not allow it."""
    status = _STATED.get(stated, Status.FEASIBLE)
    if status is Status.TRIVIAL:
        about = region.about(joint)
        return status if region.allows(about.lift.T, about.p_s).all() else Status.FEASIBLE
    return status
