"""Pieces of a concave function h of the posterior: linear functions of which the least is at most h(V) for every V.

A finite number of actions are their own pieces. Of others there are ever more, and closer ones: a piece is for a cell of
posteriors, where it is at most h, and a cell is split where that is too little ("Pieces" in docs/theory.md).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from alphalift.arrays import Array

# A split leaves each part at least this share of the side.
_LEAST_SHARE = 0.1
# A shorter side, as a share of the whole, is not split any more: floats end there.
_LEAST_SIDE = 1e-9


class Pieces(ABC):
    """The cells at present: all posteriors are in one of them at least."""

    @property
    @abstractmethod
    def count(self) -> int:
        """How many there are."""

    @property
    @abstractmethod
    def size(self) -> float:
        """Of the largest numbers that losses are computed from: roundings are relative to it."""

    @abstractmethod
    def losses(self, which: NDArray[np.intp]) -> Array:
        """g of these cells, (count, |X|): g.V <= h(V) for all V in the cell."""

    def splits(self) -> list[tuple[int] | tuple[int, float]] | None:
        """The tree of which the cells are the leaves, as `PiecesCertificate` has it, where that is known."""
        return None

    def vertices(self, cell: int) -> Array | None:
        """The points, (count, |X|), that g is about in place of the symbols: every V in the cell is a mixture of them."""
        return None

    def split(self, which: NDArray[np.intp], points: Array) -> NDArray[np.intp]:
        """Replace each of these cells by two: the first keeps its number, the numbers of the second ones are returned.

        `points` are where the cells' bounds are attained. Those that cannot be split are left out: -1.
        """
        return np.full(len(which), -1)


@dataclass(eq=False)
class Actions(Pieces):
    """h(V) = min over actions of its loss, (actions, |X|): every action is a piece for all posteriors."""

    table: Array

    @property
    def count(self) -> int:
        return len(self.table)

    @property
    def size(self) -> float:
        return float(np.abs(self.table).max())

    def losses(self, which: NDArray[np.intp]) -> Array:
        return self.table[which]


@dataclass(eq=False)
class Squares(Pieces):
    """h(V) = E |x - E x|^2 of points x >= 0 in d dimensions, the least of each coordinate 0: a cell is a box of means m = V.x.

    On [a, b] the chord of -m^2 is ab - (a + b) m, so that sum_k (x_k - a_k)(x_k - b_k) is a loss: V's is h(V) + sum_k (m_k - a_k)(m_k - b_k).
    """

    values: Array  # (|X|, d)
    low: Array = field(init=False)  # (count, d)
    high: Array = field(init=False)

    def __post_init__(self) -> None:
        self.low, self.high = self.values.min(axis=0)[None], self.values.max(axis=0)[None]
        self._tops = self.high[0]
        self._nodes: list[tuple[int] | tuple[int, float, int, int]] = [(0,)]
        self._node_of = [0]  # of each cell
        self._least_sides = _LEAST_SIDE * (self.high[0] - self.low[0])

    @property
    def count(self) -> int:
        return len(self.low)

    @property
    def size(self) -> float:
        return float((np.abs(self.values).max(axis=0) ** 2).sum())

    def losses(self, which: NDArray[np.intp]) -> Array:
        low, high = self.low[which], self.high[which]
        return np.asarray(
            sum(np.subtract.outer(low[:, k], x) * np.subtract.outer(high[:, k], x) for k, x in enumerate(self.values.T))
        )

    def splits(self) -> list[tuple[int] | tuple[int, float]]:
        found, todo = list[tuple[int] | tuple[int, float]](), [0]
        while todo:
            match self._nodes[todo.pop()]:
                case axis, share, below, above:
                    found.append((axis, share))
                    todo += [above, below]
                case (cell,):
                    found.append((cell,))
        return found

    def split(self, which: NDArray[np.intp], points: Array) -> NDArray[np.intp]:
        low, high = self.low[which], self.high[which]
        side = high - low
        # Where no minimiser was found, in the middle.
        means = np.where((points.sum(axis=1) > 0)[:, None], points @ self.values, (low + high) / 2)
        place = np.clip(means, low + _LEAST_SHARE * side, high - _LEAST_SHARE * side)
        axis = ((place - low) * (high - place)).argmax(axis=1)
        rows = np.arange(len(which))
        good = np.asarray(side[rows, axis] > self._least_sides[axis])
        rows, axis, which_split = rows[good], axis[good], which[good]
        numbers = np.full(len(which), -1)
        numbers[good] = self.count + np.arange(len(which_split))
        above = low[rows].copy()
        above[np.arange(len(rows)), axis] = place[rows, axis]
        self.low, self.high = np.vstack([self.low, above]), np.vstack([self.high, high[rows]])
        self.high[which_split, axis] = place[rows, axis]
        shares = place[rows, axis] / self._tops[axis]
        for cell, new, k, share in zip(which_split, numbers[good], axis, shares, strict=True):
            self._nodes[self._node_of[cell]] = (int(k), float(share), len(self._nodes), len(self._nodes) + 1)
            self._node_of[cell] = len(self._nodes)
            self._node_of.append(len(self._nodes) + 1)
            self._nodes += [(int(cell),), (int(new),)]
        return numbers


@dataclass(eq=False)
class Simplices(Pieces):
    """Any concave h by its values alone: on a simplex it is at least what its corners' values mix to."""

    h: Callable[[Array], Array]
    dimension: int
    corners: Array = field(init=False)  # (count, |X|, |X|)
    levels: Array = field(init=False)  # h of them, (count, |X|)

    def __post_init__(self) -> None:
        self.corners = np.eye(self.dimension)[None]
        self.levels = self.h(self.corners[0])[None]

    @property
    def count(self) -> int:
        return len(self.levels)

    @property
    def size(self) -> float:
        return float(np.abs(self.levels).max())

    def losses(self, which: NDArray[np.intp]) -> Array:
        return self.levels[which]

    def splits(self) -> list[tuple[int] | tuple[int, float]] | None:
        """The tree of which the cells are the leaves, as `PiecesCertificate` has it, where that is known."""
        return None

    def vertices(self, cell: int) -> Array | None:
        return np.asarray(self.corners[cell])

    def split(self, which: NDArray[np.intp], points: Array) -> NDArray[np.intp]:
        """In the middle of the longest edge."""
        corners, rows = self.corners[which], np.arange(len(which))
        lengths = ((corners[:, :, None] - corners[:, None]) ** 2).sum(axis=-1).reshape(len(which), -1)
        first, second = np.divmod(lengths.argmax(axis=1), self.dimension)
        middles = (corners[rows, first] + corners[rows, second]) / 2
        levels = self.h(middles)
        numbers = self.count + rows
        self.corners, self.levels = (
            np.concatenate([self.corners, corners]),
            np.vstack([self.levels, self.levels[which]]),
        )
        for own, corner in ((which, first), (numbers, second)):
            self.corners[own, corner], self.levels[own, corner] = middles, levels
        return numbers
