"""The same set of lifts, described in the way that is easiest to solve, and the way back for its duals."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from alphalift.convex import ComponentDual
from alphalift.regions.after import After
from alphalift.regions.alpha_lift import AlphaLift
from alphalift.regions.base import Intersection, Region

Duals = Sequence[ComponentDual]


@dataclass(frozen=True)
class Reduction:
    """What is solved in place of a promise; `invert` makes duals of the promise's components from those of the region's."""

    region: Region
    invert: Callable[[Duals], Duals]


def simplest(region: Region) -> Reduction:
    """All kinds of perfect privacy are one; other promises stay as they are."""
    if isinstance(region, After):
        inner = simplest(region.region)
        return Reduction(replace(region, region=inner.region), partial(_at_every_output, inner))
    return Reduction(perfect_privacy(), partial(_of_perfect, region)) if region.perfect else Reduction(region, list)


def perfect_privacy() -> Region:
    """l = 1 and nothing else; every promise is this one at its smallest budget, and linear at alpha = inf."""
    return AlphaLift(math.inf, 0)


def perfect_privacy_beside(averages: Sequence[Region]) -> Region:
    """The same, with the slacks that these promises on average have."""
    return Intersection(perfect_privacy(), *averages) if averages else perfect_privacy()


def _of_perfect(region: Region, duals: Duals) -> Duals:
    """At l = 1 alone sigma is E w for any w: one component has it all, and what some need beside w is not used."""
    (own,) = duals
    others = [ComponentDual(np.zeros_like(own.w))] * (len(region.components) - 1)
    pairs = zip([own, *others], region.components, strict=True)
    return [replace(dual, extra=(1.0,) * component.extra) for dual, component in pairs]


def _at_every_output(inner: Reduction, duals: Duals) -> Duals:
    size = len(inner.region.components)
    return [dual for first in range(0, len(duals), size) for dual in inner.invert(duals[first : first + size])]
