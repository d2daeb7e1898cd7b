"""One tree for two pricing problems and all between them: sets whose support functions change linearly, as prices do.

With theta in [0, 1] let u = (1 - theta) u0 + theta u1 and sigma = (1 - theta) sigma0 + theta sigma1. On a box with one w for all
theta, and nu linear as well, every q_x(v) of "The bound" in docs/theory.md is linear in theta, so the bound is concave in it:
between the ends it is at least the line through its values there ("Between two budgets"). A node is closed when both values reach
the threshold, and slabs are cut off that both ends prove to reach it.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from alphalift.arrays import Array
from alphalift.compiled import INTEGERS, VECTOR, compile_once, copy_row, subroutine
from alphalift.geometry.bound import BOUND_BOX, compile_with_bound, relax
from alphalift.geometry.concave import Certificate, ConcaveProgram
from alphalift.geometry.pricing import PRICING, Box, Feasible, Pricing
from alphalift.geometry.tree import _TREE, Tree, _box, _choose_split, _split_box
from alphalift.geometry.working_set import compile_minimiser, compile_with_minimiser

_AT_ONCE = 32
# Steps towards a dual at which both bounds are equal.
_HALVINGS = 12


class SearchBetween:
    """Best-first branch and bound of both problems at once, from the splits and duals of a tree for one of them."""

    def __init__(
        self, ends: tuple[ConcaveProgram, ConcaveProgram], prices: tuple[Array, Array], threshold: float, tree: Tree
    ) -> None:
        one, two = (own.at(price) for own, price in zip(ends, prices, strict=True))
        self._arguments = one.feasible, two.feasible, one.curve, one.scales, one.prices, two.prices, one.costs
        self._middle = _middle(one.feasible, two.feasible)
        self._threshold, self._tree = threshold, tree
        self.nodes = int((tree.child.max(initial=0) or -1) + 2)
        leaves, reached = np.zeros(self.nodes, np.bool_), np.arange(self.nodes) == 0
        _compiled_replay_both()(*self._arguments, threshold, tree, reached, leaves)
        self._open = np.flatnonzero(leaves)
        self._close()
        self._fresh = list(self._open)

    @property
    def finished(self) -> bool:
        return not len(self._open)

    @property
    def lower_bound(self) -> float:
        """No V of any of the problems has an objective below this."""
        return float(min(self._threshold, self._tree.bound[self._open].min(initial=np.inf)))

    def grow(self) -> None:
        """Find duals for leaves that were taken over, then split the worst open ones, some at a time."""
        if self._fresh:
            self._relax(np.array(self._fresh))
            self._fresh = []
        else:
            bounds = self._tree.bound[self._open]
            count = min(_AT_ONCE, len(bounds))
            worst = np.argpartition(bounds, count - 1)[:count]
            chosen = self._open[worst]
            while self.nodes + 2 * count > len(self._tree.bound):
                self._tree = self._tree.doubled()
            new = np.arange(self.nodes, self.nodes + 2 * count)
            _compiled_split_both()(*self._arguments, chosen, self.nodes, self._threshold, self._tree)
            self.nodes += 2 * count
            self._relax(new)
            self._open = np.concatenate([np.delete(self._open, worst), new])
        self._close()

    def _relax(self, nodes: Any) -> None:
        _compiled_relax_both()(*self._arguments, self._middle, nodes, self._threshold, self._tree)

    def _close(self) -> None:
        self._open = self._open[~(self._tree.bound[self._open] >= self._threshold)]


def compile_both(size: int) -> None:
    """Compile the kernels, or load them from numba's cache, for relaxations with so many variables."""
    for ready in (_compiled_replay_both, _compiled_split_both, _compiled_relax_both):
        ready()
    compile_minimiser(size)


def _middle(one: Feasible, two: Feasible) -> Feasible:
    """Parameters halfway: whose relaxations have duals that are good for both."""
    parameters = 0.5 * (one.constraints.parameters + two.constraints.parameters)
    return one._replace(
        constraints=one.constraints._replace(parameters=parameters), widths=0.5 * (one.widths + two.widths)
    )


def tree_of(certificate: Certificate) -> Tree:
    """The splits and duals of a certificate as a tree that may grow; its root is the unit box."""
    count, size = certificate.low.shape
    tree = Tree.unit_box(2 * count + 64, size, certificate.dual.shape[1])
    tree.split_at[:count], tree.symbol[:count] = certificate.split_at, certificate.symbol
    tree.child[:count], tree.dual[:count] = certificate.child, certificate.dual
    tree.point[:count] = 0.5 * (certificate.low + certificate.high)
    return tree


def _compiled_replay_both() -> Any:
    flags = types.boolean[::1]
    signature = types.void(*_BOTH, types.float64, _TREE, flags, flags, BOUND_BOX)
    return compile_with_bound(compile_once(replay_both, signature))


def _compiled_split_both() -> Any:
    signature = types.void(*_BOTH, INTEGERS, types.int64, types.float64, _TREE, BOUND_BOX)
    return compile_with_bound(compile_once(split_both, signature))


def _compiled_relax_both() -> Any:
    signature = *_BOTH, PRICING[0], INTEGERS, types.float64, _TREE, BOUND_BOX
    return compile_with_bound(compile_with_minimiser(relax_both, *signature))


