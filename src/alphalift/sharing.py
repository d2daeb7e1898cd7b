"""for_sharing: a mechanism that others may see without seeing the counts that it was designed for."""

from __future__ import annotations

import math
from dataclasses import replace

from alphalift.errors import InputError, SettingError
from alphalift.proof.coarse import coarse_weights
from alphalift.proof.prove import in_integers
from alphalift.proof.rounding import labelled
from alphalift.proof.statement import checkable
from alphalift.solution import Solution

# Beyond the resolution of a standard error; measured, see docs/release.md.
_SPARE_BITS = 1
_MOST_BITS = 52


def bits_for_sharing(records: int, cells: int) -> int:
    """Half of the bits that count the records of an average cell of the table, and one more.

    Weights of an optimal mechanism are a function of the counts, and determine them if they are fine. In steps of about
    the standard error of a share among the records of one cell they leave many tables possible (docs/release.md).
    """
    return max(math.ceil(math.log2(max(records / cells, 1)) / 2), 1) + _SPARE_BITS


def for_sharing(solution: Solution, bits: int | None = None) -> Solution:
    """The solution with weights of few bits (`bits_for_sharing` of its records unless told), proven, a little less useful.

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
        return replace(solution, integers=replace(solution.integers, unseen=None))
    blocks = solution.region.blocks(joint)
    weights = coarse_weights(solution.mechanism.p_y_given_x, joint.p_x, blocks, promise, bits)
    return in_integers(solution, labelled(joint, weights, bits, unseen=False))
