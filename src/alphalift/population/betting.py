"""Bounds on the mean of a bounded quantity that hold at any number of records: no normal approximation, no large n.

Who bets against "the mean is at least mu" multiplies his capital by 1 - b (k - mu) at every record k. If the mean is at least
mu, the capital is 1 on average at most, so it reaches 1 / delta with probability delta at most (Markov, Ville). The mu at
which it does not are a confidence set (I. Waudby-Smith, A. Ramdas, "Estimating means of bounded random variables by
betting", 2024). A stake b that is fixed before the records are seen depends on no order of theirs: counts are enough.
"""

from __future__ import annotations

import math

import numpy as np

from alphalift.arrays import Array

_HALVINGS = 60
# Stakes around the one that would be best if the variance were as expected, and the largest that cannot ruin.
_STAKES = (0.5, 1.0, 2.0)
_LARGEST_STAKE = 0.9


def upper_mean(values: Array, counts: Array, delta: float, variance: Array) -> Array:
    """With probability 1 - delta each is at least the mean of its row: rows of values, (rows, cells), and counts of cells.

    `variance`, (rows,), is what is expected of the values, from elsewhere than these counts: it makes the bound short and
    has no part in its truth.
    """
    most = values.max(axis=1)
    return np.asarray(most - lower_mean(most[:, None] - values, counts, delta, variance))


def lower_mean(values: Array, counts: Array, delta: float, variance: Array) -> Array:
    """The same from below, for values of 0 or more: bets on 1 + b (k - mu), which lose where the mean is at most mu."""
    number = counts.sum(axis=-1)
    most = np.maximum(values.max(axis=1), 1e-300)
    wanted = math.log(1 / delta)
    best = np.sqrt(2 * wanted / (np.maximum(number, 1) * np.maximum(variance, 1e-300)))
    stakes = np.minimum(np.outer(best, _STAKES), (_LARGEST_STAKE / most)[:, None])
    low, high = np.zeros(len(values)), values.max(axis=1)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        gains = np.log1p(stakes[:, :, None] * (values - middle[:, None])[:, None, :])
        logs = np.einsum("rsx,rx->rs", gains, np.broadcast_to(counts, values.shape))
        capital = np.logaddexp.reduce(logs, axis=1) - math.log(len(_STAKES))
        excluded = capital >= wanted  # the mean is not as small as this
        low, high = np.where(excluded, middle, low), np.where(excluded, high, middle)
    return low
