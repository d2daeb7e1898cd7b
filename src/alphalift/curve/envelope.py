"""Envelopes: what is certain at every epsilon, made of stretches between budgets that were looked at."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from alphalift.arrays import Array
from alphalift.curve.family import Family
from alphalift.errors import SettingError
from alphalift.joint import Joint
from alphalift.mechanism import Mechanism
from alphalift.proof.prove import prove
from alphalift.shown import Shown, show
from alphalift.solution import Solution, Status
from alphalift.utilities import Utility

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

# Epsilons of a table, evenly, beside those that were looked at.
_ROWS = 65


@dataclass(eq=False)
class Point:
    """A budget that was looked at: what its mechanism keeps of X, and what none exceeds there, as shares."""

    epsilon: float
    mechanism: Mechanism
    lower: float
    upper: float


@dataclass(frozen=True)
class Bracket:
    """At one epsilon: the useful share of X is at least `lower`, which `design_at` keeps, and no mechanism exceeds `upper`.

    `below` and `above` are the budgets that were looked at between which it lies.
    """

    lower: float
    upper: float
    below: float
    above: float


class Stretch(ABC):
    """Between two neighbouring points. Both envelopes rise, so what bounds a larger budget, `cap`, bounds all of it."""

    left: Point
    right: Point
    cap: float = 1.0

    @abstractmethod
    def steps(self) -> tuple[Array, Array]:
        """Epsilons, and what mechanisms keep whose promise is kept there."""

    @abstractmethod
    def bound(self, epsilon: float) -> float:
        """What no mechanism exceeds at this epsilon, as far as this stretch knows."""

    @abstractmethod
    def step(self, number: int) -> Mechanism:
        """The mechanism of one of the steps."""

    def _ordered(self) -> tuple[Array, Array, Array]:
        """Steps within the stretch by rising epsilon: these, what they keep, their numbers; -1 and -2 are the ends."""
        epsilons, worth = self.steps()
        numbers = np.append(np.arange(len(worth)), [-1, -2])
        epsilons = np.append(epsilons, [self.left.epsilon, self.right.epsilon])
        worth = np.append(worth, [self.left.lower, self.right.lower])
        within = epsilons <= self.right.epsilon
        epsilons, worth, numbers = np.maximum(epsilons[within], self.left.epsilon), worth[within], numbers[within]
        order = np.argsort(epsilons, kind="stable")
        return epsilons[order], worth[order], numbers[order]

    def stairs(self) -> tuple[Array, Array]:
        """Rising epsilons from the left end on, and the most that is kept from there on."""
        epsilons, worth, _ = self._ordered()
        return epsilons, np.maximum.accumulate(worth)

    def best(self, epsilon: float) -> tuple[Mechanism, float]:
        """The best mechanism whose promise is kept at this epsilon, and what it keeps."""
        epsilons, worth, numbers = self._ordered()
        allowed = int(np.searchsorted(epsilons, epsilon, side="right"))
        place = int(np.argmax(worth[:allowed]))
        number = int(numbers[place])
        ends = {-1: self.left.mechanism, -2: self.right.mechanism}
        return ends[number] if number in ends else self.step(number), float(worth[place])

    def upper(self, epsilon: float) -> float:
        return min(self.cap, self.bound(epsilon))

    def uppers(self, epsilons: Array) -> Array:
        return np.array([self.upper(epsilon) for epsilon in epsilons])

    @property
    def distance(self) -> float:
        """No epsilon has envelopes farther apart: both rise, so the ends of every step tell."""
        epsilons, worth = self.stairs()
        uppers = self.uppers(epsilons)
        return float(np.max(np.maximum(uppers[1:] - worth[:-1], 0.0), initial=max(uppers[-1] - worth[-1], 0.0)))


@dataclass(frozen=True, eq=False)
class Envelope:
    """One promise's curve: certified envelopes of the useful share of X from epsilon 0 to `largest`."""

    family: Family
    joint: Joint
    utility: Utility
    largest: float
    points: tuple[Point, ...] = field(repr=False)
    stretches: tuple[Stretch, ...] = field(repr=False)
    interrupted: bool = False

    def __post_init__(self) -> None:
        """What bounds a larger budget bounds a smaller one."""
        most = self.points[-1].upper
        for stretch in reversed(self.stretches):
            stretch.cap = most = min(most, stretch.cap)
            most = min(most, max(stretch.upper(np.nextafter(stretch.left.epsilon, math.inf)), stretch.left.lower))
            stretch.left.upper = most = max(min(most, stretch.left.upper), stretch.left.lower)

    @property
    def accuracy(self) -> float:
        """No epsilon has envelopes that are farther apart."""
        return max([0.0, *(p.upper - p.lower for p in self.points), *(own.distance for own in self.stretches)])

    @property
    def stairs(self) -> tuple[Array, Array, Array]:
        """Rising epsilons, the lower envelope from each of them on, and the upper one up to each of them."""
        last = self.points[-1]
        parts = [(*stairs, own.uppers(stairs[0])) for own in self.stretches for stairs in [own.stairs()]]
        parts.append((np.array([last.epsilon]), np.array([last.lower]), np.array([last.upper])))
        epsilons, lower, upper = (np.concatenate(own) for own in zip(*parts, strict=True))
        return epsilons, np.maximum.accumulate(lower), np.minimum.accumulate(upper[::-1])[::-1]

    def _stretch(self, epsilon: float) -> Stretch | None:
        if not epsilon >= 0:
            raise SettingError(f"epsilon is {epsilon:g}, expected a number of 0 or more")
        return next((own for own in self.stretches if epsilon < own.right.epsilon), None)

    def at(self, epsilon: float) -> Bracket:
        """Both envelopes at one epsilon."""
        stretch = self._stretch(epsilon)
        if stretch is None:  # from the last point on
            last = self.points[-1]
            upper = last.upper if epsilon <= last.epsilon else 1.0
            return Bracket(last.lower, max(upper, last.lower), last.epsilon, last.epsilon)
        left, right, lower = stretch.left, stretch.right, stretch.best(epsilon)[1]
        upper = left.upper if epsilon <= left.epsilon else stretch.upper(epsilon)
        return Bracket(lower, max(upper, lower), left.epsilon, right.epsilon)

    def design_at(self, epsilon: float) -> Solution:
        """A mechanism that keeps the promise at this epsilon and the lower envelope's utility, in integers, proven."""
        stretch = self._stretch(epsilon)
        mechanism = self.points[-1].mechanism if stretch is None else stretch.best(epsilon)[0]
        bound = self.at(epsilon).upper * self.utility.of_publishing_all(self.joint.p_x)
        return prove(Solution(mechanism, self.family.at(epsilon), self.utility, Status.FEASIBLE, bound))

    def to_frame(self, epsilons: Sequence[float] | None = None) -> pd.DataFrame:
        """One row an epsilon: the envelopes; where they were refined, unless epsilons are given."""
        import pandas as pd

        given = self._grid() if epsilons is None else epsilons
        rows = [self.family.parameters | {"epsilon": epsilon} | _row(self.at(epsilon)) for epsilon in given]
        return pd.DataFrame.from_records(rows)

    def _grid(self) -> list[float]:
        """The points, and some epsilons between them, evenly."""
        most = self.points[-1].epsilon
        return sorted({point.epsilon for point in self.points} | set(np.linspace(0, most, _ROWS).tolist()))


