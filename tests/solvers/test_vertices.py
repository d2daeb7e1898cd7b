"""The exact optimum for max-lift."""

import math

import numpy as np
import pytest

from alphalift import AlphaLift, Joint, MaxLift, SettingError, Status, Vertices, design, sweep
from strategies import random_joint


def test_binary_by_hand():
    """S, X binary, P_X uniform, P(S=1|X) = 3/4, 1/4: posteriors at (1 +- (t-1)/.5)/2, so Y is a symmetric channel."""
    joint = Joint([[3, 1], [1, 3]], counts=True)
    epsilon = 0.1
    tilt = (math.exp(epsilon) - 1) / 0.5
    expected = [[(1 + tilt) / 2, (1 - tilt) / 2], [(1 - tilt) / 2, (1 + tilt) / 2]]
    solution = design(joint, MaxLift(epsilon))
    np.testing.assert_allclose(solution.mechanism.p_y_given_x, expected, atol=1e-12)
    assert solution.status is Status.OPTIMAL


def test_the_known_values_of_one_joint():
    """THEORY section 6, confirmed by the reference in benchmarks/."""
    tradeoff = sweep(random_joint(0), [MaxLift(e) for e in (0.3, 0.01, 0.1)], solver=Vertices())
    found = [tradeoff.at(MaxLift(e)).normalized_utility for e in (0.01, 0.1, 0.3)]
    assert found == pytest.approx([0.34877, 0.60171, 0.78683], abs=5e-6)


def test_perfect_privacy_uses_the_null_space():
    """With more values than secrets something can always be released for nothing."""
    solution = design(random_joint(0), MaxLift(0))
    assert solution.mechanism.leakage(math.inf) < 1e-12
    assert solution.utility > 0.1


def test_a_curved_promise_is_refused():
    with pytest.raises(SettingError, match="cap the lift"):
        design(random_joint(0), AlphaLift(3, 0.1), solver=Vertices())


def test_a_hopeless_enumeration_is_refused_before_it_starts():
    with pytest.raises(SettingError, match="use Optimal"):
        design(random_joint(0, (8, 60)), MaxLift(0.1), solver=Vertices())
