"""Designs that keep a promise for the population, not only for the records: margins for chance, calibrated on the data.

A mechanism with c standard errors to spare (`margin`) is designed, certified within its region, and what it leaks under draws of
what the records may have come from is compared with the budget (`leakage`); c is the least number for which that is kept. The
*floor* is the same promise about X in place of S: it holds for every secret whatever, by data processing, and needs P_X
alone, which is known better.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from alphalift.clock import Clock
from alphalift.errors import PromiseError, SettingError
from alphalift.joint import Joint
from alphalift.mechanism import Mechanism
from alphalift.population.leakage import LeakageBound, is_quick, leakage_bound
from alphalift.regions import KL, LDP, PML, AlphaLift, Margin, Region, Renyi, as_region
from alphalift.solution import Population, Solution, Status
from alphalift.solvers import Optimal
from alphalift.utilities import Utility

# Standard errors that are tried first, and the most; how many designs are tried.
_FIRST, _MOST, _MOST_TRIES = 2.8, 12.0, 6
_DIGITS = 3  # of a number of errors, which files state
# A design is near if it leaves this share of the budget at most, counted from l = 1; or if no more than that share of its utility
# is to be gained between it and one that leaves too little, and both have about as many errors to spare.
_NEAR, _LEAST_GAIN, _NARROW = 0.01, 0.003, 0.1
# What the design that gets a bound is to leave of the budget: the further columns of a long search use up some of it.
_SPARE = 0.03
# The next number of errors: a little beyond where the line leads, more so while none is enough; by how much it rises then, at
# least and at most; and how far it stays from the ends of what is known.
_AIM, _FAR_AIM, _LEAST_RISE, _MOST_RISE, _FROM_ENDS = 1.03, 1.2, 1.03, 1.8, 0.05
_HALVINGS = 6
# Priors of the likelier of two secrets, from rare to common, and ratios of P(y|x) that are tried.
_PRIORS = 1 / (1 + np.exp(np.linspace(-14.0, 14.0, 561)))
_LARGEST_RATIO, _RATIO_HALVINGS = 20.0, 30
# Between two priors a value may be larger than at both, by less than this leaves.
_INSIDE = 0.999
# The gap that a design within its margin may leave; the shares of the time that the plain design leaves, and that each other gets.
_GAP, _LEFT, _SHARE = 9e-4, 0.6, 0.15
# The share of the time that a bound may take if another one is to follow.
_QUICK = 0.05
# What a design gets though time is over: the promise comes first, and noise alone keeps it.
_LEAST_SECONDS = 0.5
# With more values, a search within a margin, whose secret is X, takes too long: noise is mixed in, or the floor is taken.
MOST_VALUES = 48


@dataclass(frozen=True)
class Robust:
    """The promise for the population of which the records are a random sample, with this confidence; for `design`.

    With confidence 1, which no number of records gives, the promise is kept whatever the population is.
    """

    promise: Region
    confidence: float = 0.95

    def __post_init__(self) -> None:
        object.__setattr__(self, "promise", as_region(self.promise))
        if not 0 < self.confidence <= 1:
            raise SettingError(f"confidence is {self.confidence:g}, expected a number above 0 and at most 1")


@dataclass(frozen=True, eq=False)
class _Tried:
    """A design with so many standard errors to spare (none: the floor), the problem that it is an answer to, and what it leaks.

    The design for the records alone has no such problem. That of others may have fewer errors than the design leaves.
    """

    mechanism: Mechanism
    errors: float | None
    problem: Solution | None
    leaks: LeakageBound
    noise: float = 0.0

    @property
    def within(self) -> float:
        """What no answer to the problem exceeds."""
        return math.inf if self.problem is None else self.problem.upper_bound

    @property
    def margin(self) -> Solution | None:
        """The problem, if it is one with a margin."""
        return self.problem if self.problem is not None and isinstance(self.problem.region, Margin) else None

    @property
    def excess(self) -> float:
        return self.leaks.value - self.leaks.budget


def solve_robust(joint: Joint, robust: Robust, utility: Utility, solver: Optimal) -> Solution:
    """The most useful mechanism that was found to keep the promise for the population; its bound is the promise's own optimum."""
    promise = robust.promise
    _with_errors(promise, joint, 0.0)  # refuses what has no margin, before the work
    clock = solver.clock or Clock(solver.time_limit)
    first = replace(solver, clock=clock.reserving(_LEFT * clock.left) if math.isfinite(clock.seconds) else clock)
    plain = first.solve(promise.about(joint), [promise], utility)[0]
    if robust.confidence == 1:
        return _whatever_the_population(joint, promise, utility, replace(solver, clock=clock), plain)
    search = _Search(joint, robust, utility, replace(solver, clock=None), clock)
    best = search.best(Mechanism(joint, plain.mechanism.law))
    stated = Population(
        confidence=robust.confidence,
        records=joint.n or 0,
        epsilon=best.leaks.epsilon,
        kept=best.leaks.kept,
        errors=best.errors if best.margin is None else best.margin.region.parameters["errors"],
        within=best.within,
        plain=plain.utility,
        noise=best.noise,
    )
    mechanism = Mechanism(plain.joint, best.mechanism.law)
    status = _status(plain, best, interrupted=search.interrupted)
    return replace(plain, mechanism=mechanism, status=status, population=stated, margin=best.margin)


