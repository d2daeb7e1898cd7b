"""A primal-dual interior-point method for linear functions over a box cut by a convex set.

    minimise rates.V  over  0 <= V <= width,  counted.V = mass,  base_moments + V A in the set

The relaxation of a box (`bound`) and the steps of a descent (`descent`) are this program: see "The algorithm" in
docs/theory.md. Mehrotra's predictor and corrector; all unknowns but the dual (w, nu) are eliminated, which leaves a
positive definite system of k + 1 equations. Nothing depends on convergence: every (w, nu) proves a lower bound.

The moments of half-spaces are written as g - slack, those of a curved constraint as load grad sigma(w) - slack. There are
four kinds of complementary pairs, which are all driven to 0: V and lower_dual, upper_slack = width - V and upper_dual, w
and slack, and for a curved constraint capacity - load and sigma(w), which lets its w vanish where it does not bind
although sigma has a kink there. A cone's capacity is base_capacity + V M; as it moves with V, so does the load, and the
Jacobian A - M grad sigma takes the place of A.

Rows V_x m <= tau p, each of one V and the last variable tau, a *lid* over all of them, are eliminated as well: written in U = V - f tau,
where f_x tells how much V_x gives way with tau, the V stay apart from each other, so that a step has as many unknowns fewer.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from alphalift.arrays import Array
from alphalift.compiled import (
    INTEGERS,
    MATRIX,
    VECTOR,
    compile_once,
    copied,
    full,
    inlined,
    spliced,
    subroutine,
    sum_of,
    tuple_type,
    zeros,
)
from alphalift.convex import ENTROPY, HALF_SPACES, SPHERE, Constraints
from alphalift.geometry import cholesky
from alphalift.geometry.support import CONSTRAINTS, support

# A dozen or two steps are usual; beyond this a flat set has used up the digits, and the best (w, nu) so far must do.
_MOST_STEPS = 50
# Where V starts, as a share of its width: where the mass is met, but off the ends, and in the middle for slacks.
_LEAST_FILLED, _MIDDLE, _MOST_FILLED = 0.02, 0.5, 0.98
# Starting slacks are small beside moments of about 1; starting loads are far from both of their ends, 0 and the capacity.
_FIRST_SLACK, _FIRST_LOAD = 0.1, 0.5
# A w of any sign starts along its moments, and these may vanish: this moves it off 0, far below what moments mean.
_OFF_ZERO = 1e-6
# A load below this share of its capacity has lost its direction, which is then chosen again. Far below _FIRST_LOAD.
_LEAST_LOAD = 1e-2
# Added to the diagonal for directions without a slack, whose equations are singular where the set is flat: above the
# rounding of entries of about 1, below the accuracy that relaxations ask for.
_REGULARISATION = 1e-7
# Longer than any step; a step is at most 1 in the end.
_UNLIMITED = 1e9
# How much of the way to the nearest boundary a step takes: pairs stay positive.
_TO_BOUNDARY = 0.99
# The corrector's target is at least this share of the present mean where gradients of curved constraints turn on the way.
_LEAST_CENTRING = 0.1
# Trust region of curved constraints: w falls to half at most, rises to twice at most; a w of any sign moves by half its
# size; exponents of the entropy kind change by 1.
_MOST_FALL, _MOST_RISE, _MOST_TURN, _MOST_EXPONENT_CHANGE = 0.5, 1.0, 0.5, 1.0
# The same for cones, at first: where that ends, which is nearly always, it takes two steps instead of three.
_WIDE_FALL, _WIDE_RISE, _WIDE_TURN = 0.8, 3.0, 1.5


class ConvexProgram(NamedTuple):
    """The program above: n variables, symbols and slacks of the set, and k moments.

    `counted` is 1 for what counts towards the mass and 0 for slacks; capacities, M, has no columns if there is no cone. The last moments
    are rows of a lid, one for each entry of `held`: the variable that it holds down, or -1 for none.
    """

    constraints: Constraints
    moments: Array  # A, (n, k)
    capacities: Array  # M, (n, constraints)
    counted: Array
    rates: Array
    width: Array
    base_moments: Array
    base_capacity: Array
    held: NDArray[np.int64]
    mass: float


_PROGRAM = tuple_type(ConvexProgram, CONSTRAINTS, MATRIX, MATRIX, *5 * [VECTOR], INTEGERS, types.float64)
PROGRAM_AND_RESULT = (_PROGRAM, VECTOR, VECTOR, types.float64, types.float64)


@cache
def compiled_interior_point() -> Any:
    return compile_once(interior_point, types.void(*PROGRAM_AND_RESULT))


class State(NamedTuple):
    """An iterate, or a direction: how each of these changes in a step of length 1, in formulas dv, dz, ..."""

    v: Array  # V, (n,)
    lower_dual: Array  # z, of V >= 0
    upper_slack: Array  # s = width - V
    upper_dual: Array  # y, of V <= width
    dual: Array  # (w, nu), (k + 1,): w of the moments, nu of the mass
    slack: Array  # r, of the moments, (k,); 0 for good where w has any sign
    capacity: Array  # one entry a constraint, like the next two
    load: Array
    sigma: Array  # at w


class _Derivatives(NamedTuple):
    """What the constraints and costs are at an iterate. `curved`: constraints that are no half-spaces and have a capacity."""

    gradient: Array  # of sigma, (k,)
    hessian: Array  # of sigma, (k, k), block by block, its lower triangle
    jacobian: Array  # A - M grad sigma, (n, k)
    reduced_cost: Array  # (n,)
    curved: NDArray[np.bool_]


class _Lid(NamedTuple):
    """The eliminated rows, one entry each, and what they do to V."""

    share: Array  # how much w changes with the force on the V that the row holds down
    give: Array  # how much w changes with what the row lacks
    missing: Array  # what the row lacks
    follows: Array  # f, (n,)
    pull: Array  # on V, of what its row lacks, (n,)
    force: Array  # on V at the changed dual, (n,)


class _Newton(NamedTuple):
    """The system for the dual but a lid's w, and what is needed to get the rest of a direction from it.

    The `_residual`s are what complementary pairs lack of the target; `wanted_load` is where a load would be if its pair
    were on target at the present w, and 1 for half-spaces, whose gradient counts as it is. With a lid, `counted`, like the last row of
    the Jacobian, is that of the variables U.
    """

    factor: Array  # (k + 1, k + 1), k without the rows of a lid
    side: Array  # (k + 1,)
    counted: Array
    lid: _Lid
    weight: Array  # of each V in the normal equations, (n,)
    pressure: Array  # on each V at an unchanged dual, (n,)
    lower_residual: Array
    upper_residual: Array
    w_residual: Array
    wanted_load: Array


def interior_point(program, dual, point, accuracy, enough):
    """The minimiser into `point`, and the (w, nu) with the best lower bound into `dual`.

    Stops as soon as the lower bound is `enough`, or when all complementary products together are below the accuracy. Cones are
    tried with wider steps first.
    """
    before, first, wide = copied(dual), -np.inf, program.capacities.shape[1] > 0
    while True:  # one call, so that it is compiled once
        solved, bound = _solve(program, dual, point, accuracy, enough, wide)
        if solved or not wide:
            break
        for i in range(len(dual)):
            before[i] = dual[i]
        first, wide = bound, False
    if first > bound:
        for i in range(len(dual)):
            dual[i] = before[i]


@spliced
def _solve(program, dual, point, accuracy, enough, wide):
    """Whether it stopped as it should, and the best lower bound, whose (w, nu) is in `dual`."""
    program, iterate, scale = _start(program, point)
    direction, at, newton = _workspace(program, iterate)
    pairs, curved = _count_pairs(iterate, at.curved)
    least_centring = _LEAST_CENTRING if curved else 0.0
    best, solved = -np.inf, False
    for iteration in range(_MOST_STEPS):
        _renew_directions(program, iterate, at.curved, iteration == 0)
        lower = _evaluate(program, iterate, at)
        if lower > best:
            best = lower
            _keep_dual(iterate.dual, scale, dual)
        total = _complementarity(iterate)
        missing = abs(program.mass - _product(program.counted, point))
        solved = best >= enough or (total < accuracy and missing < accuracy)
        if solved:
            break
        if not _factorise(program, iterate, at, newton):
            break
        target, second_order, length = 0.0, 0.0, 0.0  # of the predictor, which tells the corrector its own
        for corrector in range(2):
            _set_residuals(iterate, direction, at.curved, newton, target, second_order)
            _set_side(program, iterate, at, newton)
            cholesky.solve(newton.factor, newton.side)
            _set_direction(program, iterate, direction, at, newton)
            _set_load_direction(program, iterate, direction, at, newton)
            length = _longest_step(iterate, direction, at.curved)
            if corrector == 0:
                predicted = _complementarity_after(iterate, direction, min(length, 1.0))
                target = total / pairs * max((predicted / total) ** 3, least_centring)
                second_order = 1.0
        length = _within_trust(program.constraints, iterate, direction, wide, min(1.0, _TO_BOUNDARY * length))
        _advance(program, iterate, direction, length)
    return solved, best


@spliced
def _start(program, point):
    """The program with cones scaled, its first iterate, whose V is `point`, and what w has to be divided by in the end."""
    kinds, firsts, lasts = program.constraints.kind, program.constraints.first, program.constraints.last
    width, counted = program.width, program.counted
    count, size = program.moments.shape
    filled = min(max(program.mass / _product(counted, width), _LEAST_FILLED), _MOST_FILLED)
    lower_dual, upper_slack, upper_dual = full(count, 1.0), full(count, 0.0), full(count, 1.0)
    for x in range(count):
        point[x] = width[x] * (filled if counted[x] > 0.0 else _MIDDLE)
        upper_slack[x] = width[x] - point[x]
    capacity, scale = copied(program.base_capacity), full(size, 1.0)
    if program.capacities.shape[1]:
        program = _scaled(program, point, capacity, scale)
    slack, load, sigma = full(size, _FIRST_SLACK), full(len(kinds), 0.0), full(len(kinds), 0.0)
    for p in range(len(kinds)):
        load[p] = capacity[p] * (1.0 if kinds[p] == HALF_SPACES else _FIRST_LOAD)
        if kinds[p] >= SPHERE or capacity[p] <= 0.0:  # w has any sign, or nothing to say: it has no slack
            for i in range(firsts[p], lasts[p]):
                slack[i] = 0.0
    dual = full(size + 1, 1.0)
    dual[size] = _product(program.rates, counted) / sum_of(counted)
    return program, State(point, lower_dual, upper_slack, upper_dual, dual, slack, capacity, load, sigma), scale


@spliced
def _scaled(program, v, capacity, scale):
    """The program with every constraint divided by its capacity at V, which becomes 1: a cone's may be tiny.

    A constraint without any capacity, which says nothing, keeps 0. `scale` is what the moments were divided by.
    """
    firsts, lasts = program.constraints.first, program.constraints.last
    moments, capacities = program.moments.copy(), program.capacities.copy()
    base_moments, base_capacity = copied(program.base_moments), copied(program.base_capacity)
    for p in range(len(capacity)):
        own = base_capacity[p] + _column_product(capacities, p, v)
        capacity[p] = 1.0 if own > 0.0 else 0.0
        if own > 0.0:
            base_capacity[p] /= own
            for x in range(len(v)):
                capacities[x, p] /= own
                for i in range(firsts[p], lasts[p]):
                    moments[x, i] /= own
            for i in range(firsts[p], lasts[p]):
                base_moments[i] /= own
                scale[i] = own
    rates, width, counted = program.rates, program.width, program.counted
    return ConvexProgram(
        program.constraints,
        moments,
        capacities,
        counted,
        rates,
        width,
        base_moments,
        base_capacity,
        program.held,
        program.mass,
    )


@spliced
def _workspace(program, iterate):
    """Arrays for a direction, the derivatives and the Newton system: allocated once."""
    count, size = program.moments.shape
    kinds, capacity = program.constraints.kind, iterate.capacity
    pairs = full(count, 0.0), full(count, 0.0), full(count, 0.0), full(count, 0.0)
    constraints = len(kinds)
    loads = full(constraints, 0.0), full(constraints, 0.0), full(constraints, 0.0)
    direction = State(*pairs, full(size + 1, 0.0), full(size, 0.0), *loads)
    curved = np.empty(constraints, np.bool_)
    for p in range(constraints):
        curved[p] = kinds[p] != HALF_SPACES and capacity[p] > 0.0
    at = _Derivatives(full(size, 0.0), zeros(size, size), program.moments.copy(), full(count, 0.0), curved)
    rows = len(program.held)
    of_rows = full(rows, 0.0), full(rows, 0.0), full(rows, 0.0)
    lid = _Lid(*of_rows, full(count, 0.0), full(count, 0.0), full(count, 0.0))
    unknowns = size - rows + 1
    system = zeros(unknowns, unknowns), full(unknowns, 0.0), copied(program.counted), lid, full(count, 0.0)
    residuals = full(count, 0.0), full(count, 0.0), full(size, 0.0)
    newton = _Newton(*system, full(count, 0.0), *residuals, full(constraints, 0.0))
    return direction, at, newton


@spliced
def _count_pairs(iterate, curved):
    """The number of complementary pairs, and of those among them that belong to curved constraints."""
    slack, count, own = iterate.slack, 2 * len(iterate.v), 0
    for i in range(len(slack)):
        count += slack[i] > 0.0
    for p in range(len(curved)):
        own += curved[p]
    return count + own, own


@inlined
def _keep_dual(own, scale, dual):
    """(w, nu) as it is for the constraints before they were scaled."""
    size = len(scale)
    for i in range(size):
        dual[i] = own[i] / scale[i]
    dual[size] = own[size]


@inlined
def _renew_directions(program, iterate, curved, at_first):
    """Turn a w of any sign to the moments that V has, where the load is positive: at first, and once it is nearly 0."""
    kinds, firsts, lasts = program.constraints.kind, program.constraints.first, program.constraints.last
    load, capacity, w, v = iterate.load, iterate.capacity, iterate.dual, iterate.v
    moments, base_moments = program.moments, program.base_moments
    for p in range(len(load)):
        if kinds[p] >= SPHERE and curved[p] and (at_first or load[p] < _LEAST_LOAD * capacity[p]):
            first, last = firsts[p], lasts[p]
            largest = _largest(w, first, last)
            for i in range(first, last):
                w[i] = base_moments[i] + _column_product(moments, i, v) + _OFF_ZERO * math.cos(i - first + 1.0)
            factor = largest / _largest(w, first, last)
            for i in range(first, last):
                w[i] *= factor
            load[p] = _FIRST_LOAD * capacity[p]


@subroutine
def _largest(values, first, last):
    """The largest of these entries without their signs."""
    largest = 0.0
    for i in range(first, last):
        largest = max(largest, abs(values[i]))
    return largest


@subroutine
def _column_product(matrix, column, v):
    total = 0.0
    for x in range(len(v)):
        total += matrix[x, column] * v[x]
    return total


@inlined
def _evaluate(program, iterate, at):
    """The constraints and reduced costs at (w, nu); returns the lower bound that (w, nu) proves."""
    constraints, moments, capacities, dual = program.constraints, program.moments, program.capacities, iterate.dual
    first, last, base_capacity = constraints.first, constraints.last, program.base_capacity
    rates, counted, width = program.rates, program.counted, program.width
    gradient, hessian, jacobian, reduced_cost = at.gradient, at.hessian, at.jacobian, at.reduced_cost
    sigma = iterate.sigma
    count, size = moments.shape
    lower = dual[size] * program.mass + _product(program.base_moments, dual)
    for p in range(len(sigma)):
        own_hessian = hessian[first[p] : last[p], first[p] : last[p]]
        sigma[p] = support(constraints, p, dual[first[p] : last[p]], gradient[first[p] : last[p]], own_hessian)
        lower -= base_capacity[p] * sigma[p]
    for p in range(capacities.shape[1]):
        for x in range(count):
            for i in range(first[p], last[p]):
                jacobian[x, i] = moments[x, i] - capacities[x, p] * gradient[i]
    for x in range(count):
        cost = rates[x] - dual[size] * counted[x]
        for i in range(size):
            cost += moments[x, i] * dual[i]
        for p in range(capacities.shape[1]):
            cost -= capacities[x, p] * sigma[p]
        reduced_cost[x] = cost
        lower += width[x] * min(0.0, cost)
    return lower


@inlined
def _complementarity(iterate):
    """The sum of all complementary products, which bounds the gap of a feasible iterate."""
    total = _product(iterate.lower_dual, iterate.v) + _product(iterate.upper_dual, iterate.upper_slack)
    total += _product(iterate.slack, iterate.dual)
    capacity, load, sigma = iterate.capacity, iterate.load, iterate.sigma
    unused = 0.0
    for p in range(len(load)):
        unused += (capacity[p] - load[p]) * sigma[p]
    return total + unused


@subroutine
def _product(a, b):
    """The sum of a_i b_i over the first one's entries."""
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@inlined
def _complementarity_after(iterate, direction, length):
    """The same after a step; sigma to first order, and not below 0, where it cannot go."""
    total = _product_after(iterate.lower_dual, direction.lower_dual, iterate.v, direction.v, length)
    total += _product_after(iterate.slack, direction.slack, iterate.dual, direction.dual, length)
    upper_slack, its_change = iterate.upper_slack, direction.upper_slack
    total += _product_after(iterate.upper_dual, direction.upper_dual, upper_slack, its_change, length)
    capacity, load, sigma = iterate.capacity, iterate.load, iterate.sigma
    dcapacity, dload, dsigma = direction.capacity, direction.load, direction.sigma
    for p in range(len(load)):
        free = capacity[p] - load[p] + length * (dcapacity[p] - dload[p])
        total += free * max(sigma[p] + length * dsigma[p], 0.0)
    return total


