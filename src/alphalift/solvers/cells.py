"""Bounds of all pieces of a concave function at some prices, and splits of the cells where that is too little."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from alphalift.arrays import Array
from alphalift.clock import Clock
from alphalift.geometry.linear import LinearProgram
from alphalift.utilities.pieces import Pieces


class PieceSearch:
    """Bounds of all pieces at some prices; cells whose bound is not enough can be split. Cells stay across prices."""

    def __init__(
        self, program: LinearProgram, pieces: Pieces, h: Callable[[Array], Array], left: float, threads: int
    ) -> None:
        """`left` is what the bound may be below the least h(V) - prices.V."""
        self.program, self.pieces, self._h, self._left, self._threads = program, pieces, h, left, threads
        self.duals, self.bounds = np.ones((pieces.count, program.dual_size)), np.full(pieces.count, -np.inf)
        self.points = np.zeros((pieces.count, len(program.outer.vectors)))

    def start(self, prices: Array, enough: float, clock: Clock, costs: Array | None = None) -> None:
        """Bound every piece at these prices, no better than `enough`, or than needed where V with less are known."""
        self.prices, self._enough, self._clock, self._costs = prices, enough, clock, costs
        self._bound(np.arange(self.pieces.count))

    @property
    def lower_bound(self) -> float:
        """No V has h(V) - prices.V below this."""
        return float(self.bounds.min())

    @property
    def open(self) -> NDArray[np.intp]:
        """The pieces whose bound is not enough."""
        return np.flatnonzero(self.bounds < self._enough)

    def grow(self, most: int) -> Array | None:
        """Split as many of the worst cells; the minimisers of their parts that are open. None where nothing can be split."""
        worst = self.open[np.argsort(self.bounds[self.open], kind="stable")[:most]]
        new = self.pieces.split(worst, self.points[worst])
        worst, new = worst[new >= 0], new[new >= 0]
        if not len(new):
            return None
        self.duals = np.vstack([self.duals, self.duals[worst]])
        self.points = np.vstack([self.points, np.zeros((len(new), self.points.shape[1]))])
        self.bounds = np.append(self.bounds, np.full(len(new), -np.inf))
        both = np.concatenate([worst, new])
        self._bound(both)
        return np.asarray(self.points[both[self.bounds[both] < self._enough]])

    def _bound(self, which: NDArray[np.intp]) -> None:
        losses = self.pieces.losses(which)
        if self.pieces.vertices(0) is None:
            self._keep(which, self.program, losses, self.prices)
        else:
            self._bound_simplices(which, losses)
        points = self.points[which[self.bounds[which] < self._enough]]
        points = points[points.any(axis=1)]
        if len(points):  # no bound is above what these have
            least = float((self._h(points) - points @ self.prices).min())
            self._enough = min(self._enough, least - self._left)

    def _bound_simplices(self, which: NDArray[np.intp], losses: Array) -> None:
        for own, loss in zip(which, losses, strict=True):
            vertices = self.pieces.vertices(int(own))
            assert vertices is not None
            self._keep(np.array([own]), self.program.of_points(vertices), loss[None], vertices @ self.prices)
            self.points[own] = self.points[own] @ vertices

    def _keep(self, which: NDArray[np.intp], program: LinearProgram, losses: Array, prices: Array) -> None:
        found = program.price(
            losses,
            prices,
            duals=self.duals[which],
            enough=self._enough,
            size=self.pieces.size,
            threads=self._threads,
            clock=self._clock,
            costs=self._costs,
        )
        self.bounds[which], self.duals[which], self.points[which] = found.bounds, found.duals, found.points
