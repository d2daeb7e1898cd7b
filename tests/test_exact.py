"""Numbers as people write them, and roundings that only ever strengthen a promise."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alphalift.exact import exact, to_float


@pytest.mark.parametrize("value", [0.1, "0.1", Decimal("0.1"), Fraction(1, 10), np.float64(0.1), "1/10", "1e-1"])
def test_one_tenth_is_one_tenth(value):
    assert exact(value) == Fraction(1, 10)


def test_a_numpy_single_means_its_own_shortest_decimal():
    assert exact(np.float32(0.1)) == Fraction(1, 10)


@pytest.mark.parametrize("value", [math.nan, math.inf, "NaN", "-Infinity", "x", "1/0", None, True, [1]])
def test_what_is_no_finite_number_is_refused(value):
    with pytest.raises(ValueError, match="not a"):
        exact(value)


@given(st.fractions(min_value=0, max_value=100))
def test_rounding_goes_to_the_promised_side(value):
    low, high = to_float(value, upwards=False), to_float(value, upwards=True)
    assert exact(low) <= value <= exact(high)
    assert high - low <= 4 * math.ulp(max(high, 1e-300))


def test_beyond_the_largest_float():
    assert to_float(Fraction(10) ** 400, upwards=True) == math.inf
    assert math.isfinite(to_float(Fraction(10) ** 400, upwards=False))
