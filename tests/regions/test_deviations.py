"""Tiny budgets: the kernels' set in deviations from the prior contains the promise, hardly more, and proves as much in files."""

import mpmath
import numba.experimental.function_type  # noqa: F401  how a pointer is typed; kernels called from Python need it
import numpy as np
import pytest

from alphalift import KL, LDP, LIP, AlphaLift, ChiSquare, Joint, MaxLift, Optimal, Renyi, TotalVariation, design
from alphalift.convex import ConvexSet
from alphalift.document import to_document
from alphalift.geometry.concave import ConcaveProgram
from alphalift.geometry.support import supports
from alphalift.measures.information import entropy
from alphalift.regions import legible

JOINT = Joint(np.random.default_rng(3).integers(5, 400, (4, 7)).tolist(), counts=True)
TINY = {
    "AlphaLift": lambda e: AlphaLift(3, e),
    "AlphaLift near 1": lambda e: AlphaLift(1.2, e),
    "AlphaLift, large": lambda e: AlphaLift(20, e),
    "Renyi": lambda e: Renyi(2.5, e),
    "ChiSquare": ChiSquare,
    "KL": KL,
    "MaxLift": MaxLift,
    "LIP": LIP,
    "LIP asymmetric": lambda e: LIP(lower=3 * e, upper=e),
    "LDP": LDP,
    "TotalVariation": TotalVariation,
}
CURVED = {"AlphaLift", "AlphaLift near 1", "AlphaLift, large", "Renyi", "ChiSquare", "KL"}


def ends(region, p_s, generator):
    """Lifts at the end of what is allowed, in random directions, (200, |S|)."""
    directions = generator.normal(size=(200, len(p_s)))
    directions -= (directions @ p_s)[:, None]
    inside, outside = np.zeros(200), np.full(200, 0.1)
    for _ in range(60):
        middle = (inside + outside) / 2
        kept = region.value(1 + middle[:, None] * directions, p_s) <= region.budget
        inside, outside = np.where(kept, middle, inside), np.where(kept, outside, middle)
    return 1 + inside[:, None] * directions


def reach(region, lifts, p_s, multipliers):
    """u.m / sigma(u) of every lift and every u, slacks at their best: (lifts, multipliers)."""
    constraint = region.constraint(p_s)
    assert constraint.centred
    body = ConvexSet.intersecting([constraint])
    sigmas = []
    for u in multipliers:
        supports(body.constraints, u, sigma := np.empty(1))
        sigmas.append(sigma[0] + (np.maximum(0.0, -(body.slacks @ u)) @ body.widths if len(body.widths) else 0.0))
    return (lifts * p_s) @ body.directions.T @ multipliers.T / np.array(sigmas)


@pytest.mark.parametrize("epsilon", [1e-8, 1e-6])
@pytest.mark.parametrize("name", TINY)
def test_the_kernels_set_contains_the_promise(name, epsilon):
    region, generator, p_s = TINY[name](epsilon), np.random.default_rng(5), JOINT.p_s
    size = len(region.constraint(p_s).directions)
    multipliers = generator.exponential(size=(500, size)) * (generator.random((500, size)) < 0.5) + 1e-9
    assert (reach(region, ends(region, p_s, generator), p_s, multipliers) <= 1 + 1e-5).all()


@pytest.mark.parametrize("name", sorted(CURVED))
def test_the_ball_is_hardly_wider(name):
    """The u along a lift's own deviation separates what lies a little farther out."""
    region, p_s = TINY[name](1e-7), JOINT.p_s
    lifts = ends(region, p_s, np.random.default_rng(6))
    found = np.diagonal(reach(region, lifts, p_s, (lifts - 1) / np.abs(lifts - 1).max()))
    assert found.min() > 0.99


@pytest.mark.parametrize("name", TINY)
def test_an_inverted_dual_is_valid_and_at_least_as_good(name):
    """Of the promise's own support function, at w = v + C with C taken back: on both sides of the end."""
    region, generator, p_s = TINY[name](1e-6), np.random.default_rng(7), JOINT.p_s
    lifts = ends(region, p_s, generator)
    around = np.concatenate([lifts, 1 + 3 * (lifts - 1)]) * p_s
    (constraint,) = region.constraints(JOINT)
    body = ConvexSet.intersecting([constraint])
    for u in generator.exponential(size=(50, len(constraint.directions))):
        dual = constraint.invert(u)
        w, sigma = region.inequality([dual], p_s)
        says = around @ w - sigma
        supports(body.constraints, u, own := np.empty(1))
        room = np.maximum(0.0, -(body.slacks @ u)) @ body.widths if len(body.widths) else 0.0
        scale = max(1.0, np.abs(w).max())
        assert (says[:200] <= 1e-9 * own + 1e-14 * scale).all()
        assert (says >= around @ (body.directions.T @ u) - own - room - 1e-14 * scale).all()
        assert dual.w @ p_s + dual.shift == pytest.approx(u @ (constraint.directions @ p_s), abs=1e-14 * scale)


