"""Compiled kernels of the pricing problem: minimise sum_x phi(V_x) - u.V over a simplex cut by a convex set.

phi is concave with phi(0) = 0. V is a distribution, and its moments V A, A of shape (|X|, k), lie in a convex
set that is known by its support function sigma on directions w >= 0 (alphalift.convex). On a box [low, high], for
*any* w >= 0 and any nu,

    nu - sigma(w) + sum_x min(q_x(low_x), q_x(high_x)),   q_x(v) = phi(v) - c_x v,   c = u + nu - A w

is a lower bound, because a concave q_x is least at an end of its interval. A slack t of the set in [0, width] with
coefficients B adds min(0, width B.w). Of a part with a capacity, which confines V A to a cone, sigma is multiplied by
the capacity M.V instead of 1: it moves from the constant to c, c_x = u_x + nu - A_x w + M_x sigma(w).

The best (w, nu) is the dual of the chord relaxation, a convex program in V whose interior-point steps need only k + 1
equations. Nothing has to converge: whatever (w, nu) comes out, the bound is evaluated at it afterwards, less what rounding
may have added.

Arguments are arrays and the compiled function `curve` (see alphalift.compiled); `body` is (rows, parameters, moments,
slacks, widths, callback, fixed, masses): the set's parts and parameters, A, the slacks' coefficients (count, k) and widths,
what evaluates parts that are Python functions, and the parts' capacities: fixed, 1 or 0, and M, (|X|, parts), which has no
columns where no part has one.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import types

from alphalift.compiled import CALLBACK, CURVE, INTEGERS, MATRIX, VECTOR, compile_once, kernel
from alphalift.convex import CALLED, ENTROPY, HALF_SPACES, support, supports

# Symbols lighter than this leave a candidate; the interior point never reaches zero exactly.
_LIGHT = 1e-8
_MOST_STEPS = 50
_MOST_TANGENTS = 20
# A float operation's relative error, and a little more for what is of second order.
_ROUNDING = 1.2e-16
_PADDING, _EMPTY = 1e-6, 1e-8
# Directions of any sign: what moves them from where a set may be flat at the start, and what makes their equations regular where a set is flat.
_FREE_START, _REGULAR, _LEAST_LOAD = 1e-6, 1e-7, 1e-2
# A box side shorter than this is a point.
_POINT = 1e-9


@kernel
def _factorise(matrix, size):
    """Cholesky factor in the lower triangle, in place; false if the matrix is not positive definite."""
    for i in range(size):
        for j in range(i + 1):
            total = matrix[i, j]
            for k in range(j):
                total -= matrix[i, k] * matrix[j, k]
            if i > j:
                matrix[i, j] = total / matrix[j, j]
            elif total > 0.0:
                matrix[i, i] = math.sqrt(total)
            else:
                return False
    return True


@kernel
def _back_substitute(factor, side, size):
    """Solve with a Cholesky factor, in place."""
    for i in range(size):
        for k in range(i):
            side[i] -= factor[i, k] * side[k]
        side[i] /= factor[i, i]
    for i in range(size - 1, -1, -1):
        for k in range(i + 1, size):
            side[i] -= factor[k, i] * side[k]
        side[i] /= factor[i, i]


@kernel
def _longest(values, steps, length):
    """The largest step up to `length` that keeps the values positive."""
    for i in range(len(values)):
        if steps[i] < 0.0:
            length = min(length, -values[i] / steps[i])
    return length


@kernel
def interior_point(sets, box, mass, dual, point, accuracy, enough):
    """Minimise rates.V over 0 <= V <= width, counted.V = mass, base + V A in the set: V into point, (w, nu) into dual.

    `sets` is (rows, parameters, callback), `box` (A, M, counted, rates, width, base, fixed), see `body` above.
    `counted` is 1 for what counts towards the mass and 0 for slacks. Primal-dual steps with Mehrotra's corrector. The
    moments of a curved part are written as load grad sigma(w) - r, those of half-spaces as g - r. Complementary pairs:
    V and its reduced cost z, the room width - V and its price y, w and the slack r, and, for a curved part, capacity - load
    and sigma(w), which lets its w vanish where it does not bind although sigma has a kink there. The capacity is
    fixed + M.V; where it moves with V, the load does so too, and A_x - M_x grad sigma takes the place of A_x. Such parts
    are scaled to a capacity of 1 at the start: it may be tiny, and its w is then as large. Eliminating all but (w, nu) leaves a positive definite system. Every step's (w, nu) gives a lower bound; the best is kept, and it is
    `enough` to reach the given one. Else stops when the total complementarity is below the accuracy.
    """
    rows, parameters, callback = sets
    moments, masses, counted, rates, width, base, fixed = box
    count, size = moments.shape
    parts = len(rows)
    coned = masses.shape[1] > 0
    capacity, dcapacity, scale = fixed.copy(), np.zeros(parts), np.ones(size)
    v = point
    filled = min(max(mass / (counted * width).sum(), 0.02), 0.98)
    v[:] = width * np.where(counted > 0.0, filled, 0.5)
    dead = np.zeros(parts, np.bool_)
    if coned:
        moments, masses, base, fixed = moments.copy(), masses.copy(), base.copy(), fixed.copy()
        _scale_capacities(rows, v, moments, masses, base, fixed, capacity, scale)
        dead[:] = capacity <= 0.0
    turning = moments.copy()
    w, r, z, y = np.ones(size), np.full(size, 0.1), np.ones(count), np.ones(count)
    gradient, hessian = np.empty(size), np.zeros((size, size))
    factor, side = np.empty((size + 1, size + 1)), np.empty(size + 1)
    weight, rho, room, reduced = np.empty(count), np.empty(count), np.empty(count), np.empty(count)
    dv, dz, dy, dw, dr = np.zeros(count), np.zeros(count), np.zeros(count), np.zeros(size), np.zeros(size)
    sigma, load, dload, rise, pull = np.zeros(parts), np.ones(parts), np.zeros(parts), np.zeros(parts), np.zeros(parts)
    curved, pairs = 0, 2 * count + size
    for p in range(parts):
        kind, first, last, _ = rows[p]
        if kind != HALF_SPACES:
            load[p] = 0.5
            curved += not dead[p]
        if kind == CALLED or dead[p]:  # w has any sign, or nothing to say: it has no slack
            r[first:last] = 0.0
            pairs -= last - first
    load *= capacity
    nu = (rates * counted).sum() / counted.sum()
    best = -np.inf
    for step in range(_MOST_STEPS):
        for p in range(parts):
            if rows[p, 0] == CALLED and not dead[p] and (step == 0 or load[p] < _LEAST_LOAD * capacity[p]):
                _turn_to_moments(w[rows[p, 1] : rows[p, 2]], base[rows[p, 1] : rows[p, 2]], v, moments[:, rows[p, 1] :])
                load[p] = 0.5 * capacity[p]
        lower = nu * mass + (base * w).sum()
        for p in range(parts):
            kind, first, last, offset = rows[p]
            sigma[p] = support(
                kind,
                w[first:last],
                parameters[offset:],
                callback,
                gradient[first:last],
                hessian[first:last, first:last],
            )
            lower -= fixed[p] * sigma[p]
        if coned:
            for p in range(parts):
                for x in range(count):
                    for i in range(rows[p, 1], rows[p, 2]):
                        turning[x, i] = moments[x, i] - masses[x, p] * gradient[i]
        for x in range(count):
            cost = rates[x] - nu * counted[x]
            for i in range(size):
                cost += moments[x, i] * w[i]
            for p in range(masses.shape[1]):
                cost -= masses[x, p] * sigma[p]
            reduced[x] = cost
            lower += width[x] * min(0.0, cost)
        if lower > best:
            best = lower
            dual[:size] = w / scale
            dual[size] = nu
        if best >= enough:
            break
        room[:] = width - v
        total = (z * v).sum() + (y * room).sum() + (w * r).sum() + ((capacity - load) * sigma).sum()
        mu = total / (pairs + curved)
        infeasible = abs(mass - (counted * v).sum())
        if total < accuracy and infeasible < accuracy:
            break
        factor[:, :] = 0.0
        for p in range(parts):
            kind, first, last, _ = rows[p]
            if kind != HALF_SPACES and not dead[p]:
                for i in range(first, last):
                    for j in range(first, i + 1):
                        turn = (capacity[p] - load[p]) / sigma[p] * gradient[i] * gradient[j]
                        factor[i, j] = load[p] * hessian[i, j] + turn
        for i in range(size):
            factor[i, i] += r[i] / w[i] if r[i] > 0.0 else _REGULAR
        for x in range(count):
            weight[x] = 1.0 / (z[x] / v[x] + y[x] / room[x])
            for i in range(size):
                scaled = weight[x] * turning[x, i]
                for j in range(i + 1):
                    factor[i, j] += scaled * turning[x, j]
                factor[size, i] -= scaled * counted[x]
            factor[size, size] += weight[x] * counted[x]
        if not _factorise(factor, size + 1):
            break
        target, second = 0.0, 0.0
        for corrector in range(2):
            for p in range(parts):
                pull[p] = -1.0
                if dead[p]:
                    pull[p] = 0.0
                elif rows[p, 0] != HALF_SPACES:
                    wanted = target - (capacity[p] - load[p]) * sigma[p] + second * (dload[p] - dcapacity[p]) * rise[p]
                    pull[p] = wanted / sigma[p] - load[p]
                for i in range(rows[p, 1], rows[p, 2]):
                    correction = (target - w[i] * r[i] - second * dw[i] * dr[i]) / w[i] if r[i] > 0.0 else 0.0
                    side[i] = r[i] + base[i] + pull[p] * gradient[i] + correction
            side[size] = mass
            for x in range(count):
                rho[x] = (target - z[x] * v[x] - second * dv[x] * dz[x]) / v[x] - reduced[x] + z[x] - y[x]
                rho[x] -= (target - y[x] * room[x] + second * dv[x] * dy[x]) / room[x]
                for i in range(size):
                    side[i] += turning[x, i] * (v[x] + weight[x] * rho[x])
                for p in range(masses.shape[1]):
                    for i in range(rows[p, 1], rows[p, 2]):
                        side[i] += masses[x, p] * gradient[i] * v[x]
                side[size] -= counted[x] * (v[x] + weight[x] * rho[x])
            _back_substitute(factor, side, size + 1)
            for x in range(count):
                turned = rho[x] + side[size] * counted[x]
                for i in range(size):
                    turned -= turning[x, i] * side[i]
                old = dv[x]
                dv[x] = weight[x] * turned
                dz[x] = (target - z[x] * v[x] - second * old * dz[x] - z[x] * dv[x]) / v[x]
                dy[x] = (target - y[x] * room[x] + second * old * dy[x] + y[x] * dv[x]) / room[x]
            for i in range(size):
                old = dw[i]
                dw[i] = side[i]
                if r[i] > 0.0:
                    dr[i] = (target - w[i] * r[i] - second * old * dr[i] - r[i] * dw[i]) / w[i]
            length = _longest(r, dr, _longest(z, dz, _longest(y, dy, 1e9)))
            length = _longest(v, dv, _longest(room, -dv, length))
            for i in range(size):
                if r[i] > 0.0 and dw[i] < 0.0:
                    length = min(length, -w[i] / dw[i])
            for p in range(parts):
                if rows[p, 0] != HALF_SPACES and not dead[p]:
                    # pull - (-load) is what the load's own equation asks for, before the turn of w.
                    rise[p] = (gradient[rows[p, 1] : rows[p, 2]] * dw[rows[p, 1] : rows[p, 2]]).sum()
                    if coned:
                        dcapacity[p] = (masses[:, p] * dv).sum()
                    dload[p] = dcapacity[p] + (capacity[p] - load[p]) * rise[p] / sigma[p] - (pull[p] + load[p])
                    if dload[p] > dcapacity[p]:
                        length = min(length, (capacity[p] - load[p]) / (dload[p] - dcapacity[p]))
                    if dload[p] < 0.0:
                        length = min(length, -load[p] / dload[p])
            if corrector == 0:
                length = min(length, 1.0)
                ahead = ((z + length * dz) * (v + length * dv)).sum() + ((w + length * dw) * (r + length * dr)).sum()
                ahead += ((y + length * dy) * (room - length * dv)).sum()
                for p in range(parts):
                    free = capacity[p] - load[p] + length * (dcapacity[p] - dload[p])
                    ahead += free * max(sigma[p] + length * rise[p], 0.0)
                target = mu * max((ahead / total) ** 3, 0.1 if curved else 0.0)
                second = 1.0
        length = _within_trust(rows, parameters, w, dw, min(1.0, 0.99 * length))
        v += length * dv
        z += length * dz
        y += length * dy
        w += length * dw
        r += length * dr
        nu += length * side[size]
        load += length * dload
        if coned:
            for p in range(parts):
                capacity[p] = fixed[p] + (masses[:, p] * v).sum()


@kernel
def _scale_capacities(rows, v, moments, masses, base, fixed, capacity, scale):
    """Divide every part by its capacity at V, which becomes 1; a part without any, which says nothing, keeps 0."""
    for p in range(len(rows)):
        own = fixed[p] + (masses[:, p] * v).sum()
        capacity[p] = 0.0
        if own > 0.0:
            capacity[p] = 1.0
            fixed[p] /= own
            masses[:, p] /= own
            moments[:, rows[p, 1] : rows[p, 2]] /= own
            base[rows[p, 1] : rows[p, 2]] /= own
            scale[rows[p, 1] : rows[p, 2]] = own


@kernel
def _turn_to_moments(w, base, v, moments):
    """A direction along the moments that V has, of the size that it had: there the load that they take is positive."""
    largest = np.abs(w).max()
    for i in range(len(w)):
        w[i] = base[i] + (v * moments[:, i]).sum() + _FREE_START * math.cos(i + 1.0)
    w *= largest / np.abs(w).max()


@kernel
def _within_trust(rows, parameters, w, dw, length):
    """A step along which the gradients of curved parts, which turn with w, stay near to what they were."""
    for p in range(len(rows)):
        kind, first, last, offset = rows[p]
        if kind == HALF_SPACES:
            continue
        if kind == CALLED:
            largest, change = np.abs(w[first:last]).max(), np.abs(dw[first:last]).max()
            if change > 0.0:
                length = min(length, 0.5 * largest / change)
            continue
        for i in range(first, last):
            if dw[i] < 0.0:
                length = min(length, -0.5 * w[i] / dw[i])
            elif dw[i] > 0.0:
                length = min(length, w[i] / dw[i])
        if kind == ENTROPY:
            # Its terms are exponentials of w / b: their exponents may change by one.
            b, db = w[last - 1], dw[last - 1]
            for i in range(first, last - 1):
                turn = abs(dw[i] - w[i] / b * db) / b * parameters[offset + 1]
                if turn > 0.0:
                    length = min(length, 1.0 / turn)
    return length


@kernel
def exact_bound(body, curve, prices, low, high, dual):
    """The lower bound at w with the best nu, which is set in dual; infinite where the box holds no distribution.

    For a fixed w the relaxation fills the box from low, the cheapest slope first, until the mass is one; nu is
    the slope at which it stops. The bound itself is then the formula at (w, nu), valid whatever they are.
    """
    rows, parameters, moments, slacks, widths, callback, fixed, masses = body
    count, size = moments.shape
    # Clearly empty: a certificate rounds its places, and a box must not come to life by that.
    if low.sum() > 1.0 + _EMPTY * count or high.sum() < 1.0 - _EMPTY * count or (low > high).any():
        return np.inf
    slope, at_low, at_high, sigmas = np.empty(count), np.empty(count), np.empty(count), np.empty(len(rows))
    supports(rows, parameters, callback, dual[:size], sigmas)
    for x in range(count):
        rate = -prices[x]
        for i in range(size):
            rate += moments[x, i] * dual[i]
        for p in range(masses.shape[1]):
            rate -= masses[x, p] * sigmas[p]
        at_low[x] = curve(low[x], 0) + rate * low[x]
        at_high[x] = curve(high[x], 0) + rate * high[x]
        slope[x] = (at_high[x] - at_low[x]) / (high[x] - low[x]) if high[x] > low[x] else np.inf
    room = 1.0 - low.sum()
    nu = slope.min()
    for x in np.argsort(slope):
        if room <= 0.0 or slope[x] == np.inf:
            break
        nu = slope[x]
        room -= high[x] - low[x]
    if not abs(nu) < np.inf:
        nu = 0.0
    dual[size] = nu
    sigma = 0.0
    for p in range(len(rows)):
        sigma += fixed[p] * sigmas[p]
    bound, magnitude, passed = nu - sigma, abs(nu) + abs(sigma), 0.0
    for p in range(len(rows)):
        if rows[p, 0] == HALF_SPACES:  # whose terms may cancel; the other kinds' are positive
            for i in range(rows[p, 1], rows[p, 2]):
                magnitude += abs(parameters[rows[p, 3] + i - rows[p, 1]]) * dual[i]
    for x in range(count):
        bound += min(at_low[x] - nu * low[x], at_high[x] - nu * high[x])
        magnitude += high[x] * (1.0 + abs(prices[x]) + abs(nu) + _size_of(moments[x], dual))
        for p in range(masses.shape[1]):
            magnitude += high[x] * masses[x, p] * abs(sigmas[p])
        passed += abs(bound)
    for k in range(len(widths)):
        saved = 0.0
        for i in range(size):
            saved += slacks[k, i] * dual[i]
        bound += min(0.0, widths[k] * saved)
        magnitude += widths[k] * _size_of(slacks[k], dual)
        passed += abs(bound)
    # Large duals cancel: what the terms and their sum may have lost to rounding must not count as proven.
    bound -= _ROUNDING * ((size + masses.shape[1] + 4) * magnitude + passed)
    return bound if abs(bound) < np.inf else -np.inf  # not a number is no bound


@kernel
def _size_of(row, dual):
    """The sum of the terms of row.w without their signs."""
    total = 0.0
    for i in range(len(row)):
        total += abs(row[i] * dual[i])
    return total


@kernel
def trim(body, curve, prices, low, high, dual, bound, threshold):
    """Shrink the box by slabs that (w, nu) already proves to lie above the threshold."""
    rows, parameters, moments, _, _, callback, _, masses = body
    count, size = moments.shape
    sigmas = np.zeros(len(rows))
    if masses.shape[1]:
        supports(rows, parameters, callback, dual[:size], sigmas)
    for x in range(count):
        width = high[x] - low[x]
        if width < _POINT:
            continue
        c = prices[x] + dual[size]
        for i in range(size):
            c -= moments[x, i] * dual[i]
        for p in range(masses.shape[1]):
            c += masses[x, p] * sigmas[p]
        at_low = curve(low[x], 0) - c * low[x]
        at_high = curve(high[x], 0) - c * high[x]
        # The slab [a, b] of symbol x has the bound: bound - min(at_low, at_high) + min(q(a), q(b)).
        level = threshold - bound + min(at_low, at_high)
        if at_high >= level:
            outside, inside = high[x], low[x]
        elif at_low >= level:
            outside, inside = low[x], high[x]
        else:
            continue
        while abs(outside - inside) > 1e-3 * width:
            middle = 0.5 * (outside + inside)
            if curve(middle, 0) - c * middle >= level:
                outside = middle
            else:
                inside = middle
        if at_high >= level:
            high[x] = outside
        else:
            low[x] = outside


@kernel
def _with_slacks(slacks, widths, count, parts):
    """Moments, capacities, rates, widths and what counts as mass for `count` symbols, to be filled, and the set's slacks."""
    total = count + len(widths)
    part, rates, width, counted = np.empty((total, slacks.shape[1])), np.zeros(total), np.ones(total), np.ones(total)
    part[count:], width[count:], counted[count:] = slacks, widths, 0.0
    return part, np.zeros((total, parts)), rates, width, counted


