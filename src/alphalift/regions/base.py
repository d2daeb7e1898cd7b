"""What every promise is: a convex set C of lift vectors, known by its value and its support function; and several at once."""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from alphalift.convex import CALLED, Part
from alphalift.errors import PromiseError
from alphalift.exact import Array, Number, to_float
from alphalift.joint import Joint
from alphalift.measures.lift import check_alpha

# Float arithmetic cannot tell a tight posterior from one that is past the budget by a few roundings.
FLOAT_SLACK = 1e-12
# What a distance from l = 1 can be off by, however small it is.
_TINY = 1e-15
_HALVINGS = 200
_LARGEST_EXPONENT = 700.0
# The limits of mechanism files.
LARGEST_BUDGET, LARGEST_ORDER = 1000.0, 1e9
MOST_PARTS = 8

R = TypeVar("R", bound="Region")


class Region(ABC):
    """C = {l >= 0 : E_S[l] = 1, value(l) <= budget}; always contains l = 1, the answer that reveals nothing.

    Lifts come as (count, |S|). A subclass is a frozen dataclass of the promise's parameters. `a & b` is the promise of
    both.
    """

    # The value of l = 1: 1 where the value is a lift or a ratio of lifts, 0 where it is a distance.
    neutral: ClassVar[float] = 1.0

    def value_of_nothing(self, p_s: Array) -> float:
        """The value of l = 1, which may depend on the prior for a user's own promise."""
        return self.neutral

    @property
    @abstractmethod
    def budget(self) -> float:
        """The largest allowed value."""

    @property
    def perfect(self) -> bool:
        """Whether l = 1 is all that is allowed."""
        return self.budget <= self.neutral

    @abstractmethod
    def value(self, lifts: Array, p_s: Array) -> Array:
        """psi(l) of every row, (count,): convex, or at least with convex sets {psi <= c}."""

    @abstractmethod
    def support(self, directions: Array, p_s: Array) -> Array:
        """sigma(w) = max over l in C of E_S[w l] for every row w, (count,); never below the true maximum."""

    def part(self, p_s: Array) -> Part:
        """C as the kernels know it: a convex set of the secrets' posteriors P(s|y) = P_S(s) l_s.

        Through `support`, called back from the kernels and differentiated by differences, unless a region has a part
        of a compiled kind, which is faster. In terms of l - 1, so that the set contains 0 and sigma has no kink elsewhere.
        """

        def from_centre(w: Array) -> Array:
            return self.support(w, p_s) - w @ p_s

        directions = np.eye(len(p_s)) - p_s[:, None]
        return Part(CALLED, np.zeros(1), directions, function=from_centre)

    def validate(self, p_s: Array) -> None:
        """Raise if the region is not what it says; those of this package are."""
        return

    @property
    def components(self) -> tuple[Region, ...]:
        """The regions of which this is the intersection: itself, unless it was made with `&`."""
        return (self,)

    def tightened(self, nats: float) -> Region:
        """A slightly smaller set, where there is one: what lies in it keeps the promise through rounding, too."""
        return self

    @property
    def largest_lift(self) -> float | None:
        """t where C is exactly {l <= t}: the region's facets, when they are that simple."""
        return None

    def about(self, joint: Joint) -> Joint:
        """The joint whose secret the promise is about: the given one, unless the promise names X itself."""
        return joint

    def answers(self, joint: Joint) -> bool:
        """Whether a solution of this promise may have this joint."""
        return (about := self.about(joint)) is joint or about == joint

    def blocks(self, joint: Joint) -> list[list[list[int]]]:
        """Counts of s and x, rows of s: one block, or one for each earlier output of a promise after other releases."""
        return [[list(row) for row in joint.weights]]

    def null_rows(self, joint: Joint) -> Array:
        """Rows, (count, |X|), that no V of a promise with a budget of 0 may change: l - 1 of every secret."""
        return joint.lift_deviation

    @property
    def parameters(self) -> dict[str, float]:
        """The promise's parameters by name, as records and files list them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def allows(self, lifts: Array, p_s: Array) -> NDArray[np.bool_]:
        """Whether every row keeps the promise, up to float rounding (relative 1e-12), (count,)."""
        return np.asarray(self.value(lifts, p_s) <= self.budget * (1 + FLOAT_SLACK) + _TINY)

    def group_bound(self, group: NDArray[np.bool_], p_s: Array) -> float:
        """How many times as likely a group of secrets can become: sigma(1_group) / P(group), and at most 1 / P(group)."""
        share = float(p_s[group].sum())
        bound = float(self.support(group.astype(np.float64)[None], p_s)[0])
        return min(bound, 1.0) / share

    def __and__(self, other: Region) -> Region:
        return Intersection(self, other) if isinstance(other, Region) else NotImplemented


@dataclass(frozen=True, init=False)
class Intersection(Region):
    """Every one of the promises holds, bounded on average and in the worst case: `AlphaLift(10, .3) & MaxLift(1)`."""

    neutral: ClassVar[float] = 0.0
    parts: tuple[Region, ...]

    def __init__(self, *parts: Region) -> None:
        flat = tuple(component for part in parts for component in part.components)
        if not 2 <= len(flat) <= MOST_PARTS:
            raise PromiseError(f"an intersection has 2 to {MOST_PARTS} promises, not {len(flat)}")
        if len({type(part).about for part in flat}) > 1:
            raise PromiseError("PML is about X, the other promises about S: with S = X (joint.about_x), use MaxLift")
        object.__setattr__(self, "parts", flat)

    def __repr__(self) -> str:
        return " & ".join(map(repr, self.parts))

    @property
    def components(self) -> tuple[Region, ...]:
        return self.parts

    @property
    def budget(self) -> float:
        return 1.0

    @property
    def perfect(self) -> bool:
        return any(part.perfect for part in self.parts)

    def value(self, lifts: Array, p_s: Array) -> Array:
        """The largest share that any promise's value takes of its way from l = 1 to its budget."""
        shares = []
        for part in self.parts:
            nothing = part.value_of_nothing(p_s)
            room, above = part.budget - nothing, part.value(lifts, p_s) - nothing
            shares.append(above / room if room > 0 else np.where(part.allows(lifts, p_s), 0.0, np.inf))
        return np.asarray(np.maximum(np.max(shares, axis=0), 0.0))

    def allows(self, lifts: Array, p_s: Array) -> np.ndarray:
        return np.asarray(np.all([part.allows(lifts, p_s) for part in self.parts], axis=0))

    def support(self, directions: Array, p_s: Array) -> Array:
        """The least of the parts': a bound, not always the maximum, which would split w among the parts."""
        return np.asarray(np.min([part.support(directions, p_s) for part in self.parts], axis=0))

    def validate(self, p_s: Array) -> None:
        for part in self.parts:
            part.validate(p_s)

    def tightened(self, nats: float) -> Region:
        return Intersection(*(part.tightened(nats) for part in self.parts))

    def about(self, joint: Joint) -> Joint:
        return self.parts[0].about(joint)

    @property
    def parameters(self) -> dict[str, float]:
        return {
            f"{type(part).__name__}.{name}": value for part in self.parts for name, value in part.parameters.items()
        }


