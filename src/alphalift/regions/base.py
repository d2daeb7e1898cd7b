"""What every promise is: a convex set C of lift vectors, known by its value and its support function; and several at once."""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from alphalift.arrays import Array
from alphalift.convex import CALLED, ComponentDual, Constraint, ConvexSet
from alphalift.errors import PromiseError
from alphalift.exact import Number, to_float
from alphalift.joint import Joint
from alphalift.measures.lift import check_alpha

# Float arithmetic cannot tell a tight posterior from one that is past the budget by a few roundings.
FLOAT_SLACK = 1e-12
# What a distance from l = 1 can be off by, however small it is.
TINY = 1e-15
# The share of a tiny budget that a margin takes at most.
_MOST_TAKEN = 1e-3
LARGEST_EXPONENT = 700.0
_GROUP_HALVINGS = 100
# The limits of mechanism files.
LARGEST_BUDGET, LARGEST_ORDER = 1000.0, 1e9
MOST_PROMISES = 8

R = TypeVar("R", bound="Region")


class Region(ABC):
    """C = {l >= 0 : E_S[l] = 1, value(l) <= budget}; always contains l = 1, the answer that reveals nothing.

    Lifts come as (count, |S|). A subclass is a frozen dataclass of the promise's parameters. `a & b` is the promise of
    both.
    """

    # Entries of a dual beside w, all above 0: what `support_at` takes, as the checker does.
    extra: ClassVar[int] = 0

    def value_of_nothing(self, p_s: Array) -> float:
        """The value of l = 1: what an output that reveals nothing has."""
        return float(self.value(np.ones((1, len(p_s))), p_s)[0])

    @property
    @abstractmethod
    def budget(self) -> float:
        """The largest allowed value."""

    @property
    def perfect(self) -> bool:
        """Whether l = 1 is known to be all that is allowed; what is not known is solved as what it says."""
        return False

    @abstractmethod
    def value(self, lifts: Array, p_s: Array) -> Array:
        """psi(l) of every row, (count,): convex, or at least with convex sets {psi <= c}. P_S may differ by row, (count, |S|)."""

    @abstractmethod
    def support(self, directions: Array, p_s: Array) -> Array:
        """sigma(w) = max over l in C of E_S[w l] for every row w, (count,); never below the true maximum."""

    def support_at(self, directions: Array, p_s: Array, extra: Array) -> Array:
        """sigma as the checker computes it, at entries (count, `extra`) that come with w; never below `support`."""
        return self.support(directions, p_s)

    def inequality(self, duals: Sequence[ComponentDual], p_s: Array) -> tuple[Array, float]:
        """(w, sigma): what duals of the components add up to, w.q <= sigma for every allowed posterior q = P_S l."""
        w = np.asarray(sum(dual.w for dual in duals))
        if self.perfect:  # which is l = 1
            return w, float(w @ p_s)
        sigma = 0.0
        for component, dual in zip(self.components, duals, strict=True):
            sigma += float(component.support_at(dual.w[None], p_s, np.array([dual.extra]))[0])
        return w, sigma

    def constraint(self, p_s: Array) -> Constraint:
        """C as the kernels know it: a convex set of the secrets' posteriors P(s|y) = P_S(s) l_s.

        Through `support`, called back from the kernels and differentiated by differences, unless a region has a constraint
        of a compiled kind, which is faster. In terms of l - 1, so that the set contains 0 and sigma has no kink elsewhere.
        """

        def from_centre(w: Array) -> Array:
            return self.support(w, p_s) - w @ p_s

        directions = np.eye(len(p_s)) - p_s[:, None]
        return Constraint(CALLED, np.zeros(1), directions, function=from_centre)

    def constraints(self, joint: Joint) -> list[Constraint]:
        """The components' constraints as kernels get them for a joint: those of tiny budgets may be wider."""
        return [component.constraint(joint.p_s).widened(joint.p_s_given_x.T) for component in self.components]

    def convex_set(self, joint: Joint) -> ConvexSet:
        """All of it as kernels know it."""
        return ConvexSet.intersecting(self.constraints(joint))

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
        return np.asarray(self.value(lifts, p_s) <= self.budget * (1 + FLOAT_SLACK) + TINY)

    def value_of_outputs(self, p_y: Array, lifts: Array, p_s: Array) -> float:
        """The value of a whole mechanism from its outputs' lifts, (|Y|, |S|): the largest, or of promises on average the mean."""
        return float(self.value(lifts, p_s).max())

    def kept_by(self, p_y: Array, lifts: Array, p_s: Array) -> bool:
        """Whether a mechanism with these outputs keeps the promise, up to float rounding."""
        return bool(self.allows(lifts, p_s).all())

    def as_epsilon(self, value: float) -> float:
        """A value on the scale of the promise's parameter; the value itself unless it is e^epsilon."""
        return value

    @property
    def symmetric(self) -> bool:
        """Whether the value is known to depend on nothing but the distribution of l under P_S."""
        return False

    def group_limit(self, group: NDArray[np.bool_], p_s: Array) -> float:
        """The largest P(G|y) / P(G) of a group G of secrets that the promise allows, whatever X is; a bound if not `symmetric`.

        Lifts with two values attain it, one on G and one off it: the means of l there have the E l and the P(G|y) that l has,
        and averaging does not leave a set that is convex and symmetric (Jensen). So G and the others are like two secrets.
        Of other sets it is known that E[1_G l] <= sigma(1_G).
        """
        share = float(p_s[group].sum())
        if not self.symmetric:
            return min(float(self.support(group.astype(np.float64)[None], p_s)[0]), 1.0) / share
        if group.all():
            return 1.0
        inside, outside = 0.0, 1 / share - 1
        for _ in range(_GROUP_HALVINGS):  # of l_G - 1; the other value follows from E l = 1
            middle = (inside + outside) / 2
            lifts = np.array([[1 + middle, max(1 - middle * share / (1 - share), 0.0)]])
            kept = self.value(lifts, np.array([share, 1 - share]))[0] <= self.budget
            inside, outside = (middle, outside) if kept else (inside, middle)
        return 1 + inside

    def __and__(self, other: Region) -> Region:
        return Intersection(self, other) if isinstance(other, Region) else NotImplemented