@kernel
def relax(body, curve, prices, box, dual, point, accuracy, threshold):
    """The bound of the chord relaxation on a box; its minimiser into point. Keeps the old dual if that is better."""
    low, high = box
    before = dual.copy()
    bound = exact_bound(body, curve, prices, low, high, before)
    if bound == np.inf:
        dual[:] = before
        return bound
    # A box with hardly any room for a distribution is widened: an interior-point method needs an interior, and the
    # dual that it finds is good for the box itself.
    start, end = low, high
    if 1.0 - low.sum() < _PADDING or high.sum() - 1.0 < _PADDING:
        start, end = np.maximum(low - _PADDING, 0.0), np.minimum(high + _PADDING, 1.0)
    rows, parameters, moments, slacks, widths, callback, fixed, masses = body
    count, size = moments.shape
    free = np.flatnonzero(end - start > _POINT)
    part, shares, rates, width, counted = _with_slacks(slacks, widths, len(free), masses.shape[1])
    mass, base, constant, held = 1.0, np.zeros(size), 0.0, fixed.copy()
    for x in range(count):
        mass -= start[x]
        constant += curve(start[x], 0) - prices[x] * start[x]
        base += start[x] * moments[x]
        point[x] = start[x]
        for p in range(masses.shape[1]):
            held[p] += start[x] * masses[x, p]
    for k in range(len(free)):
        x = free[k]
        part[k], shares[k] = moments[x], masses[x]
        width[k] = end[x] - start[x]
        rates[k] = (curve(end[x], 0) - curve(start[x], 0)) / width[k] - prices[x]
    found = np.empty(len(part))
    enough = threshold - constant + 1e-9
    inside = part, shares, counted, rates, width, base, held
    interior_point((rows, parameters, callback), inside, mass, dual, found, accuracy, enough)
    point[free] += found[: len(free)]
    new = exact_bound(body, curve, prices, low, high, dual)
    if new > bound:
        return new
    dual[:] = before
    return bound


