"""Laws that hold for every channel: data processing, order, relabelling, and how the measures bound each other."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alphalift import Joint, Mechanism
from alphalift.measures import maximal_leakage, mutual_information, renyi_divergences, sibson_information
from strategies import channels, joints, mechanisms

ORDERS = (0.5, 1.0, 3.0, math.inf)
orders = st.one_of(st.floats(0.05, 60.0), st.just(math.inf))


def same(one, other, tolerance=1e-9):
    np.testing.assert_allclose(
        one[["worst", "mean", "overall"]].astype(float),
        other[["worst", "mean", "overall"]].astype(float),
        rtol=tolerance,
        atol=tolerance,
    )


def channel_of(mechanism):
    """P_{Y|S} by Bayes' rule, and P_S."""
    return (mechanism.p_s_given_y * mechanism.p_y / mechanism.joint.p_s[:, None]).T, mechanism.joint.p_s


@given(joints(), st.data())
def test_data_processing_merging_outputs_raises_no_measure(joint, data):
    channel = data.draw(channels(len(joint.x_labels), outputs=(2, 5)))
    before = Mechanism(joint, channel).measures(ORDERS)
    after = Mechanism(joint, np.vstack([channel[:1] + channel[1:2], channel[2:]])).measures(ORDERS)
    rising = [row for row in before.index if row[1] == "min-lift"]
    assert len(rising) == 1
    assert np.all(after["overall"].drop(rising) <= before["overall"].drop(rising) + 1e-9)
    assert after["overall"][rising[0]] >= before["overall"][rising[0]] - 1e-12
    by_output = before["worst"].notna() & ~before.index.isin(rising)
    assert by_output.sum() > 10
    assert np.all(after["worst"][by_output] <= before["worst"][by_output] + 1e-9)


@given(mechanisms(), st.data())
def test_a_noisy_copy_of_the_output_raises_no_measure(mechanism, data):
    noise = data.draw(channels(len(mechanism.p_y)))
    before = mechanism.measures(ORDERS)["overall"]
    after = Mechanism(mechanism.joint, noise @ mechanism.p_y_given_x).measures(ORDERS)["overall"]
    rising = before.index.get_level_values("measure") == "min-lift"
    assert np.all(after[~rising] <= before[~rising] + 1e-9)


@given(mechanisms(), st.data())
def test_relabelling_secrets_values_and_outputs_changes_nothing(mechanism, data):
    joint = mechanism.joint
    s = data.draw(st.permutations(range(len(joint.s_labels))))
    x = data.draw(st.permutations(range(len(joint.x_labels))))
    y = data.draw(st.permutations(range(len(mechanism.p_y))))
    table = np.array(joint.weights)[np.ix_(s, x)]
    renamed = Mechanism(Joint(table.tolist(), counts=True), mechanism.p_y_given_x[np.ix_(y, x)])
    same(mechanism.measures(ORDERS), renamed.measures(ORDERS))


@given(mechanisms())
def test_splitting_an_output_in_two_changes_nothing(mechanism):
    channel = mechanism.p_y_given_x
    split = np.vstack([channel[:1] * 0.25, channel[:1] * 0.75, channel[1:]])
    same(mechanism.measures(ORDERS), Mechanism(mechanism.joint, split).measures(ORDERS))


@given(mechanisms(), orders, orders)
def test_monotone_in_alpha(mechanism, one, other):
    low, high = sorted((one, other))
    lifts, (channel, p_s) = mechanism.lift.T, channel_of(mechanism)
    assert np.all(renyi_divergences(lifts, p_s, low) <= renyi_divergences(lifts, p_s, high) + 1e-12)
    assert sibson_information(channel, p_s, low) <= sibson_information(channel, p_s, high) + 1e-12
    assert sibson_information(channel, p_s, high) <= maximal_leakage(channel) + 1e-12


@given(mechanisms())
def test_the_ends_of_sibson_information(mechanism):
    channel, p_s = channel_of(mechanism)
    information = mutual_information(channel * p_s)
    assert sibson_information(channel, p_s, 1) == pytest.approx(information, abs=1e-12)
    for alpha in (1 - 1e-8, 1 + 1e-8):
        assert sibson_information(channel, p_s, alpha) == pytest.approx(information, abs=1e-6)
    assert sibson_information(channel, p_s, math.inf) == pytest.approx(maximal_leakage(channel), abs=1e-12)
    assert sibson_information(channel, p_s, 1e8) == pytest.approx(maximal_leakage(channel), abs=1e-6)


@given(mechanisms())
def test_small_orders_stay_finite(mechanism):
    channel, p_s = channel_of(mechanism)
    assert 0 <= sibson_information(channel, p_s, 1e-3) <= sibson_information(channel, p_s, 1) + 1e-12


@given(mechanisms())
def test_how_measures_bound_each_other(mechanism):
    """Known inequalities, each between two rows of one table."""
    table = mechanism.measures((2.0,)).loc["S"]
    overall = table["overall"]
    slack = 1e-9
    assert overall["local information privacy"] == max(overall["max-lift"], -overall["min-lift"])
    assert overall["local differential privacy"] <= 2 * overall["local information privacy"] + slack
    assert overall["local information privacy"] <= overall["local differential privacy"] + slack
    assert overall["mutual information"] <= overall["channel capacity"] + slack
    assert overall["min-entropy leakage"] <= overall["maximal leakage"] + slack
    assert overall["maximal leakage"] <= overall["max-lift"] + slack
    assert overall["Kullback-Leibler"] <= overall["max-lift"] + slack
    # Pinsker: 2 TV^2 <= KL; Cauchy and Schwarz: 2 TV <= chi; D_2 = log(1 + chi^2), per output.
    assert np.all(2 * table["worst"]["total variation"] ** 2 <= table["worst"]["Kullback-Leibler"] + slack)
    assert 2 * table["worst"]["total variation"] <= table["worst"]["chi-square"] + slack
    assert table["worst"]["Renyi divergence, alpha=2"] == pytest.approx(
        math.log1p(table["worst"]["chi-square"] ** 2), abs=slack
    )
    assert overall["guessing advantage (additive Bayes)"] <= table["mean"]["total variation"] + slack
    assert table["mean"]["Kullback-Leibler"] == pytest.approx(overall["mutual information"], abs=slack)
