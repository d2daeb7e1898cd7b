"""Branch and bound for `separable`: cells are split at a place of one symbol, or by how many of a group lie beyond one.

Symbols of a group are alike, so that which of them lies beyond a place does not matter, and how many does.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field
from itertools import count

import numpy as np
from numpy.typing import NDArray

from alphalift.arrays import Array
from alphalift.geometry.separable import Cell, Terms, compiled_maximise

# Places are multiples of 1 over this.
_GRID = 2.0**30
# A place stays this far from both ends of its side, as a share of it.
_OFF_END = 0.05
# Candidates that cost at most this more are as good as the best.
_TIE = 1e-6
# A cell misses every l by more than this before it is called empty: more than a file's grid moves its ends.
_EMPTY = 1e-7
# Places of counts nearer than this are one.
_SAME_PLACE = 1e-3
# Sides and counts below these are not split any more.
_LEAST_SIDE = 1e-9
# How far the multipliers of a cell may lie from those of the cell that it is a part of; at the root, from 0.
_ROOT_RADIUS, _RADIUS, _COUNT_RADIUS = 50.0, 3.0, 2.0


@dataclass(frozen=True)
class Count:
    """least <= (how many l_x of the group lie at `place` or beyond) <= most; at the place itself, either may be said."""

    group: int
    place: float
    least: int
    most: int


@dataclass(frozen=True)
class Split:
    """l[symbol] below or above the place; or, of a group, at most `most` beyond it, or more."""

    place: float
    symbol: int | None = None
    group: int | None = None
    most: int = 0

    def __post_init__(self) -> None:
        # On a grid that files have too: what coincides in one must coincide in the other.
        object.__setattr__(self, "place", round(self.place * _GRID) / _GRID)


@dataclass(eq=False)
class Node:
    """A cell with its bound, multipliers y and candidates; once it is split, the two parts."""

    low: Array
    high: Array
    counts: tuple[Count, ...]
    y: Array
    bound: float = -math.inf
    places: Array = field(default_factory=lambda: np.empty((3, 0)))
    split: Split | None = None
    parts: tuple[Node, ...] = ()


class SeparableSearch:
    """Best-first: the node with the least bound is split; nodes whose bound reaches the threshold stay closed."""

    def __init__(self, terms: Terms, low: Array, high: Array, groups: list[NDArray[np.intp]], threshold: float) -> None:
        self.terms, self.groups, self.threshold = terms, groups, threshold
        # Splits of groups to try first: those that tell good l from others.
        self.hints: list[Split] = []
        self._member = np.zeros((len(groups), len(low)))
        for number, group in enumerate(groups):
            self._member[number, group] = 1.0
        self._group_of = self._member.argmax(axis=0)
        self.root = Node(low, high, (), np.zeros(1 + len(terms.kinds)))
        self._solve(self.root, _ROOT_RADIUS, math.inf)
        self._order = count()
        self._least_closed = self.root.bound if self.root.bound >= threshold else math.inf
        self._open = [(self.root.bound, next(self._order), self.root)] if self.root.bound < threshold else []
        self.nodes = 1

    @property
    def finished(self) -> bool:
        return not self._open

    @property
    def lower_bound(self) -> float:
        """No l has a value below this."""
        return min(self._least_closed, self._open[0][0]) if self._open else self._least_closed

    def grow(self) -> list[Node]:
        """Split the node with the least bound; its parts that are still open. The node itself where it cannot be split."""
        node = self._open[0][2]
        split = self._split_of(node)
        if split is None:
            return [node]
        heapq.heappop(self._open)
        parts = self._parts(node, split)
        for part in parts:
            self._solve(part, _RADIUS, self.threshold)
        node.split, node.parts = split, parts
        self.nodes += 2
        left = [part for part in parts if part.bound < self.threshold]
        self._least_closed = min([self._least_closed, *(part.bound for part in parts if part not in left)])
        for part in left:
            heapq.heappush(self._open, (part.bound, next(self._order), part))
        return left

    def _solve(self, node: Node, radius: float, enough: float) -> None:
        counts, size = node.counts, len(self.terms.p)
        cell = Cell(
            node.low,
            node.high,
            self._member,
            np.array([own.group for own in counts], np.int64),
            np.array([own.place for own in counts]),
            np.array([float(own.least) for own in counts]),
            np.array([float(own.most) for own in counts]),
        )
        node.places = np.empty((3, size))
        if self._empty(node):
            node.bound = math.inf
            return
        constraints = len(self.terms.kinds)
        # What is gained beyond a place is of the size of p l log l.
        sizes = self.terms.p * np.maximum(node.high, 1.0) * (1 + np.log(np.maximum(node.high, 1.0)))
        of_counts = [_COUNT_RADIUS * float(sizes[self.groups[own.group]].max()) for own in counts]
        radii = np.concatenate([np.full(1 + constraints, radius), of_counts])
        node.bound, node.y = compiled_maximise()(self.terms, cell, node.y, radii, enough, node.places)

    def _empty(self, node: Node) -> bool:
        """Whether the ends and counts contradict each other plainly."""
        if (node.low > node.high).any() or any(own.least > own.most for own in node.counts):
            return True
        return self.terms.ray == 0 and bool(
            self.terms.p @ node.high < 1 - _EMPTY or self.terms.p @ node.low > 1 + _EMPTY
        )

    def _split_of(self, node: Node) -> Split | None:
        """At the symbol with the cheapest second candidate: where the mass that is left would put it."""
        best, other, excess = node.places
        usable = (other >= 0) & (np.abs(best - other) > _LEAST_SIDE)
        if not usable.any():
            return None
        # Of those that cost nothing, what weighs most: a light symbol is always cheap.
        cheap = usable & (excess <= max(_TIE, 2 * float(excess[usable].min())))
        x = int(np.where(cheap, self.terms.p * np.abs(best - other), -1.0).argmax())
        low, high = sorted((float(best[x]), float(other[x])))
        group = int(self._group_of[x])
        alike = self.groups[group]
        same = (node.low[alike] == node.low[x]) & (node.high[alike] == node.high[x])
        p, mass = float(self.terms.p[x]), 1.0
        if self.terms.ray:  # 1 / m, where the bound is attained
            mass = math.exp(node.bound - float(node.y[0]) - 1)
        if len(alike) > 1 and same.all():
            hint = self._hint(node, group)
            if hint is not None:
                return hint
            left = mass - float(np.delete(self.terms.p, alike) @ np.delete(best, alike)) - p * low * len(alike)
            filled = min(max(left / (p * (high - low)), 0.0), len(alike) - _LEAST_SIDE)
            share = min(max(filled - int(filled), _OFF_END), 1 - _OFF_END)
            split = self._count_split(node, group, low + share * (high - low), int(filled))
            if split is not None:
                return split
        left = mass - float(np.delete(self.terms.p, x) @ np.delete(best, x))
        place = low + min(max((left / p - low) / (high - low), 0.1), 0.9) * (high - low)
        return Split(place, symbol=x)

    def _hint(self, node: Node, group: int) -> Split | None:
        """The first hint for the group that is not among the node's counts."""
        known = {(own.group, own.place) for own in node.counts}
        return next((own for own in self.hints if own.group == group and (group, own.place) not in known), None)

    def _count_split(self, node: Node, group: int, place: float, most: int) -> Split | None:
        """At this place, or at one nearby that is counted already; None if the count has no room there."""
        for own in node.counts:
            if own.group == group and abs(own.place - place) < _SAME_PLACE:
                place = own.place
                most = min(max(most, own.least), own.most - 1)
                return Split(place, group=group, most=most) if own.least < own.most else None
        return Split(place, group=group, most=most)

    def _parts(self, node: Node, split: Split) -> tuple[Node, ...]:
        if split.symbol is not None:
            below, above = node.high.copy(), node.low.copy()
            below[split.symbol] = above[split.symbol] = split.place
            return (
                Node(node.low, below, node.counts, node.y.copy()),
                Node(above, node.high, node.counts, node.y.copy()),
            )
        assert split.group is not None
        constraints, size = len(self.terms.kinds), len(self.groups[split.group])
        kept, multipliers, least, most = [], [], 0, size
        for own, multiplier in zip(node.counts, node.y[1 + constraints :], strict=True):
            if (own.group, own.place) == (split.group, split.place):
                least, most = own.least, own.most
            else:
                kept.append(own)
                multipliers.append(float(multiplier))
        at = sum(own.place <= split.place for own in kept)
        y = np.array([*node.y[: 1 + constraints], *multipliers[:at], 0.0, *multipliers[at:]])
        return tuple(
            Node(node.low, node.high, (*kept[:at], own, *kept[at:]), y.copy())
            for own in (
                Count(split.group, split.place, least, split.most),
                Count(split.group, split.place, split.most + 1, most),
            )
        )
