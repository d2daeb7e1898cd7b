"""What released records say about X: its distribution, and means of scores, with intervals that know the noise.

The outputs of n records are a draw from P_Y = P(Y|X) P_X. The weighted inverse of P(Y|X) takes their shares back without bias,
with the multinomial's variance (`bounded` makes intervals of that). What no output tells apart (P(Y|X) has dependent columns) cannot be
estimated, and what the outputs hardly tell apart (they nearly are) has an inverse that says nothing: then the range that is left by
all P_Y that the records allow is told instead, and which values are concerned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import betaincinv, ndtri

from alphalift.arrays import Array, Rows, dense, is_sparse
from alphalift.errors import InputError, SettingError
from alphalift.mechanism import Mechanism
from alphalift.population.bounded import Found, intervals

if TYPE_CHECKING:
    import pandas as pd

    from alphalift.population.left_open import LeftOpen

# EM ends when no share moves by more, or after so many multiplications and rounds.
_SETTLED, _MOST_WORK, _MOST_ROUNDS = 1e-8, 1e9, 10_000
# Singular values of P(Y|X) below this share of the largest one are zeros, and so are parts of a score outside of its rows.
_RANK, _OUTSIDE = 1e-9, 1e-7
# An interval from the inverse that would be longer than this share of what is possible says too little: the range is told.
_LONGEST = 1.0


@dataclass(frozen=True)
class Interval:
    """An estimate with its interval; without an estimate, `low` and `high` are the range that the records leave open."""

    estimate: float | None
    low: float
    high: float

    @property
    def told(self) -> bool:
        return self.estimate is not None


@dataclass(frozen=True, eq=False)
class Estimate:
    """P_X as n released records tell it: `p_x` makes them likeliest; `shares` has an interval for every value.

    It is that of the population which the records are a random sample of. `law` is P(y|x), and `rounding` the variance that
    rounding gave its entries, (|Y|, |X|), where it was told in few digits.
    """

    values: tuple[str, ...]
    law: Array
    counts: Array
    confidence: float
    rounding: Array | None = None

    @cached_property
    def p_x(self) -> Array:
        return estimated_p_x(self.law, self.counts)

    @property
    def _records(self) -> float:
        return float(self.counts.sum())

    @cached_property
    def _inverse(self) -> Array:
        """(|X|, |Y|): the inverse with the least variance, where the outputs are as common as `p_x` makes them.

        Where no output could be spared, there is but one.
        """
        if len(self.values) - len(self._unseen) == len(self.counts):
            return np.asarray(np.linalg.pinv(self.law, rcond=_RANK))
        weights = 1 / np.maximum(self.law @ self.p_x, 1 / self._records)
        scaled = np.sqrt(weights)[:, None] * self.law
        return np.asarray(np.linalg.pinv(scaled, rcond=_RANK) * np.sqrt(weights))

    @cached_property
    def _unseen(self) -> Array:
        """Directions of P_X that change no output, in rows."""
        _, sizes, axes = np.linalg.svd(self.law)
        rank = int((sizes > _RANK * sizes[0]).sum())
        return axes[rank:]

    def of(self, scores: Sequence[float] | Array) -> Interval:
        """The mean of a score, one number for every value of X; a group's share is the mean of its indicator."""
        score = np.asarray(scores, dtype=np.float64)
        if score.shape != (len(self.values),) or not np.isfinite(score).all():
            raise InputError(f"expected {len(self.values)} finite scores, one for each value of X")
        return self.of_all(score[None])[0]

    def of_all(self, scores: Array) -> list[Interval]:
        """Of rows of scores, each by itself."""
        found = self._found(scores)
        error = float(ndtri((1 + self.confidence) / 2)) * np.sqrt(found.variance)
        told = np.logical_and(self._is_seen(scores), 2 * error <= _LONGEST * (found.most - found.least))
        low, high = intervals(found, self.confidence)
        best = np.clip(found.mean, found.least, found.most)
        return [
            Interval(float(best[i]), float(low[i]), float(high[i]))
            if told[i]
            else Interval(None, *self._left_open.ends(score))
            for i, score in enumerate(scores)
        ]

    def _is_seen(self, scores: Array) -> Array:
        outside = np.abs(scores @ self._unseen.T).max(axis=1, initial=0.0)
        return np.asarray(outside <= _OUTSIDE * np.maximum(np.abs(scores).max(axis=1), 1e-300))

    def _found(self, scores: Array) -> Found:
        """What the inverse makes of the outputs. A score of X is a mean of one of Y, whose third moment moves its variance."""
        of_outputs, shares = scores @ self._inverse, self.counts / self._records
        mean = of_outputs @ shares
        variance = (of_outputs - mean[:, None]) ** 2 @ shares / self._records
        if self.rounding is not None:
            variance = variance + self._rounded(of_outputs)
        smooth = (self.counts + 0.5) / (self.counts + 0.5).sum()
        apart = of_outputs - (of_outputs @ smooth)[:, None]
        second = np.maximum(apart**2 @ smooth, 1e-300)
        return Found(mean, variance, apart**3 @ smooth / second / self._records, scores.min(axis=1), scores.max(axis=1))

    def _rounded(self, of_outputs: Array) -> Array:
        """The variance of their means that rounded P(y|x) bring: each entry's, and the largest of a column makes up for them all."""
        assert self.rounding is not None
        largest = self.law.argmax(axis=0)
        return np.array(
            [self.p_x**2 @ ((own[:, None] - own[largest]) ** 2 * self.rounding).sum(axis=0) for own in of_outputs]
        )

    @cached_property
    def _likely_p_y(self) -> tuple[Array, Array]:
        """Ends for the probability of every output, all at once: Clopper and Pearson's, with room for rounding."""
        counts, records = self.counts, self._records
        each = (1 - self.confidence) / (2 * len(counts))
        low = np.where(counts > 0, betaincinv(counts, records - counts + 1, each), 0.0)
        high = np.where(counts < records, betaincinv(counts + 1, records - counts, 1 - each), 1.0)
        if self.rounding is None:
            return low, high
        rounded = -ndtri(each) * np.sqrt(self.rounding @ self.p_x**2)
        return low - rounded, high + rounded

    @cached_property
    def _left_open(self) -> LeftOpen:
        from alphalift.population.left_open import LeftOpen

        return LeftOpen(self.law, *self._likely_p_y)

    @cached_property
    def not_told_apart(self) -> tuple[tuple[str, ...], ...]:
        """Groups of values between which mass can move without any output's share changing."""
        size = len(self.values)
        leader = list(range(size))
        for direction in _sparse_rows(self._unseen):
            moved = np.flatnonzero(np.abs(direction) > _OUTSIDE)
            first = min(leader[x] for x in moved)
            joined = {leader[x] for x in moved}
            leader = [first if own in joined else own for own in leader]
        groups = [tuple(self.values[x] for x in range(size) if leader[x] == own) for own in dict.fromkeys(leader)]
        return tuple(group for group in groups if len(group) > 1)

    @cached_property
    def shares(self) -> tuple[Interval, ...]:
        """Of every value, each by itself: with what makes one too large, others are too small, so that several may miss together."""
        return tuple(self.of_all(np.eye(len(self.values))))

    def to_frame(self) -> pd.DataFrame:
        """One row a value: the likeliest share, and its interval; `told` is false where that is a range left open."""
        import pandas as pd

        rows = [
            (value, share, own.low, own.high, own.told)
            for value, share, own in zip(self.values, self.p_x, self.shares, strict=True)
        ]
        return pd.DataFrame(rows, columns=["value", "share", "low", "high", "told"])


