"""Measures of a whole mechanism that average its outputs: Sibson's and Arimoto's information, maximal leakage.

Channels are p_y_given_s, (|Y|, |S|); secrets and outputs without mass count for nothing.
"""

from __future__ import annotations

import math

import numpy as np

from alphalift.arrays import Array
from alphalift.measures.guessing import bayes_capacity
from alphalift.measures.lift import alpha_over
from alphalift.measures.renyi import renyi_divergences


def outputs_and_lifts(p_y_given_s: Array, p_s: Array) -> tuple[Array, Array, Array]:
    """P_S, P_Y and the lifts P(y|s) / P(y), (|Y|, |S|), of the secrets and outputs that have mass."""
    channel = np.asarray(p_y_given_s, dtype=np.float64)[:, p_s > 0]
    p_s = p_s[p_s > 0]
    p_y = channel @ p_s
    return p_s, p_y[p_y > 0], channel[p_y > 0] / p_y[p_y > 0, None]


def tilted_mean(values: Array, p_y: Array, alpha: float) -> float:
    """The Kolmogorov-Nagumo mean alpha/(alpha-1) log E_Y[exp((alpha-1)/alpha value)]; plain at 1, log E[e^value] at inf."""
    if alpha == 1:
        return float(p_y @ values)
    power = 1 / alpha_over(alpha)
    exponents = power * values
    # Near alpha = 1 the mean is 1 plus a tiny number, which log1p keeps; elsewhere it may overflow.
    if np.abs(exponents).max() < 1:
        return float(np.log1p(p_y @ np.expm1(exponents)) / power)
    from scipy.special import logsumexp

    return float(logsumexp(exponents, b=p_y) / power)


def sibson_information(p_y_given_s: Array, p_s: Array, alpha: float) -> float:
    """I_alpha(S;Y) = alpha/(alpha-1) log sum_y (sum_s P_S(s) P(y|s)^alpha)^(1/alpha), alpha in (0, inf].

    Computed as alpha/(alpha-1) log E_Y[alpha-lift], the tilted mean of every output's Renyi divergence; 1 is I(S;Y),
    infinity the maximal leakage. R. Sibson, "Information radius", 1969; S. Verdu, "alpha-mutual information", 2015.
    """
    p_s, p_y, lifts = outputs_and_lifts(p_y_given_s, p_s)
    return max(0.0, tilted_mean(renyi_divergences(lifts, p_s, alpha), p_y, alpha))


def alpha_leakage(p_y_given_s: Array, p_s: Array, alpha: float) -> float:
    """Arimoto's information alpha/(alpha-1) log E_Y[|P_{S|Y}|_alpha / |P_S|_alpha], |.|_alpha the alpha-norm.

    What an adversary with alpha-loss gains about S itself: I(S;Y) at 1, the min-entropy leakage at infinity. Norms are
    taken through the divergence from the uniform law, of which they are a function.
    S. Arimoto, "Information measures and capacity of order alpha for discrete memoryless channels", 1977;
    J. Liao, O. Kosut, L. Sankar, F. Calmon, "Tunable measures for information leakage and applications to
    privacy-utility tradeoffs", 2019.
    """
    p_s, p_y, lifts = outputs_and_lifts(p_y_given_s, p_s)
    uniform = np.full_like(p_s, 1 / len(p_s))
    before = renyi_divergences((p_s / uniform)[None], uniform, alpha)
    after = renyi_divergences(lifts * p_s / uniform, uniform, alpha)
    return max(0.0, tilted_mean(after - before, p_y, alpha))


def maximal_leakage(p_y_given_s: Array) -> float:
    """log sum_y max_s P(y|s): by how much any guess of any function of S gains at most; every column has mass.

    I. Issa, A. Wagner, S. Kamath, "An operational approach to information leakage", 2020.
    """
    return max(0.0, math.log(bayes_capacity(p_y_given_s)))
