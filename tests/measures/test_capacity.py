"""Renyi capacity and maximal alpha-leakage: the supremum over priors, its proof, and where it is not Sibson's."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import random_channels
from scipy.optimize import minimize_scalar

from alphalift import PromiseError, SolverError
from alphalift.measures import (
    capacity,
    channel_capacity,
    maximal_alpha_leakage,
    maximal_leakage,
    renyi_capacity,
    renyi_divergence,
    sibson_information,
)
from strategies import channels

orders = st.one_of(st.just(1.0), st.floats(1.0001, 60.0))
Z_CHANNEL = np.array([[1.0, 0.4], [0.0, 0.6]])


def plain_sibson(channel, prior, alpha):
    """Sibson's formula typed as it stands."""
    return alpha / (alpha - 1) * math.log(((channel**alpha @ prior) ** (1 / alpha)).sum())


@given(st.integers(2, 5).flatmap(channels), orders)
def test_both_bounds_hold_and_meet(channel, alpha):
    found = renyi_capacity(channel, alpha)
    assert found.prior.sum() == pytest.approx(1)
    assert found.p_y.sum() == pytest.approx(1)
    assert sibson_information(channel, found.prior, alpha) == pytest.approx(found.lower, abs=1e-13)
    assert max(renyi_divergence(column, found.p_y, alpha) for column in channel.T) == pytest.approx(
        found.upper, abs=1e-12
    )
    assert 0 <= found.upper - found.lower <= 1e-10


def test_two_secrets_by_searching_over_all_priors():
    for number, (channel, _) in enumerate(random_channels()):
        channel, alpha = channel[:, :2], (1.3, 2.0, 8.0)[number % 3]
        search = minimize_scalar(
            lambda share, channel=channel, alpha=alpha: -plain_sibson(channel, np.array([share, 1 - share]), alpha),
            bounds=(0, 1),
            method="bounded",
            options={"xatol": 1e-9},
        )
        ours = maximal_alpha_leakage(channel, np.array([0.9, 0.1]), alpha)
        assert ours == pytest.approx(-search.fun, abs=1e-9)


@given(st.integers(2, 5).flatmap(channels), st.floats(1.01, 40.0), st.data())
def test_no_prior_leaks_more(channel, alpha, data):
    size = channel.shape[1]
    weights = np.array(data.draw(st.lists(st.integers(1, 20), min_size=size, max_size=size)), dtype=float)
    prior = weights / weights.sum()
    assert sibson_information(channel, prior, alpha) <= maximal_alpha_leakage(channel, prior, alpha) + 1e-12


def test_it_is_not_sibson_information_at_the_true_prior():
    prior = np.array([0.95, 0.05])
    assert maximal_alpha_leakage(Z_CHANNEL, prior, 2) > sibson_information(Z_CHANNEL, prior, 2) + 0.1
    # On the second secret t, e^(I/2) = sqrt(1 - .84 t) + .6 sqrt(t), largest at t = 5/14, where it is sqrt(10/7).
    assert maximal_alpha_leakage(Z_CHANNEL, prior, 2) == pytest.approx(math.log(10 / 7), abs=1e-10)
    np.testing.assert_allclose(renyi_capacity(Z_CHANNEL, 2).prior, [9 / 14, 5 / 14], atol=1e-5)


def test_at_one_it_is_mutual_information_and_just_above_the_channel_capacity():
    prior = np.array([0.95, 0.05])
    information, largest = sibson_information(Z_CHANNEL, prior, 1), channel_capacity(Z_CHANNEL)
    assert maximal_alpha_leakage(Z_CHANNEL, prior, 1) == information < largest - 0.1
    assert maximal_alpha_leakage(Z_CHANNEL, prior, 1 + 1e-9) == pytest.approx(largest, abs=1e-8)


@given(st.integers(2, 5).flatmap(channels))
def test_at_infinity_it_is_maximal_leakage(channel):
    prior = np.full(channel.shape[1], 1 / channel.shape[1])
    assert maximal_alpha_leakage(channel, prior, math.inf) == maximal_leakage(channel)
    assert maximal_alpha_leakage(channel, prior, 1e7) == pytest.approx(maximal_leakage(channel), abs=1e-5)


@given(st.integers(2, 5).flatmap(channels), orders, orders)
def test_monotone_in_alpha(channel, one, other):
    low, high = sorted((one, other))
    assert renyi_capacity(channel, low).lower <= renyi_capacity(channel, high).upper
    assert renyi_capacity(channel, high).lower <= maximal_leakage(channel) + 1e-13


def test_secrets_without_mass_do_not_count():
    channel = np.array([[0.5, 0.6, 1.0], [0.5, 0.4, 0.0]])
    for alpha in (2.0, math.inf):
        alone = maximal_alpha_leakage(channel[:, :2], np.array([0.5, 0.5]), alpha)
        assert maximal_alpha_leakage(channel, np.array([0.5, 0.5, 0.0]), alpha) == alone
        assert maximal_alpha_leakage(channel, np.array([0.5, 0.4, 0.1]), alpha) > alone + 0.1


@pytest.mark.parametrize("alpha", [1.0, 1 + 1e-9, 1.01, 2.0, 50.0, 1e4])
@pytest.mark.parametrize(
    "channel",
    [
        np.ones((1, 3)),
        np.eye(4),
        np.array([[1.0, 1.0, 0.5], [0.0, 0.0, 0.5]]),  # two equal secrets: the best prior is no point
        np.array([[1, 0, 0.5 + 1e-9], [0, 1, 0.5 - 1e-9]]),  # a secret just short of any use
        np.array([[1 - 1e-12, 1], [1e-12, 0]]),  # hardly any information
        np.array([[1, 1e-200, 0.5], [0, 1, 0.5]]),
        np.array([[0.0, 0.0], [0.3, 0.6], [0.7, 0.4]]),  # an output that never occurs
        np.random.default_rng(5).random((40, 60)) ** 30,  # most secrets unused
    ],
    ids=["silent", "identity", "equal", "useless", "faint", "tiny", "dead-output", "many"],
)
def test_hard_channels_are_solved_to_the_promised_gap(channel, alpha):
    channel = channel / channel.sum(axis=0)
    found = renyi_capacity(channel, alpha)
    assert 0 <= found.gap <= capacity.GAP
    assert found.upper <= math.log(min(channel.shape)) + 1e-10


@pytest.mark.parametrize("alpha", [0.5, math.inf, math.nan, -1.0])
def test_orders_outside_the_range_are_refused(alpha):
    with pytest.raises(PromiseError, match="alpha"):
        renyi_capacity(Z_CHANNEL, alpha)


def test_a_gap_that_stays_open_is_an_error_and_no_answer(monkeypatch):
    monkeypatch.setattr(capacity, "_STEPS", 2)
    with pytest.raises(SolverError, match="known only to"):
        renyi_capacity(Z_CHANNEL, 2.0)
