"""From multipliers of the kernels' moments to duals of a promise, where the kernels' bounds are smaller than the promise's.

They are where it allows more than any posterior q = P(S|y) has, whatever was promised, since q >= 0 and sum q = 1.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from alphalift.arrays import Array
from alphalift.convex import ComponentDual

Inverse = Callable[[Array], ComponentDual]


def of_capped(directions: Array, capped: NDArray[np.bool_]) -> Inverse:
    """Of half-spaces, some with a cap in place of their own bound: q_s <= 1 - what the others must have.

    As sum q = 1, that is a bound on the others from below: its weight k moves from w_s to all others as -k, and from nu.
    """

    def inverse(multipliers: Array) -> ComponentDual:
        moved = float(multipliers[capped].sum())
        return ComponentDual(directions.T @ multipliers - moved, shift=moved)

    return inverse


def of_idle(p_s: Array, extra: int = 0) -> Inverse:
    """Of a constraint that no posterior breaks: it has no say but for E w, what it takes from nu at l = 1.

    Its first multipliers are those of the secrets.
    """

    def inverse(multipliers: Array) -> ComponentDual:
        return ComponentDual(np.zeros_like(p_s), (0.0,) * extra, shift=float(multipliers[: len(p_s)] @ p_s))

    return inverse
