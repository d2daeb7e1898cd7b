"""Which promise implies which, with what budget, whatever the prior of the secret is.

With t = e^epsilon. Every statement is about one output's lifts l >= 0 with E l = 1, so min l <= 1 <= max l.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from alphalift.measures.lift import alpha_over
from alphalift.regions.alpha_lift import AlphaLift
from alphalift.regions.base import LARGEST_BUDGET, Intersection, Region, exponential
from alphalift.regions.chi_square import ChiSquare
from alphalift.regions.kl import KL
from alphalift.regions.ldp import LDP
from alphalift.regions.lip import LIP
from alphalift.regions.max_lift import MaxLift
from alphalift.regions.renyi import Renyi
from alphalift.regions.total_variation import TotalVariation


@dataclass(frozen=True)
class Implication:
    """Whatever keeps the first promise keeps `region`, for the reason given."""

    region: Region
    reason: str


def implications(region: Region) -> tuple[Implication, ...]:
    """The promises that a promise implies in one step; theirs follow from it as well.

    `MaxLift` implies alpha-lift for every alpha: its own list names the Renyi divergence of infinite order, whose list
    has the others. What is computed is rounded to the weaker side.
    """
    if isinstance(region, Intersection):
        return tuple(Implication(part, "one of the promises itself") for part in region.parts)
    for kind, found in _IMPLIED.items():
        if isinstance(region, kind):
            return tuple(
                Implication(other(*numbers), reason)
                for other, *numbers, reason in found(region)
                # What is too large to be a budget is left out, and so is a budget that underflows to nothing.
                if numbers[-1] <= LARGEST_BUDGET and (numbers[-1] > 0 or region.perfect)
            )
    return ()


def renyi_implies(region: Renyi, order: float) -> Renyi:
    """The Renyi divergence does not fall with its order (T. van Erven, P. Harremoes, 2014): a smaller order follows."""
    return Renyi(min(order, region.order), region.epsilon)


def _up(budget: float) -> float:
    """Moved up past what rounding may have taken."""
    return budget * (1 + 1e-14)


def _times(budget: float, factor: float) -> float:
    return budget if factor == 1 else _up(budget * factor)


def _of_ldp(region: LDP) -> list[tuple[Any, ...]]:
    return [
        (LIP, region.epsilon, "l_s <= t min l <= t and l_s >= max l / t >= 1 / t"),
        (TotalVariation, _up(math.tanh(region.epsilon / 4)), "the extreme lifts have two values m and t m; worst at P(A) = 1 / (1 + sqrt t)"),
    ]  # fmt: skip


def _of_lip(region: LIP) -> list[tuple[Any, ...]]:
    rise, fall = exponential(region.upper) - 1, -math.expm1(-region.lower)
    return [
        (MaxLift, region.upper, "the upper half of it"),
        (LDP, _up(region.lower + region.upper), "l_s / l_s' <= e^upper / e^-lower"),
        (
            ChiSquare,
            _up(math.sqrt(rise) * math.sqrt(fall)),
            "E (l - 1)^2 <= (max l - 1)(1 - min l) (R. Bhatia, C. Davis, 2000)",
        ),
        (TotalVariation, _up(fall / (1 + fall / rise)) if rise else 0.0, "all lifts at the ends, with E l = 1"),
    ]


def _of_alpha_lift(region: AlphaLift) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = [
        (Renyi, region.alpha, _times(region.epsilon, alpha_over(region.alpha)), "the same on another scale (Remark 1)")
    ]
    if math.isinf(region.alpha):
        found.append(
            (TotalVariation, _up(-math.expm1(-region.epsilon)), "E (l - 1)+ <= (1 - 1/t) E[l; l > 1] <= 1 - 1/t")
        )
    return found


def _of_renyi(region: Renyi) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = [
        (KL, region.epsilon, "the Renyi divergence does not fall with its order, and order 1 is KL"),
        (
            AlphaLift,
            region.order,
            _up(region.epsilon / alpha_over(region.order)),
            "the same on another scale (Remark 1)",
        ),
    ]
    if region.order >= 2:
        found.append((ChiSquare, _up(math.sqrt(exponential(region.epsilon) - 1)), "order 2 is log(1 + E (l - 1)^2)"))
    return found


def _of_chi_square(region: ChiSquare) -> list[tuple[Any, ...]]:
    return [
        (Renyi, 2.0, _up(math.log1p(region.epsilon**2)), "order 2 is log(1 + E (l - 1)^2)"),
        (TotalVariation, region.epsilon / 2, "E |l - 1| <= sqrt(E (l - 1)^2)"),
    ]


def _of_kl(region: KL) -> list[tuple[Any, ...]]:
    return [(TotalVariation, _up(math.sqrt(region.epsilon / 2)), "Pinsker's inequality")]


_IMPLIED: dict[type[Region], Callable[[Any], list[tuple[Any, ...]]]] = {
    LDP: _of_ldp,
    LIP: _of_lip,
    AlphaLift: _of_alpha_lift,
    Renyi: _of_renyi,
    ChiSquare: _of_chi_square,
    KL: _of_kl,
}
