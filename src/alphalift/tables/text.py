"""CSV and TSV files, also gzipped."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyarrow import csv

from alphalift.tables.base import Source
from alphalift.tables.columns import require
from alphalift.tables.quotes import Quotes

# A row of a CSV file, with all its cells, must fit into this many bytes. Arrow reads 32 times as much ahead.
MAX_ROW_BYTES = 1 << 22
_FEW_BYTES = 1 << 16


def open_text(path: Path, name: str, columns: list[str]) -> Source:
    """The file with these columns, separated as its ending says."""
    ends = [suffix.lower() for suffix in path.suffixes]
    packed = ends[-1:] == [".gz"]
    tabs = ".tsv" in (ends[-2:-1] if packed else ends[-1:])
    schema = pa.schema([(column, pa.string()) for column in columns])
    source = TextFile(
        name, "TSV file" if tabs else "CSV file", schema, path, "\t" if tabs else ",", packed, first_row=2
    )
    with source._in_our_words():
        require(name, columns, source.header())
    return source


@dataclass(frozen=True)
class TextFile(Source):
    """A CSV or TSV file, read by Arrow alone: DuckDB's reader drops a ragged last row when it reads in parallel."""

    path: Path
    delimiter: str
    packed: bool

    def header(self) -> list[str]:
        try:
            return self._names(_FEW_BYTES)
        except pa.ArrowInvalid:
            # The first rows are longer, or wrong, which then is found again.
            return self._names(MAX_ROW_BYTES)

    def _names(self, block: int) -> list[str]:
        with self._reader(csv.ConvertOptions(), block) as reader:
            return list(reader.schema.names)

    def _stream(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        conversion = csv.ConvertOptions(
            include_columns=columns,
            column_types=dict.fromkeys(columns, pa.string()),
            strings_can_be_null=True,
            null_values=[""],
        )
        with self._reader(conversion, MAX_ROW_BYTES) as reader:
            yield from reader

    @contextmanager
    def _reader(self, conversion: csv.ConvertOptions, block: int) -> Iterator[csv.CSVStreamingReader]:
        # One thread: only then does Arrow know the number of a bad row.
        reading = csv.ReadOptions(use_threads=False, block_size=block)
        parsing = csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True)
        with pa.input_stream(str(self.path), compression="gzip" if self.packed else None) as raw:
            quotes = Quotes(raw, self.name, self.delimiter)
            with csv.open_csv(pa.PythonFile(quotes, mode="r"), reading, parsing, conversion) as reader:
                yield reader

    def _trouble(self, error: Exception) -> str:
        # What Arrow quotes of the row comes last, and is not looked at.
        message, ragged, _ = str(error).partition("Expected")
        found = re.search(r"Row #(\d+)", message)
        row = f"row {found[1]}" if found else "a row"
        if ragged:
            return f"is not a table: {row} has another number of cells than the header"
        if isinstance(error, UnicodeError) or "UTF8" in message:
            return f"is not UTF-8 text{f' in {row}' if found else ''}; convert it first"
        if isinstance(error, OSError):
            return "cannot be read; is it readable, and whole and really gzipped if it ends in .gz?"
        if "Empty CSV" in message:
            return "is empty, or has nothing after its first row"
        if "straddl" in message:
            return f"has a row of more than {MAX_ROW_BYTES >> 20} MB, or a quote that is never closed"
        return super()._trouble(error)
