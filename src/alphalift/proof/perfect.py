"""Perfect privacy in integers: rounding inside the lattice of rows that leave every secret as likely as before."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from flint import fmpz_mat

from alphalift.mechanism import Mechanism
from alphalift.proof.checker import MOST_BITS, Matrix, shares_of

# A symbol with less of an output's posterior than this is a float's zero.
_SUPPORT = 1e-9
# Bits beyond the lattice vectors' own: what rounding moves to the heaviest output is this small a share.
_SPARE_BITS = 40


def perfect_weights(mechanism: Mechanism, bits: int, blocks: list[Matrix]) -> tuple[Matrix, int]:
    """Integer rows w with sum_x w_x (N n_sx - n_s n_x) = 0 for every s, columns that sum to 2^bits; and the bits taken.

    The same in every block, with N and n_s over all of them and n_sx, n_x of the block.

    On the support of an extreme posterior the solutions are the multiples of one integer vector. Each output gets a
    multiple of N of its vector (so that P_Y is in integers too), rounded down; what is left of the constant column
    2^bits solves the equations as well and goes to the heaviest output, or is one by itself if it is not small.
    """
    joint = mechanism.joint
    equations = _equations(blocks)
    vectors = [
        _lattice_vector(equations, np.flatnonzero(posterior > _SUPPORT)) for posterior in mechanism.p_x_given_y.T
    ]
    largest = max((max(vector) for vector in vectors if vector), default=1)
    needed = (largest * joint.total).bit_length() + _SPARE_BITS
    if needed > MOST_BITS:
        return [[1 << bits] * len(joint.x_labels)], bits
    bits = max(bits, needed)
    rows = []
    left = [1 << bits] * len(joint.x_labels)
    for vector, row in zip(vectors, mechanism.p_y_given_x, strict=True):
        if vector is None:
            continue
        step = [entry * joint.total for entry in vector]
        x = max(range(len(step)), key=step.__getitem__)
        wanted = int(Fraction(float(row[x]) * (1 - 2.0**-_SPARE_BITS)) * 2**bits)
        count = min([wanted // step[x], *(rest // entry for rest, entry in zip(left, step, strict=True) if entry)])
        if count > 0:
            rows.append([count * entry for entry in step])
            left = [rest - taken for rest, taken in zip(left, rows[-1], strict=True)]
    if not rows or max(left) >> (bits - _SPARE_BITS // 2):  # an output without a lattice vector has left its mass
        return [*rows, left], bits
    heaviest = max(range(len(rows)), key=lambda y: sum(rows[y]))
    rows[heaviest] = [own + rest for own, rest in zip(rows[heaviest], left, strict=True)]
    return rows, bits


def _equations(blocks: list[Matrix]) -> Matrix:
    shares = shares_of(blocks)
    total, rows = sum(shares), []
    for block in blocks:
        columns = [sum(column) for column in zip(*block, strict=True)]
        for share, row in zip(shares, block, strict=True):
            rows.append([total * own - share * column for own, column in zip(row, columns, strict=True)])
    return rows


def _lattice_vector(equations: Matrix, support: np.ndarray) -> list[int] | None:
    """The shortest positive integer solution on the support, where the solutions are one line; else none."""
    basis, dimension = fmpz_mat([[row[x] for x in support] for row in equations]).nullspace()
    line = [int(basis[i, 0]) for i in range(len(support))]
    if dimension != 1 or not (all(entry > 0 for entry in line) or all(entry < 0 for entry in line)):
        return None
    shared = math.gcd(*line)
    vector = [0] * len(equations[0])
    for x, entry in zip(support, line, strict=True):
        vector[x] = abs(entry) // shared
    return vector
