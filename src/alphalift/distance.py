"""How far apart the values of X are, by a declared order, by numbers, or by a hierarchy.

Distances of one column are in its own steps: ranks of an order, differences of numbers, levels up to the first common ancestor.
Of several columns every one is scaled to its largest distance, and they are added; one without a scale is 0 or 1.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from alphalift.arrays import Array, read_only
from alphalift.errors import InputError
from alphalift.exact import exact
from alphalift.joint import Joint
from alphalift.tables import MISSING, bin_labels, key_of

_MOST_LEVELS = 100


class Scale(ABC):
    """Distances of the values of one column."""

    unit: str

    @abstractmethod
    def between(self, texts: Sequence[str]) -> Array:
        """The distances of these values, (count, count)."""


@dataclass(frozen=True)
class Places(Scale):
    """Every value has a place on a line: a number, or its rank in an order."""

    of: Mapping[str, float]
    unit: str = "steps"

    def between(self, texts: Sequence[str]) -> Array:
        _require_known(texts, self.of, "no place in the order")
        places = np.array([float(self.of[text]) for text in texts])
        return np.asarray(np.abs(places[:, None] - places))


@dataclass(frozen=True)
class Hierarchy(Scale):
    """Every value has ancestors, its parent first; how far two are apart is how many levels up the first common one is."""

    ancestors: Mapping[str, tuple[str, ...]]
    unit: str = "levels"

    def between(self, texts: Sequence[str]) -> Array:
        _require_known(texts, self.ancestors, "not in the hierarchy")
        paths = [(text, *self.ancestors[text]) for text in texts]
        depth = max(map(len, paths))
        found = np.full((len(texts), len(texts)), float(depth))  # of what has no ancestor in common
        for level in range(depth - 1, -1, -1):
            names = np.array([path[level] if level < len(path) else f"\0{i}" for i, path in enumerate(paths)])
            found[names[:, None] == names] = level
        return found


def _require_known(texts: Sequence[str], known: Mapping[str, object], trouble: str) -> None:
    missing = sum(text not in known for text in texts)
    if missing:
        raise InputError(f"{missing} of the {len(texts)} values: {trouble}; declare all of them")


@dataclass(frozen=True, eq=False)
class Distance:
    """d(x, x') for every two values of a joint, (|X|, |X|): symmetric, 0 or more, and 0 of a value from itself."""

    matrix: Array
    unit: str = "steps"

    def __post_init__(self) -> None:
        matrix = np.array(self.matrix, dtype=np.float64)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise InputError(f"distances have the shape {matrix.shape}, expected as many rows as columns")
        if not np.isfinite(matrix).all() or (matrix < 0).any() or np.diag(matrix).any() or (matrix != matrix.T).any():
            raise InputError(
                "distances are finite numbers of 0 or more, the same both ways, and 0 of a value from itself"
            )
        object.__setattr__(self, "matrix", read_only(matrix))

    @classmethod
    def of(cls, joint: Joint, scales: Mapping[str, Scale]) -> Distance:
        """The distances of a joint's values by the scales of its useful columns; "" is X where no column is known."""
        columns = joint.useful.columns or ("",)
        odd = [column for column in scales if column not in columns]
        if odd or not scales:
            raise InputError(
                f"an order is given for {', '.join(map(repr, odd)) or 'no column'}; expected a useful column"
            )
        keys = [key_of(label, len(columns)) for label in joint.x_labels]
        found = [_of_column([key[i] for key in keys], scales.get(column)) for i, column in enumerate(columns)]
        if len(columns) == 1:
            return cls(found[0], scales[columns[0]].unit)
        scaled = [own / own.max() if own.max() > 0 else own for own in found]
        return cls(np.sum(scaled, axis=0), f"of {len(columns)} at most, a unit for each column")

    def within(self, posteriors: Array) -> Array:
        """The mean distance of two people with the same output, for every output with its posterior, (count, |X|) -> (count,)."""
        return np.asarray(np.einsum("yx,xz,yz->y", posteriors, self.matrix, posteriors, optimize=True))


def _of_column(texts: Sequence[str], scale: Scale | None) -> Array:
    """A missing value is as far from all others as any two are."""
    known = np.array([text != MISSING for text in texts])
    found = (1 - np.eye(len(texts))) * 1.0
    if scale is None:
        same = np.array(texts)
        return np.asarray(same[:, None] != same, dtype=np.float64)
    own = scale.between([text for text in texts if text != MISSING])
    found *= own.max(initial=0.0) or 1.0
    found[np.ix_(known, known)] = own
    same = np.array(texts)
    found[same[:, None] == same] = 0.0
    return found


def own_order(joint: Joint, column: str) -> Places:
    """The order that a useful column has without being told: of its bins, of its declared values, or of its numbers."""
    columns = joint.useful.columns
    texts = list(dict.fromkeys(key_of(label, len(columns))[columns.index(column)] for label in joint.x_labels))
    edges = dict(joint.useful.bins).get(column)
    if edges is not None:
        return Places({text: float(rank) for rank, text in enumerate(bin_labels(edges))})
    texts = [text for text in texts if text != MISSING]
    if joint.origin is not None and column in joint.origin.declared:
        return Places({text: float(rank) for rank, text in enumerate(texts)})
    try:
        numbers = {text: float(exact(text)) for text in texts}
    except ValueError:
        numbers = {}
    if not numbers or not all(map(math.isfinite, numbers.values())):
        raise InputError(
            f"column {column!r} has no order of its own: its values are no numbers, and neither its alphabet nor bins are declared; "
            "declare its values in their order with alphabet=, or name a column of numbers"
        )
    return Places(numbers, "units")


def hierarchy_of(rows: Sequence[Sequence[str]]) -> Hierarchy:
    """From rows of a value, its parent, its grandparent and so on; empty cells at the end say nothing."""
    ancestors: dict[str, tuple[str, ...]] = {}
    for number, row in enumerate(rows, 1):
        cells = [cell.strip() for cell in row]
        while cells and not cells[-1]:
            cells.pop()
        if not cells:
            continue
        if not cells[0] or "" in cells or len(cells) > _MOST_LEVELS:
            raise InputError(f"row {number} of the hierarchy has an empty cell before its last one, or too many levels")
        if ancestors.setdefault(cells[0], tuple(cells[1:])) != tuple(cells[1:]):
            raise InputError(f"row {number} of the hierarchy gives a value other ancestors than a row before")
    if not ancestors:
        raise InputError("the hierarchy has no rows; expected a value and its parent, grandparent, ... in each")
    return Hierarchy(ancestors)
