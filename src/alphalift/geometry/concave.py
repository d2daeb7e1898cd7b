"""Minimise sum_x phi_x(V_x) - u.V + costs.slacks over a convex part of the simplex: local minima, and a bound by branching.

What Python sees of the pricing problem ("The bound" in docs/theory.md): the program, a search for its bound, and the
certificate that a search leaves. The compiled kernels are in `descent` (local minima), `tree` (boxes, split and bounded),
`bound` (the bound of one box) and `interior_point` (the dual that makes it good); `pricing` is the problem as they take it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from alphalift.arrays import Array
from alphalift.clock import Clock
from alphalift.convex import HALF_SPACES, ConvexSet
from alphalift.geometry.caps import Caps
from alphalift.geometry.descent import compiled_descend
from alphalift.geometry.pricing import Feasible, Pricing
from alphalift.geometry.separable_tree import Node
from alphalift.geometry.tree import Tree, compiled_bound_nodes, compiled_replay, compiled_split
from alphalift.geometry.working_set import MANY, compile_minimiser

# Room for nodes at first, which doubles when it is used up.
_FIRST_NODES = 1024
# Fewer are not worth a thread: bounding one takes some 0.1 milliseconds, and starting a thread about as long.
_NODES_A_THREAD = 16
# Nodes near the root that are bounded again in one thread; what hangs below them is shared.
_NODES_AT_TOP = 512
# Starts between two looks at the clock, where descents are short; and where they are long enough to be shared among threads, as starts
# times symbols times moments tell.
_STARTS_A_CALL, _STARTS_A_THREAD, _WORTH_THREADS = 64, 16, 15_000


@dataclass(frozen=True, eq=False)
class ConcaveProgram:
    """The feasible set {V in the simplex : V A in the convex set} and phi_x, of a compiled curve and scales; u and costs come later.

    `vectors` are the set's vectors of the symbols, (|X|, n): V is allowed if V `vectors` lies in the set. `least` is the
    least number that parameters of the set were computed from: how far theirs lie from 1 says how accurate they are.
    phi_x(v) = scales_x curve(v / scales_x).
    """

    body: ConvexSet
    curve: Any
    scales: Array
    vectors: Array
    least: float

    @cached_property
    def moments(self) -> Array:
        """A, (|X|, k): what the directions of the set make of the symbols."""
        return np.ascontiguousarray(self.vectors @ self.body.directions.T)

    @cached_property
    def capacities(self) -> Array:
        """M, (|X|, constraints): what the capacities of the set's constraints make of the symbols."""
        return np.ascontiguousarray(self.vectors @ self.body.capacities.T)

    @cached_property
    def moment_sizes(self) -> Array:
        """(|X|, k): the moments if all coefficients of a direction were as large as its largest; errors are relative to it.

        And at least 1/2: a small one may be the difference of a 1 and a side near 1, whose error is that of the side.
        """
        directions = self.body.directions
        largest = np.abs(directions).max(axis=1, keepdims=True, initial=0.5)
        return np.ascontiguousarray(self.vectors @ np.where(directions != 0, largest, 0.0).T)

    @cached_property
    def lid(self) -> int:
        """The first moment of a lid on all symbols, V_x m_x <= tau p_x with the last slack for tau; 0 where there is none.

        It is the last constraint, of as many half-spaces as there are symbols, all of which are solved for at once.
        """
        body, size = self.body, len(self.moments)
        kind, first = int(body.constraints.kind[-1]), int(body.constraints.first[-1])
        if kind != HALF_SPACES or not len(body.capacities) or not len(body.widths) or size + len(body.widths) > MANY:
            return 0
        own, sides = self.moments[:, first:], body.constraints.parameters[body.constraints.offset[-1] :]
        others = sides, body.capacities[-1], body.slack_capacities[:, -1], body.slacks[:-1, first:]
        diagonal = own.shape == (size, size) and not (own - np.diag(own.diagonal())).any()
        return first if diagonal and not any(map(np.any, others)) else 0

    @cached_property
    def roundings(self) -> float:
        """How many unit roundoffs a term of the bound may be off by: C of the lemma in docs/theory.md, "Floats"."""
        parameters = np.abs(np.concatenate([[self.least], self.body.constraints.parameters, self.body.slacks.ravel()]))
        of_parameters = 12 + 8 * float(np.abs(np.log(parameters[parameters > 0])).max())
        return 2 * of_parameters + 2 * len(self.body.directions) + len(self.body.base_capacity) + 24

    def at(self, prices: Array, costs: Array | None = None) -> Pricing:
        """The whole problem at these prices, (|X|,), and costs of the set's slacks, which are 0 unless given."""
        costs = np.zeros(len(self.body.widths)) if costs is None else costs
        return Pricing(self.feasible, self.curve, self.scales, prices, costs)

    @cached_property
    def feasible(self) -> Feasible:
        """The feasible V as kernels take them."""
        body = self.body
        return Feasible(
            body.constraints,
            self.moments,
            body.slacks,
            body.widths,
            body.base_capacity,
            self.capacities,
            body.slack_capacities,
            self.lid,
            self.moment_sizes,
            self.roundings,
        )

    def compile(self) -> None:
        """Compile the kernels, or load them from numba's cache; later calls cost nothing."""
        for ready in (compiled_descend, compiled_split, compiled_bound_nodes, compiled_replay):
            ready()
        compile_minimiser(len(self.moments) + len(self.body.widths))

    def local_minima(
        self,
        prices: Array,
        starts: Array,
        threads: int = 1,
        clock: Clock | None = None,
        costs: Array | None = None,
    ) -> tuple[Array, Array]:
        """A local minimum near every start, (count, |X|), and its objective; infinite where none was found, or in time."""
        points, values = np.array(starts), np.full(len(starts), np.inf)
        descend, problem = compiled_descend(), self.at(prices, costs)
        long = len(points) * self.moments.size >= _WORTH_THREADS
        step = _STARTS_A_THREAD if long else _STARTS_A_CALL

        def work(first: int) -> None:
            if clock is None or not clock.over:
                own = slice(first, first + step)
                descend(*problem, points[own], values[own])

        _in_threads(threads if long else 1, work, range(0, len(points), step))
        return points, values