@kernel
def _choose_split(curve, low, high, point):
    """The symbol whose chord lies farthest below phi at the point, and where to split it."""
    best, symbol, place = -1.0, 0, 0.0
    for x in range(len(low)):
        width = high[x] - low[x]
        if width > _POINT:
            at_low = curve(low[x], 0)
            slope = (curve(high[x], 0) - at_low) / width
            v = min(max(point[x], low[x] + 0.1 * width), high[x] - 0.1 * width)
            gap = curve(v, 0) - at_low - slope * (v - low[x])
            if gap > best:
                best, symbol, place = gap, x, v
    return symbol, place


def bound_root(body, curve, prices, accuracy, threshold, tree):
    """Bound node 0, the unit box, in place."""
    low, high, point, dual = tree[0][0], tree[1][0], tree[2][0], tree[3][0]
    tree[4][0] = relax(body, curve, prices, (low, high), dual, point, accuracy, threshold)
    tree[6][0], tree[5][0] = _choose_split(curve, low, high, point)


def expand(body, curve, prices, chosen, first, accuracy, threshold, tree):
    """Split every chosen node; the children of the i-th go to the places first + 2i and first + 2i + 1.

    `tree` is low, high, point (node, |X|), dual (node, k+1), bound, place, symbol, child, trimmed_at (node,): a
    node's box, the minimiser of its relaxation, its (w, nu), its bound, where to split it next, its first child or 0,
    and the nu which trimmed it together with its parent's w.
    """
    point, dual, children = tree[2], tree[3], tree[7]
    for i in range(len(chosen)):
        node = chosen[i]
        children[node] = first + 2 * i
        for child in range(first + 2 * i, first + 2 * i + 2):
            point[child], dual[child] = point[node], dual[node]
            _split_box(tree, node, child)
            _bound_node(body, curve, prices, child, accuracy, threshold, tree)


