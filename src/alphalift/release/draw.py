"""From random bits to outputs: the sampled law is the verified one, bit for bit."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate

from alphalift.proof import Integers


def outputs_of_words(mechanism: Integers, x: int | None, words: Iterable[int]) -> list[int]:
    """The output number that each random word of `bits` bits selects for symbol number x; None is an unseen value.

    The word is compared with the cumulative sums of the column's integers, so y has exactly weights[y][x] of the
    2^bits words.
    """
    column = mechanism.unseen if x is None else [row[x] for row in mechanism.weights]
    if column is None:
        raise ValueError("this mechanism has no law for unseen values")
    edges = list(accumulate(column))
    return [bisect_right(edges, word) for word in words]