@subroutine
def _product_after(a, da, b, db, length):
    total = 0.0
    for i in range(len(a)):
        total += (a[i] + length * da[i]) * (b[i] + length * db[i])
    return total


@inlined
def _factorise(program, iterate, at, newton):
    """The normal equations in the change of (w, nu) as a Cholesky factor; false if they are singular in floats."""
    first, last = program.constraints.first, program.constraints.last
    v, z, s, y = iterate.v, iterate.lower_dual, iterate.upper_slack, iterate.upper_dual
    w, r, capacity, load, sigma = iterate.dual, iterate.slack, iterate.capacity, iterate.load, iterate.sigma
    gradient, hessian, jacobian, curved = at.gradient, at.hessian, at.jacobian, at.curved
    factor, weight, counted = newton.factor, newton.weight, newton.counted
    count, size = len(weight), len(factor) - 1
    for i in range(size + 1):
        for j in range(i + 1):
            factor[i, j] = 0.0
    for p in range(len(load)):
        if curved[p]:
            for i in range(first[p], last[p]):
                for j in range(first[p], i + 1):
                    along = (capacity[p] - load[p]) / sigma[p] * gradient[i] * gradient[j]
                    factor[i, j] = load[p] * hessian[i, j] + along
    for i in range(size):
        factor[i, i] += r[i] / w[i] if r[i] > 0.0 else _REGULARISATION
    for x in range(count):
        weight[x] = z[x] / v[x] + y[x] / s[x]
    if len(program.held):
        _eliminate_lid(program, iterate, at, newton)
    for x in range(count):
        weight[x] = 1.0 / weight[x]
        for i in range(size):
            scaled = weight[x] * jacobian[x, i]
            for j in range(i + 1):
                factor[i, j] += scaled * jacobian[x, j]
            factor[size, i] -= scaled * counted[x]
        factor[size, size] += weight[x] * counted[x] ** 2
    return cholesky.factorise(factor)


