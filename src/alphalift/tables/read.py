"""read_joint: count a table's sensitive and useful columns."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any, Literal

from alphalift.errors import TableError
from alphalift.joint import Joint
from alphalift.tables.bins import NO_NUMBER, bin_edges, bin_labels, require_numbers, with_bins
from alphalift.tables.counting import MAX_COMBINATIONS
from alphalift.tables.opening import open_table
from alphalift.tables.symbols import MISSING, Key, canonical_texts, label_of

Columns = str | Sequence[str]


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
    counted = source.count(wanted, partial(with_bins, edges) if edges else None)
    try:
        texts = {column: canonical_texts(counted.column(i), column) for i, column in enumerate(wanted)}
    except TableError as error:
        raise TableError(f"{source.name}: {error}") from None
    sizes = counted.columns[-1].to_pylist()
    for column in edges:
        bad = sum(size for text, size in zip(texts[column], sizes, strict=True) if text == NO_NUMBER)
        require_numbers(bad, f"{source.name}: column {column!r}")
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
