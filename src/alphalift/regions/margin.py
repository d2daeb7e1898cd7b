"""A promise with room for chance: what the records say of an output, and some standard errors more, must keep it.

Write g = V / P_X = P(y|x) / P(y) for an output with the posterior V. Its lifts l_s = E[g|s] are means over the records of s, so
that chance moves l_s by about rho (n_s)^(-1/2), rho^2 = E (g - 1)^2, and a few records that were not seen, where g is largest,
by a share of tau = max g. What the promise may allow is asked of (1 - b_s) l_s + b_s tau + c_s rho: linear in (V, rho, tau), with
||D (V - P_X)|| <= rho, a second-order cone, and V <= tau P_X. (KL and chi-square, which do not rise with every lift, have rho
alone.) rho and tau are variables of the set like slacks. As they depend
on V itself, the problem that is solved has X for its secret ("Margins" in docs/population.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from alphalift.arrays import Array
from alphalift.convex import ENTROPY, HALF_SPACES, NORM_BALL, SPHERE, ComponentDual, Constraint, ConvexSet
from alphalift.errors import PromiseError
from alphalift.joint import Joint
from alphalift.measures.lift import alpha_over
from alphalift.regions.alpha_lift import AlphaLift
from alphalift.regions.base import Region
from alphalift.regions.chi_square import ChiSquare
from alphalift.regions.kl import KL, STEEPNESS
from alphalift.regions.ldp import LDP
from alphalift.regions.lip import LIP
from alphalift.regions.on_average import OnAverage
from alphalift.regions.renyi import Renyi
from alphalift.regions.total_variation import TotalVariation


@dataclass(frozen=True, eq=False)
class _Part:
    """A constraint with what it takes of rho and tau: coefficients in its moments, and of rho in its capacity.

    `inverse` makes of its multipliers what files have: rows of coefficients of q = P_S l, of 0 or more where lifts have a margin;
    and the b of KL.
    """

    constraint: Constraint
    rho: Array
    tau: Array
    capacity: float = 0.0
    inverse: Callable[[Array], tuple[Array, tuple[float, ...]]] = lambda found: (found, ())


@dataclass(frozen=True, eq=False)
class Margin(Region):
    """`promise` about the base joint's secret, with `errors` standard errors to spare at every output."""

    promise: Region
    base: Joint
    errors: float

    def __post_init__(self) -> None:
        if self.base.n is None:
            raise PromiseError("a margin for chance needs counts: the joint is given as probabilities")
        for part in self.promise.components:
            if isinstance(part, OnAverage):
                raise PromiseError(
                    f"{part} has no margin for chance: no promise on average has one; without a confidence it is about the records alone"
                )
            if not isinstance(part, AlphaLift | Renyi | ChiSquare | LIP | LDP | TotalVariation | KL) or part.perfect:
                raise PromiseError(f"{part} has no margin for chance: expected a promise about S with a budget above 0")
            if type(part).about is not Region.about:
                raise PromiseError(f"{part} is about X itself: what chance does to P_X is in `leakage_bound`")

    @cached_property
    def own(self) -> Array:
        """c_s, (|S|,): a record more, so that a secret that was seen once is not taken for known."""
        return standard_errors(np.array(self.base.s_weights, dtype=np.float64), 1 - self.base.p_s, self.errors)

    @cached_property
    def unseen(self) -> Array:
        """b_s, (|S|,): the share of c^2 / 6 further records of a secret, as in Bernstein's inequality."""
        return unseen_shares(np.array(self.base.s_weights, dtype=np.float64), self.errors)

    @property
    def all_records(self) -> float:
        """Standard errors for rho = 1 of a mean over all records."""
        return self.errors / math.sqrt(self.base.total)

    @property
    def budget(self) -> float:
        return 1.0

    @property
    def parameters(self) -> dict[str, float]:
        return self.promise.parameters | {"errors": self.errors}

    def about(self, joint: Joint) -> Joint:
        return self.base.about_x

    def tightened(self, nats: float) -> Region:
        return replace(self, promise=self.promise.tightened(nats))

    @cached_property
    def _p_x_given_s(self) -> Array:
        """(|X|, |S|)."""
        joint = np.array(self.base.p_sx)
        return np.asarray((joint / joint.sum(axis=1, keepdims=True)).T)

    def value(self, lifts: Array, p_s: Array) -> Array:
        """Of rows V / P_X: the largest share that any part takes of its way from l = 1 to its budget, margin included."""
        rho, tau = np.sqrt((lifts - 1) ** 2 @ p_s), lifts.max(axis=1)
        own = lifts @ self._p_x_given_s
        shares = [self._share(part, own, rho, tau) for part in self.promise.components]
        return np.asarray(np.max(shares, axis=0))

    def _share(self, part: Region, lifts: Array, rho: Array, tau: Array) -> Array:
        p_s, margin = self.base.p_s, rho[:, None] * self.own
        if isinstance(part, KL | ChiSquare):
            return np.asarray((part.value(lifts, p_s) + self._of(part) * rho) / part.epsilon)
        low = (1 - self.unseen) * lifts
        high = low + tau[:, None] * self.unseen
        if isinstance(part, TotalVariation):  # as the mass that is gained: lifts with a margin have another mean than 1
            return np.asarray((np.maximum(high - 1, 0.0) @ p_s + self._of(part) * rho) / part.epsilon)
        if isinstance(part, LIP):
            above = (high + margin).max(axis=1) - 1
            below = 1 - (low - margin).min(axis=1)
            return np.asarray(np.maximum(above / math.expm1(part.upper), below / -math.expm1(-part.lower)))
        if isinstance(part, LDP):
            apart = (high + margin).max(axis=1) - part.budget * (low - margin).min(axis=1)
            return np.asarray(1 + apart / (part.budget - 1))
        alpha, t = _norm(part)
        if math.isinf(alpha):
            return np.asarray(((high + margin).max(axis=1) - 1) / (t - 1))
        norms = _norms(high, p_s, alpha) + self._of(part) * rho
        alone = (p_s ** (1 / alpha) * (high + margin)).max(axis=1)
        return np.asarray(np.maximum((norms - 1) / (t - 1), alone / t))

    def _of(self, part: Region) -> float:
        """Standard errors for rho = 1 of a value that is a mean over secrets, at the end of what is allowed."""
        if isinstance(part, TotalVariation):
            return self.all_records / 2
        if isinstance(part, ChiSquare):
            return self.all_records
        if isinstance(part, KL):
            return self.all_records * math.sqrt(2 * part.epsilon)
        alpha, t = _norm(part)
        return self.all_records * math.sqrt(2 * math.log(t) * (alpha - 1))

    def support(self, directions: Array, p_s: Array) -> Array:
        raise PromiseError("a margin has no support function of its own; kernels know its constraints")

    def convex_set(self, joint: Joint) -> ConvexSet:
        p_x, parts = joint.p_x, self._stated + self._cones
        body = ConvexSet.intersecting([part.constraint for part in parts])
        # Where the rarest symbol is certain, both are largest.
        most = 1 / float(p_x.min())
        rho, tau = (np.concatenate([getattr(part, name) for part in parts]) for name in ("rho", "tau"))
        body = body.with_slack(rho, np.array([part.capacity for part in parts]), math.sqrt(most - 1))
        return body.with_slack(tau, np.zeros(len(parts)), most)

    def constraint(self, p_s: Array) -> Constraint:
        """All moments together, and the way back from their multipliers; kernels get `convex_set`."""
        directions = np.concatenate([part.constraint.directions for part in self._stated + self._cones])
        return Constraint(HALF_SPACES, np.zeros(len(directions)), directions, inverse=self._inverse)

    def _inverse(self, multipliers: Array) -> ComponentDual:
        """w of V, the b of every KL, and beside them the promises' rows and the y of rho <= ||y||, as the checker takes them."""
        parts, rest, w = self._stated + self._cones, multipliers, np.zeros(len(self.base.p_x))
        rows, extras = list[Array](), list[float]()
        for part in parts:
            own, rest = rest[: len(part.constraint.directions)], rest[len(part.constraint.directions) :]
            w += part.constraint.directions.T @ own
            found, extra = part.inverse(own)
            rows.append(found)
            extras += extra
        return ComponentDual(w, tuple(extras), free=tuple(np.concatenate(rows).tolist()))

    @cached_property
    def _stated(self) -> list[_Part]:
        """What the promises ask for."""
        return [part for component in self.promise.components for part in self._parts(component)]

    @cached_property
    def _cones(self) -> list[_Part]:
        """What rho and tau are at least: ||(V - P_X) / P_X|| and the largest V_x / P(x)."""
        p_x, size = self.base.p_x, len(self.base.p_x)
        above, none = np.eye(size) - p_x[:, None], np.zeros(size)
        ball = Constraint(SPHERE, np.array([1.0, *p_x]), above, capacity=none)
        return [
            _Part(ball, none, none, 1.0, inverse=lambda found: (found - p_x @ found, ())),
            _Part(Constraint(HALF_SPACES, none, np.eye(size)), none, -p_x, inverse=lambda found: (found[:0], ())),
        ]

    def _parts(self, part: Region) -> Sequence[_Part]:
        p_s = self.base.p_s
        given, own, tau = (1 - self.unseen)[:, None] * self.base.p_s_given_x, p_s * self.own, p_s * self.unseen
        size, none, nothing = len(p_s), np.zeros(len(p_s)), np.zeros(given.shape[1])
        seen = 1 - self.unseen

        def of_lifts(found: Array) -> tuple[Array, tuple[float, ...]]:
            return np.asarray((found[: len(found) // size * size].reshape(-1, size) * seen).ravel()), ()

        if isinstance(part, TotalVariation):
            slacks = np.hstack([-np.eye(size), np.ones((size, 1))])
            sides, widths = np.append(p_s, part.epsilon), np.full(size, part.epsilon)
            constraint = Constraint(HALF_SPACES, sides, np.vstack([given, nothing]), slacks, widths)
            return [_Part(constraint, np.append(none, self._of(part)), np.append(tau, 0.0), inverse=of_lifts)]
        if isinstance(part, KL):
            parameters = np.array([part.epsilon, STEEPNESS, *p_s])
            constraint = Constraint(ENTROPY, parameters, np.vstack([self.base.p_s_given_x, nothing]))
            rho = np.append(none, self._of(part) / STEEPNESS)
            return [
                _Part(
                    constraint, rho, np.append(none, 0.0), inverse=lambda found: (found[:-1], (found[-1] / STEEPNESS,))
                )
            ]
        if isinstance(part, ChiSquare):
            constraint = Constraint(SPHERE, np.array([part.epsilon, *p_s]), self.base.p_s_given_x - p_s[:, None])
            errors = self._of(part) / part.epsilon
            return [_Part(constraint, none, none, -errors, inverse=lambda found: (found - p_s @ found, ()))]
        if isinstance(part, LIP):
            sides = np.concatenate([part.budget * p_s, -math.exp(-part.lower) * p_s])
            constraint = Constraint(HALF_SPACES, sides, np.concatenate([given, -given]))
            return [_Part(constraint, np.append(own, own), np.append(tau, none), inverse=of_lifts)]
        if isinstance(part, LDP):
            slack = np.concatenate([-p_s, p_s / part.budget])[None]
            directions, width = np.concatenate([given, -given]), np.array([min(part.budget, 1 / p_s.min())])
            constraint = Constraint(HALF_SPACES, np.zeros(2 * size), directions, slack, width)
            return [_Part(constraint, np.append(own, own), np.append(tau, none), inverse=of_lifts)]
        alpha, t = _norm(part)
        if math.isinf(alpha):
            return [_Part(Constraint(HALF_SPACES, t * p_s, given), own, tau, inverse=of_lifts)]
        ball = Constraint(NORM_BALL, np.array([t, alpha_over(alpha), *p_s]), given)
        alone = Constraint(HALF_SPACES, t * p_s ** (1 - 1 / alpha), given)
        norm = _Part(ball, none, tau, -self._of(part) / t, inverse=of_lifts)
        return [norm, _Part(alone, own, tau, inverse=of_lifts)]


def standard_errors(records: Array, others: Array, errors: float) -> Array:
    """c_s of secrets with so many records, for rho = 1; the others' share of the population is `others`."""
    return np.asarray(errors * np.sqrt(others / (records + 1)))


def unseen_shares(records: Array, errors: float) -> Array:
    """b_s of secrets with so many records."""
    further = errors**2 / 6
    return np.asarray(further / (records + further))


def _norms(lifts: Array, p_s: Array, alpha: float) -> Array:
    """(E l^alpha)^(1/alpha) of lifts with a margin, whose mean is not 1."""
    largest = lifts.max(axis=1)
    return np.asarray(largest * ((lifts / largest[:, None]) ** alpha @ p_s) ** (1 / alpha))


def _norm(part: Region) -> tuple[float, float]:
    """alpha and the largest alpha-lift of a promise that is one."""
    if isinstance(part, Renyi):
        return part.order, math.exp(part.epsilon / alpha_over(part.order))
    assert isinstance(part, AlphaLift)
    return part.alpha, part.budget
