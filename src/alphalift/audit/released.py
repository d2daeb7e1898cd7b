"""Audit of a release: whether every row of a released table is what its mechanism and key make of the input.

A record's output is a function of key, mechanism, columns, id and value, so all of them can be drawn again. Rows are compared in
their order first, batch by batch. Only if that finds a difference, and ids are shown, are they put together by id, out of core: then
another order is no difference, and rows that were left out or added do not make all others differ. The ledger is neither read nor
written: an audit is no release.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from alphalift.errors import InputError, TableError
from alphalift.release.plan import Plan
from alphalift.release.work import Answers, Work
from alphalift.tables import Source, decoded, in_our_words, open_table
from alphalift.tables.parquet import ParquetFiles
from alphalift.tables.text import TextFile
from alphalift.whole import private_folder

_ROWS = 1 << 18
_FIRST = 5
_MEMORY = "250MB"
_FORM = pa.schema([("id", pa.large_string()), ("cells", pa.large_string()), ("place", pa.int64())])


@dataclass(frozen=True)
class ReleaseAudit:
    """Numbers of rows, and of those that are not as they should be, each kind with the first of its rows in the released table.

    `changed` rows have an id of the input (without ids: a place) and not its output; `extra` ones an id that the input does not have,
    or has less often; `missing` is how many rows of the input were not released. `reordered` tells that rows are in another order, which
    is no difference where ids are shown. `columns` are those that the release would not have.
    """

    rows: int
    changed: int = 0
    missing: int = 0
    extra: int = 0
    first_changed: tuple[int, ...] = ()
    first_extra: tuple[int, ...] = ()
    reordered: bool = False
    columns: tuple[str, ...] = ()

    @property
    def kept(self) -> bool:
        return not (self.changed or self.missing or self.extra or self.columns)

    def __bool__(self) -> bool:
        return self.kept


def audit_release(plan: Plan, released: Any, table: Any) -> ReleaseAudit:
    """Compare a released table with what the plan makes of the input: the same plan that `release` had, ids shown as then."""
    if plan.one_shot:
        raise InputError("a release with one_shot=True has no key: nobody can draw it again, so it cannot be audited")
    work = plan.work()
    ids = [] if work.show_ids == "none" else [str(work.record_id)]
    names = [*ids, *plan.outputs.columns(), *work.keep]
    source, found = open_table(table, columns=work.columns), open_table(released, columns=names)
    if not isinstance(source, Source) or not isinstance(found, Source):
        raise InputError("a Spark frame is not audited; write it to a folder of Parquet files first")
    beyond = tuple(dict.fromkeys(name for name in _all_columns(found, released) if name not in names))
    audit = _in_order(_expected(work, source), _texts(found, names))
    if not audit.kept and ids:
        audit = _by_id(_expected(work, source), _texts(found, names), _place(plan))
    return replace(audit, columns=beyond)


def _all_columns(source: Source, table: Any) -> list[str]:
    """The names of all columns that the released table has."""
    if isinstance(source, TextFile):
        return source.header()
    if isinstance(source, ParquetFiles):
        return [name for file in source.files for name in parquet.read_schema(file).names]
    return list(map(str, getattr(table, "column_names", None) or table.columns))


def _place(plan: Plan) -> Path:
    """Beside what private data that does not fit into memory lies for a while."""
    if plan.key is not None and plan.key.path is not None:
        return plan.key.path
    return Path(tempfile.gettempdir()) / "alphalift"


def _expected(work: Work, source: Source) -> Iterator[pa.RecordBatch]:
    """What each row would have been released as: all its cells as text."""
    answers, row = Answers(work), source.first_row
    for batch in source.batches(work.columns, rows=_ROWS):
        yield _as_texts(answers.answer(batch, row).batch)
        row += batch.num_rows


def _texts(source: Source, names: list[str]) -> Iterator[pa.RecordBatch]:
    return map(_as_texts, source.batches(names, rows=_ROWS))


def _as_texts(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Every cell as text, as a CSV file has it; a missing one is empty."""
    try:
        columns = [pc.fill_null(decoded(column).cast(pa.large_string()), "") for column in batch.columns]
    except pa.ArrowException:
        raise TableError(
            "a column of the released table cannot be compared as text; audit it without this column"
        ) from None
    return pa.record_batch(columns, batch.schema.names)


