"""Whether an id occurs with two values, out of core."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import duckdb
import pyarrow as pa

from alphalift.release.work import Answers, Work
from alphalift.tables import Source
from alphalift.whole import private_folder

_ROWS = 1 << 19
# What does not fit goes to the disk.
_MEMORY = "250MB"


def refuse_two_values(source: Source, work: Work, spill: Path) -> None:
    """Raise if an id occurs with two values: both answers together would tell more than the promise allows."""
    answers = Answers(work)
    batches: Iterator[pa.RecordBatch] = map(answers.pairs, source.batches(work.drawn_from, rows=_ROWS))
    first = next(batches, None)
    if first is None:
        return
    reader = pa.RecordBatchReader.from_batches(first.schema, chain([first], batches))
    # The spilled ids are as private as the table: a folder for us alone, which the next run removes if a kill leaves it.
    with private_folder(spill) as folder:
        settings: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": _MEMORY,
            "temp_directory": str(folder.absolute()),
            "preserve_insertion_order": False,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
        with duckdb.connect(":memory:", config=settings) as engine:
            engine.register("pairs", reader)
            twice = engine.execute(
                "SELECT count(*) FROM (SELECT id FROM pairs GROUP BY id HAVING min(x) <> max(x))"
            ).fetchall()[0][0]
    if twice:
        raise work.two_values(twice)