def _status(plain: Solution, best: _Tried, *, interrupted: bool) -> Status:
    if interrupted or plain.status is Status.INTERRUPTED:
        return Status.INTERRUPTED
    # What may be published as it is, for the population too, needs no room for chance.
    return Status.TRIVIAL if plain.status is Status.TRIVIAL and best.errors == 0 else Status.ROBUST


class _Search:
    """The least number of standard errors that keeps the promise for the population."""

    def __init__(self, joint: Joint, robust: Robust, utility: Utility, solver: Optimal, clock: Clock) -> None:
        self.joint, self.robust, self.utility, self.clock = joint, robust, utility, clock
        self._solver = replace(solver, relative_gap=_GAP, progress=None)
        self.interrupted = False
        self._before: list[Solution] = []  # a design with errors to spare, from whose columns the next one starts
        self._safe_before = False
        self._bounding = 0.0  # seconds that a bound takes for each output

    def _solve(
        self,
        joint: Joint,
        region: Region,
        after: Sequence[Solution] = (),
        *,
        bounded: bool = True,
        share: float = _SHARE,
    ) -> Solution:
        """A design in this share of all the time; with first columns and hardly a bound where that is enough."""
        seconds = max(min(share * self._solver.time_limit, self.clock.left), _LEAST_SECONDS)
        solver = replace(self._solver, time_limit=seconds, node_limit=self._solver.node_limit if bounded else 1)
        found = solver.solve(joint, [region], self.utility, after=after)[0]
        self.interrupted |= found.status is Status.INTERRUPTED
        return found

    @property
    def over(self) -> bool:
        return self.clock.over or self.interrupted

    def best(self, plain: Mechanism) -> _Tried:
        """The most useful that is safe: a design with errors to spare, else one mixed with noise, or the floor."""
        first = self._tried(plain, 0.0, None)
        if first.excess <= 0:
            return first
        tried = self._narrowed(first)
        safe = [own for own in tried if own.excess <= 0] or [self._mixed([first, *tried][-1])]
        if not self.over and max(map(self._worth, safe)) < _most_about_any_secret(self.robust.promise):
            safe += self._floor()
        best = max(safe, key=self._worth)
        return self._bounded([first, *tried]) if best in tried else best

    def _worth(self, own: _Tried) -> float:
        return own.mechanism.utility(self.utility)

    def _narrowed(self, plain: _Tried) -> list[_Tried]:
        """Designs with more and more fitting numbers of errors, until one keeps the promise with hardly anything to spare."""
        tried, errors = [plain], _FIRST
        while len(tried) <= _MOST_TRIES and len(self.joint.x_labels) <= MOST_VALUES and not self.over:
            tried.append(self._designed(errors))
            if self._is_near(tried) or (errors == _MOST and tried[-1].excess > 0):
                break
            errors = _next_errors(tried, self._room)
        return tried[1:]

    @property
    def _room(self) -> float:
        """The budget, counted from l = 1."""
        return self.robust.promise.budget - self.robust.promise.value_of_nothing(self.joint.p_s)

    def _is_near(self, tried: Sequence[_Tried]) -> bool:
        """Whether the safe design with the fewest errors leaves next to nothing, of the budget or of what is useful."""
        unsafe, safe = _bracket(tried)
        if safe is None:
            return False
        narrow = _errors(safe) - _errors(unsafe) <= _NARROW * _errors(safe)
        gain = (self._worth(unsafe) - self._worth(safe)) * -safe.excess / (unsafe.excess - safe.excess)
        return -safe.excess <= _NEAR * self._room or (narrow and gain <= _LEAST_GAIN * self._worth(safe))

    def _bounded(self, tried: Sequence[_Tried]) -> _Tried:
        """The best safe design with a bound on its like, or the better one that is found on the way, if that is as safe.

        A better one may leak a little more than its budget: then one with a few more errors is bounded, if that is quick. The bound
        of designs with fewer errors to spare holds for those with more.
        """
        best = max((own for own in tried if own.excess <= 0), key=self._worth)
        errors = min(_errors(best), _aimed_errors(tried, _SPARE * self._room))
        for _ in range(_MOST_TRIES):  # without a time limit, too, there is an end
            if self.over or not errors:
                break
            begin = self.clock.elapsed
            own = self._designed(errors, bounded=True)
            if _errors(own) <= _errors(best) and own.within < best.within:
                best = replace(best, problem=own.problem)
            if own.excess <= 0:
                return own if self._worth(own) >= self._worth(best) else best
            if self.clock.elapsed - begin > _QUICK * self._solver.time_limit:
                break
            tried = [*(one for one in tried if one.excess > 0 or _errors(one) > errors), own]
            errors = _next_errors(tried, self._room)
        return best

    def _designed(self, errors: float, *, bounded: bool = False) -> _Tried:
        errors = _stated(errors)
        region = _with_errors(self.robust.promise, self.joint, errors)
        before = [_moved_inside(own, region) for own in self._before]
        solution = self._solve(
            region.about(self.joint),
            region,
            before,
            bounded=bounded or isinstance(region, PML),
            share=1.0 if bounded else _SHARE,  # a bound takes longest, and comes last
        )
        own = self._tried(Mechanism(self.joint, solution.mechanism.law), errors, solution)
        # The next number of errors is smaller than that of the last safe design, whose columns all stay allowed.
        if own.excess <= 0 or not self._safe_before:
            self._before, self._safe_before = [solution], own.excess <= 0
        return own

    def _tried(self, mechanism: Mechanism, errors: float | None, problem: Solution | None) -> _Tried:
        begin = self.clock.elapsed
        leaks = leakage_bound(mechanism, self.joint, self.robust.promise, confidence=self.robust.confidence)
        self._bounding = max(self._bounding, (self.clock.elapsed - begin) / len(mechanism.p_y))
        return _Tried(mechanism, errors, problem, leaks)

    def _mixed(self, own: _Tried) -> _Tried:
        """As much of the mechanism as is safe, and noise of the same distribution for the rest; at worst noise alone."""
        share, lost = 0.0, 1.0
        noise_alone = Mechanism(self.joint, np.ones((1, len(self.joint.x_labels))))
        kept = replace(self._tried(noise_alone, own.errors, own.problem), noise=1.0)
        for _ in range(_HALVINGS):
            if self.interrupted or self._is_late_for(own.mechanism):
                break
            middle = (share + lost) / 2
            candidate = self._toned(own, middle)
            if candidate.excess <= 0:
                kept, share = candidate, middle
            else:
                lost = middle
        return kept

    def _toned(self, own: _Tried, share: float) -> _Tried:
        return replace(self._tried(own.mechanism.with_noise(1 - share), own.errors, own.problem), noise=1 - share)

    def _is_late_for(self, mechanism: Mechanism) -> bool:
        """Whether to bound what it leaks would take more than is left, and more than a second."""
        takes = self._bounding * len(mechanism.p_y)
        return self.clock.left < takes and not is_quick(mechanism, self.robust.promise)

    def _floor(self) -> list[_Tried]:
        """The promise about X itself, with noise where chance in P_X needs it; nothing where that would be late."""
        about = self.joint.about_x
        solution = self._solve(about, _about_any_secret(self.robust.promise))
        mechanism = Mechanism(self.joint, solution.mechanism.law)
        if self._is_late_for(mechanism):
            return []
        own = self._tried(mechanism, None, solution)
        return [own if own.excess <= 0 else self._mixed(own)]


