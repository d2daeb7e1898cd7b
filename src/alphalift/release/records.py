"""What becomes of a record, in every engine: its id and its symbol in, its output out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from alphalift.errors import TableError
from alphalift.proof import Integers
from alphalift.release.keyed import KeyedDraw, as_text
from alphalift.tables import Symbols


class EmptyTableError(TableError):
    """There is nothing to release."""

    def __init__(self) -> None:
        super().__init__("the table has no rows to release")


@dataclass(frozen=True)
class Plan:
    """What decides the outputs, and which columns leave: plain values, which can be sent to other processes."""

    key: bytes = field(repr=False)
    integers: Integers
    namespace: str
    useful: list[str]
    bins: Mapping[str, Sequence[float]] | None
    record_id: str | None
    keep: list[str]
    with_ids: bool
    answer_unseen: bool

    @property
    def columns(self) -> list[str]:
        """All columns that are read."""
        own = [] if self.record_id is None else [self.record_id]
        return list(dict.fromkeys([*own, *self.useful, *self.keep]))

    @property
    def drawn_from(self) -> list[str]:
        """The columns that decide an output."""
        return list(dict.fromkeys([str(self.record_id), *self.useful]))

    @property
    def output_name(self) -> str:
        return "released " + " and ".join(self.useful)

    def unknown(self, who: str) -> TableError:
        return TableError(
            f"{who} a value of {', '.join(self.useful)} that the mechanism does not know; "
            "design for a table that has it, or answer such values by the mechanism's law for them (unseen = answer)"
        )

    def two_values(self, ids: int) -> TableError:
        return TableError(
            f"{ids} ids in column {self.record_id!r} occur with two or more values of {', '.join(self.useful)}; each "
            "value would be answered, and the answers together tell more than the promise allows"
        )


class Answers:
    """A plan at work on batches; every process makes its own."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._draw = KeyedDraw(plan.key, plan.integers, plan.namespace)
        self._symbols = Symbols(plan.integers.labels["x"], plan.useful, plan.bins)
        self._labels = pa.array(plan.integers.labels["y"], pa.string())

    def ids(self, batch: pa.RecordBatch) -> pa.Array | NDArray[np.int64]:
        return as_text(batch.column(self.plan.record_id))

    def numbers(self, batch: pa.RecordBatch) -> NDArray[np.int64]:
        """The number of every record's symbol."""
        return self._symbols.numbers(batch)

    def unseen(self, numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of these symbols the mechanism does not know."""
        return np.asarray(numbers == self._symbols.unseen)

    def released(
        self, batch: pa.RecordBatch, ids: pa.Array | NDArray[np.int64], numbers: NDArray[np.int64]
    ) -> pa.RecordBatch:
        """The batch's ids, outputs and kept columns."""
        plan, outputs = self.plan, self._draw.outputs(ids, numbers)
        arrays = {plan.record_id: batch.column(plan.record_id)} if plan.with_ids else {}
        arrays[plan.output_name] = pa.DictionaryArray.from_arrays(pa.array(outputs), self._labels)
        return pa.record_batch(arrays | {name: batch.column(name) for name in plan.keep})
