"""Perfect privacy in integers: rounding inside the lattice of rows that leave every secret as likely as before."""

from __future__ import annotations

import math
from fractions import Fraction

from flint import fmpz_mat

from alphalift.arrays import supports
from alphalift.clock import Clock
from alphalift.mechanism import Mechanism
from alphalift.proof.checker import MOST_BITS, Matrix, Row, prior_of

# A symbol with less of an output's posterior than this is a float's zero.
_SUPPORT = 1e-9
# Bits beyond the lattice vectors' own: what rounding moves to the heaviest output is this small a share.
_SPARE_BITS = 40


def perfect_weights(mechanism: Mechanism, bits: int, blocks: list[Matrix], clock: Clock) -> tuple[list[Row], int]:
    """Integer rows w with sum_x w_x (N n_sx - n_s n_x) = 0 for every s, columns that sum to 2^bits; and the bits taken.

    The same in every block, with N and n_s over all of them and n_sx, n_x of the block.

    On the support of an extreme posterior the solutions are the multiples of one integer vector. Each output gets a
    multiple of N of its vector (so that P_Y is in integers too), rounded down; what is left of the constant column
    2^bits solves the equations as well and goes to the heaviest output, or is one by itself if it is not small. Outputs whose
    turn comes after the clock are left to it.
    """
    joint, whole = mechanism.joint, range(len(mechanism.joint.x_labels))
    equations = _equations(blocks)
    found = (symbols[shares > _SUPPORT] for symbols, shares in supports(mechanism.posteriors))
    vectors = [None if clock.over else _lattice_vector(equations, support.tolist()) for support in found]
    largest = max((max(vector.values()) for vector in vectors if vector), default=1)
    needed = (largest * joint.total).bit_length() + _SPARE_BITS
    if needed > MOST_BITS:
        return [dict.fromkeys(whole, 1 << bits)], bits
    bits = max(bits, needed)
    rows: list[Row] = []
    left = [1 << bits] * len(whole)
    for vector, (symbols, shares) in zip(vectors, supports(mechanism.law), strict=True):
        if vector is None:
            continue
        step = {x: entry * joint.total for x, entry in vector.items()}
        x = max(step, key=step.__getitem__)
        share = float(shares[symbols == x].sum())
        wanted = int(Fraction(share * (1 - 2.0**-_SPARE_BITS)) * 2**bits)
        count = min([wanted // step[x], *(left[x] // entry for x, entry in step.items())])
        if count > 0:
            rows.append({x: count * entry for x, entry in step.items()})
            for x, taken in rows[-1].items():
                left[x] -= taken
    rest = {x: weight for x, weight in enumerate(left) if weight}
    if not rows or max(left) >> (bits - _SPARE_BITS // 2):  # an output without a lattice vector has left its mass
        return [*rows, rest], bits
    heaviest = max(range(len(rows)), key=lambda y: sum(rows[y].values()))
    rows[heaviest] = {x: weight for x in whole if (weight := rows[heaviest].get(x, 0) + left[x])}
    return rows, bits


def _equations(blocks: list[Matrix]) -> Matrix:
    prior = prior_of(blocks)
    total, rows = sum(prior), []
    for block in blocks:
        columns = [sum(column) for column in zip(*block, strict=True)]
        for mass, row in zip(prior, block, strict=True):
            rows.append([total * own - mass * column for own, column in zip(row, columns, strict=True)])
    return rows


def _lattice_vector(equations: Matrix, support: list[int]) -> Row | None:
    """The shortest positive integer solution on the support, where the solutions are one line; else none."""
    basis, dimension = fmpz_mat([[row[x] for x in support] for row in equations]).nullspace()
    line = [int(basis[i, 0]) for i in range(len(support))]
    if dimension != 1 or not (all(entry > 0 for entry in line) or all(entry < 0 for entry in line)):
        return None
    shared = math.gcd(*line)
    return {x: abs(entry) // shared for x, entry in zip(support, line, strict=True)}
