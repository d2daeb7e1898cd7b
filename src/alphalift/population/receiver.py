"""What released records say about X: its distribution, and means of scores, with intervals that know the noise.

The outputs of n records are a draw from P_Y = P(Y|X) P_X. The weighted inverse of P(Y|X) takes their shares back without bias,
with the multinomial's covariance. What no output tells apart (P(Y|X) has dependent columns) cannot be estimated: then the
range that is left is told instead, and which values are concerned.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from alphalift.arrays import Array, Rows, dense, is_sparse
from alphalift.errors import InputError, SettingError
from alphalift.mechanism import Mechanism

if TYPE_CHECKING:
    import pandas as pd

# EM ends when no share moves by more, or after so many multiplications and rounds.
_SETTLED, _MOST_WORK, _MOST_ROUNDS = 1e-8, 1e9, 10_000
# Singular values of P(Y|X) below this share of the largest one are zeros, and so are parts of a score outside of its rows.
_RANK, _OUTSIDE = 1e-9, 1e-7


@dataclass(frozen=True)
class Interval:
    """An estimate with its interval; without an estimate, `low` and `high` are the range that the outputs leave open."""

    estimate: float | None
    low: float
    high: float

    @property
    def told(self) -> bool:
        return self.estimate is not None


@dataclass(frozen=True, eq=False)
class Estimate:
    """P_X as n released records tell it: `p_x` makes them likeliest; `shares` has an interval for every value."""

    values: tuple[str, ...]
    law: Array
    counts: Array
    confidence: float

    @cached_property
    def p_x(self) -> Array:
        return estimated_p_x(self.law, self.counts)

    @cached_property
    def _inverse(self) -> Array:
        """(|X|, |Y|): the inverse with the least variance, where the outputs are as common as `p_x` makes them."""
        weights = 1 / np.maximum(self.law @ self.p_x, 1 / self.counts.sum())
        scaled = np.sqrt(weights)[:, None] * self.law
        return np.asarray(np.linalg.pinv(scaled, rcond=_RANK) * np.sqrt(weights))

    @cached_property
    def _covariance(self) -> Array:
        p_y = self.law @ self.p_x
        spread = self._inverse * np.sqrt(p_y)
        mean = self._inverse @ p_y
        return np.asarray((spread @ spread.T - np.outer(mean, mean)) / self.counts.sum())

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
        if len(self._unseen) and np.abs(self._unseen @ score).max() > _OUTSIDE * max(np.abs(score).max(), 1e-300):
            return Interval(None, *self._range(score))
        found = float(score @ (self._inverse @ (self.counts / self.counts.sum())))
        error = float(ndtri((1 + self.confidence) / 2)) * math.sqrt(max(float(score @ self._covariance @ score), 0.0))
        least, most = float(score.min()), float(score.max())
        return Interval(min(max(found, least), most), max(found - error, least), min(found + error, most))

    def _range(self, score: Array) -> tuple[float, float]:
        """The least and the largest mean among the distributions that make the outputs as common as `p_x` does."""
        from scipy.optimize import linprog

        rows = np.vstack([self.law, np.ones(len(score))])
        side = rows @ self.p_x
        ends = [linprog(sign * score, A_eq=rows, b_eq=side, method="highs") for sign in (1, -1)]
        least, most = (
            sign * float(end.fun) if end.status == 0 else float(sign * (sign * score).min())
            for sign, end in zip((1, -1), ends, strict=True)
        )
        return least, most

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

    def to_frame(self) -> pd.DataFrame:
        """One row a value: the likeliest share, and its interval; `told` is false where that is a range left open."""
        import pandas as pd

        rows = []
        for x, value in enumerate(self.values):
            own = self.of(np.eye(len(self.values))[x])
            rows.append((value, self.p_x[x], own.low, own.high, own.told))
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
