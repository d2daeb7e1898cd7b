"""Keyed draws: the output of a record is a function of the key, the mechanism, the namespace, the record and its value.

F is CBC-MAC with AES-256 over the message (length of the id, number of x, id), padded with zeros to whole blocks: a
pseudorandom function, since the length comes first and no message is the beginning of another (M. Bellare, J. Kilian,
P. Rogaway, "The security of the cipher block chaining message authentication code", 2000). The AES key is derived
(HKDF) from the secret key, the mechanism's identity and the namespace. The first K bits of F select the output from the
integers that were proven: the same record and value have the same output for ever, in any order and after any retry.
Every record of a mechanism takes the same work.
"""

# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from numpy.typing import NDArray

from alphalift.compiled import kernel
from alphalift.errors import InputError, TableError
from alphalift.proof import Integers

KEY_BYTES = 32
LONGEST_ID = 60_000
_BLOCK = 16
# Of the first block: two bytes for the length of the id, three for the number of x.
_HEADER = 5
_MOST_SYMBOLS = 1 << 24
_MOST_DIGITS = 20  # of a 64-bit integer, with its sign
_ONE_BLOCK = 10 ** (
    _BLOCK - _HEADER
)  # integers below it, and negative ones below a tenth of it, fit into the first block

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]
Numbers = NDArray[np.int64]
# As `as_text` makes them: texts, or integers whose digits are their text.
Ids = pa.Array | Numbers


