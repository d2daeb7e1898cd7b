"""Spark: a frame is counted and released where it is, by Spark's workers, in batches of Arrow.

A record's output depends on nothing but the plan, its id and its value: a task that is repeated, runs twice at a time or
sees other partitions answers every record as before. Errors in workers are ours as well, and tell no cell. pyspark is
imported only where one of its frames is at hand.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from alphalift.errors import InputError, TableError
from alphalift.release.keyed import RisingIds, rise_together
from alphalift.release.records import Answers, EmptyTableError, Plan
from alphalift.release.source import COUNT, MAX_COMBINATIONS, Change, Table, decoded, in_our_words, require

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_NAME = "the Spark frame"
# Rows bound a batch. Spark would also add up its bytes after every row, which takes longer than the draw.
_QUICK_BATCHES = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(10_000),
    "spark.sql.execution.arrow.maxBytesPerBatch": str(2**31 - 1),
}
# What the look at a partition tells.
_SUMMARY = pa.schema(
    [("rows", pa.int64()), ("unseen", pa.int64()), ("rising", pa.bool_())]
    + [(name, pa.string()) for name in ("first", "last", "trouble")]
)

Batches = Iterable[pa.RecordBatch]


# --- on the driver ---


def open_frame(frame: DataFrame, columns: Sequence[str]) -> SparkFrame:
    """The frame with these columns, which must exist once each."""
    table = SparkFrame(_NAME, "Spark frame", pa.schema([]), frame)
    with table._in_our_words():
        require(_NAME, columns, frame.columns)
        return replace(table, schema=_as_read(table._picked(columns).limit(0).toArrow(), columns).schema)


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
        with self._in_our_words(), _quick_batches(frame.sparkSession):
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

    def _count(self, columns: list[str], change: Change | None) -> pa.Table:
        from pyspark.sql.types import StringType

        frame = self._picked(columns)
        if change is not None:
            changed = change(pa.RecordBatch.from_pylist([], self.schema).select(columns)).schema
            same = [changed.field(column).type == self.schema.field(column).type for column in columns]
            kinds = [self.kind(column) if same[i] else StringType() for i, column in enumerate(columns)]
            frame = self.mapped(
                partial(_changed, change, columns), columns, {f"c{i}": kind for i, kind in enumerate(kinds)}
            )
        counts = frame.groupBy(*frame.columns).count().limit(MAX_COMBINATIONS + 1)
        return _as_read(self.fetched(counts), [*columns, COUNT])


def release_frame(
    table: SparkFrame, plan: Plan, *, check: bool, out: str | Path | None
) -> tuple[int | None, int | None, DataFrame | None]:
    """How many records there are, how many have an unseen value, and the lazy frame of what is released.

    With `out` Spark writes it as a new folder of Parquet files. What was not counted is None: without `check` a lazy frame.
    """
    from pyspark.sql.types import StringType

    rows, unseen = _look(table, plan, ids=True) if check else (None, None)
    kinds = {str(plan.record_id): table.kind(str(plan.record_id))} if plan.with_ids else {}
    kinds = kinds | {plan.output_name: StringType()} | {name: table.kind(name) for name in plan.keep}
    frame = table.mapped(partial(_drawn, plan), plan.columns, kinds)
    if out is None:
        return rows, unseen, frame
    _write(table, plan, frame, out)
    if not check:
        with table._in_our_words():
            rows, unseen = frame.sparkSession.read.parquet(os.fspath(out)).count(), None if plan.answer_unseen else 0
    return rows, unseen, None


def _write(table: SparkFrame, plan: Plan, frame: DataFrame, out: str | Path) -> None:
    with table._in_our_words():
        if table.frame.isEmpty():
            raise EmptyTableError
    try:
        with _quick_batches(frame.sparkSession):
            frame.write.parquet(os.fspath(out))
    except Exception as error:
        shutil.rmtree(out, ignore_errors=True)  # it did not exist, so what is there is ours
        # Spark's words may quote cells; if the table is the reason, a look at it finds ours.
        _look(table, plan, ids=False)
        raise TableError(f"{_NAME} cannot be written to {out}: Spark failed with {type(error).__name__}") from None


def refuse_place(out: Path) -> None:
    """Raise unless Spark can write a new folder there."""
    if out.suffix not in ("", ".parquet"):
        raise InputError(f"{out}: Spark writes a folder of Parquet files; expected a name that ends in .parquet")
    if out.exists():
        raise InputError(f"{out} exists already; Spark writes a new folder")


def _look(table: SparkFrame, plan: Plan, *, ids: bool) -> tuple[int, int]:
    """The number of records and of those with an unseen value; raise for what may not be released.

    `ids`: raise also if an id occurs with two values, since both answers together would tell more than the promise
    allows. Partitions whose ids rise, and which do not overlap, cannot have one; others are compared in a shuffle.
    """
    from pyspark.sql.types import BooleanType, LongType, StringType

    spark = {pa.int64(): LongType(), pa.bool_(): BooleanType(), pa.string(): StringType()}
    kinds = {field.name: spark[field.type] for field in _SUMMARY}
    parts = table.fetched(table.mapped(partial(_summed_up, plan), plan.drawn_from, kinds)).to_pylist()
    trouble = [part["trouble"] for part in parts if part["trouble"]]
    if trouble:
        raise TableError(trouble[0])
    parts = [part for part in parts if part["rows"]]
    rows, unseen = (sum(part[name] for part in parts) for name in ("rows", "unseen"))
    if not rows:
        raise EmptyTableError
    if unseen and not plan.answer_unseen:
        raise plan.unknown(f"{unseen} records have")
    own = int if pa.types.is_integer(table.schema.field(plan.record_id).type) else str
    orders = [RisingIds(part["rising"], own(part["first"]), own(part["last"])) for part in parts]
    if ids and not rise_together(orders):
        _refuse_two_values(table, plan)
    return rows, unseen


def _refuse_two_values(table: SparkFrame, plan: Plan) -> None:
    from pyspark.sql import functions
    from pyspark.sql.types import LongType

    kinds = {"id": table.kind(str(plan.record_id)), "x": LongType()}
    pairs = table.mapped(partial(_pairs, plan), plan.drawn_from, kinds)
    values = pairs.groupBy("id").agg(functions.min("x").alias("least"), functions.max("x").alias("most"))
    twice = table.fetched(values.where("least <> most").groupBy().count()).column(0)[0].as_py()
    if twice:
        raise plan.two_values(twice)


@contextmanager
def _quick_batches(session: SparkSession) -> Iterator[None]:
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


def _as_read(batch: Any, columns: Sequence[str]) -> Any:
    """A batch or table with the columns' own names, and moments in UTC, as files have them, not in the session's zone."""
    batch = batch.rename_columns(list(columns))
    for i, field in enumerate(batch.schema):
        if pa.types.is_timestamp(field.type) and field.type.tz:
            moments = batch.column(i).cast(pa.timestamp(field.type.unit, "UTC"))
            batch = batch.set_column(i, field.name, moments)
    return batch


def _changed(change: Change, columns: list[str], batches: Batches) -> Batches:
    for batch in batches:
        with in_our_words(_NAME):
            changed = change(batch.rename_columns(columns))
        yield _plain(changed, batch.schema.names)


def _drawn(plan: Plan, batches: Batches) -> Batches:
    """What is released of every batch; a frame may have other rows than when it was looked at, so nothing is trusted."""
    answers = Answers(plan)
    for batch in batches:
        with in_our_words(_NAME):
            read = _as_read(batch, plan.columns)
            numbers = answers.numbers(read)
            if not plan.answer_unseen and answers.unseen(numbers).any():
                raise plan.unknown("a record (and perhaps others) has")
            released = answers.released(batch.rename_columns(plan.columns), answers.ids(read), numbers)
        yield _plain(released, released.schema.names)


def _summed_up(plan: Plan, batches: Batches) -> Batches:
    """One row on all batches of a partition."""
    answers, order, rows, unseen, trouble = Answers(plan), RisingIds(), 0, 0, None
    for batch in batches:
        if trouble:
            continue
        try:
            with in_our_words(_NAME):
                read = _as_read(batch, plan.drawn_from)
                order.see(answers.ids(read))
                unseen += int(answers.unseen(answers.numbers(read)).sum())
                rows += len(batch)
        except TableError as error:
            trouble = str(error)
    first, last = (None if end is None else str(end) for end in (order.first, order.last))
    values = [rows, unseen, order.rising, first, last, trouble]
    yield pa.RecordBatch.from_pylist([dict(zip(_SUMMARY.names, values, strict=True))], _SUMMARY)


def _pairs(plan: Plan, batches: Batches) -> Batches:
    """Ids and the numbers of their symbols."""
    answers = Answers(plan)
    for batch in batches:
        with in_our_words(_NAME):
            read = _as_read(batch, plan.drawn_from)
            yield pa.record_batch({"id": batch.column(0), "x": pa.array(answers.numbers(read))})


def _plain(batch: pa.RecordBatch, names: list[str]) -> pa.RecordBatch:
    """The batch under these names without dictionaries, which Spark does not read."""
    return pa.record_batch([decoded(column) for column in batch.columns], names)
