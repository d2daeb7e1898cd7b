"""One tree for two pricing problems and all between them: sets whose support functions change linearly, as prices do.

With theta in [0, 1] let u = (1 - theta) u0 + theta u1 and sigma = (1 - theta) sigma0 + theta sigma1. On a box with one w for all
theta, and nu linear as well, every q_x(v) of "The bound" in docs/theory.md is linear in theta, so the bound is concave in it:
between the ends it is at least the line through its values there ("Between two budgets"). A node is closed when both values reach
the threshold, and slabs are cut off that both ends prove to reach it.

No w closes a node whose relaxation is below the threshold somewhere between; where its minimiser is, too, no split helps either: the
prices are too high for a column. Such nodes are left for other prices.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numba import types

from alphalift.arrays import Array
from alphalift.compiled import INTEGERS, MATRIX, VECTOR, compile_once, copied, copy_row, spliced, subroutine
from alphalift.convex import Constraints
from alphalift.geometry.bound import BOUND_BOX, UNIT_ROUNDOFF, compile_with_bound, relax
from alphalift.geometry.concave import ConcaveProgram
from alphalift.geometry.pricing import PRICING, Box, Feasible, Pricing, phi
from alphalift.geometry.support import supports
from alphalift.geometry.tree import _TREE, Tree, _box, _choose_split, _split_box
from alphalift.geometry.working_set import compile_minimiser, compile_with_minimiser

_FIRST_NODES = 1024
# Nodes between two looks at the clock.
_AT_ONCE = 200
# A dual halfway has to leave this share of the threshold, so that it mostly serves both ends.
_CLEARLY = 0.7
# What nodes are: closed (or split), to be looked at, left for other prices.
_CLOSED, _OPEN, _LEFT = 0, 1, 2
# What keeps a node open: its size, a column for which the prices are too high, duals of its ends that differ too much.
_LARGE, _REFUTED, _APART = 0, 1, 2
# The symbol of a node whose children are for two halves of the way between the ends.
_IN_PLACE = -1
# The way is not halved below this share.
_NARROWEST = 1e-3


class SearchBetween:
    """Branch and bound of both problems at once, from the splits and duals of a tree for neighbouring ones, if there is one."""

    def __init__(
        self,
        ends: tuple[ConcaveProgram, ConcaveProgram],
        prices: tuple[Array, Array],
        threshold: float,
        tree: Tree | None = None,
    ) -> None:
        self._ends, self._threshold = ends, threshold
        self._feasible = ends[0].feasible, ends[1].feasible
        size, width = ends[0].moments.shape
        self._tree = Tree.unit_box(_FIRST_NODES, size, 2 * (width + 1)) if tree is None else tree
        self._places = np.tile([0.0, 1.0], (len(self._tree.bound), 1))
        self.nodes = int(self._tree.child.max(initial=-1)) + 2 if self._tree.child.any() else 1
        self.change_prices(prices)

    def change_prices(self, prices: tuple[Array, Array]) -> None:
        """Go on with the same tree at other prices."""
        one, two = (own.at(price) for own, price in zip(self._ends, prices, strict=True))
        self._arguments = *self._feasible, one.curve, one.scales, one.prices, two.prices, one.costs
        leaves, reached = np.zeros(self.nodes, np.bool_), np.arange(self.nodes) == 0
        _compiled_replay_both()(*self._arguments, self._threshold, self._tree, self._places, reached, leaves)
        self._status = np.zeros(len(self._tree.bound), np.int64)
        self._status[: self.nodes][leaves] = _OPEN
        self._close()
        self._next = 0

    @property
    def finished(self) -> bool:
        """Whether everything is closed."""
        return not (self._status != _CLOSED).any()

    @property
    def stuck(self) -> bool:
        """Whether all that is not closed waits for other prices."""
        return not (self._status == _OPEN).any()

    @property
    def lower_bound(self) -> float:
        """No V of any of the problems has an objective below this."""
        return float(min(self._threshold, self._tree.bound[self._status != _CLOSED].min(initial=np.inf)))

    def left(self) -> Array:
        """The minimisers on nodes that wait for other prices, which show why."""
        return np.asarray(self._tree.point[self._status == _LEFT])

    def grow(self, thorough: bool = False) -> None:
        """Look at some of the open nodes, and split those that need it; `thorough` leaves none for other prices."""
        if thorough:
            self._status[self._status == _LEFT] = _OPEN
        if self.nodes + 2 * _AT_ONCE > len(self._tree.bound):
            self._tree = self._tree.doubled()
            self._status = np.concatenate([self._status, np.zeros_like(self._status)])
            self._places = np.concatenate([self._places, np.zeros_like(self._places)])
        opened = np.flatnonzero(self._status[: self.nodes] == _OPEN)
        counted = np.array([opened[0] if len(opened) else self.nodes, self.nodes, self.nodes + 2 * _AT_ONCE])
        _compiled_grow_both()(
            *self._arguments, self._threshold, thorough, self._tree, self._places, self._status, counted
        )
        self.nodes = int(counted[1])

    def _close(self) -> None:
        closed = self._tree.bound >= self._threshold
        self._status[closed] = _CLOSED

    def tree(self) -> Tree:
        """The tree without the nodes that a change of prices has cut off, to go on from elsewhere."""
        tree, kept = self._tree, [0]
        for node in kept:  # grows while it is walked: parents before their children
            child = int(tree.child[node])
            kept += [child, child + 1] if child else []
        order = np.array(kept)
        renamed = np.zeros(self.nodes, np.int64)
        renamed[order] = np.arange(len(order))
        size, width = tree.low.shape[1], tree.dual.shape[1]
        found = Tree.unit_box(len(order) + _FIRST_NODES, size, width)
        for own, old in zip(found, tree, strict=True):
            own[: len(order)] = old[order]
        found.child[: len(order)] = renamed[tree.child[order]]
        return found


def compile_both(size: int) -> None:
    """Compile the kernels, or load them from numba's cache, for relaxations with so many variables."""
    for ready in (_compiled_replay_both, _compiled_grow_both):
        ready()
    compile_minimiser(size)


