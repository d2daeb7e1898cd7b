"""The paper's remarks and propositions as laws, checked on random mechanisms with zero cells."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alphalift import Joint, Mechanism, PromiseError
from alphalift.measures import (
    alpha_lift,
    entropy,
    epsilon_max,
    group_bound,
    information_density,
    lift,
    log_alpha_lifts,
    max_lift,
    mutual_information,
    renyi_divergence,
)
from strategies import alphas, channels, joints, mechanisms


def plain_alpha_lift(p_s_given_y, p_s, alpha):
    """Definition 1 typed as it stands, for moderate alpha."""
    ratio = p_s_given_y / p_s[:, None]
    return ratio.max(axis=0) if math.isinf(alpha) else (p_s @ ratio**alpha) ** (1 / alpha)


@given(mechanisms(), alphas)
def test_definition_1(mechanism, alpha):
    ours = alpha_lift(mechanism.p_s_given_y, mechanism.joint.p_s, alpha)
    np.testing.assert_allclose(ours, plain_alpha_lift(mechanism.p_s_given_y, mechanism.joint.p_s, alpha), rtol=1e-12)


@given(mechanisms(), alphas, alphas)
def test_remark_1_non_decreasing_in_alpha(mechanism, one, other):
    low, high = sorted((one, other))
    smaller, larger = mechanism.leakage_by_output(low), mechanism.leakage_by_output(high)
    assert np.all(smaller <= larger + 1e-13)
    assert np.all(larger <= mechanism.leakage_by_output(math.inf) + 1e-13)


@given(mechanisms(), alphas)
def test_remark_1_renyi_identity(mechanism, alpha):
    p_s = mechanism.joint.p_s
    factor = 1.0 if math.isinf(alpha) else alpha / (alpha - 1)
    lifts = alpha_lift(mechanism.p_s_given_y, p_s, alpha)
    for y, value in enumerate(lifts):
        posterior = mechanism.p_s_given_y[:, y]
        assert renyi_divergence(posterior, p_s, alpha) == pytest.approx(factor * math.log(value), abs=1e-9)


@given(st.lists(st.integers(1, 9), min_size=3, max_size=3), st.floats(1.05, 30))
def test_renyi_divergence_from_its_own_formula(weights, alpha):
    p = np.array(weights) / sum(weights)
    q = np.array([0.2, 0.3, 0.5])
    assert renyi_divergence(p, q, alpha) == pytest.approx(
        math.log(np.sum(p**alpha * q ** (1 - alpha))) / (alpha - 1), abs=1e-12
    )


def test_renyi_divergence_is_infinite_where_p_escapes_q():
    assert renyi_divergence(np.array([0.5, 0.5]), np.array([1.0, 0.0]), 2.0) == math.inf


@given(mechanisms(), alphas, st.floats(0, 1))
def test_proposition_1_convex_in_the_lift(mechanism, alpha, share):
    lifts, p_s = mechanism.lift.T, mechanism.joint.p_s
    one, other = lifts[0], lifts[-1]
    values = np.exp(log_alpha_lifts(np.array([one, other, share * one + (1 - share) * other]), p_s, alpha))
    assert values[2] <= share * values[0] + (1 - share) * values[1] + 1e-12


@given(mechanisms(), alphas)
def test_proposition_2_epsilon_max_bounds_every_mechanism(mechanism, alpha):
    assert mechanism.leakage(alpha) <= epsilon_max(mechanism.joint, alpha) + 1e-12


@given(joints(), alphas)
def test_proposition_2_is_attained_by_publishing_x(joint, alpha):
    assert Mechanism.publishing_all(joint).leakage(alpha) == pytest.approx(epsilon_max(joint, alpha), abs=1e-12)


@given(joints(), alphas, st.data())
def test_merging_outputs_never_raises_the_largest_lift(joint, alpha, data):
    channel = data.draw(channels(len(joint.x_labels), outputs=(2, 5)))
    merged = np.vstack([channel[:1] + channel[1:2], channel[2:]])
    assert Mechanism(joint, merged).leakage(alpha) <= Mechanism(joint, channel).leakage(alpha) + 1e-12


@given(joints(secrets=(2, 5)), alphas, st.data())
def test_merging_secrets_never_raises_the_lift(joint, alpha, data):
    channel = data.draw(channels(len(joint.x_labels)))
    table = np.array(joint.weights)
    coarse = Joint(np.vstack([table[:1] + table[1:2], table[2:]]).tolist(), counts=True)
    assert Mechanism(coarse, channel).leakage(alpha) <= Mechanism(joint, channel).leakage(alpha) + 1e-12


@given(mechanisms(), st.floats(1.01, 60.0), st.data())
def test_a_group_never_becomes_likelier_than_the_bound(mechanism, alpha, data):
    joint = mechanism.joint
    members = data.draw(st.sets(st.integers(0, len(joint.s_labels) - 1), min_size=1))
    group = sorted(members)
    share = min(1.0, float(joint.p_s[group].sum()))
    bound = group_bound(alpha, mechanism.leakage(alpha), share)
    assert mechanism.p_s_given_y[group].sum(axis=0).max() / share <= bound * (1 + 1e-12)


def test_group_bound_of_the_census():
    assert group_bound(10, 0.3, 0.0083) == pytest.approx(2.18, abs=0.01)
    assert group_bound(3, 0.3, 0.0083) == pytest.approx(6.67, abs=0.01)
    assert group_bound(math.inf, 0.3, 0.0083) == pytest.approx(math.exp(0.3))
    assert group_bound(3, 5.0, 0.5) == 2.0, "a posterior is at most one"


@pytest.mark.parametrize("share", [0.0, -0.1, 1.1, math.nan])
def test_group_bound_refuses_what_is_no_share(share):
    with pytest.raises(PromiseError, match="share"):
        group_bound(2, 0.1, share)


@given(mechanisms())
def test_stable_near_alpha_one(mechanism):
    """For alpha = 1 + 1e-9 the Renyi divergence is the Kullback-Leibler divergence up to first order."""
    p_s = mechanism.joint.p_s
    for posterior in mechanism.p_s_given_y.T:
        some = posterior > 0
        divergence = float(np.sum(posterior[some] * np.log(posterior[some] / p_s[some])))
        assert renyi_divergence(posterior, p_s, 1 + 1e-9) == pytest.approx(divergence, rel=1e-6, abs=1e-12)


@given(mechanisms())
def test_stable_at_alpha_one_billion(mechanism):
    huge, largest = mechanism.leakage_by_output(1e9), mechanism.leakage_by_output(math.inf)
    np.testing.assert_allclose(huge, largest, atol=1e-7)


@pytest.mark.parametrize("alpha", [1.0, 0.5, -1.0, math.nan])
def test_alpha_outside_its_range_is_refused(alpha):
    with pytest.raises(PromiseError, match="alpha"):
        alpha_lift(np.eye(2), np.array([0.5, 0.5]), alpha)


def test_lift_and_information_density_by_hand():
    posterior, p_s = np.array([[0.8, 0.0], [0.2, 1.0]]), np.array([0.4, 0.6])
    np.testing.assert_allclose(lift(posterior, p_s), [[2, 0], [1 / 3, 5 / 3]])
    np.testing.assert_allclose(
        information_density(posterior, p_s), [[math.log(2), -math.inf], [math.log(1 / 3), math.log(5 / 3)]]
    )
    np.testing.assert_allclose(max_lift(posterior, p_s), [2, 5 / 3])


def test_remark_2_pml_when_s_is_x():
    """With S = X, alpha = inf, the leakage is the pointwise maximal leakage log max_x P(y|x)/P(y)."""
    joint = Joint(np.diag([1, 2, 3, 4]).tolist(), counts=True)
    mechanism = Mechanism(joint, np.array([[0.7, 0.1, 0.5, 0.2], [0.3, 0.9, 0.5, 0.8]]))
    pml = np.log((mechanism.p_y_given_x / mechanism.p_y[:, None]).max(axis=1))
    np.testing.assert_allclose(mechanism.leakage_by_output(math.inf), pml)


@given(mechanisms())
def test_mutual_information_is_the_drop_of_entropy(mechanism):
    conditional = mechanism.p_y @ entropy(mechanism.p_x_given_y, axis=0)
    drop = float(entropy(mechanism.joint.p_x) - conditional)
    assert mechanism.utility() == pytest.approx(drop, abs=1e-12)
    assert mutual_information(mechanism.p_x_given_y * mechanism.p_y) == pytest.approx(drop, abs=1e-12)


def test_entropy_of_certainty_is_zero_without_a_sign():
    assert str(float(entropy(np.array([1.0, 0.0])))) == "0.0"
