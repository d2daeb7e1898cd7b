"""Presolve, and its way back: symbols that say the same about the secret become one type, exactly.

Symbols x with equal columns P(S|x) merge without loss, and so do secrets with proportional rows ("Types" in
docs/theory.md): a mechanism of types is worth H(X) - H(T) more once it is split over the symbols.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from alphalift.arrays import Array
from alphalift.errors import InputError
from alphalift.joint import Joint

Numbers = NDArray[np.int64]

# Two cuts of a column that are nearer to each other, as shares of it, are one: what lies between is rounding.
_ONE_PLACE = 1e-14


@dataclass(frozen=True, eq=False)
class Merged:
    """A joint, and the joint of its types: `types` has the type of every symbol, `groups` the merged secret of every secret.

    Both are numbered in the order of their first occurrence, and have the labels of that.
    """

    original: Joint
    joint: Joint
    types: Numbers
    groups: Numbers

    @classmethod
    def of(cls, joint: Joint) -> Merged:
        """The joint with what is proportional in its integer weights added up; itself if nothing is."""
        types, groups = _alike(zip(*joint.weights, strict=True)), _alike(joint.weights)
        s_labels, x_labels = _first_labels(joint.s_labels, groups), _first_labels(joint.x_labels, types)
        if len(types) == len(x_labels) and len(groups) == len(s_labels):
            return cls(joint, joint, types, groups)
        cells = [[0] * len(x_labels) for _ in s_labels]
        for row, group in zip(joint.weights, groups.tolist(), strict=True):
            for weight, kind in zip(row, types.tolist(), strict=True):
                cells[group][kind] += weight
        return cls(joint, Joint(cells, s_labels, x_labels, counts=True), types, groups)

    @cached_property
    def gain(self) -> float:
        """H(X) - H(T) = H(X|T), in nats: what symbols tell beyond their types, which no promise forbids."""
        p_x = self.original.p_x
        return math.fsum(-p_x * np.log(p_x / self.joint.p_x[self.types]))  # to rounding: bounds are shown with it

    def posteriors(self, points: Array) -> Array:
        """What posteriors of symbols, (count, |X|), say about types, (count, |T|)."""
        of_types = csr_array((np.ones(len(self.types)), self.types, np.arange(len(self.types) + 1)))
        return np.asarray(points @ of_types)

    def split(self, columns: csr_array, masses: Array) -> tuple[csr_array, Array]:
        """From columns over types, (count, |T|), whose mean is P_T, to columns over symbols with the mean P_X; and masses.

        Each column is cut where the symbol of one of its types changes: a piece has the column's posterior of types and one
        symbol of each, so the same lifts and the same h. There are at most count + |X| - |T| pieces.
        """
        columns = csr_array(columns, copy=True)
        columns.sum_duplicates()
        columns.eliminate_zeros()
        if len(np.unique(columns.indices)) < columns.shape[1]:
            raise InputError("the columns do not mix to the distribution of types: one of these is in none of them")
        entries = _Segments.of(columns, masses, self.types, self.original.p_x)
        pieces = entries.pieces(_ONE_PLACE)
        if len(np.unique(pieces.symbol)) < len(self.types):  # a symbol so rare that all of it lies in one place
            pieces = entries.pieces(0.0)
        shape = len(pieces.column), len(self.types)
        split = coo_array((columns.data[pieces.entry], (pieces.row, pieces.symbol)), shape=shape).tocsr()
        return split, np.asarray(masses[pieces.column] * pieces.width)


class _Pieces(NamedTuple):
    """Columns cut in pieces: of every piece its column and width; of every entry of a piece its row, symbol and entry before."""

    column: Numbers
    width: Array
    row: Numbers
    symbol: Numbers
    entry: Numbers


@dataclass(frozen=True, eq=False)
class _Segments:
    """What the entries of columns have of which symbol: up to the share `end` of the column, by entry and rising."""

    column: Numbers
    entry: Numbers
    symbol: Numbers
    end: Array

    @classmethod
    def of(cls, columns: csr_array, masses: Array, types: Numbers, p_x: Array) -> _Segments:
        """Entries of a type lie one after the other on its mass, and so do its symbols; segments are between the ends of both.

        The rarest symbols come first, where floats are finest.
        """
        column = np.repeat(np.arange(columns.shape[0]), np.diff(columns.indptr))
        entries, symbols = np.lexsort((column, columns.indices)), np.lexsort((p_x, types))
        entry_type, symbol_type = columns.indices[entries], types[symbols]
        first, last = _along((masses[column] * columns.data)[entries], entry_type)
        _, symbol_last = _along(p_x[symbols], symbol_type)
        ends, is_entry = np.concatenate([last, symbol_last]), np.arange(len(last) + len(symbols)) < len(last)
        kinds = np.concatenate([entry_type, symbol_type])
        order = np.lexsort((~is_entry, ends, kinds))
        ends, is_entry = ends[order], is_entry[order]
        # Every type ends with an entry and a symbol, so the numbers of those that have ended say which ones are going on.
        entry: Numbers = np.cumsum(is_entry) - is_entry
        symbol: Numbers = np.cumsum(~is_entry) - ~is_entry
        kept = is_entry | np.append(True, (np.diff(ends) > 0) | (np.diff(kinds[order]) > 0))  # symbols that end within
        entry, symbol, ends, is_entry = entry[kept], symbol[kept], ends[kept], is_entry[kept]
        width = last[entry] - first[entry]
        share = np.divide(ends - first[entry], width, out=np.ones_like(width), where=~is_entry)
        own, by_entry = entries[entry], np.argsort(entries[entry], kind="stable")
        return cls(column[own][by_entry], own[by_entry], symbols[symbol][by_entry], share[by_entry])

    def pieces(self, apart: float) -> _Pieces:
        """The columns cut at all ends, where ends that are not this far apart are one."""
        order = np.lexsort((self.end, self.column))
        column, end = self.column[order], self.end[order]
        last = np.append((np.diff(end) > apart) | (np.diff(column) > 0), True)
        number = np.empty(len(order), np.int64)
        number[order] = np.cumsum(last) - last
        column, end = column[last], end[last]
        begins = np.append(True, np.diff(column) > 0)
        width = np.where(begins, end, end - np.append(0.0, end[:-1]))
        # A segment covers the pieces after that which the entry's segment before it ended with.
        starts = np.append(True, np.diff(self.entry) > 0)
        before = np.where(starts, np.flatnonzero(begins)[self.column] - 1, np.append(-1, number[:-1]))
        count = number - before
        chosen = np.repeat(np.arange(len(number)), count)
        row = before[chosen] + 1 + np.arange(len(chosen)) - np.repeat(np.cumsum(count) - count, count)
        return _Pieces(column, width, row, self.symbol[chosen], self.entry[chosen])


def _along(masses: Array, kinds: Numbers) -> tuple[Array, Array]:
    """From where to where each mass reaches among those of its kind, as shares of their sum; kinds rise, and none is missing."""
    starts = np.flatnonzero(np.append(True, np.diff(kinds) > 0))
    finals = np.append(starts[1:], len(masses)) - 1
    sums = np.concatenate([np.cumsum(own) / own.sum() for own in np.split(masses, starts[1:])])
    last = np.minimum(sums, 1.0)
    last[finals] = 1.0
    first = np.append(0.0, last[:-1])
    first[starts] = 0.0
    return first, last


def _alike(rows: Iterable[Sequence[int]]) -> Numbers:
    """The number of every row among those that are not proportional to one before, in the order of their first occurrence."""
    numbers: dict[tuple[int, ...], int] = {}
    found = []
    for row in rows:
        divisor = math.gcd(*row)
        found.append(numbers.setdefault(tuple(weight // divisor for weight in row), len(numbers)))
    return np.array(found, np.int64)


def _first_labels(labels: Sequence[str], numbers: Numbers) -> list[str]:
    """The label of the first of every number."""
    return [labels[place] for place in np.unique(numbers, return_index=True)[1].tolist()]
