"""Support functions: never below what an allowed lift reaches, and reached, found by convex programs of another maker."""

import cvxpy
import numba.experimental.function_type  # noqa: F401  how a pointer is typed; kernels called from Python need it
import numpy as np
import pytest

from alphalift import KL, LDP, LIP, AlphaLift, ChiSquare, MaxLift, Renyi, TotalVariation
from alphalift.convex import ConvexSet
from alphalift.geometry.support import supports

# The region, its convex constraints in cvxpy, and whether its support function knows that E l = 1.
CASES = {
    "AlphaLift": (
        AlphaLift(3, 0.2),
        lambda m, p: [cvxpy.norm(cvxpy.multiply(p ** (1 / 3), m), 3) <= np.exp(0.2)],
        False,
    ),
    "MaxLift": (MaxLift(0.2), lambda m, p: [m <= np.exp(0.2)], False),
    "LIP": (LIP(lower=0.5, upper=0.2), lambda m, p: [m <= np.exp(0.2), m >= np.exp(-0.5)], False),
    "LDP": (LDP(0.4), lambda m, p: [cvxpy.max(m) <= np.exp(0.4) * cvxpy.min(m)], True),
    "TotalVariation": (TotalVariation(0.1), lambda m, p: [p @ cvxpy.abs(m - 1) <= 0.2], True),
    "ChiSquare": (ChiSquare(0.3), lambda m, p: [cvxpy.norm(cvxpy.multiply(p**0.5, m - 1)) <= 0.3], True),
    "KL": (KL(0.05), lambda m, p: [p @ (-cvxpy.entr(m)) <= 0.05], True),
    "Renyi": (Renyi(2, 0.1), lambda m, p: [cvxpy.norm(cvxpy.multiply(p**0.5, m)) <= np.exp(0.05)], False),
}


@pytest.mark.parametrize("name", CASES)
def test_support_is_the_maximum(name):
    region, constraints, normalised = CASES[name]
    generator = np.random.default_rng(0)
    for _ in range(4):
        p_s, w = generator.dirichlet(np.ones(4)), generator.normal(size=4)
        lift = cvxpy.Variable(4)
        # Distances from 1 are bounded without a word about the sign of l; the others need it.
        rows = [*constraints(lift, p_s), *([p_s @ lift == 1] if normalised else [lift >= 0])]
        best = cvxpy.Problem(cvxpy.Maximize((p_s * w) @ lift), rows).solve(solver=cvxpy.CLARABEL)
        assert region.support(w[None], p_s)[0] == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_the_kernels_set_contains_the_region_and_nothing_else(name):
    """On lifts with E l = 1, half of them allowed: some direction of the kernels separates the others."""
    region, _, _ = CASES[name]
    generator = np.random.default_rng(1)
    p_s = generator.dirichlet(np.full(4, 3.0))
    body = ConvexSet.intersecting([region.constraint(p_s)])
    posteriors = 0.8 * p_s + 0.2 * generator.dirichlet(np.ones(4), size=300)
    lifts = posteriors / p_s
    allowed = region.allows(lifts, p_s)
    directions = generator.exponential(size=(4000, len(body.directions)))
    if name == "KL":
        directions[:, -1] = directions[:, :-1].mean(axis=1) * (1 + 0.05 * generator.normal(size=4000))
    moments = posteriors @ body.directions.T
    for w in directions:
        supports(body.constraints, w, sigma := np.empty(1))
        reach = moments[allowed] @ w
        # What slacks may add, each within its width.
        room = np.maximum(0.0, -(body.slacks @ w)) @ body.widths if len(body.widths) else 0.0
        assert (reach <= sigma + room + 1e-12).all()
