"""Convex sets as compiled kernels know them: constraints, each with a support function of one of five kinds.

A constraint confines k linear functions of a vector, its *moments* m: for every w >= 0 (SPHERE, CALLED: every w), w.m <= sigma(w).
The kinds are

    HALF_SPACES  sigma(w) = g.w                       parameters g
    NORM_BALL    sigma(w) = t (E w^a)^(1/a)           parameters t, a >= 1 and the weights of E
    ENTROPY      sigma(w, b) = b (1 + (eps - 1 + E e^(K (w/b - 1))) / K)      parameters eps, K and the weights of E
    SPHERE       sigma(w) = t (E w^2)^(1/2)           parameters t and the weights of E
    CALLED       sigma(w) >= 0, a Python function's    parameter: which one

ENTROPY has a direction b >= 0 without a moment (K times the b of docs/theory.md). Half-spaces may have *slacks*:
further variables of the set, each within [0, width], with coefficients in the half-spaces and no other role. A constraint
may have a *capacity*, a linear function M >= 0 of the vector: it then says w.m <= sigma(w) M, a cone instead of a set.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from alphalift.arrays import Array
from alphalift.compiled import CALLBACK, INTEGERS, VECTOR, inlined, kernel, subroutine, tuple_type

RowFunction = Callable[[Array], Array]

HALF_SPACES, NORM_BALL, ENTROPY, SPHERE, CALLED = 0, 1, 2, 3, 4
# The largest exponent of the entropy kind's terms; beyond it the value is called infinite.
_LARGEST_EXPONENT = 300.0
# Steps of first and second differences, relative to the largest entry: well above the roots (third and fourth) of a
# float's precision, so that a difference keeps some five digits, and small where sigma is smooth.
_FINE, _COARSE = 1e-5, 1e-3
# What the largest entry of w = 0 is taken for: neither a step of differences nor its square may be 0.
_LEAST_ENTRY = 1e-150
# How far moments of a symbol may lie outside of a set of about 1: the interior point loses its digits beyond. The utility
# that a set can have which is wider by that is the reciprocal of it from what the narrower one has.
_FARTHEST = 1e6
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
    largest = max(float(np.abs(w).max()), _LEAST_ENTRY)
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
class ComponentDual:
    """One component's share of a dual (w, nu) as files have it.

    w has a number for every secret, `extra` what the component's support function takes beside it, above 0, and `free` what it
    takes of any sign. `shift` is what nu loses.
    """

    w: Array
    extra: tuple[float, ...] = ()
    shift: float = 0.0
    free: tuple[float, ...] = ()


@dataclass(frozen=True, eq=False)
class Constraint:
    """One convex set of vectors q: its moments are `directions` q, (k, n); slacks are (count, k) with their widths."""

    kind: int
    parameters: Array
    directions: Array
    slacks: Array = field(default_factory=lambda: np.empty((0, 0)))
    widths: Array = field(default_factory=lambda: np.empty(0))
    function: RowFunction | None = None
    # M q of the vector q, (n,), or 1 without it.
    capacity: Array | None = None
    # What each slack adds to the capacity, (count,), if any does.
    slack_capacity: Array | None = None
    # How much of a promise on average a unit of each slack uses up, (count,); none of a promise for every output.
    used: Array | None = None
    # The way back to the component that this was made of, where it is not simply the w that the directions add up to.
    inverse: Callable[[Array], ComponentDual] | None = None
    # Whether the moments of the prior are 0, so that multiples of the set contain it.
    centred: bool = False

    def invert(self, multipliers: Array) -> ComponentDual:
        """The component's dual that says at least as much as these multipliers of the moments, (k,)."""
        return ComponentDual(self.directions.T @ multipliers) if self.inverse is None else self.inverse(multipliers)

    def widened(self, vectors: Array) -> Constraint:
        """The set, or a multiple of it where these vectors, (count, n), lie too far outside of it for kernels."""
        times = float(np.abs(vectors @ self.directions.T).max()) / _FARTHEST if self.centred else 0.0
        if times <= 1:
            return self
        return replace(self, directions=self.directions / times, inverse=lambda found: self.invert(found / times))


