"""A user's own utility: any concave function of the posterior."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from alphalift.arrays import Array
from alphalift.errors import InputError
from alphalift.joint import Joint
from alphalift.utilities.base import Utility
from alphalift.utilities.pieces import Pieces, Simplices

# Random segments on which concavity is tested, and what rounding may add to a value, as a share of the largest.
_SEGMENTS, _SLACK = 4000, 1e-9

RowFunction = Callable[[Array], Array]


@dataclass(frozen=True)
class Concave(Utility):
    """h(P_X) - E h(P_{X|Y}) of your own h: `function` takes posteriors, (count, |X|), and returns (count,).

    What is not concave on random segments, or no finite number, is refused; beyond that nothing is known of h, and nothing proven:
    no file can carry it. The optimum is found from values alone, by cutting the simplex of posteriors into smaller ones, which
    is quick for three or four values of X and slow beyond about 8.
    """

    name: str
    function: RowFunction
    # h of "certainly x" for every x of a joint: less what these mix to, h is 0 there and changes no utility.
    _corners: tuple[float, ...] | None = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        return self.name

    def kept(self, useful: str) -> str:
        return f"{self.name} of {useful}"

    def on(self, joint: Joint) -> Concave:
        size = len(joint.x_labels)
        if self._corners is not None and len(self._corners) == size:
            return self
        corners = self._values(np.eye(size))
        self._check(size)
        return Concave(self.name, self.function, tuple(corners.tolist()))

    def _values(self, points: Array) -> Array:
        values = np.asarray(self.function(points), dtype=np.float64)
        if values.shape != (len(points),) or not np.isfinite(values).all():
            raise InputError(f"{self.name} must return one finite number for every row of posteriors")
        return values

    def _check(self, size: int) -> None:
        """Raise unless h is concave on random segments, ends on faces of the simplex among them."""
        generator = np.random.default_rng(0)
        first, second = (_random_posteriors(generator, size) for _ in range(2))
        share = generator.random(_SEGMENTS)
        middle = share[:, None] * first + (1 - share)[:, None] * second
        at_first, at_second, at_middle = map(self._values, (first, second, middle))
        missing = share * at_first + (1 - share) * at_second - at_middle
        largest = float(np.abs([at_first, at_second, at_middle]).max())
        if (missing > _SLACK * largest).any():
            worst = float(missing.max())
            raise InputError(
                f"{self.name} is not concave: between two posteriors it is {worst:.3g} below what its values at these mix to; "
                "a utility is h(P_X) - E h(P_X|Y) with a concave h, such as the entropy, so perhaps its sign is wrong"
            )

    def uncertainty(self, points: Array) -> Array:
        if self._corners is None:
            return self._values(points)
        return self._values(points) - points @ np.array(self._corners)

    def of_publishing_all(self, p_x: Array) -> float:
        if self._corners is None:
            return super().of_publishing_all(p_x)
        return max(0.0, float(self.uncertainty(p_x[None])[0]))

    def pieces(self, scale: float, size: int) -> Pieces:
        return Simplices(lambda points: self.uncertainty(points) / scale, size)


def _random_posteriors(generator: np.random.Generator, size: int) -> Array:
    """Uniform ones, each on the face of a random set of symbols."""
    weights = generator.exponential(size=(_SEGMENTS, size))
    kept = generator.random((_SEGMENTS, size)) < generator.random((_SEGMENTS, 1))
    kept[np.arange(_SEGMENTS), generator.integers(size, size=_SEGMENTS)] = True
    weights = np.where(kept, weights, 0.0)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))
