"""Frames of Spark, counted and read where they are, by Spark's workers, in batches of Arrow.

pyspark is imported only where one of its frames is at hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from alphalift.tables.base import Table, in_our_words
from alphalift.tables.bins import Readings
from alphalift.tables.columns import decoded, plain_batch, require
from alphalift.tables.counting import COUNT, MAX_COMBINATIONS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NAME = "the Spark frame"
# Rows bound a batch. Spark would also add up its bytes after every row, which takes longer than the draw.
_QUICK_BATCHES = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(10_000),
    "spark.sql.execution.arrow.maxBytesPerBatch": str(2**31 - 1),
}

Batches = Iterable[pa.RecordBatch]


def open_spark(frame: DataFrame, columns: Sequence[str]) -> SparkFrame:
    """The frame with these columns, which must exist once each."""
    table = SparkFrame(NAME, "Spark frame", pa.schema([]), frame)
    with table._in_our_words():
        require(NAME, columns, frame.columns)
        return replace(table, schema=as_read(table._picked(columns).limit(0).toArrow(), columns).schema)


@dataclass(frozen=True)
class SparkFrame(Table):
    """A data frame of Spark, read by Spark's workers alone."""

    frame: DataFrame

    def mapped(
        self, function: Callable[[Batches], Batches], columns: Sequence[str], kinds: dict[str, Any]
    ) -> DataFrame:
        """The lazy frame, of these names and types, that the function makes of batches of the columns."""
        from pyspark.sql.types import StructField, StructType

        schema = StructType([StructField(name, kind) for name, kind in kinds.items()])
        return self._picked(columns).mapInArrow(function, schema)

    def fetched(self, frame: DataFrame) -> pa.Table:
        """The rows of a frame that has few."""
        with self._in_our_words(), quick_batches(frame.sparkSession):
            return frame.toArrow()

    def kind(self, column: str) -> Any:
        """Spark's type of a column."""
        return self._picked([column]).schema.fields[0].dataType

    def _picked(self, columns: Sequence[str]) -> DataFrame:
        """The columns by their place: to Spark "Age" and "age" are one name, and a dot looks into a structure.

        Text is compared byte by byte, also if the frame says that "A" and "a" are one.
        """
        from pyspark.sql import functions
        from pyspark.sql.types import StringType

        names = [f"c{i}" for i in range(len(self.frame.columns))]
        frame, places = self.frame.toDF(*names), [self.frame.columns.index(column) for column in columns]
        return frame.select(
            *(
                functions.col(names[i]).cast("string").alias(names[i])
                if isinstance(self.frame.schema.fields[i].dataType, StringType)
                else names[i]
                for i in places
            )
        )

    def _count(self, columns: list[str], change: Readings | None) -> pa.Table:
        from pyspark.sql.types import StringType

        frame = self._picked(columns)
        if change is not None:
            kinds = [self.kind(one.column) if one.edges is None else StringType() for one in change.readings]
            frame = self.mapped(
                partial(_changed, change, columns), columns, dict(zip(change.names, kinds, strict=True))
            )
        counts = frame.groupBy(*frame.columns).count().limit(MAX_COMBINATIONS + 1)
        return as_read(self.fetched(counts), [*(columns if change is None else change.names), COUNT])


@contextmanager
def quick_batches(session: SparkSession) -> Iterator[None]:
    """The session with settings of ours, until our job is done."""
    before = {name: session.conf.get(name, None) for name in _QUICK_BATCHES}
    try:
        for name, value in _QUICK_BATCHES.items():
            session.conf.set(name, value)
        yield
    finally:
        for name, old in before.items():
            session.conf.unset(name) if old is None else session.conf.set(name, old)


# --- in Spark's workers ---


def as_read(batch: Any, columns: Sequence[str]) -> Any:
    """A batch or table with the columns' own names, and moments in UTC, as files have them, not in the session's zone."""
    batch = plain_batch(batch, NAME) if isinstance(batch, pa.RecordBatch) else batch
    batch = batch.rename_columns(list(columns))
    for i, field in enumerate(batch.schema):
        if pa.types.is_timestamp(field.type) and field.type.tz:
            moments = batch.column(i).cast(pa.timestamp(field.type.unit, "UTC"))
            batch = batch.set_column(i, field.name, moments)
    return batch


def _changed(change: Readings, columns: list[str], batches: Batches) -> Batches:
    for batch in batches:
        with in_our_words(NAME):
            changed = change(batch.rename_columns(columns))
        yield for_spark(changed, change.names)


def for_spark(batch: pa.RecordBatch, names: list[str]) -> pa.RecordBatch:
    """The batch under these names without dictionaries, which Spark does not read."""
    return pa.record_batch([decoded(column) for column in batch.columns], names)
