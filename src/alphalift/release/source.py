"""open_table: every kind of table behind one interface, counted by combinations of values and (but for Spark's frames,
which are read where they are) in batches.

The same reader's rules hold for batches and for counts, so that a design and its release see the same symbols.
Messages of the engines may quote cells; none of them leaves this file.
"""

from __future__ import annotations

import glob
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import narwhals as nw
import numpy as np
import pyarrow as pa
from pyarrow import csv, dataset, parquet

from alphalift.errors import TableError

if TYPE_CHECKING:
    from alphalift.release.spark import SparkFrame

# More combinations than this are no joint that could be designed for, and would fill the memory.
MAX_COMBINATIONS = 4_000_000
# A row of a CSV file, with all its cells, must fit into this many bytes. Arrow reads 32 times as much ahead.
MAX_ROW_BYTES = 1 << 22
_FEW_BYTES = 1 << 16
BATCH_ROWS = 1 << 16
COUNT = "rows"

_KINDS = "the path of a CSV, TSV or Parquet file, a folder of Parquet files, an Arrow, pandas or polars table"
# DuckDB hands these back as Arrow gave them, to the last digit; other types are counted by Arrow.
_SAME_IN_DUCKDB = (
    pa.types.is_boolean,
    pa.types.is_integer,
    pa.types.is_float32,
    pa.types.is_float64,
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_date32,
)
_COUNTABLE = (
    *_SAME_IN_DUCKDB,
    pa.types.is_floating,
    pa.types.is_decimal,
    pa.types.is_string_view,
    pa.types.is_date,
    pa.types.is_timestamp,
    pa.types.is_null,
)


# What becomes of a batch before its values are counted; engines may run it in other processes.
Change = Callable[[pa.RecordBatch], pa.RecordBatch]


@dataclass(frozen=True)
class Table(ABC):
    """A table that can be counted.

    `name` is what messages call it, `description` a word for provenance that tells nothing of the content, and `schema`
    the opened columns.
    """

    name: str
    description: str
    schema: pa.Schema

    def count(self, columns: Sequence[str], change: Change | None = None) -> pa.Table:
        """One row for each combination of values, in no particular order; the last column is how often, as int64.

        `change` is applied to every batch before its values are counted.
        """
        require(self.name, columns, self.schema.names)
        require_countable(self.name, self.schema, columns)
        with self._in_our_words():
            counts = self._count(list(columns), change)
        return _checked(counts, self.name)

    @abstractmethod
    def _count(self, columns: list[str], change: Change | None) -> pa.Table: ...

    def _trouble(self, error: Exception) -> str:
        """What is wrong, in words of ours that follow the name."""
        return _failure(error)

    def _in_our_words(self) -> AbstractContextManager[None]:
        return in_our_words(self.name, self._trouble)