@inlined
def _eliminate_lid(program, iterate, at, newton):
    """Make weights, which are reciprocals yet, the Jacobian and what counts those of U, held down by the rows of the lid."""
    held, moments, w, r = program.held, program.moments, iterate.dual, iterate.slack
    weight, counted, jacobian, own = newton.weight, newton.counted, at.jacobian, newton.lid
    follows, share, give = own.follows, own.share, own.give
    last, size = len(weight) - 1, len(newton.factor) - 1
    stiffness, counted[last] = weight[last], 0.0
    for j in range(len(held)):
        row, x = size + j, held[j]
        stiff, of_last = w[row] / r[row], moments[last, row]
        give[j] = stiff
        if x >= 0:
            together = weight[x] + stiff * moments[x, row] ** 2
            share[j], give[j] = stiff * moments[x, row] / together, stiff * weight[x] / together
            weight[x], follows[x] = together, -share[j] * of_last
            counted[last] += follows[x] * counted[x]
            for i in range(size):
                jacobian[last, i] += follows[x] * jacobian[x, i]
        stiffness += give[j] * of_last**2
    weight[last] = stiffness


@inlined
def _set_residuals(iterate, direction, curved, newton, target, second_order):
    """What complementary pairs lack of the target, less the product of their changes in the last direction."""
    v, z, s, y = iterate.v, iterate.lower_dual, iterate.upper_slack, iterate.upper_dual
    dv, dz, ds, dy = direction.v, direction.lower_dual, direction.upper_slack, direction.upper_dual
    lower_residual, upper_residual, w_residual = newton.lower_residual, newton.upper_residual, newton.w_residual
    for x in range(len(v)):
        lower_residual[x] = target - z[x] * v[x] - second_order * dv[x] * dz[x]
        upper_residual[x] = target - y[x] * s[x] - second_order * ds[x] * dy[x]
    w, r, dw, dr = iterate.dual, iterate.slack, direction.dual, direction.slack
    for i in range(len(r)):
        w_residual[i] = target - w[i] * r[i] - second_order * dw[i] * dr[i]
    capacity, load, sigma, wanted_load = iterate.capacity, iterate.load, iterate.sigma, newton.wanted_load
    dcapacity, dload, dsigma = direction.capacity, direction.load, direction.sigma
    for p in range(len(load)):
        wanted_load[p] = 1.0 if capacity[p] > 0.0 else 0.0
        if curved[p]:
            product = second_order * (dcapacity[p] - dload[p]) * dsigma[p]
            residual = target - (capacity[p] - load[p]) * sigma[p] - product
            wanted_load[p] = load[p] - residual / sigma[p]


