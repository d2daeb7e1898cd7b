"""Keyed draws: the output of a record is a function of the key, the mechanism, the columns, the record and its value.

The first K bits of F (mac.py) select the output from the integers that were proven. F's key is derived from the secret
key and from everything that makes a release: the mechanism's identity, the namespace, the useful columns and the id
column, so that two releases never share randomness. The same record and value have the same output in every run, in
any order and after any retry. Every record of a mechanism takes the same work.
"""

# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from alphalift.compiled import kernel
from alphalift.errors import InputError
from alphalift.proof.checker import Integers
from alphalift.release.ids import Bytes, Ids, Numbers, as_text
from alphalift.release.keys import derived
from alphalift.release.mac import MOST_NUMBERS, Blocks, Mac, counter

Words = NDArray[np.uint64]
_DIGITS = np.frombuffer(b"0123456789abcdef", np.uint8)


class KeyedDraw:
    """Draws outputs of one mechanism for records of one namespace, whose ids and values are in these columns."""

    def __init__(
        self, key: bytes, integers: Integers, namespace: str, useful: Sequence[str], record_id: str | None
    ) -> None:
        if len(integers.labels["x"]) >= MOST_NUMBERS:
            raise InputError(f"a keyed release has fewer than {MOST_NUMBERS} values of X")
        # Numbers up to 2^K as limbs of 64 bits, the first one with the K mod 64 bits that are left over.
        self._limbs, self._first_bits = integers.bits // 64 + 1, integers.bits % 64
        self._answers = _Answers.of(integers, self._limbs)
        parts = [integers.identity, namespace, list(useful), record_id]
        self._mac = Mac(derived(key, "draw", *parts))
        # Outputs of more than one block are the encryptions of the MAC with a counter, under another key.
        self._extend = Blocks(derived(key, "extend", *parts)).encrypt

    def outputs(self, ids: Ids, x: Numbers) -> NDArray[np.int32]:
        """The number of the output of every record; x is the number of its symbol, |X| for an unseen value."""
        return self.drawn(ids, x)[0]

    def drawn(self, ids: Ids, x: Numbers) -> tuple[NDArray[np.int32], Words]:
        """The outputs, and the sum of F over the records as two words, (2,): the same for the same records in any order."""
        texts = ids if isinstance(ids, np.ndarray) else as_text(ids)
        mac = self._mac.of(texts, np.ascontiguousarray(x, dtype=np.int64))
        return np.asarray(_select(self._words(mac), *self._answers, x)), np.asarray(_sum(mac.view("<u8")))

    def _words(self, mac: NDArray[np.uint8]) -> Words:
        """K bits of F for every record, as a number in limbs."""
        if self._limbs <= 2:
            words = mac.view(">u8")[:, : self._limbs].astype(np.uint64)
        else:
            blocks = [mac ^ counter(number) for number in range(-(-self._limbs // 2))]
            words = np.hstack([self._extend(block).view(">u8") for block in blocks])[:, : self._limbs].astype(np.uint64)
        words[:, 0] = words[:, 0] >> np.uint64(64 - self._first_bits) if self._first_bits else 0
        return words


class Pseudonyms:
    """Names that stand for ids: 128 bits of F under a key for the namespace and the id column.

    No mechanism enters: a person has the same pseudonym in every release under the same key, namespace and id column,
    so that receivers can put several releases together, and whoever has no key cannot tell whose it is.
    """

    def __init__(self, key: bytes, namespace: str, record_id: str) -> None:
        self._mac = Mac(derived(key, "pseudonym", namespace, record_id))

    def of(self, ids: Ids) -> pa.Array:
        """32 hexadecimal digits for every id."""
        return self.written(self.blocks(ids))

    def blocks(self, ids: Ids) -> Bytes:
        """F of every id, (rows, 16)."""
        texts = ids if isinstance(ids, np.ndarray) else as_text(ids)
        return self._mac.of(texts, np.zeros(len(texts), np.int64))

    def written(self, blocks: Bytes) -> pa.Array:
        """The blocks in hexadecimal digits."""
        starts = np.arange(0, 32 * (len(blocks) + 1), 32, dtype=np.int32)  # batches are far from 2^26 rows
        buffers = [None, pa.py_buffer(starts), pa.py_buffer(_hexadecimal(blocks))]
        return pa.Array.from_buffers(pa.string(), len(blocks), buffers)


class _Answers(NamedTuple):
    """The outputs that every x can have, one x after the other, and last those of unseen values.

    `starts`, (|X| + 2,), says where those of an x begin; `outputs` are their numbers; `edges` are the sums of an x's weights
    up to each of them, the last one 2^K, as limbs; `steps` halvings find one among the most that an x has.
    """

    starts: NDArray[np.int64]
    outputs: NDArray[np.int32]
    edges: Words
    steps: int

    @classmethod
    def of(cls, integers: Integers, limbs: int) -> _Answers:
        columns: list[dict[int, int]] = [{} for _ in integers.labels["x"]]
        for y, row in enumerate(integers.weights):
            for x, weight in row.items():
                columns[x][y] = weight
        # Where there is no law for unseen values, it is never asked for.
        law = {y: weight for y, weight in enumerate(integers.unseen) if weight} if integers.unseen else columns[0]
        columns.append(law)
        edges = [_as_limbs(total, limbs) for column in columns for total in accumulate(column.values())]
        return cls(
            np.cumsum([0, *map(len, columns)]),
            np.array([y for column in columns for y in column], np.int32),
            np.array(edges, np.uint64),
            max(map(len, columns)).bit_length(),
        )


def _as_limbs(number: int, limbs: int) -> list[int]:
    return [number >> (64 * (limbs - 1 - i)) & (2**64 - 1) for i in range(limbs)]


@kernel
def _hexadecimal(blocks):  # type: ignore[no-untyped-def]
    """The digits of all blocks, one after the other."""
    digits = np.empty(blocks.size * 2, np.uint8)
    for row in range(blocks.shape[0]):
        for i in range(blocks.shape[1]):
            place = 2 * (row * blocks.shape[1] + i)
            digits[place] = _DIGITS[blocks[row, i] >> 4]
            digits[place + 1] = _DIGITS[blocks[row, i] & 15]
    return digits


@kernel
def _sum(words):  # type: ignore[no-untyped-def]
    """The sums of both columns modulo 2^64."""
    total = np.zeros(2, np.uint64)
    for row in range(len(words)):
        total[0] += words[row, 0]
        total[1] += words[row, 1]
    return total


@kernel
def _select(words, starts, outputs, edges, steps, x):  # type: ignore[no-untyped-def]
    """The output after those whose edges are at most the record's word. Every row takes the same steps."""
    chosen = np.empty(len(words), np.int32)
    limbs = words.shape[1]
    for row in range(len(words)):
        first = starts[x[row]]
        last = starts[x[row] + 1] - 1  # whose edge, 2^K, is above every word
        passed = 0
        for step in range(steps - 1, -1, -1):
            place = min(first + passed + (1 << step) - 1, last)
            above = words[row, 0] >= edges[place, 0] if limbs == 1 else _at_least(words[row], edges[place])
            passed += above << step
        chosen[row] = outputs[first + passed]
    return chosen


@kernel
def _at_least(word, edge):  # type: ignore[no-untyped-def]
    """word >= edge, from the least significant limb up, without an early end."""
    above = True
    for i in range(len(word) - 1, -1, -1):
        above = (word[i] > edge[i]) | ((word[i] == edge[i]) & above)
    return above
