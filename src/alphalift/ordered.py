"""--ordered and --hierarchy: which values of useful columns are similar, as the library takes it."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from alphalift.distance import Distance, Places, Scale, hierarchy_of, own_order
from alphalift.errors import InputError
from alphalift.given import files_of, share_of
from alphalift.joint import Joint
from alphalift.tables import TableFile, read_joint


@dataclass(frozen=True)
class Similar:
    """By what values of useful columns are similar: own orders, columns of numbers, files of hierarchies; and what may be given up for it."""

    ordered: dict[str, str]
    hierarchies: dict[str, Path]
    share: float | None

    @classmethod
    def read(cls, ordered: list[str] | None, hierarchies: list[str] | None, give_up: str | None) -> Similar:
        texts = [text.partition("=") for text in ordered or []]
        columns = {column: numbers for column, _, numbers in texts}
        files = files_of(hierarchies, "a hierarchy", "--hierarchy")
        if len(columns) != len(texts) or columns.keys() & files.keys():
            raise InputError("a column has one order: name it once in --ordered and --hierarchy")
        share = None if give_up is None else share_of(give_up, "--give-up")
        if share is not None and not columns and not files:
            raise InputError("--give-up says what an order may cost: give --ordered or --hierarchy as well")
        return cls(columns, files, share)

    def require(self, useful: Sequence[str]) -> None:
        """Fail before the work."""
        odd = [column for column in [*self.ordered, *self.hierarchies] if column not in useful]
        if odd:
            raise InputError(f"an order is given for {odd[0]!r}, which is no useful column (--useful)")

    @property
    def wanted(self) -> bool:
        return bool(self.ordered or self.hierarchies)

    @property
    def words(self) -> str:
        """For a file's provenance."""
        parts = [
            f"order of {column}" + (f" by {numbers}" if numbers else "") for column, numbers in self.ordered.items()
        ]
        return ", ".join([*parts, *(f"hierarchy of {column}" for column in self.hierarchies)])

    def distance(self, joint: Joint, table: Path | TableFile) -> Distance:
        """How far apart the joint's values are."""
        scales: dict[str, Scale] = {}
        for column, numbers in self.ordered.items():
            scales[column] = numbers_beside(table, column, numbers) if numbers else own_order(joint, column)
        for column, file in self.hierarchies.items():
            with file.open(encoding="utf-8", newline="") as rows:
                try:
                    scales[column] = hierarchy_of(list(csv.reader(rows)))
                except (UnicodeDecodeError, csv.Error):
                    raise InputError(
                        f"{file} is no CSV file in UTF-8; expected a value, its parent, its grandparent, ... in each row"
                    ) from None
        return Distance.of(joint, scales)


def numbers_beside(table: Path | TableFile, column: str, numbers: str) -> Places:
    """The number that another column of the table has beside each value, the same in all its rows."""
    pairs = read_joint(table, sensitive=column, useful=numbers, missing="drop", anyway=True)
    found: dict[str, float] = {}
    for text, row in zip(pairs.s_labels, pairs.weights, strict=True):
        labels = [label for label, count in zip(pairs.x_labels, row, strict=True) if count]
        try:
            (found[text],) = map(float, labels)
        except ValueError:
            raise InputError(
                f"column {numbers!r} has no single number beside each value of {column!r}; expected the same one in all rows of a value"
            ) from None
    if not np.isfinite(list(found.values())).all():
        raise InputError(f"column {numbers!r} has a number that is not finite")
    return Places(found, f"units of {numbers}")
