"""Shannon's entropy and mutual information, in nats."""

from __future__ import annotations

import numpy as np

from alphalift.arrays import Array


def entropy(p: Array, axis: int = -1) -> Array:
    """H(p) = -sum p log p along an axis, with 0 log 0 = 0."""
    p = np.asarray(p, dtype=np.float64)
    logs: Array = np.log(np.where(p > 0, p, 1.0))
    # Adding 0.0 turns the -0.0 of a certain outcome into 0.0.
    return np.asarray(-np.sum(p * logs, axis=axis) + 0.0)


def mutual_information(p_xy: Array) -> float:
    """I(X;Y) = sum p(x,y) log(p(x,y) / p(x)p(y)) of a joint matrix; never below zero by rounding."""
    p_xy = np.asarray(p_xy, dtype=np.float64)
    independent = np.outer(p_xy.sum(axis=1), p_xy.sum(axis=0))
    some = p_xy > 0
    return max(0.0, float(np.sum(p_xy[some] * np.log(p_xy[some] / independent[some]))))