class Constraints(NamedTuple):
    """The support functions of an intersection as kernels take them: one entry of the first four a constraint.

    Constraint p has the entries first[p]:last[p] of all moments, and of every w; its parameters start at offset[p].
    """

    kind: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    offset: NDArray[np.int64]
    parameters: Array
    callback: Callback


CONSTRAINTS = tuple_type(Constraints, *4 * [INTEGERS], VECTOR, types.FunctionType(CALLBACK))


@dataclass(frozen=True, eq=False)
class ConvexSet:
    """The intersection of constraints: their support functions, and all their moments one below the other, (k, n).

    A constraint's capacity at the vector q is base_capacity + `capacities` q: base_capacity is 1 for a set and 0 for
    a cone, `capacities` (constraints, n), or (0, n) where there is no cone.
    """

    constraints: Constraints
    directions: Array
    slacks: Array
    widths: Array
    base_capacity: Array
    capacities: Array
    # What a slack adds to each capacity, (slacks, constraints), or (slacks, 0) where there is no cone.
    slack_capacities: Array
    # How much of each promise on average the slacks use up, (promises on average, slacks).
    used: Array

    @classmethod
    def intersecting(cls, constraints: Sequence[Constraint]) -> ConvexSet:
        sizes = [len(constraint.directions) for constraint in constraints]
        ends = np.cumsum([0, *sizes])
        offsets = np.cumsum([0, *(len(constraint.parameters) for constraint in constraints)])
        slacks = np.zeros((sum(len(constraint.widths) for constraint in constraints), ends[-1]))
        capacities, used = _capacities(constraints), list[Array]()
        slack_capacities = np.zeros((len(slacks), len(capacities)))
        row, functions, parameters = 0, list[RowFunction](), list[Array]()
        for i, constraint in enumerate(constraints):
            rows = slice(row, row + len(constraint.widths))
            slacks[rows, ends[i] : ends[i + 1]] = constraint.slacks.reshape(-1, sizes[i])
            row = rows.stop
            if constraint.slack_capacity is not None:
                slack_capacities[rows, i] = constraint.slack_capacity
            if constraint.used is not None:
                used.append(np.zeros(len(slacks)))
                used[-1][rows] = constraint.used
            if constraint.function is None:
                parameters.append(constraint.parameters)
            else:  # the one parameter is which of the functions it is
                parameters.append(np.array([float(len(functions))]))
                functions.append(constraint.function)
        kinds = np.array([constraint.kind for constraint in constraints], np.int64)
        layout = kinds, ends[:-1], ends[1:], offsets[:-1]
        return cls(
            Constraints(*layout, np.concatenate(parameters), Callback(functions)),
            np.concatenate([constraint.directions for constraint in constraints]),
            slacks,
            np.concatenate([constraint.widths for constraint in constraints]),
            np.array([float(constraint.capacity is None) for constraint in constraints]),
            capacities,
            slack_capacities,
            np.array(used).reshape(len(used), len(slacks)),
        )

    def with_slack(self, coefficients: Array, capacities: Array, width: float) -> ConvexSet:
        """The set with a further variable in [0, width]: coefficients of it in all moments, (k,), and in all capacities.

        Constraints become cones by it, whose capacities stay what they were but for the variable.
        """
        count, size = len(self.base_capacity), self.directions.shape[1]
        own = self.capacities if len(self.capacities) else np.zeros((count, size))
        before = self.slack_capacities if self.slack_capacities.shape[1] else np.zeros((len(self.slacks), count))
        return replace(
            self,
            slacks=np.vstack([self.slacks.reshape(-1, len(self.directions)), coefficients]),
            widths=np.append(self.widths, width),
            capacities=own,
            slack_capacities=np.vstack([before, capacities]),
            used=np.pad(self.used, ((0, 0), (0, 1))),
        )


def _capacities(constraints: Sequence[Constraint]) -> Array:
    size = constraints[0].directions.shape[1]
    if all(constraint.capacity is None and constraint.slack_capacity is None for constraint in constraints):
        return np.empty((0, size))
    return np.array([np.zeros(size) if own.capacity is None else own.capacity for own in constraints])


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
