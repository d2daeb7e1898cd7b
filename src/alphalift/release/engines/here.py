"""A table released in this process: read, drawn and written batch by batch, in constant memory."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from alphalift.release.engines.base import Done
from alphalift.release.engines.twice import refuse_two_values
from alphalift.release.work import Answers, EmptyTableError, Seen, Work
from alphalift.tables import InMemory, Source, Writer, open_writer

# Rows of a batch: memory does not depend on the table's.
ROWS = 1 << 19


@dataclass(frozen=True)
class Here:
    """Reads the source; what does not fit into memory goes to a private folder beside `place`, where the output goes."""

    source: Source
    place: Path

    def release(self, work: Work, part: Path | None, *, check: bool) -> Done:
        """All records in the order of the table; the table in memory if there is no part."""
        seen = Seen.nothing(work)
        writer: Writer | None = None
        for batch in _ahead(self._released(work, seen)):
            if writer is None:
                writer = InMemory(batch.schema) if part is None else open_writer(part, self.place.name, batch.schema)
            writer.write_batch(batch)
        if writer is None:
            raise EmptyTableError.of(self.source.name)
        writer.close()
        if check and not seen.order.rising:  # before anybody can see the output
            refuse_two_values(self.source, work, self.place)
        return Done(seen, writer.table if isinstance(writer, InMemory) else None)

    def _released(self, work: Work, seen: Seen) -> Iterator[pa.RecordBatch]:
        answers = Answers(work)
        for batch in _ahead(self.source.batches(work.columns, rows=ROWS)):
            answered = answers.answer(batch, self.source.first_row + seen.rows)
            seen.add(answered)
            yield answered.batch


def _ahead(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same batches, the next one made while the last one is used: reading, drawing and writing go on beside each other."""
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, batches, None)
        while (batch := coming.result()) is not None:
            coming = pool.submit(next, batches, None)
            yield batch
