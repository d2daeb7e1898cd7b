"""DuckDB relations, and counting inside DuckDB."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from alphalift.tables.base import Source
from alphalift.tables.columns import SAME_IN_DUCKDB, decoded_table, is_one_of
from alphalift.tables.counting import COUNT, MAX_COMBINATIONS

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True)
class Relation(Source):
    relation: duckdb.DuckDBPyRelation

    def _stream(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        # Closed even if the caller stops early: an open result would block the user's connection.
        with _picked(self.relation, self.relation.columns, columns).to_arrow_reader(rows) as reader:
            for batch in reader:
                yield batch.rename_columns(columns)

    def _count_plain(self, columns: list[str]) -> pa.Table:
        return grouped(self.relation, self.relation.columns, columns)


def relation_schema(relation: duckdb.DuckDBPyRelation) -> pa.Schema:
    # On the way to Arrow DuckDB renames columns whose names differ only in case.
    return relation.limit(0).to_arrow_table().rename_columns(relation.columns).schema


@contextmanager
def engine() -> Iterator[duckdb.DuckDBPyConnection]:
    """A DuckDB of our own, which fetches no extension and leaves nothing on the disk."""
    import duckdb

    settings: dict[str, str | bool | int | float | list[str]] = {
        "temp_directory": "",
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    with duckdb.connect(":memory:", config=settings) as engine:
        yield engine


def all_same_in_duckdb(schema: pa.Schema, columns: list[str]) -> bool:
    return all(is_one_of(schema.field(column).type, SAME_IN_DUCKDB) for column in columns)


def _picked(relation: duckdb.DuckDBPyRelation, names: list[str], columns: list[str]) -> duckdb.DuckDBPyRelation:
    """The columns by their place: to DuckDB "Age" and "age" are one name."""
    return relation.project(", ".join(f"#{names.index(column) + 1} AS c{i}" for i, column in enumerate(columns)))


def grouped(relation: duckdb.DuckDBPyRelation, names: list[str], columns: list[str]) -> pa.Table:
    keys = ", ".join(f"c{i}" for i in range(len(columns)))
    counts = _picked(relation, names, columns).aggregate(f"{keys}, count(*)", keys).limit(MAX_COMBINATIONS + 1)
    return decoded_table(counts.to_arrow_table().rename_columns([*columns, COUNT]))
