"""What a promise allows, found by convex programs of another maker."""

import math

import cvxpy
import numpy as np

from alphalift import KL, LDP, LIP, AlphaLift, ChiSquare, Renyi, TotalVariation


def largest_lift(region, group, p_s):
    """The largest P(G|y) / P(G) over all lifts of the secrets that the promise allows."""
    lift = cvxpy.Variable(len(p_s))
    rows = [p_s @ lift == 1, lift >= 0, *(row for part in region.components for row in _rows(part, lift, p_s))]
    weights = np.where(group, p_s, 0.0) / p_s[group].sum()
    return float(cvxpy.Problem(cvxpy.Maximize(weights @ lift), rows).solve(solver=cvxpy.CLARABEL))


def _rows(region, lift, p_s):
    match region:
        case AlphaLift():
            return _norm(region.alpha, region.epsilon, lift, p_s)
        case Renyi():
            share = 1 if math.isinf(region.order) else (region.order - 1) / region.order
            return _norm(region.order, region.epsilon * share, lift, p_s)
        case LIP():
            return [lift <= math.exp(region.upper), lift >= math.exp(-region.lower)]
        case LDP():
            return [cvxpy.max(lift) <= math.exp(region.epsilon) * cvxpy.min(lift)]
        case TotalVariation():
            return [p_s @ cvxpy.abs(lift - 1) <= 2 * region.epsilon]
        case ChiSquare():
            return [cvxpy.norm(cvxpy.multiply(p_s**0.5, lift - 1)) <= region.epsilon]
        case KL():
            return [p_s @ -cvxpy.entr(lift) <= region.epsilon]


def _norm(alpha, epsilon, lift, p_s):
    if math.isinf(alpha):
        return [lift <= math.exp(epsilon)]
    return [cvxpy.norm(cvxpy.multiply(p_s ** (1 / alpha), lift), alpha) <= math.exp(epsilon)]