@cache
def _compiled_replay_both() -> Any:
    flags = types.boolean[::1]
    signature = types.void(*_BOTH, types.float64, _TREE, MATRIX, flags, flags, BOUND_BOX)
    return compile_with_bound(compile_once(replay_both, signature))


@cache
def _compiled_grow_both() -> Any:
    signature = *_BOTH, types.float64, types.boolean, _TREE, MATRIX, INTEGERS, INTEGERS, BOUND_BOX
    return compile_with_bound(compile_with_minimiser(grow_both, *signature))


_BOTH = (PRICING[0], PRICING[0], PRICING[1], *4 * [VECTOR])


def replay_both(
    feasible, other, curve, scales, prices, other_prices, costs, threshold, tree, places, reached, leaves, bound_box
):
    """Bound a tree for both problems with the duals that it has, as `tree.replay` does for one."""
    left = Pricing(feasible, curve, scales, prices, costs)
    right = Pricing(other, curve, scales, other_prices, costs)
    dual, bound = tree.dual, tree.bound
    for node in range(len(reached)):
        if not reached[node]:
            continue
        if node == 0:
            bound[0] = _bound_both(bound_box, left, right, _box(tree, 0), dual[0])
        leaves[node] = tree.child[node] == 0 or bound[node] >= threshold
        if leaves[node]:
            tree.child[node] = 0
            continue
        for child in range(tree.child[node], tree.child[node] + 2):
            reached[child] = True
            own = copied(dual[child])
            _hand_down(bound_box, left, right, tree, places, node, child, threshold)
            if bound[child] < threshold:
                one, two = _problem(left, right, places[child, 0]), _problem(left, right, places[child, 1])
                alone = _bound_both(bound_box, one, two, _box(tree, child), own)
                if alone > bound[child]:
                    bound[child] = alone
                    for i in range(len(own)):
                        dual[child, i] = own[i]