def _in_threads(threads: int, work: Callable[[Any], None], shares: Iterable[Any]) -> None:
    """Do all shares of the work; kernels let other threads run."""
    if threads == 1:
        for share in shares:
            work(share)
        return
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, shares))  # a list, so that an error in a thread is raised here


@dataclass(frozen=True, eq=False)
class Certificate:
    """Why no V does better: prices u and a binary tree of boxes with a dual (w, nu) at every node.

    The root is the unit box. A node with `child` c > 0 is split at `split_at` of `symbol` into the nodes c (below)
    and c + 1 (above); a split outside of the box leaves one of them empty. Before a child is bounded, slabs are cut
    off that its parent's w and the nu in `trimmed_at` prove to lie above `threshold`, which leaves [low, high].
    A node without a child is a leaf, and its bound is the formula of `bound` at its own dual. The threshold is negative.

    `caps` has (x, dual) for every symbol whose slab above the root's `high` is cut off beforehand, by that dual. `coarser`
    is a smaller certificate of the same, if there is one: its bound is worse, and quicker to check.
    """

    prices: Array
    threshold: float
    low: Array
    high: Array
    symbol: NDArray[np.int64]
    split_at: Array
    child: NDArray[np.int64]
    dual: Array
    trimmed_at: Array
    bound: Array
    caps: tuple[tuple[int, Array], ...] = ()
    # What a unit of each promise on average costs, where there are any: the slacks' costs come from it.
    average_prices: Array = field(default_factory=lambda: np.empty(0))
    coarser: Certificate | None = None

    @property
    def leaves(self) -> int:
        return int((self.child == 0).sum())