@inlined
def _set_side(program, iterate, at, newton):
    """The right-hand side: by how much moments and mass miss what they should be, once V has given way to its pairs."""
    first, last, base_moments = program.constraints.first, program.constraints.last, program.base_moments
    capacities, counted, follows, pull = program.capacities, newton.counted, newton.lid.follows, newton.lid.pull
    v, z, s, y = iterate.v, iterate.lower_dual, iterate.upper_slack, iterate.upper_dual
    w, r = iterate.dual, iterate.slack
    gradient, jacobian, reduced_cost = at.gradient, at.jacobian, at.reduced_cost
    side, weight, pressure, wanted_load = newton.side, newton.weight, newton.pressure, newton.wanted_load
    lower_residual, upper_residual, w_residual = newton.lower_residual, newton.upper_residual, newton.w_residual
    count, size = len(v), len(side) - 1
    for p in range(len(first)):
        for i in range(first[p], min(last[p], size)):
            correction = w_residual[i] / w[i] if r[i] > 0.0 else 0.0
            side[i] = r[i] + base_moments[i] - wanted_load[p] * gradient[i] + correction
    side[size] = program.mass
    for x in range(count):
        pressure[x] = lower_residual[x] / v[x] - reduced_cost[x] + z[x] - y[x] - upper_residual[x] / s[x]
    if len(program.held):
        _press_lid(program, iterate, newton)
    for x in range(count):
        moved = v[x] - follows[x] * v[count - 1] + weight[x] * pressure[x] - pull[x]
        for i in range(size):
            side[i] += jacobian[x, i] * moved
        for p in range(capacities.shape[1]):
            for i in range(first[p], min(last[p], size)):
                side[i] += capacities[x, p] * gradient[i] * v[x]
        side[size] -= counted[x] * moved


