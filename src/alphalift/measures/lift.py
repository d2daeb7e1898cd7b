"""Lift, alpha-lift and what they mean for a group: Definition 1, Remarks 1-2 and Proposition 2."""

from __future__ import annotations

import math

import numpy as np

from alphalift.arrays import Array, row_means
from alphalift.errors import PromiseError
from alphalift.joint import Joint


def check_alpha(alpha: float, name: str = "alpha", *, most: float = math.inf) -> None:
    """Raise unless alpha is in (1, inf], the range of Definition 1; above `most` only infinity will do."""
    if most < alpha < math.inf:
        raise PromiseError(
            f"{name} is {alpha:g}, expected at most {most:g}, or inf, which is stronger and hardly differs"
        )
    if not alpha > 1:
        raise PromiseError(f"{name} is {alpha:g}, expected a number above 1 or infinity (max-lift)")


def alpha_over(alpha: float) -> float:
    """alpha / (alpha - 1), which is 1 at infinity: the conjugate exponent and the factor of Remark 1."""
    return 1.0 if math.isinf(alpha) else alpha / (alpha - 1)


def lift(p_s_given_y: Array, p_s: Array) -> Array:
    """l(s, y) = P(s|y) / P_S(s), (|S|, |Y|)."""
    return np.asarray(p_s_given_y, dtype=np.float64) / np.asarray(p_s, dtype=np.float64)[:, None]


def information_density(p_s_given_y: Array, p_s: Array) -> Array:
    """i(s, y) = log l(s, y), (|S|, |Y|); minus infinity where y rules s out."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(lift(p_s_given_y, p_s)))


def alpha_lift(p_s_given_y: Array, p_s: Array, alpha: float) -> Array:
    """alpha-lift of every y, (|Y|,): (E_S l^alpha)^(1/alpha), for alpha = inf the largest lift.

    Paper: Definition 1.
    """
    return np.exp(log_alpha_lifts(lift(p_s_given_y, p_s).T, p_s, alpha))


def max_lift(p_s_given_y: Array, p_s: Array) -> Array:
    """The largest lift of every y, (|Y|,): alpha-lift at alpha = inf (Remark 2)."""
    return alpha_lift(p_s_given_y, p_s, math.inf)


def log_alpha_lifts(lifts: Array, p_s: Array, alpha: float) -> Array:
    """log alpha-lift of every row of lifts, (count, |S|) -> (count,); rows satisfy E_S[l] = 1.

    Two forms of one formula. Near alpha = 1 the mean of l^alpha is 1 plus a tiny number, which
    E[l expm1((alpha-1) log l)] = E[l^alpha] - E[l] finds without cancellation; for large alpha the largest
    lift is factored out, so that nothing overflows.
    """
    check_alpha(alpha)
    with np.errstate(divide="ignore"):
        logs = np.log(lifts)
    largest = logs.max(axis=-1)
    if math.isinf(alpha):
        return np.asarray(largest)
    near = (alpha - 1) * largest < 1
    far = ~near
    result = np.empty_like(largest)
    of_near, of_far = (p_s, p_s) if p_s.ndim == 1 else (p_s[near], p_s[far])
    result[near] = np.log1p(row_means(lifts[near] * np.expm1((alpha - 1) * logs[near]), of_near))
    result[far] = alpha * largest[far] + np.log(row_means(np.exp(alpha * (logs[far] - largest[far, None])), of_far))
    return result / alpha


def epsilon_max(joint: Joint, alpha: float) -> float:
    """The smallest epsilon that every mechanism keeps: log of the largest alpha-lift over x, in nats.

    Paper: Proposition 2. At this budget X itself may be published.
    """
    return max(0.0, float(log_alpha_lifts(joint.lift.T, joint.p_s, alpha).max()))


def group_bound(alpha: float, epsilon: float, share: float) -> float:
    """A bound on how many times as likely a group of secrets with this prior share can become: e^eps share^(-1/alpha).

    Hoelder's inequality on E_S[l 1_group], and never more than 1/share, since a posterior is at most one.
    """
    check_alpha(alpha)
    if not 0 < share <= 1:
        raise PromiseError(f"a group's share of the population is in (0, 1], not {share:g}")
    power = 0.0 if math.isinf(alpha) else -math.log(share) / alpha
    return min(math.exp(min(epsilon + power, 709.0)), 1 / share)
