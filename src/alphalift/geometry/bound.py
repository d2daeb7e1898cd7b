"""Lower bounds of the pricing problem on a box: the formula, slabs that it rules out, and the dual that makes it best.

On a box [low, high], for *any* w >= 0 and any nu ("The bound" in docs/theory.md),

    nu - sigma(w) + sum_x min(q_x(low_x), q_x(high_x)),   q_x(v) = phi_x(v) - c_x v,   c = u + nu - A w

is a lower bound, because a concave q_x is least at an end of its interval. A slack t of the set in [0, width] with
coefficients B and a cost adds min(0, width (cost + B.w)), less its own share of capacities in sigma. A cone's sigma is multiplied by its capacity V M instead of 1: it moves from the
constant to c, c_x = u_x + nu - A_x w + M_x sigma(w). The best (w, nu) is the dual of the chord relaxation, a convex program.
`exact_bound` is the formula, `trim` cuts off what it rules out, `relax` solves the relaxation.

`threshold` is negative: the objective that a search may leave (T in docs/theory.md). Every V with an objective below it is a
column that would improve the mechanism; a box whose bound reaches it has none.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import types

from alphalift.compiled import VECTOR, compile_once, copied, full, inlined, spliced, subroutine, sum_of, tuple_type
from alphalift.geometry.pricing import PRICING, Box, Pricing, linear_program, phi
from alphalift.geometry.support import support_magnitudes, supports

# A box side shorter than this is a point: its chord would be a quotient of roundings. Above float rounding of numbers up
# to 1 by far, and far below _PADDING, so that a widened side is never a point.
POINT = 1e-9
# A float operation's relative error, 2^-53, and a little more for what is of second order ("Floats" in docs/theory.md).
UNIT_ROUNDOFF = 1.2e-16
# By how much a box must miss every distribution, for each symbol, to be called empty. Above 2^-28 = 3.7e-9, by which files
# may round the ends of boxes (proof/export.py): an empty box must not come to life by that. Below _PADDING, so that a thin
# box that is not called empty has an interior once it is widened.
_EMPTY = 1e-8
# A box with less mass to spare than this is widened by it on every side for the interior point, which needs an interior.
_PADDING = 1e-6
# What the complementary products of a relaxation may sum to: its bound is as far from the best. Far below thresholds,
# which are 1e-4 or so of an entropy.
_ACCURACY = 1e-7
# How far above the threshold a relaxation goes before it stops: more than what `exact_bound` takes off for rounding, so that
# the bound reaches the threshold as well; less than _ACCURACY, so that it costs no further step.
_CLEARANCE = 1e-9
# A trimmed end is found to this share of the box's side: a finer one would hardly make a box smaller.
_TRIM_PRECISION = 1e-3


# How kernels take `bound_box`: behind a pointer, so that it is not compiled again as a part of each.
_SIGNATURE = types.float64(tuple_type(Pricing, *PRICING), tuple_type(Box, VECTOR, VECTOR), VECTOR, types.float64)
BOUND_BOX = types.FunctionType(_SIGNATURE)


def compile_with_bound(kernel: Callable[..., None]) -> Callable[..., None]:
    """A compiled kernel that takes a `bound_box` last, as a function of what it takes before."""
    bound = compile_once(bound_box, _SIGNATURE)
    return lambda *arguments: kernel(*arguments, bound)


def bound_box(problem, box, dual, threshold):
    """`exact_bound`, and the box trimmed with it if it is below the threshold; below -inf nothing is."""
    bound = exact_bound(problem, box, dual)
    if bound < threshold:
        trim(problem, box, dual, bound, threshold)
    return bound


@spliced
def exact_bound(problem, box, dual):
    """The lower bound at w with the best nu, which is set in dual = (w, nu); infinite where the box holds no distribution.

    It is the formula at (w, nu), valid whatever they are, less what rounding may have added.
    """
    feasible, prices, low, high = problem.feasible, problem.prices, box.low, box.high
    moments, capacities, slacks, widths = feasible.moments, feasible.capacities, feasible.slacks, feasible.widths
    slack_capacities = feasible.slack_capacities
    count, size = moments.shape
    if _is_empty(low, high):
        return np.inf
    at_low, at_high, sigmas = full(count, 0.0), full(count, 0.0), full(len(feasible.base_capacity), 0.0)
    supports(feasible.constraints, dual[:size], sigmas)
    curves = 0.0
    for x in range(count):
        rate = -prices[x]
        for i in range(size):
            rate += moments[x, i] * dual[i]
        for p in range(capacities.shape[1]):
            rate -= capacities[x, p] * sigmas[p]
        phi_low, phi_high = phi(problem, x, low[x]), phi(problem, x, high[x])
        curves += max(abs(phi_low), abs(phi_high)) + _ratio_magnitude(problem, x, high[x])
        at_low[x] = phi_low + rate * low[x]
        at_high[x] = phi_high + rate * high[x]
    nu = _best_nu(box, at_low, at_high)
    dual[size] = nu
    base_capacity, sigma = feasible.base_capacity, 0.0
    for p in range(len(sigmas)):
        sigma += base_capacity[p] * sigmas[p]
    bound, passed = nu - sigma, 0.0
    for x in range(count):
        bound += min(at_low[x] - nu * low[x], at_high[x] - nu * high[x])
        passed += abs(bound)
    for k in range(len(widths)):
        saved = problem.costs[k]
        for i in range(size):
            saved += slacks[k, i] * dual[i]
        for p in range(slack_capacities.shape[1]):
            saved -= slack_capacities[k, p] * sigmas[p]
        bound += min(0.0, widths[k] * saved)
        passed += abs(bound)
    # Large duals cancel: what the terms and their sum may have lost to rounding must not count as proven.
    bound -= UNIT_ROUNDOFF * (feasible.roundings * (curves + _magnitude(problem, box, dual, sigmas)) + passed)
    return bound if abs(bound) < np.inf else -np.inf  # not a number is no bound


@subroutine
def _is_empty(low, high):
    """Whether no distribution is in the box or near it."""
    count = len(low)
    empty = sum_of(low) > 1.0 + _EMPTY * count or sum_of(high) < 1.0 - _EMPTY * count
    for x in range(count):
        empty |= low[x] > high[x]
    return empty


@spliced
def _best_nu(box, at_low, at_high):
    """The nu of the best bound for its w.

    The relaxation fills the box from low, the cheapest slope first, until the mass is one: nu is the slope at which it stops.
    """
    low, high, count = box.low, box.high, len(box.low)
    slope, heap = full(count, np.inf), np.empty(count, np.int64)
    for x in range(count):
        heap[x] = x
        if high[x] > low[x]:
            slope[x] = (at_high[x] - at_low[x]) / (high[x] - low[x])
    for i in range(count // 2, -1, -1):  # i ends at 0, the heap's top; a literal 0 would compile `_sink` once more
        _sink(heap, slope, i, count)
    nu, unfilled = slope[heap[0]], 1.0 - sum_of(low)
    while unfilled > 0.0 and count > 0 and slope[heap[0]] < np.inf:
        nu = slope[heap[0]]
        unfilled -= high[heap[0]] - low[heap[0]]
        count -= 1
        heap[0] = heap[count]
        _sink(heap, slope, i, count)
    return nu if abs(nu) < np.inf else 0.0


@subroutine
def _sink(heap, keys, i, count):
    """Let entry i of the heap, which has no larger key above a smaller one, sink to its place among the first `count`."""
    own, child = heap[i], 2 * i + 1
    while child < count:
        if child + 1 < count and keys[heap[child + 1]] < keys[heap[child]]:
            child += 1
        if not keys[heap[child]] < keys[own]:
            break
        heap[i] = heap[child]
        i, child = child, 2 * child + 1
    heap[i] = own


@spliced
def _magnitude(problem, box, dual, sigmas):
    """The sum of all terms of the bound but phi_x, without their signs: roundings are relative to it. Overwrites the sigmas."""
    feasible, high = problem.feasible, box.high
    slacks, widths, base_capacity = feasible.slacks, feasible.widths, feasible.base_capacity
    support_magnitudes(feasible.constraints, dual, sigmas)
    total = abs(dual[-1])
    for p in range(len(sigmas)):
        total += base_capacity[p] * sigmas[p]
    for x in range(len(high)):
        total += high[x] * _slope_magnitude(problem, x, dual, sigmas)
    for k in range(len(widths)):
        total += widths[k] * (abs(problem.costs[k]) + _row_magnitude(slacks, k, dual))
        total += widths[k] * _row_magnitude(feasible.slack_capacities, k, sigmas)
    return total


@inlined
def _slope_magnitude(problem, x, dual, sigmas):
    """The terms of c_x without their signs; sigmas are magnitudes."""
    sizes, capacities = problem.feasible.moment_sizes, problem.feasible.capacities
    return (
        abs(problem.prices[x]) + abs(dual[-1]) + _row_magnitude(sizes, x, dual) + _row_magnitude(capacities, x, sigmas)
    )


@inlined
def _ratio_magnitude(problem, x, high):
    """What an error of v / scale_x, relative to it, does to phi_x(v), beside what is relative to that; nothing where it is exact."""
    return 0.0 if problem.scales[x] == 1.0 else high


@subroutine
def _row_magnitude(matrix, row, w):
    """The sum of the terms of this row times w without their signs."""
    total = 0.0
    for i in range(matrix.shape[1]):
        total += abs(matrix[row, i] * w[i])
    return total


@spliced
def trim(problem, box, dual, bound, threshold):
    """Shrink the box, whose bound at this dual is below the threshold, by slabs that the dual proves to reach it."""
    feasible, prices, low, high = problem.feasible, problem.prices, box.low, box.high
    moments, capacities = feasible.moments, feasible.capacities
    count, size = moments.shape
    sigmas, magnitudes = full(len(feasible.base_capacity), 0.0), full(len(feasible.base_capacity), 0.0)
    if capacities.shape[1]:
        supports(feasible.constraints, dual[:size], sigmas)
        for p in range(len(sigmas)):
            magnitudes[p] = sigmas[p]
        support_magnitudes(feasible.constraints, dual, magnitudes)
    error = UNIT_ROUNDOFF * feasible.roundings
    for x in range(count):
        width = high[x] - low[x]
        if width < POINT:
            continue
        c = prices[x] + dual[size]
        for i in range(size):
            c -= moments[x, i] * dual[i]
        for p in range(capacities.shape[1]):
            c += capacities[x, p] * sigmas[p]
        at_low = phi(problem, x, low[x]) - c * low[x]
        at_high = phi(problem, x, high[x]) - c * high[x]
        # The slab [a, b] of symbol x has the bound: bound - min(at_low, at_high) + min(q(a), q(b)).
        level = threshold - bound + min(at_low, at_high)
        level += error * (abs(threshold) + abs(bound) + high[x] * _slope_magnitude(problem, x, dual, magnitudes))
        level += error * _ratio_magnitude(problem, x, high[x])
        if at_high >= level:
            outside, inside = high[x], low[x]
        elif at_low >= level:
            outside, inside = low[x], high[x]
        else:
            continue
        while abs(outside - inside) > _TRIM_PRECISION * width:
            middle = 0.5 * (outside + inside)
            value = phi(problem, x, middle)
            if value - c * middle >= level + error * abs(value):
                outside = middle
            else:
                inside = middle
        if at_high >= level:
            high[x] = outside
        else:
            low[x] = outside


@spliced
def relax(minimise, interior_point, bound_box, problem, box, dual, point, bound, threshold):
    """The bound of the chord relaxation on a box; its minimiser into point. Keeps the dual, whose bound is given, if better."""
    if _is_empty(box.low, box.high):
        return np.inf
    before = copied(dual)
    wide = _with_interior(box)
    program, symbols, constant = _chord_program(problem, wide)
    found = full(len(program.rates), 0.0)
    minimise(interior_point, program, dual, found, _ACCURACY, threshold - constant + _CLEARANCE)
    for x in range(len(point)):
        point[x] = wide.low[x]
    for k in range(len(symbols)):
        point[symbols[k]] += found[k]
    new = bound_box(problem, box, dual, -np.inf)
    if new > bound:
        return new
    for i in range(len(dual)):
        dual[i] = before[i]
    return bound


@spliced
def _with_interior(box):
    """The box, widened if it hardly has an interior among distributions: the dual that is found is good for the box itself."""
    low, high = copied(box.low), copied(box.high)
    if 1.0 - sum_of(low) < _PADDING or sum_of(high) - 1.0 < _PADDING:
        for x in range(len(low)):
            low[x], high[x] = max(low[x] - _PADDING, 0.0), min(high[x] + _PADDING, 1.0)
    return Box(low, high)


@spliced
def _chord_program(problem, box):
    """phi replaced by its chord on every side of the box: a program in V - low, its symbols, and the objective at low."""
    feasible, prices, low, high = problem.feasible, problem.prices, box.low, box.high
    moments, capacities = feasible.moments, feasible.capacities
    base_moments, base_capacity = full(moments.shape[1], 0.0), copied(feasible.base_capacity)
    mass, constant, symbols, count = 1.0, 0.0, np.empty(len(low), np.int64), 0
    for x in range(len(low)):
        mass -= low[x]
        constant += phi(problem, x, low[x]) - prices[x] * low[x]
        for i in range(len(base_moments)):
            base_moments[i] += low[x] * moments[x, i]
        for p in range(capacities.shape[1]):
            base_capacity[p] += low[x] * capacities[x, p]
        if high[x] - low[x] > POINT:
            symbols[count] = x
            count += 1
    program = linear_program(feasible, symbols[:count], mass, base_moments, base_capacity)
    width, rates = program.width, program.rates
    for k in range(count):
        x = symbols[k]
        width[k] = high[x] - low[x]
        rates[k] = (phi(problem, x, high[x]) - phi(problem, x, low[x])) / width[k] - prices[x]
    for k in range(count, len(rates)):
        rates[k] = problem.costs[k - count]
    return program, symbols[:count], constant
