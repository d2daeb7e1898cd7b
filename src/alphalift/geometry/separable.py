"""Minimise sum_x p_x (-l_x log l_x - d_x l_x) with sum_x p_x l_x = 1 in a box, under few further separable constraints.

A constraint is sum_x p_x psi(l_x) <= budget with psi of one of three kinds, or a count: how many l_x of a group exceed a
place. Every constraint has one multiplier, and what is left is a minimum for each symbol alone: "The local model" in
docs/theory.md. `evaluate` is that bound for given multipliers, `maximise` finds good ones by the ellipsoid method.
"""
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import types

from alphalift.arrays import Array
from alphalift.compiled import INTEGERS, MATRIX, VECTOR, compile_once, kernel, tuple_type

# Kinds of psi: (l / e^level)^order with the budget 1; l log l and |l - 1| / 2 with the budget `level`.
POWER, ENTROPY, DISTANCE = 0, 1, 2

# Two places of one symbol nearer than this are one.
_SAME = 1e-9
# Newton's method ends at steps of the logarithm below this.
_STEP = 1e-13
# Of the multipliers' uncertainty in the value, where the ellipsoid ends.
_ACCURACY = 1e-9
# For each symbol, and each unit of the terms' size: what rounding can add to a bound.
_ROUNDING = 4e-15
_STEPS_PER_SQUARE = 40
_HALVINGS, _NEWTON_STEPS = 80, 60
_LARGEST_LOG = 690.0


class Terms(NamedTuple):
    """p, d, and the constraints' kinds, orders and levels; where `ray` is above 0, l is 1 or `ray`, up to a factor."""

    p: Array
    d: Array
    kinds: Any
    orders: Array
    levels: Array
    ray: float


class Cell(NamedTuple):
    """A node: low <= l <= high, and for each count its group, its place (rising), the least and the most."""

    low: Array
    high: Array
    member: Array
    group: Any
    place: Array
    least: Array
    most: Array


TERMS = tuple_type(Terms, VECTOR, VECTOR, INTEGERS, VECTOR, VECTOR, types.float64)
CELL = tuple_type(Cell, VECTOR, VECTOR, MATRIX, INTEGERS, VECTOR, VECTOR, VECTOR)


@kernel
def _smooth(log_l, terms, y):
    """(f / l, f', l f'') at l, where f = -l log l + the smooth constraints times their multipliers."""
    value, slope, bend = -log_l, -log_l - 1.0, -1.0
    for k in range(len(terms.kinds)):
        mu = y[1 + k]
        if terms.kinds[k] == ENTROPY:
            value, slope, bend = value + mu * log_l, slope + mu * (log_l + 1.0), bend + mu
        elif terms.kinds[k] == POWER and mu > 0.0:
            order = terms.orders[k]
            power = mu * math.exp(min((order - 1.0) * log_l - order * terms.levels[k], _LARGEST_LOG))
            value, slope, bend = value + power, slope + order * power, bend + order * (order - 1.0) * power
    return value, slope, bend


@kernel
def _inflection(terms, y):
    """log l where f, which is concave first and convex then, changes; l f'' rises with l."""
    low, high = -_LARGEST_LOG, _LARGEST_LOG
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if _smooth(middle, terms, y)[2] >= 0.0:
            high = middle
        else:
            low = middle
    return high


@kernel
def _stationary(low, high, d, terms, y):
    """log l of f' = d between two logarithms, where f is convex; or the end that is nearer to it."""
    if _smooth(low, terms, y)[1] >= d:
        return low
    if _smooth(high, terms, y)[1] <= d:
        return high
    at = high
    for _ in range(_NEWTON_STEPS):
        _, slope, bend = _smooth(at, terms, y)
        if slope > d:
            high = at
        else:
            low = at
        step = (slope - d) / bend if bend > 0.0 else math.inf
        following = at - step if low < at - step < high else 0.5 * (low + high)
        if abs(following - at) < _STEP:
            break
        at = following
    return at


