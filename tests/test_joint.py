"""Joint: exact, labelled, validated once."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from alphalift import Joint, JointError
from strategies import joints


def test_a_float_means_its_shortest_decimal():
    joint = Joint([[0.1, 0.2], [0.3, 0.4]])
    assert joint.weights == ((1, 2), (3, 4))
    assert joint.total == 10
    assert joint.n is None


def test_every_kind_of_number_gives_the_same_joint():
    as_floats = Joint([[0.25, 0.25], [0.25, 0.25]])
    assert Joint([[Fraction(1, 4), Decimal("0.25")], ["1/4", "0.25"]]) == as_floats
    assert Joint(np.full((2, 2), 0.25)) == as_floats


def test_probabilities_are_normalised_exactly():
    joint = Joint([[0.3333333, 0.3333333], [0.3333333, 0.0]])
    assert joint.weights == ((1, 1), (1, 0))
    assert sum(Fraction(w, joint.total) for row in joint.weights for w in row) == 1


def test_counts_are_kept_with_their_number():
    joint = Joint([[2, 4], [6, 8]], counts=True)
    assert joint.weights == ((2, 4), (6, 8))
    assert joint.n == 20


def test_a_frame_brings_its_labels():
    frame = pd.DataFrame([[1, 2], [3, 4]], index=["no", "yes"], columns=["red", "blue"])
    joint = Joint(frame, counts=True)
    assert joint.s_labels == ("no", "yes")
    assert joint.x_labels == ("red", "blue")


def test_symbols_without_mass_are_kept_as_labels_only():
    joint = Joint([[1, 0, 2], [0, 0, 0], [3, 0, 4]], ["a", "b", "c"], ["u", "v", "w"], counts=True)
    assert joint.s_labels == ("a", "c")
    assert joint.s_without_mass == ("b",)
    assert joint.x_labels == ("u", "w")
    assert joint.x_without_mass == ("v",)
    assert joint.p_sx.shape == (2, 2)


@given(joints())
def test_arrays_agree_with_exact_fractions(joint):
    for s, row in enumerate(joint.weights):
        for x, weight in enumerate(row):
            exact = Fraction(weight * joint.total, joint.s_weights[s] * joint.x_weights[x])
            assert joint.lift[s, x] == float(exact)
            assert joint.lift_deviation[s, x] == float(exact - 1)
            assert joint.p_s_given_x[s, x] == weight / joint.x_weights[x]
    assert joint.p_sx.sum() == pytest.approx(1, abs=1e-15 * joint.p_sx.size)
    np.testing.assert_allclose(joint.p_s @ joint.lift, 1, rtol=1e-14)


def test_nearly_independent_columns_keep_their_digits():
    joint = Joint([[10**15 + 1, 10**15], [10**15, 10**15]], counts=True)
    assert joint.lift_deviation[0, 0] == pytest.approx(2.5e-16, rel=1e-6)


def test_arrays_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        Joint([[0.5], [0.5]]).p_s[0] = 1.0


@pytest.mark.parametrize(
    ("table", "counts", "message"),
    [
        ([], False, "empty"),
        ([[]], False, "empty"),
        ([[0.5, 0.5], [0.0]], False, "1 to 2 entries"),
        ([[0.5, float("nan")]], False, "row 0, column 1 is not a finite number"),
        ([[0.5, float("inf")]], False, "row 0, column 1 is not a finite number"),
        ([[1.5, -0.5]], False, "negative"),
        ([[0.5, 0.47]], False, "sums to 0.97, expected 1; pass counts=True"),
        ([[3, 4]], False, "pass counts=True"),
        ([[0.5, 0.5]], True, "whole numbers"),
        ([[0, 0]], True, "no mass"),
        ([0.5, 0.5], False, "dimensions"),
        ([["a", "b"]], False, "not a finite number"),
        ([[True, False]], True, "not a number but bool"),
    ],
)
def test_bad_input_is_a_clear_error(table, counts, message):
    with pytest.raises(JointError, match=message):
        Joint(table, counts=counts)


@pytest.mark.parametrize(("labels", "message"), [(["a"], "1 labels for 2"), (["a", "a"], "repeat")])
def test_bad_labels_are_a_clear_error(labels, message):
    with pytest.raises(JointError, match=message):
        Joint([[1, 2], [3, 4]], labels, counts=True)


def test_an_error_never_repeats_a_cell():
    with pytest.raises(JointError) as caught:
        Joint([["secret-diagnosis", 1]], counts=True)
    assert "secret-diagnosis" not in str(caught.value)
