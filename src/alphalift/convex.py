"""Convex sets as compiled kernels know them: parts, each with a support function of one of four kinds.

A part confines k linear functions of a vector, its *moments* m: for every w >= 0 (CALLED: every w), w.m <= sigma(w).
The kinds are

    HALF_SPACES  sigma(w) = g.w                       parameters g
    NORM_BALL    sigma(w) = t (E w^a)^(1/a)           parameters t, a >= 1 and the weights of E
    ENTROPY      sigma(w, b) = b (1 + (eps - 1 + E e^(K (w/b - 1))) / K)      parameters eps, K and the weights of E
    CALLED       sigma(w) >= 0, a Python function's    parameter: which one

ENTROPY has a direction b >= 0 without a moment (K times the b of docs/theory.md). Half-spaces may have *slacks*:
further variables of the set, each within [0, width], with coefficients in the half-spaces and no other role. A part may
have a *capacity*, a linear function M >= 0 of the vector: it then says w.m <= sigma(w) M, a cone instead of a set.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from alphalift.compiled import CALLBACK, kernel
from alphalift.exact import Array

RowFunction = Callable[[Array], Array]

HALF_SPACES, NORM_BALL, ENTROPY, CALLED = 0, 1, 2, 3
# The largest exponent of the entropy kind's terms; beyond it the value is called infinite.
_LARGEST_EXPONENT = 300.0
# Steps of first and second differences, relative to the largest entry.
_FINE, _COARSE = 1e-5, 1e-3
_PROTOTYPE = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)


class Callback(types.WrapperAddressProtocol):
    """Python functions of rows as a pointer that kernels call, with derivatives by differences.

    (which, w, size, out): the value goes to out[0], the gradient after it, then the Hessian. All points that the
    differences need are one call of the function.
    """

    def __init__(self, functions: list[RowFunction]) -> None:
        self._functions = functions
        self._pointer = _PROTOTYPE(self._call)  # kept alive as long as this object

    def _call(self, which: int, w: int, size: int, out: int) -> None:
        numbers = ctypes.POINTER(ctypes.c_double)
        point = np.ctypeslib.as_array(ctypes.cast(w, numbers), (size,))
        result = np.ctypeslib.as_array(ctypes.cast(out, numbers), (1 + size + size * size,))
        result[:] = np.nan  # what stays if the function fails: no bound comes from it
        result[:] = _with_derivatives(self._functions[which], point)

    def __wrapper_address__(self) -> int:
        return ctypes.cast(self._pointer, ctypes.c_void_p).value or 0

    def signature(self) -> Any:
        return CALLBACK


def _with_derivatives(function: RowFunction, w: Array) -> Array:
    """Value, gradient and Hessian of a smooth function of rows at one row."""
    size = len(w)
    largest = max(float(np.abs(w).max()), 1e-300)
    fine, coarse = _FINE * largest, _COARSE * largest
    eye = np.eye(size)
    i, j = np.triu_indices(size, 1)
    pairs = coarse * (eye[i] + eye[j])
    points = [w[None], w + fine * eye, w - fine * eye, w + coarse * eye, w - coarse * eye, w + pairs, w - pairs]
    ends = np.append(1 + size * np.arange(5), 1 + 4 * size + len(i))
    value, up, down, above, below, both, neither = np.split(function(np.concatenate(points)), ends)
    single = above + below - 2 * value
    hessian = np.diag(single)
    hessian[i, j] = hessian[j, i] = (both + neither - 2 * value - single[i] - single[j]) / 2
    # A convex function has no negative curvature: what there is comes from the differences.
    curvatures, axes = np.linalg.eigh(hessian / coarse**2)
    hessian = axes * np.maximum(curvatures, 0.0) @ axes.T
    return np.concatenate([value, (up - down) / (2 * fine), hessian.ravel()])


@dataclass(frozen=True, eq=False)
class Part:
    """One convex set of vectors q: its moments are `directions` q, (k, n); slacks are (count, k) with their widths."""

    kind: int
    parameters: Array
    directions: Array
    slacks: Array = field(default_factory=lambda: np.empty((0, 0)))
    widths: Array = field(default_factory=lambda: np.empty(0))
    function: RowFunction | None = None
    # Half-spaces whose bound is what the others and sum q = 1 leave; and whether the part cannot bind at all.
    capped: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, np.bool_))
    idle: bool = False
    # M q of the vector q, (n,), or 1 without it.
    capacity: Array | None = None


@dataclass(frozen=True, eq=False)
class ConvexSet:
    """The intersection of parts as arrays for kernels: one row (kind, first, last, offset) a part.

    `fixed` is 0 for parts with a capacity and 1 for others, `capacities` (parts, n), or (0, n) where no part has one.
    """

    rows: NDArray[np.int64]
    parameters: Array
    directions: Array
    slacks: Array
    widths: Array
    callback: Callback
    fixed: Array
    capacities: Array

    @classmethod
    def intersecting(cls, parts: Sequence[Part]) -> ConvexSet:
        sizes = [len(part.directions) for part in parts]
        first = np.cumsum([0, *sizes])
        offsets = np.cumsum([0, *(len(part.parameters) for part in parts)])
        rows = [(part.kind, first[i], first[i + 1], offsets[i]) for i, part in enumerate(parts)]
        slacks = np.zeros((sum(len(part.widths) for part in parts), first[-1]))
        row, functions = 0, list[RowFunction]()
        for i, part in enumerate(parts):
            slacks[row : row + len(part.widths), first[i] : first[i + 1]] = part.slacks.reshape(-1, sizes[i])
            row += len(part.widths)
        parameters = [part.parameters for part in parts]
        for i, part in enumerate(parts):
            if part.function is not None:
                parameters[i] = np.array([float(len(functions))])
                functions.append(part.function)
        return cls(
            np.array(rows, dtype=np.int64),
            np.concatenate(parameters),
            np.concatenate([part.directions for part in parts]),
            slacks,
            np.concatenate([part.widths for part in parts]),
            Callback(functions),
            np.array([float(part.capacity is None) for part in parts]),
            _capacities(parts),
        )


def _capacities(parts: Sequence[Part]) -> Array:
    size = parts[0].directions.shape[1]
    if all(part.capacity is None for part in parts):
        return np.empty((0, size))
    return np.array([np.zeros(size) if part.capacity is None else part.capacity for part in parts])


@kernel
def support(kind, w, parameters, callback, gradient, hessian):
    """sigma(w) of one part for w >= 0; fills its derivatives (the Hessian's lower triangle) unless they are empty."""
    if kind == HALF_SPACES:
        return _half_spaces(w, parameters, gradient)
    if kind == NORM_BALL:
        return _norm_ball(w, parameters, gradient, hessian)
    if kind == CALLED:
        return _called(w, parameters, callback, gradient, hessian)
    return _entropy(w, parameters, gradient, hessian)


@kernel
def _half_spaces(w, parameters, gradient):
    total = 0.0
    for i in range(len(w)):
        total += parameters[i] * w[i]
    for i in range(len(gradient)):
        gradient[i] = parameters[i]
    return total


@kernel
def _norm_ball(w, parameters, gradient, hessian):
    t, a = parameters[0], parameters[1]
    size = len(w)
    largest = w.max()
    if not largest > 0.0:
        return 0.0
    mean = 0.0
    for s in range(size):
        mean += parameters[2 + s] * (w[s] / largest) ** a
    norm = largest * mean ** (1.0 / a)
    if len(gradient):
        for s in range(size):
            gradient[s] = t * parameters[2 + s] * (w[s] / norm) ** (a - 1.0)
        for s in range(size):
            for other in range(s + 1):
                hessian[s, other] = -(a - 1.0) / (t * norm) * gradient[s] * gradient[other]
            hessian[s, s] += (a - 1.0) * gradient[s] / w[s]
    return t * norm


@kernel
def _entropy(w, parameters, gradient, hessian):
    epsilon, steep = parameters[0], parameters[1]
    size = len(w) - 1
    b = w[size]
    if not b > 0.0:
        return 0.0 if not w.max() > 0.0 else np.inf
    mean, slope, curve = 0.0, 0.0, 0.0
    for s in range(size):
        ratio = w[s] / b
        if steep * (ratio - 1.0) > _LARGEST_EXPONENT:
            return np.inf
        term = parameters[2 + s] * math.exp(steep * (ratio - 1.0))
        mean += term
        slope += term * ratio
        curve += term * ratio * ratio
        if len(gradient):
            gradient[s] = term
            for other in range(s):
                hessian[s, other] = 0.0
            hessian[s, s] = term * steep / b
            hessian[size, s] = -term * ratio * steep / b
    if len(gradient):
        gradient[size] = 1.0 + (epsilon - 1.0 + mean) / steep - slope
        hessian[size, size] = curve * steep / b
    return b * (1.0 + (epsilon - 1.0 + mean) / steep)


@kernel
def _called(w, parameters, callback, gradient, hessian):
    size = len(w)
    point, out = w.copy(), np.empty(1 + size + size * size)
    callback(int(parameters[0]), point.ctypes, size, out.ctypes)
    if len(gradient):
        gradient[:] = out[1 : 1 + size]
        hessian[:, :] = out[1 + size :].reshape((size, size))
    return out[0]


@kernel
def supports(rows, parameters, callback, w, out):
    """The parts' support functions, each at its own directions."""
    nothing, none = np.empty(0), np.empty((0, 0))
    for p in range(len(rows)):
        kind, first, last, offset = rows[p]
        out[p] = support(kind, w[first:last], parameters[offset:], callback, nothing, none)