@inlined
def _press_lid(program, iterate, newton):
    """What the rows of the lid lack, and the pressure on tau and the pull on U that come of it."""
    held, moments, base_moments = program.held, program.moments, program.base_moments
    v, w, r, w_residual = iterate.v, iterate.dual, iterate.slack, newton.w_residual
    pressure, follows, pull = newton.pressure, newton.lid.follows, newton.lid.pull
    share, give, missing = newton.lid.share, newton.lid.give, newton.lid.missing
    last, size = len(v) - 1, len(newton.side) - 1
    for j in range(len(held)):
        row, x = size + j, held[j]
        missing[j] = r[row] + base_moments[row] + w_residual[row] / w[row] + moments[last, row] * v[last]
        if x >= 0:
            missing[j] += moments[x, row] * v[x]
            pressure[last] += follows[x] * pressure[x]
            pull[x] = share[j] * missing[j]
        pressure[last] -= give[j] * moments[last, row] * missing[j]


@inlined
def _set_direction(program, iterate, direction, at, newton):
    """The changes of V, w and their partners, from the solution of the Newton system."""
    v, z, s, y = iterate.v, iterate.lower_dual, iterate.upper_slack, iterate.upper_dual
    w, r = iterate.dual, iterate.slack
    dv, dz, ds, dy = direction.v, direction.lower_dual, direction.upper_slack, direction.upper_dual
    dw, dr, counted, jacobian = direction.dual, direction.slack, newton.counted, at.jacobian
    side, weight, pressure, lid = newton.side, newton.weight, newton.pressure, newton.lid
    lower_residual, upper_residual, w_residual = newton.lower_residual, newton.upper_residual, newton.w_residual
    count, size = len(v), len(side) - 1
    for x in range(count - 1, -1, -1):  # a lid's tau, which others follow, is the last one
        force = pressure[x] + side[size] * counted[x]
        for i in range(size):
            force -= jacobian[x, i] * side[i]
        lid.force[x] = force
        dv[x] = weight[x] * force - lid.pull[x] + lid.follows[x] * dv[count - 1]
        ds[x] = -dv[x]
        dz[x] = (lower_residual[x] - z[x] * dv[x]) / v[x]
        dy[x] = (upper_residual[x] - y[x] * ds[x]) / s[x]
    for i in range(size):
        dw[i] = side[i]
    for j in range(len(program.held)):
        row, x = size + j, program.held[j]
        dw[row] = lid.give[j] * (lid.missing[j] + program.moments[count - 1, row] * dv[count - 1])
        if x >= 0:
            dw[row] += lid.share[j] * lid.force[x]
    for i in range(len(r)):
        if r[i] > 0.0:
            dr[i] = (w_residual[i] - r[i] * dw[i]) / w[i]
    dw[len(r)] = side[size]


