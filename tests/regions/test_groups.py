"""How likely a promise lets a group of secrets become: what convex programs, closed forms and the checker say."""

import math
from fractions import Fraction

import numpy as np
import pytest
from every import FAMILIES
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st
from programs import largest_lift

from alphalift import KL, LDP, LIP, AlphaLift, ChiSquare, Custom, MaxLift, Renyi, TotalVariation
from alphalift.exact import exact
from alphalift.proof.statement import checkable

FIRST = np.array([True, False])


def limit(region, share):
    return region.group_limit(FIRST, np.array([share, 1 - share]))


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_no_lifts_of_several_secrets_reach_more_and_some_reach_it(family):
    generator = np.random.default_rng(4)
    for budget in (0.02, 0.3, 2.0):
        p_s = generator.dirichlet(np.ones(4))
        for group in np.array([[1, 0, 0, 0], [0, 1, 0, 1], [1, 1, 1, 0]], dtype=bool):
            found = family(budget).group_limit(group, p_s)
            assert found == pytest.approx(largest_lift(family(budget), group, p_s), abs=1e-6), (budget, group)


shares, budgets = st.floats(1e-6, 1 - 1e-6), st.floats(1e-6, 30)


@given(shares, budgets, budgets)
def test_closed_forms(p, e, other):
    most = 1 / p
    assert limit(MaxLift(e), p) == pytest.approx(min(math.exp(e), most))
    assert limit(LIP(lower=other, upper=e), p) == pytest.approx(min(math.exp(e), (1 - (1 - p) * math.exp(-other)) / p))
    assert limit(LDP(e), p) == pytest.approx(math.exp(e) / (1 + p * math.expm1(e)))
    assert limit(TotalVariation(e), p) == pytest.approx(min(1 + e / p, most))
    assert limit(ChiSquare(e), p) == pytest.approx(min(1 + e * math.sqrt((1 - p) / p), most))
    assert limit(AlphaLift(2, e), p) == pytest.approx(min(1 + math.sqrt(math.expm1(2 * e) * (1 - p) / p), most))
    assert limit(TotalVariation(e) & LDP(other), p) == min(limit(TotalVariation(e), p), limit(LDP(other), p))


@given(
    st.sampled_from(
        [lambda e: AlphaLift(3, e), lambda e: AlphaLift(1.2, e), lambda e: Renyi(40, e), KL, ChiSquare, LIP]
    ),
    st.floats(1e-6, 0.999),
    st.floats(1e-4, 30),
)
def test_the_checker_proves_what_is_just_inside_and_refutes_what_is_just_outside(family, share, budget):
    region, p = family(budget), exact(share)
    deviation = exact(limit(region, share)) - 1
    for factor, kept in ((1 - Fraction(1, 10**6), True), (1 + Fraction(1, 10**6), False)):
        first = 1 + deviation * factor
        rest = (1 - p * first) / (1 - p)
        lifts = [fmpq(lift.numerator, lift.denominator) for lift in (first, rest)]
        weights = [p.numerator, p.denominator - p.numerator]
        assert (rest >= 0 and checkable(region).keeps(lifts, weights)) == kept


def test_figures_that_were_only_bounds():
    assert limit(AlphaLift(2, 0.1), 0.5) == pytest.approx(1.4705, abs=1e-4)
    assert limit(LIP(1), 0.5) == pytest.approx(1.632, abs=1e-3)
    assert MaxLift(1).group_limit(np.array([True]), np.array([1.0])) == 1, "the only secret is certain already"
    assert limit(KL(0), 0.2) == limit(LDP(0), 0.2) == 1


def test_what_nobody_knows_to_be_symmetric_has_a_bound():
    guess = Custom("guess", 0.8, lambda lifts, p_s: (lifts * p_s).max(axis=-1), lambda w, p_s: 0.8 * w.max(axis=-1))
    assert not guess.symmetric
    assert not (guess & KL(1)).symmetric
    assert limit(guess, 0.2) == pytest.approx(4)
    assert limit(guess & MaxLift(0.1), 0.2) == pytest.approx(math.exp(0.1))
    assert (KL(1) & LIP(1)).symmetric
