"""Arrow tables, datasets and readers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from alphalift.errors import TableError
from alphalift.tables.base import Source
from alphalift.tables.duck import all_same_in_duckdb, engine, grouped

if TYPE_CHECKING:
    from pyarrow import dataset


@dataclass(frozen=True)
class Memory(Source):
    data: pa.Table

    def _stream(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        yield from self.data.select(columns).to_batches(max_chunksize=rows)

    def _count_plain(self, columns: list[str]) -> pa.Table:
        if not all_same_in_duckdb(self.data.schema, columns):
            return super()._count_plain(columns)
        with engine() as duck:
            return grouped(duck.from_arrow(self.data.select(columns)), columns, columns)


@dataclass(frozen=True)
class Dataset(Source):
    data: dataset.Dataset

    def _stream(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        # Little is read ahead, so that memory stays bounded.
        yield from self.data.to_batches(columns=columns, batch_size=rows, batch_readahead=2, fragment_readahead=1)

    def _count_plain(self, columns: list[str]) -> pa.Table:
        if not all_same_in_duckdb(self.data.schema, columns):
            return super()._count_plain(columns)
        with engine() as duck:
            return grouped(duck.from_arrow(self.data.scanner(columns=columns)), columns, columns)


@dataclass(frozen=True)
class Once(Source):
    """A reader, which Arrow can read only once."""

    readers: Iterator[pa.RecordBatchReader]

    def _stream(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        for reader in self.readers:
            for batch in reader:
                yield batch.select(columns)
            return
        raise TableError("the Arrow reader was read before; read it into a table to use it more than once")
