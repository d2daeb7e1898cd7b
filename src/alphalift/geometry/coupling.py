"""Points on a line, mixed in pairs to a common end between them: the cheapest partner of each, and whole couplings.

A point at distance a below the end and one at b above it meet there with the shares b / (a + b) and a / (a + b). For each
unit of moment (mass times distance) that they exchange, this costs F(1/a, 1/b), where F(A, B) = (A + B) h(B / (A + B)) is
concave and homogeneous, so that d^2F / dA dB >= 0 for every concave h: whatever the prices, the nearer a point is to the
end, the farther is its cheapest partner (docs/theory.md, "Two secrets"). So all partners are found in n log n steps.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from alphalift.arrays import Array
from alphalift.compiled import CURVE, INTEGERS, VECTOR, compile_once, inlined, kernel

Indices = NDArray[np.int64]
# Of the smaller share: below, phi(1 - share) is integrated from 1, since 1 - share has lost the digits of the share.
_SMALL_SHARE = 2e-3


def compiled_least_partners() -> Any:
    """`least_partners` as machine code."""
    return compile_once(least_partners, types.void(VECTOR, VECTOR, VECTOR, types.FunctionType(CURVE), INTEGERS, VECTOR))


@inlined
def _pair_uncertainty(share, rest, curve):  # type: ignore[no-untyped-def]
    """phi(share) + phi(rest), to nearly all digits also where the smaller of the two is tiny."""
    small, large = min(share, rest), max(share, rest)
    if small > _SMALL_SHARE:
        return curve(small, 0) + curve(large, 0)
    slope = (curve(1.0, 1) + 4 * curve(1 - small / 2, 1) + curve(1 - small, 1)) / 6
    return curve(small, 0) + curve(1.0, 0) - small * slope


def least_partners(own, other, prices, curve, partner, ceiling):  # type: ignore[no-untyped-def]
    """For every point at distance own (rising) its partner among those at distance other (falling) on the other side.

    `partner` is where (h - share price) / rest is least, `ceiling` that value: the highest price at which no pair of the
    point is worth it. Partners rise with the points, so that each halves the search of those on either side.
    """
    todo = np.empty((128, 4), np.int64)
    todo[0, 0], todo[0, 1], todo[0, 2], todo[0, 3] = 0, len(own), 0, len(other)
    pending = 1
    while pending > 0:
        pending -= 1
        first, last, left, right = todo[pending, 0], todo[pending, 1], todo[pending, 2], todo[pending, 3]
        if first >= last:
            continue
        middle = (first + last) // 2
        best, least = left, np.inf
        for j in range(left, right):
            span = own[middle] + other[j]
            share, rest = own[middle] / span, other[j] / span
            value = (_pair_uncertainty(share, rest, curve) - share * prices[j]) / rest
            if value < least:
                best, least = j, value
        partner[middle], ceiling[middle] = best, least
        todo[pending, 0], todo[pending, 1], todo[pending, 2], todo[pending, 3] = first, middle, left, best + 1
        pending += 1
        todo[pending, 0], todo[pending, 1], todo[pending, 2], todo[pending, 3] = middle + 1, last, best, right
        pending += 1


def couple(moments: Array, others: Array) -> tuple[Indices, Indices, Array]:
    """Which of the first meet which of the others, in order, and how much moment they exchange: there is one such coupling.

    Sorted as `least_partners` has them, it is the cheapest. Sums should be equal; what is left of the larger is left out.
    """
    most = len(moments) + len(others)
    i, j, exchanged = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most)
    count = _couple(np.array(moments), np.array(others), i, j, exchanged)
    return i[:count], j[:count], exchanged[:count]


@kernel
def _couple(left, left_of_others, i, j, exchanged):  # type: ignore[no-untyped-def]
    """Fill i, j and exchanged, and return their number; what is left of either side is changed on the way."""
    own, other, count = 0, 0, 0
    while own < len(left) and other < len(left_of_others):
        moment = min(left[own], left_of_others[other])
        if moment > 0:
            i[count], j[count], exchanged[count] = own, other, moment
            count += 1
        left[own] -= moment
        left_of_others[other] -= moment
        if left[own] <= 0:
            own += 1
        else:
            other += 1
    return count
