"""How precisely P(y|x) is told to the readers of released rows."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.sparse import coo_array

from alphalift.arrays import Array, Rows, compact
from alphalift.proof.checker import Integers

# No share is told to more decimals than these; an output that is rarer still is told as one unit of the last.
_DECIMALS = 12
_WHOLE = 10**_DECIMALS


def told(integers: Integers, records: int) -> Rows:
    """P(y|x) in few decimals, (|Y|, |X|): told to the standard error that it has among the records of an average value.

    Columns sum to one, and what is possible stays so. Finer digits would hardly help a reader, whose estimates from so
    many records are no better, but outputs on the promise's boundary would give away the counts that were designed for.
    """
    columns: list[dict[int, float]] = [{} for _ in integers.labels["x"]]
    for y, row in enumerate(integers.weights):
        for x, weight in row.items():
            columns[x][y] = weight / (1 << integers.bits)
    records = max(records // len(columns), 1)
    shares = [units / _WHOLE for column in columns for units in _column([*column.values()], records)]
    outputs, symbols = zip(*((y, x) for x, column in enumerate(columns) for y in column), strict=True)
    return compact(coo_array((shares, (outputs, symbols)), shape=(len(integers.weights), len(columns))).tocsr())


def supported(rows: int | None, designed_from: int) -> int:
    """Of how many records digits are told: those of the release, or about as many as were designed from, if these are fewer.

    Of a private table's size, no more than the largest power of two that is not above it.
    """
    if rows is not None and rows <= designed_from:
        return rows
    return 1 << (designed_from.bit_length() - 1)


def rounding(law: Array, records: int) -> Array:
    """The variance of what `told` rounded off, (|Y|, |X|), from P(y|x) as it is told, as if it were half a step, up or down.

    The error of the largest in a column is that of all others together, and has none here.
    """
    variance = np.zeros(law.shape)
    records = max(records // law.shape[1], 1)
    for y, x in zip(*np.nonzero(law), strict=True):
        variance[y, x] = (_step(float(law[y, x]), records) / _WHOLE) ** 2 / 4
    variance[law.argmax(axis=0), np.arange(law.shape[1])] = 0.0
    return variance


def _column(shares: Sequence[float], records: int) -> list[int]:
    """The shares in units of the last decimal. What is missing to one goes to the largest: the others determine it."""
    largest = max(range(len(shares)), key=shares.__getitem__)
    others = [y for y in range(len(shares)) if y != largest]
    steps = [_step(share, records) for share in shares]
    units = [max(int(share * _WHOLE) // step, 1) * step for share, step in zip(shares, steps, strict=True)]
    left = _WHOLE - sum(units)
    # Rounded down so far; now to the nearest, as long as that leaves the largest what it has.
    parts = {y: shares[y] * _WHOLE / steps[y] - units[y] // steps[y] for y in others}
    for y in sorted(others, key=lambda y: -parts[y]):
        if parts[y] >= 0.5 and steps[y] <= left:
            units[y] += steps[y]
            left -= steps[y]
    units[largest] += left
    return units


def _step(share: float, records: int) -> int:
    """The largest 1, 2 or 5 in a decimal place, in units, that is at most the standard error and at most the share."""
    most = min(math.sqrt(share * max(1 - share, 0.0) / records), share) * _WHOLE * (1 + 1e-12)
    place = 10 ** max(len(str(int(most))) - 1, 0)
    return max(digit * place for digit in (1, 2, 5) if digit == 1 or digit * place <= most)
