"""What the largest and the smallest lift of an output say: promises about every secret at once.

Lifts are (count, |S|), one row an output; every function returns one number a row, in nats.
"""

from __future__ import annotations

import numpy as np

from alphalift.arrays import Array


def max_lift_leakage(lifts: Array) -> Array:
    """log max_s l: by how much the likeliest gain of any secret exceeds its prior; the pointwise maximal leakage if S is X.

    M. A. Zarrabian, N. Ding, P. Sadeghi, "On the lift, related privacy measures, and applications to
    privacy-utility trade-offs", 2023. S. Saeidian, G. Cervia, T. Oechtering, M. Skoglund, "Pointwise maximal
    leakage", 2023.
    """
    return np.asarray(np.log(lifts.max(axis=-1)))


def min_lift_leakage(lifts: Array) -> Array:
    """log min_s l, zero or below: how unlikely an output makes a secret; minus infinity if it rules one out.

    M. A. Zarrabian, N. Ding, P. Sadeghi, "On the lift, related privacy measures, and applications to
    privacy-utility trade-offs", 2023.
    """
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(lifts.min(axis=-1)))


def local_information_privacy(lifts: Array) -> Array:
    """max_s |log l|: the smallest epsilon with e^-epsilon <= l <= e^epsilon.

    B. Jiang, M. Seif, R. Tandon, M. Li, "Context-aware local information privacy", 2021.
    """
    return np.asarray(np.maximum(max_lift_leakage(lifts), -min_lift_leakage(lifts)))


def local_differential_privacy(lifts: Array) -> Array:
    """log(max_s l / min_s l) = max over s, t of log(P(y|s) / P(y|t)), which knows no prior.

    S. Kasiviswanathan, H. Lee, K. Nissim, S. Raskhodnikova, A. Smith, "What can we learn privately?", 2011.
    """
    return np.asarray(max_lift_leakage(lifts) - min_lift_leakage(lifts))
