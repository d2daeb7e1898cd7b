"""Audit of a channel: whether a given P(Y|X), ours or not, keeps a promise about a known joint, decided exactly; and every measure of it."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import fmpq

from alphalift.arrays import Array
from alphalift.audit.matrices import Labelled
from alphalift.errors import InputError, PromiseError
from alphalift.exact import exact
from alphalift.joint import Joint
from alphalift.mechanism import Mechanism
from alphalift.proof.checker import Integers, lifts_of
from alphalift.proof.statement import checkable
from alphalift.regions import KL, LDP, LIP, PML, After, AlphaLift, ChiSquare, MaxLift, Region, Renyi, TotalVariation

if TYPE_CHECKING:
    import pandas as pd

# Columns of floats sum to one only nearly, and are divided by their sums; what is farther off is a mistake, or rounded.
SUM_TOLERANCE = Fraction(1, 10**9)
# The digits of a least epsilon.
_DIGITS = 6
_ORDERS = (1.5, 3.0, 10.0)


@dataclass(frozen=True, eq=False)
class Channel:
    """P(Y|X), exactly: `p_y_given_x` has a row for each of the outputs, with an entry for each value of X; columns sum to one.

    `normalised` says that they did so only nearly (to 1e-9) as they were given, and were divided by their sums.
    """

    p_y_given_x: tuple[tuple[Fraction, ...], ...]
    y_labels: tuple[str, ...]
    x_labels: tuple[str, ...]
    normalised: bool = False

    @classmethod
    def of(
        cls, p_y_given_x: Any, y_labels: Iterable[str] | None = None, x_labels: Iterable[str] | None = None
    ) -> Channel:
        """Of rows of numbers (a float means its shortest decimal) or a data frame, whose index and columns are the labels."""
        if hasattr(p_y_given_x, "index") and hasattr(p_y_given_x, "columns"):
            y_labels = map(str, p_y_given_x.index) if y_labels is None else y_labels
            x_labels = map(str, p_y_given_x.columns) if x_labels is None else x_labels
            p_y_given_x = p_y_given_x.to_numpy()
        try:
            rows = [[exact(entry) for entry in row] for row in p_y_given_x]
        except (ValueError, TypeError) as error:
            raise InputError(f"an entry of p_y_given_x is {error}; expected rows of numbers") from None
        y = [f"y{i}" for i in range(len(rows))] if y_labels is None else list(y_labels)
        x = [f"x{i}" for i in range(len(rows[0]) if rows else 0)] if x_labels is None else list(x_labels)
        return cls.of_labelled(Labelled(tuple(map(tuple, rows)), tuple(y), tuple(x)))

    @classmethod
    def of_labelled(cls, matrix: Labelled) -> Channel:
        """Of a matrix whose rows are outputs; refused unless its columns are distributions."""
        sums = [sum(column) for column in zip(*matrix.entries, strict=True)]
        off = max(sums, key=lambda own: abs(own - 1))
        if min(min(row) for row in matrix.entries) < 0 or abs(off - 1) > SUM_TOLERANCE:
            raise InputError(
                f"the columns of P(Y|X) must be distributions, one for each value of X, and one sums to {float(off):.9g}; write "
                "all digits, or fractions such as 1/3, and a row for each output"
            )
        rows = tuple(tuple(own / total for own, total in zip(row, sums, strict=True)) for row in matrix.entries)
        return cls(rows, matrix.rows, matrix.columns, normalised=any(total != 1 for total in sums))

    @classmethod
    def of_integers(cls, integers: Integers) -> Channel:
        """Of a mechanism of ours: the integers that are sampled."""
        size, one = len(integers.labels["x"]), 1 << integers.bits
        rows = tuple(tuple(Fraction(row.get(x, 0), one) for x in range(size)) for row in integers.weights)
        return cls(rows, tuple(integers.labels["y"]), tuple(integers.labels["x"]))


@dataclass(frozen=True, eq=False)
class ChannelAudit:
    """Whether the promise is kept, proven with exact lifts; what cannot be decided counts as not kept.

    `broken` are the outputs for which it is not proven: all of them where the mean over outputs is what is not, `on_average`. `value` is the largest value, `epsilon` the same as the promise's parameter
    has it, in floats, beside its `budget`. `measures` is the table of `Mechanism.measures`. `least` has, for every kind of promise, the
    least epsilon that is proven to be kept, as a decimal of six digits: one unit less is not.
    """

    kept: bool
    promise: Region
    broken: tuple[str, ...]
    value: float
    epsilon: float
    measures: pd.DataFrame
    least: dict[str, str]
    on_average: bool = False

    def __bool__(self) -> bool:
        return self.kept


def audit_channel(channel: Channel, joint: Joint, promise: Region) -> ChannelAudit:
    """The channel as a release of the joint's X, whose values it must know: what it tells about S, and whether that is promised."""
    if checkable(promise) is None or isinstance(promise, After):
        raise PromiseError(
            f"{promise} is not decided for one channel by itself; expected one of the promises in docs/field.md, or several"
        )
    exactly = _Exactly.of(channel, joint)
    mechanism = Mechanism(joint, exactly.floats)
    check = mechanism.check(promise)
    broken = exactly.broken(promise)
    return ChannelAudit(
        kept=not broken,
        promise=promise,
        broken=tuple(exactly.y_labels[y] for y in broken),
        value=check.worst_value,
        epsilon=promise.as_epsilon(check.worst_value),
        measures=mechanism.measures(),
        least={_named(own): exactly.least(own, mechanism) for own in _every_promise()},
        on_average=not exactly.keeps_means(promise),
    )


