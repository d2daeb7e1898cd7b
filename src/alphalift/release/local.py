"""A table released in this process: read, drawn and written batch by batch, in constant memory."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from alphalift.release.keyed import Ids, RisingIds
from alphalift.release.records import Answers, EmptyTableError, Plan
from alphalift.tables import InMemory, Source, Writer, decoded, open_writer
from alphalift.whole import whole_file

# Rows of a batch: memory does not depend on the table's.
_ROWS = 1 << 19
# For the check of ids; what does not fit goes to a temporary folder.
_MEMORY = "250MB"


@dataclass
class Seen:
    """What a run over a table has seen so far."""

    rows: int = 0
    unseen: int = 0
    order: RisingIds = field(default_factory=RisingIds)

    def add(self, ids: Ids, unseen: NDArray[np.bool_]) -> None:
        """The next records: their ids, and whether the mechanism does not know their values."""
        self.order.see(ids)
        self.unseen += int(unseen.sum())
        self.rows += len(unseen)


def release_table(source: Source, plan: Plan, *, check: bool, out: Path | None) -> tuple[Seen, pa.Table | None]:
    """What was seen, and the released records, unless they went to a file."""
    seen = Seen()
    with whole_file(out) if out is not None else nullcontext() as part:
        writer: Writer | None = None
        for batch in _ahead(_released(source, plan, seen)):
            if writer is None:
                writer = InMemory(batch.schema) if out is None else open_writer(part or out, out.name, batch.schema)
            writer.write_batch(batch)
        if writer is None:
            raise EmptyTableError
        writer.close()
        if check and not seen.order.rising:  # before anybody can see the output
            refuse_two_values(source, plan)
    return seen, writer.table if isinstance(writer, InMemory) else None


def _released(source: Source, plan: Plan, seen: Seen) -> Iterator[pa.RecordBatch]:
    """Batches of ids, outputs and kept columns; raise where a record has no answer."""
    answers = Answers(plan)
    for batch in _ahead(source.batches(plan.columns, rows=_ROWS)):
        numbers = answers.numbers(batch)
        unseen = answers.unseen(numbers)
        if unseen.any() and not plan.answer_unseen:
            raise plan.unknown(f"row {seen.rows + int(unseen.argmax()) + 1} (and perhaps others) has")
        ids = np.arange(seen.rows, seen.rows + len(batch)) if plan.record_id is None else answers.ids(batch)
        seen.add(ids, unseen)
        yield answers.released(batch, ids, numbers)


def refuse_two_values(source: Source, plan: Plan) -> None:
    """Raise if an id occurs with two values: both answers together would tell more than the promise allows."""
    answers = Answers(plan)

    def pairs() -> Iterator[pa.RecordBatch]:
        for batch in source.batches(plan.drawn_from, rows=_ROWS):
            ids = decoded(batch.column(plan.record_id))
            yield pa.record_batch({"id": ids, "x": pa.array(answers.numbers(batch))})

    batches = pairs()
    first = next(batches, None)
    if first is None:
        return
    reader = pa.RecordBatchReader.from_batches(first.schema, _chained(first, batches))
    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as engine:
        engine.execute(f"SET memory_limit = '{_MEMORY}'")
        engine.execute(f"SET temp_directory = '{folder}'")
        engine.execute("SET preserve_insertion_order = false")
        engine.register("pairs", reader)
        twice = engine.execute(
            "SELECT count(*) FROM (SELECT id FROM pairs GROUP BY id HAVING min(x) <> max(x))"
        ).fetchall()[0][0]
    if twice:
        raise plan.two_values(twice)


def _ahead(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same batches, the next one made while the last one is used: reading, drawing and writing go on beside each other."""
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, batches, None)
        while (batch := coming.result()) is not None:
            coming = pool.submit(next, batches, None)
            yield batch


def _chained(first: pa.RecordBatch, rest: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield first
    yield from rest
