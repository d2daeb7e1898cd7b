"""read_joint: count a table's sensitive and useful columns."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise, product
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from alphalift.errors import TableError
from alphalift.joint import Joint
from alphalift.release.source import MAX_COMBINATIONS, decoded, open_table, require_countable

# The symbol of a missing value; a column that contains this very text is refused.
MISSING = "(missing)"
# The bin of a cell that is no number; no bin has this name, and none is released.
_NO_NUMBER = "(no number)"

Columns = str | Sequence[str]
Key = tuple[str, ...]
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"


def read_joint(
    table: Any,
    *,
    sensitive: Columns,
    useful: Columns,
    missing: Literal["symbol", "drop"] = "symbol",
    bins: Mapping[str, Sequence[float]] | None = None,
    alphabet: Mapping[str, Sequence[object]] | None = None,
) -> Joint:
    """Count the joint of the sensitive and useful columns of any table that `open_table` opens.

    Several columns on one side count as one column of their combinations. A missing value (an empty cell of a CSV
    file, null or NaN) is the symbol "(missing)", or with `missing="drop"` its row is left out. Cells of a CSV file
    are text: "007" is not 7. Counting is done by the table's engine.

    `bins={"age": [18, 30]}` replaces the numbers of a column by "<18", "18 to <30" and ">=30": an edge belongs to
    the bin above it. `alphabet={"education": ["Bachelors", ...]}` declares all values of a column and their order;
    any other is an error, except a missing one, which comes last unless None is declared. A side with a declared
    column has all combinations of its columns' values as symbols; those without rows have no mass.
    """
    s_names, x_names = _names(sensitive, "sensitive"), _names(useful, "useful")
    if missing not in ("symbol", "drop"):
        raise TableError(f"missing is {missing!r}, expected 'symbol' or 'drop'")
    wanted = list(dict.fromkeys([*s_names, *x_names]))
    edges = {column: bin_edges(column, given) for column, given in (bins or {}).items()}
    domains = _domains(edges, alphabet or {}, wanted)
    source = open_table(table, columns=wanted)
    counted = source.count(wanted, partial(_with_bins, edges) if edges else None)
    try:
        texts = {column: canonical_texts(counted.column(i), column) for i, column in enumerate(wanted)}
    except TableError as error:
        raise TableError(f"{source.name}: {error}") from None
    sizes = counted.columns[-1].to_pylist()
    for column in edges:
        bad = sum(size for text, size in zip(texts[column], sizes, strict=True) if text == _NO_NUMBER)
        _require_numbers(bad, f"{source.name}: column {column!r}")
    for column, domain in domains.items():
        _require_inside(texts[column], sizes, domain, f"{source.name}: column {column!r}")
    counts: Counter[tuple[Key, Key]] = Counter()
    for row, size in enumerate(sizes):
        s_key = tuple(texts[column][row] for column in s_names)
        x_key = tuple(texts[column][row] for column in x_names)
        if missing == "symbol" or MISSING not in s_key + x_key:
            counts[s_key, x_key] += size
    if not counts:
        raise TableError(f"{source.name}: the table has no rows to count without a missing value")
    s_keys = _symbols({s for s, _ in counts}, s_names, domains)
    x_keys = _symbols({x for _, x in counts}, x_names, domains)
    if len(s_keys) * len(x_keys) > MAX_COMBINATIONS:
        raise TableError(
            f"{source.name}: {len(s_keys)} x {len(x_keys)} symbols are too many for a joint; "
            "take other columns, or declare bins"
        )
    cells = [[counts.get((s, x), 0) for x in x_keys] for s in s_keys]
    return Joint(cells, map(label_of, s_keys), map(label_of, x_keys), counts=True)


def canonical_texts(values: Iterable[Any], column: str) -> list[str]:
    """Every value (also of an Arrow column, best its distinct ones) as the text of its symbol; missing ones as MISSING.

    Text is itself; numbers, truth values and dates are as Python writes them, and -0.0 is 0.0.
    """
    texts = []
    for value in _python_values(values, column):
        # NaN is the only value that differs from itself.
        gone = value is None or value != value
        text = MISSING if gone else str(value + 0.0 if isinstance(value, float) else value)
        if text == MISSING and not gone:
            raise TableError(f"column {column!r} contains the text {MISSING!r}, which stands for a missing value")
        texts.append(text)
    return texts


def _python_values(values: Iterable[Any], column: str) -> list[Any]:
    if not isinstance(values, pa.Array | pa.ChunkedArray):
        return list(values)
    require_countable("the table", pa.schema([(column, values.type)]), [column])
    try:
        return values.to_pylist()
    except (ValueError, OverflowError, pa.ArrowException):
        raise TableError(f"column {column!r} has dates out of range, or text that is not UTF-8") from None


def bin_edges(column: str, edges: Sequence[float]) -> list[float]:
    """The edges as floats, which must be finite and rise."""
    try:
        numbers = [float(edge) for edge in edges]
    except (TypeError, ValueError):
        raise TableError(f"the bins of column {column!r} are not numbers") from None
    rising = all(low < high for low, high in pairwise(numbers))
    if not numbers or not rising or not all(map(math.isfinite, numbers)):
        raise TableError(f"the bins of column {column!r} must be one or more finite numbers that rise")
    return numbers


def bin_labels(edges: Sequence[float]) -> list[str]:
    """The bins' names, in rising order: for edges 18 and 30 "<18", "18 to <30", ">=30"."""
    texts = [str(int(edge)) if float(edge).is_integer() else repr(float(edge)) for edge in edges]
    between = [f"{low} to <{high}" for low, high in pairwise(texts)]
    return [f"<{texts[0]}", *between, f">={texts[-1]}"]


