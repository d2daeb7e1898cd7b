"""pandas and polars frames, also polars queries, and the way back: `like`."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from alphalift.errors import TableError
from alphalift.tables.arrow import Memory
from alphalift.tables.base import Source, opened
from alphalift.tables.columns import decoded, decoded_table, require
from alphalift.tables.counting import COUNT

if TYPE_CHECKING:
    import narwhals as nw

KINDS = "the path of a CSV, TSV, Excel or Parquet file, a folder of Parquet files, an Arrow, pandas or polars table"


def open_frame(frame: Any, columns: list[str]) -> Source:
    """A pandas or polars frame, its columns brought into Arrow's memory."""
    import narwhals as nw

    try:
        table = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise TableError(f"a table is {KINDS} or a DuckDB relation, not {type(frame).__name__}") from None
    except nw.exceptions.DuplicateError:
        raise TableError("the table has column names that occur more than once") from None
    description = f"{type(frame).__module__.partition('.')[0]} frame"
    require(f"the {description}", columns, table.columns)
    data = pa.table({column: _to_arrow(table, column) for column in columns})
    return opened(Memory, description, data, columns, lambda: data.schema)


def _to_arrow(table: nw.DataFrame[Any], column: str) -> pa.ChunkedArray:
    try:
        return table.select(column).to_arrow().column(0)
    except Exception:
        raise TableError(
            f"the table: column {column!r} has values of several types, or text that is not Unicode; "
            "convert it to text first"
        ) from None


@dataclass(frozen=True)
class Query(Source):
    query: Any

    def _stream(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        for frame in self.query.select(columns).collect_batches(chunk_size=rows, maintain_order=True):
            yield from frame.to_arrow().to_batches()

    def _count_plain(self, columns: list[str]) -> pa.Table:
        keys = [f"c{i}" for i in range(len(columns))]
        query = self.query.select(columns).rename(dict(zip(columns, keys, strict=True))).group_by(keys).len()
        counts = decoded_table(query.collect(engine="streaming").to_arrow())
        counts = counts.set_column(len(columns), COUNT, counts.columns[-1].cast(pa.int64()))
        return counts.rename_columns([*columns, COUNT])


def like(table: Any, answer: pa.Table, *, new: Collection[str] = ()) -> Any:
    """The Arrow table as the kind of frame that `table` is: pandas for pandas, polars for polars, else as it is.

    Columns of `table` keep their types, but for those that are `new` under an old name. A pandas frame gets a new index:
    the table's own may name people.
    """
    import narwhals as nw

    if nw.dependencies.is_polars_dataframe(table) or nw.dependencies.is_polars_lazyframe(table):
        frame = nw.from_arrow(answer, backend="polars").to_native()
        return frame.lazy() if nw.dependencies.is_polars_lazyframe(table) else frame
    if nw.dependencies.is_pandas_dataframe(table):
        import pandas as pd

        names = answer.schema.names
        kinds = {name: table[name].dtype for name in names if name in table.columns and name not in new}
        return pd.DataFrame({name: _pandas_column(answer.column(name), kinds.get(name)) for name in names})
    return answer


def _pandas_column(column: pa.ChunkedArray, kind: Any) -> Any:
    import pandas as pd

    if kind is None or isinstance(kind, pd.CategoricalDtype):
        return column.to_pandas()
    # Extension types bring their own way, which keeps large integers beside missing values.
    if hasattr(kind, "__from_arrow__"):
        return pd.Series(kind.__from_arrow__(decoded(column)))
    return column.to_pandas().astype(kind)