class Search:
    """Best-first branch and bound; nodes whose bound reaches the threshold stay closed.

    The threshold is an objective below 0, which a search may leave: the nearer to 0, the more nodes. Prices may change
    on the way: the tree is then bounded again with the duals that it has, and goes on.
    """

    def __init__(
        self,
        program: ConcaveProgram,
        prices: Array,
        threshold: float,
        threads: int = 1,
        caps: Caps | None = None,
        costs: Array | None = None,
    ) -> None:
        self._program, self._threshold, self._threads = program, threshold, threads
        self._problem = program.at(prices, costs)
        size, width = program.moments.shape
        self._tree = Tree.unit_box(_FIRST_NODES, size, width + 1)
        self._caps, self._cap_duals = caps, np.empty((0, width + 1))
        root = np.array([0])
        self._bound(root)
        if caps is not None and self._tree.bound[0] < threshold:
            self._cap_root(caps)
            self._bound(root)
        self.nodes = 1
        self._open = root
        # Open nodes whose duals are those of other prices or another threshold.
        self._stale = np.zeros(1, np.bool_)
        self._close()

    def _cap_root(self, caps: Caps) -> None:
        """Let the root be the box below the caps that are proven at the present prices."""
        tree = self._tree
        tree.high[0], self._cap_duals = caps.proven(self._problem, self._threshold, tree.dual[0])

    def change_prices(self, prices: Array, threshold: float | None = None, costs: Array | None = None) -> None:
        """Go on with the same tree at other prices, and another threshold if one is given."""
        self._problem = self._program.at(prices, costs)
        self._threshold = self._threshold if threshold is None else threshold
        if self._caps is not None:
            self._cap_root(self._caps)
        self._open = np.flatnonzero(self._replay())
        self._stale = np.zeros(self.nodes, np.bool_)
        self._stale[self._open] = True
        self._close()

    def _replay(self) -> NDArray[np.bool_]:
        """Bound the tree again, its top first, then what hangs below in shares of threads; which nodes are leaves now."""
        problem, replay, tree = self._problem, compiled_replay(), self._tree
        leaves, top = np.zeros(self.nodes, np.bool_), min(self.nodes, _NODES_AT_TOP)
        reached = np.arange(self.nodes) == 0
        replay(*problem, self._threshold, 0, top, tree, reached, leaves)

        def below(roots: NDArray[np.int64]) -> None:
            own = np.zeros(self.nodes, np.bool_)
            own[roots] = True
            replay(*problem, self._threshold, top, self.nodes, tree, own, leaves)

        roots = top + np.flatnonzero(reached[top:])
        if len(roots):
            _in_threads(self._threads, below, np.array_split(roots, self._threads))
        return leaves

    @property
    def finished(self) -> bool:
        return not len(self._open)

    @property
    def lower_bound(self) -> float:
        """No V has an objective below this: the least bound over all leaves; what was trimmed has the threshold's."""
        return float(min(self._threshold, self._tree.bound[self._open].min(initial=np.inf)))

    def grow(self, most: int) -> Array:
        """Split up to this many of the worst open nodes; the relaxations' minimisers on nodes that are open then.

        Of a node whose dual is stale a better one is found first: it may close the node.
        """
        bounds = self._tree.bound[self._open]
        count = min(most, len(bounds))
        worst = np.argpartition(bounds, count - 1)[:count]
        chosen = self._open[worst]
        stale = chosen[chosen < len(self._stale)]
        stale = stale[self._stale[stale]]
        if len(stale):
            self._stale[stale] = False
            self._in_shares(self._bound, stale)
            looked_at = stale
        else:
            looked_at = self._split(chosen)
            self._open = np.concatenate([np.delete(self._open, worst), looked_at])
        self._close()
        return np.asarray(self._tree.point[looked_at[self._tree.bound[looked_at] < self._threshold]])

    def _split(self, chosen: NDArray[np.int64]) -> NDArray[np.int64]:
        """The children of these nodes, bounded; indices are given out beforehand, so threads change nothing."""
        count = len(chosen)
        while self.nodes + 2 * count > len(self._tree.bound):
            self._tree = self._tree.doubled()
        new = np.arange(self.nodes, self.nodes + 2 * count)
        self.nodes += 2 * count

        def expand(which: NDArray[np.int64]) -> None:
            compiled_split()(*self._problem, chosen[which], int(new[2 * which[0]]), self._threshold, self._tree)
            self._bound(new[2 * which[0] : 2 * which[-1] + 2])

        self._in_shares(expand, np.arange(count))
        return new

    def _bound(self, nodes: NDArray[np.int64]) -> None:
        compiled_bound_nodes()(*self._problem, nodes, self._threshold, self._tree)

    def _in_shares(self, work: Callable[[NDArray[np.int64]], None], numbers: NDArray[np.int64]) -> None:
        """The work on these numbers, a share of them in each thread."""
        threads = max(1, min(self._threads, len(numbers) // _NODES_A_THREAD))
        _in_threads(threads, work, np.array_split(numbers, threads))

    def _close(self) -> None:
        self._open = self._open[~(self._tree.bound[self._open] >= self._threshold)]

    def certificate(self) -> Certificate:
        """The tree without the nodes that a change of prices has cut off."""
        tree = self._tree
        kept = [0]
        for node in kept:  # grows while it is walked: parents before their children
            child = int(tree.child[node])
            kept += [child, child + 1] if child else []
        order = np.array(kept)
        renamed = np.zeros(self.nodes, np.int64)
        renamed[order] = np.arange(len(order))
        return Certificate(
            prices=self._problem.prices,
            threshold=self._threshold,
            low=tree.low[order],
            high=tree.high[order],
            symbol=tree.symbol[order],
            split_at=tree.split_at[order],
            child=renamed[tree.child[order]],
            dual=tree.dual[order],
            trimmed_at=tree.trimmed_at[order],
            bound=tree.bound[order],
            caps=tuple((x, dual) for x, dual in enumerate(self._cap_duals) if tree.high[0, x] < 1.0),
        )


@dataclass(frozen=True, eq=False)
class PairCertificate:
    """With two moments the extreme points are a finite list (`solvers.binary`), and the prices are the whole proof."""

    prices: Array


@dataclass(frozen=True, eq=False)
class LocalCertificate:
    """Moments that are the symbols themselves (`geometry.separable_tree`): prices, the root of a tree, groups of symbols."""

    prices: Array
    root: Node
    groups: list[NDArray[np.intp]]


@dataclass(frozen=True, eq=False)
class PiecesCertificate:
    """Prices, and of every piece (`utilities.pieces`) its dual (w, nu), in units of what publishing X is worth.

    Where pieces are for cells of means, `splits` is the tree that has these as leaves, in preorder: (dual,) is a leaf, (coordinate, place)
    a split at this share of the coordinate's range.
    """

    prices: Array
    duals: Array
    splits: list[tuple[int] | tuple[int, float]] | None = None
    average_prices: Array = field(default_factory=lambda: np.empty(0))  # as in a `Certificate`


@dataclass(frozen=True, eq=False)
class MergedCertificate:
    """What proves the bound of the merged joint (`presolve`) proves that of the joint itself."""

    proof: AnyCertificate


AnyCertificate: TypeAlias = "Certificate | PairCertificate | LocalCertificate | PiecesCertificate | MergedCertificate"
