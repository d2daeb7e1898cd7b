"""The most that a channel can leak over all priors: Renyi capacity, with a proof of its value.

For every prior p and every law q of the outputs, alpha >= 1,

    I_alpha(p) = min over laws r of D_alpha(p W || p x r) <= D_alpha(p W || p x q) <= max_s D_alpha(W_s || q),

where I_alpha is Sibson's information and W_s = P_{Y|S=s}. So any p gives a lower bound and any q an upper bound, and the
q that attains the minimum for a good p closes the gap (I. Csiszar, "Generalized cutoff rates and Renyi's information
measures", 1995). The iteration below only has to be good; what it returns is proven by these two numbers, up to the
rounding of floats in computing them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from alphalift.arrays import Array, read_only
from alphalift.errors import PromiseError, SolverError
from alphalift.measures.lift import alpha_over
from alphalift.measures.renyi import renyi_divergences
from alphalift.measures.sibson import maximal_leakage, outputs_and_lifts, sibson_information, tilted_mean

GAP = 1e-10
# Aimed at, so that rounding does not decide whether GAP is reached.
_AIM = 1e-13
# Twenty usually do. A step shrinks no entry by more than 100, so that none of them underflows in so many.
_STEPS = 100
# How much nearer to the end of the central path each step aims.
_SHRINK = 0.1


@dataclass(frozen=True)
class Capacity:
    """lower <= capacity <= upper in nats: `prior` has Sibson information lower, `p_y` is within upper of every column."""

    lower: float
    upper: float
    prior: Array
    p_y: Array

    @property
    def gap(self) -> float:
        return self.upper - self.lower


def renyi_capacity(p_y_given_s: Array, alpha: float) -> Capacity:
    """The maximum over priors of Sibson's (or, equally, Arimoto's) information of order alpha in [1, inf), to 1e-10.

    S. Arimoto, "Information measures and capacity of order alpha for discrete memoryless channels", 1977.
    Departure: Newton's method along the central path in place of Arimoto's iteration, which can take any number of
    steps where a secret is nearly worth using. On the path with weight mu the gap is at most |S| mu.
    """
    if not 1 <= alpha < math.inf:
        raise PromiseError(f"alpha is {alpha:g}, expected a finite number of 1 or more")
    channel = np.asarray(p_y_given_s, dtype=np.float64)
    size = channel.shape[1]
    prior, slack = np.full(size, 1 / size), np.ones(size)
    best = Capacity(0.0, math.inf, prior, channel @ prior)
    for _ in range(_STEPS):
        bounds, gradient, curvature = _evaluate(channel, prior, alpha)
        if bounds.gap < best.gap:
            best = bounds
        if best.gap <= _AIM:
            break
        prior, slack = _step(prior, slack, gradient, curvature)
    if best.gap > GAP:
        raise SolverError(f"the capacity of order {alpha:g} is known only to {best.gap:.1g} nats")
    return best


def channel_capacity(p_y_given_s: Array) -> float:
    """max over priors of I(S;Y), never below the true value and at most 1e-10 above it.

    C. Shannon, "A mathematical theory of communication", 1948. The limit of maximal alpha-leakage for alpha -> 1.
    """
    return renyi_capacity(p_y_given_s, 1.0).upper


def maximal_alpha_leakage(p_y_given_s: Array, p_s: Array, alpha: float) -> float:
    """The most that an adversary with alpha-loss gains about any function of S, alpha in [1, inf].

    For 1 < alpha < inf the supremum over priors with the support of P_S of Sibson's information of order alpha; by
    definition I(S;Y) at 1 and the maximal leakage at infinity. Never below the true value and at most 1e-10 above it.
    J. Liao, O. Kosut, L. Sankar, F. Calmon, "Tunable measures for information leakage and applications to
    privacy-utility tradeoffs", 2019.
    """
    if alpha == 1:
        return sibson_information(p_y_given_s, p_s, 1.0)
    occurring = p_y_given_s[:, p_s > 0]
    return maximal_leakage(occurring) if math.isinf(alpha) else renyi_capacity(occurring, alpha).upper


def _evaluate(channel: Array, prior: Array, alpha: float) -> tuple[Capacity, Array, Array]:
    """Both bounds at a prior, and the gradient and minus the Hessian of I_alpha on the plane of priors.

    With l the lifts, q(y) proportional to P(y) |l|_alpha, D_s = D_alpha(W_s || q) and R(y,s) = (l / |l|_alpha)^alpha,
    the gradient is g_s = (e^((alpha-1)(D_s - I)) - 1)/(alpha-1), and minus the Hessian is
    (R' diag(q) R + (alpha-1) g g')/alpha; a constant added to g means nothing on the plane.
    """
    _, p_y, lifts = outputs_and_lifts(channel, prior)
    divergences = renyi_divergences(lifts, prior, alpha)
    lower = max(0.0, tilted_mean(divergences, p_y, alpha))
    log_norms = divergences / alpha_over(alpha) if alpha > 1 else np.zeros_like(p_y)
    q = p_y * np.exp(log_norms - log_norms.max())
    q /= q.sum()
    to_q = renyi_divergences((lifts * (p_y / q)[:, None]).T, q, alpha)
    excess = to_q - lower
    gradient = np.expm1((alpha - 1) * excess) / (alpha - 1) if alpha > 1 else excess
    ratios = (lifts * np.exp(-log_norms)[:, None]) ** alpha
    curvature = (ratios.T @ (q[:, None] * ratios) + (alpha - 1) * np.outer(gradient, gradient)) / alpha
    law = np.zeros(len(channel))
    law[channel @ prior > 0] = q
    return Capacity(lower, max(lower, float(to_q.max())), read_only(prior), read_only(law)), gradient, curvature


def _step(prior: Array, slack: Array, gradient: Array, curvature: Array) -> tuple[Array, Array]:
    """One primal-dual step for: maximise I over prior >= 0 of sum one, g + slack = constant, prior * slack -> 0."""
    centre = _SHRINK * float(prior @ slack) / len(prior)
    # Scaled by the root of the prior: vanishing secrets leave the system well-conditioned.
    root = np.sqrt(prior)
    system = root[:, None] * curvature * root + np.diag(slack)
    solved = np.linalg.solve(system, np.column_stack([root * gradient + centre / root, root]))
    level = float(root @ solved[:, 0]) / float(root @ solved[:, 1])
    change = root * (solved[:, 0] - level * solved[:, 1])
    slack_change = (centre - slack * change) / prior - slack
    prior = prior + _length(prior, change) * change
    return prior / prior.sum(), slack + _length(slack, slack_change) * slack_change


def _length(point: Array, change: Array) -> float:
    """The longest step, at most 1, that leaves every entry a hundredth of what it was."""
    return min(1.0, 0.99 / float(np.max(-change / point, initial=0.99)))
