"""Where released records go: a Parquet or CSV file, batch by batch, or a table in memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
from pyarrow import csv, parquet

from alphalift.errors import InputError


class Writer(Protocol):
    """Takes record batches in order."""

    def write_batch(self, batch: pa.RecordBatch) -> None: ...

    def close(self) -> None: ...


def names_a_file(place: Path) -> bool:
    """Whether the name ends as one of ours does; the rest may be the name of a folder."""
    return place.suffix.lower() in (".csv", ".tsv", ".gz", ".parquet")


def open_writer(path: Path, name: str, schema: pa.Schema) -> Writer:
    """A writer to `path` of the format that the ending of `name` says."""
    endings = [ending.lower() for ending in Path(name).suffixes]
    if endings[-1:] == [".parquet"]:
        return _Parquet(path, schema)
    if endings[-1:] in ([".csv"], [".tsv"]) or endings[-2:] in ([".csv", ".gz"], [".tsv", ".gz"]):
        return _Csv(path, schema, "\t" if ".tsv" in endings[-2:] else ",", ".gz" in endings[-1:])
    raise InputError(f"{name}: expected a name that ends in .csv, .tsv (also .gz) or .parquet")


class _Parquet:
    def __init__(self, path: Path, schema: pa.Schema) -> None:
        # Dictionaries for the outputs, which are few, not for ids, which are all different.
        few = [field.name for field in schema if pa.types.is_dictionary(field.type)]
        self._writer = parquet.ParquetWriter(path, schema, use_dictionary=few)

    def write_batch(self, batch: pa.RecordBatch) -> None:
        self._writer.write_batch(batch)

    def close(self) -> None:
        self._writer.close()


def refuse_formulas(name: str, labels: Sequence[str]) -> None:
    """Raise if a CSV file would have labels that a spreadsheet runs as formulas; numbers are none."""
    formulas = [
        label for label in labels if label.startswith(("=", "+", "-", "@", "\t", "\r")) and not _is_number(label)
    ]
    if formulas and ".parquet" not in Path(name).suffixes:
        raise InputError(
            f"{name}: {len(formulas)} of the mechanism's labels begin like a formula, which a spreadsheet would run; "
            "write a .parquet file, or rename the values before the design"
        )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


class _Csv:
    def __init__(self, path: Path, schema: pa.Schema, delimiter: str, compressed: bool) -> None:
        self._stream: Any = pa.CompressedOutputStream(str(path), "gzip") if compressed else pa.OSFile(str(path), "wb")
        # Text as text: dictionaries have no form of their own in a CSV file.
        self._schema = pa.schema([(field.name, _plain(field.type)) for field in schema])
        options = csv.WriteOptions(delimiter=delimiter, quoting_style="needed")
        self._writer = csv.CSVWriter(self._stream, self._schema, write_options=options)

    def write_batch(self, batch: pa.RecordBatch) -> None:
        self._writer.write_batch(batch.cast(self._schema))

    def close(self) -> None:
        self._writer.close()
        self._stream.close()


def _plain(kind: pa.DataType) -> pa.DataType:
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
