"""A promise about the mean over all released values, in place of one about every value.

The lifts of an output have a value psi(l), convex, and the promise is E_Y psi(l_Y) <= budget. It forbids no output: one
that hardly ever occurs may tell everything about the secret. In a linear program it is one row more, whose price lambda makes
the pricing problem that of h(V) - u.V + lambda psi(L V) ("Promises on average" in docs/theory.md). For the kernels psi is
1 or 0, its least value, and what slacks add to that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from alphalift.arrays import Array
from alphalift.convex import ENTROPY, HALF_SPACES, NORM_BALL, SPHERE, ComponentDual, Constraint
from alphalift.errors import PromiseError
from alphalift.measures.lift import alpha_over, log_alpha_lifts
from alphalift.regions.alpha_lift import AlphaLift, norm_support
from alphalift.regions.base import FLOAT_SLACK, LARGEST_BUDGET, TINY, Intersection, Region, excess
from alphalift.regions.chi_square import ChiSquare
from alphalift.regions.kl import KL, STEEPNESS
from alphalift.regions.max_lift import MaxLift
from alphalift.regions.pml import PML
from alphalift.regions.total_variation import TotalVariation

WRAPPED = (AlphaLift, KL, TotalVariation, ChiSquare)


@dataclass(frozen=True)
class OnAverage(Region):
    """E_Y psi(l_Y) <= budget, of a promise psi(l) <= budget: its mean over outputs is bounded, not what one output tells.

    | of | E_Y psi <= budget | is |
    |---|---|---|
    | MaxLift(e) | E_Y max_s l <= e^e | maximal leakage of at most e nats |
    | AlphaLift(a, e) | E_Y (E l^a)^(1/a) <= e^e | Sibson's information of order a of at most e a / (a - 1) |
    | KL(e) | E_Y E l log l <= e | I(S;Y) of at most e nats: the privacy funnel |
    | TotalVariation(e) | E_Y (1/2) E abs(l - 1) <= e | the mean total variation |
    | ChiSquare(e) | E_Y E (l - 1)^2 <= e^2 | chi-square information of at most e^2 |

    I. Issa, A. B. Wagner, S. Kamath, "An operational approach to information leakage", 2020; S. Verdu, "alpha-mutual
    information", 2015; A. Makhdoumi et al., "From the information bottleneck to the privacy funnel", 2014; H. Wang et al.,
    "Privacy with estimation guarantees", 2019.
    """

    of: Region

    def __post_init__(self) -> None:
        if isinstance(self.of, PML):
            raise PromiseError(
                "PML on average is maximal leakage about X: use joint.about_x with OnAverage(MaxLift(...))"
            )
        if not isinstance(self.of, Region):
            raise PromiseError(f"OnAverage takes a promise, like OnAverage(KL(0.05)), not {type(self.of).__name__}")
        if not isinstance(self.of, WRAPPED):
            names = "MaxLift, AlphaLift, KL, TotalVariation or ChiSquare"
            raise PromiseError(
                f"{self.of} has no form on average: OnAverage takes one promise, {names}; combine several with &"
            )

    def __repr__(self) -> str:
        return f"OnAverage({self.of!r})"

    @property
    def symmetric(self) -> bool:
        return self.of.symmetric

    @property
    def budget(self) -> float:
        return self.of.budget**2 if isinstance(self.of, ChiSquare) else self.of.budget

    @property
    def room(self) -> float:
        """The budget above the value of l = 1, with all its digits."""
        return excess(self.of.epsilon) if isinstance(self.of, AlphaLift) else self.budget

    @property
    def perfect(self) -> bool:
        """At a budget of 0 the value is least on average, and so it is for every output."""
        return self.of.perfect

    @property
    def parameters(self) -> dict[str, float]:
        return {f"{type(self.of).__name__}.{name}": value for name, value in self.of.parameters.items()}

    def as_epsilon(self, value: float) -> float:
        return math.sqrt(value) if isinstance(self.of, ChiSquare) else self.of.as_epsilon(value)

    def tightened(self, nats: float) -> Region:
        return replace(self, of=self.of.tightened(nats))

    def value(self, lifts: Array, p_s: Array) -> Array:
        """psi(l) of every row; its mean over the outputs is what the promise is about."""
        own = self.of.value(lifts, p_s)
        return own**2 if isinstance(self.of, ChiSquare) else own

    def above_least(self, lifts: Array, p_s: Array) -> Array:
        """psi(l) - psi(1) of every row, with its digits: 0 of what reveals nothing."""
        if isinstance(self.of, AlphaLift):
            return np.asarray(np.expm1(np.maximum(log_alpha_lifts(lifts, p_s, self.of.alpha), 0.0)))
        return np.maximum(self.value(lifts, p_s), 0.0)

    def allows(self, lifts: Array, p_s: Array) -> NDArray[np.bool_]:
        """All of them: no output is forbidden by itself."""
        return np.ones(len(lifts), np.bool_)

    def value_of_outputs(self, p_y: Array, lifts: Array, p_s: Array) -> float:
        return float(p_y @ self.value(lifts, p_s))

    def kept_by(self, p_y: Array, lifts: Array, p_s: Array) -> bool:
        return bool(self.value_of_outputs(p_y, lifts, p_s) <= self.budget * (1 + FLOAT_SLACK) + TINY)

    def support(self, directions: Array, p_s: Array) -> Array:
        """max w: of one output all lifts are allowed."""
        return np.asarray(directions.max(axis=-1))

    def group_limit(self, group: NDArray[np.bool_], p_s: Array) -> float:
        """One over the group's share: an output may make it certain."""
        return 1 / float(p_s[group].sum())

    def priced_support(self, w: Array, p_s: Array, price: float) -> float:
        """At least E[w l] - price (psi(l) - psi(1)) for all lifts, as the checker has it (step 6a in docs/theory.md)."""
        mean, most = float(w @ p_s), float(w.max())
        if isinstance(self.of, AlphaLift):
            beyond = float(norm_support(1.0, self.of.alpha, w, p_s)) - price
            return price + max(beyond, beyond * float(p_s.min()) ** (1 / self.of.alpha - 1))
        if isinstance(self.of, TotalVariation):
            return float(np.maximum(w, most - price) @ p_s)
        if isinstance(self.of, KL):
            return most + price * math.log(float(np.exp((w - most) / price) @ p_s)) if price > 0 else most
        square, farthest = float((w - mean) ** 2 @ p_s), 1 / float(p_s.min()) - 1
        if square <= 4 * price**2 * farthest:
            return mean + (square / (4 * price) if price > 0 else 0.0)
        return mean + math.sqrt(square * farthest) - price * farthest

    def constraint(self, p_s: Array) -> Constraint:
        """All posteriors P(S|y), with slacks whose sum is at least psi - psi(1), and equal to it where they are least."""
        if isinstance(self.of, AlphaLift):
            return _norm(self.of.alpha, p_s)
        if isinstance(self.of, KL):
            return _divergence(p_s)
        return _distance(p_s) if isinstance(self.of, TotalVariation) else _square(p_s)


