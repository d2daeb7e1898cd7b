"""Between two budgets: mixtures of columns that go from one to the other, and the line above all mechanisms that a tree proves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from alphalift.arrays import Array
from alphalift.curve.envelope import Stretch
from alphalift.curve.spots import Spot, Spots
from alphalift.geometry.tree import Tree
from alphalift.mechanism import Mechanism
from alphalift.regions.between import Line, line_between
from alphalift.solvers.between import Moving
from alphalift.solvers.run import MARGIN

# The share of the accuracy that one step of the lower envelope may rise, and the most steps.
_STEP, _MOST_STEPS = 0.08, 400
# Mixtures of a stretch's columns that are looked for at most, and what share of the accuracy the lower envelope may lie below a line.
_MIXTURES, _LOST = 10, 0.2


@dataclass(eq=False)
class Between(Stretch):
    """Two budgets, the columns that go from one to the other, and the line above all mechanisms that a tree proves."""

    spots: Spots
    left: Spot
    right: Spot
    tree: Tree | None = None
    cap: float = 1.0
    ends: tuple[float, float] | None = None
    # Where the envelopes would be nearest to each other.
    nearest: float = 0.0

    @cached_property
    def line(self) -> Line | None:
        return line_between(self.left.run.region, self.right.run.region, self.spots.joint.p_s)

    def place(self, epsilon: float) -> float:
        return 0.0 if self.line is None else self.line.place(self.spots.setting.family.at(epsilon))

    def bound(self, epsilon: float) -> float:
        if self.ends is None:
            return 1.0
        return self._along(self.ends, epsilon)

    def _along(self, ends: tuple[float, float], epsilon: float) -> float:
        theta = self.place(epsilon)
        # A line that falls is not used: envelopes rise.
        return (1 - theta) * ends[0] + theta * max(ends)

    @cached_property
    def moving(self) -> Moving:
        return Moving.of(self.spots.joint, self.spots.utility, self.left.run.kept, self.right.run.kept)

    @cached_property
    def middle(self) -> float:
        """The epsilon halfway along the line."""
        low, high = self.left.epsilon, self.right.epsilon
        for _ in range(40):
            epsilon = 0.5 * (low + high)
            low, high = (epsilon, high) if self.place(epsilon) < 0.5 else (low, epsilon)
        return 0.5 * (low + high)

    @cached_property
    def _mixtures(self) -> tuple[Array, Array, list[tuple[Array, Array]]]:
        """Epsilons, what mixtures of moving columns keep, and these: all for evenly spaced places on the way.

        The best mixture at some place says which columns; at the others these have other weights. Where that leaves least, the best
        mixture there is next.
        """
        accuracy, first, last = self.spots.setting.accuracy, self.left.lower, self.right.lower
        count = min(max(math.ceil(max(last - first, 0.0) / (_STEP * accuracy)), 4), _MOST_STEPS)
        thetas, best = np.linspace(0.0, 1.0, count + 1), np.full(count + 1, -math.inf)
        parts, place = list[tuple[Array, Array, list[tuple[Array, Array]]]](), count // 2
        for _ in range(_MIXTURES):
            part, kept = self._mixed(self.moving.used_at(thetas[place]), thetas)
            parts.append(part)
            best = np.maximum(best, kept)
            lost = (1 - thetas) * first + thetas * last - best
            if lost.max() < _LOST * accuracy:
                break
            place = _amid(lost >= 0.9 * lost.max())
        epsilons, worth, mixtures = zip(*parts, strict=True)
        return np.concatenate(epsilons), np.concatenate(worth), [own for some in mixtures for own in some]

    def _mixed(self, rows: Array, thetas: Array) -> tuple[tuple[Array, Array, list[tuple[Array, Array]]], Array]:
        """The mixtures of these columns: their epsilons, what they keep, and themselves; and what is kept at every place."""
        spots, joint, region = self.spots, self.spots.joint, self.right.run.region
        good, points, weights = self.moving.mixed(rows, thetas)
        kept = np.full(len(thetas), -math.inf)
        if not good.any():
            return (np.empty(0), np.empty(0), []), kept
        costs = spots.utility.uncertainty(points.reshape(-1, points.shape[-1])).reshape(weights.shape)
        values = region.value(points.reshape(-1, points.shape[-1]) @ joint.lift.T, joint.p_s).reshape(weights.shape)
        largest = np.where(weights > 0, values, -math.inf).max(axis=1)
        epsilons = np.array([max(region.as_epsilon(value), 0.0) + MARGIN for value in largest])
        worth = np.asarray(spots.share(spots.before - (weights * costs).sum(axis=1)))
        kept[good] = worth
        return (epsilons, worth, [(p[w > 0], w[w > 0]) for p, w in zip(points, weights, strict=True)]), kept

    def steps(self) -> tuple[Array, Array]:
        epsilons, worth, _ = self._mixtures
        return epsilons, worth

    def step(self, number: int) -> Mechanism:
        points, weights = self._mixtures[2][number]
        return self.spots.mechanism(Mechanism.mixing(self.spots.joint, points, weights / weights.sum()))

    def forget(self) -> None:
        """What rests on the ends' columns is computed anew."""
        for name in ("moving", "_mixtures"):
            self.__dict__.pop(name, None)

    def apart(self, prices: tuple[Array, Array], threshold: float) -> float:
        """How far apart envelopes would be, were the line at these prices proven."""
        before, kept = self.ends, self.cap
        self.ends, self.cap = self.spots.bounds(prices, -threshold), 1.0
        try:
            distance = self.distance
            epsilons, worth = self.stairs()
            self.nearest = float(epsilons[np.argmin(self.uppers(epsilons) - worth)])
            return distance
        finally:
            self.ends, self.cap = before, kept


def _amid(chosen: NDArray[np.bool_]) -> int:
    """The middle of the longest run of chosen places."""
    ends = np.flatnonzero(np.diff(np.concatenate([[False], chosen, [False]])))
    runs = ends.reshape(-1, 2)
    longest = runs[np.argmax(runs[:, 1] - runs[:, 0])]
    return int(longest.sum() // 2)
