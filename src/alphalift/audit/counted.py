"""Samples: records of a secret, a released value and perhaps X, counted from a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from alphalift.errors import InputError
from alphalift.regions import PML, Region
from alphalift.tables import Columns, key_of, label_of, read_joint

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Samples:
    """How often each secret, value of X (one, if it is not known) and output occurred together: (|S|, |X|, |Y|).

    Those that never occur are left out.
    """

    counts: Counts
    s_labels: tuple[str, ...]
    x_labels: tuple[str, ...] | None
    y_labels: tuple[str, ...]

    def __post_init__(self) -> None:
        counts, labels = np.asarray(self.counts), (self.s_labels, self.x_labels, self.y_labels)
        sizes = tuple(1 if own is None else len(own) for own in labels)
        if counts.shape != sizes or not np.issubdtype(counts.dtype, np.integer) or counts.min(initial=0) < 0:
            raise InputError(
                f"samples are whole numbers of records, expected {' x '.join(map(str, sizes))} of them as labels say"
            )
        if not counts.any():
            raise InputError("there are no records to audit")
        for axis, (name, own) in enumerate(zip(("s_labels", "x_labels", "y_labels"), labels, strict=True)):
            occurs = counts.sum(axis=tuple({0, 1, 2} - {axis})) > 0
            counts = counts.compress(occurs, axis=axis)
            if own is not None:
                object.__setattr__(self, name, tuple(label for label, seen in zip(own, occurs, strict=True) if seen))
        object.__setattr__(self, "counts", counts.astype(np.int64))

    def about(self, promise: Region) -> tuple[Counts, tuple[str, ...]]:
        """Counts of what the promise is about, in rows, and outputs, and the labels of the rows."""
        if not is_about_x(promise):
            return self.counts.sum(axis=1), self.s_labels
        if self.x_labels is None:
            raise InputError("PML is about X itself: name the useful column as well (useful=)")
        return self.counts.sum(axis=0), self.x_labels


def read_samples(
    table: Any, *, sensitive: Columns, released: Columns, useful: Columns | None = None, **reading: Any
) -> Samples:
    """Count the secret, the released and, if it is named, the useful column of a table; `reading` as for `read_joint`."""
    s, x, y = (
        [own] if isinstance(own, str) else list(own) for own in (sensitive, [] if useful is None else useful, released)
    )
    if clash := ({*s, *x} & {*y}) | ({*s} & {*x}):
        raise InputError(
            f"column {min(clash)!r} is named twice; the secret, useful and released columns are different ones"
        )
    joint = read_joint(table, sensitive=[*s, *x], useful=y, **reading)
    keys = [key_of(label, len(s) + len(x)) for label in joint.s_labels]
    s_labels = tuple(dict.fromkeys(label_of(key[: len(s)]) for key in keys))
    x_labels = tuple(dict.fromkeys(label_of(key[len(s) :]) for key in keys)) if x else None
    places = [{label: place for place, label in enumerate(labels)} for labels in (s_labels, x_labels or ())]
    counts = np.zeros((len(s_labels), len(x_labels or ("",)), len(joint.x_labels)), dtype=np.int64)
    for key, row in zip(keys, joint.weights, strict=True):
        at = places[1][label_of(key[len(s) :])] if x else 0
        counts[places[0][label_of(key[: len(s)])], at] += np.array(row)
    return Samples(counts, s_labels, x_labels, joint.x_labels)


def is_about_x(promise: Region) -> bool:
    """An intersection's components are all about the same secret."""
    return isinstance(promise.components[0], PML)