def replay(body, curve, prices, threshold, count, tree, leaves):
    """Bound the same tree at other prices with the duals it has, which mostly still serve: no program is solved.

    Subtrees below a node that now reaches the threshold are dropped. `leaves` says which nodes are leaves now.
    """
    point, dual, bound, place, symbol, children = tree[2], tree[3], tree[4], tree[5], tree[6], tree[7]
    reached = np.zeros(count, np.bool_)
    reached[0] = True
    bound[0] = exact_bound(body, curve, prices, tree[0][0], tree[1][0], dual[0])
    for node in range(count):
        leaves[node] = reached[node] and (children[node] == 0 or bound[node] >= threshold)
        if leaves[node]:
            children[node] = 0
            symbol[node], place[node] = _choose_split(curve, tree[0][node], tree[1][node], point[node])
        elif reached[node]:
            for child in range(children[node], children[node] + 2):
                reached[child] = True
                own = dual[child].copy()
                dual[child] = dual[node]
                _split_box(tree, node, child)
                bound[child] = _inherit(body, curve, prices, child, threshold, tree)
                if bound[child] < threshold:
                    alone = exact_bound(body, curve, prices, tree[0][child], tree[1][child], own)
                    if alone > bound[child]:
                        bound[child] = alone
                        dual[child] = own


