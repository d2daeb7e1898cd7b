"""Two secrets: the ends of the allowed lifts are proven and near, whatever the budget and the prior."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq
from hypothesis import example, given
from hypothesis import strategies as st

from alphalift import KL, AlphaLift, Custom, Joint, MaxLift, Optimal, TotalVariation, design
from alphalift.document import to_document
from alphalift.proof import checker
from alphalift.proof.ends import inner_ends, outer_ends
from alphalift.proof.statement import checkable
from regions.every import FAMILIES

NEAR = 3e-12


def prior(first, second):
    return Joint([[first, 0], [0, second]], counts=True)


def lifts(joint, d):
    first, second = joint.s_weights
    exact = (1 + Fraction(d), 1 - Fraction(d) * Fraction(first, second))
    return [fmpq(lift.numerator, lift.denominator) for lift in exact]


def assert_inner(joint, region, d):
    """Kept, or the float next to where lifts end, which are kept."""
    first, second = joint.s_weights
    reached = min(max(Fraction(d), Fraction(-1)), Fraction(second, first))
    assert abs(reached - Fraction(d)) <= abs(reached) * 2**-51
    assert checkable(region).keeps(lifts(joint, reached), list(joint.s_weights))


def assert_outer(joint, region, d):
    """What the checker asks of a certificate's end."""
    promise, found = checkable(region), lifts(joint, d)
    assert d != 0
    assert min(found) <= 0 or promise.excludes_beyond(found, list(joint.s_weights))


def powers(least, most):
    return st.floats(math.log10(least), math.log10(most)).map(lambda exponent: 10**exponent)


@given(
    st.sampled_from(sorted(FAMILIES)),
    powers(1e-15, 5),
    powers(1, 1e9).map(round),
    powers(1, 1e9).map(round),
)
@example("AlphaLift", 1e-300, 3, 7)
@example("KL & TotalVariation & LIP", 1e-300, 3, 7)
@example("MaxLift", 5e-324, 9, 1)
@example("TotalVariation", 1e-9, 1, 10**40)
@example("KL", 0.0, 3, 7)
@example("LDP", 5.0, 1, 10**9)
def test_ends_are_proven_and_near(family, budget, first, second):
    joint, region = prior(first, second), FAMILIES[family](budget)
    for inner, outer in zip(inner_ends(joint, region, region), outer_ends(joint, region), strict=True):
        assert_inner(joint, region, inner)
        assert_outer(joint, region, outer)
        assert abs(inner) <= abs(outer)
        assert abs(outer) - abs(inner) <= max(NEAR * abs(outer), 5e-324)


@given(
    st.sampled_from(sorted(FAMILIES)),
    powers(1e-15, 5),
    powers(1, 1e9).map(round),
    powers(1, 1e9).map(round),
)
def test_columns_keep_the_promise_and_a_margin_that_is_small(family, budget, first, second):
    joint, region = prior(first, second), FAMILIES[family](budget)
    smaller = region.tightened(2e-11)
    found, own = inner_ends(joint, region, smaller), inner_ends(joint, smaller, smaller)
    for inner, there in zip(found, own, strict=True):
        assert_inner(joint, region, inner)
        assert abs(inner) >= abs(there) * (1 - NEAR)


def test_a_tiny_budget_is_neither_exceeded_nor_lost():
    """E l^2 = 1 + d^2 P(1)/P(2): floats lay 11% outside."""
    joint, region = prior(3, 7), AlphaLift(2, 1e-15)
    end = math.sqrt(math.expm1(2e-15) * 7 / 3)
    for found in (inner_ends(joint, region, region), outer_ends(joint, region)):
        np.testing.assert_allclose(found, [-end, end], rtol=1e-12)


def test_a_perfect_promise_allows_no_deviation():
    for region in (MaxLift(0), KL(0) & MaxLift(0.2)):
        assert inner_ends(prior(3, 7), region, region) == (0, 0)
        assert outer_ends(prior(3, 7), region) == (-5e-324, 5e-324)


def test_a_promise_that_the_checker_does_not_know_has_the_ends_of_floats():
    known = TotalVariation(0.1)
    own = Custom("distance", 0.1, known.value, known.support)
    inner, outer = inner_ends(prior(3, 7), own, own), outer_ends(prior(3, 7), own)
    np.testing.assert_allclose(inner, inner_ends(prior(3, 7), known, known), rtol=1e-12)
    assert outer[0] < inner[0] < 0 < inner[1] < outer[1]


def assert_proven(joint, region):
    verdicts = checker.check(to_document(design(joint, region, solver=Optimal(threads=1))))
    assert all(verdict.proven for verdict in verdicts), verdicts


def test_a_rare_secret_with_a_small_budget_has_a_file():
    """Floats found an end too far inside, so that the file's was not proven to lie outside."""
    assert_proven(Joint([[1, 0, 0], [11821, 203102443, 304653665]], counts=True), TotalVariation(2.77e-6))


@pytest.mark.parametrize("family", FAMILIES)
def test_files_of_tiny_budgets_and_rare_secrets_are_proven(family):
    rng = np.random.default_rng(7)
    for budget, rarity in itertools.product((1e-300, 1e-15, 2.77e-6, 5), (1, 10**9)):
        counts = rng.integers([[0], [1]], 9, (2, int(rng.integers(2, 6))))
        counts[0, 0] += 1
        counts[1] *= rarity * rng.integers(1, 9, counts.shape[1])
        counts = counts if rng.random() < 0.5 else counts[::-1]
        assert_proven(Joint(counts.tolist(), counts=True), FAMILIES[family](budget))
