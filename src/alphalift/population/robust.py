"""Designs that keep a promise for the population, not only for the records: margins for chance, calibrated on the data.

A mechanism with c standard errors to spare (`margin`) is designed, certified within its region, and what it leaks under draws of
what the records may have come from is compared with the budget (`leakage`); c is the least number for which that is kept. The
*floor* is the same promise about X in place of S: it holds for every secret whatever, by data processing, and needs P_X
alone, which is known better.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from alphalift.errors import PromiseError, SettingError
from alphalift.joint import Joint
from alphalift.mechanism import Mechanism
from alphalift.population.leakage import LeakageBound, leakage_bound
from alphalift.population.margin import Margin
from alphalift.regions import KL, LDP, LIP, PML, AlphaLift, ChiSquare, Region, Renyi, TotalVariation
from alphalift.solution import Population, Solution, Status
from alphalift.solvers import Optimal
from alphalift.utilities import Utility

# Standard errors that are tried first, the most, and how near to the least the search for it ends.
_FIRST, _MOST, _NEAR = 2.5, 12.0, 0.05
_MOST_TRIES = 7
# A step towards the least number of errors that keeps the promise goes so much beyond it.
_BEYOND = 1.02
_HALVINGS = 6
# The gap that the last design within its margin may leave, that of those before it, and the share of the time that each gets.
_GAP, _COARSE_GAP, _SHARE = 9e-4, 5e-3, 0.15


@dataclass(frozen=True)
class Robust:
    """The promise for the population of which the records are a random sample, with this confidence; for `design`.

    With confidence 1, which no number of records gives, the promise is kept whatever the population is.
    """

    promise: Region
    confidence: float = 0.95

    def __post_init__(self) -> None:
        if not 0 < self.confidence <= 1:
            raise SettingError(f"confidence is {self.confidence:g}, expected a number above 0 and at most 1")


@dataclass(frozen=True, eq=False)
class _Tried:
    """A design with so many standard errors to spare (none: the floor), what bounds its like, and what it leaks."""

    mechanism: Mechanism
    errors: float | None
    within: float
    leaks: LeakageBound

    @property
    def excess(self) -> float:
        return self.leaks.value - self.leaks.budget


def solve_robust(joint: Joint, robust: Robust, utility: Utility, solver: Optimal) -> Solution:
    """The most useful mechanism that was found to keep the promise for the population; its bound is the promise's own optimum."""
    promise = robust.promise
    plain = solver.solve(promise.about(joint), [promise], utility)[0]
    if robust.confidence == 1:
        return _whatever_the_population(joint, promise, utility, solver, plain)
    search = _Search(joint, robust, utility, solver)
    best = search.best(Mechanism(joint, plain.mechanism.law))
    stated = Population(
        confidence=robust.confidence,
        records=joint.n or 0,
        epsilon=best.leaks.epsilon,
        kept=best.leaks.kept,
        errors=best.errors,
        within=best.within,
        plain=plain.utility,
    )
    mechanism = Mechanism(plain.joint, best.mechanism.law)
    return replace(plain, mechanism=mechanism, status=Status.ROBUST, population=stated)


