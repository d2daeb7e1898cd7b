"""Kullback-Leibler divergence of the secret's posterior from its prior: the Renyi divergence of order 1."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from alphalift.arrays import Array
from alphalift.convex import ENTROPY, ComponentDual, Constraint
from alphalift.measures.divergences import kullback_leibler
from alphalift.regions.base import Budgeted
from alphalift.regions.deviations import near_divergence_ball
from alphalift.regions.inverses import of_idle

# In kernels the lifts of a direction are at least e^-this; below it the set is larger than it should be, by less.
STEEPNESS = 16.0
_HALVINGS = 80
# A b of 0 is divided by as this.
_LEAST_B = 1e-300


@dataclass(frozen=True)
class KL(Budgeted):
    """sum_s P(s|y) log(P(s|y) / P(s)) <= epsilon for every y, in nats; its mean over y is I(S;Y).

    S. Kullback, R. A. Leibler, "On information and sufficiency", 1951.
    """

    symmetric = True
    extra: ClassVar[int] = 1

    @property
    def budget(self) -> float:
        return self.epsilon

    def value(self, lifts: Array, p_s: Array) -> Array:
        return kullback_leibler(lifts, p_s)

    def support(self, directions: Array, p_s: Array) -> Array:
        """The least over b > 0 of `support_at`, which is where the tilted law has the divergence epsilon."""
        scale = np.ptp(directions, axis=-1)
        shifted = directions - directions.max(axis=-1, keepdims=True)
        low, high = np.full(scale.shape, -12.0), np.full(scale.shape, 12.0)
        for _ in range(_HALVINGS):  # on log(b / scale): the divergence of the tilted law falls as b rises
            middle = (low + high) / 2
            too_far = self._tilted_divergence(shifted, p_s, scale * np.exp(middle)) > self.epsilon
            low, high = np.where(too_far, middle, low), np.where(too_far, high, middle)
        bound = self.support_at(shifted, p_s, (scale * np.exp(high))[..., None])
        # All of the mass on the largest w is as far as it goes.
        return np.asarray(directions.max(axis=-1) + np.where(scale > 0, np.minimum(bound, 0.0), 0.0))

    def support_at(self, directions: Array, p_s: Array, extra: Array) -> Array:
        """b (epsilon + log E e^(w/b)), a bound for any b > 0 (Donsker and Varadhan)."""
        largest, b = directions.max(axis=-1), np.maximum(extra[..., 0], _LEAST_B)
        exponents = (directions - largest[..., None]) / b[..., None]
        return np.asarray(largest + b * (self.epsilon + np.log(np.exp(exponents) @ p_s)))

    @staticmethod
    def _tilted_divergence(shifted: Array, p_s: Array, b: Array) -> Array:
        exponents = shifted / np.maximum(b, _LEAST_B)[..., None]
        law = np.exp(exponents) * p_s
        total = law.sum(axis=-1)
        return np.asarray((law * exponents).sum(axis=-1) / total - np.log(total))

    def constraint(self, p_s: Array) -> Constraint:
        near = near_divergence_ball(self.epsilon, p_s)
        if near is not None:
            return near
        directions = np.vstack([np.eye(len(p_s)), np.zeros(len(p_s))])
        # Certainty about the rarest secret is as far as a divergence goes.
        largest = -math.log(p_s.min())
        parameters = np.array([min(self.epsilon, largest), STEEPNESS, *p_s])
        inverse = of_idle(p_s, self.extra) if self.epsilon >= largest else _inverse
        return Constraint(ENTROPY, parameters, directions, inverse=inverse)


def _inverse(multipliers: Array) -> ComponentDual:
    """The kernels' b is steeper than that of `support_at`, and their sigma at it has the tangent of the logarithm."""
    return ComponentDual(multipliers[:-1], (float(multipliers[-1]) / STEEPNESS,))
