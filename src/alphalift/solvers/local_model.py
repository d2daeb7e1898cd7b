"""A promise about X itself as the local model has it: a box of lifts, and constraints on sums over symbols."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from alphalift.arrays import Array
from alphalift.geometry.separable import DISTANCE, ENTROPY, POWER, Terms
from alphalift.regions import KL, LDP, LIP, AlphaLift, ChiSquare, Region, Renyi, TotalVariation

# The ends of boxes are this share further out than floats find them.
_OUTWARDS = 1e-14


@dataclass(frozen=True)
class LocalModel:
    """The lifts of a promise about X: low <= l <= high, constraints on sums over x, or (`ray`) all of it up to a factor."""

    p: Array
    low: Array
    high: Array
    constraints: tuple[tuple[int, float, float], ...]
    ray: bool

    @classmethod
    def of(cls, region: Region, p: Array) -> LocalModel | None:
        """None for a promise that is not of this kind."""
        parts = region.components
        if len(parts) == 1 and isinstance(region, LDP):
            return cls(p, np.ones_like(p), np.full(len(p), region.budget * (1 + _OUTWARDS)), (), True)
        boxes = [_box(part, p) for part in parts]
        if None in boxes:
            return None
        ends = [box for box in boxes if box is not None]
        low = np.max([low for low, _ in ends], axis=0) * (1 - _OUTWARDS)
        high = np.min([1 / p, *(high for _, high in ends)], axis=0) * (1 + _OUTWARDS)
        return cls(p, low, high, tuple(filter(None, map(_constraint, parts))), False)

    def terms(self, prices: Array) -> Terms:
        kinds, orders, levels = (np.array([own[i] for own in self.constraints], np.float64) for i in range(3))
        return Terms(
            self.p,
            prices + np.log(self.p),
            kinds.astype(np.int64),
            orders,
            levels,
            float(self.high[0]) if self.ray else 0.0,
        )


def _power(order: float, level: float, p: Array) -> tuple[Array, Array]:
    """One symbol alone must keep p l^order <= e^(order level)."""
    return np.zeros_like(p), np.exp(np.minimum(level - np.log(p) / order, 700.0))


def _box(region: Region, p: Array) -> tuple[Array, Array] | None:
    """Between what the promise allows a symbol's lift to be, at most."""
    zeros, ones = np.zeros_like(p), np.ones_like(p)
    if isinstance(region, AlphaLift | Renyi | ChiSquare):
        constraint = _constraint(region)
        return (zeros, region.budget * ones) if constraint is None else _power(*constraint[1:], p)
    if isinstance(region, LIP):
        return math.exp(-region.lower) * ones, region.budget * ones
    if isinstance(region, KL):
        return zeros, ones / p
    if isinstance(region, TotalVariation):
        return np.maximum(1 - region.epsilon / p, 0.0), 1 + region.epsilon / p
    return None


def _constraint(region: Region) -> tuple[int, float, float] | None:
    """(kind, order, level) of a constraint that is no box."""
    if isinstance(region, AlphaLift):
        return None if math.isinf(region.alpha) else (POWER, region.alpha, region.epsilon)
    if isinstance(region, Renyi):
        return None if math.isinf(region.order) else (POWER, region.order, region.epsilon * (1 - 1 / region.order))
    if isinstance(region, ChiSquare):
        return POWER, 2.0, 0.5 * math.log1p(region.epsilon**2)
    if isinstance(region, KL):
        return ENTROPY, 1.0, region.epsilon
    return (DISTANCE, 1.0, region.epsilon) if isinstance(region, TotalVariation) else None
