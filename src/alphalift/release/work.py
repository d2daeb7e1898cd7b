"""What becomes of a batch of records, in every engine: ids and symbols in, outputs out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from alphalift.errors import TableError
from alphalift.joint import Variable
from alphalift.proof.checker import Integers
from alphalift.release.ids import Ids, RisingIds, as_text, quick_hashes
from alphalift.release.keyed import KeyedDraw, Pseudonyms
from alphalift.release.keys import derived
from alphalift.release.outputs import Outputs
from alphalift.release.trace import Words, least_with
from alphalift.tables import Symbols, decoded

Numbers = NDArray[np.int64]


class EmptyTableError(TableError):
    """There is nothing to release."""

    @classmethod
    def of(cls, name: str) -> EmptyTableError:
        """For the table that messages call so."""
        return cls(f"{name} has no rows to release")


@dataclass(frozen=True, kw_only=True)
class Work:
    """The part of a plan that decides outputs and what leaves: plain values, which can be sent to other processes."""

    key: bytes = field(repr=False)
    integers: Integers
    namespace: str
    variable: Variable
    record_id: str | None
    keep: tuple[str, ...]
    show_ids: str
    answer_unseen: bool
    without_mass: tuple[str, ...]

    @property
    def columns(self) -> list[str]:
        """All columns that are read."""
        return list(dict.fromkeys([*self.drawn_from, *self.keep]))

    @property
    def drawn_from(self) -> list[str]:
        """The columns that decide an output."""
        return [*([] if self.record_id is None else [self.record_id]), *self.variable.columns]

    @property
    def looking(self) -> Work:
        """The same draws, of which only numbers leave."""
        return replace(self, keep=(), show_ids="none")

    def unknown(self, who: str, *, most: bool = False) -> TableError:
        """Records have values that the mechanism does not know; `most` of them."""
        columns = ", ".join(self.variable.columns)
        if most:
            return TableError(
                f"more than half of the first records have values of {columns} that the mechanism does not know: this does not look "
                "like the column that it was designed for. Is it another column, or are its values written otherwise?"
            )
        law = (
            'answer such values by the mechanism\'s law for them (unseen="answer")'
            if self.integers.unseen is not None
            else "leave such records out: this mechanism has no law for them"
        )
        return TableError(
            f"{who} a value of {columns} that the mechanism does not know; design for a table that has it, or {law}"
        )

    def two_values(self, ids: int) -> TableError:
        which = (
            f"1 id in column {self.record_id!r} occurs" if ids == 1 else f"{ids} ids in column {self.record_id!r} occur"
        )
        return TableError(
            f"{which} with two or more values of {', '.join(self.variable.columns)}; each value would be answered, and the "
            "answers together tell more than the promise allows: clean the table, or take another id column"
        )


@dataclass(frozen=True)
class Answered:
    """What is released of a batch, and what was seen on the way."""

    batch: pa.RecordBatch
    ids: Ids
    unseen: int
    counts: Numbers
    total: Words
    hashes: Words


@dataclass
class Seen:
    """What a run over a table has seen so far: records, unseen values, the order of ids, how often each output was drawn.

    `total` is the sum of F over the records: the same for the same records in any order, and nothing without the key.
    `least` are the smallest hashes of their ids (trace.py).
    """

    counts: Numbers
    rows: int = 0
    unseen: int = 0
    order: RisingIds = field(default_factory=RisingIds)
    total: Words = field(default_factory=lambda: np.zeros(2, np.uint64))
    least: Words = field(default_factory=lambda: np.zeros(0, np.uint64))

    @classmethod
    def nothing(cls, work: Work) -> Seen:
        return cls(np.zeros(len(work.integers.weights), np.int64))

    def add(self, answered: Answered) -> None:
        """The next records."""
        self.order.see(answered.ids)
        self.rows += len(answered.ids)
        self.unseen += answered.unseen
        self.counts = self.counts + answered.counts
        self.total = self.total + answered.total
        self.least = least_with(self.least, answered.hashes)

    def join(self, other: Seen) -> None:
        """Another part of the table, whose ids are compared elsewhere."""
        self.rows, self.unseen = self.rows + other.rows, self.unseen + other.unseen
        self.counts, self.total = self.counts + other.counts, self.total + other.total
        self.least = least_with(self.least, other.least)


class Answers:
    """A work being done; every process makes its own."""

    def __init__(self, work: Work) -> None:
        self.work = work
        bins: Mapping[str, tuple[float, ...]] = dict(work.variable.bins)
        own = (work.integers, work.namespace, work.variable.columns, work.record_id)
        self._draw = KeyedDraw(work.key, *own)
        self._seed = int.from_bytes(derived(work.key, "trace", work.namespace, work.record_id or "")[:8], "big")
        self._pseudonyms = Pseudonyms(work.key, work.namespace, work.record_id or "")
        self._outputs = Outputs.of(work.integers, work.variable)
        self._known = len(work.integers.labels["x"])
        self._begun = False
        # Declared values without mass are known by name, and answered like unseen ones.
        labels = [*work.integers.labels["x"], *work.without_mass]
        self._symbols = Symbols(labels, work.variable.columns, bins)

    def answer(self, batch: pa.RecordBatch, first_row: int | None = None) -> Answered:
        """The batch's ids, outputs and kept columns; raise where a record has no answer.

        `first_row` is what people call the batch's first row; without ids, rows are told apart by it.
        """
        work, numbers, unseen = self.work, self._symbols.numbers(batch), 0
        if numbers.max(initial=-1) >= self._known:  # which costs a look at every record, and is rare
            unseen = self._require_known(numbers, first_row)
            numbers = np.minimum(numbers, self._known)
        self._begun = True
        ids = np.arange(len(batch)) + (first_row or 0) if work.record_id is None else self._ids(batch)
        outputs, total = self._draw.drawn(ids, numbers)
        arrays: dict[str, pa.Array] = {}
        if work.show_ids == "pseudonym":
            arrays[str(work.record_id)] = self._pseudonyms.written(self._pseudonyms.blocks(ids))
        elif work.show_ids == "real":
            arrays[str(work.record_id)] = batch.column(work.record_id)
        arrays |= self._outputs.arrays(outputs) | {name: batch.column(name) for name in work.keep}
        counts = np.bincount(outputs, minlength=len(work.integers.weights))
        hashes = quick_hashes(ids, self._seed)
        return Answered(pa.record_batch(arrays), ids, unseen, counts, total, hashes)

    def pairs(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Ids and the numbers of their symbols."""
        numbers = np.minimum(self._symbols.numbers(batch), self._known)
        return pa.record_batch({"id": decoded(batch.column(self.work.record_id)), "x": pa.array(numbers)})

    def _ids(self, batch: pa.RecordBatch) -> Ids:
        return as_text(batch.column(self.work.record_id))

    def _require_known(self, numbers: Numbers, first_row: int | None) -> int:
        """How many values are unseen; raise where one has no answer."""
        work, unseen = self.work, np.asarray(numbers == self._symbols.unseen)
        if unseen.any() and not work.answer_unseen:
            who = "a record" if first_row is None else f"row {first_row + int(unseen.argmax())} of the data"
            raise work.unknown(f"{who} (and perhaps others) has", most=not self._begun and bool(unseen.mean() > 0.5))
        if work.integers.unseen is None:  # and so neither have declared values without mass
            raise TableError(
                f"a record has a value of {', '.join(work.variable.columns)} that was declared for the design and that no "
                "record of its table had; this mechanism has no law for such values (a withheld one never has)"
            )
        return int(unseen.sum())
