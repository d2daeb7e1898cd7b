"""Which columns a table must have and of which types, and columns in the few forms that everything else knows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

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

# A name with fewer letters is no slip of another one.
_LEAST_LETTERS = 3


def part(name: str, schema: pa.Schema, columns: list[str]) -> pa.Schema:
    """The schema of these columns, which must exist once each, as `plain` makes them."""
    require(name, columns, schema.names)
    return pa.schema([pa.field(column, plain_type(schema.field(column).type)) for column in columns])


def require(name: str, wanted: Sequence[str], present: Sequence[str], *, header: bool = False) -> None:
    """Raise unless every wanted column is present exactly once; `header` if the names come from a file's first row."""
    unknown = [column for column in wanted if column not in present]
    if unknown:
        # The names that are present are not listed: without a header they would be a record. But for case, blanks and a letter,
        # one that was typed is known already.
        alike = dict.fromkeys(name for column in unknown for name in present if _is_meant(_bare(column), _bare(name)))
        if alike:
            advice = f"did you mean {', '.join(map(repr, alike))}?"
        else:
            advice = "is its first row a header?" if header else "give the name as the table has it"
        raise TableError(
            f"{name}: no column {', '.join(map(repr, unknown))} among the table's {len(present)}; {advice}"
        )
    repeated = [column for column in wanted if list(present).count(column) > 1]
    if repeated:
        raise TableError(f"{name}: column {', '.join(map(repr, repeated))} occurs more than once in the table")


def _is_meant(typed: str, name: str) -> bool:
    """Whether they are equal, or differ by one slip: a letter too many, missing or wrong, or two in the wrong order."""
    if typed == name:
        return True
    start = _alike(typed, name)
    one, other = typed[start:], name[start:]
    end = _alike(one[::-1], other[::-1])
    one, other = one[: len(one) - end], other[: len(other) - end]
    swapped = len(one) == 2 and one == other[::-1]
    return (
        min(len(typed), len(name)) >= _LEAST_LETTERS
        and (swapped or max(len(one), len(other)) == 1)
        and not any(letter.isdigit() for letter in one + other)
    )


def _alike(one: str, other: str) -> int:
    """With how many letters they begin alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (own, its) in pairs if own != its), min(len(one), len(other)))


def _bare(column: object) -> str:
    """A name without its blanks and case."""
    return "".join(str(column).split()).casefold()


def require_countable(name: str, schema: pa.Schema, columns: Sequence[str]) -> None:
    """Raise unless every column has values that are symbols: text, numbers, truth values, dates."""
    for column in columns:
        if not is_one_of(schema.field(column).type, COUNTABLE):
            raise TableError(
                f"{name}: column {column!r} is not of text, numbers, truth values or dates; convert it first"
            )


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type of a column after `plain`: no run ends, no views, and dictionaries only of what can be counted."""
    if pa.types.is_run_end_encoded(kind):
        return plain_type(kind.value_type)
    if pa.types.is_dictionary(kind):
        inner = plain_type(kind.value_type)
        return kind if inner == kind.value_type and is_one_of(inner, COUNTABLE) else inner
    if pa.types.is_string_view(kind):
        return pa.large_string()
    return pa.large_binary() if pa.types.is_binary_view(kind) else kind


def plain(column: pa.Array) -> pa.Array:
    """The column (or chunked column) in one of the forms that counting, DuckDB and the writers know; its values stay."""
    kind = plain_type(column.type)
    if column.type == kind:
        return column
    if isinstance(column, pa.ChunkedArray):
        return pa.chunked_array([plain(chunk) for chunk in column.chunks], kind)
    # By place, since Arrow does not decode all types of values.
    if pa.types.is_run_end_encoded(column.type):
        rows = np.arange(column.offset, column.offset + len(column))
        return plain(column.values).take(pa.array(np.searchsorted(column.run_ends.to_numpy(), rows, side="right")))
    return plain(column.dictionary).take(column.indices) if pa.types.is_dictionary(column.type) else column.cast(kind)


def plain_batch(batch: pa.RecordBatch, name: str) -> pa.RecordBatch:
    """The batch with plain columns, whose texts are UTF-8: files and buffers may say so of any bytes."""
    columns = [plain(column) for column in batch.columns]
    for column, title in zip(columns, batch.schema.names, strict=True):
        if not _is_utf8(column.dictionary if pa.types.is_dictionary(column.type) else column):
            raise TableError(f"{name}: column {title!r} has text that is not UTF-8; convert it first")
    return pa.record_batch(columns, batch.schema.names)


def decoded(column: pa.Array) -> pa.Array:
    """The column (or chunked column), its dictionary resolved."""
    if not pa.types.is_dictionary(column.type):
        return column
    # Chunks have dictionaries of their own.
    return column.cast(column.type.value_type) if isinstance(column, pa.ChunkedArray) else column.dictionary_decode()


def decoded_table(table: pa.Table) -> pa.Table:
    """The table with its dictionaries resolved."""
    return pa.table([decoded(column) for column in table.columns], names=table.schema.names)


def is_one_of(kind: pa.DataType, tests: tuple[Callable[[pa.DataType], bool], ...]) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return any(test(kind) for test in tests)


def is_text(kind: pa.DataType) -> bool:
    """Whether it is a type of text, as `plain` leaves them."""
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def text_bytes(column: pa.Array) -> tuple[NDArray[np.uint8], NDArray[Any]]:
    """All bytes of a column of text, and the places where its cells begin and the last one ends."""
    _, places, data = column.buffers()
    width = np.int64 if pa.types.is_large_string(column.type) else np.int32
    if not len(column) or places is None or data is None:
        return np.zeros(0, np.uint8), np.zeros(len(column) + 1, width)
    starts = np.frombuffer(places, width)[column.offset : column.offset + len(column) + 1]
    return np.frombuffer(data, np.uint8), starts


def _is_utf8(column: pa.Array) -> bool:
    if not is_text(column.type):
        return True
    data, starts = text_bytes(column)
    if data[starts[0] : starts[-1]].max(initial=0) < 128:  # ASCII, seen in a fraction of the time
        return True
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def is_unicode(text: str) -> bool:
    """Whether it has no half of a pair of surrogates, as Python's text may: nothing else could hold it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
