"""dit computes Sibson's information, maximal leakage and the divergences a second time."""

import math

import dit
import numpy as np
import pytest
from dit.divergences.generalized_divergences import renyi_divergence as dit_renyi_divergence
from dit.divergences.pmf import relative_entropy, variational_distance
from dit.other import maximal_leakage as dit_maximal_leakage
from dit.other import sibson_mutual_information_pmf
from oracles import BITS, CHANNELS, lifts_and_priors, occurring, random_channels

from alphalift.measures import (
    kullback_leibler,
    maximal_alpha_leakage,
    maximal_leakage,
    renyi_capacity,
    renyi_divergences,
    sibson_information,
    total_variation,
)


def law(p):
    """A distribution of dit on the numbers 0, 1, ... that have mass."""
    return dit.Distribution([(i,) for i in np.flatnonzero(p)], [float(v) for v in p if v > 0])


def test_the_channels_are_what_the_oracles_should_see():
    channels = list(random_channels())
    assert len(channels) == CHANNELS == 200
    assert sum(bool((channel == 0).any()) for channel, _ in channels) > 100
    assert sum(bool((prior == 0).any()) for _, prior in channels) == 40


@pytest.mark.parametrize("alpha", [0.2, 0.5, 0.9, 1, 1.1, 2, 5, 20, math.inf])
def test_sibson_information(alpha):
    for channel, prior in random_channels():
        theirs = sibson_mutual_information_pmf((channel * prior).T, alpha) * BITS
        assert sibson_information(channel, prior, alpha) == pytest.approx(theirs, rel=1e-9, abs=1e-9)


def test_maximal_leakage():
    for channel, prior in random_channels():
        joint = dit.Distribution.from_ndarray((channel * prior).T)
        theirs = dit_maximal_leakage(joint, [0], [1]) * BITS
        assert maximal_leakage(occurring(channel, prior)) == pytest.approx(theirs, rel=1e-9, abs=1e-9)


def test_renyi_divergence_of_every_output():
    orders = (0.3, 0.8, 1, 1.5, 4)
    for number, (lifts, p_s) in enumerate(lifts_and_priors()):
        prior = law(p_s)
        for y, row in enumerate(lifts):
            # One order an output, since dit takes its time; every order meets every shape.
            alpha = orders[(number + y) % len(orders)]
            theirs = dit_renyi_divergence(law(row * p_s), prior, alpha) * BITS
            assert renyi_divergences(lifts, p_s, alpha)[y] == pytest.approx(theirs, rel=1e-9, abs=1e-9)


def test_kullback_leibler_and_total_variation_of_every_output():
    for lifts, p_s in lifts_and_priors():
        np.testing.assert_allclose(
            kullback_leibler(lifts, p_s), [relative_entropy(row * p_s, p_s) * BITS for row in lifts], atol=1e-9
        )
        np.testing.assert_allclose(
            total_variation(lifts, p_s), [variational_distance(row * p_s, p_s) for row in lifts], atol=1e-9
        )


def test_maximal_alpha_leakage_is_proven_by_dit():
    """dit has no such measure, but both sides of the proof: Sibson's information, and divergences from a law."""
    for number, (channel, prior) in enumerate(random_channels()):
        alpha = (1.2, 2, 10)[number % 3]
        secrets = occurring(channel, prior)
        found = renyi_capacity(secrets, alpha)
        lower = sibson_mutual_information_pmf((secrets * found.prior).T, alpha) * BITS
        p_y = law(found.p_y)
        upper = max(dit_renyi_divergence(law(column), p_y, alpha) for column in secrets.T) * BITS
        assert upper - lower <= 1e-10
        assert lower - 1e-12 <= maximal_alpha_leakage(channel, prior, alpha) <= upper + 1e-12
