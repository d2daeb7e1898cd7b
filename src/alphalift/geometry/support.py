"""The support functions of convex sets, compiled: what `convex` says each kind of constraint is."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from __future__ import annotations

import math

import numpy as np
from numba import types
from numba.extending import typeof_impl

from alphalift.compiled import CALLBACK, INTEGERS, VECTOR, inlined, kernel, subroutine, tuple_type
from alphalift.convex import CALLED, ENTROPY, HALF_SPACES, NORM_BALL, SPHERE, Callback, Constraints

# The largest exponent of the entropy kind's terms; beyond it the value is called infinite.
_LARGEST_EXPONENT = 300.0

CONSTRAINTS = tuple_type(Constraints, *4 * [INTEGERS], VECTOR, types.FunctionType(CALLBACK))


@typeof_impl.register(Callback)
def _type_of_callback(callback, context):
    """A pointer to a function, whose address numba asks the object for."""
    return types.FunctionType(CALLBACK)


@kernel
def supports(constraints, w, out):
    """sigma of every constraint at its own entries of w >= 0."""
    no_gradient, no_hessian = np.empty(0), np.empty((1, 1))[:0, :0]  # typed as the derivatives are: compiled once
    firsts, lasts = constraints.first, constraints.last
    for p in range(len(firsts)):
        out[p] = support(constraints, p, w[firsts[p] : lasts[p]], no_gradient, no_hessian)


@kernel
def support(constraints, p, w, gradient, hessian):
    """sigma(w) of constraint p for w >= 0; fills its derivatives (the Hessian's lower triangle) unless they are empty."""
    kind, parameters = constraints.kind[p], constraints.parameters[constraints.offset[p] :]
    if kind == HALF_SPACES:
        return _half_spaces(w, parameters, gradient)
    if kind == NORM_BALL:
        return _norm_ball(w, parameters, gradient, hessian)
    if kind == SPHERE:
        return _sphere(w, parameters, gradient, hessian)
    if kind == CALLED:
        return _called(w, parameters, constraints.callback, gradient, hessian)
    return _entropy(w, parameters, gradient, hessian)


@inlined
def _half_spaces(w, sides, gradient):
    total = 0.0
    for i in range(len(w)):
        total += sides[i] * w[i]
    for i in range(len(gradient)):
        gradient[i] = sides[i]
    return total


@inlined
def _norm_ball(w, parameters, gradient, hessian):
    t, a, weights = parameters[0], parameters[1], parameters[2:]
    size = len(w)
    largest, mean = _largest(w), 0.0
    if not largest > 0.0:
        return 0.0
    for s in range(size):
        mean += weights[s] * (w[s] / largest) ** a
    norm = largest * mean ** (1.0 / a)
    if len(gradient):
        for s in range(size):
            gradient[s] = t * weights[s] * (w[s] / norm) ** (a - 1.0)
        for s in range(size):
            for other in range(s + 1):
                hessian[s, other] = -(a - 1.0) / (t * norm) * gradient[s] * gradient[other]
            hessian[s, s] += (a - 1.0) * gradient[s] / w[s]
    return t * norm


@inlined
def _sphere(w, parameters, gradient, hessian):
    t, weights = parameters[0], parameters[1:]
    mean = 0.0
    for s in range(len(w)):
        mean += weights[s] * w[s] * w[s]
    norm = math.sqrt(mean)
    if len(gradient) and norm > 0.0:
        for s in range(len(w)):
            gradient[s] = t * weights[s] * w[s] / norm
            for other in range(s + 1):
                hessian[s, other] = -gradient[s] * gradient[other] / (t * norm)
            hessian[s, s] += t * weights[s] / norm
    return t * norm


@subroutine
def _largest(w):
    largest = -np.inf
    for i in range(len(w)):
        largest = max(largest, w[i])
    return largest


@inlined
def _entropy(w, parameters, gradient, hessian):
    epsilon, steepness, weights = parameters[0], parameters[1], parameters[2:]
    size = len(w) - 1
    b = w[size]
    if not b > 0.0:
        return 0.0 if not _largest(w) > 0.0 else np.inf
    mean, slope, curvature = 0.0, 0.0, 0.0
    for s in range(size):
        ratio = w[s] / b
        if steepness * (ratio - 1.0) > _LARGEST_EXPONENT:
            return np.inf
        term = weights[s] * math.exp(steepness * (ratio - 1.0))
        mean += term
        slope += term * ratio
        curvature += term * ratio * ratio
        if len(gradient):
            gradient[s] = term
            for other in range(s):
                hessian[s, other] = 0.0
            hessian[s, s] = term * steepness / b
            hessian[size, s] = -term * ratio * steepness / b
    if len(gradient):
        gradient[size] = 1.0 + (epsilon - 1.0 + mean) / steepness - slope
        hessian[size, size] = curvature * steepness / b
    return b * (1.0 + (epsilon - 1.0 + mean) / steepness)


@inlined
def _called(w, parameters, callback, gradient, hessian):
    size, which = len(w), int(parameters[0])
    out = np.empty(1 + size + size * size)
    callback(which, w.ctypes, size, out.ctypes)
    for i in range(len(gradient)):
        gradient[i] = out[1 + i]
        for j in range(size):
            hessian[i, j] = out[1 + size + i * size + j]
    return out[0]


@subroutine
def support_magnitudes(constraints, w, sigmas):
    """Replace every sigma by the sum of the terms that it was computed from, each times what its error is amplified by."""
    kinds, firsts, lasts, parameters = constraints.kind, constraints.first, constraints.last, constraints.parameters
    for p in range(len(kinds)):
        first, last, offset = firsts[p], lasts[p], constraints.offset[p]
        if kinds[p] == HALF_SPACES:  # whose terms may cancel; the other kinds' are positive
            sigmas[p] = 0.0
            for i in range(first, last):
                sigmas[p] += abs(parameters[offset + i - first]) * w[i]
        elif kinds[p] == ENTROPY and w[last - 1] > 0.0:  # an exponent's error grows with it
            b, steepness, total = w[last - 1], parameters[offset + 1], 1.0
            for i in range(first, last - 1):
                weight, ratio = parameters[offset + 2 + i - first], w[i] / b
                total += weight * (1.0 + ratio) * math.exp(steepness * (ratio - 1.0))
            sigmas[p] = b * total
        else:
            sigmas[p] = abs(sigmas[p])
