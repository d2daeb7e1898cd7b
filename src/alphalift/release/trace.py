"""Whom a release was about, as far as its ledger has to know: whether a repetition is about the same people.

A repetition draws nothing new only while ids are written as they were: "007" and 7 are two people to a key, and each gets
an answer of its own. Ids are therefore remembered by the smallest of their hashes (bottom-k; E. Cohen, H. Kaplan,
"Summarizing data using bottom-k sketches", 2007): few numbers, with a seed from the key, sealed in the ledger.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
_KEPT = 256
_MOST_TABLES = 64
_ALL = 2**64 - 1


def least(*words: Words) -> Words:
    """The smallest different ones of all these, in order."""
    return np.unique(np.concatenate(words))[:_KEPT]


def least_with(found: Words, words: Words) -> Words:
    """The same for many more words: most of them are larger than what is kept."""
    return least(found, words[words < found[-1]] if len(found) == _KEPT else words)


@dataclass(frozen=True)
class Trace:
    """The smallest hashes of the ids that were released, and the keyed sums of the tables that they were in."""

    ids: tuple[int, ...]
    tables: tuple[str, ...]

    @property
    def _bound(self) -> int:
        """Up to here all hashes are kept."""
        return self.ids[-1] if len(self.ids) == _KEPT else _ALL

    def joined(self, other: Trace | None) -> Trace:
        """Of both, this one's tables last."""
        if other is None:
            return self
        ids = tuple(sorted({*self.ids, *other.ids}))
        bound = min(self._bound, other._bound)
        tables = tuple(dict.fromkeys([*other.tables, *self.tables]))
        return Trace(tuple(word for word in ids if word <= bound)[:_KEPT], tables[-_MOST_TABLES:])

    def shared(self, other: Trace) -> float | None:
        """Which part of the smaller one's ids the other has, too; None where the few hashes do not tell."""
        bound = min(self._bound, other._bound)
        one, two = ({word for word in trace.ids if word <= bound} for trace in (self, other))
        smaller = min(len(one), len(two))
        return len(one & two) / smaller if smaller else None


def all_of(traces: Iterable[Trace | None]) -> Trace | None:
    """The traces of several runs of one release as one."""
    found: Trace | None = None
    for trace in traces:
        found = found if trace is None else trace.joined(found)
    return found
