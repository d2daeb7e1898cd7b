"""Sheets of workbooks (Excel, LibreOffice), read by fastexcel: the extra `excel`.

Every cell is the text that it would be in a CSV file: an empty one is null, a whole number has no point, what a formula
has computed is its value. A workbook is a packed archive, so what it would unpack to is looked at before it is opened.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow as pa

from alphalift.errors import TableError
from alphalift.lazily import Later
from alphalift.tables.base import Source
from alphalift.tables.columns import require

pc = Later("pyarrow.compute")

ENDINGS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
# A full sheet of a million rows with a dozen columns unpacks to less.
MAX_UNPACKED_BYTES = 1 << 30


def open_workbook(path: Path, name: str, columns: list[str], sheet: str | None) -> Source:
    """The sheet of this name, which a workbook with one sheet need not tell, with these columns in its first row."""
    if find_spec("fastexcel") is None:
        raise TableError(
            f"{name}: Excel files need the extra: pip install 'alphalift[excel]'; or save the sheet as CSV"
        )
    source = WorkbookSheet(
        name, "workbook", pa.schema([(column, pa.string()) for column in columns]), path, sheet or ""
    )
    with source._in_our_words():
        _require_size(path, name)
        if sheet is None:
            source = WorkbookSheet(name, source.description, source.schema, path, _only_sheet(path, name))
        elif sheet not in _sheets(path):
            raise TableError(f"{name}: there is no sheet {sheet!r} among its {len(_sheets(path))}")
        require(name, columns, source.header(), header=True)
    return source


def _require_size(path: Path, name: str) -> None:
    if not zipfile.is_zipfile(path):  # .xls, which is not packed
        return
    with zipfile.ZipFile(path) as archive:
        if sum(part.file_size for part in archive.infolist()) > MAX_UNPACKED_BYTES:
            raise TableError(
                f"{name} unpacks to more than {MAX_UNPACKED_BYTES >> 30} GB; save the sheet as CSV or Parquet"
            )


def _sheets(path: Path) -> list[str]:
    import fastexcel

    return list(fastexcel.read_excel(path).sheet_names)


def _only_sheet(path: Path, name: str) -> str:
    sheets = _sheets(path)
    if len(sheets) != 1:
        raise TableError(f"{name} has {len(sheets)} sheets; name the one to read with sheet=")
    return sheets[0]


@dataclass(frozen=True)
class WorkbookSheet(Source):
    """A sheet, whose first row has the names of the columns; it is read into memory at every use."""

    path: Path
    sheet: str

    def header(self) -> list[str]:
        """The first row, as it is: names that occur twice are not made different."""
        row = self._read(header_row=None, n_rows=1)
        if not row.num_rows:
            raise TableError(f"{self.name} has no rows in its sheet")
        return ["" if cell is None else cell for cell in next(iter(row.to_pylist())).values()]

    def _read(self, **how: Any) -> pa.RecordBatch:
        import fastexcel

        return fastexcel.read_excel(self.path).load_sheet(self.sheet, dtypes="string", **how).to_arrow()

    def _stream(self, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        read = self._read(header_row=0, use_columns=columns).select(columns)
        cells = [pc.if_else(pc.equal(column, ""), None, column) for column in map(_text, read.columns)]
        yield from pa.Table.from_arrays(cells, names=columns).to_batches(max_chunksize=rows)

    def _trouble(self, error: Exception) -> str:
        return "cannot be read; is it readable, whole, without a password, and really a workbook?"


def _text(column: pa.Array) -> pa.Array:
    """The column as text; one without any cell has the type of nothing."""
    return column.cast(pa.string())
