"""Bins that are chosen from the table: about as many records in each. Their edges tell something about the records."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from alphalift.errors import TableError
from alphalift.lazily import Later
from alphalift.tables.bins import NUMBER, require_numbers
from alphalift.tables.opening import open_table

pc = Later("pyarrow.compute")
pa = Later("pyarrow")

_MOST = 100
# Steps of round numbers within a power of ten.
_ROUND = (5.0, 2.0, 1.0)


@dataclass(frozen=True)
class Quantiles:
    """In place of edges: so many bins with about as many records in each, at round numbers."""

    count: int

    def __post_init__(self) -> None:
        if not isinstance(self.count, int) or not 2 <= self.count <= _MOST:
            raise TableError(f"quantiles are 2 to {_MOST} bins, not {self.count!r:.40}")

    def edges(self, table: Any, column: str) -> list[float]:
        """Between the values of the column, rounded to the coarsest round step that keeps them apart: they disclose that much."""
        values, sizes = _numbers(table, column)
        below = np.cumsum(sizes) - sizes  # records below each value
        wanted = sizes.sum() * np.arange(1, self.count) / self.count
        places = [int(np.abs(below - own).argmin()) for own in wanted]
        exact = values[sorted({place for place in places if below[place] > 0})]
        if not len(exact):
            raise TableError(f"column {column!r} has too few different numbers for bins; release it as it is")
        return _rounded(exact)


def _numbers(table: Any, column: str) -> tuple[Any, Any]:
    """The different numbers of a column in order, and how many records have each; missing ones are left out."""
    source = open_table(table, columns=[column])
    counted = source.count([column])
    texts, sizes = counted.column(0), counted.column(1).to_numpy()
    given = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
    if (
        not pa.types.is_integer(given.type)
        and not pa.types.is_floating(given.type)
        and not pa.types.is_decimal(given.type)
    ):
        trimmed = pc.utf8_trim_whitespace(given.cast(pa.string()))
        numeric = pc.fill_null(pc.match_substring_regex(trimmed, NUMBER), True)
        require_numbers(
            int(sizes[~np.array(numeric.to_pylist(), dtype=bool)].sum()), f"{source.name}: column {column!r}"
        )
        given = trimmed
    found = np.array([math.nan if value is None else float(value) for value in given.to_pylist()])
    known = np.isfinite(found)
    values, owners = np.unique(found[known], return_inverse=True)
    return values, np.bincount(owners, sizes[known], len(values))


def _rounded(edges: Any) -> list[float]:
    """Edges at multiples of a round step that is at most half as wide as the narrowest bin."""
    numbers = edges.tolist()
    narrow = min((high - low for low, high in pairwise(numbers)), default=abs(numbers[0]) or 1.0) / 2
    power = math.floor(math.log10(narrow))
    step = next(step * 10.0**power for step in _ROUND if step * 10.0**power <= narrow * (1 + 1e-9))
    # Decimal digits of the step, so that an edge is the number that it looks like.
    return [round(round(number / step) * step, max(0, -power)) for number in numbers]
