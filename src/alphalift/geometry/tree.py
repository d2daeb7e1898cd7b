"""The tree of branch and bound as arrays: boxes are split, trimmed and bounded, and bounded again at other prices.

"The tree" and "Other prices, the same tree" in docs/theory.md. The root, node 0, is the unit box. A node's children are two
neighbours in the arrays; their indices are given out before they are bounded, so threads change nothing. `threshold` is
negative, see `bound`: nodes whose bound reaches it stay leaves. Which leaf is split next is decided in `concave.Search`.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from alphalift.arrays import Array
from alphalift.compiled import INTEGERS, MATRIX, VECTOR, compile_once, copied, copy_row, spliced, sum_of, tuple_type
from alphalift.geometry.bound import BOUND_BOX, POINT, UNIT_ROUNDOFF, compile_with_bound, relax
from alphalift.geometry.pricing import PRICING, Box, Pricing, phi
from alphalift.geometry.working_set import compile_with_minimiser

# A split leaves each child at least this share of the side: both have to become smaller.
_LEAST_SHARE = 0.1
# With more symbols than this, boxes are closed after a split, and split in the middle. What one symbol has the others cannot
# have: where there are many, that closes boxes sooner than the best split of one (10 x 200: 30 times fewer nodes); where
# there are few, it does not.
CLOSED_FROM = 32


class Tree(NamedTuple):
    """One entry a node; [low, high] is its box after trimming.

    A node with a `child` c > 0 is split at `split_at` of `symbol` into the nodes c (below) and c + 1 (above).
    `trimmed_at` is the nu that, with its parent's w, has trimmed its box.
    """

    low: Array  # (nodes, |X|)
    high: Array
    point: Array  # the minimiser of its relaxation, (nodes, |X|)
    dual: Array  # its (w, nu), (nodes, k + 1)
    bound: Array
    split_at: Array
    symbol: NDArray[np.int64]
    child: NDArray[np.int64]
    trimmed_at: Array

    @classmethod
    def unit_box(cls, nodes: int, size: int, duals: int) -> Tree:
        """Room for this many nodes; the root is the unit box with the dual w = 1. What is not bounded yet is open."""
        low, high, point = (np.zeros((nodes, size)) for _ in range(3))
        high[0] = 1.0
        numbers = np.zeros(nodes), np.zeros(nodes, np.int64), np.zeros(nodes, np.int64), np.zeros(nodes)
        return cls(low, high, point, np.ones((nodes, duals)), np.full(nodes, -np.inf), *numbers)

    def doubled(self) -> Tree:
        """The same with room for twice as many nodes."""
        longer = Tree(*(np.concatenate([part, np.zeros_like(part)]) for part in self))
        longer.bound[len(self.bound) :] = -np.inf
        return longer


_TREE = tuple_type(Tree, *4 * [MATRIX], VECTOR, VECTOR, INTEGERS, INTEGERS, VECTOR)


@cache
def compiled_split() -> Any:
    return compile_with_bound(
        compile_once(split, types.void(*PRICING, INTEGERS, types.int64, types.float64, _TREE, BOUND_BOX))
    )


@cache
def compiled_bound_nodes() -> Any:
    return compile_with_bound(compile_with_minimiser(bound_nodes, *PRICING, INTEGERS, types.float64, _TREE, BOUND_BOX))


@cache
def compiled_replay() -> Any:
    flags = types.boolean[::1]
    signature = types.void(*PRICING, types.float64, types.int64, types.int64, _TREE, flags, flags, BOUND_BOX)
    return compile_with_bound(compile_once(replay, signature))


def split(feasible, curve, scales, prices, costs, chosen, first, threshold, tree, bound_box):
    """Split every chosen node; the children of the i-th become the nodes first + 2i and first + 2i + 1.

    They inherit their parent's dual, and have its bound, until they get their own.
    """
    problem = Pricing(feasible, curve, scales, prices, costs)
    for i in range(len(chosen)):
        node = chosen[i]
        tree.child[node] = first + 2 * i
        for child in range(first + 2 * i, first + 2 * i + 2):
            copy_row(tree.point, node, tree.point, child)
            copy_row(tree.dual, node, tree.dual, child)
            _split_box(tree, node, child)
            tree.bound[child] = _inherit(bound_box, problem, child, threshold, tree)


def bound_nodes(minimise, interior_point, feasible, curve, scales, prices, costs, nodes, threshold, tree, bound_box):
    """Find a dual for each of these nodes that is below the threshold; and choose their splits."""
    problem = Pricing(feasible, curve, scales, prices, costs)
    for node in nodes:
        if tree.bound[node] < threshold:
            before = tree.bound[node]
            tree.bound[node] = relax(
                minimise,
                interior_point,
                bound_box,
                problem,
                _box(tree, node),
                tree.dual[node],
                tree.point[node],
                before,
                threshold,
            )
        _choose_split(problem, tree, node)


def replay(feasible, curve, scales, prices, costs, threshold, first, last, tree, reached, leaves, bound_box):
    """Bound the same tree at other prices with the duals that it has, which mostly still serve: no program is solved.

    Of the nodes first, ..., last - 1 those that are `reached`; and says so of their children. Subtrees below a node that now
    reaches the threshold are dropped. `leaves`, like `reached` (nodes,), says which nodes are leaves now.
    """
    problem = Pricing(feasible, curve, scales, prices, costs)
    dual, bound = tree.dual, tree.bound
    for node in range(first, last):
        if not reached[node]:
            continue
        if node == 0:
            bound[0] = bound_box(problem, _box(tree, 0), dual[0], -np.inf)
        leaves[node] = tree.child[node] == 0 or bound[node] >= threshold
        if leaves[node]:
            tree.child[node] = 0
            _choose_split(problem, tree, node)
            continue
        for child in range(tree.child[node], tree.child[node] + 2):
            reached[child] = True
            own = copied(dual[child])
            copy_row(dual, node, dual, child)
            _split_box(tree, node, child)
            bound[child] = _inherit(bound_box, problem, child, threshold, tree)
            if bound[child] < threshold:
                alone = bound_box(problem, _box(tree, child), own, -np.inf)
                if alone > bound[child]:
                    bound[child] = alone
                    for i in range(len(own)):
                        dual[child, i] = own[i]


@spliced
def _box(tree, node):
    return Box(tree.low[node], tree.high[node])


@spliced
def _split_box(tree, node, child):
    """The child's box: its parent's, split; empty if trimming has moved the parent's box past the split."""
    low, high, x, split_at = tree.low, tree.high, tree.symbol[node], tree.split_at[node]
    copy_row(low, node, low, child)
    copy_row(high, node, high, child)
    if child == tree.child[node]:
        high[child, x] = min(high[node, x], split_at)
    else:
        low[child, x] = max(low[node, x], split_at)
    if low.shape[1] > CLOSED_FROM:
        _close_box(low[child], high[child])


