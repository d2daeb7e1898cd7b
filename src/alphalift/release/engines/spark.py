"""Spark: a frame is released where it is, by Spark's workers, in batches of Arrow.

A record's output depends on nothing but the work, its id and its value: a task that is repeated, runs twice at a time or
sees other partitions answers every record as before. Errors in workers are ours as well, and tell no cell. pyspark is
imported only where one of its frames is at hand.
"""

from __future__ import annotations

import json
import secrets
import shutil
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from alphalift.errors import TableError
from alphalift.release.engines.base import Done
from alphalift.release.ids import RisingIds, rise_together
from alphalift.release.outputs import Outputs
from alphalift.release.work import Answers, EmptyTableError, Seen, Work
from alphalift.tables import SparkFrame, Writer, in_our_words, open_writer
from alphalift.tables.spark import NAME, Batches, as_read, for_spark, quick_batches
from alphalift.whole import whole_file

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Rows of a batch in our own jobs.
_ROWS = 1 << 18
# What the look at a partition tells; `sums` are the counts of outputs, the sum of F and the least hashes of ids, as text.
_SUMMARY = pa.schema(
    [("rows", pa.int64()), ("unseen", pa.int64()), ("rising", pa.bool_())]
    + [(name, pa.string()) for name in ("first", "last", "trouble", "file", "sums")]
)
_STAGING = ".staging"


# --- on the driver ---


@dataclass(frozen=True)
class Spark:
    """Has Spark's workers draw; a `uri` is written by Spark itself, after a job that checks."""

    frame: SparkFrame
    uri: str | None = None

    def release(self, work: Work, part: Path | None, *, check: bool) -> Done:
        """A lazy frame, or with `part`, a folder, a Parquet file for every partition, written and checked in one pass.

        Nothing is seen of a lazy frame without `check`.
        """
        if part is not None:
            return Done(_write_files(self.frame, work, part, check=check))
        seen = _look(self.frame, work.looking, ids=check)[0] if check or self.uri is not None else None
        lazy = _lazy(self.frame, work)
        return Done(seen, lazy) if self.uri is None else Done(seen, write=partial(_write_uri, lazy, self.uri))


def _lazy(table: SparkFrame, work: Work) -> DataFrame:
    from pyspark.sql.types import IntegerType, StringType

    kinds: dict[str, Any] = {}
    if work.show_ids != "none":
        own = str(work.record_id)
        kinds[own] = StringType() if work.show_ids == "pseudonym" else table.kind(own)
    drawn = Outputs.of(work.integers, work.variable).arrays(np.zeros(1, np.int32))
    for name, array in drawn.items():
        kinds[name] = IntegerType() if pa.types.is_integer(array.type) else StringType()
    kinds |= {name: table.kind(name) for name in work.keep}
    return table.mapped(partial(_drawn, work), work.columns, kinds)


def _write_uri(frame: DataFrame, uri: str) -> None:
    try:
        with quick_batches(frame.sparkSession):
            frame.write.parquet(uri)
    except Exception as error:
        # Spark's words may quote cells.
        raise TableError(f"{NAME} cannot be written to {uri}: Spark failed with {type(error).__name__}") from None


def _write_files(table: SparkFrame, work: Work, folder: Path, *, check: bool) -> Seen:
    """Have the workers write a file for every partition.

    Tasks that fail or run twice leave files, too: only those that Spark takes the results of are moved to the folder.
    """
    staging = folder.absolute() / _STAGING
    staging.mkdir()
    try:
        seen, files = _look(table, work, ids=check, staging=staging)
        for number, file in enumerate(files):
            (staging / file).rename(folder / f"part-{number:05d}.parquet")
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return seen


