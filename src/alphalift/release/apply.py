"""release: apply a mechanism to every record of a table, in constant memory, the same for ever."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from alphalift.errors import InputError, TableError
from alphalift.joint import Joint
from alphalift.proof import Integers
from alphalift.release.keyed import KEY_BYTES, KeyedDraw, RisingIds, as_text
from alphalift.release.ledger import Composition, Ledger
from alphalift.release.read import Columns
from alphalift.release.source import Source, open_table
from alphalift.release.symbols import Symbols
from alphalift.release.write import InMemory, Writer, open_writer, refuse_formulas
from alphalift.whole import whole_file

ONE_NAMESPACE = "default"
# Rows of a batch: memory does not depend on the table's.
_ROWS = 1 << 19
# For the check of ids; what does not fit goes to a temporary folder.
_MEMORY = "250MB"


class Proven(Protocol):
    """A proven mechanism and its joint: a `Solution` of `design`, or a file that `load` has proven again."""

    @property
    def integers(self) -> Integers | None: ...

    @property
    def joint(self) -> Joint: ...


@dataclass(frozen=True)
class Released:
    """What was done: the number of records, of those with an unseen value, what composes, and the table if in memory."""

    rows: int
    unseen: int
    composition: Composition | None
    table: pa.Table | None


def release(
    mechanism: Proven,
    table: Any,
    *,
    useful: Columns,
    record_id: str | None,
    key: bytes | None,
    namespace: str = ONE_NAMESPACE,
    ids: Literal["check", "unique"] = "check",
    unseen: Literal["refuse", "answer"] = "refuse",
    bins: Mapping[str, Sequence[float]] | None = None,
    keep: Sequence[str] = (),
    with_ids: bool = True,
    ledger: Ledger | None = None,
    new_release: bool = False,
    one_shot: bool = False,
    out: str | Path | None = None,
) -> Released:
    """Draw the output of every record and write ids and outputs to a file (.csv, .tsv, .parquet), or return them.

    The draw depends on the key, the mechanism, the namespace, the record's id and its value, and on nothing else: run it
    again, in any order, in parts, and every record has the output that it had. An id that occurs with two values would be
    answered twice, so that is checked before the output appears (`ids="unique"` trusts the caller): ids in rising order
    cannot repeat, others are compared in a second pass, out of core. `one_shot` needs neither ids nor key and
    draws fresh randomness: never do it twice for the same people. Values that the mechanism does not know are refused,
    or with `unseen="answer"` answered by its proven law for them. `keep` copies other columns, which no promise covers.
    """
    integers = _releasable(mechanism, unseen)
    if {record_id is None, key is None} != {one_shot}:
        raise InputError(
            "a release needs the column that identifies a record and a key, so that a record is never answered twice "
            "with fresh randomness; without ids it can be done once and never again: one_shot"
        )
    job = _Job(
        KeyedDraw(secrets.token_bytes(KEY_BYTES) if key is None else key, integers, namespace),
        Symbols(integers.labels["x"], [useful] if isinstance(useful, str) else list(useful), bins),
        pa.array(integers.labels["y"], pa.string()),
        record_id,
        list(keep),
        with_ids and record_id is not None,
        unseen == "answer",
    )
    if out is not None:
        refuse_formulas(Path(out).name, integers.labels["y"])
    source = open_table(table, columns=job.columns)
    composition = None
    if ledger is not None and not one_shot:
        # Before any output exists: what is not written down is not released.
        composition = ledger.admit(namespace, integers, mechanism.joint, new_release=new_release)
    with whole_file(Path(out)) if out is not None else nullcontext() as part:
        writer: Writer | None = None
        for batch in _ahead(job.released(source)):
            if writer is None:
                writer = (
                    InMemory(batch.schema) if part is None else open_writer(part, Path(out or "").name, batch.schema)
                )
            writer.write_batch(batch)
        if writer is None:
            raise TableError("the table has no rows to release")
        writer.close()
        if not one_shot and ids == "check" and not job.order.rising:  # before anybody can see the output
            job.refuse_two_values(source)
    return Released(job.rows, job.unseen_rows, composition, writer.table if isinstance(writer, InMemory) else None)


def _releasable(mechanism: Proven, unseen: str) -> Integers:
    """The integers that were proven, if there are any and they can do what is asked."""
    integers = mechanism.integers
    if integers is None:
        raise InputError("only a proven mechanism is released; this one has no integers (see design and prove)")
    if unseen == "answer" and integers.unseen is None:
        raise InputError("this mechanism has no law for unseen values; they can only be refused")
    return integers


@dataclass
class _Job:
    """One run over a table, and how far it has come."""

    draw: KeyedDraw
    symbols: Symbols
    y_labels: pa.Array
    record_id: str | None
    keep: list[str]
    with_ids: bool
    answer_unseen: bool
    rows: int = 0
    unseen_rows: int = 0
    order: RisingIds = field(default_factory=RisingIds)

    @property
    def useful(self) -> list[str]:
        return self.symbols.columns

    @property
    def columns(self) -> list[str]:
        own = [] if self.record_id is None else [self.record_id]
        return list(dict.fromkeys([*own, *self.useful, *self.keep]))

    def refuse_two_values(self, source: Source) -> None:
        """Raise if an id occurs with two values: both answers together would tell more than the promise allows."""
        columns = list(dict.fromkeys([str(self.record_id), *self.useful]))

        def pairs() -> Iterator[pa.RecordBatch]:
            for batch in source.batches(columns, rows=_ROWS):
                numbers = pa.array(self.symbols.numbers(batch))
                yield pa.record_batch({"id": _plain(batch.column(str(self.record_id))), "x": numbers})

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
            raise TableError(
                f"{twice} ids in column {self.record_id!r} occur with two or more values of {', '.join(self.useful)}; each "
                "value would be answered, and the answers together tell more than the promise allows"
            )

    def released(self, source: Source) -> Iterator[pa.RecordBatch]:
        """Batches of ids, outputs and kept columns."""
        for batch in _ahead(source.batches(self.columns, rows=_ROWS)):
            numbers = self._answerable(self.symbols.numbers(batch))
            ids = pa.array(np.arange(self.rows, self.rows + len(batch))) if self.record_id is None else None
            texts = as_text(batch.column(self.record_id) if ids is None else ids)
            self.order.see(texts)
            outputs = self.draw.outputs(texts, numbers)
            self.rows += len(batch)
            y = pa.DictionaryArray.from_arrays(pa.array(outputs), self.y_labels)
            arrays = {self.record_id: batch.column(self.record_id)} if self.with_ids and self.record_id else {}
            arrays[self._output_name()] = y
            yield pa.record_batch(arrays | {name: batch.column(name) for name in self.keep})

    def _output_name(self) -> str:
        return "released " + " and ".join(self.useful)

    def _answerable(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """The symbols' numbers; raise where one has no answer."""
        unseen = numbers == self.symbols.unseen
        count = int(unseen.sum())
        self.unseen_rows += count
        if count and not self.answer_unseen:
            row = self.rows + int(unseen.argmax()) + 1
            raise TableError(
                f"row {row} (and perhaps others) has a value of {', '.join(self.useful)} that the mechanism does not know; "
                "design for a table that has it, or answer such values by the mechanism's law for them (unseen = answer)"
            )
        return numbers


def _ahead(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same batches, the next one made while the last one is used: reading, drawing and writing go on beside each other."""
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, batches, None)
        while (batch := coming.result()) is not None:
            coming = pool.submit(next, batches, None)
            yield batch


def _plain(column: pa.Array) -> pa.Array:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _chained(first: pa.RecordBatch, rest: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield first
    yield from rest