def _in_order(expected: Iterator[pa.RecordBatch], found: Iterator[pa.RecordBatch]) -> ReleaseAudit:
    """Row by row: those that differ, and how many there are more or less."""
    changed, first, rows, left, right = 0, list[int](), 0, None, None
    while True:
        left = left if left is not None and left.num_rows else next(expected, None)
        right = right if right is not None and right.num_rows else next(found, None)
        if left is None or right is None:
            break
        size = min(left.num_rows, right.num_rows)
        pairs = zip(left.slice(0, size).columns, right.slice(0, size).columns, strict=True)
        wrong = np.zeros(size, np.bool_)
        for one, other in pairs:
            wrong |= pc.not_equal(one, other).to_numpy(zero_copy_only=False)
        places = np.flatnonzero(wrong)
        changed += len(places)
        first += [rows + 1 + int(place) for place in places[: _FIRST - len(first)]]
        rows, left, right = rows + size, left.slice(size), right.slice(size)
    missing = sum(batch.num_rows for batch in chain([] if left is None else [left], expected))
    extra = sum(batch.num_rows for batch in chain([] if right is None else [right], found))
    more = tuple(range(rows + 1, rows + 1 + min(extra, _FIRST)))
    return ReleaseAudit(rows + extra, changed, missing, extra, tuple(first), more)


def _by_id(expected: Iterator[pa.RecordBatch], found: Iterator[pa.RecordBatch], place: Path) -> ReleaseAudit:
    """Rows with the same id belong together, the first with the first, and so on where an id occurs again."""
    with private_folder(place) as folder, in_our_words("the released table"):
        settings: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": _MEMORY,
            "temp_directory": str(folder.absolute()),
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
        }
        with duckdb.connect(":memory:", config=settings) as engine:
            for name, batches in (("wanted", expected), ("given", found)):
                engine.register("coming", pa.RecordBatchReader.from_batches(_FORM, _numbered(batches)))
                turn = "row_number() OVER (PARTITION BY id ORDER BY place)"
                engine.execute(f"CREATE TABLE {name} AS SELECT *, {turn} AS turn FROM coming")
                engine.unregister("coming")
            return _compared(engine)


def _numbered(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Id, the other cells as one text (each after its length, so that no two rows share it), and the number of the row."""
    before = 1
    for batch in batches:
        lengths = [pc.binary_length(column).cast(pa.large_string()) for column in batch.columns[1:]]
        parts = [part for pair in zip(lengths, batch.columns[1:], strict=True) for part in pair]
        cells = pc.binary_join_element_wise(*parts, pa.scalar(":", pa.large_string()))
        numbers = pa.array(np.arange(before, before + batch.num_rows))
        yield pa.record_batch([batch.columns[0], cells, numbers], schema=_FORM)
        before += batch.num_rows


def _compared(engine: duckdb.DuckDBPyConnection) -> ReleaseAudit:
    both = "wanted JOIN given USING (id, turn)"
    alone = "given ANTI JOIN wanted USING (id, turn)"
    queries = (
        "SELECT count(*) FROM given",
        f"SELECT count(*) FROM {both} WHERE wanted.cells <> given.cells",
        "SELECT count(*) FROM wanted ANTI JOIN given USING (id, turn)",
        f"SELECT count(*) FROM {alone}",
    )
    rows, changed, missing, extra = (int(engine.execute(query).fetchall()[0][0]) for query in queries)
    first = f"SELECT given.place FROM {both} WHERE wanted.cells <> given.cells ORDER BY 1 LIMIT {_FIRST}"
    more = f"SELECT given.place FROM {alone} ORDER BY 1 LIMIT {_FIRST}"
    moved = f"SELECT count(*) FROM {both} WHERE wanted.place <> given.place"
    places = [tuple(int(place) for (place,) in engine.execute(query).fetchall()) for query in (first, more)]
    reordered = not missing and not extra and bool(engine.execute(moved).fetchall()[0][0])
    return ReleaseAudit(rows, changed, missing, extra, places[0], places[1], reordered)
