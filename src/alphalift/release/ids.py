"""Ids of records: their one text, and whether they rise, so that none can occur twice."""

# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from alphalift.compiled import kernel
from alphalift.errors import TableError

Bytes = NDArray[np.uint8]
Numbers = NDArray[np.int64]
Words = NDArray[np.uint64]
# As `as_text` makes them: texts, or integers whose digits are their text.
Ids = pa.Array | Numbers


def as_text(ids: pa.Array) -> pa.Array | Numbers:
    """Ids as text, or as integers whose decimal digits are their text; other types have no one text."""
    if isinstance(ids, pa.ChunkedArray):
        ids = ids.combine_chunks()
    if pa.types.is_dictionary(ids.type):
        ids = ids.dictionary_decode()
    if ids.null_count:
        raise TableError(f"{ids.null_count} records have no id")
    if pa.types.is_uint64(ids.type):
        ids = ids.cast(pa.string())
    if pa.types.is_integer(ids.type):
        return np.asarray(ids.cast(pa.int64()).to_numpy(zero_copy_only=False))
    if pa.types.is_string(ids.type) or pa.types.is_large_string(ids.type) or pa.types.is_string_view(ids.type):
        return ids.cast(pa.large_string())
    raise TableError(f"a record id is text or an integer, not {ids.type}; convert the column to text first")


@dataclass
class RisingIds:
    """Whether every id so far is larger than the one before it, integers by size, texts by length and then by bytes."""

    rising: bool = True
    first: int | str | None = None
    last: int | str | None = None

    def see(self, ids: pa.Array | Numbers) -> None:
        """The next ids, as `as_text` makes them."""
        if not self.rising or not len(ids):
            return
        if isinstance(ids, np.ndarray):
            inside, first, last = bool((ids[1:] > ids[:-1]).all()), int(ids[0]), int(ids[-1])
        else:
            inside, first, last = bool(_rises(*buffers(ids))), ids[0].as_py(), ids[-1].as_py()
        self.rising = inside and (self.last is None or _place(self.last) < _place(first))
        self.first, self.last = first if self.first is None else self.first, last


def rise_together(parts: Iterable[RisingIds]) -> bool:
    """Whether no id can occur twice in all parts of a table: each rises, and one after the other they still do."""
    parts = list(parts)
    ends = sorted(
        (_place(part.first), _place(part.last)) for part in parts if part.first is not None and part.last is not None
    )
    return all(part.rising for part in parts) and all(before[1] < after[0] for before, after in pairwise(ends))


def _place(value: int | str) -> Any:
    """What ids are compared by."""
    return value if isinstance(value, int) else (len(value.encode()), value.encode())


def quick_hashes(ids: pa.Array | Numbers, seed: int) -> Words:
    """A hash of every id that is the same for its text and its integer: quick, and no secret by itself."""
    start = np.uint64(seed)
    if isinstance(ids, np.ndarray):
        return np.asarray(_hashed_integers(ids, start))
    return np.asarray(_hashed_texts(*buffers(ids), start))


@kernel
def _mixed(word):  # type: ignore[no-untyped-def]
    """The last steps of splitmix64 (G. Steele, D. Lea, C. Flood, 2014): every bit depends on every bit."""
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@kernel
def _hashed_integers(numbers, seed):  # type: ignore[no-untyped-def]
    words = np.empty(len(numbers), np.uint64)
    for row in range(len(numbers)):
        words[row] = _mixed(_mixed(np.uint64(numbers[row])) ^ seed)
    return words


@kernel
def _hashed_texts(text, starts, seed):  # type: ignore[no-untyped-def]
    """FNV-1a of the bytes, or what the integer has whose decimal digits they are."""
    words = np.empty(len(starts) - 1, np.uint64)
    for row in range(len(words)):
        begin, end = starts[row], starts[row + 1]
        negative = end > begin and text[begin] == 45
        first = begin + negative
        digits = 0 < end - first <= 19 and (text[first] != 48 or (end - first == 1 and not negative))
        word, value = np.uint64(0xCBF29CE484222325), np.uint64(0)
        for i in range(begin, end):
            word = (word ^ np.uint64(text[i])) * np.uint64(0x100000001B3)
            if i >= first:
                digits = digits and 48 <= text[i] <= 57
                value = value * np.uint64(10) + np.uint64(text[i]) - np.uint64(48)
        if digits and value <= np.uint64(2**63 - 1) + np.uint64(negative):
            word = ~value + np.uint64(1) if negative else value
        words[row] = _mixed(_mixed(word) ^ seed)
    return words


@kernel
def _rises(text, starts):  # type: ignore[no-untyped-def]
    for row in range(1, len(starts) - 1):
        length, before = starts[row + 1] - starts[row], starts[row] - starts[row - 1]
        if length < before:
            return False
        larger = length > before
        for i in range(length):
            if larger:
                break
            if text[starts[row] + i] < text[starts[row - 1] + i]:
                return False
            larger = text[starts[row] + i] > text[starts[row - 1] + i]
        if not larger:
            return False
    return True


def buffers(ids: pa.Array) -> tuple[Bytes, Numbers]:
    """The bytes of all ids, and where each starts."""
    _, offsets, data = ids.buffers()
    starts = np.frombuffer(offsets, np.int64)[ids.offset : ids.offset + len(ids) + 1]
    return (np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)), starts