def _stated(errors: float) -> float:
    """So many errors or a few more, with the digits that files have; what has no more of them stays what it is, whatever floats make of it."""
    return math.ceil(round(errors * 10**_DIGITS, 6)) / 10**_DIGITS


def _errors(own: _Tried) -> float:
    return own.errors or 0.0


def _bracket(tried: Sequence[_Tried]) -> tuple[_Tried, _Tried | None]:
    """The unsafe design with most errors to spare, and the safe one with fewest, if there is one."""
    unsafe = max((own for own in tried if own.excess > 0), key=_errors)
    return unsafe, min((own for own in tried if own.excess <= 0), key=_errors, default=None)


def _aimed_errors(tried: Sequence[_Tried], spare: float) -> float:
    """Where the line from the unsafe to the safe design nearest to the budget leaves this much of it."""
    unsafe, safe = _bracket(tried)
    if safe is None:
        return _MOST
    share = min((unsafe.excess + spare) / (unsafe.excess - safe.excess), 1.0)
    return _errors(unsafe) + share * (_errors(safe) - _errors(unsafe))


def _next_errors(tried: Sequence[_Tried], room: float) -> float:
    """Where the line through the two designs nearest to the budget meets it; if that leads astray, between the nearest ones.

    A design without errors to spare may leak anything, so that no line through it leads far: where there is but one other, and that
    leaks too much, errors rise as the square root of what it leaks.
    """
    unsafe, safe = _bracket(tried)
    if safe is None and len(tried) == 2:
        rise = min(max(math.sqrt(1 + unsafe.excess / room), _LEAST_RISE), _MOST_RISE)
        return min(rise * _errors(unsafe), _MOST)
    one, two = sorted(tried, key=lambda own: abs(own.excess))[:2]
    rise, run = two.excess - one.excess, _errors(two) - _errors(one)
    low, aim = _errors(unsafe), _AIM if safe is not None else _FAR_AIM
    wanted = _errors(one) - aim * one.excess * run / rise if rise * run < 0 else math.nan
    if safe is None:
        return min(max(wanted, _LEAST_RISE * low) if wanted < _MOST_RISE * low else _MOST_RISE * low, _MOST)
    width = _errors(safe) - low
    if low + _FROM_ENDS * width <= wanted <= low + (1 - _FROM_ENDS) * width:
        return wanted
    share = unsafe.excess / (unsafe.excess - safe.excess)
    return low + width * min(max(share, _FROM_ENDS), 1 - 2 * _FROM_ENDS)