def _look(table: SparkFrame, work: Work, *, ids: bool, staging: Path | None = None) -> tuple[Seen, list[str]]:
    """What is seen of all records, and the files of the partitions that have rows, in order.

    Raises for what may not be released. `ids`: also if an id occurs with two values, since both answers together would tell
    more than the promise allows. Partitions whose ids rise, and which do not overlap, cannot have one; others are compared
    in a shuffle. `staging`: what is released of every partition is written to a file there.
    """
    from pyspark.sql.types import BooleanType, LongType, StringType

    spark = {pa.int64(): LongType(), pa.bool_(): BooleanType(), pa.string(): StringType()}
    kinds = {field.name: spark[field.type] for field in _SUMMARY}
    columns = work.columns
    parts = table.fetched(table.mapped(partial(_summed_up, work, staging), columns, kinds)).to_pylist()
    trouble = [part["trouble"] for part in parts if part["trouble"]]
    if trouble:
        raise TableError(trouble[0])
    parts = [part for part in parts if part["rows"]]
    seen = Seen.nothing(work)
    for part in parts:
        counts, *words = json.loads(part["sums"])
        total, least = (np.array(each, np.uint64) for each in words)
        seen.join(Seen(np.array(counts), part["rows"], part["unseen"], total=total, least=least))
    if not seen.rows:
        raise EmptyTableError.of(table.name)
    own = int if pa.types.is_integer(table.schema.field(work.record_id).type) else str
    orders = [RisingIds(part["rising"], own(part["first"]), own(part["last"])) for part in parts]
    if ids and not rise_together(orders):
        _refuse_two_values(table, work)
    return seen, [part["file"] for part in parts]


def _refuse_two_values(table: SparkFrame, work: Work) -> None:
    from pyspark.sql import functions
    from pyspark.sql.types import LongType

    kinds = {"id": table.kind(str(work.record_id)), "x": LongType()}
    pairs = table.mapped(partial(_pairs, work), work.drawn_from, kinds)
    values = pairs.groupBy("id").agg(functions.min("x").alias("least"), functions.max("x").alias("most"))
    twice = table.fetched(values.where("least <> most").groupBy().count()).column(0)[0].as_py()
    if twice:
        raise work.two_values(twice)


# --- in Spark's workers ---


def _drawn(work: Work, batches: Batches) -> Batches:
    """What is released of every batch; a frame may have other rows than when it was looked at, so nothing is trusted."""
    answers = Answers(work)
    for batch in batches:
        with in_our_words(NAME):
            released = answers.answer(as_read(batch, work.columns)).batch
            # Moments are handed back in the zone that Spark gave them in.
            given = batch.rename_columns(work.columns)
            for name in work.keep:
                released = released.set_column(released.schema.names.index(name), name, given.column(name))
        yield for_spark(released, released.schema.names)


def _summed_up(work: Work, staging: Path | None, batches: Batches) -> Batches:
    """One row on all batches of a partition; with `staging`, what is released of them goes to a file there."""
    answers, seen, trouble = Answers(work), Seen.nothing(work), None
    file = f"{secrets.token_hex(8)}.parquet"
    if staging is not None and not staging.is_dir():
        staging = None
        trouble = "Spark's workers do not share the disk of the output; give a URI of Spark's file system"
    with whole_file(staging / file) if staging is not None else nullcontext() as part:
        writer: Writer | None = None
        for batch in _larger(batches):
            if trouble:
                continue  # Spark wants all its batches read
            try:
                with in_our_words(NAME):
                    answered = answers.answer(as_read(batch, work.columns))
                    seen.add(answered)
                    if part is not None:
                        writer = writer or open_writer(part, file, answered.batch.schema)
                        writer.write_batch(answered.batch)
            except TableError as error:
                trouble = str(error)
        if writer is not None:
            writer.close()
    first, last = (None if end is None else str(end) for end in (seen.order.first, seen.order.last))
    sums = json.dumps([seen.counts.tolist(), seen.total.tolist(), seen.least.tolist()])
    values = [seen.rows, seen.unseen, seen.order.rising, first, last, trouble, file, sums]
    yield pa.RecordBatch.from_pylist([dict(zip(_SUMMARY.names, values, strict=True))], _SUMMARY)


def _larger(batches: Batches) -> Batches:
    """The same rows in fewer batches: each has its cost, and a row group in a file."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(map(len, waiting)) >= _ROWS:
            yield from pa.Table.from_batches(waiting).combine_chunks().to_batches()
            waiting = []
    if waiting:
        yield from pa.Table.from_batches(waiting).combine_chunks().to_batches()


def _pairs(work: Work, batches: Batches) -> Batches:
    """Ids and the numbers of their symbols."""
    answers = Answers(work)
    for batch in batches:
        with in_our_words(NAME):
            pairs = answers.pairs(as_read(batch, work.drawn_from))
        yield pairs
