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


def refuse_two_values(source: Source, work: Work, place: Path) -> None:
    """Raise if an id occurs with two values: both answers together would tell more than the promise allows.

    What is spilled is as private as the table: it goes to a folder for us alone beside `place`, which the next run removes
    if a kill leaves it.
    """
    answers = Answers(work)
    with private_folder(place) as folder:
        batches: Iterator[pa.RecordBatch] = map(answers.pairs, source.batches(work.drawn_from, rows=_ROWS))
        first = next(batches, None)
        twice = (
            0
            if first is None
            else _count(pa.RecordBatchReader.from_batches(first.schema, chain([first], batches)), folder)
        )
    if twice:
        raise work.two_values(twice)


def _count(pairs: pa.RecordBatchReader, folder: Path) -> int:
    """How many ids have two values."""
    settings: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": _MEMORY,
        "temp_directory": str(folder.absolute()),
        "preserve_insertion_order": False,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    with duckdb.connect(":memory:", config=settings) as engine:
        engine.register("pairs", pairs)
        query = "SELECT count(*) FROM (SELECT id FROM pairs GROUP BY id HAVING min(x) <> max(x))"
        return int(engine.execute(query).fetchall()[0][0])