def _moved_inside(solution: Solution, region: Region) -> Solution:
    """An answer to this region: the solution, with as much noise as surely brings it inside (values are convex)."""
    mechanism = solution.mechanism
    nothing, worst = region.value_of_nothing(mechanism.joint.p_s), mechanism.worst_value(region)
    share = min(1.0, (region.budget - nothing) / (worst - nothing)) if worst > nothing else 1.0
    return replace(solution, mechanism=mechanism.with_noise(1 - share), region=region)


def _with_errors(promise: Region, joint: Joint, errors: float) -> Region:
    """The promise with standard errors to spare. About X itself only P(y) is uncertain, by less than ((t - 1) / n)^(1/2) of it."""
    if promise.perfect:
        raise PromiseError(f"{promise} has no margin for chance: expected a budget above 0")
    if isinstance(promise, PML):
        room = math.log1p(errors * math.sqrt(math.expm1(promise.epsilon) / joint.total))
        return PML(max(promise.epsilon - room, 0.0))
    return Margin(promise, joint, errors)


def _about_any_secret(promise: Region) -> Region:
    return AlphaLift(math.inf, promise.epsilon) if isinstance(promise, PML) else promise


def _most_about_any_secret(promise: Region) -> float:
    """What the floor can be worth at most: I(X;Y) is the mean of divergences that some promises bound; of others all."""
    bounds = [math.inf]
    for part in promise.components:
        if isinstance(part, AlphaLift):
            bounds.append(part.epsilon if math.isinf(part.alpha) else part.epsilon * part.alpha / (part.alpha - 1))
        elif isinstance(part, LDP | KL | Renyi):
            bounds.append(part.epsilon)
    return min(bounds)


def prior_free(promise: Region) -> LDP:
    """Local differential privacy about X at which the promise holds about every secret, whatever P_SX is.

    The ends of P(y|x) have the ratio T = e^epsilon then. A convex value is largest where P(y|x) is at its ends, and S tells at which:
    two secrets with the lifts T / m and 1 / m, m = 1 + p (T - 1), for some prior p of the first.
    """
    low, high = 0.0, _LARGEST_RATIO
    for _ in range(_RATIO_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _holds_for_two(promise, middle) else (low, middle)
    return LDP(_INSIDE * low)


def _holds_for_two(promise: Region, epsilon: float) -> bool:
    ratio = math.exp(epsilon)
    for p in _PRIORS:
        mean = 1 + p * (ratio - 1)
        lifts = np.array([[ratio / mean, 1 / mean]])
        if not (promise.value(lifts, np.array([p, 1 - p])) <= promise.budget).all():
            return False
    return True


def _whatever_the_population(
    joint: Joint, promise: Region, utility: Utility, solver: Optimal, plain: Solution
) -> Solution:
    free = prior_free(_about_any_secret(promise))
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


def in_region(solution: Solution, errors: float) -> Region:
    """The promise of a robust design with the standard errors to spare that it has."""
    return _with_errors(solution.region, solution.joint, errors) if errors else solution.region
