"""Sets for two budgets whose support functions are the ends of a straight line, with all sets between them on or below it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from alphalift.arrays import Array
from alphalift.convex import ENTROPY, NORM_BALL, SPHERE, Constraint
from alphalift.measures.lift import alpha_over
from alphalift.regions.alpha_lift import AlphaLift
from alphalift.regions.base import Region, exponential
from alphalift.regions.chi_square import ChiSquare
from alphalift.regions.kl import KL
from alphalift.regions.max_lift import MaxLift
from alphalift.regions.pml import PML
from alphalift.regions.renyi import Renyi
from alphalift.regions.total_variation import TotalVariation

_SCALES: dict[type[Region], Callable[[Region], float]] = {
    AlphaLift: lambda region: region.budget,
    MaxLift: lambda region: region.budget,
    PML: lambda region: region.budget,
    Renyi: lambda region: exponential(region.parameters["epsilon"] / alpha_over(region.parameters["order"])),
    ChiSquare: lambda region: math.hypot(1.0, region.budget),
    KL: lambda region: region.budget,
    TotalVariation: lambda region: region.budget,
}

# Of the larger set: what is taken for a set without an interior.
_LEAST_SHARE = 1e-3


@dataclass(frozen=True, eq=False)
class Line:
    """Constraints in one form for two budgets, and where a budget between them lies on the line, from 0 to 1.

    The set of that budget lies in the one whose parameters are interpolated there, whose support function is interpolated, too.
    """

    left: Constraint
    right: Constraint
    place: Callable[[Region], float]


def line_between(left: Region, right: Region, p_s: Array) -> Line | None:
    """For budgets of one kind, left below right; none for kinds whose support function is not linear in anything."""
    if type(right) not in _SCALES or type(left) is not type(right):
        return None
    form = right.constraint(p_s)

    def scale(region: Region) -> float:
        if form.kind != SPHERE:
            return _SCALES[type(region)](region)
        return 0.0 if region.perfect else _radius(region.constraint(p_s))

    low, high = scale(left), scale(right)
    if not (math.isfinite(low) and low < high):
        return None
    if left.perfect:  # a set of one point has no interior for kernels; a small one contains it
        nothing = 0.0 if form.kind == SPHERE or len(form.widths) else left.value_of_nothing(p_s)
        low = max(low, nothing + _LEAST_SHARE * (high - nothing))
    ends = _in_form(form, low, high, p_s) if form.centred else _plain(right, form, low, high, p_s)
    return Line(*ends, lambda region: min(max((scale(region) - low) / (high - low), 0.0), 1.0))


def _radius(sphere: Constraint) -> float:
    """Of a ball of lifts, whose directions are (1 - P(S)) / radius; it contains the promise, as every smaller budget's does."""
    if sphere.kind != SPHERE:
        return math.nan
    return 1.0 / float(sphere.directions[0, 0] - sphere.directions[0, 1])


def _in_form(form: Constraint, low: float, high: float, p_s: Array) -> tuple[Constraint, Constraint]:
    """Of a tiny budget, in deviations: the left set is a multiple of the right one."""
    # Deviations of e^epsilon from 1; radii, and total variation, are deviations themselves.
    linear = form.kind != SPHERE and not len(form.widths)
    share = (low - 1.0) / (high - 1.0) if linear else low / high
    if form.kind == SPHERE:
        return replace(form, parameters=np.append(share, form.parameters[1:])), form
    return replace(form, parameters=share * form.parameters, widths=share * form.widths), form


def _plain(region: Region, form: Constraint, low: float, high: float, p_s: Array) -> tuple[Constraint, Constraint]:
    """In the lifts themselves. A side that says nothing at the left end says nothing; the others are not capped at the right end."""
    if form.kind in (NORM_BALL, ENTROPY):
        most = form.parameters[0] if form.parameters[0] < high else math.inf  # where certainty is, the kernels' cap
        ends = [min(own, most) if low >= most else own for own in (low, high)]
        return tuple(replace(form, parameters=np.append(own, form.parameters[1:])) for own in ends)  # type: ignore[return-value]
    if isinstance(region, TotalVariation):
        return tuple(  # type: ignore[return-value]
            replace(form, parameters=np.append(p_s, own), widths=np.full(len(p_s), own)) for own in (low, high)
        )
    idle = low * p_s >= 1.0
    return tuple(replace(form, parameters=np.where(idle, 1.0, own * p_s)) for own in (low, high))  # type: ignore[return-value]