_BOTH = (PRICING[0], PRICING[0], PRICING[1], *4 * [VECTOR])


def replay_both(
    feasible, other, curve, scales, prices, other_prices, costs, threshold, tree, reached, leaves, bound_box
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
            _choose_split(left, tree, node)
            continue
        for child in range(tree.child[node], tree.child[node] + 2):
            reached[child] = True
            own = dual[child].copy()
            copy_row(dual, node, dual, child)
            _split_box(tree, node, child)
            bound[child] = _inherit_both(
                bound_box, left, right, tree.low[child], tree.high[child], dual[child], threshold
            )
            if bound[child] < threshold:
                alone = _bound_both(bound_box, left, right, _box(tree, child), own)
                if alone > bound[child]:
                    bound[child] = alone
                    for i in range(len(own)):
                        dual[child, i] = own[i]


def split_both(feasible, other, curve, scales, prices, other_prices, costs, chosen, first, threshold, tree, bound_box):
    """Split every chosen node, as `tree.split` does."""
    left = Pricing(feasible, curve, scales, prices, costs)
    right = Pricing(other, curve, scales, other_prices, costs)
    for i in range(len(chosen)):
        node = chosen[i]
        tree.child[node] = first + 2 * i
        for child in range(first + 2 * i, first + 2 * i + 2):
            copy_row(tree.point, node, tree.point, child)
            copy_row(tree.dual, node, tree.dual, child)
            _split_box(tree, node, child)
            tree.bound[child] = _inherit_both(
                bound_box, left, right, tree.low[child], tree.high[child], tree.dual[child], threshold
            )


def relax_both(
    minimise,
    interior_point,
    feasible,
    other,
    curve,
    scales,
    prices,
    other_prices,
    costs,
    middle,
    nodes,
    threshold,
    tree,
    bound_box,
):
    """A dual for each of these nodes that is below the threshold: that of the relaxation in the middle, or on its way to an end's."""
    left = Pricing(feasible, curve, scales, prices, costs)
    right = Pricing(other, curve, scales, other_prices, costs)
    between = Pricing(middle, curve, scales, 0.5 * (prices + other_prices), costs)
    for node in nodes:
        if tree.bound[node] < threshold:
            box, point = _box(tree, node), tree.point[node]
            central, dual = tree.dual[node].copy(), tree.dual[node].copy()
            relax(minimise, interior_point, bound_box, between, box, central, point, -np.inf, threshold)
            _keep_better(bound_box, left, right, box, central, tree.dual[node], tree.bound, node)
            if tree.bound[node] < threshold:
                # The end that is worse off says where to go from there.
                at_left = bound_box(left, box, central, -np.inf) < bound_box(right, box, central, -np.inf)
                end = left if at_left else right
                relax(minimise, interior_point, bound_box, end, box, dual, point, -np.inf, threshold)
                if at_left:
                    _meet(bound_box, left, right, box, dual, central, threshold, tree, node)
                else:
                    _meet(bound_box, left, right, box, central, dual, threshold, tree, node)
        _choose_split(left, tree, node)


@subroutine
def _meet(bound_box, left, right, box, first, second, threshold, tree, node):
    """A w on the way from the first, better at the left end, to the second at which both bounds are equal: the lesser is largest there."""
    dual, own, other = first.copy(), 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (own + other)
        for i in range(len(dual)):
            dual[i] = (1.0 - middle) * first[i] + middle * second[i]
        at_left, at_right = bound_box(left, box, dual, -np.inf), bound_box(right, box, dual, -np.inf)
        if min(at_left, at_right) > tree.bound[node]:
            tree.bound[node] = min(at_left, at_right)
            for i in range(len(dual)):
                tree.dual[node, i] = dual[i]
        if tree.bound[node] >= threshold:
            break
        if at_left < at_right:
            other = middle
        else:
            own = middle


@subroutine
def _keep_better(bound_box, left, right, box, dual, kept, bounds, node):
    bound = _bound_both(bound_box, left, right, box, dual)
    if bound > bounds[node]:
        bounds[node] = bound
        for i in range(len(dual)):
            kept[i] = dual[i]


@subroutine
def _bound_both(bound_box, left, right, box, dual):
    """The lesser of the bounds at the two ends; nu is the best one at each."""
    return min(bound_box(left, box, dual, -np.inf), bound_box(right, box, dual, -np.inf))


@subroutine
def _inherit_both(bound_box, left, right, low, high, dual, threshold):
    """The same by the dual that a node inherits, and its box without the slabs that reach the threshold at both ends."""
    lows, highs = np.empty((2, len(low))), np.empty((2, len(low)))
    bounds = np.empty(2)
    for end in range(2):
        problem = left if end == 0 else right
        for x in range(len(low)):
            lows[end, x], highs[end, x] = low[x], high[x]
        bounds[end] = bound_box(problem, Box(lows[end], highs[end]), dual, threshold)
    for x in range(len(low)):
        # An end at which the whole box reaches the threshold asks for nothing to be kept.
        if bounds[0] >= threshold:
            low[x], high[x] = lows[1, x], highs[1, x]
        elif bounds[1] >= threshold:
            low[x], high[x] = lows[0, x], highs[0, x]
        else:
            low[x], high[x] = min(lows[0, x], lows[1, x]), max(highs[0, x], highs[1, x])
    return min(bounds[0], bounds[1])
