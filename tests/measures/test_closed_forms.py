"""Channels whose measures are known on paper: symmetric, erasure, randomised response, silence, identity."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import random_channels

from alphalift import PromiseError
from alphalift.measures import (
    additive_bayes_leakage,
    alpha_leakage,
    bayes_capacity,
    best_guess,
    channel_capacity,
    chi_square,
    kullback_leibler,
    local_differential_privacy,
    local_information_privacy,
    max_lift_leakage,
    maximal_alpha_leakage,
    maximal_leakage,
    min_entropy_leakage,
    min_lift_leakage,
    multiplicative_bayes_leakage,
    posterior_vulnerability,
    prior_vulnerability,
    renyi_divergence,
    renyi_divergences,
    sibson_information,
    total_variation,
)

HALVES = np.array([0.5, 0.5])
finite_orders = st.floats(0.05, 60.0).filter(lambda alpha: abs(alpha - 1) > 1e-4)


@given(st.floats(0.01, 0.5), finite_orders)
def test_binary_symmetric_channel(flip, alpha):
    channel = np.array([[1 - flip, flip], [flip, 1 - flip]])
    information = math.log(2) + flip * math.log(flip) + (1 - flip) * math.log(1 - flip)
    of_order = math.log(2) + math.log(flip**alpha + (1 - flip) ** alpha) / (alpha - 1)
    assert sibson_information(channel, HALVES, 1) == pytest.approx(information, abs=1e-12)
    assert channel_capacity(channel) == pytest.approx(information, abs=1e-10)
    assert sibson_information(channel, HALVES, alpha) == pytest.approx(of_order, abs=1e-11)
    assert alpha_leakage(channel, HALVES, alpha) == pytest.approx(of_order, abs=1e-11)
    if alpha > 1:
        assert maximal_alpha_leakage(channel, np.array([0.8, 0.2]), alpha) == pytest.approx(of_order, abs=1e-10)
    assert maximal_leakage(channel) == pytest.approx(math.log(2 * (1 - flip)))
    assert min_entropy_leakage(channel, HALVES) == pytest.approx(math.log(2 * (1 - flip)))
    assert additive_bayes_leakage(channel, HALVES) == pytest.approx(0.5 - flip, abs=1e-15)


@given(st.floats(0.0, 0.99), finite_orders)
def test_erasure_channel(erased, alpha):
    channel = np.array([[1 - erased, 0], [0, 1 - erased], [erased, erased]])
    of_order = alpha / (alpha - 1) * math.log((1 - erased) * 2 ** (1 - 1 / alpha) + erased)
    assert sibson_information(channel, HALVES, alpha) == pytest.approx(of_order, rel=1e-10, abs=1e-11)
    if alpha > 1:
        assert maximal_alpha_leakage(channel, np.array([0.9, 0.1]), alpha) == pytest.approx(of_order, abs=1e-10)
    assert channel_capacity(channel) == pytest.approx((1 - erased) * math.log(2), abs=1e-10)
    assert sibson_information(channel, HALVES, 1) == pytest.approx((1 - erased) * math.log(2))
    assert maximal_leakage(channel) == pytest.approx(math.log(2 - erased))
    assert bayes_capacity(channel) == pytest.approx(2 - erased)
    assert posterior_vulnerability(channel, HALVES) == pytest.approx(1 - erased / 2)
    assert multiplicative_bayes_leakage(channel, np.array([0.9, 0.1])) == pytest.approx((1 - 0.1 * erased) / 0.9)


@given(st.integers(2, 6), st.floats(0.01, 3.0))
def test_randomised_response_with_a_uniform_secret(size, epsilon):
    channel = (np.ones((size, size)) + math.expm1(epsilon) * np.eye(size)) / (size + math.expm1(epsilon))
    p_s, lifts = np.full(size, 1 / size), channel * size
    smallest = size / (size + math.expm1(epsilon))
    largest = math.exp(epsilon) * smallest
    np.testing.assert_allclose(local_differential_privacy(lifts), epsilon)
    np.testing.assert_allclose(max_lift_leakage(lifts), math.log(largest), atol=1e-15)
    np.testing.assert_allclose(min_lift_leakage(lifts), math.log(smallest), atol=1e-15)
    widest = max(math.log(largest), -math.log(smallest))
    np.testing.assert_allclose(local_information_privacy(lifts), widest)
    np.testing.assert_allclose(total_variation(lifts, p_s), (largest - 1) / size, atol=1e-15)
    squares = (largest - 1) ** 2 + (size - 1) * (smallest - 1) ** 2
    np.testing.assert_allclose(chi_square(lifts, p_s), math.sqrt(squares / size))
    entropies = (largest * math.log(largest) + (size - 1) * smallest * math.log(smallest)) / size
    np.testing.assert_allclose(kullback_leibler(lifts, p_s), entropies, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(best_guess(lifts, p_s), largest / size)


def test_an_output_that_rules_a_secret_out():
    lifts = np.array([[0.0, 2.0], [1.0, 1.0]])
    np.testing.assert_array_equal(min_lift_leakage(lifts), [-math.inf, 0])
    np.testing.assert_array_equal(local_information_privacy(lifts), [math.inf, 0])
    np.testing.assert_array_equal(local_differential_privacy(lifts), [math.inf, 0])
    np.testing.assert_allclose(max_lift_leakage(lifts), [math.log(2), 0])
    for alpha in (0.01, 0.5, 1, 3, math.inf):
        np.testing.assert_allclose(renyi_divergences(lifts, HALVES, alpha), [math.log(2), 0], atol=1e-14)


@pytest.mark.parametrize("alpha", [0.3, 1, 1.5, 4, 30, math.inf])
def test_a_channel_without_information_leaks_nothing(alpha):
    p_s, p_y = np.array([0.2, 0.5, 0.3]), np.array([0.1, 0.3, 0.6])
    channel, lifts = np.outer(p_y, np.ones(3)), np.ones((3, 3))
    assert sibson_information(channel, p_s, alpha) == pytest.approx(0, abs=1e-15)
    assert alpha_leakage(channel, p_s, alpha) == pytest.approx(0, abs=1e-14)
    assert maximal_leakage(channel) == pytest.approx(0, abs=1e-15)
    assert channel_capacity(channel) == pytest.approx(0, abs=1e-15)
    assert additive_bayes_leakage(channel, p_s) == pytest.approx(0, abs=1e-15)
    assert min_entropy_leakage(channel, p_s) == pytest.approx(0, abs=1e-15)
    assert posterior_vulnerability(channel, p_s) == pytest.approx(prior_vulnerability(p_s)) == 0.5
    if alpha >= 1:
        assert maximal_alpha_leakage(channel, p_s, alpha) == pytest.approx(0, abs=1e-15)
    for measure in (total_variation, chi_square, kullback_leibler):
        np.testing.assert_array_equal(measure(lifts, p_s), 0)
    for measure in (max_lift_leakage, min_lift_leakage, local_information_privacy, local_differential_privacy):
        np.testing.assert_array_equal(measure(lifts), 0)
    np.testing.assert_allclose(renyi_divergences(lifts, p_s, alpha), 0, atol=1e-15)


@given(st.integers(2, 6), finite_orders)
def test_publishing_a_uniform_secret_leaks_all_of_it(size, alpha):
    p_s = np.full(size, 1 / size)
    for measure in (sibson_information, alpha_leakage):
        assert measure(np.eye(size), p_s, alpha) == pytest.approx(math.log(size))
    assert channel_capacity(np.eye(size)) == pytest.approx(math.log(size))
    assert maximal_leakage(np.eye(size)) == pytest.approx(math.log(size))
    assert posterior_vulnerability(np.eye(size), p_s) == pytest.approx(1)


@pytest.mark.parametrize("alpha", [0.4, 1.5, 3, 12])
def test_alpha_leakage_from_arimotos_entropies(alpha):
    """No oracle has it: H_alpha(S) - H_alpha(S|Y) from the definitions, 40 digits."""
    with mpmath.workdps(40):
        for channel, prior in random_channels():
            joint = [[mpmath.mpf(float(v)) for v in row] for row in channel * prior]

            def norm(row):
                return mpmath.fsum(v**alpha for v in row if v > 0) ** (mpmath.mpf(1) / alpha)

            before, after = norm([mpmath.fsum(c) for c in zip(*joint, strict=True)]), mpmath.fsum(map(norm, joint))
            gain = mpmath.mpf(alpha) / (alpha - 1) * mpmath.log(after / before)
            assert alpha_leakage(channel, prior, alpha) == pytest.approx(float(gain), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("alpha", [0.5, 1 - 1e-9, 1])
@pytest.mark.parametrize("deviation", [1e-3, 1e-6, 1e-8])
def test_divergences_keep_their_digits_near_independence(alpha, deviation):
    """Rounded lifts have E[l] = 1 only to 1e-16, and at 1e-8 the divergence is no larger: E[l log l] would be noise."""
    p_s, deviations = np.array([0.3, 0.6, 0.1]), np.array([1, -1, 3])
    with mpmath.workdps(60):
        moved = [1 + mpmath.mpf(deviation) * int(d) for d in deviations]
        pairs = list(zip((mpmath.mpf(3) / 10, mpmath.mpf(6) / 10, mpmath.mpf(1) / 10), moved, strict=True))
        if alpha == 1:
            exact = mpmath.fsum(p * v * mpmath.log(v) for p, v in pairs)
        else:
            order = mpmath.mpf(alpha)
            exact = mpmath.log(mpmath.fsum(p * v**order for p, v in pairs)) / (order - 1)
    ours = renyi_divergences(1 + deviation * deviations[None], p_s, alpha)[0]
    assert ours == pytest.approx(float(exact), rel=1e-15 / deviation, abs=0)


def test_renyi_divergence_where_p_escapes_q():
    p, q = np.array([0.5, 0.25, 0.25]), np.array([0.5, 0.5, 0.0])
    assert renyi_divergence(p, q, 1) == renyi_divergence(p, q, 2) == math.inf
    assert renyi_divergence(p, q, 0.5) == pytest.approx(-2 * math.log(0.5 + math.sqrt(0.125)))
    assert renyi_divergence(np.array([1.0, 0.0]), np.array([0.0, 1.0]), 0.5) == math.inf
    assert renyi_divergence(p[:2] / 0.75, q[:2], 1) == pytest.approx(math.log(4 / 3) * 2 / 3 + math.log(2 / 3) / 3)


@pytest.mark.parametrize("alpha", [0.0, -1.0, math.nan])
def test_orders_that_are_not_positive_are_refused(alpha):
    with pytest.raises(PromiseError, match="alpha"):
        sibson_information(np.eye(2), HALVES, alpha)