@kernel
def _offer(value, z, passed, found):
    """Keep the least value with its l and how many places that has passed, and the least of the others with its l."""
    if value < found[0]:
        if abs(z - found[1]) > _SAME:
            found[2], found[3] = found[0], found[1]
        found[0], found[1], found[4] = value, z, passed
    elif value < found[2] and abs(z - found[1]) > _SAME:
        found[2], found[3] = value, z


@kernel
def _logarithm(z):
    return math.log(z) if z > 0.0 else -_LARGEST_LOG


@kernel
def _piece(x, low, high, counted, place):
    """Offer what may be least between low and high, where nothing but the smooth f and |l - 1| matters."""
    terms, y, nu, bent, distance, found = place
    p, d = terms.p[x], terms.d[x] + nu
    added, passed = counted
    if low > high:
        return
    if terms.ray > 0.0:
        for end in range(2):
            z = 1.0 if end == 0 else terms.ray
            if low <= z <= high:
                _offer(p * (-z * math.log(z) - d * z) + added, z, passed, found)
        return
    bends = distance > 0.0 and low < 1.0 < high
    for side in range(2 if bends else 1):
        a, b, sign = low, high, (1.0 if high > 1.0 else -1.0)
        if bends and side == 0:
            b, sign = 1.0, -1.0
        elif bends:
            a = 1.0
        own = d - 0.5 * sign * distance
        left, right = _logarithm(a), _logarithm(b)
        for end in range(2):
            z, at = (a, left) if end == 0 else (b, right)
            if at > bent and not (end == 0 and left == right):
                continue  # what is convex has its own least
            value = -own * z - 0.5 * sign * distance
            if z > 0.0:
                value += z * _smooth(at, terms, y)[0]
            _offer(p * value + added, z, passed, found)
        if right > bent and left < right:
            left = max(bent, left)
            at = _stationary(left, right, own, terms, y)
            z = math.exp(at)
            value, slope, _ = _smooth(at, terms, y)
            # A tangent is below f; where Newton has ended a little off, this keeps the bound.
            off = min((slope - own) * (math.exp(left) - z), (slope - own) * (b - z))
            _offer(
                p * (z * value - own * z - 0.5 * sign * distance + min(off, 0.0)) + added,
                min(max(z, a), b),
                passed,
                found,
            )


@kernel
def evaluate(terms, cell, y, gradient, places):
    """The bound at y = (nu, a mu for each constraint, a lambda for each count), its gradient; places (3, |X|) are filled in:

    each symbol's best l, its next best candidate, and what that costs more. Without `ray` the bound is

        nu - sum_k mu_k budget_k - sum_j max(lambda_j least_j, lambda_j most_j) + sum_x min_l (...);

    with `ray`, V is m p l for some m > 0 and l in {1, ray}, and the bound is nu + 1 + log of all the rest, -infinity if that is below 0.
    """
    size, constraints = len(terms.p), len(terms.kinds)
    bent, distance, nu = _inflection(terms, y), 0.0, y[0]
    total, scale = 0.0, abs(nu)
    gradient[:] = 0.0
    for k in range(constraints):
        budget = 1.0 if terms.kinds[k] == POWER else terms.levels[k]
        total -= y[1 + k] * budget
        gradient[1 + k] -= budget
        scale += abs(y[1 + k] * budget)
        if terms.kinds[k] == DISTANCE:
            distance += y[1 + k]
    for j in range(len(cell.place)):
        most = cell.most[j] if y[1 + constraints + j] > 0.0 else cell.least[j]
        total -= y[1 + constraints + j] * most
        gradient[1 + constraints + j] -= most
        scale += abs(y[1 + constraints + j] * most)
    mass, found = 0.0, np.empty(5)
    place = (terms, y, nu, bent, distance, found)
    for x in range(size):
        found[0], found[1], found[2], found[3] = math.inf, -1.0, math.inf, -1.0
        low, added = cell.low[x], 0.0
        for j in range(len(cell.place)):
            if cell.member[cell.group[j], x] > 0.0:
                _piece(x, low, min(cell.place[j], cell.high[x]), (added, j), place)
                low = max(low, cell.place[j])
                added += y[1 + constraints + j]
        _piece(x, low, cell.high[x], (added, len(cell.place)), place)
        z = found[1]
        places[0, x], places[1, x], places[2, x] = z, found[3], found[2] - found[0]
        total += found[0]
        mass += terms.p[x] * z
        scale += abs(found[0]) + terms.p[x] * z * (abs(terms.d[x]) + abs(nu))
        for k in range(constraints):
            if terms.kinds[k] == DISTANCE:
                gradient[1 + k] += terms.p[x] * 0.5 * abs(z - 1.0)
            elif z > 0.0 and terms.kinds[k] == ENTROPY:
                gradient[1 + k] += terms.p[x] * z * math.log(z)
            elif z > 0.0:
                power = math.exp(min(terms.orders[k] * (math.log(z) - terms.levels[k]), _LARGEST_LOG))
                gradient[1 + k] += terms.p[x] * power
                scale += terms.p[x] * y[1 + k] * power * terms.orders[k]
        for j in range(int(found[4])):
            if cell.member[cell.group[j], x] > 0.0:
                gradient[1 + constraints + j] += 1.0
    total -= _ROUNDING * (16.0 + size) * scale
    if terms.ray == 0.0:
        gradient[0] = 1.0 - mass
        return total + nu
    gradient[0] = -mass
    if total <= 0.0:
        return -math.inf if total == 0.0 else total * math.inf
    for i in range(len(gradient)):
        gradient[i] /= total
    gradient[0] += 1.0
    return nu + 1.0 + math.log(total)


