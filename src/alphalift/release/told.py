"""How precisely P(y|x) is told, and what a reader can estimate from it and the released rows."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.sparse import coo_array

from alphalift.arrays import Array, Rows, compact, is_sparse
from alphalift.proof.checker import Integers

# No share is told to more decimals than these; an output that is rarer still is told as one unit of the last.
_DECIMALS = 12
_WHOLE = 10**_DECIMALS
# EM ends when no share moves by more, or after so many multiplications and rounds.
_SETTLED, _MOST_WORK, _MOST_ROUNDS = 1e-8, 1e9, 10_000


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


def estimated_p_x(p_y_given_x: Rows, counts: Array) -> Array:
    """P_X that makes these counts of outputs likeliest: by inversion where that gives shares, else by EM from equal ones.

    A large and sparse matrix is not inverted.
    """
    size = p_y_given_x.shape[1]
    p_x = np.full(size, 1 / size)
    shares = counts / max(counts.sum(), 1.0)
    if not is_sparse(p_y_given_x):
        inverted, _, rank, _ = np.linalg.lstsq(p_y_given_x, shares, rcond=1e-9)
        if rank == size == len(shares) and inverted.min() >= 0 and shares.any():
            return np.asarray(inverted / inverted.sum())  # the outputs are just as common as this makes them
    for _ in range(min(_MOST_ROUNDS, int(_MOST_WORK // p_y_given_x.size) + 1)):
        p_y = p_y_given_x @ p_x
        ratio = np.divide(shares, p_y, out=np.zeros_like(p_y), where=p_y > 0)
        better = p_x * (p_y_given_x.T @ ratio)
        total = better.sum()
        if not total:  # no rows
            return p_x
        better /= total
        moved, p_x = float(np.abs(better - p_x).max()), better
        if moved < _SETTLED:
            break
    return p_x
