"""Two secrets: a promise allows an interval of the first one's lift, less one; here are its ends, proven by the checker.

Beside the ends that floats find, exact arithmetic decides. Where these are not good enough, since a budget or a share of
the prior is tiny, a search over all floats finds the last that keeps the promise and the first that breaks it.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import fmpq

from alphalift.joint import Joint
from alphalift.proof.checker import Promise
from alphalift.proof.statement import checkable
from alphalift.regions import Region

Ends = tuple[float, float]
# As a share: how near an end must be that floats have found.
_NEAR = 1e-12
_HALVINGS = 200


def inner_ends(joint: Joint, region: Region, tightened: Region) -> Ends:
    """The ends of `tightened`, a smaller region, to a share of 1e-12 or better; they are proven to keep `region`.

    Where no lift lies beyond, an end is the float next to it. Those of a region that the checker does not know are what
    floats find, and proven by nothing.
    """
    promise, smaller = checkable(region), checkable(tightened)

    def end(sign: int) -> float:
        if promise is None or smaller is None:
            return _float_end(joint, tightened, sign)
        own, inside = _Side(joint, promise, sign), _Side(joint, smaller, sign)
        if inside.keeps(inside.furthest):
            return inside.furthest
        found = _float_end(joint, tightened, sign)
        good = own.keeps(found) and inside.breaks(found * (1 + _NEAR))
        return found if good else inside.last_kept

    return -end(-1), end(1)


def outer_ends(joint: Joint, region: Region) -> Ends:
    """Ends beyond which nothing keeps the region: each is proven to break it or to lie where no lift reaches.

    They are as near to the region as those of `inner_ends`. Of one that the checker does not know, they are what floats
    find and a share of 1e-12 more, proven by nothing.
    """
    promise = checkable(region)

    def end(sign: int) -> float:
        if promise is None:
            return _float_end(joint, region, sign) * (1 + _NEAR)
        side = _Side(joint, promise, sign)
        if side.keeps(side.furthest):
            return side.furthest
        found = _float_end(joint, region, sign)
        good = side.keeps(found * (1 - _NEAR)) and side.breaks(found * (1 + _NEAR))
        return found * (1 + _NEAR) if good else side.first_broken

    return -end(-1), end(1)


@dataclass(frozen=True)
class _Side:
    """The lifts 1 + d and 1 - d P(1)/P(2) of the two secrets for d of one sign; below, d is without it."""

    joint: Joint
    promise: Promise
    sign: int

    @cached_property
    def furthest(self) -> float:
        """The first float that no lift exceeds."""
        nearest = float(self._limit)
        return nearest if Fraction(nearest) >= self._limit else math.nextafter(nearest, math.inf)

    @cached_property
    def _limit(self) -> Fraction:
        first, second = self.joint.s_weights
        return Fraction(1) if self.sign < 0 else Fraction(second, first)

    def keeps(self, d: float) -> bool:
        """Whether the promise is proven to be kept; what exceeds all lifts stands for the furthest."""
        return self.promise.keeps(self._lifts(min(Fraction(d), self._limit)), list(self.joint.s_weights))

    def breaks(self, d: float) -> bool:
        """Whether the promise is proven to be kept by nothing beyond, as the checker asks of a certificate's ends."""
        if d == 0 or d >= self.furthest:
            return d > 0
        return self.promise.excludes_beyond(self._lifts(Fraction(d)), list(self.joint.s_weights))

    def _lifts(self, d: Fraction) -> list[fmpq]:
        first, second = self.joint.s_weights
        lifts = (1 + self.sign * d, 1 - self.sign * d * Fraction(first, second))
        return [fmpq(lift.numerator, lift.denominator) for lift in lifts]

    @property
    def last_kept(self) -> float:
        """d = 0 reveals nothing, which keeps every promise."""
        return _float(self._first(lambda d: not self.keeps(d)) - 1)

    @property
    def first_broken(self) -> float:
        return _float(self._first(self.breaks))

    def _first(self, true_of: Callable[[float], bool]) -> int:
        """The number of the first float up to the furthest of which it is true, as of all after it."""
        return bisect_left(range(_number(self.furthest)), True, key=lambda number: true_of(_float(number)))


def _number(d: float) -> int:
    """The floats from 0 up, numbered: their bits are in this order."""
    return int(np.float64(d).view(np.int64))


def _float(number: int) -> float:
    return float(np.int64(number).view(np.float64))


def _float_end(joint: Joint, region: Region, sign: int) -> float:
    """The last d that keeps the region in floats, which err on either side."""
    p_s = joint.p_s

    def kept(d: float) -> bool:
        lift = np.maximum([[1 + sign * d, 1 - sign * d * p_s[0] / p_s[1]]], 0.0)
        return bool(region.value(lift, p_s)[0] <= region.budget)

    furthest = 1.0 if sign < 0 else float(p_s[1] / p_s[0])
    inside, outside = 0.0, furthest
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        if middle in (inside, outside):
            break
        inside, outside = (middle, outside) if kept(middle) else (inside, middle)
    return furthest if kept(furthest) else inside