def _maximise(terms, cell, start, radii, enough, places):
    """(the best bound, its y): the ellipsoid method around `start`; ends when nothing is left to gain, or at `enough`."""
    size = len(start)
    y, best_y, gradient, step = start.copy(), start.copy(), np.zeros(size), np.zeros(size)
    matrix = np.zeros((size, size))
    for i in range(size):
        matrix[i, i] = radii[i] ** 2
    best = -math.inf
    for _ in range(_STEPS_PER_SQUARE * size * (size + 1)):
        depth, negative = 0.0, -1
        for k in range(len(terms.kinds)):
            if y[1 + k] < 0.0:
                negative = 1 + k
        if negative >= 0:
            gradient[:] = 0.0
            gradient[negative], depth = 1.0, -y[negative]
        else:
            value = evaluate(terms, cell, y, gradient, places)
            if value > best:
                best = value
                best_y[:] = y
                if best >= enough:
                    break
            depth = best - value if value > -math.inf else 0.0
        length = 0.0
        for i in range(size):
            step[i] = 0.0
            for j in range(size):
                step[i] += matrix[i, j] * gradient[j]
        for i in range(size):
            length += gradient[i] * step[i]
        if not length > 0.0:
            break
        length = math.sqrt(length)
        share = depth / length
        if share >= 1.0 or (negative < 0 and length < _ACCURACY):
            break
        if size == 1:
            y[0] += 0.5 * (1.0 + share) * step[0] / length
            matrix[0, 0] *= (0.5 * (1.0 - share)) ** 2
            continue
        grown = size * size * (1.0 - share * share) / (size * size - 1.0)
        taken = 2.0 * (1.0 + size * share) / ((size + 1.0) * (1.0 + share)) / (length * length)
        for i in range(size):
            y[i] += (1.0 + size * share) / (size + 1.0) * step[i] / length
            for j in range(size):
                matrix[i, j] = grown * (matrix[i, j] - taken * step[i] * step[j])
    best = evaluate(terms, cell, best_y, gradient, places)
    return best, best_y


def compiled_maximise() -> Any:
    """`_maximise` as machine code."""
    pair = types.Tuple([types.float64, VECTOR])  # type: ignore[no-untyped-call]
    signature = pair(TERMS, CELL, VECTOR, VECTOR, types.float64, MATRIX)
    return compile_once(_maximise, signature)