@pytest.mark.parametrize("name", TINY)
def test_tiny_budgets_are_solved_and_proven(name):
    """From perfect privacy upwards: gaps stay small, nothing falls, and the file proves the bound."""
    everything, before = entropy(JOINT.p_x[None])[0], 0.0
    for epsilon in (0, 1e-9, 1e-7, 1e-6, 1e-5):
        found = design(JOINT, TINY[name](epsilon), solver=Optimal(time_limit=30))
        claims = to_document(found)["claims"]
        assert found.relative_gap <= 1e-4
        assert found.utility >= before - 1e-4 * everything
        assert float(claims["optimum_at_most"]) - float(claims["utility_at_least"]) <= 1.1e-4 * everything
        before = found.utility


def test_symbols_far_outside_widen_the_set():
    """A set that is a billion times narrower than the joint is widened by a thousand; what it allowed stays inside."""
    region = MaxLift(1e-9)
    (plain,), (wide,) = [region.constraint(JOINT.p_s)], region.constraints(JOINT)
    times = plain.directions[0, 0] / wide.directions[0, 0]
    moments = ConcaveProgram(
        ConvexSet.intersecting([wide]), None, np.ones(len(JOINT.p_x)), JOINT.p_s_given_x.T, 0.1
    ).moments
    assert times > 10
    assert np.abs(moments).max() == pytest.approx(1e6)


@pytest.mark.parametrize("epsilon", [1e-14, 1e-12, 5e-10])
@pytest.mark.parametrize("name", sorted(CURVED - {"ChiSquare"}))
def test_a_legible_ball_lies_within_the_promise_and_nearly_fills_it(name, epsilon):
    """By fractions of 60 digits: floats cannot tell e^(1e-14) from 1 + 1e-12."""
    region, p_s, generator = TINY[name](epsilon), JOINT.p_s, np.random.default_rng(7)
    ball = legible(region, p_s)
    assert isinstance(ball, ChiSquare)
    directions = generator.normal(size=(50, len(p_s)))
    directions[: len(p_s)], directions[len(p_s) : 2 * len(p_s)] = np.eye(len(p_s)), -np.eye(len(p_s))
    with mpmath.workdps(60):
        prior = [mpmath.mpf(p) / mpmath.fsum(p_s) for p in p_s]
        values = []
        for direction in directions:
            centred = [d - mpmath.fdot(prior, direction) for d in direction]
            size = mpmath.sqrt(mpmath.fdot(prior, [d * d for d in centred]))
            lifts = [1 + mpmath.mpf(ball.epsilon) * d / size for d in centred]
            values.append(_log_value(region, lifts, prior) / mpmath.mpf(epsilon))
    assert max(values) <= 1
    assert min(values) > 0.999


def _log_value(region, lifts, prior):
    if isinstance(region, KL):
        return mpmath.fdot(prior, [lift * mpmath.log(lift) for lift in lifts])
    order = mpmath.mpf(region.order if isinstance(region, Renyi) else region.alpha)
    power = mpmath.log(mpmath.fdot(prior, [lift**order for lift in lifts]))
    return power / (order - 1) if isinstance(region, Renyi) else power / order


def test_a_budget_below_what_floats_tell_apart_is_designed_for():
    """S and X independent to 1e-6: publishing X breaks e^(1e-13), though floats of alpha-lifts cannot see it."""
    generator = np.random.default_rng(2)
    product = np.outer(generator.dirichlet(np.ones(3)), generator.dirichlet(np.ones(5)))
    counts = np.rint(1e12 * product * (1 + 1e-6 * generator.uniform(-1, 1, product.shape))).astype(int)
    solution = design(Joint(counts.tolist(), counts=True), AlphaLift(3, 1e-13), solver=Optimal(time_limit=20))
    assert solution.relative_gap < 1e-3
    assert 0.5 < solution.normalized_utility < 1


@pytest.mark.parametrize("region", [AlphaLift(3, 1e-8), MaxLift(1e-12), LIP(1e-12), ChiSquare(1e-9), AlphaLift(3, 0)])
def test_what_floats_tell_apart_stays_as_it_is(region):
    assert legible(region, JOINT.p_s) is region
