"""qif computes vulnerabilities, Bayes leakage, capacities and local differential privacy a second time."""

import math

import numpy as np
import pytest
import qif
from oracles import BITS, inputs_as_rows, occurring, random_channels
from qif.measure import bayes_vuln, d_privacy, shannon

from alphalift.measures import (
    additive_bayes_leakage,
    alpha_leakage,
    bayes_capacity,
    best_guess,
    channel_capacity,
    guessing_advantage,
    local_differential_privacy,
    maximal_leakage,
    min_entropy_leakage,
    multiplicative_bayes_leakage,
    posterior_vulnerability,
    prior_vulnerability,
    sibson_information,
)
from alphalift.measures.sibson import outputs_and_lifts

near = {"rel": 1e-9, "abs": 1e-9}


def test_vulnerabilities_and_bayes_leakage():
    for channel, prior in random_channels():
        rows = inputs_as_rows(channel)
        assert prior_vulnerability(prior) == pytest.approx(bayes_vuln.prior(prior), **near)
        assert posterior_vulnerability(channel, prior) == pytest.approx(bayes_vuln.posterior(prior, rows), **near)
        assert additive_bayes_leakage(channel, prior) == pytest.approx(bayes_vuln.add_leakage(prior, rows), **near)
        assert multiplicative_bayes_leakage(channel, prior) == pytest.approx(
            bayes_vuln.mult_leakage(prior, rows), **near
        )


def test_min_entropy_leakage_is_alpha_leakage_at_infinity():
    for channel, prior in random_channels():
        theirs = bayes_vuln.min_entropy_leakage(prior, inputs_as_rows(channel)) * BITS
        assert min_entropy_leakage(channel, prior) == pytest.approx(theirs, **near)
        assert alpha_leakage(channel, prior, math.inf) == pytest.approx(theirs, **near)


def test_bayes_capacity_is_the_exponential_of_maximal_leakage():
    for channel, _ in random_channels():
        theirs = bayes_vuln.mult_capacity(inputs_as_rows(channel))
        assert bayes_capacity(channel) == pytest.approx(theirs, **near)
        assert maximal_leakage(channel) == pytest.approx(math.log(theirs), **near)


def test_mutual_information_and_channel_capacity():
    for channel, prior in random_channels():
        rows = inputs_as_rows(channel)
        assert sibson_information(channel, prior, 1) == pytest.approx(shannon.add_leakage(prior, rows) * BITS, **near)
        # Blahut's and Arimoto's iteration, run until its own bound is 1e-11 bits.
        assert channel_capacity(channel) == pytest.approx(shannon.add_capacity(rows, 1e-11)[0] * BITS, **near)


def test_best_guess_and_advantage_of_every_output():
    for channel, prior in random_channels():
        p_s, p_y, lifts = outputs_and_lifts(channel, prior)
        rows = inputs_as_rows(occurring(channel, prior))
        guesses = best_guess(lifts, p_s)
        np.testing.assert_allclose(guesses, qif.channel.posteriors(rows, p_s).max(axis=0), rtol=1e-9)
        np.testing.assert_allclose(guessing_advantage(lifts, p_s), guesses - bayes_vuln.prior(p_s), atol=1e-9)
        assert p_y @ guessing_advantage(lifts, p_s) == pytest.approx(bayes_vuln.add_leakage(p_s, rows), **near)


def test_local_differential_privacy():
    infinite = 0
    for channel, prior in random_channels():
        ours = float(local_differential_privacy(outputs_and_lifts(channel, prior)[2]).max())
        theirs = d_privacy.smallest_epsilon(inputs_as_rows(occurring(channel, prior)), qif.metric.discrete())
        infinite += math.isinf(ours)
        assert ours == pytest.approx(theirs, **near)
    assert 50 < infinite < 150
