"""Bins: the numbers of a column as a few intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa

from alphalift.errors import TableError
from alphalift.lazily import Later
from alphalift.tables.columns import decoded

pc = Later("pyarrow.compute")

# The bin of a cell that is no number; no bin has this name, and none is released.
NO_NUMBER = "(no number)"
NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"


def bin_edges(column: str, edges: Sequence[float]) -> list[float]:
    """The edges as floats, which must be finite and rise."""
    try:
        numbers = [float(edge) for edge in edges]
    except (TypeError, ValueError):
        raise TableError(f"the bins of column {column!r} are not numbers") from None
    rising = all(low < high for low, high in pairwise(numbers))
    if not numbers or not rising or not all(map(math.isfinite, numbers)):
        raise TableError(f"the bins of column {column!r} must be one or more finite numbers that rise")
    return numbers


def bin_labels(edges: Sequence[float]) -> list[str]:
    """The bins' names, in rising order: for edges 18 and 30 "<18", "18 to <30", ">=30"."""
    texts = [str(int(edge)) if float(edge).is_integer() else repr(float(edge)) for edge in edges]
    between = [f"{low} to <{high}" for low, high in pairwise(texts)]
    return [f"<{texts[0]}", *between, f">={texts[-1]}"]


def binned(column: pa.Array, edges: Sequence[float]) -> pa.DictionaryArray:
    """The bin of every cell as dictionary-encoded text, null where it is missing.

    Text is a number if it is written in decimal digits, with sign, point and exponent as they may be, and blanks
    around. Numbers are compared as floats. A cell that is no number has a bin of its own, which callers refuse.
    """
    column, bad = decoded(column), None
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type) or pa.types.is_decimal(column.type)):
        texts = pc.utf8_trim_whitespace(column.cast(pa.string()))
        numeric = pc.match_substring_regex(texts, NUMBER)
        bad = pc.fill_null(pc.invert(numeric), False).to_numpy(zero_copy_only=False)
        column = pc.if_else(numeric, texts, None)
    values = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    numbers, missing = np.searchsorted(edges, values, side="right").astype(np.int32), np.isnan(values)
    if bad is not None:
        numbers[bad], missing[bad] = len(edges) + 1, False
    return pa.DictionaryArray.from_arrays(
        pa.array(numbers, mask=missing), pa.array([*bin_labels(edges), NO_NUMBER], pa.string())
    )


def numbers_binned(column: pa.Array, edges: Sequence[float], name: str) -> pa.DictionaryArray:
    """The bin of every cell, all of which must be numbers or missing."""
    bins = binned(column, edges)
    require_numbers(pc.sum(pc.equal(bins.indices, len(edges) + 1)).as_py() or 0, f"column {name!r}")
    return bins


def require_numbers(bad: int, where: str) -> None:
    if bad:
        raise TableError(f"{where} has bins, but {bad} of its cells are no numbers")


@dataclass(frozen=True)
class Reading:
    """A column as it is, or with edges its bins."""

    column: str
    edges: tuple[float, ...] | None = None

    def __call__(self, batch: pa.RecordBatch) -> pa.Array:
        column = batch.column(self.column)
        return column if self.edges is None else binned(column, self.edges)


@dataclass(frozen=True)
class Readings:
    """A change of batches: one column, called by its place, for every reading; plain values that can be sent elsewhere."""

    readings: tuple[Reading, ...]

    @property
    def names(self) -> list[str]:
        return [f"r{i}" for i in range(len(self.readings))]

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        return pa.record_batch([reading(batch) for reading in self.readings], self.names)
