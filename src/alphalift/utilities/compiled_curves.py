"""Curves of utilities for compiled kernels; apart from the utilities, which are named without a compiler at hand."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import njit, types

from alphalift.arrays import Array
from alphalift.compiled import CURVE, MATRIX, VECTOR, Compiled, compile_once

# The step of differences in place of the derivative of a user's f, relative to t, and to this where t is less.
_STEP = 1e-6
# Where a compiled f is compared with the one that was given, and the share of its values that they may differ by.
_TRIED, _SLACK = (0.0, 1e-3, 0.5, 1.0, 2.0, 100.0), 1e-9


def named_curve(g: Callable[[float, int], float]) -> Any:
    """One of our own, as `compiled.CURVE`."""
    return compile_once(g, CURVE)


def terms_of(curve: Any, scales: Array, points: Array) -> Array:
    """scale_x phi(V_x / scale_x) of every entry, (count, |X|)."""
    return np.asarray(compile_once(_terms, MATRIX(types.FunctionType(CURVE), VECTOR, MATRIX))(curve, scales, points))


def _terms(curve: Any, scales: Array, points: Array) -> Array:
    found = np.empty_like(points)
    for i in range(points.shape[0]):
        for x in range(points.shape[1]):
            found[i, x] = scales[x] * curve(points[i, x] / scales[x], 0)
    return found


@cache
def curve_of(f: Callable[[float], float]) -> Any:
    """f(0) - f(t) as a compiled curve: compiled with it if numba can, else called back."""
    at_zero = float(f(0.0))
    try:
        own = njit(types.float64(types.float64), nogil=True, error_model="numpy")(f)
        same = all(math.isclose(own(t), f(t), rel_tol=_SLACK, abs_tol=_SLACK) for t in _TRIED)
    except Exception:  # whatever numba, or f, says of it
        same = False
    if not same:
        return _Called(f)

    def curve(t: float, order: int) -> float:
        if order == 1:
            step = _STEP * max(t, _STEP)
            return (own(t - step) - own(t + step)) / (2.0 * step)
        return at_zero - own(t)

    return Compiled(njit(CURVE, nogil=True, error_model="numpy")(curve))


class _Called(types.WrapperAddressProtocol):
    """A Python function behind a pointer that kernels call."""

    def __init__(self, f: Callable[[float], float]) -> None:
        self._f, self._at_zero = f, float(f(0.0))
        self._pointer = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_int64)(self)

    def __call__(self, t: float, order: int) -> float:
        try:
            if order == 1:
                step = _STEP * max(t, _STEP)
                return float(self._f(t - step) - self._f(t + step)) / (2.0 * step)
            return self._at_zero - float(self._f(t))
        except Exception:
            return math.nan  # no bound and no column comes from it

    def __wrapper_address__(self) -> int:
        return ctypes.cast(self._pointer, ctypes.c_void_p).value or 0

    def signature(self) -> Any:
        return CURVE
