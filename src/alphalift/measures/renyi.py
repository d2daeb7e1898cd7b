"""Renyi divergence, the other face of alpha-lift (Remark 1)."""

from __future__ import annotations

import math

import numpy as np

from alphalift.arrays import Array, row_means
from alphalift.errors import PromiseError
from alphalift.measures.divergences import kullback_leibler
from alphalift.measures.lift import alpha_over, log_alpha_lifts


def renyi_divergences(lifts: Array, p_s: Array, alpha: float) -> Array:
    """D_alpha(P_{S|Y=y} || P_S) = 1/(alpha-1) log E_S[l^alpha] of every row of lifts, (count, |S|) -> (count,).

    alpha in (0, inf]; 1 is Kullback's and Leibler's. Paper: Remark 1, D_alpha = alpha/(alpha-1) log alpha-lift.
    A. Renyi, "On measures of entropy and information", 1961.
    """
    if not alpha > 0:
        raise PromiseError(f"alpha is {alpha:g}, expected a positive number or infinity")
    if alpha == 1:
        return kullback_leibler(lifts, p_s)
    if alpha > 1:
        return np.asarray(np.maximum(alpha_over(alpha) * log_alpha_lifts(lifts, p_s, alpha), 0.0))
    # E[l^alpha] - 1 = E[l^alpha - l - (alpha-1)(l-1)], whose terms have one sign: nothing cancels between secrets.
    logs = np.log(np.where(lifts > 0, lifts, 1.0))
    terms = lifts * np.expm1((alpha - 1) * logs) - (alpha - 1) * (lifts - 1)
    return np.asarray(np.log1p(np.minimum(row_means(terms, p_s), 0.0)) / (alpha - 1))


def renyi_divergence(p: Array, q: Array, alpha: float) -> float:
    """D_alpha(p || q) = 1/(alpha-1) log sum p^alpha q^(1-alpha), alpha in (0, inf].

    Where p escapes q, it is infinite for alpha >= 1; below 1 only what both share counts.
    """
    p, q = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    escapes = bool(np.any(p[q == 0] > 0))
    p, q = p[q > 0], q[q > 0]
    shared = float(p.sum()) if escapes else 1.0
    if escapes and (alpha >= 1 or shared == 0):
        return math.inf
    log_shared = alpha_over(alpha) * math.log(shared) if escapes else 0.0
    return float(renyi_divergences((p / shared / q)[None], q, alpha)[0]) + log_shared
