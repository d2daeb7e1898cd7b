"""Where released records go: a Parquet or CSV file, batch by batch, or a table in memory.

What a format cannot hold is refused before anything is written. A cell of a CSV file that begins like a formula would be
run by a spreadsheet, so it is refused as well; Parquet holds any text.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
from pyarrow import csv

from alphalift.errors import InputError, TableError
from alphalift.tables.columns import decoded, is_text, plain, plain_type
from alphalift.tables.endings import DELIMITERS, ending_of, is_writable
from alphalift.tables.formulas import refuse_formulas


class Writer(Protocol):
    """Takes record batches in order."""

    def write_batch(self, batch: pa.RecordBatch) -> None: ...

    def close(self) -> None: ...


def names_a_file(place: Path) -> bool:
    """Whether the name ends as one of ours does; the rest may be the name of a folder."""
    return is_writable(place.name) or place.suffix.lower() == ".gz"


def open_writer(path: Path, name: str, schema: pa.Schema) -> Writer:
    """A writer to `path` of the format that the last ending of `name` says, if it can hold such columns."""
    require_writable(name, schema)
    return _Parquet(path, schema) if ending_of(name)[0] == ".parquet" else _Csv(path, name, schema)


def require_writable(name: str, schema: pa.Schema) -> None:
    """Raise unless the name ends as one of ours does, and its format can hold columns of these names and types."""
    ending, _ = ending_of(name)
    if not is_writable(name):
        raise InputError(f"{name}: expected a name that ends in .csv, .tsv (also .gz) or .parquet")
    for field in schema:
        kind = plain_type(field.type)
        if ending != ".parquet":
            _require_text_form(name, field.name, kind)
        elif not _takes(_parquet_writer(), kind):
            raise TableError(
                f"{name}: column {field.name!r} has a type that a Parquet file cannot hold; convert it first"
            )
    if ending != ".parquet":
        refuse_formulas(name, pa.array(schema.names, pa.string()), "of the columns' names")


def _require_text_form(name: str, column: str, kind: pa.DataType) -> None:
    # Arrow would write bytes as they are, whatever the text's encoding.
    raw = pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind)
    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    if raw or not _takes(csv.CSVWriter, inner):
        raise TableError(
            f"{name}: column {column!r} is of lists, structures or bytes, which have no form in a CSV file; "
            "write a .parquet file, or leave the column out"
        )


def _takes(writer: Any, kind: pa.DataType) -> bool:
    """Whether Arrow's writer takes such a column: it is asked, in memory."""
    schema = pa.schema([("column", kind)])
    try:
        with pa.BufferOutputStream() as sink, writer(sink, schema) as opened:
            opened.write_batch(pa.RecordBatch.from_pylist([], schema))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        return False
    return True


def _parquet_writer() -> Any:
    from pyarrow.parquet import ParquetWriter

    return ParquetWriter


class _Parquet:
    def __init__(self, path: Path, schema: pa.Schema) -> None:
        # Dictionaries for the outputs, which are few, not for ids, which are all different.
        few = [field.name for field in schema if pa.types.is_dictionary(field.type)]
        self._schema = pa.schema([(field.name, plain_type(field.type)) for field in schema])
        self._writer = _parquet_writer()(path, self._schema, use_dictionary=few)

    def write_batch(self, batch: pa.RecordBatch) -> None:
        self._writer.write_batch(pa.record_batch([plain(column) for column in batch.columns], schema=self._schema))

    def close(self) -> None:
        self._writer.close()


class _Csv:
    def __init__(self, path: Path, name: str, schema: pa.Schema) -> None:
        ending, compressed = ending_of(name)
        self._stream: Any = pa.CompressedOutputStream(str(path), "gzip") if compressed else pa.OSFile(str(path), "wb")
        self._name = name
        # Text as text: dictionaries have no form of their own in a CSV file.
        self._schema = pa.schema([(field.name, _undone(plain_type(field.type))) for field in schema])
        options = csv.WriteOptions(delimiter=DELIMITERS[ending], quoting_style="needed")
        self._writer = csv.CSVWriter(self._stream, self._schema, write_options=options)

    def write_batch(self, batch: pa.RecordBatch) -> None:
        columns = [plain(column) for column in batch.columns]
        for column, title in zip(columns, batch.schema.names, strict=True):
            few = column.dictionary if pa.types.is_dictionary(column.type) else column
            if is_text(few.type):
                refuse_formulas(self._name, few, f"or more cells of column {title!r}")
        self._writer.write_batch(pa.record_batch([decoded(column) for column in columns], schema=self._schema))

    def close(self) -> None:
        self._writer.close()
        self._stream.close()


def _undone(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


class InMemory:
    """Keeps the batches as one table."""

    def __init__(self, schema: pa.Schema) -> None:
        self._schema, self._batches = schema, list[pa.RecordBatch]()

    def write_batch(self, batch: pa.RecordBatch) -> None:
        self._batches.append(batch)

    def close(self) -> None:
        pass

    @property
    def table(self) -> pa.Table:
        return pa.Table.from_batches(self._batches, self._schema)
