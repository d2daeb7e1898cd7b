"""Parquet files and folders of them."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from alphalift.errors import TableError
from alphalift.tables.base import Source
from alphalift.tables.columns import part
from alphalift.tables.duck import all_same_in_duckdb, engine, grouped


def open_parquet(name: str, description: str, files: list[Path], columns: list[str]) -> Source:
    from pyarrow import parquet

    schemas = []
    for file in files:
        source = ParquetFiles(name if len(files) == 1 else f"{name}: {file.name!r}", description, pa.schema([]), [file])
        with source._in_our_words():
            schemas.append(part(source.name, parquet.read_schema(file), columns))
        if schemas[-1] != schemas[0]:
            raise TableError(f"{source.name} has other types in its columns than the folder's first file")
    return ParquetFiles(name, description, schemas[0], files)


@dataclass(frozen=True)
class ParquetFiles(Source):
    files: list[Path]

    @property
    def parts(self) -> Sequence[Source]:
        # Absolute, since other processes may stand elsewhere.
        return [replace(self, name=f"{self.name}: {file.name!r}", files=[file.absolute()]) for file in self.files]

    def _stream(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        from pyarrow import parquet

        for path in self.files:
            # Without buffering ahead, which would hold the columns of the whole file.
            with parquet.ParquetFile(path, pre_buffer=False) as file:
                for group in range(file.num_row_groups):
                    for batch in file.iter_batches(batch_size=rows, columns=columns, row_groups=[group]):
                        yield batch.select(columns)

    def _count_plain(self, columns: list[str]) -> pa.Table:
        from pyarrow import parquet

        if not all_same_in_duckdb(self.schema, columns):
            return super()._count_plain(columns)
        paths = [glob.escape(str(path.absolute())) for path in self.files]
        names = parquet.read_schema(self.files[0]).names
        with engine() as duck:
            return grouped(duck.read_parquet(paths, hive_partitioning=False), names, columns)

    def _trouble(self, error: Exception) -> str:
        return "cannot be read; is it readable, whole, and really a Parquet file?"


def is_part(file: Path) -> bool:
    """Whether it is data: writers leave notes in files and folders whose names start with a dot or an underscore."""
    return not any(part.startswith((".", "_")) for part in file.parts)
