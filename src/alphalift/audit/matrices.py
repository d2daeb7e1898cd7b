"""Matrices with labels as people keep them: CSV files whose first row and first column are labels, read to the last digit."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from alphalift.errors import InputError
from alphalift.exact import exact

# A matrix is read into memory and computed with exactly: larger ones are no hand-made channels.
_MOST_BYTES, _MOST_CELLS = 60_000_000, 2_000_000

Entries = tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True)
class Labelled:
    """Exact entries, a tuple for each row, and what the rows and the columns are called."""

    entries: Entries
    rows: tuple[str, ...]
    columns: tuple[str, ...]

    def __post_init__(self) -> None:
        for labels, what in ((self.rows, "rows"), (self.columns, "columns")):
            if not labels or len(set(labels)) != len(labels):
                raise InputError(f"the matrix needs {what} with different labels")
        if len(self.entries) != len(self.rows) or any(len(row) != len(self.columns) for row in self.entries):
            raise InputError(
                f"the matrix does not have {len(self.rows)} x {len(self.columns)} entries, as its labels say"
            )

    @property
    def transposed(self) -> Labelled:
        return Labelled(tuple(zip(*self.entries, strict=True)), self.columns, self.rows)

    @property
    def whole(self) -> bool:
        """Whether all entries are whole numbers: counts."""
        return all(entry.denominator == 1 for row in self.entries for entry in row)

    def by_columns(self, labels: Sequence[str]) -> Labelled:
        """The same with the columns that have these labels, in their order."""
        places = [self.columns.index(label) for label in labels]
        return Labelled(tuple(tuple(row[i] for i in places) for row in self.entries), self.rows, tuple(labels))


def read_labelled(path: str | Path) -> Labelled:
    """The matrix in a CSV file, or TSV by its ending. Entries are decimals or fractions, '0.25' or '1/3', taken as they are written."""
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: there is no such file; expected a matrix with labels, a CSV file")
    if path.stat().st_size > _MOST_BYTES:
        raise InputError(f"{path} is larger than {_MOST_BYTES:,} bytes; expected a matrix with labels")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = [line for line in csv.reader(file, delimiter="\t" if path.suffix == ".tsv" else ",") if line]
    except (UnicodeDecodeError, csv.Error):
        raise InputError(f"{path} is not a CSV file in UTF-8") from None
    if len(lines) < 2 or len(lines[0]) < 2:
        raise InputError(
            f"{path} has no entries; expected a first row and a first column of labels, and numbers beside them"
        )
    if len(lines) * len(lines[0]) > _MOST_CELLS:
        raise InputError(f"{path} has more than {_MOST_CELLS:,} entries")
    try:
        return Labelled(
            tuple(
                tuple(_entry(text, i, j) for j, text in enumerate(line[1:], 1)) for i, line in enumerate(lines[1:], 1)
            ),
            tuple(line[0].strip() for line in lines[1:]),
            tuple(label.strip() for label in lines[0][1:]),
        )
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def _entry(text: str, row: int, column: int) -> Fraction:
    try:
        number = exact(text.strip())
    except ValueError as error:
        raise InputError(f"the entry in row {row}, column {column} is {error}") from None
    if number < 0:
        raise InputError(f"the entry in row {row}, column {column} is negative; expected 0 or more")
    return number
