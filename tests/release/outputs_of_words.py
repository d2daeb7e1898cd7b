"""From random bits to outputs, one word at a time: what the compiled draw is compared with."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate

from alphalift.errors import InputError
from alphalift.proof.checker import Integers


def outputs_of_words(mechanism: Integers, x: int | None, words: Iterable[int]) -> list[int]:
    """The output number that each random word of `bits` bits selects for symbol number x; None is an unseen value.

    The word is compared with the cumulative sums of the column's integers, so y has exactly weights[y][x] of the
    2^bits words.
    """
    if x is not None and not 0 <= x < len(mechanism.labels["x"]):
        raise InputError(f"symbol number {x} does not exist; an unseen value is None")
    column = mechanism.unseen if x is None else [row.get(x, 0) for row in mechanism.weights]
    if column is None:
        raise InputError("this mechanism has no law for unseen values")
    edges = list(accumulate(column))
    outputs = [bisect_right(edges, word) if word >= 0 else len(edges) for word in words]
    if any(y == len(edges) for y in outputs):
        raise InputError(f"a random word must be 0 or more and below 2^{mechanism.bits}")
    return outputs