def priced_inequality(
    region: Region, duals: Sequence[ComponentDual], p_s: Array, prices: Iterable[float]
) -> tuple[Array, float]:
    """(w, sigma) as `Region.inequality`, but for promises on average, which have prices: w.q <= sigma + sum price (psi(l) - psi(1))."""
    if not averages_of(region) or region.perfect:
        return region.inequality(duals, p_s)
    unpaid, sigma = list(prices)[::-1], 0.0
    for component, dual in zip(region.components, duals, strict=True):
        if isinstance(component, OnAverage):
            sigma += component.priced_support(dual.w, p_s, unpaid.pop())
        else:
            sigma += component.inequality([dual], p_s)[1]
    return np.asarray(sum(dual.w for dual in duals)), sigma


def averages_of(region: Region) -> tuple[OnAverage, ...]:
    """The promises on average among the components."""
    return tuple(component for component in region.components if isinstance(component, OnAverage))


def of_every_output(region: Region) -> Region:
    """What the promise asks of every single output: what is left without those on average, or a promise that says nothing."""
    parts = [component for component in region.components if not isinstance(component, OnAverage)]
    if len(parts) == len(region.components):
        return region
    if not parts:
        return MaxLift(LARGEST_BUDGET)
    return parts[0] if len(parts) == 1 else Intersection(*parts)


