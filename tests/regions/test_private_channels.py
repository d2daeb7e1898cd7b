"""Optimal private channels with linear loss from qif: the LDP region is the set that qif's own program optimises over."""

import math

import numpy as np
import pytest
import qif
from scipy.optimize import linprog

from alphalift import LDP, Joint, Mechanism, design
from alphalift.convex import ConvexSet


def private_channel(joint, epsilon, losses):
    """qif's channel of the least loss among those with P(y|x) <= e^epsilon P(y|x')."""
    return qif.mechanism.d_privacy.min_loss_given_d(
        joint.p_x, len(losses), lambda a, b: epsilon * (a != b), lambda x, y: losses[int(x), int(y)]
    )


def least_loss(joint, region, loss):
    """min sum_y sum_x q_y(x) loss(x, y) over q_y >= 0 with sum_y q_y = P_X and q_y in the cone of the region's part."""
    body = ConvexSet.intersecting([region.constraint(joint.p_s)])
    size, slacks = len(joint.p_x), len(body.widths)
    moments = body.directions @ joint.p_s_given_x
    width = size + slacks
    rows = np.hstack([moments - body.constraints.parameters[:, None], body.slacks.T])
    boxes = np.hstack([-np.outer(body.widths, np.ones(size)), np.eye(slacks)])
    inside = np.kron(np.eye(size), np.vstack([rows, boxes]))
    marginal = np.hstack([np.eye(size), np.zeros((size, slacks))])
    costs = np.concatenate([np.append(loss[:, y], np.zeros(slacks)) for y in range(size)])
    result = linprog(costs, inside, np.zeros(len(inside)), np.tile(marginal, size), joint.p_x, method="highs")
    assert result.status == 0
    assert len(costs) == size * width
    return result.fun


@pytest.mark.parametrize("seed", range(40))
def test_optimal_private_channels_with_linear_loss(seed):
    """200 channels in all: five priors for each seed, S = X."""
    generator = np.random.default_rng(seed)
    for _ in range(5):
        size = int(generator.integers(2, 6))
        joint, epsilon = Joint(np.diag(generator.dirichlet(np.full(size, 2.0)))), float(generator.uniform(0.1, 3))
        losses = generator.random((size, size))
        theirs = float((joint.p_x[:, None] * private_channel(joint, epsilon, losses) * losses).sum())
        assert least_loss(joint, LDP(epsilon), losses) == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("epsilon", [1.5, 2.5, 4.0])
def test_qifs_channel_is_at_our_limit_and_below_our_bound(epsilon):
    joint = Joint(np.diag([0.4, 0.3, 0.2, 0.1]))
    channel = private_channel(joint, epsilon, 1 - np.eye(4))
    mechanism = Mechanism(joint, np.maximum(channel.T, 0.0))
    assert mechanism.worst_value(LDP(epsilon)) == pytest.approx(math.exp(epsilon), rel=1e-6)
    assert mechanism.utility() <= design(joint, LDP(epsilon)).upper_bound + 1e-9
