"""Mechanism: one matrix, everything else computed from it."""

import math

import numpy as np
import pytest
from hypothesis import given

from alphalift import AlphaLift, InputError, Joint, MaxLift, Mechanism
from strategies import alphas, mechanisms, random_joint

CENSUS_LIKE = Joint([[5, 1, 2], [1, 5, 2]], x_labels=["Bachelors", "HS-grad", "Some-college"], counts=True)


@given(mechanisms())
def test_all_views_are_of_one_distribution(mechanism):
    joint = mechanism.joint
    np.testing.assert_allclose(mechanism.p_y_given_x.sum(axis=0), 1, atol=1e-12)
    np.testing.assert_allclose(mechanism.p_x_given_y.sum(axis=0), 1, atol=1e-12)
    np.testing.assert_allclose(mechanism.p_x_given_y @ mechanism.p_y, joint.p_x, atol=1e-12)
    np.testing.assert_allclose(mechanism.p_s_given_y @ mechanism.p_y, joint.p_s, atol=1e-12)
    np.testing.assert_allclose(mechanism.lift, mechanism.p_s_given_y / joint.p_s[:, None], atol=1e-12)


@given(mechanisms(), alphas)
def test_check_is_exactly_the_leakage(mechanism, alpha):
    leakage = mechanism.leakage(alpha)
    assert mechanism.check(AlphaLift(alpha, leakage + 1e-9))
    if leakage > 1e-6:
        check = mechanism.check(AlphaLift(alpha, leakage * 0.999))
        assert not check
        assert check.worst_value == pytest.approx(math.exp(leakage))
        assert check.worst_output in mechanism.y_labels


def test_outputs_that_never_occur_are_dropped():
    mechanism = Mechanism(CENSUS_LIKE, np.array([[1.0, 1, 1], [0, 0, 0]]))
    assert mechanism.p_y_given_x.shape == (1, 3)
    assert mechanism.utility() == 0
    assert mechanism.leakage(math.inf) == pytest.approx(0, abs=1e-15)


def test_labels_are_made_of_the_dominant_values():
    mechanism = Mechanism(CENSUS_LIKE, np.array([[1.0, 0, 0.1], [0, 1, 0.9]]))
    assert mechanism.y_labels == ("mostly Bachelors", "HS-grad | Some-college")


def test_equal_supports_are_numbered():
    mechanism = Mechanism(CENSUS_LIKE, np.array([[0.5, 0.5, 0.5], [0.3, 0.3, 0.3], [0.2, 0.2, 0.2]]))
    assert len(set(mechanism.y_labels)) == 3
    assert mechanism.y_labels[1].endswith("(2)")


@given(mechanisms(useful=(2, 6)))
def test_labels_are_unique(mechanism):
    assert len(set(mechanism.y_labels)) == len(mechanism.p_y)


def test_publishing_all_is_labelled_by_x_itself():
    mechanism = Mechanism.publishing_all(random_joint(0))
    assert mechanism.y_labels == mechanism.joint.x_labels
    assert mechanism.normalized_utility() == pytest.approx(1)
    assert not mechanism.check(MaxLift(0.1))


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[1.0, 1.0]], "one column for each of the 3"),
        ([[0.5, 1.0, 1.0]], "distributions"),
        ([[2.0, 1.0, 1.0], [-1.0, 0, 0]], "distributions"),
        ([[math.nan, 1.0, 1.0]], "distributions"),
        ([1.0, 1.0, 1.0], "shape"),
    ],
)
def test_what_is_no_channel_is_refused(matrix, message):
    with pytest.raises(InputError, match=message):
        Mechanism(CENSUS_LIKE, np.array(matrix))


def test_to_frame_is_labelled():
    frame = Mechanism.publishing_all(CENSUS_LIKE).to_frame()
    assert list(frame.columns) == list(frame.index) == ["Bachelors", "HS-grad", "Some-college"]
