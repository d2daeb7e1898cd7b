"""CSV and TSV files, also gzipped."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv

from alphalift.errors import TableError
from alphalift.tables.base import Source
from alphalift.tables.columns import require
from alphalift.tables.endings import ending_of
from alphalift.tables.quotes import Quotes

# A row of a CSV file, with all its cells, must fit into this many bytes. Arrow reads 32 times as much ahead.
MAX_ROW_BYTES = 1 << 22
_FEW_BYTES = 1 << 16
_SEPARATORS = ",;\t|"
_QUOTED = re.compile(rb'"(?:[^"]|"")*"')


def open_text(path: Path, name: str, columns: list[str], separator: str | None = None) -> Source:
    """The file with these columns, separated as told, or as its ending says, or as its header shows that is one column otherwise."""
    ending, packed = ending_of(path)
    tabs = ending == ".tsv"
    schema = pa.schema([(column, pa.string()) for column in columns])
    source = TextFile(name, "TSV file" if tabs else "CSV file", schema, path, "\t" if tabs else ",", packed)
    with source._in_our_words():
        found = separator or _separator(name, source.first_line(), columns, source.delimiter)
        source = replace(source, delimiter=found)
        require(name, columns, source.header(), header=True)
    return source


def _separator(name: str, line: bytes, columns: list[str], usual: str) -> str:
    """The usual separator, unless the first row has none outside of quotes, but another one."""
    outside = _QUOTED.sub(b"", line).decode("utf-8-sig", "replace")
    found = [sign for sign in _SEPARATORS if sign in outside]
    if usual in found or not found or '"' in outside or outside.strip() in columns:
        return usual
    if len(found) > 1:
        raise TableError(
            f"{name}: its header is one column and has {' and '.join(map(repr, found))} in it, of which one seems to be the separator; "
            "name it with separator="
        )
    return found[0]


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
            pass  # the first rows are longer, or wrong, which then is found again
        try:
            return self._names(MAX_ROW_BYTES)
        except pa.ArrowInvalid as error:
            if "Empty CSV" in str(error):
                self._refuse_no_rows()
            raise

    def first_line(self) -> bytes:
        """Its first line that is not blank; empty if that does not end soon, or is the last one."""
        with self._opened() as raw:
            start: bytes = raw.read(_FEW_BYTES)
        lines = start.lstrip(b"\r\n").splitlines()
        return lines[0] if len(lines) > 1 else b""

    def _refuse_no_rows(self) -> None:
        """Raise for what Arrow calls empty, and is not: a first row that is longer than what it looks at."""
        with self._opened() as raw:
            start: bytes = raw.read(MAX_ROW_BYTES)
        if len(start) == MAX_ROW_BYTES:
            columns = start.partition(b"\n")[0].count(self.delimiter.encode()) + 1
            raise TableError(
                f"{self.name} has a first row of more than {MAX_ROW_BYTES >> 20} MB, with {columns:,} or more columns; "
                "is it a table with a header and line ends? If so, leave columns out"
            )

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
        with self._opened() as raw:
            quotes = Quotes(raw, self.name, self.delimiter)
            with csv.open_csv(pa.PythonFile(quotes, mode="r"), reading, parsing, conversion) as reader:
                yield reader

    def _opened(self) -> Any:
        return pa.input_stream(str(self.path), compression="gzip" if self.packed else None)

    def _trouble(self, error: Exception) -> str:
        # What Arrow quotes of the row comes last, and is not looked at.
        message, ragged, _ = str(error).partition("Expected")
        found = re.search(r"Row #(\d+)", message)
        # Arrow counts the header, but no blank lines.
        row = f"row {int(found[1]) - 1} of the data" if found else "a row"
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
