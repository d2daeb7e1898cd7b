"""Kernels take what they were compiled for, and nothing that only looks like it."""

import numpy as np
import pytest
from numba import types

from alphalift.compiled import CURVE, MATRIX, VECTOR, Compiled, compile_once
from alphalift.utilities.compiled_curves import terms_of


def _sum_of_row(matrix, row, curve, vector):
    total = 0.0
    for x in range(matrix.shape[1]):
        total += curve(matrix[row, x], 0) + vector[x]
    return total


def _square(t, order):
    return t * t


SQUARE = compile_once(_square, CURVE)
KERNEL = compile_once(_sum_of_row, types.float64(MATRIX, types.int64, types.FunctionType(CURVE), VECTOR))
NUMBERS, ONES = np.arange(6.0).reshape(2, 3), np.ones(3)


def test_kernels_call_kernels():
    assert isinstance(KERNEL, Compiled)
    assert SQUARE(3.0, 0) == 9.0
    assert KERNEL(NUMBERS, 1, SQUARE, ONES) == 9.0 + 16.0 + 25.0 + 3.0
    assert KERNEL(NUMBERS, np.int64(0), SQUARE, ONES) == 1.0 + 4.0 + 3.0
    assert (terms_of(SQUARE, np.full(3, 2.0), NUMBERS) == NUMBERS**2 / 2).all()


def test_functions_of_a_user_are_called_by_kernels_too():
    from alphalift.utilities.compiled_curves import curve_of

    curve = curve_of(lambda t: -t * t)
    assert KERNEL(NUMBERS, 0, curve, ONES) == pytest.approx(5.0 + 3.0)


@pytest.mark.parametrize(
    "matrix",
    [
        np.arange(6.0).reshape(3, 2).T,  # lies in memory the other way round
        np.arange(12.0).reshape(2, 6)[:, ::2],
        np.arange(6).reshape(2, 3),
        np.arange(6.0, dtype=np.float32).reshape(2, 3),
        np.arange(3.0),
        [[0.0, 1.0, 2.0]],
    ],
    ids=["transposed", "strided", "integers", "short", "vector", "list"],
)
def test_other_arrays_are_refused(matrix):
    with pytest.raises(TypeError, match="types"):
        KERNEL(matrix, 0, SQUARE, ONES)


def test_other_numbers_of_arguments_are_refused():
    with pytest.raises(TypeError, match="types"):
        KERNEL(NUMBERS, 0, SQUARE)
