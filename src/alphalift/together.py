"""Several releases about the same people: what they tell together, exactly, from the joint of the secret and all columns.

Outputs are drawn independently given the columns that they are drawn from. From the joint of the secret with *all* of these
columns P(s, y1, ..., yk) follows exactly; from anything less nothing follows but a lift of at most 1 / P(s): two columns
that tell nothing each may tell the secret entirely (its bits and a one-time pad).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Protocol

from alphalift.errors import InputError
from alphalift.joint import Joint, Variable
from alphalift.proof import checker
from alphalift.proof.checker import Integers, Matrix
from alphalift.regions import After, Region, refuse_averages


class Proven(Protocol):
    """A proven mechanism and its joint: a `Solution` of `design`, or a file that `load` has proven again."""

    @property
    def integers(self) -> Integers | None: ...

    @property
    def joint(self) -> Joint: ...

    @property
    def after(self) -> Earlier | None: ...


class TooManyOutputsError(InputError):
    """There are more combinations of outputs than can be looked at."""


@dataclass(frozen=True)
class Earlier:
    """Mechanisms that have answered before, and the cells (s, x, x1, ..., xk, count) of the joint with their columns.

    The number |X1| stands for a value that the mechanism of x1 does not know. `variables` are what x1, ..., xk are of, without
    columns where no names are known.
    """

    integers: tuple[Integers, ...]
    cells: tuple[tuple[int, ...], ...]
    variables: tuple[Variable, ...]

    @classmethod
    def of(cls, joint: Joint, integers: Sequence[Integers], variables: Sequence[Variable]) -> Earlier | None:
        """Each mechanism reads the variable at its place; none if the joint does not contain one of them."""
        places = [_place(joint, variable) for variable in variables]
        if any(place is None for place in places):
            return None
        cells: dict[tuple[int, ...], int] = {}
        for *key, count in _cells(joint):
            chosen = (*key[:2], *(key[place] for place in places if place is not None))
            cells[chosen] = cells.get(chosen, 0) + count
        return cls(tuple(integers), tuple((*key, count) for key, count in cells.items()), tuple(variables))

    @property
    def answered(self) -> bool:
        """Whether every mechanism has an answer for every value."""
        return all(
            integers.unseen is not None or all(cell[2 + place] < len(integers.labels["x"]) for cell in self.cells)
            for place, integers in enumerate(self.integers)
        )

    def blocks(self, joint: Joint) -> list[Matrix]:
        """Counts of s and x for every combination of earlier outputs, those that tell the same added up."""
        if not self.answered:
            raise InputError(
                "the table has values that an earlier mechanism does not know and has no law for; leave those records out"
            )
        try:
            return checker.blocks_of(
                [list(row) for row in joint.weights], [list(c) for c in self.cells], [*self.integers]
            )
        except checker.RefusedError:
            raise TooManyOutputsError(
                "the earlier mechanisms have too many combinations of outputs to look at them all"
            ) from None

    @property
    def unknown(self) -> int:
        """How many of the counts have a value that a mechanism answered as one that it does not know."""
        sizes = [len(integers.labels["x"]) for integers in self.integers]
        return sum(cell[-1] for cell in self.cells if any(map(int.__eq__, cell[2:-1], sizes)))

    def promise(self, region: Region, joint: Joint) -> Region:
        """The region for everything released, these mechanisms' outputs included; itself if they tell nothing more."""
        refuse_averages(region, "what several releases tell together")
        blocks = self.blocks(joint)
        if len(blocks) == 1:
            return region
        return After(region, joint, tuple(tuple(tuple(row) for row in block) for block in blocks))