@kernel
def _split_box(tree, node, child):
    """The child's box: its parent's, split; empty if trimming has moved the parent's box past the place."""
    low, high, place, symbol, children = tree[0], tree[1], tree[5], tree[6], tree[7]
    low[child], high[child] = low[node], high[node]
    x = symbol[node]
    if child == children[node]:
        high[child, x] = min(high[node, x], place[node])
    else:
        low[child, x] = max(low[node, x], place[node])


@kernel
def _inherit(body, curve, prices, node, threshold, tree):
    """The node's bound by the dual that it inherits, and its box trimmed with it."""
    low, high, dual = tree[0][node], tree[1][node], tree[3][node]
    bound = exact_bound(body, curve, prices, low, high, dual)
    tree[8][node] = dual[-1]
    if bound < threshold:
        trim(body, curve, prices, low, high, dual, bound, threshold)
    return bound


@kernel
def _bound_node(body, curve, prices, node, accuracy, threshold, tree):
    """Bound one node: trim its box with the dual that it inherits, then find its own; and choose its split."""
    low, high, point, dual = tree[0][node], tree[1][node], tree[2][node], tree[3][node]
    bound = _inherit(body, curve, prices, node, threshold, tree)
    if bound < threshold:
        bound = relax(body, curve, prices, (low, high), dual, point, accuracy, threshold)
    tree[4][node] = bound
    tree[6][node], tree[5][node] = _choose_split(curve, low, high, point)


