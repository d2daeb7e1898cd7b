"""What knowing Y is worth to somebody who chooses among finitely many actions."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from alphalift.arrays import Array
from alphalift.errors import InputError, SettingError
from alphalift.exact import exact, written_out
from alphalift.joint import Joint
from alphalift.utilities.base import Utility
from alphalift.utilities.pieces import Actions, Pieces


@dataclass(frozen=True, init=False)
class Decision(Utility):
    """E_Y max_a E[g_a(X) | Y] - max_a E g_a(X): h(V) = -max_a g_a.V, but for a linear function, which changes no utility.

    `gains` has a row for every action and a column for every value of X, in the joint's order unless `values` names them.
    Numbers are decimals: a float means its shortest one. Or `gains` is the path of a CSV file, whose first row has the values of X
    below a title or nothing, and every other row the name of an action and its gains. A data frame brings its index and columns as names.
    """

    gains: tuple[tuple[Fraction, ...], ...]
    actions: tuple[str, ...] | None
    values: tuple[str, ...] | None
    # What each action loses beside the best one, (actions, |X|), once the joint is known: never negative, so nothing cancels.
    _regrets: Array | None = field(repr=False, compare=False)
    _columns: tuple[int, ...] | None = field(repr=False, compare=False)
    _labels: tuple[str, ...] | None = field(repr=False, compare=False)

    def __init__(
        self,
        gains: Any,
        actions: Sequence[object] | None = None,
        values: Sequence[object] | None = None,
    ) -> None:
        if isinstance(gains, str | Path):
            gains, actions, values = _read(Path(gains))
        elif hasattr(gains, "index") and hasattr(gains, "columns"):
            actions = list(gains.index) if actions is None else actions
            values = list(gains.columns) if values is None else values
            gains = gains.to_numpy()
        rows = [list(row) if np.ndim(row) else [row] for row in gains] if isinstance(gains, Iterable) else []
        if not rows or not rows[0] or len({len(row) for row in rows}) > 1:
            raise SettingError("gains must be a table: a row for every action, a column for every value of X")
        numbers = tuple(tuple(_gain(entry, a, x) for x, entry in enumerate(row)) for a, row in enumerate(rows))
        self._fill(
            gains=numbers,
            actions=_names(actions, len(rows), "actions"),
            values=_names(values, len(rows[0]), "values"),
            _regrets=None,
            _columns=None,
            _labels=None,
        )

    def _fill(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def on(self, joint: Joint) -> Decision:
        if self._labels == joint.x_labels:
            return self
        result = object.__new__(Decision)
        columns = tuple(self._columns_of(joint))
        rows = [[row[x] for x in columns] for row in self.gains]
        best = [max(column) for column in zip(*rows, strict=True)]
        regrets = np.array([[float(top - own) for top, own in zip(best, row, strict=True)] for row in rows])
        result._fill(gains=self.gains, actions=self.actions, values=self.values)
        result._fill(_regrets=regrets, _columns=columns, _labels=joint.x_labels)
        return result

    def _columns_of(self, joint: Joint) -> Sequence[int]:
        labels = joint.x_labels
        if self.values is None:
            if len(self.gains[0]) != len(labels):
                raise InputError(
                    f"a row of gains has {_many(len(self.gains[0]))}, and X has {_many(len(labels))}: give a gain for each, a row for every action"
                )
            return range(len(labels))
        places = {label: x for x, label in enumerate(self.values)}
        missing = sum(label not in places for label in labels)
        if missing:
            raise InputError(
                f"the table of gains has no column for {missing} of the {len(labels)} values of X; columns are named as X's values are"
            )
        return [places[label] for label in labels]

    @property
    def parameters(self) -> dict[str, Any]:
        """The gains in the joint's order as decimals in text, and what the actions are called."""
        assert self._columns is not None
        rows = [[written_out(row[x]) for x in self._columns] for row in self.gains]
        return {"gains": rows, "actions": list(self.actions or map(str, range(len(rows))))}

    def kept(self, useful: str) -> str:
        return f"gain from knowing {useful}"

    def __repr__(self) -> str:
        rows = ", ".join(f"[{', '.join(map(written_out, row))}]" for row in self.gains)
        named = [
            f"{name}={list(names)!r}" for name, names in (("actions", self.actions), ("values", self.values)) if names
        ]
        return f"Decision({', '.join([f'[{rows}]', *named])})"

    @property
    def regrets(self) -> Array:
        if self._regrets is None:
            raise SettingError("a decision's gains are in an order that its joint decides: use .on(joint)")
        return self._regrets

    def uncertainty(self, points: Array) -> Array:
        return np.asarray((points @ self.regrets.T).min(axis=-1))

    def of_publishing_all(self, p_x: Array) -> float:
        return float(self.uncertainty(p_x[None])[0])

    def pieces(self, scale: float, size: int) -> Pieces:
        return Actions(self.regrets / scale)


def _gain(entry: object, action: int, value: int) -> Fraction:
    try:
        number = exact(entry)
        written_out(number)
    except ValueError:
        raise InputError(
            f"the gain of action {action + 1} for value {value + 1} is not a finite decimal number"
        ) from None
    return number


def _many(values: int) -> str:
    return f"{values} value{'' if values == 1 else 's'}"


def _names(names: Sequence[object] | None, count: int, what: str) -> tuple[str, ...] | None:
    if names is None:
        return None
    found = tuple(map(str, names))
    if len(found) != count or len({*found}) != count:
        raise InputError(f"{what} must be {count} different names")
    return found


def _read(path: Path) -> tuple[list[list[str]], list[str], list[str]]:
    """Gains, actions and values of X of a CSV file."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = [row for row in csv.reader(file) if row]
    except OSError as error:
        raise InputError(
            f"{path}: the table of gains cannot be read: {(error.strerror or 'it is damaged').lower()}"
        ) from None
    except (UnicodeDecodeError, csv.Error):
        raise InputError(f"{path}: the table of gains is no CSV file in UTF-8") from None
    if len(rows) < 2 or len(rows[0]) < 2 or any(len(row) != len(rows[0]) for row in rows):
        raise InputError(
            f"{path}: a table of gains has a first row with the values of X, and below it a row for every action: its name, a number "
            "for every value, with commas between them"
        )
    return [row[1:] for row in rows[1:]], [row[0] for row in rows[1:]], rows[0][1:]
