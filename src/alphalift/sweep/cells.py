"""Finished cells in one form, between processes and on disk: Arrow, every float with all its bits."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from alphalift.exact import Array
from alphalift.solution import Solution

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
_SCHEMA = _FIGURES.append(pa.field("p_y_given_x", pa.list_(pa.float64())))


class Cell(NamedTuple):
    """A cell's figures by name and its mechanism, (|Y|, |X|)."""

    figures: Record
    p_y_given_x: Array


def pack(solutions: Iterable[Solution]) -> bytes:
    """The cells of these solutions; what is computed from a mechanism is computed here, where processes share the work."""
    rows = [
        _figures(solution) | {"p_y_given_x": solution.mechanism.p_y_given_x.ravel().tolist()} for solution in solutions
    ]
    batch = pa.RecordBatch.from_pylist(rows, schema=_SCHEMA)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, _SCHEMA) as stream:
        stream.write_batch(batch)
    return bytes(sink.getvalue())


def unpack(packed: bytes) -> list[Cell]:
    """The cells again, bit for bit."""
    table = pa.ipc.open_stream(packed).read_all()
    matrices = table.column("p_y_given_x")
    figures = table.select(_FIGURES.names).to_pylist()
    return [
        Cell(row, np.asarray(matrix.values).reshape(row["outputs"], -1))
        for row, matrix in zip(figures, matrices, strict=True)
    ]


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