def _every_promise() -> list[Region]:
    """One promise of every kind; its budget is what is looked for."""
    of_order = [kind(order, 0) for kind in (AlphaLift, Renyi) for order in _ORDERS]
    return [MaxLift(0), PML(0), LIP(0), LDP(0), TotalVariation(0), ChiSquare(0), KL(0), *of_order]


def with_budget(kind: Region, epsilon: str) -> Region:
    """A promise of the same kind with this epsilon."""
    if isinstance(kind, MaxLift | LIP):
        return type(kind)(epsilon)
    order = (
        {"alpha": kind.alpha}
        if isinstance(kind, AlphaLift)
        else {"order": kind.order}
        if isinstance(kind, Renyi)
        else {}
    )
    return type(kind)(**order, epsilon=epsilon)  # type: ignore[call-arg]


def _named(kind: Region) -> str:
    order = [
        f"{value:g}" for name, value in kind.parameters.items() if name in ("alpha", "order") and math.isfinite(value)
    ]
    return " ".join([type(kind).__name__, *order])


@dataclass(frozen=True, eq=False)
class _Exactly:
    """The channel over values of X that occur, outputs that occur, and the joint: all lifts are exact fractions."""

    rows: Sequence[Sequence[Fraction]]
    y_labels: Sequence[str]
    joint: Joint

    @classmethod
    def of(cls, channel: Channel, joint: Joint) -> _Exactly:
        place = {label: x for x, label in enumerate(channel.x_labels)}
        if unknown := sum(label not in place for label in joint.x_labels):
            raise InputError(
                f"{unknown} of the joint's {len(joint.x_labels)} values of X are not values of the channel; are they written alike?"
            )
        kept = [place[label] for label in joint.x_labels]
        rows = [
            (label, [row[x] for x in kept]) for label, row in zip(channel.y_labels, channel.p_y_given_x, strict=True)
        ]
        occurring = [(label, row) for label, row in rows if any(row)]
        return cls([row for _, row in occurring], [label for label, _ in occurring], joint)

    @property
    def floats(self) -> Array:
        return np.array([[float(entry) for entry in row] for row in self.rows])

    @cached_property
    def _about_s(self) -> list[list[fmpq]]:
        return self._lifts(self.joint)

    @cached_property
    def _about_x(self) -> list[list[fmpq]]:
        return self._lifts(self.joint.about_x)

    def _lifts(self, joint: Joint) -> list[list[fmpq]]:
        """P(s|y) / P(s) for every output, for the secret of this joint."""
        found = []
        for row in self.rows:
            common = math.lcm(*(entry.denominator for entry in row))
            whole = [int(entry * common) for entry in row]
            sums = [sum(w * n for w, n in zip(whole, own, strict=True) if w and n) for own in joint.weights]
            found += lifts_of([sums], list(joint.s_weights))
        return found

    def broken(self, promise: Region) -> list[int]:
        """The outputs for which the promise is not proven, by the checker's own rules; all of them if their mean breaks it."""
        stated, about_x = checkable(promise), type(promise.components[0]).about is not Region.about
        prior = list(self.joint.x_weights if about_x else self.joint.s_weights)
        lifts = self._about_x if about_x else self._about_s
        if stated is None or not self.keeps_means(promise):
            return list(range(len(lifts)))
        return [y for y, own in enumerate(lifts) if not stated.keeps(own, prior)]

    def keeps_means(self, promise: Region) -> bool:
        """Whether what is promised on average is proven; nothing where nothing is."""
        stated = checkable(promise)
        prior = list(self.joint.s_weights)
        return stated is not None and all(own.kept(self._outputs, prior) for own in stated.averages)

    @property
    def _outputs(self) -> list[tuple[int, list[fmpq]]]:
        """What is proportional to P(y), with the lifts of S, for every output."""
        masses = [sum(map(operator.mul, row, self.joint.x_weights), Fraction(0)) for row in self.rows]
        common = math.lcm(*(mass.denominator for mass in masses))
        return [(int(mass * common), lifts) for mass, lifts in zip(masses, self._about_s, strict=True)]

    def least(self, kind: Region, mechanism: Mechanism) -> str:
        """The least multiple of 10^-6 that is a proven epsilon of this kind; 'none' where no budget is."""
        worst = mechanism.worst_value(with_budget(kind, "1"))
        # LIP's value has its own upper and lower end in it; with both equal it is max |log l|.
        epsilon = with_budget(kind, "1").as_epsilon(worst)
        if not math.isfinite(epsilon):
            return "none"
        units = max(math.ceil(epsilon * 10**_DIGITS) - 2, 0)
        while self.broken(with_budget(kind, _decimal(units))):
            units += 1
        return _decimal(units)


def _decimal(units: int) -> str:
    return f"{units // 10**_DIGITS}.{units % 10**_DIGITS:0{_DIGITS}d}"
