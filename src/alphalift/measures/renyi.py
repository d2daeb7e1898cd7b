"""Renyi divergence, the other face of alpha-lift (Remark 1)."""

from __future__ import annotations

import math

import numpy as np

from alphalift.exact import Array
from alphalift.measures.lift import alpha_over, log_alpha_lifts


def renyi_divergence(p: Array, q: Array, alpha: float) -> float:
    """D_alpha(p || q) = 1/(alpha-1) log sum p^alpha q^(1-alpha), alpha in (1, inf]; infinite if p escapes q.

    Paper: Remark 1, D_alpha = alpha/(alpha-1) log alpha-lift. A. Renyi, "On measures of entropy and
    information", 1961.
    """
    p, q = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    if np.any(p[q == 0] > 0):
        return math.inf
    p, q = p[q > 0], q[q > 0]
    log_lift = float(log_alpha_lifts((p / q)[None], q, alpha)[0])
    return log_lift * alpha_over(alpha)
