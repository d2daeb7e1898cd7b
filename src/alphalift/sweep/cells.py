"""Finished cells in one form, between processes and on disk: Arrow, every float with all its bits.

What comes from a disk is only as true as whoever could write there: `reliable` tells what can be told from a cell alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.sparse import coo_array

from alphalift.arrays import Array, Rows, supports
from alphalift.errors import InputError
from alphalift.joint import Joint
from alphalift.mechanism import Mechanism
from alphalift.regions import Region
from alphalift.solution import Solution, Status
from alphalift.utilities import Utility

Record = dict[str, Any]

_FIGURES = pa.schema(
    [
        ("utility", pa.float64()),
        ("normalized_utility", pa.float64()),
        ("upper_bound", pa.float64()),
        ("value", pa.float64()),
        ("max_lift_leakage", pa.float64()),
        ("outputs", pa.int64()),
        ("status", pa.string()),
    ]
)
# Another machine's sums differ in their last digits.
_DIFFERENCE = 1e-9
_LAW = pa.schema([("places", pa.list_(pa.int64())), ("p_y_given_x", pa.list_(pa.float64()))])
_SCHEMA = pa.schema([*_FIGURES, *_LAW])


class Cell(NamedTuple):
    """A cell's figures by name and its mechanism: the entries that are not 0, and their places y |X| + x, which rise."""

    figures: Record
    places: NDArray[np.int64]
    p_y_given_x: Array

    def law(self, size: int) -> Rows:
        """P_{Y|X}, (|Y|, |X|), for so many values of X; every output has an entry."""
        outputs, places = self.figures["outputs"], self.places
        good = 0 < outputs <= len(places) == len(self.p_y_given_x) and bool(np.all(np.diff(places) > 0))
        if not (good and 0 <= places[0] <= places[-1] < outputs * size):
            raise ValueError("the entries of a mechanism have no place in it")
        return coo_array((self.p_y_given_x, np.divmod(places, size)), shape=(outputs, size)).tocsr()


def pack(solutions: Iterable[Solution]) -> bytes:
    """The cells of these solutions; what is computed from a mechanism is computed here, where processes share the work."""
    rows = [_figures(solution) | _entries(solution.mechanism.law) for solution in solutions]
    batch = pa.RecordBatch.from_pylist(rows, schema=_SCHEMA)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, _SCHEMA) as stream:
        stream.write_batch(batch)
    return bytes(sink.getvalue())


def unpack(packed: bytes) -> list[Cell]:
    """The cells again, bit for bit."""
    table = pa.ipc.open_stream(packed).read_all()
    figures = table.select(_FIGURES.names).to_pylist()
    laws = zip(*(table.column(name) for name in _LAW.names), strict=True)
    return [
        Cell(row, np.asarray(places.values), np.asarray(entries.values))
        for row, (places, entries) in zip(figures, laws, strict=True)
    ]


def solution_of(cell: Cell, joint: Joint, region: Region, utility: Utility) -> Solution:
    """The solution that the cell was packed from, without its certificate."""
    status, bound = Status[cell.figures["status"].upper()], cell.figures["upper_bound"]
    return Solution(Mechanism(joint, cell.law(len(joint.x_labels))), region, utility, status, bound)


def reliable(packed: bytes, joint: Joint, regions: Sequence[Region], utility: Utility) -> bool:
    """Whether these bytes are cells of these regions, keep their promises and have the figures of their mechanisms.

    All is computed again but what no cell proves: that the bound, which lies between the utility and that of
    publishing X, is one.
    """
    try:
        table = pa.ipc.open_stream(packed).read_all()
        table.validate(full=True)  # Arrow's reader believes the lengths and offsets that it reads
        if table.schema != _SCHEMA or len(table) != len(regions):
            return False
        inner = [table.column(name).combine_chunks().values for name in _LAW.names]
        if any(column.null_count for column in (*table.columns, *inner)):
            return False
        cells = zip(unpack(packed), regions, strict=True)
        return all(_is_true(cell, solution_of(cell, joint, region, utility)) for cell, region in cells)
    except (pa.ArrowException, InputError, ValueError, KeyError, OSError):
        return False


def _is_true(cell: Cell, solution: Solution) -> bool:
    known, again = cell.figures, _figures(solution)
    same = all(
        math.isclose(known[name], again[name], rel_tol=_DIFFERENCE, abs_tol=_DIFFERENCE)
        for name in _FIGURES.names
        if name != "status"
    )
    ordered = known["utility"] <= known["upper_bound"] + _DIFFERENCE
    return (
        same
        and ordered
        and solution.status is not Status.INTERRUPTED
        and bool(solution.mechanism.check(solution.region))
    )


def _entries(law: Rows) -> Record:
    """The numbers that are not 0, and where they are."""
    parts = [*supports(law)]
    places = [y * law.shape[1] + symbols for y, (symbols, _) in enumerate(parts)]
    return {"places": np.concatenate(places), "p_y_given_x": np.concatenate([shares for _, shares in parts])}


def _figures(solution: Solution) -> Record:
    mechanism = solution.mechanism
    return {
        "utility": solution.utility,
        "normalized_utility": solution.normalized_utility,
        "upper_bound": solution.upper_bound,
        "value": mechanism.worst_value(solution.region),
        "max_lift_leakage": mechanism.leakage(float("inf")),
        "outputs": len(mechanism.p_y),
        "status": solution.status.name.lower(),
    }
