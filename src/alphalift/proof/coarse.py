"""A mechanism in few bits: integers near it that keep the promise, found by moving single units between outputs.

Fine weights of an optimal mechanism give away the counts that it was designed for; few bits do not. But rounding to
few bits breaks promises that outputs keep with equality, and mixing toward P_X until they are kept again costs much
more than choosing well which weights are rounded up and which down.
"""

from __future__ import annotations

import numpy as np
from flint import fmpq, fmpz_mat

from alphalift.arrays import Array
from alphalift.proof.checker import Matrix, Promise, Row, broken_averages, lifts_of, prior_of, rows_of
from alphalift.proof.rounding import mixed, rounded

# Beyond so many weights units are not searched for, and all that is tried is mixing.
_MOST_WEIGHTS = 20_000
# The first share of P_X that is mixed in when the search ends in a broken promise, in units, and its growth.
_FIRST_UNITS, _GROWTH = 0.5, 1.5

# A move must bring this much, in units: less is rounding, and could go in circles.
_LEAST_GAIN = 1e-15


def coarse_weights(p_y_given_x: Array, p_x: Array, blocks: list[Matrix], promise: Promise, bits: int) -> list[Row]:
    """Integer columns that sum to 2^bits, near P(y|x), which keep the promise for the counts in these blocks; proven."""
    law, share = np.asarray(p_y_given_x), 0.0
    while share < 1:
        matrix = np.asarray(mixed(law, p_x, share))
        weights = np.zeros(law.shape, np.int64)
        for y, row in enumerate(rounded(matrix, bits)):
            weights[y, list(row)] = list(row.values())
        search = _Search(weights, matrix > 0, blocks, promise)
        if search.repair():
            found = [row for row in rows_of(search.weights.tolist(), dense=True) if row]
            if not broken_averages(blocks, found, promise):
                return found
        share = max(_GROWTH * share, _FIRST_UNITS * 2.0**-bits)
    return [dict.fromkeys(range(law.shape[1]), 1 << bits)]


class _Search:
    """Units move between outputs as long as that brings them nearer to the promise."""

    def __init__(self, weights: np.ndarray, support: np.ndarray, blocks: list[Matrix], promise: Promise) -> None:
        self.weights, self._support, self._promise = weights, support, promise
        self._blocks = [fmpz_mat(block).transpose() for block in blocks]
        self._prior = prior_of(blocks)
        self._excess = np.array([self._of(row) for row in weights])

    def repair(self) -> bool:
        """Whether every output keeps the promise in the end."""
        if self.weights.size <= _MOST_WEIGHTS and self._excess.any():
            gains = np.array([[self._gains(y, unit) for y in range(len(self.weights))] for unit in (-1, 1)])
            while self._excess.any():
                y, other, x = self._best(gains)
                if y < 0:
                    break
                self.weights[y, x] -= 1
                self.weights[other, x] += 1
                for changed in (y, other):
                    self._excess[changed] = self._of(self.weights[changed])
                    gains[:, changed] = [self._gains(changed, unit) for unit in (-1, 1)]
        return all(self._kept(row) for row in self.weights.tolist())

    def _best(self, gains: Array) -> tuple[int, int, int]:
        """The move (from y, to another, of x) that lowers the sum of what outputs exceed the promise by most; -1 if none."""
        best, move = -_LEAST_GAIN, (-1, -1, -1)
        for x in range(self.weights.shape[1]):
            together = gains[0, :, x][:, None] + gains[1, :, x][None, :]
            np.fill_diagonal(together, np.inf)
            place = int(together.argmin())
            if together.flat[place] < best:
                best, move = float(together.flat[place]), (*divmod(place, len(self.weights)), x)
        return move

    def _gains(self, y: int, unit: int) -> list[float]:
        """By x: how much more the output exceeds the promise with one unit of x more or less; inf where that cannot be."""
        gains = []
        for x, weight in enumerate(self.weights[y].tolist()):
            if weight + unit < 0 or not self._support[y, x]:
                gains.append(np.inf)
                continue
            changed = self.weights[y].copy()
            changed[x] += unit
            gains.append(self._of(changed) - self._excess[y])
        return gains

    def _of(self, row: np.ndarray) -> float:
        """By how much an output exceeds the promise, weighted by its mass: in units, so that moves can be added up."""
        mass, most = float(row.sum()), 0.0
        for lifts in self._lifts(row.tolist()):
            for part in self._promise.components:
                most += sum(max(float((left - right) / right), 0.0) for left, right in part.sides(lifts, self._prior))
        return most * mass

    def _kept(self, row: list[int]) -> bool:
        return all(self._promise.keeps(lifts, self._prior) for lifts in self._lifts(row))

    def _lifts(self, row: list[int]) -> list[list[fmpq]]:
        return lifts_of(((fmpz_mat([row]) * block).tolist()[0] for block in self._blocks), self._prior)