@spliced
def _close_box(low, high):
    """Lower every end above what the others leave: V_x <= 1 - the others' low."""
    unfilled = max(1.0 - sum_of(low), 0.0) + UNIT_ROUNDOFF * (len(low) + 4)
    for x in range(len(low)):
        high[x] = min(high[x], low[x] + unfilled)


@spliced
def _inherit(bound_box, problem, node, threshold, tree):
    """The node's bound by the dual that it inherits, and its box trimmed with it."""
    box, dual = _box(tree, node), tree.dual[node]
    bound = bound_box(problem, box, dual, threshold)
    tree.trimmed_at[node] = dual[-1]
    return bound


@spliced
def _choose_split(problem, tree, node):
    """Split the symbol whose chord lies farthest below phi at the node's point: there if that is not near an end, or midway."""
    low, high, point = tree.low[node], tree.high[node], tree.point[node]
    best, symbol, split_at = -1.0, 0, 0.0
    for x in range(len(low)):
        width = high[x] - low[x]
        if width > POINT:
            at_low = phi(problem, x, low[x])
            slope = (phi(problem, x, high[x]) - at_low) / width
            v = min(max(point[x], low[x] + _LEAST_SHARE * width), high[x] - _LEAST_SHARE * width)
            gap = phi(problem, x, v) - at_low - slope * (v - low[x])
            if gap > best:
                best, symbol, split_at = gap, x, v if len(low) <= CLOSED_FROM else 0.5 * (low[x] + high[x])
    kink = problem.scales[symbol] * problem.curve(0.0, 2)
    if low[symbol] < kink < high[symbol]:  # chords on either side of it are better than any others
        split_at = kink
    tree.symbol[node], tree.split_at[node] = symbol, split_at