def grow_both(
    minimise,
    interior_point,
    feasible,
    other,
    curve,
    scales,
    prices,
    other_prices,
    costs,
    threshold,
    thorough,
    tree,
    places,
    status,
    counted,
    bound_box,
):
    """Go through the nodes from counted[0] on, relax and split open ones, and append their children after counted[1].

    Until all have been looked at, or there would be more than counted[2].
    """
    left = Pricing(feasible, curve, scales, prices, costs)
    right = Pricing(other, curve, scales, other_prices, costs)
    node, nodes = counted[0], counted[1]
    while node < nodes and nodes + 2 <= counted[2]:
        if status[node] == _OPEN:
            one, two = _problem(left, right, places[node, 0]), _problem(left, right, places[node, 1])
            found = _relax_both(minimise, interior_point, bound_box, one, two, tree, node, threshold)
            status[node] = _CLOSED
            if tree.bound[node] < threshold:
                if found == _REFUTED and not thorough:
                    status[node] = _LEFT
                else:
                    tree.child[node] = nodes
                    if found == _APART and places[node, 1] - places[node, 0] > _NARROWEST:
                        tree.symbol[node] = _IN_PLACE
                    else:
                        _choose_split(left, tree, node)
                    for child in range(nodes, nodes + 2):
                        tree.child[child] = 0
                        copy_row(tree.point, node, tree.point, child)
                        _hand_down(bound_box, left, right, tree, places, node, child, threshold)
                        status[child] = _CLOSED if tree.bound[child] >= threshold else _OPEN
                    nodes += 2
        node += 1
    counted[0], counted[1] = node, nodes


@subroutine
def _problem(left, right, theta):
    """The problem at this place between both."""
    own, other = left.feasible, right.feasible
    parameters = _mixed(own.constraints.parameters, other.constraints.parameters, theta)
    constraints = Constraints(
        own.constraints.kind,
        own.constraints.first,
        own.constraints.last,
        own.constraints.offset,
        parameters,
        own.constraints.callback,
    )
    feasible = Feasible(
        constraints,
        own.moments,
        own.slacks,
        _mixed(own.widths, other.widths, theta),
        own.base_capacity,
        own.capacities,
        own.slack_capacities,
        own.moment_sizes,
        max(own.roundings, other.roundings),
    )
    return Pricing(feasible, left.curve, left.scales, _mixed(left.prices, right.prices, theta), left.costs)


@subroutine
def _mixed(first, second, theta):
    new = np.empty(len(first))
    for i in range(len(first)):
        if theta == 0.0 or first[i] == second[i]:
            new[i] = first[i]
        elif theta == 1.0:
            new[i] = second[i]
        else:
            new[i] = (1.0 - theta) * first[i] + theta * second[i]
    return new


@subroutine
def _hand_down(bound_box, left, right, tree, places, node, child, threshold):
    """The child's box or place: its parent's, split; its parent's duals, what these trim and prove."""
    dual = tree.dual
    width = dual.shape[1] // 2
    copy_row(dual, node, dual, child)
    places[child, 0], places[child, 1] = places[node, 0], places[node, 1]
    if tree.symbol[node] == _IN_PLACE:
        copy_row(tree.low, node, tree.low, child)
        copy_row(tree.high, node, tree.high, child)
        first = child == tree.child[node]
        places[child, 1 if first else 0] = 0.5 * (places[node, 0] + places[node, 1])
        for i in range(width):
            halfway = 0.5 * (dual[node, i] + dual[node, width + i])
            dual[child, width + i if first else i] = halfway
    else:
        _split_box(tree, node, child)
    one, two = _problem(left, right, places[child, 0]), _problem(left, right, places[child, 1])
    tree.bound[child] = _inherit_both(bound_box, one, two, tree.low[child], tree.high[child], dual[child], threshold)


@spliced
def _relax_both(minimise, interior_point, bound_box, left, right, tree, node, threshold):
    """Duals for a node, one for each end; what keeps it open: a column that refutes the prices, ends too far apart, or its size."""
    box, point, duals = _box(tree, node), tree.point[node], tree.dual[node]
    width = len(duals) // 2
    own, found, turn = copied(duals[:width]), copied(duals), 0
    middle, problem, why = _problem(left, right, 0.5), left, _LARGE
    # One call of `relax`, so that it is compiled once.
    while True:
        if turn == 0:
            problem = middle
        elif turn == 1:
            problem = left
        else:
            problem = right
        reached = relax(minimise, interior_point, bound_box, problem, box, own, point, -np.inf, _CLEARLY * threshold)
        for i in range(width):
            if turn != 2:
                found[i] = own[i]
            if turn != 1:
                found[width + i] = own[i]
        if turn == 0:
            _try(bound_box, left, right, box, found, 0.0, True, tree.bound, node, duals)
            if tree.bound[node] >= threshold:
                break
        if reached < threshold:  # no w serves this place
            why = _REFUTED if _objective(problem, point) < threshold else _LARGE
            break
        if turn == 2:
            why = _APART
            break
        turn += 1
    if why == _APART:
        for share in (0.0, 0.25, 0.5):
            if tree.bound[node] < threshold:
                _try(bound_box, left, right, box, found, share, False, tree.bound, node, duals)
    return why


