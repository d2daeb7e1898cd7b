"""Spark: a frame is released where it is, by Spark's workers, in batches of Arrow.

A record's output depends on nothing but the plan, its id and its value: a task that is repeated, runs twice at a time or
sees other partitions answers every record as before. Errors in workers are ours as well, and tell no cell. pyspark is
imported only where one of its frames is at hand.
"""

from __future__ import annotations

import secrets
import shutil
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from alphalift.errors import InputError, TableError
from alphalift.release.keyed import RisingIds, rise_together
from alphalift.release.local import Seen
from alphalift.release.records import Answers, EmptyTableError, Plan
from alphalift.tables import SparkFrame, in_our_words, open_writer
from alphalift.tables.spark import NAME, Batches, as_read, for_spark, quick_batches
from alphalift.whole import require_new_folder, whole_file, whole_folder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Rows of a batch in our own jobs.
_ROWS = 1 << 18
# What the look at a partition tells.
_SUMMARY = pa.schema(
    [("rows", pa.int64()), ("unseen", pa.int64()), ("rising", pa.bool_())]
    + [(name, pa.string()) for name in ("first", "last", "trouble", "file")]
)

# --- on the driver ---


def release_frame(
    table: SparkFrame, plan: Plan, *, check: bool, out: str | Path | None
) -> tuple[int | None, int | None, DataFrame | None]:
    """How many records there are, how many have an unseen value, and the lazy frame of what is released.

    With `out` there is a new folder of Parquet files instead: at a path Spark's workers write it, which spares the way back
    into Spark, at a URI (hdfs://...) Spark does. What was not counted is None: of a lazy frame without `check`.
    """
    if out is not None and not _is_uri(out):
        return *_write_files(table, plan, Path(out), check=check), None
    rows, unseen, _ = _look(table, plan, ids=check) if check or out is not None else (None, None, [])
    frame = _lazy(table, plan)
    if out is None:
        return rows, unseen, frame
    try:
        with quick_batches(frame.sparkSession):
            frame.write.parquet(str(out))
    except Exception as error:
        # Spark's words may quote cells.
        raise TableError(f"{NAME} cannot be written to {out}: Spark failed with {type(error).__name__}") from None
    return rows, unseen, None


def _lazy(table: SparkFrame, plan: Plan) -> DataFrame:
    from pyspark.sql.types import StringType

    kinds = {str(plan.record_id): table.kind(str(plan.record_id))} if plan.with_ids else {}
    kinds = kinds | {plan.output_name: StringType()} | {name: table.kind(name) for name in plan.keep}
    return table.mapped(partial(_drawn, plan), plan.columns, kinds)


def _write_files(table: SparkFrame, plan: Plan, out: Path, *, check: bool) -> tuple[int, int]:
    """Have the workers write a file for every partition; nothing is seen before all is checked.

    Tasks that fail or run twice leave files, too: only those that Spark takes the results of are moved to the new folder.
    """
    staging = out.absolute().with_name(f".{secrets.token_hex(8)}.staging-{out.name}")
    staging.mkdir()
    try:
        with whole_folder(out) as folder:
            rows, unseen, files = _look(table, plan, ids=check, staging=staging)
            for number, file in enumerate(files):
                (staging / file).rename(folder / f"part-{number:05d}.parquet")
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return rows, unseen


def _is_uri(out: str | Path) -> bool:
    return "://" in str(out) and not isinstance(out, Path)


def refuse_place(out: str | Path) -> None:
    """Raise unless a new folder can be written there; what lies behind a URI only Spark knows."""
    if Path(out).suffix not in ("", ".parquet"):
        raise InputError(f"{out}: Spark writes a folder of Parquet files; expected a name that ends in .parquet")
    if not _is_uri(out):
        require_new_folder(Path(out))


def _look(table: SparkFrame, plan: Plan, *, ids: bool, staging: Path | None = None) -> tuple[int, int, list[str]]:
    """The numbers of records and of those with an unseen value, and the files of the partitions that have rows, in order.

    Raises for what may not be released. `ids`: also if an id occurs with two values, since both answers together would tell
    more than the promise allows. Partitions whose ids rise, and which do not overlap, cannot have one; others are compared
    in a shuffle. `staging`: what is released of every partition is written to a file there.
    """
    from pyspark.sql.types import BooleanType, LongType, StringType

    spark = {pa.int64(): LongType(), pa.bool_(): BooleanType(), pa.string(): StringType()}
    kinds = {field.name: spark[field.type] for field in _SUMMARY}
    columns = plan.drawn_from if staging is None else plan.columns
    parts = table.fetched(table.mapped(partial(_summed_up, plan, columns, staging), columns, kinds)).to_pylist()
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
    return rows, unseen, [part["file"] for part in parts]


def _refuse_two_values(table: SparkFrame, plan: Plan) -> None:
    from pyspark.sql import functions
    from pyspark.sql.types import LongType

    kinds = {"id": table.kind(str(plan.record_id)), "x": LongType()}
    pairs = table.mapped(partial(_pairs, plan), plan.drawn_from, kinds)
    values = pairs.groupBy("id").agg(functions.min("x").alias("least"), functions.max("x").alias("most"))
    twice = table.fetched(values.where("least <> most").groupBy().count()).column(0)[0].as_py()
    if twice:
        raise plan.two_values(twice)


# --- in Spark's workers ---


def _drawn(plan: Plan, batches: Batches) -> Batches:
    """What is released of every batch; a frame may have other rows than when it was looked at, so nothing is trusted."""
    answers = Answers(plan)
    for batch in batches:
        with in_our_words(NAME):
            read = as_read(batch, plan.columns)
            numbers = answers.numbers(read)
            if not plan.answer_unseen and answers.unseen(numbers).any():
                raise plan.unknown("a record (and perhaps others) has")
            released = answers.released(batch.rename_columns(plan.columns), answers.ids(read), numbers)
        yield for_spark(released, released.schema.names)


def _summed_up(plan: Plan, columns: list[str], staging: Path | None, batches: Batches) -> Batches:
    """One row on all batches of a partition; with `staging`, what is released of them goes to a file there."""
    answers, seen, trouble, file = Answers(plan), Seen(), None, f"{secrets.token_hex(8)}.parquet"
    if staging is not None and not staging.is_dir():
        staging, trouble = (
            None,
            "Spark's workers do not share the disk of the output; give a URI of Spark's file system",
        )
    with whole_file(staging / file) if staging is not None else nullcontext() as part:
        writer = None
        for batch in _larger(batches):
            if trouble:
                continue  # Spark wants all its batches read
            try:
                with in_our_words(NAME):
                    read = as_read(batch, columns)
                    ids, numbers = answers.ids(read), answers.numbers(read)
                    seen.add(ids, answers.unseen(numbers))
                    if part is not None and (plan.answer_unseen or not seen.unseen):
                        released = answers.released(read, ids, numbers)
                        writer = writer or open_writer(part, file, released.schema)
                        writer.write_batch(released)
            except TableError as error:
                trouble = str(error)
        if writer is not None:
            writer.close()
        elif part is not None:
            part.touch()
    first, last = (None if end is None else str(end) for end in (seen.order.first, seen.order.last))
    values = [seen.rows, seen.unseen, seen.order.rising, first, last, trouble, file]
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


def _pairs(plan: Plan, batches: Batches) -> Batches:
    """Ids and the numbers of their symbols."""
    answers = Answers(plan)
    for batch in batches:
        with in_our_words(NAME):
            read = as_read(batch, plan.drawn_from)
            yield pa.record_batch({"id": batch.column(0), "x": pa.array(answers.numbers(read))})
