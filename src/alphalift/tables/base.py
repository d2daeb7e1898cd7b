"""Table and Source: the one interface of every kind of table.

A table is counted by combinations of values; a source is also read in batches. The same reader's rules hold for both, so
that a design and its release see the same symbols. Messages call a row by its number among the rows of data, the first one
1: neither a header nor blank lines are counted ("row 7 of the data"). A line of a file is one as an editor shows it. Messages of the engines may quote cells; none of them leaves this room.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import pyarrow as pa

from alphalift.errors import AlphaliftError, TableError
from alphalift.tables.bins import Readings
from alphalift.tables.columns import part, plain_batch, require, require_countable
from alphalift.tables.counting import BATCH_ROWS, checked, count_batches


@dataclass(frozen=True)
class Table(ABC):
    """A table that can be counted.

    `name` is what messages call it, `description` a word for provenance that tells nothing of the content, and `schema`
    the opened columns.
    """

    name: str
    description: str
    schema: pa.Schema

    def count(self, columns: Sequence[str], change: Readings | None = None) -> pa.Table:
        """One row for each combination of values, in no particular order; the last column is how often, as int64.

        With `change` it is readings of the columns that are counted; engines may make them in other processes.
        """
        require(self.name, columns, self.schema.names)
        require_countable(self.name, self.schema, columns)
        with self._in_our_words():
            counts = self._count(list(columns), change)
        return checked(counts, self.name)

    @abstractmethod
    def _count(self, columns: list[str], change: Readings | None) -> pa.Table: ...

    def _trouble(self, error: Exception) -> str:
        """What is wrong, in words of ours that follow the name."""
        return _failure(error)

    def _in_our_words(self) -> AbstractContextManager[None]:
        return in_our_words(self.name, self._trouble)


@dataclass(frozen=True)
class Source(Table):
    """A table that can also be read in batches, again and again; messages call its first row of data `first_row`."""

    first_row: ClassVar[int] = 1

    def batches(self, columns: Sequence[str], *, rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        """The columns in the table's order, at most `rows` rows at a time, with their own types (CSV: text), but plain.

        The rows before a batch, added up, and `first_row` say where a batch starts.
        """
        require(self.name, columns, self.schema.names)
        with self._in_our_words():
            for batch in self._stream(list(columns), rows):
                batch = plain_batch(batch, self.name)
                for start in range(0, batch.num_rows, rows):
                    yield batch.slice(start, rows)

    @property
    def parts(self) -> Sequence[Source]:
        """The same rows in tables that can be read apart: the files of a folder."""
        return [self]

    @abstractmethod
    def _stream(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        """Batches of these columns in order; they may be longer than `rows`."""

    def _count(self, columns: list[str], change: Readings | None) -> pa.Table:
        if change is None:
            return self._count_plain(columns)
        return count_batches(map(change, self.batches(columns)), self.name)

    def _count_plain(self, columns: list[str]) -> pa.Table:
        """The counts of the values as they are, best inside the table's engine."""
        return count_batches(self.batches(columns), self.name)


def _failure(error: Exception) -> str:
    return f"cannot be read: its engine failed with {type(error).__name__}"


@contextmanager
def in_our_words(name: str, trouble: Callable[[Exception], str] = _failure) -> Iterator[None]:
    """Whatever an engine raises becomes a TableError: its own message may quote the row."""
    try:
        yield
    except AlphaliftError:
        raise
    except Exception as error:
        raise TableError(f"{name} {trouble(error)}") from None


def opened(
    kind: Callable[..., Source], description: str, data: Any, columns: list[str], schema: Callable[[], pa.Schema]
) -> Source:
    source = kind(f"the {description}", description, pa.schema([]), data)
    with source._in_our_words():
        return replace(source, schema=part(source.name, schema(), columns))