@subroutine
def _try(bound_box, left, right, box, found, share, alike, bounds, node, duals):
    """Keep these duals for the node if its bound is better: both a share nearer to each other, or the first for both ends."""
    width = len(found) // 2
    trial = np.empty(2 * width)
    for i in range(width):
        change = found[width + i] - found[i]
        trial[i] = found[i] + share * change
        trial[width + i] = found[i] if alike else found[width + i] - share * change
    bound = _bound_both(bound_box, left, right, box, trial)
    if bound > bounds[node]:
        bounds[node] = bound
        for i in range(2 * width):
            duals[i] = trial[i]


@subroutine
def _objective(problem, point):
    total = 0.0
    for x in range(len(point)):
        total += phi(problem, x, point[x]) - problem.prices[x] * point[x]
    return total


@subroutine
def _bound_both(bound_box, left, right, box, duals):
    """What holds between the ends if each has its own (w, nu), interpolated; nu is the best one at each."""
    width = len(duals) // 2
    at_left = bound_box(left, box, duals[:width], -np.inf)
    at_right = bound_box(right, box, duals[width:], -np.inf)
    return _between(at_left, at_right, _loss(left, right, duals))


@subroutine
def _loss(left, right, duals):
    """How far, at most four times, interpolated duals lie below the line through both bounds: sigma1(w0) + sigma0(w1) - sigma0(w0) - sigma1(w1)."""
    width = len(duals) // 2
    sigmas = np.empty(len(left.feasible.base_capacity))
    loss, size = 0.0, 0.0
    for own in range(2):
        w = duals[: width - 1] if own == 0 else duals[width : 2 * width - 1]
        for end in range(2):
            supports(left.feasible.constraints if end == 0 else right.feasible.constraints, w, sigmas)
            for p in range(len(sigmas)):
                loss += -sigmas[p] if own == end else sigmas[p]
                size += abs(sigmas[p])
    return max(loss, 0.0) + UNIT_ROUNDOFF * left.feasible.roundings * size


@subroutine
def _between(at_left, at_right, loss):
    """The least of (1 - theta) at_left + theta at_right - theta (1 - theta) loss."""
    if not (at_left > -np.inf and at_right > -np.inf):
        return -np.inf
    if at_left == np.inf or at_right == np.inf or abs(at_right - at_left) >= loss:
        return min(at_left, at_right)
    return at_left - (loss - (at_right - at_left)) ** 2 / (4.0 * loss)


@subroutine
def _inherit_both(bound_box, left, right, low, high, duals, threshold):
    """The same by the duals that a node inherits, and its box without the slabs that reach the threshold at all places."""
    width = len(duals) // 2
    loss = _loss(left, right, duals)
    lows, highs = np.empty((2, len(low))), np.empty((2, len(low)))
    bounds = np.empty(2)
    level = threshold + 0.25 * loss
    for end in range(2):
        problem = left if end == 0 else right
        for x in range(len(low)):
            lows[end, x], highs[end, x] = low[x], high[x]
        own = duals[:width] if end == 0 else duals[width:]
        bounds[end] = bound_box(problem, Box(lows[end], highs[end]), own, level)
    for x in range(len(low)):
        # An end at which the whole box reaches the threshold asks for nothing to be kept.
        if bounds[0] >= level:
            low[x], high[x] = lows[1, x], highs[1, x]
        elif bounds[1] >= level:
            low[x], high[x] = lows[0, x], highs[0, x]
        else:
            low[x], high[x] = min(lows[0, x], lows[1, x]), max(highs[0, x], highs[1, x])
    return _between(bounds[0], bounds[1], loss)
