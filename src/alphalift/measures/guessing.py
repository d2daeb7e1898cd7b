"""Guessing the secret in one try: Bayes vulnerability and the leakages made of it.

G. Smith, "On the foundations of quantitative information flow", 2009, has the vulnerabilities and min-entropy leakage;
C. Braun, K. Chatzikokolakis, C. Palamidessi, "Quantitative notions of leakage for one-try attacks", 2009, the
multiplicative and additive leakage and the capacity. Channels are p_y_given_s, (|Y|, |S|).
"""

from __future__ import annotations

import math

import numpy as np

from alphalift.arrays import Array


def prior_vulnerability(p_s: Array) -> float:
    """V(S) = max_s P_S(s): the chance that the best guess is right before anything is seen. Smith, 2009."""
    return float(np.max(p_s))


def posterior_vulnerability(p_y_given_s: Array, p_s: Array) -> float:
    """V(S|Y) = sum_y max_s P_S(s) P(y|s): the chance that the best guess is right after y is seen. Smith, 2009."""
    return float((p_y_given_s * p_s).max(axis=1).sum())


def best_guess(lifts: Array, p_s: Array) -> Array:
    """max_s P(s|y) = max_s P_S(s) l of every row of lifts, (count, |S|) -> (count,); its mean is V(S|Y). Smith, 2009."""
    return np.asarray((lifts * p_s).max(axis=-1))


def guessing_advantage(lifts: Array, p_s: Array) -> Array:
    """max_s P(s|y) - max_s P_S(s) of every row of lifts; an output may also make guessing harder. Smith, 2009."""
    return best_guess(lifts, p_s) - prior_vulnerability(p_s)


def additive_bayes_leakage(p_y_given_s: Array, p_s: Array) -> float:
    """V(S|Y) - V(S), the guessing advantage of an observer of Y. Braun, Chatzikokolakis, Palamidessi, 2009."""
    return max(0.0, posterior_vulnerability(p_y_given_s, p_s) - prior_vulnerability(p_s))


def multiplicative_bayes_leakage(p_y_given_s: Array, p_s: Array) -> float:
    """V(S|Y) / V(S), 1 or more. Braun, Chatzikokolakis, Palamidessi, 2009."""
    return max(1.0, posterior_vulnerability(p_y_given_s, p_s) / prior_vulnerability(p_s))


def min_entropy_leakage(p_y_given_s: Array, p_s: Array) -> float:
    """H_inf(S) - H_inf(S|Y) = log(V(S|Y) / V(S)). Smith, 2009."""
    return math.log(multiplicative_bayes_leakage(p_y_given_s, p_s))


def bayes_capacity(p_y_given_s: Array) -> float:
    """sum_y max_s P(y|s): the largest multiplicative Bayes leakage over priors, at the uniform one.

    Braun, Chatzikokolakis, Palamidessi, 2009. Its logarithm is the maximal leakage.
    """
    return float(np.asarray(p_y_given_s).max(axis=1).sum())