class KeyedDraw:
    """Draws outputs of one mechanism for records of one namespace."""

    def __init__(self, key: bytes, mechanism: Integers, namespace: str) -> None:
        if len(key) != KEY_BYTES:
            raise InputError(f"a key has {KEY_BYTES} bytes; make one with `alphalift key new`")
        if len(mechanism.labels["x"]) >= _MOST_SYMBOLS:
            raise InputError(f"a keyed release has fewer than {_MOST_SYMBOLS} values of X")
        # Numbers up to 2^K as limbs of 64 bits, the first one with the K mod 64 bits that are left over.
        self._limbs, self._first_bits = mechanism.bits // 64 + 1, mechanism.bits % 64
        self._edges = _edges(mechanism, self._limbs)
        self._encrypt = _cipher(key, mechanism.identity, namespace, "draw")
        # Outputs of more than one block are the encryptions of the MAC with a counter, under another key.
        self._extend = _cipher(key, mechanism.identity, namespace, "extend")

    def outputs(self, ids: pa.Array | Numbers, x: Numbers) -> NDArray[np.int32]:
        """The number of the output of every record; x is the number of its symbol, |X| for an unseen value."""
        texts = ids if isinstance(ids, np.ndarray) else as_text(ids)
        words = self._words(texts, np.ascontiguousarray(x, dtype=np.int64))
        return np.asarray(_select(words, self._edges, x))

    def _words(self, ids: pa.Array | Numbers, x: Numbers) -> Words:
        """K bits of F for every record, as a number in limbs."""
        mac = self._mac(ids, x)
        if self._limbs <= 2:
            words = mac.view(">u8")[:, : self._limbs].astype(np.uint64)
        else:
            blocks = [mac ^ _counter(number) for number in range(-(-self._limbs // 2))]
            words = np.hstack([self._extend(block).view(">u8") for block in blocks])[:, : self._limbs].astype(np.uint64)
        words[:, 0] = words[:, 0] >> np.uint64(64 - self._first_bits) if self._first_bits else 0
        return words

    def _mac(self, ids: pa.Array | Numbers, x: Numbers) -> Bytes:
        if isinstance(ids, np.ndarray) and len(ids) and ids.min() > -_ONE_BLOCK // 10 and ids.max() < _ONE_BLOCK:
            return self._encrypt(_integer_blocks(ids, x))
        text, starts = _digits(ids) if isinstance(ids, np.ndarray) else _buffers(ids)
        lengths = np.diff(starts)
        if lengths.max(initial=0) > LONGEST_ID:
            raise TableError(f"a record id is longer than {LONGEST_ID} bytes")
        blocks = 1 + -(-np.maximum(lengths - (_BLOCK - _HEADER), 0) // _BLOCK)
        state = self._encrypt(_first_blocks(text, starts, x))
        for number in range(1, int(blocks.max(initial=1))):
            rows = np.flatnonzero(blocks > number)
            state[rows] = self._encrypt(_next_blocks(text, starts, rows, number, state))
        return state


def _cipher(key: bytes, identity: str, namespace: str, purpose: str):  # type: ignore[no-untyped-def]
    """AES in single blocks under a key of its own for this identity, namespace and purpose."""
    info = b"\0".join(part.encode("utf-8") for part in ("alphalift release 1", purpose, identity, namespace))
    derived = HKDF(SHA256(), KEY_BYTES, salt=None, info=info).derive(key)
    cipher = Cipher(algorithms.AES(derived), modes.ECB())  # single blocks of a MAC, not a message

    def encrypt(blocks: Bytes) -> Bytes:
        out = np.empty(blocks.nbytes + _BLOCK, np.uint8)
        written = cipher.encryptor().update_into(np.ascontiguousarray(blocks).reshape(-1).data, out.data)
        return out[:written].reshape(-1, _BLOCK)

    return encrypt


def _counter(number: int) -> Bytes:
    return np.frombuffer(number.to_bytes(_BLOCK, "big"), np.uint8)


def _edges(mechanism: Integers, limbs: int) -> Words:
    """Cumulative sums of every column but for the last, 2^K, as limbs, (|X| + 1, |Y| - 1, limbs).

    The last column is the law for unseen values; where there is none, it is never asked for.
    """
    columns = [list(column) for column in zip(*mechanism.weights, strict=True)]
    columns.append(mechanism.unseen or columns[0])
    edges = np.zeros((len(columns), len(mechanism.weights) - 1, limbs), np.uint64)
    for x, column in enumerate(columns):
        for y, total in enumerate(accumulate(column[:-1])):
            edges[x, y] = [total >> (64 * (limbs - 1 - i)) & (2**64 - 1) for i in range(limbs)]
    return edges


@kernel
def _select(words, edges, x):  # type: ignore[no-untyped-def]
    """How many edges of the record's column are at most its word: the output. Every row takes the same steps."""
    outputs = np.empty(len(words), np.int32)
    limbs = words.shape[1]
    for row in range(len(words)):
        column = edges[x[row]]
        chosen = np.int32(0)
        if limbs == 1:
            word = words[row, 0]
            for y in range(column.shape[0]):
                chosen += np.int32(word >= column[y, 0])
        else:
            for y in range(column.shape[0]):
                chosen += np.int32(_at_least(words[row], column[y]))
        outputs[row] = chosen
    return outputs


@kernel
def _at_least(word, edge):  # type: ignore[no-untyped-def]
    """word >= edge, from the least significant limb up, without an early end."""
    above = True
    for i in range(len(word) - 1, -1, -1):
        above = (word[i] > edge[i]) | ((word[i] == edge[i]) & above)
    return above


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
            inside, first, last = bool(_rises(*_buffers(ids))), ids[0].as_py(), ids[-1].as_py()
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


def _buffers(ids: pa.Array) -> tuple[Bytes, Numbers]:
    """The bytes of all ids, and where each starts."""
    _, offsets, data = ids.buffers()
    starts = np.frombuffer(offsets, np.int64)[ids.offset : ids.offset + len(ids) + 1]
    return (np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)), starts


@kernel
def _digits(numbers):  # type: ignore[no-untyped-def]
    """Decimal digits of integers, one after the other, and where each starts."""
    text = np.empty(len(numbers) * _MOST_DIGITS, np.uint8)
    starts = np.empty(len(numbers) + 1, np.int64)
    own = np.empty(_MOST_DIGITS, np.uint8)
    ten, place = np.uint64(10), 0
    for row in range(len(numbers)):
        starts[row] = place
        rest = np.uint64(numbers[row])
        if numbers[row] < 0:
            text[place] = 45  # a minus sign
            place += 1
            rest = ~rest + np.uint64(1)  # the magnitude, also of the smallest integer, which has no positive twin
        count = 0
        while count == 0 or rest > 0:
            above = rest // ten
            own[count] = np.uint8(48) + np.uint8(rest - above * ten)
            rest = above
            count += 1
        for i in range(count):
            text[place + i] = own[count - 1 - i]
        place += count
    starts[len(numbers)] = place
    return text, starts


@kernel
def _first_blocks(text, starts, x):  # type: ignore[no-untyped-def]
    blocks = np.zeros((len(x), _BLOCK), np.uint8)
    for row in range(len(x)):
        length = starts[row + 1] - starts[row]
        blocks[row, 0] = length >> 8
        blocks[row, 1] = length & 255
        blocks[row, 2] = x[row] >> 16
        blocks[row, 3] = (x[row] >> 8) & 255
        blocks[row, 4] = x[row] & 255
        for i in range(min(length, _BLOCK - _HEADER)):
            blocks[row, _HEADER + i] = text[starts[row] + i]
    return blocks


@kernel
def _integer_blocks(numbers, x):  # type: ignore[no-untyped-def]
    """The first blocks of integers whose digits fit: `_digits` and `_first_blocks` in one pass over little memory."""
    blocks = np.zeros((len(x), _BLOCK), np.uint8)
    ten = np.uint64(10)
    for row in range(len(x)):
        negative = numbers[row] < 0
        rest = np.uint64(-numbers[row] if negative else numbers[row])
        length, bound = 1 + negative, ten
        while bound <= rest:
            bound *= ten
            length += 1
        blocks[row, 1] = length
        blocks[row, 2] = x[row] >> 16
        blocks[row, 3] = (x[row] >> 8) & 255
        blocks[row, 4] = x[row] & 255
        if negative:
            blocks[row, _HEADER] = 45  # a minus sign
        for i in range(_HEADER + length - 1, _HEADER + negative - 1, -1):
            above = rest // ten
            blocks[row, i] = np.uint8(48) + np.uint8(rest - above * ten)
            rest = above
    return blocks


@kernel
def _next_blocks(text, starts, rows, number, state):  # type: ignore[no-untyped-def]
    """Block `number` of these rows, added to what the cipher made of those before it."""
    blocks = np.empty((len(rows), _BLOCK), np.uint8)
    for k in range(len(rows)):
        row = rows[k]
        begin = starts[row] + number * _BLOCK - _HEADER
        for i in range(_BLOCK):
            blocks[k, i] = state[row, i]
            if begin + i < starts[row + 1]:
                blocks[k, i] ^= text[begin + i]
    return blocks
