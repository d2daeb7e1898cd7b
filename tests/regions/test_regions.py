"""Every promise: its value, its support function, its parameters."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from every import REGIONS
from hypothesis import given
from hypothesis import strategies as st

from alphalift import LIP, AlphaLift, Joint, MaxLift, PromiseError, grid
from alphalift.solvers.candidates import pull_inside, towards_symbols
from strategies import alphas, epsilons, mechanisms


@given(mechanisms(), alphas, epsilons, st.integers(0, 2**32))
def test_the_support_function_bounds_every_allowed_lift(mechanism, alpha, epsilon, seed):
    region, p_s = AlphaLift(alpha, epsilon), mechanism.joint.p_s
    lifts = mechanism.lift.T[region.allows(mechanism.lift.T, p_s)]
    directions = np.random.default_rng(seed).normal(size=(5, len(p_s)))
    assert np.all(lifts @ (directions * p_s).T <= region.support(directions, p_s) + 1e-9)


@given(st.floats(1.1, 20), epsilons, st.integers(0, 2**32))
def test_the_support_function_is_attained(alpha, epsilon, seed):
    """At l proportional to w^(a*-1), scaled to the budget: Hoelder's equality, where E[l] = 1 is not asked."""
    generator = np.random.default_rng(seed)
    p_s, direction = generator.dirichlet(np.ones(4)), generator.random(4)
    region = AlphaLift(alpha, epsilon)
    best = direction ** (1 / (alpha - 1))
    best *= region.budget / (p_s @ best**alpha) ** (1 / alpha)
    assert p_s @ (direction * best) == pytest.approx(float(region.support(direction[None], p_s)[0]), rel=1e-9)


@pytest.mark.parametrize("alpha", [1.0001, 1.5, 3, 1e6, math.inf])
def test_support_is_finite_for_every_alpha(alpha):
    support = AlphaLift(alpha, 0.1).support(np.array([[0.0, 0.0], [1e-200, 1e-200], [-1.0, 2.0]]), np.array([0.5, 0.5]))
    assert np.all(np.isfinite(support))
    assert support[0] == 0


@given(mechanisms(), alphas)
def test_the_answer_that_reveals_nothing_is_always_allowed(mechanism, alpha):
    assert AlphaLift(alpha, 0).allows(np.ones((1, len(mechanism.joint.p_s))), mechanism.joint.p_s).all()


def test_max_lift_is_alpha_lift_at_infinity():
    assert MaxLift(0.1) == AlphaLift(math.inf, 0.1)
    assert hash(MaxLift(0.1)) == hash(AlphaLift(math.inf, 0.1))
    assert MaxLift(0.1) != AlphaLift(3, 0.1)
    assert MaxLift(0.1) != 0.1
    assert repr(MaxLift(0.1)) == "MaxLift(epsilon=0.1)"
    assert MaxLift(0.1).largest_lift == math.exp(0.1)
    assert AlphaLift(3, 0.1).largest_lift is None


def test_a_parameter_may_be_written_in_many_ways():
    assert AlphaLift("3", Decimal("0.1")) == AlphaLift(Fraction(3), "1/10") == AlphaLift(3, 0.1)
    assert AlphaLift("inf", 0.1) == MaxLift("0.1")


def test_rounding_a_parameter_strengthens_the_promise():
    beyond = AlphaLift(Fraction(3) + Fraction(1, 10**30), Fraction(1, 10) + Fraction(1, 10**30))
    assert beyond.alpha > 3
    assert beyond.epsilon == 0.1


@pytest.mark.parametrize(
    ("alpha", "epsilon", "name"),
    [
        (1, 0.1, "alpha"),
        (0.5, 0.1, "alpha"),
        (math.nan, 0.1, "alpha"),
        ("x", 0.1, "alpha"),
        (None, 0.1, "alpha"),
        (3, -0.1, "epsilon"),
        (3, math.nan, "epsilon"),
        (3, math.inf, "epsilon"),
        (3, "x", "epsilon"),
    ],
)
def test_bad_parameters_are_refused_by_name(alpha, epsilon, name):
    with pytest.raises(PromiseError, match=name):
        AlphaLift(alpha, epsilon)


def test_grid_is_every_combination():
    regions = grid(AlphaLift, alpha=[10, 3], epsilon=[0.1, 0.2])
    assert regions == (AlphaLift(10, 0.1), AlphaLift(10, 0.2), AlphaLift(3, 0.1), AlphaLift(3, 0.2))
    assert grid(MaxLift, epsilon=[0.1]) == (MaxLift(0.1),)


@pytest.mark.parametrize("region", REGIONS.values(), ids=REGIONS)
def test_revealing_nothing_has_the_value_of_lifts_of_one(region):
    p_s, ones = np.array([0.2, 0.3, 0.5]), np.ones((1, 3))
    assert region.value_of_nothing(p_s) == region.value(ones, p_s)[0]
    assert (region & region).value(ones, p_s)[0] == 0, "no share of any budget is used"


def test_repairs_know_how_far_a_loose_upper_end_is_from_revealing_nothing():
    """Two lifts are a bit below the lower end: every symbol raises one and lowers the other, so that only P_X helps."""
    joint, region = Joint(np.diag([4, 4, 4]) + 1, counts=True), LIP(lower=0.1, upper=2)
    outside = towards_symbols(joint, region) * (1 + 1e-7) - 1e-7 * joint.p_x
    repaired = pull_inside(outside, joint, region)
    assert len(repaired) == len(outside)
    assert region.allows(repaired @ joint.lift.T, joint.p_s).all()


@pytest.mark.parametrize("lower", [0.1, 1, 650])
def test_an_upper_end_beyond_floats_leaves_the_lower_one(lower):
    region, p_s = LIP(lower=lower, upper=800), np.array([0.5, 0.5])
    lifts = np.array([[2 - math.exp(-lower * share), math.exp(-lower * share)] for share in (0.9, 1.1)])
    assert region.allows(lifts, p_s).tolist() == [True, False]
