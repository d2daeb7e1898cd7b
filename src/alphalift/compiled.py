"""Compiled kernels: how they are compiled, on first use, and what they call back, a utility's curve."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from numba import njit, types

VECTOR, MATRIX, INTEGERS = types.float64[::1], types.float64[:, ::1], types.int64[::1]

# A Python function behind a pointer (alphalift.convex.Callback): which one, w, its size, where the result goes.
CALLBACK = types.void(types.int64, types.voidptr, types.int64, types.voidptr)
# phi(v, order): the value (order 0) or the derivative (order 1).
CURVE = types.float64(types.float64, types.int64)

# Nothing is compiled at import: the decorator waits for the first call, and numba keeps the result on disk.
kernel = njit(cache=True, nogil=True, error_model="numpy")


@cache
def compile_once(function: Callable[..., Any], signature: Any) -> Any:
    """The function as machine code with this signature.

    With a signature, functions that it takes as arguments are plain pointers, so that one compilation serves
    every region and utility, and numba's cache on disk finds it again.
    """
    return njit(signature, cache=True, nogil=True, error_model="numpy")(function)