def refuse_averages(region: Region, what: str) -> None:
    """Raise if a promise on average is part of it; `what` is not known of those."""
    if averages_of(region):
        raise PromiseError(f"{what} is not known for promises on average, such as {averages_of(region)[0]}")


_ONE = np.ones(1)


def _with_slack(
    kind: int,
    parameters: Array,
    directions: Array,
    slack: Array,
    width: float,
    *,
    capacity: float = 0.0,
    inverse: Callable[[Array], ComponentDual] | None = None,
) -> Constraint:
    """A constraint with one slack, which is psi - psi(1): its coefficients in the moments and in the capacity, its width."""
    return Constraint(
        kind,
        parameters,
        directions,
        slack[None],
        np.array([width]),
        slack_capacity=capacity * _ONE if capacity else None,
        used=_ONE,
        inverse=inverse,
    )


def _norm(alpha: float, p_s: Array) -> Constraint:
    """(E l^alpha)^(1/alpha) <= 1 + t: a cone whose capacity is 1 + t, or half-spaces l_s - t <= 1."""
    eye = np.eye(len(p_s))
    width = float(p_s.min()) ** (1 / alpha - 1) - 1 if math.isfinite(alpha) else 1 / float(p_s.min()) - 1
    if math.isinf(alpha):
        return _with_slack(HALF_SPACES, p_s, eye, -p_s, width)
    parameters = np.array([1.0, alpha_over(alpha), *p_s])
    return _with_slack(NORM_BALL, parameters, eye, np.zeros(len(p_s)), width, capacity=1.0)


def _divergence(p_s: Array) -> Constraint:
    """E l log l <= t: with multipliers b of t, w.q <= b (t + log E e^(w/b)), as in KL."""
    size = len(p_s)
    directions = np.vstack([np.eye(size), np.zeros(size)])
    slack = np.append(np.zeros(size), -1 / STEEPNESS)
    parameters = np.array([0.0, STEEPNESS, *p_s])

    def inverse(multipliers: Array) -> ComponentDual:
        return ComponentDual(multipliers[:-1])  # b is what the price of the promise says it is

    return _with_slack(ENTROPY, parameters, directions, slack, -math.log(p_s.min()), inverse=inverse)


def _distance(p_s: Array) -> Constraint:
    """P(s|y) - t_s <= P(s): the sum of the slacks t is the total variation."""
    size = len(p_s)
    return Constraint(HALF_SPACES, p_s, np.eye(size), -np.eye(size), 1 - p_s, used=np.ones(size))


def _square(p_s: Array) -> Constraint:
    """E (l - 1)^2 <= t as a cone: E 4 (l - 1)^2 + (c - t/c)^2 <= (c + t/c)^2; with c in the middle of what t may be."""
    size, width = len(p_s), 1 / float(p_s.min()) - 1
    scale = max(width, 1.0) ** 0.25
    directions = np.vstack([2 * (np.eye(size) - p_s[:, None]), np.full(size, scale)])
    slack = np.append(np.zeros(size), -1 / scale)

    def inverse(multipliers: Array) -> ComponentDual:
        # sum V = 1 has the last multiplier, too, and 2 (l - 1) the mean of w.
        w = 2 * multipliers[:-1]
        return ComponentDual(w, shift=float(scale * multipliers[-1] - w @ p_s))

    parameters = np.array([scale, *p_s, 1.0])
    return _with_slack(SPHERE, parameters, directions, slack, width, capacity=scale**-2, inverse=inverse)
