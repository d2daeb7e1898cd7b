"""Cells of a CSV file that a spreadsheet would run: they are refused, since changing them would change the data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from alphalift.errors import InputError
from alphalift.lazily import Later
from alphalift.tables.bins import NUMBER
from alphalift.tables.columns import text_bytes
from alphalift.tables.endings import ending_of

pc = Later("pyarrow.compute")

# The last four are the first ones at full width, which some spreadsheets read as the same.
_FORMULA = r"^[=+\-@\t\r\n\x{ff1d}\x{ff0b}\x{ff0d}\x{ff20}]"
_MAY_BEGIN_ONE = np.zeros(256, bool)
_MAY_BEGIN_ONE[list(b"=+-@\t\r\n\xef")] = True


def refuse_formulas(name: str, texts: pa.Array | Sequence[str], what: str = "of the mechanism's labels") -> None:
    """Raise if the file, but for a Parquet one, would have texts that a spreadsheet runs; `what` they are called."""
    if ending_of(name)[0] == ".parquet":
        return
    formulas = count_formulas(texts if isinstance(texts, pa.Array) else pa.array(list(texts), pa.string()))
    if formulas:
        raise InputError(
            f"{name}: {formulas} {what} begin like a formula, which a spreadsheet would run; "
            "write a .parquet file, or rename them in the table"
        )


def count_formulas(column: pa.Array) -> int:
    """How many cells of a column of text begin like a formula; numbers are none."""
    data, starts = text_bytes(column)
    begins = starts[:-1][starts[1:] > starts[:-1]]
    if not _MAY_BEGIN_ONE[data[begins]].any():  # nearly always, and quicker than the expressions
        return 0
    suspects = column.filter(pc.match_substring_regex(column, _FORMULA))
    return int(pc.sum(pc.invert(pc.match_substring_regex(suspects, NUMBER))).as_py() or 0)