def parameter(name: str, value: Number, *, expected: str, upwards: bool = False) -> float:
    """A promise's parameter as a float, rounded to the side that makes the promise stronger; `expected` is for messages."""
    try:
        return to_float(value, upwards=upwards)
    except (ValueError, TypeError) as error:
        raise PromiseError(f"{name} is {error}; expected {expected}") from None


def order_parameter(name: str, value: Number) -> float:
    """An order above 1; infinity is the strictest."""
    number = parameter(name, value, expected="a number above 1, or inf", upwards=True)
    check_alpha(number, name, most=LARGEST_ORDER)
    return number


def budget_parameter(name: str, value: Number) -> float:
    """A budget of 0 or more; the upper end is that of mechanism files, and promises nothing in practice."""
    expected = f"a number from 0 to {LARGEST_BUDGET:g}"
    number = parameter(name, value, expected=expected)
    if not 0 <= number <= LARGEST_BUDGET:
        raise PromiseError(f"{name} is {number:g}, expected {expected}")
    return number


@dataclass(frozen=True)
class Budgeted(Region):
    """A promise with one parameter, a budget epsilon; at 0 it is perfect privacy, whatever its kind."""

    epsilon: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", budget_parameter("epsilon", self.epsilon))

    @property
    def perfect(self) -> bool:
        return self.epsilon == 0

    def tightened(self, nats: float) -> Region:
        return replace(self, epsilon=less(self.epsilon, nats))


def less(epsilon: float, nats: float) -> float:
    """A budget lowered by this much, or by a thousandth where it is tiny itself."""
    return epsilon - min(nats, 1e-3 * epsilon)


def exponential(epsilon: float) -> float:
    """e^epsilon; beyond the largest float every lift of a float table is within the budget."""
    return math.exp(min(epsilon, _LARGEST_EXPONENT))


def grid(region: Callable[..., R], **parameters: Iterable[float]) -> tuple[R, ...]:
    """One region for every combination: grid(AlphaLift, alpha=[10, 3], epsilon=[.1, .2])."""
    names = tuple(parameters)
    return tuple(region(**dict(zip(names, cell, strict=True))) for cell in itertools.product(*parameters.values()))


def lift_interval(region: Region, p_s: Array) -> tuple[float, float]:
    """Two secrets: the ends of the allowed lifts of the first one, minus one; inside by rounding, never outside."""

    def kept(deviation: float) -> bool:
        lift = np.maximum([[1 + deviation, 1 - deviation * p_s[0] / p_s[1]]], 0.0)
        return bool(region.value(lift, p_s)[0] <= region.budget)

    ends = []
    for furthest in (-1.0, float(p_s[1] / p_s[0])):
        inside, outside = 0.0, furthest
        for _ in range(_HALVINGS):
            middle = (inside + outside) / 2
            if kept(middle):
                inside = middle
            else:
                outside = middle
        ends.append(furthest if kept(furthest) else inside)
    return ends[0], ends[1]
