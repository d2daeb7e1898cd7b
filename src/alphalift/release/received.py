"""A released table as its receiver reads it: with the mechanism, or with the codebook alone, which is public."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from alphalift.arrays import Array
from alphalift.errors import InputError, TableError
from alphalift.joint import Variable
from alphalift.population import Estimate
from alphalift.proof.checker import Integers
from alphalift.release.outputs import Outputs
from alphalift.release.told import rounding
from alphalift.tables.opening import open_table


@dataclass(frozen=True, eq=False)
class Readable:
    """What is written for outputs, and P(y|x), (|Y|, |X|): `column` has one of `texts` for every output, or its code.

    `rounding` is the variance that few digits gave to P(y|x), if they did.
    """

    values: tuple[str, ...]
    law: Array
    column: str
    texts: tuple[str, ...]
    rounding: Array | None = None

    @classmethod
    def of_mechanism(cls, integers: Integers, variable: Variable) -> Readable:
        outputs = Outputs.of(integers, variable)
        law = np.zeros((len(outputs.labels), len(integers.labels["x"])))
        for y, row in enumerate(integers.weights):
            for x, weight in row.items():
                law[y, x] = weight / (1 << integers.bits)
        column, texts = list(outputs.written.items())[-1]
        return cls(tuple(integers.labels["x"]), law, column, texts or tuple(map(str, outputs.codes)))

    @classmethod
    def of_codebook(cls, book: dict[str, Any]) -> Readable:
        """With the digits of P(y|x) that a codebook tells."""
        try:
            values, outputs, column = tuple(book["values"]), book["outputs"], book["written_as"][-1]
            law = np.array([[own["p_y_given_x"].get(value, 0.0) for value in values] for own in outputs])
            several = len(book["written_as"]) > 1
            texts = tuple(str(own["code"]) if several else own["label"] for own in outputs)
            # Codebooks of earlier versions do not say of how many records their digits are: of all, or of fewer.
            records = int(book.get("digits_of_records") or book["rows"] or 1)
        except (KeyError, TypeError, IndexError, AttributeError):
            raise InputError("this is no codebook as `apply` writes it") from None
        return cls(values, law, column, texts, rounding(law, records))

    def counts(self, table: Any) -> Array:
        """How often each output was released."""
        counted = open_table(table, columns=[self.column]).count([self.column])
        found = dict(zip(map(str, counted.column(0).to_pylist()), counted.column(1).to_pylist(), strict=True))
        if unknown := found.keys() - set(self.texts):
            raise TableError(
                f"the released table has {len(unknown)} outputs that the file does not know: are they of one release?"
            )
        return np.array([found.get(text, 0) for text in self.texts], dtype=np.float64)


def estimate_release(table: Any, readable: Readable, *, confidence: float = 0.95) -> Estimate:
    """What a released table tells about X."""
    return Estimate(readable.values, readable.law, readable.counts(table), confidence, readable.rounding)
