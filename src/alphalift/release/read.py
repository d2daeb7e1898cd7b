"""read_joint: count a table's sensitive and useful columns."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import narwhals as nw
import pyarrow as pa
from pyarrow import csv

from alphalift.errors import TableError
from alphalift.joint import Joint

# The symbol of a missing value; a column that contains this very text is refused.
MISSING = "(missing)"

Columns = str | Sequence[str]
_NOT_UTF8 = "is not UTF-8 text; convert it first"


def read_joint(
    table: Any,
    *,
    sensitive: Columns,
    useful: Columns,
    missing: Literal["symbol", "drop"] = "symbol",
) -> Joint:
    """Count the joint of the sensitive and useful columns of a CSV file (also gzipped) or a data frame.

    Several columns on one side count as one column of their combinations. A missing value (an empty cell,
    null or NaN) is the symbol "(missing)", or with `missing="drop"` its row is left out. Cells of a CSV
    file are text: "007" is not 7. Counting is done by the frame's own engine.
    """
    s_names, x_names = _names(sensitive, "sensitive"), _names(useful, "useful")
    if missing not in ("symbol", "drop"):
        raise TableError(f"missing is {missing!r}, expected 'symbol' or 'drop'")
    wanted = list(dict.fromkeys([*s_names, *x_names]))
    frame = _frame(table, wanted)
    counts: Counter[tuple[tuple[str, ...], tuple[str, ...]]] = Counter()
    size = "alphalift row count"
    grouped = frame.select(wanted).group_by(wanted).agg(nw.len().alias(size))
    rows = dict(zip([*wanted, size], (grouped[name].to_list() for name in [*wanted, size]), strict=True))
    texts = {name: _texts(rows[name], name) for name in wanted}
    for row, count in enumerate(rows[size]):
        s_key = tuple(texts[name][row] for name in s_names)
        x_key = tuple(texts[name][row] for name in x_names)
        if missing == "symbol" or MISSING not in s_key + x_key:
            counts[s_key, x_key] += count
    if not counts:
        raise TableError("the table has no rows to count")
    s_keys = sorted({s for s, _ in counts}, key=_order)
    x_keys = sorted({x for _, x in counts}, key=_order)
    cells = [[counts.get((s, x), 0) for x in x_keys] for s in s_keys]
    return Joint(cells, map(_label, s_keys), map(_label, x_keys), counts=True)


def _names(columns: Columns, role: str) -> list[str]:
    names = [columns] if isinstance(columns, str) else list(columns)
    if not names or len(set(names)) != len(names):
        raise TableError(f"{role} needs one or more different columns")
    return names


def _frame(table: Any, wanted: list[str]) -> nw.DataFrame[Any]:
    """The table as a narwhals frame that has the wanted columns."""
    if isinstance(table, str | os.PathLike):
        table = _read_csv(Path(table), wanted)
    try:
        frame = nw.from_native(table)
    except TypeError:
        raise TableError(f"a table is the path of a CSV file or a data frame, not {type(table).__name__}") from None
    if isinstance(frame, nw.LazyFrame):
        _require(wanted, frame.collect_schema().names())
        return frame.select(wanted).collect()
    _require(wanted, frame.columns)
    return frame


def _read_csv(path: Path, wanted: list[str]) -> pa.Table:
    """The wanted columns of a CSV file as text, empty cells as nulls."""
    options = csv.ConvertOptions(
        include_columns=wanted,
        column_types=dict.fromkeys(wanted, pa.string()),
        strings_can_be_null=True,
        null_values=[""],
    )
    parsing = csv.ParseOptions(newlines_in_values=True)
    if not path.exists():
        raise TableError(f"{path}: there is no such file")
    if path.is_dir():
        raise TableError(f"{path} is a folder; expected a CSV file")
    try:
        with csv.open_csv(path) as reader:
            _require(wanted, reader.schema.names)
        return csv.read_csv(path, convert_options=options, parse_options=parsing)
    except OSError:
        raise TableError(f"{path} cannot be read; is it readable, and really gzipped if it ends in .gz?") from None
    except UnicodeDecodeError:  # in the header
        raise TableError(f"{path} {_NOT_UTF8}") from None
    except pa.ArrowInvalid as error:
        raise TableError(f"{path} {_csv_trouble(str(error))}") from None


def _csv_trouble(message: str) -> str:
    """What is wrong with the file, in words of ours: Arrow's message quotes the row, which may be private."""
    if "Empty CSV" in message:
        return "is empty"
    if "UTF8" in message:
        return _NOT_UTF8
    row = re.search(r"[Rr]ow #(\d+)", message)
    where = f"row {row[1]} has" if row else "its rows have"
    return f"is not a CSV file: {where} another number of cells than the header"


def _require(wanted: list[str], present: Sequence[str]) -> None:
    unknown = [name for name in wanted if name not in present]
    if unknown:
        # The names that are present are not listed: without a header they would be a record.
        raise TableError(
            f"no column {', '.join(map(repr, unknown))} among the table's {len(present)}; is its first row a header?"
        )
    repeated = [name for name in wanted if list(present).count(name) > 1]
    if repeated:
        raise TableError(f"column {', '.join(map(repr, repeated))} occurs more than once in the table")


def _texts(values: list[Any], column: str) -> list[str]:
    """Every value as text; missing ones as the missing symbol."""
    texts = []
    for value in values:
        # NaN is the only value that differs from itself.
        gone = value is None or value != value
        text = MISSING if gone else str(value)
        if text == MISSING and not gone:
            raise TableError(f"column {column!r} contains the text {MISSING!r}, which stands for a missing value")
        texts.append(text)
    return texts


def _order(key: tuple[str, ...]) -> tuple[tuple[bool, float, str], ...]:
    """Numbers by size, then text by alphabet, missing last, whatever order the rows came in."""
    return tuple((text == MISSING, _as_number(text), text) for text in key)


def _as_number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        return float("inf")
    return number if number == number else float("inf")


def _label(key: tuple[str, ...]) -> str:
    """One text for a combination; commas inside a part are escaped, so that no two combinations share it."""
    if len(key) == 1:
        return key[0]
    return ", ".join(part.replace("\\", "\\\\").replace(",", "\\,") for part in key)
