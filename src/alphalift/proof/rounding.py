"""From a mechanism in floats to one in integers that is proven to keep its promise."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np

from alphalift.exact import Array, to_float
from alphalift.joint import Joint
from alphalift.labels import output_labels
from alphalift.mechanism import Mechanism
from alphalift.proof import checker
from alphalift.proof.checker import Integers, Matrix, Promise
from alphalift.proof.perfect import perfect_weights
from alphalift.regions import After, Intersection, Region
from alphalift.regions.parse import PROMISES

# The first share of P_X that is mixed in, and its growth: where 2^-bits of rounding breaks a promise, about as much
# repairs it.
_FIRST_SHARE_BITS, _GROWTH = 2, 2.0
# An output with less mass than 2^-(this share of the bits) has too few digits left; merging it costs less than mixing.
_LIGHT = 0.4
# What the checker knows, by the names that both sides have.
_REGIONS: dict[str, type[Region]] = {name: PROMISES[name] for name in checker.REGIONS}


def checkable(region: Region) -> Promise | None:
    """The region as the checker knows it, in the decimals that its floats are shown as; none if it does not."""
    stated = statement(region)
    return None if stated is None else checker.promise_of(stated)


def statement(region: Region) -> dict[str, Any] | None:
    """The promise as a file states it; none for a region that the checker does not know.

    What a promise comes after is not part of it: a file has that beside it.
    """
    if isinstance(region, After):
        return statement(region.region)
    if isinstance(region, Intersection):
        parts = [statement(part) for part in region.parts]
        return None if None in parts else {"region": "Intersection", "parts": parts}
    for name, known in _REGIONS.items():  # MaxLift and PML are AlphaLift at infinity
        if isinstance(region, known):
            return {"region": name} | {key: decimal(value) for key, value in region.parameters.items()}
    return None


def region_of(stated: dict[str, Any]) -> Region:
    """The region that a file states; where floats cannot hold its decimals, the weaker one: it is proven as well."""
    if stated["region"] == "Intersection":
        return Intersection(*map(region_of, stated["parts"]))
    numbers = {
        name: to_float(text, upwards=name not in ("alpha", "order"))
        for name, text in stated.items()
        if name != "region"
    }
    return _REGIONS[stated["region"]](**numbers)


def decimal(number: float) -> str:
    """A float's shortest decimal, written out; what is meant exactly by it."""
    return "inf" if math.isinf(number) else f"{Decimal(repr(float(number))):f}".removesuffix(".0")


def proven_integers(mechanism: Mechanism, promise: Promise, bits: int, blocks: list[Matrix]) -> Integers:
    """The mechanism with columns of integers that sum to 2^bits, moved by as little as the proof needs.

    Round, try to prove; else merge broken outputs of tiny mass into their nearest relative, or mix every posterior
    toward P_X (docs/theory.md), and try again. The last resort, one output for everything, keeps every promise. At
    epsilon = 0 rounding happens inside the null lattice, which may take more bits. `blocks` are the counts of s and x, by
    earlier outputs where there are any; then values outside of the table get no law.
    """
    joint, alone = mechanism.joint, len(blocks) == 1
    constant = _labelled(joint, [[1 << bits] * len(joint.x_labels)], bits, unseen=alone)
    if promise.perfect:
        result = _labelled(joint, *perfect_weights(mechanism, bits, blocks), unseen=alone)
        return constant if _broken(blocks, result, promise) else result
    matrix, share = mechanism.p_y_given_x, 0.0
    while share < 1:
        weights = _rounded(_mixed(matrix, joint.p_x, share), bits)
        matrix = matrix[[any(row) for row in weights]]
        result = _labelled(joint, [row for row in weights if any(row)], bits, unseen=alone)
        broken = _broken(blocks, result, promise)
        if not broken:
            return result
        light = [y for y in broken if matrix[y] @ joint.p_x < 2.0 ** (-_LIGHT * bits)]
        if light and len(matrix) > 1:
            matrix = _merged(matrix, joint.p_x, light)
        else:
            share = max(_GROWTH * share, 2.0 ** (_FIRST_SHARE_BITS - bits))
    return constant


def _broken(blocks: list[Matrix], integers: Integers, promise: Promise) -> list[int]:
    broken = set(checker.broken_outputs(blocks, integers.weights, promise))
    if integers.unseen is not None:
        broken |= set(checker.broken_unseen(blocks[0], integers, promise))
    return sorted(broken)


def _mixed(matrix: Array, p_x: Array, share: float) -> Array:
    """Every posterior moved toward P_X by the same share; P_Y stays."""
    return np.asarray((1 - share) * matrix + share * (matrix @ p_x)[:, None])


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


def _rounded(matrix: Array, bits: int) -> Matrix:
    """Integer columns that sum to 2^bits: rounded down, the largest remainders up; zero stays zero."""
    result = np.zeros(matrix.shape, dtype=object)
    for x, column in enumerate(matrix.T):
        support = np.flatnonzero(column)
        scaled = [math.ldexp(entry, bits) for entry in column[support].tolist()]  # a power of two: exact
        weights = [math.floor(entry) for entry in scaled]
        remainders = [entry - weight for entry, weight in zip(scaled, weights, strict=True)]
        _raise_some(weights, bits, sorted(range(len(weights)), key=remainders.__getitem__, reverse=True))
        # What is left is the float column's own distance from one.
        weights[weights.index(max(weights))] += (1 << bits) - sum(weights)
        result[support, x] = weights
    return list(result.tolist())


def _raise_some(weights: list[int], bits: int, order: list[int]) -> None:
    """Add one to as many weights, in this order, as their sum lacks to 2^bits."""
    for y in order[: max((1 << bits) - sum(weights), 0)]:
        weights[y] += 1


def as_floats(weights: Matrix, bits: int) -> Array:
    """P(Y|X) in floats, each the nearest to its fraction."""
    return np.asarray(np.array(weights, dtype=object) / (1 << bits), dtype=np.float64)


def _labelled(joint: Joint, weights: Matrix, bits: int, *, unseen: bool) -> Integers:
    """The integers with names for the outputs and, if asked for, a law for unseen values."""
    posteriors = Mechanism(joint, as_floats(weights, bits)).p_x_given_y
    labels = {
        "s": list(joint.s_labels),
        "x": list(joint.x_labels),
        "y": list(output_labels(posteriors, joint.x_labels)),
    }
    return Integers(labels, bits, weights, _unseen(joint, weights, bits) if unseen else None)


def _unseen(joint: Joint, weights: Matrix, bits: int) -> list[int] | None:
    """P_Y in integers, or none where an output would get nothing.

    Rounded down, and up for the rarest: a unit matters least to a common output, and a law below P_Y needs room in
    the promise, one above it hardly any.
    """
    masses = [sum(w * n for w, n in zip(row, joint.x_weights, strict=True) if w) for row in weights]
    law = [mass // joint.total for mass in masses]
    inexact = [y for y, mass in enumerate(masses) if mass % joint.total]
    _raise_some(law, bits, sorted(inexact, key=masses.__getitem__))
    return law if min(law) > 0 else None