def descend(body, curve, prices, points, values):
    """Replace every row of points by a local minimum near it; its objective sum phi(V) - u.V into values."""
    for i in range(len(points)):
        values[i] = _descend(body, curve, prices, points[i])


@kernel
def _descend(body, curve, prices, point):
    """Replace phi by its tangent on the point's support, minimise, repeat.

    A concave function lies below its tangents, so every full step descends. Returns the objective reached,
    infinite if the first step already failed.
    """
    rows, parameters, moments, slacks, widths, callback, fixed, masses = body
    size = moments.shape[1]
    value, base = np.inf, np.zeros(size)
    dual = np.empty(size + 1)
    for _ in range(_MOST_TANGENTS):
        chosen = np.flatnonzero(point > _LIGHT)
        count = len(chosen)
        part, shares, rates, width, counted = _with_slacks(slacks, widths, count, masses.shape[1])
        width[:count] = 1.5
        for k in range(count):
            x = chosen[k]
            part[k], shares[k] = moments[x], masses[x]
            rates[k] = curve(point[x], 1) - prices[x]
        found = np.empty(len(part))
        inside = part, shares, counted, rates, width, base, fixed
        interior_point((rows, parameters, callback), inside, 1.0, dual, found, 1e-11, np.inf)
        trial, mass, new = np.zeros(len(point)), 0.0, 0.0
        for k in range(count):
            if found[k] > _LIGHT:
                trial[chosen[k]] = found[k]
                mass += found[k]
        if not abs(mass - 1.0) < 1e-6:
            break
        for k in range(count):
            x = chosen[k]
            trial[x] /= mass
            new += curve(trial[x], 0) - prices[x] * trial[x]
        if not new < value - 1e-11:
            break
        value = new
        point[:] = trial
    return value


_BODY = types.Tuple((types.int64[:, ::1], VECTOR, MATRIX, MATRIX, VECTOR, types.FunctionType(CALLBACK), VECTOR, MATRIX))
_PROGRAM = (_BODY, types.FunctionType(CURVE), VECTOR)
_TREE = types.Tuple((MATRIX, MATRIX, MATRIX, MATRIX, VECTOR, VECTOR, INTEGERS, INTEGERS, VECTOR))


def compiled_bound_root() -> Any:
    return compile_once(bound_root, types.void(*_PROGRAM, types.float64, types.float64, _TREE))


def compiled_expand() -> Any:
    return compile_once(expand, types.void(*_PROGRAM, INTEGERS, types.int64, types.float64, types.float64, _TREE))


def compiled_replay() -> Any:
    leaves = types.boolean[::1]
    return compile_once(replay, types.void(*_PROGRAM, types.float64, types.int64, _TREE, leaves))


def compiled_descend() -> Any:
    return compile_once(descend, types.void(*_PROGRAM, MATRIX, VECTOR))
