"""The pricing problem as kernels take it: minimise sum_x phi_x(V_x) - u.V + costs.slacks over the distributions V in a convex set.

phi_x(v) = scale_x phi(v / scale_x), phi is concave with phi(0) = 0, u are prices ("The bound" in docs/theory.md). The moments V A
lie in a set that is known by its support function (alphalift.convex); its slacks may have costs. `bound` proves lower bounds on boxes, `tree` splits boxes, `descent` finds local
minima; for the last two the objective is replaced by a linear one, on chosen symbols: `linear_program`.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types

from alphalift.arrays import Array
from alphalift.compiled import CURVE, MATRIX, VECTOR, copy_row, full, inlined, subroutine, tuple_type, zeros
from alphalift.convex import Constraints
from alphalift.geometry.interior_point import ConvexProgram
from alphalift.geometry.support import CONSTRAINTS


class Feasible(NamedTuple):
    """The V whose moments V A lie in the set, which may have slacks in [0, widths] with these coefficients, (count, k).

    The capacities of constraints are base_capacity + V M, and what slacks add; M, (|X|, constraints), has no columns where there
    is no cone.
    A moment's error is `roundings` unit roundoffs of its entry of `moment_sizes` at most, and so are others ("Floats" in
    docs/theory.md).
    """

    constraints: Constraints
    moments: Array  # A, (|X|, k)
    slacks: Array
    widths: Array
    base_capacity: Array
    capacities: Array  # M
    slack_capacities: Array  # of the slacks, (count, constraints), as M
    lid: int  # the first moment of a lid (`interior_point`) on all symbols; 0 for none
    moment_sizes: Array
    roundings: float


class Pricing(NamedTuple):
    """The whole problem: the feasible V, the compiled curve phi, a scale above 0 for every symbol, the prices u, the slacks' costs."""

    feasible: Feasible
    curve: Any
    scales: Array
    prices: Array
    costs: Array


class Box(NamedTuple):
    """low <= V <= high."""

    low: Array
    high: Array


# A Pricing as the entries of compiled functions: numba takes a compiled curve for a pointer only where it is an argument.
PRICING = (
    tuple_type(
        Feasible, CONSTRAINTS, MATRIX, MATRIX, VECTOR, VECTOR, MATRIX, MATRIX, types.int64, MATRIX, types.float64
    ),
    types.FunctionType(CURVE),
    VECTOR,
    VECTOR,
    VECTOR,
)


@inlined
def phi(problem, x, v):
    """phi_x(v)."""
    return problem.scales[x] * problem.curve(v / problem.scales[x], 0)


@inlined
def phi_slope(problem, x, v):
    """phi_x'(v), v > 0."""
    return problem.curve(v / problem.scales[x], 1)


@subroutine
def linear_program(feasible, symbols, mass, base_moments, base_capacity):
    """The program over these symbols and the set's slacks. Rates, 0, and the symbols' widths, 1, are to be filled in."""
    count, size = len(symbols), len(base_moments)
    total = count + len(feasible.widths)
    moments, capacities = zeros(total, size), zeros(total, feasible.capacities.shape[1])
    rates, width, counted = full(total, 0.0), full(total, 1.0), full(total, 1.0)
    held = np.empty(size - feasible.lid if feasible.lid else 0, np.int64)
    for j in range(len(held)):
        held[j] = -1
    for k in range(count):
        copy_row(feasible.moments, symbols[k], moments, k)
        copy_row(feasible.capacities, symbols[k], capacities, k)
        if len(held):
            held[symbols[k]] = k
    for k in range(count, total):
        copy_row(feasible.slacks, k - count, moments, k)
        copy_row(feasible.slack_capacities, k - count, capacities, k)
        width[k], counted[k] = feasible.widths[k - count], 0.0
    return ConvexProgram(
        feasible.constraints,
        moments,
        capacities,
        counted,
        rates,
        width,
        base_moments,
        base_capacity,
        held,
        mass,
    )