class _Search:
    """The least number of standard errors that keeps the promise for the population."""

    def __init__(self, joint: Joint, robust: Robust, utility: Utility, solver: Optimal) -> None:
        self.joint, self.robust, self.utility = joint, robust, utility
        seconds = _SHARE * (solver.clock.left if solver.clock else solver.time_limit)
        self.solver = replace(
            solver, relative_gap=_GAP, keep_certificate=False, time_limit=seconds, clock=None, progress=None
        )

    def best(self, plain: Mechanism) -> _Tried:
        """Of the design with the least errors that is safe, one with fewer mixed with noise, and the floor, the most useful."""
        tried = [self._tried(plain, 0.0, math.inf)]
        if tried[0].excess > 0:
            tried += self._narrowed(tried[0])
            if enough := [own.errors for own in tried if own.excess <= 0 and own.errors is not None]:
                tried.append(self._designed(min(enough), _GAP))
        safe = [own for own in tried if own.excess <= 0]
        above = [own for own in tried if own.excess > 0]
        if above:
            safe.append(self._mixed(min(above, key=lambda own: own.excess)))
        if tried[0].excess > 0:
            safe.append(self._floor())
        return max(safe, key=lambda own: own.mechanism.utility(self.utility))

    def _narrowed(self, plain: _Tried) -> list[_Tried]:
        """Designs between too few errors and enough of them, by straight lines between what they leak."""
        found, low, high, errors = list[_Tried](), plain, None, _FIRST
        for _ in range(_MOST_TRIES):
            own = self._designed(errors, _COARSE_GAP)
            found.append(own)
            low, high = (own, high) if own.excess > 0 else (low, own)
            if high is None:
                if errors >= _MOST:
                    break
                slope = max((plain.excess - own.excess) / errors, plain.excess / _MOST)
                errors = min(_BEYOND * plain.excess / slope, _MOST)
                continue
            assert low.errors is not None
            assert high.errors is not None
            if high.errors - low.errors < _NEAR:
                break
            share = low.excess / (low.excess - high.excess)
            near = low.errors + share * (high.errors - low.errors)
            errors = min(max(_BEYOND * near, low.errors + _NEAR / 2), high.errors - _NEAR / 2)
        return found

    def _designed(self, errors: float, gap: float) -> _Tried:
        region = _with_errors(self.robust.promise, self.joint, errors)
        solution = replace(self.solver, relative_gap=gap).solve(region.about(self.joint), [region], self.utility)[0]
        return self._tried(Mechanism(self.joint, solution.mechanism.law), errors, solution.upper_bound)

    def _tried(self, mechanism: Mechanism, errors: float | None, within: float) -> _Tried:
        leaks = leakage_bound(mechanism, self.joint, self.robust.promise, confidence=self.robust.confidence)
        return _Tried(mechanism, errors, within, leaks)

    def _mixed(self, own: _Tried) -> _Tried:
        """As much of the mechanism as is safe, and noise of the same distribution for the rest; at worst noise alone."""
        kept, lost = self._toned(own, 0.0), 1.0
        share = 0.0
        for _ in range(_HALVINGS):
            middle = (share + lost) / 2
            candidate = self._toned(own, middle)
            if candidate.excess <= 0:
                kept, share = candidate, middle
            else:
                lost = middle
        return kept

    def _toned(self, own: _Tried, share: float) -> _Tried:
        law = share * own.mechanism.p_y_given_x + (1 - share) * own.mechanism.p_y[:, None]
        return self._tried(Mechanism(self.joint, law), own.errors, own.within)

    def _floor(self) -> _Tried:
        """The promise about X itself, with noise where chance in P_X needs it."""
        about = self.joint.about_x
        solution = self.solver.solve(about, [_about_any_secret(self.robust.promise)], self.utility)[0]
        own = self._tried(Mechanism(self.joint, solution.mechanism.law), None, solution.upper_bound)
        return own if own.excess <= 0 else self._mixed(own)


def _with_errors(promise: Region, joint: Joint, errors: float) -> Region:
    """The promise with standard errors to spare. About X itself only P(y) is uncertain, by less than ((t - 1) / n)^(1/2) of it."""
    if isinstance(promise, PML):
        room = math.log1p(errors * math.sqrt(math.expm1(promise.epsilon) / joint.total))
        return PML(max(promise.epsilon - room, 0.0))
    return Margin(promise, joint, errors)


def _about_any_secret(promise: Region) -> Region:
    return AlphaLift(math.inf, promise.epsilon) if isinstance(promise, PML) else promise


def prior_free(promise: Region) -> LDP:
    """Local differential privacy about X at which the promise holds about every secret, whatever P_SX is.

    Then P(y|x) / P(y) lies between ends whose ratio is e^epsilon; the largest value of each promise there is known.
    """
    return LDP(min(_prior_free(part) for part in promise.components))


def _prior_free(part: Region) -> float:
    if isinstance(part, LIP):
        return min(part.lower, part.upper)
    if isinstance(part, AlphaLift):
        return part.epsilon if math.isinf(part.alpha) else part.epsilon * part.alpha / (part.alpha - 1)
    if isinstance(part, LDP | KL | Renyi):
        return part.epsilon
    if isinstance(part, TotalVariation):
        return 4 * math.atanh(min(part.epsilon, 0.999))
    if isinstance(part, ChiSquare):
        return 2 * math.asinh(part.epsilon)
    raise PromiseError(f"no mechanism is known to keep {part} for every population")


def _whatever_the_population(
    joint: Joint, promise: Region, utility: Utility, solver: Optimal, plain: Solution
) -> Solution:
    free = prior_free(promise)
    found = replace(solver, keep_certificate=False).solve(joint.about_x, [free], utility)[0]
    stated = Population(
        confidence=1.0,
        records=joint.n or 0,
        epsilon=promise.as_epsilon(promise.budget),
        kept=True,
        errors=None,
        within=found.upper_bound,
        plain=plain.utility,
    )
    return replace(
        plain, mechanism=Mechanism(plain.joint, found.mechanism.law), status=Status.ROBUST, population=stated
    )
