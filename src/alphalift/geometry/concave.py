"""Minimise sum_x phi(V_x) - u.V over a convex part of the simplex: local minima, and a bound by branching."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alphalift.convex import ConvexSet
from alphalift.exact import Array
from alphalift.geometry import kernels

_ACCURACY = 1e-7
_FIRST_NODES = 1024
# Fewer are not worth a thread.
_NODES_A_THREAD = 16


@dataclass(frozen=True, eq=False)
class ConcaveProgram:
    """The feasible set {V in the simplex : V A in the convex set} and the compiled curve phi; u comes later.

    `vectors` are the set's vectors of the symbols, (|X|, n): V is allowed if V `vectors` lies in the set.
    """

    body: ConvexSet
    curve: Any
    vectors: Array

    @cached_property
    def moments(self) -> Array:
        """A, (|X|, k): what the directions of the set make of the symbols."""
        return np.ascontiguousarray(self.vectors @ self.body.directions.T)

    @cached_property
    def masses(self) -> Array:
        """M, (|X|, parts): what the capacities of the set's parts make of the symbols."""
        return np.ascontiguousarray(self.vectors @ self.body.capacities.T)

    @property
    def arguments(self) -> tuple[Any, Any]:
        """What every kernel takes first: the body and the curve."""
        body = self.body
        sets = (
            body.rows,
            body.parameters,
            self.moments,
            body.slacks,
            body.widths,
            body.callback,
            body.fixed,
            self.masses,
        )
        return sets, self.curve

    def compile(self) -> None:
        """Compile the kernels, or load them from numba's cache; later calls cost nothing."""
        for ready in (
            kernels.compiled_descend,
            kernels.compiled_bound_root,
            kernels.compiled_expand,
            kernels.compiled_replay,
        ):
            ready()

    def local_minima(self, prices: Array, starts: Array) -> tuple[Array, Array]:
        """A local minimum near every start, (count, |X|), and its objective; infinite where none was found."""
        points, values = np.array(starts), np.empty(len(starts))
        kernels.compiled_descend()(*self.arguments, prices, points, values)
        return points, values


@dataclass(frozen=True, eq=False)
class Certificate:
    """Why no V does better: prices u and a binary tree of boxes with a dual (w, nu) at every node.

    The root is the unit box. A node with `child` c > 0 is split at `place` of `symbol` into the nodes c (below)
    and c + 1 (above); a split outside of the box leaves one of them empty. Before a child is bounded, slabs are cut
    off that its parent's w and the nu in `trimmed_at` prove to lie above `threshold`, which leaves [low, high].
    A node without a child is a leaf, and its bound is the formula of `kernels` at its own dual.
    """

    prices: Array
    threshold: float
    low: Array
    high: Array
    symbol: NDArray[np.int64]
    place: Array
    child: NDArray[np.int64]
    dual: Array
    trimmed_at: Array
    bound: Array

    @property
    def leaves(self) -> int:
        return int((self.child == 0).sum())


class Search:
    """Best-first branch and bound; nodes whose bound reaches the threshold stay closed.

    Prices may change on the way: the tree is then bounded again with the duals that it has, and goes on.
    """

    def __init__(self, program: ConcaveProgram, prices: Array, threshold: float, threads: int = 1) -> None:
        self._program, self._prices, self._threshold, self._threads = program, prices, threshold, threads
        size, width = program.moments.shape
        self._tree = _new_tree(_FIRST_NODES, size, width + 1)
        kernels.compiled_bound_root()(*self._arguments, _ACCURACY, threshold, self._tree)
        self.nodes = 1
        self._open = np.array([0])
        self._close()

    @property
    def _arguments(self) -> tuple[Any, ...]:
        return *self._program.arguments, self._prices

    def change_prices(self, prices: Array) -> None:
        """Go on with the same tree at other prices."""
        self._prices = prices
        leaves = np.zeros(self.nodes, np.bool_)
        kernels.compiled_replay()(*self._arguments, self._threshold, self.nodes, self._tree, leaves)
        self._open = np.flatnonzero(leaves)
        self._close()

    @property
    def finished(self) -> bool:
        return not len(self._open)

    @property
    def lower_bound(self) -> float:
        """No V has an objective below this: the least bound over all leaves; what was trimmed has the threshold's."""
        return float(min(self._threshold, self._tree[4][self._open].min(initial=np.inf)))

    def grow(self, most: int) -> Array:
        """Split up to this many of the worst open nodes; the relaxations' minimisers on new open nodes."""
        bounds = self._tree[4][self._open]
        count = min(most, len(bounds))
        worst = np.argpartition(bounds, count - 1)[:count]
        while self.nodes + 2 * count > len(self._tree[4]):
            self._tree = tuple(np.concatenate([part, np.zeros_like(part)]) for part in self._tree)
            self._tree[4][self.nodes :] = -np.inf  # what is not bounded yet is open
        self._expand(self._open[worst])
        new = np.arange(self.nodes, self.nodes + 2 * count)
        self.nodes += 2 * count
        self._open = np.concatenate([np.delete(self._open, worst), new])
        self._close()
        return np.asarray(self._tree[2][new[self._tree[4][new] < self._threshold]])

    def _expand(self, chosen: NDArray[np.int64]) -> None:
        """Split these nodes, a share of them in each thread; places are given out beforehand, so threads change nothing."""

        def expand(first: int, share: NDArray[np.int64]) -> None:
            kernels.compiled_expand()(*self._arguments, share, first, _ACCURACY, self._threshold, self._tree)

        shares = np.array_split(chosen, max(1, min(self._threads, len(chosen) // _NODES_A_THREAD)))
        firsts = (self.nodes + 2 * np.cumsum([0, *map(len, shares[:-1])])).tolist()
        if len(shares) == 1:
            expand(*firsts, *shares)
            return
        with ThreadPoolExecutor(len(shares)) as pool:
            list(pool.map(expand, firsts, shares))  # a list, so that an error in a thread is raised here

    def _close(self) -> None:
        self._open = self._open[~(self._tree[4][self._open] >= self._threshold)]

    def certificate(self) -> Certificate:
        """The tree without the nodes that a change of prices has cut off."""
        low, high, _, dual, bound, place, symbol, child, trimmed_at = self._tree
        kept = [0]
        for node in kept:  # grows while it is walked: parents before their children
            if child[node]:
                kept += [int(child[node]), int(child[node]) + 1]
        order = np.array(kept)
        renamed = np.zeros(self.nodes, np.int64)
        renamed[order] = np.arange(len(order))
        parts = {"low": low, "high": high, "symbol": symbol, "place": place, "dual": dual}
        parts |= {"child": renamed[child[: self.nodes]], "trimmed_at": trimmed_at, "bound": bound}
        return Certificate(self._prices, self._threshold, **{name: part[order] for name, part in parts.items()})


@dataclass(frozen=True, eq=False)
class PairCertificate:
    """With two moments the extreme points are a finite list (`solvers.binary`), and the prices are the whole proof."""

    prices: Array


def _new_tree(nodes: int, size: int, duals: int) -> tuple[Any, ...]:
    """Empty arrays of `kernels.expand`; node 0 is the unit box with the dual w = 1."""
    wide = [np.zeros((nodes, size)) for _ in range(3)]
    wide[1][0] = 1.0
    dual = np.ones((nodes, duals))
    thin = [
        np.full(nodes, -np.inf),
        np.zeros(nodes),
        np.zeros(nodes, np.int64),
        np.zeros(nodes, np.int64),
        np.zeros(nodes),
    ]
    return (*wide, dual, *thin)
