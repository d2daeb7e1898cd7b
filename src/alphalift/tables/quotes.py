"""Quotes: CSV text on its way to the reader, refused where its quotes are not those of RFC 4180."""

from __future__ import annotations

import atexit
import time
import weakref
from typing import Any

import numpy as np

from alphalift.errors import TableError

# Arrow reads ahead in a thread of its own, also after it has refused the text. A thread that asks for Python's lock when the
# interpreter has gone ends the process by abort(), so leaving waits until no thread of Arrow's has one of these.
_PATIENCE_SECONDS = 5.0
_read_by_arrow: list[weakref.ref[Quotes]] = []


@atexit.register
def _let_go() -> None:
    give_up = time.monotonic() + _PATIENCE_SECONDS
    while any(file() is not None for file in _read_by_arrow) and time.monotonic() < give_up:
        time.sleep(0.001)


class Quotes:
    """A file for Arrow to read from, which refuses quotes that RFC 4180 does not allow, and drops a byte order mark.

    After a quote that is never closed Arrow makes one cell of all the rest. Where quotes stand only around cells,
    and doubled inside, every second one opens; then the byte before an opening and after a closing one is an edge.
    """

    def __init__(self, raw: Any, name: str, delimiter: str) -> None:
        self.raw, self.name, self.closed = raw, name, False
        self.is_edge = np.zeros(256, bool)
        self.is_edge[list(f'{delimiter}\n\r"'.encode())] = True
        self.before: bytes | None = None  # the last byte that was read
        self.inside = False
        self.line = 1
        self.line_of_opening = 1
        _read_by_arrow[:] = [file for file in _read_by_arrow if file() is not None]
        _read_by_arrow.append(weakref.ref(self))

    def read(self, size: int = -1) -> bytes:
        block: bytes = self.raw.read(size)
        if self.before is None:
            block, self.before = block.removeprefix(b"\xef\xbb\xbf"), b"\n"
        if block:
            self._check(self.before + block)
        elif self.inside:
            self._refuse("a quote that is never closed", self.line_of_opening)
        return block

    def close(self) -> None:
        self.closed = True

    def _check(self, text: bytes) -> None:
        """Look at all bytes but the first, which was looked at before."""
        codes = np.frombuffer(text, np.uint8)
        quotes = np.flatnonzero(codes[1:] == ord('"')) + 1
        opening, closing = quotes[self.inside :: 2], quotes[not self.inside :: 2]
        if text[:1] == b'"' and not self.inside:
            closing = np.append(0, closing)
        after = closing[closing + 1 < len(codes)] + 1
        wrong = np.concatenate([opening[~self.is_edge[codes[opening - 1]]], after[~self.is_edge[codes[after]]]])
        if wrong.size:
            self._refuse("a quote inside a cell that is not doubled", self._line_at(text, int(wrong.min())))
        if opening.size:
            self.line_of_opening = self._line_at(text, int(opening[-1]))
        self.inside ^= bool(quotes.size % 2)
        self.line = self._line_at(text, len(text))
        self.before = text[-1:]

    def _line_at(self, text: bytes, end: int) -> int:
        return self.line + max(text.count(b"\n", 1, end), text.count(b"\r", 1, end))

    def _refuse(self, what: str, line: int) -> None:
        raise TableError(
            f"{self.name} has {what}, near line {line}; a cell with quotes is quoted, and they are doubled"
        )