@inlined
def _set_load_direction(program, iterate, direction, at, newton):
    """The changes of sigma, to first order, and of the load and the capacity of curved constraints."""
    first, last, capacities = program.constraints.first, program.constraints.last, program.capacities
    capacity, load, sigma = iterate.capacity, iterate.load, iterate.sigma
    dcapacity, dload, dsigma = direction.capacity, direction.load, direction.sigma
    dv, dw, gradient, curved, wanted_load = direction.v, direction.dual, at.gradient, at.curved, newton.wanted_load
    for p in range(len(load)):
        if curved[p]:
            change = 0.0
            for i in range(first[p], last[p]):
                change += gradient[i] * dw[i]
            dsigma[p] = change
            if capacities.shape[1]:
                dcapacity[p] = _column_product(capacities, p, dv)
            along = dcapacity[p] + (capacity[p] - load[p]) * dsigma[p] / sigma[p]
            dload[p] = along + (wanted_load[p] - load[p])


@inlined
def _longest_step(iterate, direction, curved):
    """The largest step that keeps all complementary pairs positive."""
    length = _longest(iterate.upper_dual, direction.upper_dual, _UNLIMITED)
    length = _longest(iterate.lower_dual, direction.lower_dual, length)
    length = _longest(iterate.slack, direction.slack, length)
    length = _longest(iterate.upper_slack, direction.upper_slack, length)
    length = _longest(iterate.v, direction.v, length)
    w, r, dw = iterate.dual, iterate.slack, direction.dual
    for i in range(len(r)):
        if r[i] > 0.0 and dw[i] < 0.0:  # without a slack, w has any sign
            length = min(length, -w[i] / dw[i])
    capacity, load, dcapacity, dload = iterate.capacity, iterate.load, direction.capacity, direction.load
    for p in range(len(curved)):
        if curved[p]:
            if dload[p] > dcapacity[p]:
                length = min(length, (capacity[p] - load[p]) / (dload[p] - dcapacity[p]))
            if dload[p] < 0.0:
                length = min(length, -load[p] / dload[p])
    return length


