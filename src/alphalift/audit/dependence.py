"""Whether a release has looked at the secret: given x, its output y must not depend on s (S - X - Y)."""

from __future__ import annotations

import numpy as np
from scipy.stats import random_table

from alphalift.arrays import Array
from alphalift.audit.counted import Counts

# Of tables with the same margins; the least p-value is 1 / (1 + this).
_TABLES = 999


def p_value_of_dependence(counts: Counts, generator: np.random.Generator) -> float:
    """How likely y depends on s as strongly as in the counts, (|S|, |X|, |Y|), or more, if given x it does not at all.

    Exact for any number of records: if S - X - Y holds, then among the records of one x every pairing of their secrets with their
    outputs is equally likely. Strength is the log likelihood ratio, added up over x.
    """
    seen, random = 0.0, np.zeros(_TABLES)
    for own in np.moveaxis(counts, 1, 0):
        own = own[own.any(axis=1)][:, own.any(axis=0)]
        if min(own.shape) < 2:
            continue
        seen += float(_strength(own[None])[0])
        tables = random_table(own.sum(axis=1), own.sum(axis=0), seed=generator).rvs(_TABLES)
        random += _strength(tables)
    slack = 1e-9 * (1 + seen)  # equal tables may be added up in another order
    return float((1 + (random >= seen - slack).sum()) / (1 + _TABLES))


def _strength(tables: Array) -> Array:
    """sum n log n of the cells, which is the log likelihood ratio but for what tables of the same margins share, (count,)."""
    cells = tables.reshape(len(tables), -1).astype(np.float64)
    return np.asarray((cells * np.log(np.maximum(cells, 1.0))).sum(axis=1))
