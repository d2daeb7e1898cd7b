"""From a mechanism in floats to one in integers that is proven to keep its promise."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from alphalift.arrays import Array, Rows, dense, is_sparse, scaled, supports
from alphalift.clock import Clock
from alphalift.joint import Joint
from alphalift.labels import output_labels
from alphalift.mechanism import Mechanism
from alphalift.proof import checker
from alphalift.proof.checker import Integers, Matrix, Promise, Row
from alphalift.proof.perfect import perfect_weights

# The first share of P_X that is mixed in, and its growth: where 2^-bits of rounding breaks a promise, about as much
# repairs it.
_FIRST_SHARE_BITS, _GROWTH = 2, 2.0
# The growth when time is up: a handful of tries reaches one output for everything.
_LATE_GROWTH = 2.0**12
# An output with less mass than 2^-(this share of the bits) has too few digits left; merging it costs less than mixing.
_LIGHT = 0.4


Asked = Sequence[tuple[Promise, list[Matrix]]]


def proven_integers(mechanism: Mechanism, asked: Asked, bits: int, clock: Clock) -> Integers:
    """The mechanism with columns of integers that sum to 2^bits, moved by as little as the proof needs.

    Round, try to prove; else merge broken outputs of tiny mass into their nearest relative, or mix every posterior
    toward P_X (docs/theory.md), and try again. That would leave nothing sparse: there broken outputs are merged whatever
    their mass. The last resort, one output for everything, keeps every promise. At epsilon = 0 rounding happens inside the
    null lattice, which may take more bits. `asked` are the promise and, beside it, that with a margin, each with the counts of
    s and x, by earlier outputs where there are any; then values outside of the table get no law. When the clock is over, larger shares are tried, and fewer of them.
    """
    promise, blocks = asked[0]
    joint, alone = mechanism.joint, len(blocks) == 1
    constant = labelled(joint, [dict.fromkeys(range(len(joint.x_labels)), 1 << bits)], bits, unseen=alone)
    if promise.perfect:
        result = labelled(joint, *perfect_weights(mechanism, bits, blocks, clock), unseen=alone)
        return constant if _broken(asked, result) else result
    matrix, share = mechanism.law, 0.0
    while share < 1:
        weights = rounded(mixed(matrix, joint.p_x, share), bits)
        matrix = matrix[np.array([bool(row) for row in weights])]
        result = labelled(joint, [row for row in weights if row], bits, unseen=alone)
        broken = _broken(asked, result)
        if not broken and not _broken_averages(blocks, result, promise):
            return result
        if is_sparse(matrix) and not broken:
            matrix = dense(matrix)
        if is_sparse(matrix):
            matrix = _all_merged(matrix, joint.p_x, broken)
            continue
        light = [y for y in broken if matrix[y] @ joint.p_x < 2.0 ** (-_LIGHT * bits)]
        late = clock.over
        if light and len(matrix) > 1 and not late:
            matrix = _merged(matrix, joint.p_x, light)
        else:
            share = max((_LATE_GROWTH if late else _GROWTH) * share, 2.0 ** (_FIRST_SHARE_BITS - bits))
    return constant


def _broken(asked: Asked, integers: Integers) -> list[int]:
    broken = {y for promise, blocks in asked for y in checker.broken_outputs(blocks, integers.weights, promise)}
    promise, blocks = asked[0]
    if integers.unseen is not None:
        broken |= set(checker.broken_unseen(blocks[0], integers, promise))
    return sorted(broken)


def _broken_averages(blocks: list[Matrix], integers: Integers, promise: Promise) -> bool:
    above = checker.broken_averages(blocks, integers.weights, promise)
    return bool(above or checker.broken_averages_unseen(blocks[0], integers, promise))


def mixed(matrix: Rows, p_x: Array, share: float) -> Rows:
    """Every posterior moved toward P_X by the same share; P_Y stays. Of a sparse matrix nothing is asked but a share of 0."""
    return matrix if is_sparse(matrix) else np.asarray((1 - share) * matrix + share * (matrix @ p_x)[:, None])


def _merged(matrix: Array, p_x: Array, light: list[int]) -> Array:
    """The outputs without the lightest broken one, whose mass goes to the output with the nearest posterior."""
    joint_xy = matrix * p_x
    y = min(light, key=lambda output: joint_xy[output].sum())
    posteriors = joint_xy / joint_xy.sum(axis=1, keepdims=True)
    distance = np.abs(posteriors - posteriors[y]).sum(axis=1)
    distance[y] = np.inf
    result = matrix.copy()
    result[distance.argmin()] += result[y]
    return np.delete(result, y, axis=0)


def _all_merged(matrix: csr_array, p_x: Array, broken: list[int]) -> csr_array:
    """The outputs with every broken one, the lightest first, merged into its nearest relative, which then stays for now.

    Nearest is who shares most of the posterior: sum_x min(V_x, V'_x) = 1 - |V - V'| / 2.
    """
    masses = matrix @ p_x
    posteriors = scaled(matrix, 1 / masses, 1 / p_x)
    by_symbol, into, stays = list(supports(csr_array(posteriors.T))), np.arange(len(masses)), set[int]()
    heaviest = np.argsort(-masses)[:2].tolist()
    own = list(supports(posteriors))
    for y in sorted(broken, key=masses.__getitem__):
        if y in stays:
            continue
        shared = np.zeros(len(masses))
        for x, share in zip(*own[y], strict=True):
            outputs, shares = by_symbol[x]
            shared[outputs] += np.minimum(shares, share)
        shared[y] = 0.0
        nearest = int(shared.argmax()) if shared.any() else next(z for z in heaviest if z != y)
        into[y] = into[nearest]
        stays.add(int(into[y]))
    kept, places = np.unique(into, return_inverse=True)
    return csr_array((np.ones(len(into)), (places, np.arange(len(into)))), shape=(len(kept), len(into))) @ matrix


def rounded(matrix: Rows, bits: int) -> list[Row]:
    """Integer columns that sum to 2^bits: rounded down, the largest remainders up; zero stays zero."""
    result: list[Row] = [{} for _ in range(matrix.shape[0])]
    for x, (support, column) in enumerate(supports(csr_array(matrix.T) if is_sparse(matrix) else matrix.T)):
        exact = [math.ldexp(entry, bits) for entry in column.tolist()]  # a power of two: exact
        weights = [math.floor(entry) for entry in exact]
        remainders = [entry - weight for entry, weight in zip(exact, weights, strict=True)]
        _raise_some(weights, bits, sorted(range(len(weights)), key=remainders.__getitem__, reverse=True))
        # What is left is the float column's own distance from one.
        weights[weights.index(max(weights))] += (1 << bits) - sum(weights)
        for y, weight in zip(support.tolist(), weights, strict=True):
            if weight:
                result[y][x] = weight
    return result


def _raise_some(weights: list[int], bits: int, order: list[int]) -> None:
    """Add one to as many weights, in this order, as their sum lacks to 2^bits."""
    for y in order[: max((1 << bits) - sum(weights), 0)]:
        weights[y] += 1


def as_floats(weights: list[Row], bits: int, size: int) -> csr_array:
    """P(Y|X) for so many symbols in floats, each the nearest to its fraction, (|Y|, |X|)."""
    numbers = np.array([weight / (1 << bits) for row in weights for weight in row.values()])
    symbols = np.array([x for row in weights for x in row], np.int64)
    return csr_array((numbers, symbols, np.cumsum([0, *map(len, weights)])), shape=(len(weights), size))


def labelled(joint: Joint, weights: list[Row], bits: int, *, unseen: bool) -> Integers:
    """The integers with names for the outputs and, if asked for, a law for unseen values."""
    posteriors = Mechanism(joint, as_floats(weights, bits, len(joint.x_labels))).posteriors
    labels = {
        "s": list(joint.s_labels),
        "x": list(joint.x_labels),
        "y": list(output_labels(posteriors, joint.x_labels)),
    }
    return Integers(labels, bits, weights, _unseen(joint, weights, bits) if unseen else None)


def _unseen(joint: Joint, weights: list[Row], bits: int) -> list[int] | None:
    """P_Y in integers, or none where an output would get nothing.

    Rounded down, and up for the rarest: a unit matters least to a common output, and a law below P_Y needs room in
    the promise, one above it hardly any.
    """
    masses = [sum(weight * joint.x_weights[x] for x, weight in row.items()) for row in weights]
    law = [mass // joint.total for mass in masses]
    inexact = [y for y, mass in enumerate(masses) if mass % joint.total]
    _raise_some(law, bits, sorted(inexact, key=masses.__getitem__))
    return law if min(law) > 0 else None
