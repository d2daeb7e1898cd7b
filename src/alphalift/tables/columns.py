"""Which columns a table must have, of which types, and columns without their encodings."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa

from alphalift.errors import TableError

# DuckDB hands these back as Arrow gave them, to the last digit; other types are counted by Arrow.
SAME_IN_DUCKDB = (
    pa.types.is_boolean,
    pa.types.is_integer,
    pa.types.is_float32,
    pa.types.is_float64,
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_date32,
)
COUNTABLE = (
    *SAME_IN_DUCKDB,
    pa.types.is_floating,
    pa.types.is_decimal,
    pa.types.is_string_view,
    pa.types.is_date,
    pa.types.is_timestamp,
    pa.types.is_null,
)


def part(name: str, schema: pa.Schema, columns: list[str]) -> pa.Schema:
    require(name, columns, schema.names)
    return pa.schema([pa.field(column, schema.field(column).type) for column in columns])


def require(name: str, wanted: Sequence[str], present: Sequence[str]) -> None:
    """Raise unless every wanted column is present exactly once."""
    unknown = [column for column in wanted if column not in present]
    if unknown:
        # The names that are present are not listed: without a header they would be a record.
        raise TableError(
            f"{name}: no column {', '.join(map(repr, unknown))} among the table's {len(present)}; "
            "is its first row a header?"
        )
    repeated = [column for column in wanted if list(present).count(column) > 1]
    if repeated:
        raise TableError(f"{name}: column {', '.join(map(repr, repeated))} occurs more than once in the table")


def require_countable(name: str, schema: pa.Schema, columns: Sequence[str]) -> None:
    """Raise unless every column has values that are symbols: text, numbers, truth values, dates."""
    for column in columns:
        if not is_one_of(schema.field(column).type, COUNTABLE):
            raise TableError(
                f"{name}: column {column!r} is not of text, numbers, truth values or dates; convert it first"
            )


def plain(table: pa.Table) -> pa.Table:
    """The table with its dictionaries resolved."""
    types = [column.type for column in table.columns]
    plain = [kind.value_type if pa.types.is_dictionary(kind) else kind for kind in types]
    return pa.table([c.cast(kind) for c, kind in zip(table.columns, plain, strict=True)], names=table.schema.names)


def decoded(column: pa.Array) -> pa.Array:
    """The column, its dictionary resolved."""
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def is_one_of(kind: pa.DataType, tests: tuple[Callable[[pa.DataType], bool], ...]) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return any(test(kind) for test in tests)