@subroutine
def _longest(values, changes, length):
    """The largest step up to `length` that keeps the values positive."""
    for i in range(len(values)):
        if changes[i] < 0.0:
            length = min(length, -values[i] / changes[i])
    return length


@inlined
def _within_trust(constraints, iterate, direction, wide, length):
    """A step along which the gradients of curved constraints, which turn with w, stay near to what they were."""
    fall, rise = (_WIDE_FALL, _WIDE_RISE) if wide else (_MOST_FALL, _MOST_RISE)
    turn = _WIDE_TURN if wide else _MOST_TURN
    w, dw, kinds, firsts, lasts = iterate.dual, direction.dual, constraints.kind, constraints.first, constraints.last
    for p in range(len(kinds)):
        kind, first, last = kinds[p], firsts[p], lasts[p]
        if kind == HALF_SPACES:
            continue
        if kind >= SPHERE:
            largest, change = _largest(w, first, last), _largest(dw, first, last)
            if change > 0.0:
                length = min(length, turn * largest / change)
            continue
        for i in range(first, last):
            if dw[i] < 0.0:
                length = min(length, -fall * w[i] / dw[i])
            elif dw[i] > 0.0:
                length = min(length, rise * w[i] / dw[i])
        if kind == ENTROPY:
            b, db, steepness = w[last - 1], dw[last - 1], constraints.parameters[constraints.offset[p] + 1]
            for i in range(first, last - 1):
                exponent_change = abs(dw[i] - w[i] / b * db) / b * steepness
                if exponent_change > 0.0:
                    length = min(length, _MOST_EXPONENT_CHANGE / exponent_change)
    return length


@inlined
def _advance(program, iterate, direction, length):
    """Take the step; what does not change linearly, or is known better, is computed again."""
    _add(iterate.v, direction.v, length)
    _add(iterate.lower_dual, direction.lower_dual, length)
    _add(iterate.upper_dual, direction.upper_dual, length)
    _add(iterate.dual, direction.dual, length)
    _add(iterate.slack, direction.slack, length)
    _add(iterate.load, direction.load, length)
    v, s, width = iterate.v, iterate.upper_slack, program.width
    for x in range(len(v)):
        s[x] = width[x] - v[x]
    capacity, base_capacity, capacities = iterate.capacity, program.base_capacity, program.capacities
    if capacities.shape[1]:
        for p in range(len(capacity)):
            capacity[p] = base_capacity[p] + _column_product(capacities, p, v)


@subroutine
def _add(values, changes, length):
    for i in range(len(values)):
        values[i] += length * changes[i]
