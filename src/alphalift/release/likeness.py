"""Whether what was released looks like the table that the mechanism was designed for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import chdtrc

from alphalift.joint import Joint
from alphalift.proof.checker import Integers

# Of a table like the one designed for, one release in a million is called unlike it, or fewer.
_RARE = 1e-6
# The chi-square approximation wants so many expected records in a class; outputs that are rarer are taken together.
_LEAST = 5.0


def is_unlike(counts: Sequence[int], integers: Integers, joint: Joint) -> bool:
    """Whether these counts of outputs differ from P_Y more than chance explains (Pearson's chi-square test)."""
    whole = joint.total << integers.bits
    p_y = np.array(
        [sum(joint.x_weights[x] * own for x, own in row.items()) / whole for row in integers.weights]  # exact until "/"
    )
    found, expected = np.asarray(counts, dtype=np.float64), p_y * sum(counts)
    if found[p_y == 0].any():
        return True
    rare = expected < _LEAST
    found, expected = (np.append(values[~rare], values[rare].sum()) for values in (found, expected))
    if expected[-1] < _LEAST:  # together still too few to say anything: they go to the largest class
        largest = int(expected.argmax())
        found[largest], expected[largest] = found[largest] + found[-1], expected[largest] + expected[-1]
        found, expected = (
            np.delete(values, -1) if largest < len(values) - 1 else values for values in (found, expected)
        )
    if len(found) < 2:
        return False
    return bool(chdtrc(len(found) - 1, ((found - expected) ** 2 / expected).sum()) < _RARE)
