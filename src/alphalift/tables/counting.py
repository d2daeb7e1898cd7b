"""Batches counted by their combinations of values."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from alphalift.errors import TableError
from alphalift.tables.columns import decoded_table

# More combinations than this are no joint that could be designed for, and would fill the memory.
MAX_COMBINATIONS = 4_000_000
BATCH_ROWS = 1 << 16
COUNT = "rows"


def count_batches(batches: Iterable[pa.RecordBatch], name: str) -> pa.Table:
    """One row for each combination of values in all batches; the last column is how often, as int64."""
    parts: list[pa.Table] = []
    for batch in batches:
        grouped = pa.Table.from_batches([batch]).group_by(batch.schema.names, use_threads=False)
        parts.append(decoded_table(grouped.aggregate([([], "count_all")])))
        if sum(part.num_rows for part in parts) > 2 * parts[0].num_rows + BATCH_ROWS:
            parts = [checked(_added_up(parts), name)]
    return checked(_added_up(parts), name)


def checked(counts: pa.Table, name: str) -> pa.Table:
    if not counts.num_rows:
        raise TableError(f"{name}: the table has no rows to count")
    if counts.num_rows > MAX_COMBINATIONS:
        raise TableError(
            f"{name}: the columns have more than {MAX_COMBINATIONS:,} combinations of values; is one of them an "
            "identifier? Take other columns, or declare bins"
        )
    return counts


def _added_up(parts: list[pa.Table]) -> pa.Table:
    if not parts:
        return pa.table({COUNT: pa.array([], pa.int64())})
    table = pa.concat_tables(parts)
    keys = [f"c{i}" for i in range(table.num_columns - 1)]
    total = table.rename_columns([*keys, "n"]).group_by(keys).aggregate([("n", "sum")])
    return total.select([*keys, "n_sum"]).rename_columns(table.schema.names)
