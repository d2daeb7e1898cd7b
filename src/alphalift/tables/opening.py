"""open_table: any kind of table, behind one interface."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from alphalift.errors import TableError
from alphalift.tables.arrow import Dataset, Memory, Once
from alphalift.tables.base import Source, opened
from alphalift.tables.columns import is_unicode
from alphalift.tables.duck import Relation, relation_schema
from alphalift.tables.file import TableFile
from alphalift.tables.frames import KINDS, Query, open_frame
from alphalift.tables.parquet import is_part, open_parquet
from alphalift.tables.spark import SparkFrame, open_spark
from alphalift.tables.text import open_text
from alphalift.tables.workbook import ENDINGS, open_workbook

_PARQUET = (".parquet", ".pq")


def open_table(table: Any, *, columns: Sequence[str]) -> Source | SparkFrame:
    """The table with these columns, which must exist once each.

    CSV and TSV files (also .gz; a header row, UTF-8, quotes as in RFC 4180; every cell is text, an empty one null,
    blank lines are skipped; separated as the ending says, or by the one of , ; | and tab that a header of one column has in it, or as a `TableFile` says); a sheet of an Excel file (with the extra `excel`); Parquet files and folders of them (same columns in each, in the order of their paths);
    Arrow tables, readers (only once) and datasets; pandas and polars frames, also lazy; DuckDB relations; Spark frames.
    All but the last are a `Source`.
    """
    columns = list(columns)
    if isinstance(table, str | os.PathLike):
        return _open_path(table if isinstance(table, TableFile) else TableFile(Path(table)), columns)
    if _is_of(table, "duckdb", "DuckDBPyRelation"):
        return opened(Relation, "DuckDB relation", table, columns, lambda: relation_schema(table))
    if _is_of(table, "polars", "LazyFrame"):
        return opened(Query, "polars query", table, columns, lambda: table.head(0).collect().to_arrow().schema)
    if isinstance(table, pa.RecordBatchReader):
        return opened(Once, "Arrow reader", iter([table]), columns, lambda: table.schema)
    if _is_of(table, "pyarrow.dataset", "Dataset"):
        return opened(Dataset, "Arrow dataset", table, columns, lambda: table.schema)
    if isinstance(table, pa.Table):
        return opened(Memory, "Arrow table", table, columns, lambda: table.schema)
    if is_spark(table):
        return open_spark(table, columns)
    return open_frame(table, columns)


def is_spark(table: Any) -> bool:
    """Whether it is a data frame of Spark, which need not be installed."""
    import narwhals as nw

    return nw.dependencies.is_pyspark_dataframe(table) or nw.dependencies.is_pyspark_connect_dataframe(table)


def _is_of(table: Any, library: str, kind: str) -> bool:
    """Whether it is of this kind of a library, which is loaded if it is."""
    loaded = sys.modules.get(library)
    return loaded is not None and isinstance(table, getattr(loaded, kind))


def _open_path(file: TableFile, columns: list[str]) -> Source:
    path = Path(file)
    name = str(path) if str(path).isprintable() else ascii(str(path))
    if not is_unicode(str(path)):
        raise TableError(f"{name}: a name that is not UTF-8 is not for Arrow to open; rename the file")
    if not os.path.exists(path):
        raise TableError(f"{name}: there is no such file")
    if file.separator is not None and (path.is_dir() or path.suffix.lower() in (*_PARQUET, *ENDINGS)):
        raise TableError(f"{name} has no separators: those of CSV and TSV files have")
    if path.is_dir():
        files = sorted(file for file in path.rglob("*.parquet") if is_part(file.relative_to(path)))
        if not files:
            raise TableError(f"{name} is a folder without Parquet files; expected {KINDS}")
        return open_parquet(name, "Parquet folder", files, columns)
    if not path.is_file():
        raise TableError(f"{name} is not a file; expected {KINDS}")
    if path.suffix.lower() in _PARQUET:
        return open_parquet(name, "Parquet file", [path], columns)
    if path.suffix.lower() in ENDINGS:
        return open_workbook(path, name, columns, file.sheet)
    if file.sheet is not None:
        raise TableError(f"{name} has no sheets: those of Excel files have (.xlsx, .xls, .ods)")
    return open_text(path, name, columns, file.separator)