@dataclass(frozen=True)
class Source(Table):
    """A table that can also be read in batches, again and again; people number its first row of data `first_row`."""

    first_row: int = field(default=1, kw_only=True)

    def batches(self, columns: Sequence[str], *, rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        """The columns in the table's order, at most `rows` rows at a time, with their own types (CSV: text).

        The rows before a batch, added up, and `first_row` say where a batch starts.
        """
        require(self.name, columns, self.schema.names)
        with self._in_our_words():
            for batch in self._stream(list(columns), rows):
                for start in range(0, batch.num_rows, rows):
                    yield batch.slice(start, rows)

    @property
    def parts(self) -> Sequence[Source]:
        """The same rows in tables that can be read apart: the files of a folder."""
        return [self]

    @abstractmethod
    def _stream(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        """Batches of these columns in order; they may be longer than `rows`."""

    def _count(self, columns: list[str], change: Change | None) -> pa.Table:
        if change is None:
            return self._count_plain(columns)
        return count_batches(map(change, self.batches(columns)), self.name)

    def _count_plain(self, columns: list[str]) -> pa.Table:
        """The counts of the values as they are, best inside the table's engine."""
        return count_batches(self.batches(columns), self.name)


def open_table(table: Any, *, columns: Sequence[str]) -> Source | SparkFrame:
    """The table with these columns, which must exist once each.

    CSV and TSV files (also .gz; a header row, UTF-8, quotes as in RFC 4180; every cell is text, an empty one null,
    blank lines are skipped); Parquet files and folders of them (same columns in each, in the order of their paths);
    Arrow tables, readers (only once) and datasets; pandas and polars frames, also lazy; DuckDB relations; Spark frames.
    All but the last are a `Source`.
    """
    columns = list(columns)
    if isinstance(table, str | os.PathLike):
        return _open_path(Path(table), columns)
    if isinstance(table, duckdb.DuckDBPyRelation):
        return _opened(_Relation, "DuckDB relation", table, columns, lambda: _relation_schema(table))
    if nw.dependencies.is_polars_lazyframe(table):
        return _opened(_Query, "polars query", table, columns, lambda: table.head(0).collect().to_arrow().schema)
    if isinstance(table, pa.RecordBatchReader):
        return _opened(_Once, "Arrow reader", iter([table]), columns, lambda: table.schema)
    if isinstance(table, dataset.Dataset):
        return _opened(_Dataset, "Arrow dataset", table, columns, lambda: table.schema)
    if isinstance(table, pa.Table):
        return _opened(_Memory, "Arrow table", table, columns, lambda: table.schema)
    if is_spark(table):
        # Here, since that file builds on this one.
        from alphalift.release.spark import open_frame

        return open_frame(table, columns)
    return _open_frame(table, columns)


def is_spark(table: Any) -> bool:
    """Whether it is a data frame of Spark, which need not be installed."""
    return nw.dependencies.is_pyspark_dataframe(table) or nw.dependencies.is_pyspark_connect_dataframe(table)


def _failure(error: Exception) -> str:
    return f"cannot be read: its engine failed with {type(error).__name__}"


@contextmanager
def in_our_words(name: str, trouble: Callable[[Exception], str] = _failure) -> Iterator[None]:
    """Whatever an engine raises becomes a TableError: its own message may quote the row."""
    try:
        yield
    except TableError:
        raise
    except Exception as error:
        raise TableError(f"{name} {trouble(error)}") from None


def _opened(
    kind: Callable[..., Source], description: str, data: Any, columns: list[str], schema: Callable[[], pa.Schema]
) -> Source:
    source = kind(f"the {description}", description, pa.schema([]), data)
    with source._in_our_words():
        return replace(source, schema=_part(source.name, schema(), columns))


def _part(name: str, schema: pa.Schema, columns: list[str]) -> pa.Schema:
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
        if not _is_one_of(schema.field(column).type, _COUNTABLE):
            raise TableError(
                f"{name}: column {column!r} is not of text, numbers, truth values or dates; convert it first"
            )


def count_batches(batches: Iterable[pa.RecordBatch], name: str) -> pa.Table:
    """One row for each combination of values in all batches; the last column is how often, as int64."""
    parts: list[pa.Table] = []
    for batch in batches:
        grouped = pa.Table.from_batches([batch]).group_by(batch.schema.names, use_threads=False)
        parts.append(_plain(grouped.aggregate([([], "count_all")])))
        if sum(part.num_rows for part in parts) > 2 * parts[0].num_rows + BATCH_ROWS:
            parts = [_checked(_added_up(parts), name)]
    return _checked(_added_up(parts), name)


def _checked(counts: pa.Table, name: str) -> pa.Table:
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


def _plain(table: pa.Table) -> pa.Table:
    """The table with its dictionaries resolved."""
    types = [column.type for column in table.columns]
    plain = [kind.value_type if pa.types.is_dictionary(kind) else kind for kind in types]
    return pa.table([c.cast(kind) for c, kind in zip(table.columns, plain, strict=True)], names=table.schema.names)


def decoded(column: pa.Array) -> pa.Array:
    """The column, its dictionary resolved."""
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _is_one_of(kind: pa.DataType, tests: tuple[Callable[[pa.DataType], bool], ...]) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return any(test(kind) for test in tests)


# --- files ---


def _open_path(path: Path, columns: list[str]) -> Source:
    name = str(path) if str(path).isprintable() else ascii(str(path))
    ends = [suffix.lower() for suffix in path.suffixes]
    if not os.path.exists(path):
        raise TableError(f"{name}: there is no such file")
    if path.is_dir():
        files = sorted(file for file in path.rglob("*.parquet") if _is_part(file.relative_to(path)))
        if not files:
            raise TableError(f"{name} is a folder without Parquet files; expected {_KINDS}")
        return _open_parquet(name, "Parquet folder", files, columns)
    if not path.is_file():
        raise TableError(f"{name} is not a file; expected {_KINDS}")
    if ends[-1:] in ([".parquet"], [".pq"]):
        return _open_parquet(name, "Parquet file", [path], columns)
    packed = ends[-1:] == [".gz"]
    tabs = ".tsv" in (ends[-2:-1] if packed else ends[-1:])
    schema = pa.schema([(column, pa.string()) for column in columns])
    source = _Text(name, "TSV file" if tabs else "CSV file", schema, path, "\t" if tabs else ",", packed, first_row=2)
    with source._in_our_words():
        require(name, columns, source.header())
    return source


def _is_part(file: Path) -> bool:
    """Whether it is data: writers leave notes in files and folders whose names start with a dot or an underscore."""
    return not any(part.startswith((".", "_")) for part in file.parts)


@dataclass(frozen=True)
class _Text(Source):
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
            quotes = _Quotes(raw, self.name, self.delimiter)
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


class _Quotes:
    """A file for Arrow to read from, which refuses quotes that RFC 4180 does not allow, and drops a byte order mark.

    After a quote that is never closed Arrow makes one cell of all the rest. Where quotes stand only around cells,
    and doubled inside, every second one opens; then the byte before an opening and after a closing one is an edge.
    """

    def __init__(self, raw: Any, name: str, delimiter: str) -> None:
        self.raw, self.name, self.closed = raw, name, False
        self.is_edge = np.zeros(256, bool)
        self.is_edge[list(f'{delimiter}\n\r"'.encode())] = True
        self.before: bytes | None = None  # the last byte that was read
        self.inside = False
        self.line = 1
        self.line_of_opening = 1

    def read(self, size: int = -1) -> bytes:
        block: bytes = self.raw.read(size)
        if self.before is None:
            block, self.before = block.removeprefix(b"\xef\xbb\xbf"), b"\n"
        if block:
            self._check(self.before + block)
        elif self.inside:
            self._refuse("a quote that is never closed", self.line_of_opening)
        return block

    def close(self) -> None:
        self.closed = True

    def _check(self, text: bytes) -> None:
        """Look at all bytes but the first, which was looked at before."""
        codes = np.frombuffer(text, np.uint8)
        quotes = np.flatnonzero(codes[1:] == ord('"')) + 1
        opening, closing = quotes[self.inside :: 2], quotes[not self.inside :: 2]
        if text[:1] == b'"' and not self.inside:
            closing = np.append(0, closing)
        after = closing[closing + 1 < len(codes)] + 1
        wrong = np.concatenate([opening[~self.is_edge[codes[opening - 1]]], after[~self.is_edge[codes[after]]]])
        if wrong.size:
            self._refuse("a quote inside a cell that is not doubled", self._line_at(text, int(wrong.min())))
        if opening.size:
            self.line_of_opening = self._line_at(text, int(opening[-1]))
        self.inside ^= bool(quotes.size % 2)
        self.line = self._line_at(text, len(text))
        self.before = text[-1:]

    def _line_at(self, text: bytes, end: int) -> int:
        return self.line + max(text.count(b"\n", 1, end), text.count(b"\r", 1, end))

    def _refuse(self, what: str, line: int) -> None:
        raise TableError(
            f"{self.name} has {what}, near line {line}; a cell with quotes is quoted, and they are doubled"
        )


def _open_parquet(name: str, description: str, files: list[Path], columns: list[str]) -> Source:
    schemas = []
    for file in files:
        source = _Parquet(name if len(files) == 1 else f"{name}: {file.name!r}", description, pa.schema([]), [file])
        with source._in_our_words():
            schemas.append(_part(source.name, parquet.read_schema(file), columns))
        if schemas[-1] != schemas[0]:
            raise TableError(f"{source.name} has other types in its columns than the folder's first file")
    return _Parquet(name, description, schemas[0], files)


@dataclass(frozen=True)
class _Parquet(Source):
    files: list[Path]

    @property
    def parts(self) -> Sequence[Source]:
        # Absolute, since other processes may stand elsewhere.
        return [replace(self, name=f"{self.name}: {file.name!r}", files=[file.absolute()]) for file in self.files]

    def _stream(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        for path in self.files:
            # Without buffering ahead, which would hold the columns of the whole file.
            with parquet.ParquetFile(path, pre_buffer=False) as file:
                for group in range(file.num_row_groups):
                    for batch in file.iter_batches(batch_size=rows, columns=columns, row_groups=[group]):
                        yield batch.select(columns)

    def _count_plain(self, columns: list[str]) -> pa.Table:
        if not _all_same_in_duckdb(self.schema, columns):
            return super()._count_plain(columns)
        paths = [glob.escape(str(path.absolute())) for path in self.files]
        names = parquet.read_schema(self.files[0]).names
        with _engine() as engine:
            return _grouped(engine.read_parquet(paths, hive_partitioning=False), names, columns)

    def _trouble(self, error: Exception) -> str:
        return "cannot be read; is it readable, whole, and really a Parquet file?"


# --- objects ---


def _open_frame(frame: Any, columns: list[str]) -> Source:
    """A pandas or polars frame, its columns brought into Arrow's memory."""
    try:
        table = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise TableError(f"a table is {_KINDS} or a DuckDB relation, not {type(frame).__name__}") from None
    except nw.exceptions.DuplicateError:
        raise TableError("the table has column names that occur more than once") from None
    description = f"{type(frame).__module__.partition('.')[0]} frame"
    require(f"the {description}", columns, table.columns)
    data = pa.table({column: _to_arrow(table, column) for column in columns})
    return _opened(_Memory, description, data, columns, lambda: data.schema)


def _to_arrow(table: nw.DataFrame[Any], column: str) -> pa.ChunkedArray:
    try:
        return table.select(column).to_arrow().column(0)
    except Exception:
        raise TableError(
            f"the table: column {column!r} has values of several types; convert it to text first"
        ) from None


@dataclass(frozen=True)
class _Memory(Source):
    data: pa.Table

    def _stream(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        yield from self.data.select(columns).to_batches(max_chunksize=rows)

    def _count_plain(self, columns: list[str]) -> pa.Table:
        if not _all_same_in_duckdb(self.schema, columns):
            return super()._count_plain(columns)
        with _engine() as engine:
            return _grouped(engine.from_arrow(self.data.select(columns)), columns, columns)


@dataclass(frozen=True)
class _Dataset(Source):
    data: dataset.Dataset

    def _stream(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        # Little is read ahead, so that memory stays bounded.
        yield from self.data.to_batches(columns=columns, batch_size=rows, batch_readahead=2, fragment_readahead=1)

    def _count_plain(self, columns: list[str]) -> pa.Table:
        if not _all_same_in_duckdb(self.schema, columns):
            return super()._count_plain(columns)
        with _engine() as engine:
            return _grouped(engine.from_arrow(self.data.scanner(columns=columns)), columns, columns)


@dataclass(frozen=True)
class _Once(Source):
    """A reader, which Arrow can read only once."""

    readers: Iterator[pa.RecordBatchReader]

    def _stream(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        for reader in self.readers:
            for batch in reader:
                yield batch.select(columns)
            return
        raise TableError("the Arrow reader was read before; read it into a table to use it more than once")


@dataclass(frozen=True)
class _Query(Source):
    query: Any

    def _stream(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        for frame in self.query.select(columns).collect_batches(chunk_size=rows, maintain_order=True):
            yield from frame.to_arrow().to_batches()

    def _count_plain(self, columns: list[str]) -> pa.Table:
        keys = [f"c{i}" for i in range(len(columns))]
        query = self.query.select(columns).rename(dict(zip(columns, keys, strict=True))).group_by(keys).len()
        counts = _plain(query.collect(engine="streaming").to_arrow())
        counts = counts.set_column(len(columns), COUNT, counts.columns[-1].cast(pa.int64()))
        return counts.rename_columns([*columns, COUNT])


@dataclass(frozen=True)
class _Relation(Source):
    relation: duckdb.DuckDBPyRelation

    def _stream(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        # Closed even if the caller stops early: an open result would block the user's connection.
        with _picked(self.relation, self.relation.columns, columns).to_arrow_reader(rows) as reader:
            for batch in reader:
                yield batch.rename_columns(columns)

    def _count_plain(self, columns: list[str]) -> pa.Table:
        return _grouped(self.relation, self.relation.columns, columns)


def _relation_schema(relation: duckdb.DuckDBPyRelation) -> pa.Schema:
    # On the way to Arrow DuckDB renames columns whose names differ only in case.
    return relation.limit(0).to_arrow_table().rename_columns(relation.columns).schema


# --- counting inside DuckDB ---


@contextmanager
def _engine() -> Iterator[duckdb.DuckDBPyConnection]:
    """A DuckDB of our own, which fetches no extension and leaves nothing on the disk."""
    settings: dict[str, str | bool | int | float | list[str]] = {
        "temp_directory": "",
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    with duckdb.connect(":memory:", config=settings) as engine:
        yield engine


def _all_same_in_duckdb(schema: pa.Schema, columns: list[str]) -> bool:
    return all(_is_one_of(schema.field(column).type, _SAME_IN_DUCKDB) for column in columns)


def _picked(relation: duckdb.DuckDBPyRelation, names: list[str], columns: list[str]) -> duckdb.DuckDBPyRelation:
    """The columns by their place: to DuckDB "Age" and "age" are one name."""
    return relation.project(", ".join(f"#{names.index(column) + 1} AS c{i}" for i, column in enumerate(columns)))


def _grouped(relation: duckdb.DuckDBPyRelation, names: list[str], columns: list[str]) -> pa.Table:
    keys = ", ".join(f"c{i}" for i in range(len(columns)))
    counts = _picked(relation, names, columns).aggregate(f"{keys}, count(*)", keys).limit(MAX_COMBINATIONS + 1)
    return _plain(counts.to_arrow_table().rename_columns([*columns, COUNT]))
