"""Which symbol of a mechanism each record has: distinct values are mapped once, records by their codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from alphalift.release.read import bin_edges, canonical_texts, label_of, numbers_binned
from alphalift.release.source import decoded


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