def binned(column: pa.Array, edges: Sequence[float]) -> pa.DictionaryArray:
    """The bin of every cell as dictionary-encoded text, null where it is missing.

    Text is a number if it is written in decimal digits, with sign, point and exponent as they may be, and blanks
    around. Numbers are compared as floats. A cell that is no number has a bin of its own, which callers refuse.
    """
    column, bad = decoded(column), None
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type) or pa.types.is_decimal(column.type)):
        texts = pc.utf8_trim_whitespace(column.cast(pa.string()))
        numeric = pc.match_substring_regex(texts, _NUMBER)
        bad = pc.fill_null(pc.invert(numeric), False).to_numpy(zero_copy_only=False)
        column = pc.if_else(numeric, texts, None)
    values = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    numbers, missing = np.searchsorted(edges, values, side="right").astype(np.int32), np.isnan(values)
    if bad is not None:
        numbers[bad], missing[bad] = len(edges) + 1, False
    return pa.DictionaryArray.from_arrays(
        pa.array(numbers, mask=missing), pa.array([*bin_labels(edges), _NO_NUMBER], pa.string())
    )


def numbers_binned(column: pa.Array, edges: Sequence[float], name: str) -> pa.DictionaryArray:
    """The bin of every cell, all of which must be numbers or missing."""
    bins = binned(column, edges)
    _require_numbers(pc.sum(pc.equal(bins.indices, len(edges) + 1)).as_py() or 0, f"column {name!r}")
    return bins


def _require_numbers(bad: int, where: str) -> None:
    if bad:
        raise TableError(f"{where} has bins, but {bad} of its cells are no numbers")


def _with_bins(edges: Mapping[str, list[float]], batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch with bins in place of numbers."""
    names = batch.schema.names
    return pa.record_batch(
        [binned(batch.column(name), edges[name]) if name in edges else batch.column(name) for name in names], names
    )


def _names(columns: Columns, role: str) -> list[str]:
    names = [columns] if isinstance(columns, str) else list(columns)
    if not names or len(set(names)) != len(names):
        raise TableError(f"{role} needs one or more different columns")
    return names


def _domains(
    edges: Mapping[str, list[float]], alphabet: Mapping[str, Sequence[object]], wanted: list[str]
) -> dict[str, list[str]]:
    """The declared symbols of every column with bins or an alphabet."""
    for column in [*edges, *alphabet]:
        if column not in wanted:
            raise TableError(f"bins or an alphabet are declared for column {column!r}, which is not counted")
    for column in edges:
        if column in alphabet:
            raise TableError(f"column {column!r} has bins and an alphabet; declare one of them")
    declared = {column: canonical_texts(values, column) for column, values in alphabet.items()}
    for column, texts in declared.items():
        if not texts or len(set(texts)) != len(texts):
            raise TableError(f"the alphabet of column {column!r} must be one or more different values")
    return declared | {column: bin_labels(numbers) for column, numbers in edges.items()}


def _require_inside(texts: list[str], sizes: list[int], domain: list[str], where: str) -> None:
    known = {*domain, MISSING}
    rows = sum(size for text, size in zip(texts, sizes, strict=True) if text not in known)
    if rows:
        raise TableError(f"{where} has values outside of its alphabet in {rows} rows; add them to alphabet=")


def _symbols(seen: set[Key], columns: list[str], domains: Mapping[str, list[str]]) -> list[Key]:
    """The combinations that are symbols, in order: those seen, or all if a column's values are declared."""
    if not any(column in domains for column in columns):
        return sorted(seen, key=lambda key: tuple(map(_order, key)))
    choices = []
    for i, column in enumerate(columns):
        found = {key[i] for key in seen}
        choices.append([*domains.get(column, []), *sorted(found.difference(domains.get(column, [])), key=_order)])
    if math.prod(map(len, choices)) > MAX_COMBINATIONS:
        raise TableError(f"the columns {', '.join(map(repr, columns))} have too many declared combinations")
    return list(product(*choices))


def _order(text: str) -> tuple[bool, float, str]:
    """Numbers by size, then text by alphabet, missing last, whatever order the rows came in."""
    return text == MISSING, _as_number(text), text


def _as_number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        return float("inf")
    return number if number == number else float("inf")


def label_of(key: Key) -> str:
    """One text for a combination; commas inside a part are escaped, so that no two combinations share it."""
    if len(key) == 1:
        return key[0]
    return ", ".join(part.replace("\\", "\\\\").replace(",", "\\,") for part in key)
