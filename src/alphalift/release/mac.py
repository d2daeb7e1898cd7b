"""CBC-MAC with AES-256 over ids and numbers, vectorised over records.

The message is (length of the id, a number, id), padded with zeros to whole blocks: a pseudorandom function, since the
length comes first and no message is the beginning of another (M. Bellare, J. Kilian, P. Rogaway, "The security of the
cipher block chaining message authentication code", 2000).
"""

# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from alphalift.compiled import kernel
from alphalift.errors import TableError
from alphalift.release.ids import Bytes, Ids, Numbers, buffers

LONGEST_ID = 60_000
MOST_NUMBERS = 1 << 24
_BLOCK = 16
# Of the first block: two bytes for the length of the id, three for the number.
_HEADER = 5
_MOST_DIGITS = 20  # of a 64-bit integer, with its sign
# Integers below it, and negative ones below a tenth of it, fit into the first block.
_ONE_BLOCK = 10 ** (_BLOCK - _HEADER)


class Blocks:
    """AES under one key, block by block: parts of a MAC, not a message."""

    def __init__(self, key: bytes) -> None:
        self._cipher = Cipher(algorithms.AES(key), modes.ECB())

    def encrypt(self, blocks: Bytes) -> Bytes:
        """The encryption of every block, (rows, 16)."""
        out = np.empty(blocks.nbytes + _BLOCK, np.uint8)
        written = self._cipher.encryptor().update_into(np.ascontiguousarray(blocks).reshape(-1).data, out.data)
        return out[:written].reshape(-1, _BLOCK)


class Mac:
    """F under one key."""

    def __init__(self, key: bytes) -> None:
        self._encrypt = Blocks(key).encrypt

    def of(self, ids: Ids, x: Numbers) -> Bytes:
        """F of every record's id, as `as_text` makes it, and number, (rows, 16)."""
        if isinstance(ids, np.ndarray) and len(ids) and ids.min() > -_ONE_BLOCK // 10 and ids.max() < _ONE_BLOCK:
            return self._encrypt(_integer_blocks(ids, x))
        text, starts = _digits(ids) if isinstance(ids, np.ndarray) else buffers(ids)
        lengths = np.diff(starts)
        if lengths.max(initial=0) > LONGEST_ID:
            raise TableError(f"a record id is longer than {LONGEST_ID} bytes")
        blocks = 1 + -(-np.maximum(lengths - (_BLOCK - _HEADER), 0) // _BLOCK)
        state = self._encrypt(_first_blocks(text, starts, x))
        for number in range(1, int(blocks.max(initial=1))):
            rows = np.flatnonzero(blocks > number)
            state[rows] = self._encrypt(_next_blocks(text, starts, rows, number, state))
        return state


def counter(number: int) -> Bytes:
    """The number as a block."""
    return np.frombuffer(number.to_bytes(_BLOCK, "big"), np.uint8)


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