def _row(bracket: Bracket) -> dict[str, float]:
    return {"lower": bracket.lower, "upper": bracket.upper, "below": bracket.below, "above": bracket.above}


@dataclass(frozen=True, eq=False)
class Curve(Shown):
    """Envelopes, one for each value of the promise's other parameters, in the order in which these were given."""

    envelopes: tuple[Envelope, ...]

    def __iter__(self) -> Iterator[Envelope]:
        return iter(self.envelopes)

    def __len__(self) -> int:
        return len(self.envelopes)

    @property
    def accuracy(self) -> float:
        """How far the envelopes are apart at most, anywhere: what was reached, whatever was asked for."""
        return max(envelope.accuracy for envelope in self.envelopes)

    @property
    def within(self) -> str:
        """The accuracy in three digits, rounded up."""
        digits = 2 - math.floor(math.log10(self.accuracy)) if self.accuracy > 0 else 0
        return f"{math.ceil(self.accuracy * 10.0**digits) / 10.0**digits:.3g}"

    @property
    def solves(self) -> int:
        return sum(len(envelope.points) for envelope in self.envelopes)

    def of(self, **parameters: float) -> Envelope:
        """The envelope with these parameters: `of(alpha=10)`; without any, the only one."""
        found = [own for own in self.envelopes if parameters.items() <= own.family.parameters.items()]
        if len(found) != 1:
            values = [", ".join(f"{name}={value:g}" for name, value in own.family.parameters.items()) for own in self]
            raise SettingError(
                f"expected the parameters of one curve, and {parameters or 'nothing'} fits {len(found)}; there are {'; '.join(values)}"
            )
        return found[0]

    def at(self, epsilon: float) -> tuple[Bracket, ...]:
        """The envelopes' values at one epsilon, one each."""
        return tuple(envelope.at(epsilon) for envelope in self.envelopes)

    def design_at(self, epsilon: float, **parameters: float) -> Solution:
        """As `Envelope.design_at`, of the curve with these parameters."""
        return self.of(**parameters).design_at(epsilon)

    def plot(self, *, secret: str | None = None, useful: str | None = None) -> Figure:
        """The bands between envelopes, and what the rarest group may gain below: `plot_curve`. The columns' names come from the joint unless told."""
        figure: Figure = show().plot_curve(self, secret=secret, useful=useful)
        return figure

    def to_frame(self, epsilons: Sequence[float] | None = None) -> pd.DataFrame:
        """Every envelope's rows, one after the other."""
        import pandas as pd

        return pd.concat([envelope.to_frame(epsilons) for envelope in self.envelopes], ignore_index=True)
