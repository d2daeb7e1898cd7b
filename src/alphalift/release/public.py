"""What leaves beside released records: a codebook for their readers, and a manifest of how they were made.

An observer could compute all of it from the mechanism as it is shared and the released rows. No count of the private
table enters: P(y|x) has the digits that so many records support, since further digits of an optimal mechanism are those
of the counts that it was designed for; P_X is estimated from the released rows; there is no law for unseen values, since
that is P_Y; and the mechanism has a name under the key in place of its hash, which could confirm a guessed table.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np

from alphalift.arrays import Array, supports
from alphalift.choices import ShownIds
from alphalift.errors import InputError
from alphalift.joint import Bins
from alphalift.population.receiver import estimated_p_x
from alphalift.proof.checker import Integers
from alphalift.release.keys import DRAWS
from alphalift.release.outputs import Outputs
from alphalift.release.reading import notes
from alphalift.release.told import supported, told

_NAME_DIGITS = 16
_DIGITS = 4

_IDS = {
    "pseudonym": "pseudonyms under the key: they stay the same under this key and namespace, and link its releases",
    "real": "the table's own: who knows a person's id finds that person's row",
    "none": "left out",
}


def public_name(key: bytes, identity: str) -> str:
    """A mechanism's name in public: the same for the same mechanism and key, and without the key no test of a guess."""
    return hmac.new(key, b"alphalift mechanism name\0" + identity.encode(), hashlib.sha256).hexdigest()[:_NAME_DIGITS]


def codebook(
    integers: Integers, outputs: Outputs, *, name: str | None, counts: Sequence[int] | None, designed_from: int
) -> dict[str, Any]:
    """For every output its code and label, P(y|x), how often it occurs, and an estimate of what its records are.

    `counts` are the released rows by output (none if they are not counted: then nothing is estimated), `name` is
    `public_name`, `designed_from` the number of records of the joint (its total); the fewer records, the fewer digits.
    """
    rows = None if counts is None else sum(counts)
    records = supported(rows, designed_from)
    law = told(integers, records)
    p_x = None if counts is None else estimated_p_x(law, np.asarray(counts, dtype=np.float64))
    p_y = None if p_x is None else np.maximum(law @ p_x, 1e-300)
    x_labels, rows_of_law = integers.labels["x"], [*supports(law)]

    def probabilities(y: int) -> dict[str, dict[str, float] | None]:
        """P(y|x) of one output, and P(x|y), which is estimated by Bayes' rule."""
        symbols, shares = rows_of_law[y]
        names = [x_labels[x] for x in symbols.tolist()]
        posterior = None if p_x is None or p_y is None else _shares(names, shares * p_x[symbols] / p_y[y])
        given = dict(zip(names, shares.tolist(), strict=True))
        return {"p_y_given_x": given, "p_x_given_y_estimated": posterior}

    return {
        "format": "alphalift-codebook",
        "version": 2,
        "mechanism": name,
        "columns": list(outputs.variable.columns),
        "written_as": outputs.columns(),
        "rows": rows,
        "values": x_labels,
        "digits_of_records": records,
        "p_x_estimated": None if p_x is None else _shares(x_labels, p_x),
        "outputs": [
            {
                "code": code,
                "label": outputs.labels[y],
                **({"texts": [text[y] for text in outputs.texts]} if outputs.texts else {}),
                **({"combinations": list(map(list, outputs.combinations[y]))} if outputs.combinations else {}),
                "rows": None if counts is None else int(counts[y]),
                **probabilities(y),
            }
            for y, code in enumerate(outputs.codes)
        ],
        "notes": notes(outputs, x_labels),
    }


def _shares(labels: Sequence[str], shares: Array) -> dict[str, float]:
    rounded = {label: round(float(share), _DIGITS) for label, share in zip(labels, shares, strict=True)}
    return {label: share for label, share in rounded.items() if share}


@dataclass(frozen=True, kw_only=True)
class Facts:
    """How a release was made, as far as its observer may know: no count of the table, no key and no path."""

    mechanism: str | None  # its public name
    promise: str  # in words, with the name of the secret
    columns: tuple[str, ...]
    bins: Bins
    written_as: tuple[str, ...]
    rows: int | None
    ids: ShownIds
    id_column: str | None
    ids_checked: bool
    namespace: str
    kept: tuple[str, ...] = ()
    key: str | None = None  # its fingerprint; none for a release with fresh randomness
    table: str | None = None  # a keyed hash of the input
    earlier: int = 0  # releases before it that its promise counts in

    def __post_init__(self) -> None:
        if self.earlier < 0:
            raise InputError(f"earlier releases are {self.earlier}, expected 0 or more")
        if self.ids not in _IDS:
            raise InputError(f"ids are shown as {self.ids!r}, expected one of {', '.join(_IDS)}")


def manifest(facts: Facts) -> dict[str, Any]:
    """The facts as they are written, with what the promise covers; who holds the key and the table can repeat them."""
    checked = "checked: none occurs with two values" if facts.ids_checked else "trusted not to occur with two values"
    return {
        "format": "alphalift-release",
        "version": 2,
        "package": f"alphalift {version('alphalift')}",
        "draws": DRAWS if facts.key is not None else "fresh randomness, once",
        "mechanism": facts.mechanism,
        "promise": facts.promise,
        "covers": f"the released columns alone{_together(facts.earlier)}, once for each record, for a population like the table that was designed for",
        "rows": facts.rows,
        "columns": list(facts.columns),
        "bins": {column: list(edges) for column, edges in facts.bins},
        "written_as": list(facts.written_as),
        "kept_columns": list(facts.kept),
        "id_column": facts.id_column,
        "ids": _IDS[facts.ids] if facts.id_column is not None else "none: drawn with fresh randomness, once",
        "repeated_ids": None if facts.id_column is None else checked,
        "namespace": facts.namespace,
        "key": facts.key,
        "table": facts.table,
    }


def _together(earlier: int) -> str:
    if not earlier:
        return ""
    return f" together with {earlier} earlier release{'s' if earlier > 1 else ''} about the same people"