def earlier_of(joint: Joint, after: Sequence[Proven]) -> Earlier:
    """What was released before, of a joint that has all of its columns: these mechanisms, and those that they came after."""
    released: list[tuple[Integers, Variable]] = []
    for mechanism in after:
        if mechanism.integers is None:
            raise InputError(
                "a mechanism that was released before is not proven; only proven ones can be counted together"
            )
        if not mechanism.joint.useful.columns and mechanism.joint is not joint:
            raise InputError(
                "a mechanism that was released before does not name its columns, so nobody can tell whether it is of X: design "
                "both for one joint, or give joints an origin (read_joint does)"
            )
        released.append((mechanism.integers, mechanism.joint.useful))
    for own in [mechanism.after for mechanism in after if mechanism.after is not None]:
        # What one of them came after counts once, whoever else came after it.
        counted = Counter((integers.identity, variable) for integers, variable in released)
        for integers, variable in zip(own.integers, own.variables, strict=True):
            counted[integers.identity, variable] -= 1
            if counted[integers.identity, variable] < 0:
                released.append((integers, variable))
    found = Earlier.of(joint, [integers for integers, _ in released], [variable for _, variable in released])
    if found is None:
        raise InputError(
            "the joint does not have the columns of all mechanisms that it comes after, and nothing can be said without "
            "them; count them together: read_joint(table, ..., beside=columns_before(after))"
        )
    return found


def columns_before(after: Sequence[Proven]) -> list[Variable]:
    """What these mechanisms have released, and those that they came after: what `read_joint` counts beside X."""
    found = [mechanism.joint.useful for mechanism in after]
    found += [variable for mechanism in after if mechanism.after for variable in mechanism.after.variables]
    return list(dict.fromkeys(found))


def _place(joint: Joint, variable: Variable) -> int | None:
    """Where the variable's number stands in the joint's cells."""
    if variable == joint.useful:
        return 1
    beside = joint.beside.variables if joint.beside is not None else ()
    return 2 + beside.index(variable) if variable in beside else None


def _cells(joint: Joint) -> Sequence[tuple[int, ...]]:
    if joint.beside is not None:
        return joint.beside.cells
    return [(s, x, count) for s, row in enumerate(joint.weights) for x, count in enumerate(row) if count]


@dataclass(frozen=True)
class Together:
    """How many times as likely the outputs of several mechanisms together make a secret, at most; exactly, if `exact`."""

    mechanisms: int
    max_lift: Fraction
    exact: bool

    def __str__(self) -> str:
        how = "up to" if self.exact else "by a bound at most"
        return (
            f"{self.mechanisms} releases have now answered for these records: together their outputs make a secret "
            f"{how} {_rounded_up(self.max_lift)} times as likely; no single promise covers that"
        )


def told_together(joint: Joint, integers: Sequence[Integers], variables: Sequence[Variable]) -> Together | None:
    """The largest lift of the joint's secret over all outputs together; each mechanism reads the variable at its place.

    None where the joint does not contain all variables, or has values that a mechanism had no answer for: then nothing better
    than certainty, 1 / P(s), is true. Where there are too many combinations of outputs, the bound is what publishing all
    these columns would tell.
    """
    earlier = Earlier.of(joint, integers, variables)
    if earlier is None or not earlier.answered:
        return None
    try:
        blocks = earlier.blocks(joint)
    except TooManyOutputsError:
        return Together(len(integers), _largest_lift(_published(joint, earlier), joint), exact=False)
    whole = [[[sum(row)] for row in block] for block in blocks]
    return Together(len(integers), _largest_lift(whole, joint), exact=True)


def _published(joint: Joint, earlier: Earlier) -> list[Matrix]:
    """A block for every combination of the mechanisms' symbols that occurs."""
    blocks: dict[tuple[int, ...], Matrix] = {}
    for s, _, *symbols, count in earlier.cells:
        blocks.setdefault(tuple(symbols), [[0] for _ in joint.s_labels])[s][0] += count
    return list(blocks.values())


def _largest_lift(blocks: list[Matrix], joint: Joint) -> Fraction:
    shares = joint.s_weights
    return max(
        Fraction(sum(row) * joint.total, share * sum(map(sum, block)))
        for block in blocks
        for share, row in zip(shares, block, strict=True)
    )


def _rounded_up(value: Fraction) -> str:
    """With three digits, never below the value."""
    return f"{ceil(value * 1000) / 1000:.3f}"