@dataclass(frozen=True, init=False)
class Intersection(Region):
    """Every one of the promises holds, bounded on average and in the worst case: `AlphaLift(10, .3) & MaxLift(1)`."""

    promises: tuple[Region, ...]

    def __init__(self, *promises: Region) -> None:
        flat = tuple(component for promise in promises for component in promise.components)
        if not 2 <= len(flat) <= MOST_PROMISES:
            raise PromiseError(f"an intersection has 2 to {MOST_PROMISES} promises, not {len(flat)}")
        if len({type(component).about for component in flat}) > 1:
            raise PromiseError("PML is about X, the other promises about S: with S = X (joint.about_x), use MaxLift")
        object.__setattr__(self, "promises", flat)

    def __repr__(self) -> str:
        return " & ".join(map(repr, self.promises))

    @property
    def components(self) -> tuple[Region, ...]:
        return self.promises

    @property
    def budget(self) -> float:
        return 1.0

    @property
    def perfect(self) -> bool:
        return any(promise.perfect for promise in self.promises)

    def value(self, lifts: Array, p_s: Array) -> Array:
        """The largest share that any promise's value takes of its way from l = 1 to its budget."""
        shares = []
        for promise in self.promises:
            nothing = promise.value_of_nothing(np.atleast_2d(p_s)[0])
            room, above = promise.budget - nothing, promise.value(lifts, p_s) - nothing
            shares.append(above / room if room > 0 else np.where(promise.allows(lifts, p_s), 0.0, np.inf))
        return np.asarray(np.maximum(np.max(shares, axis=0), 0.0))

    def value_of_outputs(self, p_y: Array, lifts: Array, p_s: Array) -> float:
        """The largest share that any promise's value takes of its way from what reveals nothing to its budget."""
        shares = [0.0]
        for promise in self.promises:
            nothing = promise.value_of_nothing(p_s)
            room, above = promise.budget - nothing, promise.value_of_outputs(p_y, lifts, p_s) - nothing
            shares.append(above / room if room > 0 else 0.0 if promise.kept_by(p_y, lifts, p_s) else math.inf)
        return max(shares)

    def kept_by(self, p_y: Array, lifts: Array, p_s: Array) -> bool:
        return all(promise.kept_by(p_y, lifts, p_s) for promise in self.promises)

    def allows(self, lifts: Array, p_s: Array) -> np.ndarray:
        return np.asarray(np.all([promise.allows(lifts, p_s) for promise in self.promises], axis=0))

    def support(self, directions: Array, p_s: Array) -> Array:
        """The least of the components': a bound, not always the maximum, which would split w among them."""
        return np.asarray(np.min([promise.support(directions, p_s) for promise in self.promises], axis=0))

    @property
    def symmetric(self) -> bool:
        return all(promise.symmetric for promise in self.promises)

    def group_limit(self, group: NDArray[np.bool_], p_s: Array) -> float:
        """The least of the components': of lifts with two values, one number, each allows an interval that contains 1."""
        return min(promise.group_limit(group, p_s) for promise in self.promises)

    def validate(self, p_s: Array) -> None:
        for promise in self.promises:
            promise.validate(p_s)

    def tightened(self, nats: float) -> Region:
        return Intersection(*(promise.tightened(nats) for promise in self.promises))

    def about(self, joint: Joint) -> Joint:
        return self.promises[0].about(joint)

    @property
    def parameters(self) -> dict[str, float]:
        return {
            f"{type(promise).__name__}.{name}": value
            for promise in self.promises
            for name, value in promise.parameters.items()
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
    return epsilon - min(nats, _MOST_TAKEN * epsilon)


def exponential(epsilon: float) -> float:
    """e^epsilon; beyond the largest float every lift of a float table is within the budget."""
    return math.exp(min(epsilon, LARGEST_EXPONENT))


def logarithm(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf


def excess(epsilon: float) -> float:
    """e^epsilon - 1, with all its digits."""
    return math.expm1(min(epsilon, LARGEST_EXPONENT))


def grid(region: Callable[..., R], **parameters: Iterable[float]) -> tuple[R, ...]:
    """One region for every combination: grid(AlphaLift, alpha=[10, 3], epsilon=[.1, .2])."""
    names = tuple(parameters)
    return tuple(region(**dict(zip(names, cell, strict=True))) for cell in itertools.product(*parameters.values()))
