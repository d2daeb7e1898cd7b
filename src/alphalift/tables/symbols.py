"""Symbols: the text of every value, one label for a combination of them, and which symbol each record has.

Distinct values are mapped once, records by their codes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from alphalift.errors import TableError
from alphalift.tables.bins import bin_edges, numbers_binned
from alphalift.tables.columns import decoded, is_unicode, require_countable

# The symbol of a missing value; a column that contains this very text is refused.
MISSING = "(missing)"

Key = tuple[str, ...]


def canonical_texts(values: Iterable[Any], column: str) -> list[str]:
    """Every value (also of an Arrow column, best its distinct ones) as the text of its symbol; missing ones as MISSING.

    Text is itself; numbers, truth values and dates are as Python writes them, and -0.0 is 0.0.
    """
    texts = []
    for value in _python_values(values, column):
        # NaN is the only value that differs from itself.
        gone = value is None or value != value
        text = MISSING if gone else str(value + 0.0 if isinstance(value, float) else value)
        if text == MISSING and not gone:
            raise TableError(f"column {column!r} contains the text {MISSING!r}, which stands for a missing value")
        if not text.isascii() and not is_unicode(text):
            raise TableError(f"column {column!r}: a value is not Unicode text (it has half of a pair of surrogates)")
        texts.append(text)
    return texts


def _python_values(values: Iterable[Any], column: str) -> list[Any]:
    if not isinstance(values, pa.Array | pa.ChunkedArray):
        return list(values)
    require_countable("the table", pa.schema([(column, values.type)]), [column])
    try:
        return values.to_pylist()
    except (ValueError, OverflowError, pa.ArrowException):
        raise TableError(f"column {column!r} has dates out of range, or text that is not UTF-8") from None


def label_of(key: Key) -> str:
    """One text for a combination; commas inside a part are escaped, so that no two combinations share it."""
    if len(key) == 1:
        return key[0]
    return ", ".join(part.replace("\\", "\\\\").replace(",", "\\,") for part in key)


def key_of(label: str, count: int) -> Key:
    """The combination of `count` values that has this label, of which there is one."""
    if count == 1:
        return (label,)
    parts = [""]
    for token in re.findall(r"\\.|, |.", label, re.DOTALL):
        if token == ", ":
            parts.append("")
        else:  # two characters are an escaped one
            parts[-1] += token[-1]
    if len(parts) != count or label_of(tuple(parts)) != label:
        raise TableError(f"a label is not one of {count} values with commas between them")
    return tuple(parts)


class Symbols:
    """Numbers of the labels of X; one more for whatever is not among them."""

    def __init__(
        self, labels: Sequence[str], columns: Sequence[str], bins: Mapping[str, Sequence[float]] | None = None
    ) -> None:
        self.columns, self.unseen = list(columns), len(labels)
        self._bins = {name: bin_edges(name, edges) for name, edges in (bins or {}).items()}
        self._numbers = {label: number for number, label in enumerate(labels)}

    def numbers(self, batch: pa.RecordBatch) -> NDArray[np.int64]:
        """The number of every record's symbol, (rows,)."""
        require_countable("the table", batch.schema, self.columns)
        combined, keys = np.zeros(len(batch), np.int64), [tuple[str, ...]()]
        for name in self.columns:
            encoded = batch.column(name)
            if name in self._bins:
                encoded = numbers_binned(encoded, self._bins[name], name)
            if not pa.types.is_dictionary(encoded.type) or encoded.null_count:
                encoded = decoded(encoded).dictionary_encode(null_encoding="encode")
            texts = canonical_texts(encoded.dictionary, name)
            # Combinations that occur, not all that could: products of columns grow.
            codes = combined * len(texts) + np.asarray(encoded.indices.to_numpy(zero_copy_only=False))
            if len(self.columns) == 1:
                combined, keys = codes, [(text,) for text in texts]
            else:
                occurring, combined = np.unique(codes, return_inverse=True)
                keys = [(*keys[code // len(texts)], texts[code % len(texts)]) for code in occurring.tolist()]
        known = np.array([self._numbers.get(label_of(key), self.unseen) for key in keys], np.int64)
        return np.asarray(known[combined])
