"""Local differential privacy with respect to the secret: y is about equally likely whatever the secret is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from alphalift.arrays import Array
from alphalift.convex import HALF_SPACES, Constraint
from alphalift.regions.base import Budgeted, excess, exponential, logarithm
from alphalift.regions.deviations import directions, is_tiny


@dataclass(frozen=True)
class LDP(Budgeted):
    """P(y|s) <= e^epsilon P(y|s') for every s, s' and y: as P(y|s) = P(y) l(s, y), a bound on ratios of lifts.

    S. P. Kasiviswanathan, H. K. Lee, K. Nissim, S. Raskhodnikova, A. Smith, "What can we learn privately?", 2011, there
    with S = X (`joint.about_x`).
    """

    symmetric = True

    @property
    def budget(self) -> float:
        return exponential(self.epsilon)

    def value(self, lifts: Array, p_s: Array) -> Array:
        """max l / min l: not convex, but {max l <= c min l} is."""
        with np.errstate(divide="ignore"):
            return np.asarray(lifts.max(axis=-1) / lifts.min(axis=-1))

    def support(self, directions: Array, p_s: Array) -> Array:
        """The extreme lifts are proportional to 1 + (t - 1) 1_A, t = e^epsilon; the best A holds the largest w.

        For A fixed the mean is a ratio; where it is lambda, A = {w > lambda} is best: a set of the largest w.
        """
        order = np.argsort(-directions, axis=-1)
        falling, weights = np.take_along_axis(directions, order, axis=-1), p_s[order]
        gain = self.budget - 1
        mean = (directions @ p_s)[..., None]
        ratios = (mean + gain * np.cumsum(weights * falling, axis=-1)) / (1 + gain * np.cumsum(weights, axis=-1))
        return np.asarray(np.maximum(ratios.max(axis=-1), mean[..., 0]))

    def as_epsilon(self, value: float) -> float:
        return logarithm(value)

    def constraint(self, p_s: Array) -> Constraint:
        """With a slack m, the largest lift: l_s <= m and m <= t l_s; m is at most t, and at most 1 / min P(s)."""
        gain = excess(self.epsilon)
        if is_tiny(gain):  # the same of l - 1 and m - 1, both divided by the gain
            above, at_least = directions(p_s, gain), p_s / self.budget
            slack, sides = np.append(-p_s, at_least)[None], np.append(np.zeros_like(p_s), at_least)
            return Constraint(HALF_SPACES, sides, np.concatenate([above, -above]), slack, np.array([1.0]), centred=True)
        eye, zeros = np.eye(len(p_s)), np.zeros(2 * len(p_s))
        slack = np.concatenate([-p_s, p_s / self.budget])[None]
        return Constraint(
            HALF_SPACES, zeros, np.concatenate([eye, -eye]), slack, np.array([min(self.budget, 1 / p_s.min())])
        )
