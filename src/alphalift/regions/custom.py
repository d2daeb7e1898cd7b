"""A user's own promise: any convex value with its support function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from alphalift.arrays import Array
from alphalift.errors import PromiseError
from alphalift.regions.base import Region

_CHORDS = 4000
# What rounding, and differences in place of derivatives, may add to a value.
_SLACK = 1e-7
# Random posteriors stay off the edges of the simplex by about this.
_OFF_EDGES = 1e-12

RowFunction = Callable[[Array, Array], Array]


@dataclass(frozen=True)
class Custom(Region):
    """value(l) <= most for every released y: a promise of your own, which must be convex in the lifts.

    `row_value(lifts, p_s)` takes lifts, (count, |S|), and returns (count,); `row_support(w, p_s)` returns the largest
    E_S[w l] over allowed lifts for every row w, of any signs, or what is not below it; the smoother, the faster. Both are
    called often. What is not convex on random chords, or not consistent, is refused. No file can carry its proof: the
    checker does not know it.
    """

    name: str
    most: float
    row_value: RowFunction
    row_support: RowFunction

    def __repr__(self) -> str:
        return f"{self.name}({self.most})"

    @property
    def budget(self) -> float:
        return self.most

    @property
    def parameters(self) -> dict[str, float]:
        return {"most": self.most}

    def value(self, lifts: Array, p_s: Array) -> Array:
        if p_s.ndim == 1:
            return np.asarray(self.row_value(lifts, p_s), dtype=np.float64)
        return np.array([self.value(row[None], own)[0] for row, own in zip(lifts, p_s, strict=True)])

    def support(self, directions: Array, p_s: Array) -> Array:
        return np.asarray(self.row_support(directions, p_s), dtype=np.float64)

    def validate(self, p_s: Array) -> None:
        """Raise unless the promise is convex on random chords, allows l = 1, and fits its support function."""
        generator = np.random.default_rng(0)
        first, second = (_random_lifts(generator, p_s) for _ in range(2))
        if not self.value(np.ones((1, len(p_s))), p_s)[0] <= self.budget:
            raise PromiseError(f"{self} forbids revealing nothing: its value at l = 1 is above the budget")
        share = generator.random((len(first), 1))
        ends = [self.value(lifts, p_s) for lifts in (first, second)]
        between = self.value(share * first + (1 - share) * second, p_s)
        chord = share[:, 0] * ends[0] + (1 - share[:, 0]) * ends[1]
        scale = 1 + np.abs(chord)
        if np.isnan(between).any() or np.isnan(chord).any():
            raise PromiseError(f"{self} has lifts without a value (NaN)")
        if (between > chord + _SLACK * scale).any():
            raise PromiseError(
                f"{self} is not convex: on {np.mean(between > chord + _SLACK * scale):.0%} of random chords the value in "
                "between lies above the chord, so that mixing two allowed outputs could break the promise"
            )
        self._check_support(first, p_s)

    def _check_support(self, lifts: Array, p_s: Array) -> None:
        """No allowed lift may have a larger E[w l] than the support function says."""
        allowed = lifts[self.value(lifts, p_s) <= self.budget]
        directions = np.random.default_rng(1).normal(size=(200, len(p_s)))
        excess = allowed @ (directions * p_s).T - self.support(directions, p_s)
        if not (excess <= _SLACK).all():
            raise PromiseError(f"{self}: row_support does not fit row_value: it excludes lifts that the value allows")


def _random_lifts(generator: np.random.Generator, p_s: Array) -> Array:
    """Lifts all over the simplex of posteriors: near the prior, in the middle, and at its edges."""
    concentration = generator.choice([0.1, 1.0, 10.0], size=(_CHORDS, 1))
    raw = generator.gamma(concentration, size=(_CHORDS, len(p_s))) + _OFF_EDGES
    posteriors = raw / raw.sum(axis=1, keepdims=True)
    towards = generator.random((_CHORDS, 1)) ** 2
    return np.asarray((towards * posteriors + (1 - towards) * p_s) / p_s)