def _sparse_rows(directions: Array) -> Array:
    """The same directions with many zeros, by elimination: rows that concern few values."""
    rows = np.array(directions)
    for i in range(len(rows)):
        rest = np.abs(rows[i:])
        row, column = divmod(int(rest.argmax()), rest.shape[1])
        rows[[i, i + row]] = rows[[i + row, i]]
        rows[i] /= rows[i, column]
        others = np.arange(len(rows)) != i
        rows[others] -= np.outer(rows[others, column], rows[i])
    return rows


def estimate(
    released: Mapping[Any, int] | Sequence[int] | Array, mechanism: Mechanism, *, confidence: float = 0.95
) -> Estimate:
    """The distribution of X from how often each output was released: counts in the order of outputs, or by their labels."""
    if not 0 < confidence < 1:
        raise SettingError(f"confidence is {confidence:g}, expected a number between 0 and 1")
    if isinstance(released, Mapping):
        if unknown := set(released) - set(mechanism.y_labels):
            raise InputError(f"{len(unknown)} of the released outputs are not outputs of the mechanism")
        released = [released.get(label, 0) for label in mechanism.y_labels]
    counts = np.asarray(released, dtype=np.float64)
    if counts.shape != (len(mechanism.y_labels),) or not (counts >= 0).all() or not counts.sum() > 0:
        raise InputError(f"expected counts of {len(mechanism.y_labels)} outputs, none below 0 and some above")
    return Estimate(mechanism.joint.x_labels, dense(mechanism.law), counts, confidence)


def estimated_p_x(p_y_given_x: Rows, counts: Array) -> Array:
    """P_X that makes these counts of outputs likeliest: by inversion where that gives shares, else by EM from equal ones.

    A large and sparse matrix is not inverted.
    """
    size = p_y_given_x.shape[1]
    p_x = np.full(size, 1 / size)
    shares = counts / max(counts.sum(), 1.0)
    if not is_sparse(p_y_given_x):
        inverted, _, rank, _ = np.linalg.lstsq(p_y_given_x, shares, rcond=_RANK)
        if rank == size == len(shares) and inverted.min() >= 0 and shares.any():
            return np.asarray(inverted / inverted.sum())  # the outputs are just as common as this makes them
    for _ in range(min(_MOST_ROUNDS, int(_MOST_WORK // p_y_given_x.size) + 1)):
        p_y = p_y_given_x @ p_x
        ratio = np.divide(shares, p_y, out=np.zeros_like(p_y), where=p_y > 0)
        better = p_x * (p_y_given_x.T @ ratio)
        total = better.sum()
        if not total:  # no rows
            return p_x
        better /= total
        moved, p_x = float(np.abs(better - p_x).max()), better
        if moved < _SETTLED:
            break
    return p_x
