"""Two hundred channels with their priors, and the small helpers that the tests of measures share."""

import math

import numpy as np

from alphalift.measures.sibson import outputs_and_lifts

CHANNELS = 200
BITS = math.log(2)


def random_channels():
    """(p_y_given_s, p_s), 2 to 6 symbols a side: a third dense, two thirds with zeros; every fifth has a secret without mass."""
    rng = np.random.default_rng(20240611)
    for number in range(CHANNELS):
        outputs, secrets = rng.integers(2, 7, size=2)
        channel = rng.random((outputs, secrets))
        if number % 3:
            channel *= rng.random(channel.shape) < (0.75 if number % 3 == 1 else 0.4)
        channel[0, channel.sum(axis=0) == 0] = 1.0
        prior = rng.random(secrets)
        if number % 5 == 0:
            prior[rng.integers(secrets)] = 0.0
        yield channel / channel.sum(axis=0), prior / prior.sum()


def lifts_and_priors():
    """The same channels as lifts, (|Y|, |S|), of symbols with mass."""
    for channel, prior in random_channels():
        p_s, _, lifts = outputs_and_lifts(channel, prior)
        yield lifts, p_s


def occurring(channel, prior):
    """The channel without secrets and outputs that never occur."""
    channel = channel[:, prior > 0]
    return channel[channel.any(axis=1)]


def inputs_as_rows(channel):
    """The channel as qif reads it: one row a secret, contiguous."""
    return np.ascontiguousarray(channel.T)
