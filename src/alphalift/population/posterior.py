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


@dataclass(frozen=True, eq=False)
class Drawn:
    """The ends of P(y|s) / P(y) of one drawn joint, (|Y|, |S|) each, P(y|x) / P(y), (|Y|, |X|), and its P_S."""

    low: Array
    high: Array
    exact: Array
    p_s: Array


def drawn(counts: Array, law: Array, draws: int, generator: np.random.Generator) -> Iterator[Drawn]:
    """Joints like that of the counts, (|S|, |X|), as what the mechanism P(y|x), (|Y|, |X|), makes of them."""
    most, least = law.max(axis=1), law.min(axis=1)
    for _ in range(draws):
        cells, further = generator.standard_gamma(counts), generator.standard_exponential(len(counts))
        p_s = generator.dirichlet(counts.sum(axis=1))
        sums = cells.sum(axis=1)
        seen = law @ cells.T
        mean = seen @ (p_s / sums)
        high = (seen + most[:, None] * further) / (sums + further)
        low = (seen + least[:, None] * further) / (sums + further)
        yield Drawn(low / mean[:, None], high / mean[:, None], law / mean[:, None], p_s)
