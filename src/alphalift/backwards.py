"""Questions asked backwards: the least epsilon, or the strictest alpha, that keeps a wanted share of X."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from alphalift.clock import Clock
from alphalift.curve import Family
from alphalift.errors import InputError, SettingError
from alphalift.joint import Joint, require_joint
from alphalift.proof.prove import prove
from alphalift.regions import AlphaLift, Region
from alphalift.solution import Solution, Status
from alphalift.solvers import Optimal
from alphalift.utilities import Utility, as_utility

# What an optimum may leave open, from the first to the last try: the nearer the wanted utility, the finer.
_GAPS = (1e-3, 1e-4, 1e-5, 1e-6)
# Of the accuracy: a budget at which neither is known leaves the bracket wide enough.
_STEP_SHARE = 0.5
# Where X may never be published, budgets up to this are tried; orders are tried between these, beside infinity.
_LARGEST_BUDGET, _LEAST_ALPHA, _LARGEST_ALPHA = 100.0, 1.01, 1e6
# Rounding of a utility, as a share of X.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Wanted:
    """The wanted share of X is kept at `keeps`, by the design, in proven integers; at `fails` certainly by no mechanism.

    `fails` is none where nothing is smaller, or stricter, than what `keeps`. `closed` says whether both are as near to each other as was
    asked for; where they are not, what lies between is not known.
    """

    name: str
    fails: float | None
    keeps: float
    design: Solution
    closed: bool

    def __repr__(self) -> str:
        kept = f"{self.design.normalized_utility:.2%} of X kept"
        return f"Wanted({self.name}={self.keeps:g}, {kept}; not at {self.name}={self.fails})"


def epsilon_for(
    joint: Joint,
    promise: Callable[..., Region],
    *,
    normalized_utility: float,
    accuracy: float = 1e-3,
    utility: Utility | str | None = None,
    time_limit: float = 60.0,
    **parameters: float,
) -> Wanted:
    """The least epsilon at which this share of X can be kept, to `accuracy`: `epsilon_for(joint, AlphaLift, alpha=10, normalized_utility=.9)`."""
    family = Family(promise, parameters)
    family.require_one_budget(require_joint(joint))
    search = _Search(joint, normalized_utility, utility, time_limit)
    step, largest = _step(accuracy), family.largest(joint)
    most = math.ceil(min(largest, _LARGEST_BUDGET) / step)
    found = search.halve(0, most, lambda place: family.at(round(place * step, 12)))
    if found is None:
        upper = search.bound(family.at(_LARGEST_BUDGET))
        raise InputError(
            f"no epsilon up to {_LARGEST_BUDGET:g} is known to keep {normalized_utility:g} of X, which this promise never allows to be "
            f"published as it is; what is kept there is at most {upper:.4f}: ask for less"
        )
    fails, keeps, design, closed = found
    return Wanted(
        "epsilon", None if fails is None else round(fails * step, 12), round(keeps * step, 12), design, closed
    )


def alpha_for(
    joint: Joint,
    *,
    epsilon: float,
    normalized_utility: float,
    accuracy: float = 1e-3,
    utility: Utility | str | None = None,
    time_limit: float = 60.0,
) -> Wanted:
    """The largest alpha, so the strictest promise, at which this share of X can be kept; `accuracy` is a share of alpha - 1.

    The bracket is the other way round: `fails` is above `keeps`, and infinite where only max-lift is known to fail.
    """
    search, step = _Search(joint, normalized_utility, utility, time_limit), _step(accuracy)
    least, largest = (math.log(alpha - 1) for alpha in (_LEAST_ALPHA, _LARGEST_ALPHA))
    most = math.ceil((largest - least) / step)

    def alpha(place: int) -> float:
        return math.inf if place == 0 else float(f"{1 + math.exp(max(largest - place * step, least)):.6g}")

    found = search.halve(0, most, lambda place: AlphaLift(alpha(place), epsilon))
    if found is None:
        upper = search.bound(AlphaLift(_LEAST_ALPHA, epsilon))
        raise InputError(
            f"no alpha from {_LEAST_ALPHA:g} on is known to keep {normalized_utility:g} of X at epsilon = {epsilon:g}; "
            f"what is kept there is at most {upper:.4f}: ask for less, or for a larger epsilon"
        )
    fails, keeps, design, closed = found
    return Wanted("alpha", None if fails is None else alpha(fails), alpha(keeps), design, closed)


def _step(accuracy: float) -> float:
    if not 0 < accuracy < 1:
        raise SettingError(f"accuracy is {accuracy:g}, expected a number between 0 and 1")
    return _STEP_SHARE * accuracy


class _Search:
    """Halving, where a design answers that the wanted utility is kept, and a bound that it cannot be."""

    def __init__(self, joint: Joint, wanted: float, utility: Utility | str | None, time_limit: float) -> None:
        if not isinstance(wanted, int | float) or not 0 < wanted <= 1:
            raise InputError(
                f"normalized_utility is {wanted!r}, expected a share of X above 0, and at most 1, which publishing it keeps"
            )
        if not time_limit > 0:
            raise SettingError(f"time_limit is {time_limit:g}, expected seconds above 0")
        self.joint, self.wanted, self.utility = require_joint(joint), wanted, as_utility(utility)
        self.clock, self._last, self._interrupted = Clock(time_limit), list[Solution](), False

    def halve(
        self, least: int, most: int, at: Callable[[int], Region]
    ) -> tuple[int | None, int, Solution, bool] | None:
        """(fails, keeps, the design there, whether two steps at most lie between); none if the wanted is not kept at `most`.

        Utility rises from `least` to `most`; `fails` is none if it is kept at the least.
        """
        design = self._design(at(most))
        if design is None:
            return None
        keeps, fails = most, None
        if most == least:
            return None, most, design, True
        try:
            first = self._answer(at(least))
            if isinstance(first, Solution):
                return None, least, first, True
            fails = least if first is False else None
            low = least
            while keeps - low > 1 and not self._over:
                middle = (low + keeps) // 2
                answer = self._answer(at(middle))
                if isinstance(answer, Solution):
                    keeps, design = middle, answer
                else:
                    low = middle
                    fails = middle if answer is False else fails
        except KeyboardInterrupt:
            pass
        closed = fails is not None and keeps - fails <= round(1 / _STEP_SHARE)
        return fails, keeps, design, closed

    @property
    def _over(self) -> bool:
        return self.clock.over or self._interrupted

    def _answer(self, region: Region) -> Solution | bool:
        """A design that keeps the wanted utility; or False, if none can; or True, if one may."""
        for gap in (*_GAPS, None):  # at last from the beginning, should the columns before have led nowhere
            if gap is None:
                self._last = []
            found = self._solved(region, gap or _GAPS[-1])
            if found.normalized_utility >= self.wanted - _ROUNDING:
                proven = prove(found)
                if proven.integers is not None and proven.normalized_utility >= self.wanted - _ROUNDING:
                    return proven
            if self._share(found) < self.wanted:
                return False
            if self._over:
                break
        return True

    def _design(self, region: Region) -> Solution | None:
        answer = self._answer(region)
        return answer if isinstance(answer, Solution) else None

    def bound(self, region: Region) -> float:
        """What no mechanism exceeds, as a share of X."""
        return self._share(self._solved(region, _GAPS[0]))

    def _share(self, found: Solution) -> float:
        everything = self.utility.of_publishing_all(found.joint.p_x)
        return found.upper_bound / everything if everything > 0 else 1.0

    def _solved(self, region: Region, gap: float) -> Solution:
        """The optimum to this gap, from the columns of the last budget, where these are still allowed."""
        solver = Optimal(relative_gap=gap, clock=self.clock)
        found = solver.solve(region.about(self.joint), [region], self.utility, after=self._last)[0]
        self._interrupted |= found.status is Status.INTERRUPTED
        self._last = [found]
        return replace(found, settings=repr(replace(solver, clock=None)))
