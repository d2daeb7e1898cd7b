"""Draws of the joint that n records may have come from, each secret with one record more than was seen.

P(x|s) is a Dirichlet with the counts of s, P_S one with all counts. The further record lies where it hurts most, at the x with
the largest P(y|x) (or the least, for the lower end of a lift): for two values of X this is the rule of Clopper and Pearson
(1934), whose interval is exact. So an x that was never seen with a rare secret is not taken for impossible.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from alphalift.arrays import Array

# Numbers that are made at once: 16 MB.
_MOST_NUMBERS = 1 << 21


@dataclass(frozen=True, eq=False)
class Drawn:
    """The ends of P(y|s) / P(y) of some drawn joints, (draws, |Y|, |S|) each, P(y|x) / P(y), (draws, |Y|, |X|), and their P_S."""

    low: Array
    high: Array
    exact: Array
    p_s: Array


def drawn(counts: Array, law: Array, draws: int, generator: np.random.Generator) -> Iterator[Drawn]:
    """Joints like that of the counts, (|S|, |X|), as what the mechanism P(y|x), (|Y|, |X|), makes of them; some at a time."""
    most, least = law.max(axis=1)[:, None], law.min(axis=1)[:, None]
    at_once = max(1, _MOST_NUMBERS // ((len(law) + len(counts)) * sum(counts.shape)))
    for first in range(0, draws, at_once):
        size = min(at_once, draws - first)
        cells = generator.standard_gamma(counts, (size, *counts.shape))
        further = generator.standard_exponential((size, 1, len(counts)))
        p_s = generator.dirichlet(counts.sum(axis=1), size)
        sums = cells.sum(axis=2)[:, None]
        seen = law @ cells.transpose(0, 2, 1)
        mean = seen @ (p_s / sums[:, 0])[:, :, None]
        high, low = ((seen + end * further) / (sums + further) / mean for end in (most, least))
        yield Drawn(low, high, law / mean, p_s)
