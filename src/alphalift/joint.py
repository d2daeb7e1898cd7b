"""Joint: the labelled distribution of a sensitive S and a useful X, exact and validated once."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from alphalift.arrays import Array, read_only
from alphalift.errors import JointError
from alphalift.exact import exact
from alphalift.shown import Shown

# Probabilities typed by hand or divided in floats sum to one only nearly; what is farther off is a mistake.
_SUM_TOLERANCE = Fraction(1, 10**6)


# Edges of bins by column, as pairs, so that they can be compared and hashed.
Bins = tuple[tuple[str, tuple[float, ...]], ...]


@dataclass(frozen=True)
class Variable:
    """A column of a table, or several as one, as symbols: its columns, the bins of their numbers, its labels in order."""

    columns: tuple[str, ...]
    labels: tuple[str, ...]
    bins: Bins = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "bins", tuple(sorted(self.bins)))  # whose order means nothing


@dataclass(frozen=True)
class Origin:
    """Which columns a joint was counted from; `declared` are those whose values were declared and not read from the table."""

    sensitive: tuple[str, ...]
    useful: tuple[str, ...]
    bins: Bins = ()
    declared: tuple[str, ...] = ()


@dataclass(frozen=True)
class Beside:
    """How other columns go with S and X: (s, x, z1, ..., zk, how often) for every combination of numbers that occurs.

    The number |Z| stands for any value outside of a variable's labels.
    """

    variables: tuple[Variable, ...]
    cells: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, init=False)
class Joint(Shown):
    """P_SX as |S| x |X| positive integer weights over a common total, with a label for every symbol.

    `Joint(p_sx)` takes probabilities (int, float, Decimal, Fraction or str; a float means its shortest
    decimal) and normalises them exactly; `Joint(table, counts=True)` takes integer counts and keeps them,
    with their number `n`. A data frame brings its index and columns as labels.

    Symbols without mass are remembered in `s_without_mass` and `x_without_mass` and left out of every
    array, so each row and column of `weights` has mass and `s_labels`, `x_labels` name them in order.
    """

    weights: tuple[tuple[int, ...], ...]
    s_labels: tuple[str, ...]
    x_labels: tuple[str, ...]
    s_without_mass: tuple[str, ...]
    x_without_mass: tuple[str, ...]
    n: int | None
    origin: Origin | None = field(compare=False)
    beside: Beside | None = field(compare=False)

    def __init__(
        self,
        p_sx: Any,
        s_labels: Iterable[object] | None = None,
        x_labels: Iterable[object] | None = None,
        *,
        counts: bool = False,
        origin: Origin | None = None,
        beside: Beside | None = None,
    ) -> None:
        if hasattr(p_sx, "index") and hasattr(p_sx, "columns"):
            s_labels = list(p_sx.index) if s_labels is None else s_labels
            x_labels = list(p_sx.columns) if x_labels is None else x_labels
            p_sx = p_sx.to_numpy()
        weights = _integer_weights(_rows(p_sx), counts=counts)
        s_all = _labels(s_labels, len(weights), "s")
        x_all = _labels(x_labels, len(weights[0]), "x")
        s_mass = [sum(row) > 0 for row in weights]
        x_mass = [sum(column) > 0 for column in zip(*weights, strict=True)]
        kept = tuple(_pick(row, x_mass) for row in _pick(weights, s_mass))
        self._fill(
            weights=kept,
            s_labels=_pick(s_all, s_mass),
            x_labels=_pick(x_all, x_mass),
            s_without_mass=_pick(s_all, [not m for m in s_mass]),
            x_without_mass=_pick(x_all, [not m for m in x_mass]),
            n=sum(map(sum, kept)) if counts else None,
            origin=origin,
            beside=beside,
        )

    @property
    def useful(self) -> Variable:
        """X as a variable of the table that it came from; without columns where it came from none."""
        if self.origin is None:
            return Variable((), self.x_labels)
        bins = tuple((column, edges) for column, edges in self.origin.bins if column in self.origin.useful)
        return Variable(self.origin.useful, self.x_labels, bins)

    def __repr__(self) -> str:
        source = "probabilities" if self.n is None else f"{self.n} records"
        return f"Joint({len(self.s_labels)} x {len(self.x_labels)}, from {source})"

    @cached_property
    def total(self) -> int:
        """The common denominator: P_SX(s, x) = weights[s][x] / total."""
        return sum(map(sum, self.weights))

    @cached_property
    def s_weights(self) -> tuple[int, ...]:
        """Numerators of P_S over `total`."""
        return tuple(sum(row) for row in self.weights)

    @cached_property
    def x_weights(self) -> tuple[int, ...]:
        """Numerators of P_X over `total`."""
        return tuple(sum(column) for column in zip(*self.weights, strict=True))

    @cached_property
    def p_sx(self) -> Array:
        """P_SX, (|S|, |X|), each entry the float nearest to the exact value."""
        return read_only(np.array([[w / self.total for w in row] for row in self.weights]))

    @cached_property
    def p_s(self) -> Array:
        """P_S, (|S|,)."""
        return read_only(np.array([w / self.total for w in self.s_weights]))

    @cached_property
    def p_x(self) -> Array:
        """P_X, (|X|,)."""
        return read_only(np.array([w / self.total for w in self.x_weights]))

    @cached_property
    def p_s_given_x(self) -> Array:
        """P_{S|X}, (|S|, |X|), columns sum to one."""
        return read_only(np.array([[w / m for w, m in zip(row, self.x_weights, strict=True)] for row in self.weights]))

    @cached_property
    def lift(self) -> Array:
        """l(s, x) = P(s|x) / P_S(s), (|S|, |X|)."""
        return read_only(self._over_independent(lambda weight, independent: weight * self.total, 0.0))

    @cached_property
    def about_x(self) -> Joint:
        """The joint of X with itself: X as its own secret, for promises about X."""
        masses = self.x_weights
        beside = None
        if self.beside is not None:
            cells: Counter[tuple[int, ...]] = Counter()
            for _, x, *rest, count in self.beside.cells:
                cells[x, x, *rest] += count
            beside = replace(self.beside, cells=tuple((*key, count) for key, count in cells.items()))
        # Integers already, and every symbol has mass: what the constructor would check and shorten is known.
        shared = 1 if self.n is not None else math.gcd(*masses)
        zeros = (0,) * len(masses)
        joint = object.__new__(Joint)
        joint._fill(
            weights=tuple((*zeros[:x], mass // shared, *zeros[x + 1 :]) for x, mass in enumerate(masses)),
            s_labels=self.x_labels,
            x_labels=self.x_labels,
            s_without_mass=(),
            x_without_mass=(),
            n=self.n,
            origin=self.origin,
            beside=beside,
        )
        return joint

    def _fill(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def is_about_x(self) -> bool:
        """Whether it is the joint of X with itself, as `about_x` makes it."""
        return self.s_labels == self.x_labels and all(
            (weight > 0) == (s == x) for s, row in enumerate(self.weights) for x, weight in enumerate(row)
        )

    @cached_property
    def lift_deviation(self) -> Array:
        """l(s, x) - 1, rounded once: it keeps its digits where S and X are nearly independent."""
        return read_only(self._over_independent(lambda weight, independent: weight * self.total - independent, -1.0))

    def _over_independent(self, numerator: Callable[[int, int], int], empty: float) -> Array:
        """numerator(weight, independent) / independent in every cell, independent = s_weight * x_weight; `empty` if no weight."""
        return np.array(
            [
                [numerator(w, ws * wx) / (ws * wx) if w else empty for w, wx in zip(row, self.x_weights, strict=True)]
                for row, ws in zip(self.weights, self.s_weights, strict=True)
            ]
        )


def _rows(table: Any) -> list[list[object]]:
    """The table as equally long, non-empty rows."""
    try:
        rows = [list(row) for row in (table.tolist() if isinstance(table, np.ndarray) else table)]
    except TypeError:
        raise JointError(
            "a joint is a table: rows are the values of S, columns those of X; this has fewer than 2 dimensions"
        ) from None
    lengths = sorted({len(row) for row in rows})
    if not rows or lengths == [0]:
        raise JointError("the joint is empty; at least one row (S) and one column (X) are needed")
    if len(lengths) > 1:
        raise JointError(f"the rows of the joint have {lengths[0]} to {lengths[-1]} entries; expected equally many")
    return rows


def _integer_weights(rows: list[list[object]], *, counts: bool) -> list[list[int]]:
    """Exact integer numerators of all cells over one denominator."""
    cells = [[_cell(value, s, x) for x, value in enumerate(row)] for s, row in enumerate(rows)]
    total = sum(map(sum, cells), Fraction(0))
    if total == 0:
        raise JointError("the joint has no mass: every cell is zero")
    denominator = math.lcm(*(cell.denominator for row in cells for cell in row))
    if counts and denominator != 1:
        raise JointError("counts must be whole numbers; leave out counts=True if these are probabilities")
    if not counts and abs(total - 1) > _SUM_TOLERANCE:
        raise JointError(f"p_sx sums to {float(total):.6g}, expected 1; pass counts=True if these are counts")
    weights = [[int(cell * denominator) for cell in row] for row in cells]
    # Probabilities are only a ratio, so shorten them; counts are kept as they were counted.
    shared = 1 if counts else math.gcd(*(w for row in weights for w in row))
    return [[w // shared for w in row] for row in weights]


def _cell(value: object, s: int, x: int) -> Fraction:
    try:
        number = exact(value)
    except ValueError as error:
        raise JointError(f"the joint's cell in row {s}, column {x} is {error}") from None
    if number < 0:
        raise JointError(f"the joint's cell in row {s}, column {x} is negative")
    return number


def _labels(labels: Iterable[object] | None, size: int, letter: str) -> tuple[str, ...]:
    if labels is None:
        return tuple(f"{letter}{i}" for i in range(size))
    names = tuple(str(label) for label in labels)
    if len(names) != size:
        raise JointError(f"{len(names)} labels for {size} symbols of {letter.upper()}; expected one for each")
    if len(set(names)) != size:
        raise JointError(f"the labels of {letter.upper()} repeat; every symbol needs a label of its own")
    return names


def _pick(items: Sequence[Any], mask: list[bool]) -> tuple[Any, ...]:
    return tuple(item for item, keep in zip(items, mask, strict=True) if keep)


def require_joint(given: object) -> Joint:
    """The joint, or an error that says how a table becomes one."""
    if isinstance(given, Joint):
        return given
    raise JointError(
        f"expected a Joint, not {type(given).__name__}: a table is counted by read_joint(table, sensitive=..., useful=...), and numbers "
        "are Joint(p_sx), or Joint(counts, counts=True)"
    )
