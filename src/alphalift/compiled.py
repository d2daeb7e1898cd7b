"""What compiled kernels call back: a region's support function and a utility's curve, compiled on first use."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from numba import njit, types

VECTOR, MATRIX, INTEGERS = types.float64[::1], types.float64[:, ::1], types.int64[::1]

# sigma(w, parameters, gradient, hessian) -> value for w >= 0 with some entry above 0; an empty gradient asks for
# the value alone. The Hessian is needed in its lower triangle only.
SUPPORT = types.float64(VECTOR, VECTOR, VECTOR, MATRIX)
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
