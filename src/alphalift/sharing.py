"""for_sharing: a mechanism that others may see without seeing the counts that it was designed for."""

from __future__ import annotations

import math
from dataclasses import replace

from alphalift.errors import InputError, SettingError
from alphalift.population import restated
from alphalift.proof.checker import Promise
from alphalift.proof.coarse import coarse_weights
from alphalift.proof.prove import in_integers
from alphalift.proof.rounding import labelled
from alphalift.proof.statement import checkable
from alphalift.solution import Solution

# Beyond the resolution of a standard error; measured, see docs/release.md.
_SPARE_BITS = 1
_MOST_BITS = 52
# Shares of noise that are tried where the promise for the population is lost in few bits.
_NOISE = (0.0, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.85, 1.0)


def bits_for_sharing(records: int, cells: int) -> int:
    """Half of the bits that count the records of an average cell of the table, and one more.

    Weights of an optimal mechanism are a function of the counts, and determine them if they are fine. In steps of about
    the standard error of a share among the records of one cell they leave many tables possible (docs/release.md).
    """
    return max(math.ceil(math.log2(max(records / cells, 1)) / 2), 1) + _SPARE_BITS


def for_sharing(solution: Solution, bits: int | None = None) -> Solution:
    """The solution with weights of few bits (`bits_for_sharing` of its records unless told), proven, a little less useful.

    A promise for the population is asked for again of what the few bits make of the mechanism, and noise mixed in until it is kept.
    There is no law for unseen values, since that is P_Y. Perfect privacy is left in the bits that it needs: its weights
    are ratios of counts, whatever their number.
    """
    joint, promise = solution.joint, checkable(solution.region)
    if solution.integers is None or promise is None:
        raise InputError("only a proven mechanism can be shared; this one is not (see design and prove)")
    bits = bits_for_sharing(joint.total, len(joint.s_labels) * len(joint.x_labels)) if bits is None else bits
    if not 1 <= bits <= _MOST_BITS:
        raise SettingError(f"bits is {bits}, expected 1 to {_MOST_BITS}")
    if promise.perfect or bits >= solution.integers.bits:
        unnamed = replace(solution.integers, unseen=None)
        return restated(replace(solution, integers=unnamed, margin=None), told=False)
    for noise in _NOISE:
        shared = restated(_coarse(solution, promise, bits, noise), told=False)
        if shared.population is None or shared.population.kept:
            break
    return shared


def _coarse(solution: Solution, promise: Promise, bits: int, noise: float) -> Solution:
    """The mechanism with so much noise of its outputs' own distribution, in few bits."""
    joint, mechanism, stated = solution.joint, solution.mechanism, solution.population
    law = mechanism.with_noise(noise).p_y_given_x
    weights = coarse_weights(law, joint.p_x, solution.region.blocks(joint), promise, bits)
    if stated is not None:
        stated = replace(stated, noise=1 - (1 - stated.noise) * (1 - noise))
    return in_integers(replace(solution, population=stated, margin=None), labelled(joint, weights, bits, unseen=False))
