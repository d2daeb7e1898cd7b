"""Which promise implies which, with what budget, whatever the prior of the secret is.

With t = e^epsilon. Every statement is about one output's lifts l >= 0 with E l = 1, so min l <= 1 <= max l. Implied budgets are
computed from the decimals that the given ones are, in fractions or in balls, and rounded up: what follows is never overstated.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from alphalift.exact import exact, to_float
from alphalift.lazily import Later
from alphalift.regions.alpha_lift import AlphaLift
from alphalift.regions.base import LARGEST_BUDGET, Intersection, Region
from alphalift.regions.chi_square import ChiSquare
from alphalift.regions.kl import KL
from alphalift.regions.ldp import LDP
from alphalift.regions.lip import LIP
from alphalift.regions.max_lift import MaxLift
from alphalift.regions.renyi import Renyi
from alphalift.regions.total_variation import TotalVariation

if TYPE_CHECKING:
    from flint import arb

flint = Later("flint")

# 1 - e^-1000, of the largest budget, is still told from 1.
_PRECISION = 2048


@dataclass(frozen=True)
class Implication:
    """Whatever keeps the first promise keeps `region`, for the reason given."""

    region: Region
    reason: str


def implications(region: Region) -> tuple[Implication, ...]:
    """The promises that a promise implies in one step; theirs follow from it as well.

    `MaxLift` implies alpha-lift for every alpha: its own list names the Renyi divergence of infinite order, whose list
    has the others. Budgets are the least floats that follow; what is too large to be a budget is left out.
    """
    if isinstance(region, Intersection):
        return tuple(Implication(component, "one of the promises itself") for component in region.components)
    for kind, found in _IMPLIED.items():
        if isinstance(region, kind):
            with flint.ctx.workprec(_PRECISION):
                return tuple(
                    Implication(other(*numbers), reason)
                    for other, *numbers, reason in found(region)
                    if numbers[-1] <= LARGEST_BUDGET
                )
    return ()


def renyi_implies(region: Renyi, order: float) -> Renyi:
    """The Renyi divergence does not fall with its order (T. van Erven, P. Harremoes, 2014): a smaller order follows."""
    return Renyi(min(order, region.order), region.epsilon)


def _ball(budget: float) -> arb:
    """The decimal that a float means."""
    number = exact(budget)
    return flint.arb(flint.fmpq(number.numerator, number.denominator))


def _up(budget: Fraction | arb) -> float:
    """The nearest float that means no less."""
    if isinstance(budget, Fraction):
        return to_float(budget, upwards=True)
    mantissa, exponent = budget.upper().man_exp()
    return to_float(int(mantissa) * Fraction(2) ** int(exponent), upwards=True)


def _alpha_over(alpha: float) -> Fraction:
    """alpha / (alpha - 1), exactly; 1 at infinity."""
    return Fraction(1) if math.isinf(alpha) else exact(alpha) / (exact(alpha) - 1)


def _of_ldp(region: LDP) -> list[tuple[Any, ...]]:
    return [
        (LIP, region.epsilon, "l_s <= t min l <= t and l_s >= max l / t >= 1 / t"),
        (TotalVariation, _up((_ball(region.epsilon) / 4).tanh()), "the extreme lifts have two values m and t m; worst at P(A) = 1 / (1 + sqrt t)"),
    ]  # fmt: skip


def _of_lip(region: LIP) -> list[tuple[Any, ...]]:
    rise, fall = _ball(region.upper).expm1(), -(-_ball(region.lower)).expm1()
    return [
        (MaxLift, region.upper, "the upper half of it"),
        (LDP, _up(exact(region.lower) + exact(region.upper)), "l_s / l_s' <= e^upper / e^-lower"),
        (ChiSquare, _up((rise * fall).sqrt()), "E (l - 1)^2 <= (max l - 1)(1 - min l) (R. Bhatia, C. Davis, 2000)"),
        (
            TotalVariation,
            0.0 if region.perfect else _up(rise * fall / (rise + fall)),
            "all lifts at the ends, with E l = 1",
        ),
    ]


def _of_alpha_lift(region: AlphaLift) -> list[tuple[Any, ...]]:
    renyi = _up(exact(region.epsilon) * _alpha_over(region.alpha))
    found: list[tuple[Any, ...]] = [(Renyi, region.alpha, renyi, "the same on another scale (Remark 1)")]
    if math.isinf(region.alpha):
        reason = "E (l - 1)+ <= (1 - 1/t) E[l; l > 1] <= 1 - 1/t"
        found.append((TotalVariation, _up(-(-_ball(region.epsilon)).expm1()), reason))
    return found


def _of_renyi(region: Renyi) -> list[tuple[Any, ...]]:
    alpha_lift = _up(exact(region.epsilon) / _alpha_over(region.order))
    found: list[tuple[Any, ...]] = [
        (KL, region.epsilon, "the Renyi divergence does not fall with its order, and order 1 is KL"),
        (AlphaLift, region.order, alpha_lift, "the same on another scale (Remark 1)"),
    ]
    if region.order >= 2:
        found.append((ChiSquare, _up(_ball(region.epsilon).expm1().sqrt()), "order 2 is log(1 + E (l - 1)^2)"))
    return found


def _of_chi_square(region: ChiSquare) -> list[tuple[Any, ...]]:
    return [
        (Renyi, 2.0, _up((_ball(region.epsilon) ** 2).log1p()), "order 2 is log(1 + E (l - 1)^2)"),
        (TotalVariation, _up(exact(region.epsilon) / 2), "E |l - 1| <= sqrt(E (l - 1)^2)"),
    ]


def _of_kl(region: KL) -> list[tuple[Any, ...]]:
    return [(TotalVariation, _up((_ball(region.epsilon) / 2).sqrt()), "Pinsker's inequality")]


_IMPLIED: dict[type[Region], Callable[[Any], list[tuple[Any, ...]]]] = {
    LDP: _of_ldp,
    LIP: _of_lip,
    AlphaLift: _of_alpha_lift,
    Renyi: _of_renyi,
    ChiSquare: _of_chi_square,
    KL: _of_kl,
}
