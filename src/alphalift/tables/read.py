"""read_joint: count a table's sensitive and useful columns."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

from alphalift.errors import IdentifierError, TableError
from alphalift.joint import Beside, Joint, Origin, Variable
from alphalift.tables.bins import NO_NUMBER, Reading, Readings, bin_edges, bin_labels, require_numbers
from alphalift.tables.counting import MAX_COMBINATIONS
from alphalift.tables.opening import open_table
from alphalift.tables.quantiles import Quantiles
from alphalift.tables.symbols import MISSING, Key, canonical_texts, label_of

Columns = str | Sequence[str]

# Fewer values than this are designed for quickly, whatever they are: a small table may well have one for each record.
_FEW_VALUES = 100


def read_joint(
    table: Any,
    *,
    sensitive: Columns,
    useful: Columns,
    missing: Literal["symbol", "drop"] = "symbol",
    bins: Mapping[str, Sequence[float] | Quantiles] | None = None,
    alphabet: Mapping[str, Sequence[object]] | None = None,
    beside: Sequence[Variable] = (),
    anyway: bool = False,
) -> Joint:
    """Count the joint of the sensitive and useful columns of any table that `open_table` opens.

    Several columns on one side count as one column of their combinations. A missing value (an empty cell of a CSV
    file, null or NaN) is the symbol "(missing)", or with `missing="drop"` its row is left out. Cells of a CSV file
    are text: "007" is not 7. Counting is done by the table's engine.

    `bins={"age": [18, 30]}` replaces the numbers of a column by "<18", "18 to <30" and ">=30": an edge belongs to
    the bin above it. `bins={"age": Quantiles(5)}` chooses edges so that about as many records are in each bin; they are computed from
    the records, and tell something about them that no promise covers. `alphabet={"education": ["Bachelors", ...]}` declares all values of a column and their order;
    any other is an error, except a missing one, which comes last unless None is declared. A side with a declared
    column has all combinations of its columns' values as symbols; those without rows have no mass.

    `beside` are other variables of the same table, such as those of earlier releases, with bins of their own; the joint's
    `beside` says how they go with S and X.

    A side with more than 100 values and more of them than half of the records is an identifier or needs bins, and an
    `IdentifierError`; with `anyway=True` it is counted like any other.
    """
    s_names, x_names = _names(sensitive, "sensitive"), _names(useful, "useful")
    if missing not in ("symbol", "drop"):
        raise TableError(f"missing is {missing!r}, expected 'symbol' or 'drop'")
    own = list(dict.fromkeys([*s_names, *x_names]))
    edges = {column: _edges(table, column, given, own) for column, given in (bins or {}).items()}
    domains = _domains(edges, alphabet or {}, own)
    sides = [_side(s_names, edges), _side(x_names, edges)]
    sides += [_side(_names(z.columns, "a variable beside"), dict(z.bins)) for z in beside]
    rows = _count(table, sides)
    for column, domain in domains.items():
        rows.require_inside(Reading(column, edges.get(column)), domain)
    counts = _combinations(rows, sides, drop=missing == "drop")
    if not anyway:
        _require_no_identifier(rows.name, counts, [s_names, x_names])
    s_keys = _symbols({s for s, *_ in counts}, s_names, domains)
    x_keys = _symbols({x for _, x, *_ in counts}, x_names, domains)
    if len(s_keys) * len(x_keys) > MAX_COMBINATIONS:
        raise TableError(
            f"{rows.name}: {len(s_keys)} x {len(x_keys)} symbols are too many for a joint; "
            "take other columns, or declare bins"
        )
    cells: Counter[tuple[Key, Key]] = Counter()
    for (s, x, *_), size in counts.items():
        cells[s, x] += size
    used = tuple((column, edges[column]) for column in own if column in edges)
    return Joint(
        [[cells.get((s, x), 0) for x in x_keys] for s in s_keys],
        map(label_of, s_keys),
        map(label_of, x_keys),
        counts=True,
        origin=Origin(tuple(s_names), tuple(x_names), used, tuple(column for column in own if column in domains)),
        beside=_beside(counts, s_keys, x_keys, beside) if beside else None,
    )


def _edges(table: Any, column: str, given: Sequence[float] | Quantiles, own: list[str]) -> tuple[float, ...]:
    if isinstance(given, Quantiles) and column in own:
        return tuple(given.edges(table, column))
    return () if isinstance(given, Quantiles) else tuple(bin_edges(column, given))


@dataclass(frozen=True)
class _Rows:
    """The counted rows: for every reading the texts of its values, and how often each row occurs."""

    name: str
    texts: Mapping[Reading, list[str]]
    sizes: list[int]

    def require_inside(self, reading: Reading, domain: list[str]) -> None:
        known = {*domain, MISSING}
        outside = sum(size for text, size in zip(self.texts[reading], self.sizes, strict=True) if text not in known)
        if outside:
            raise TableError(
                f"{self.name}: column {reading.column!r} has values outside of its alphabet in {outside} rows; "
                "add them to alphabet="
            )


def _side(columns: Sequence[str], edges: Mapping[str, tuple[float, ...]]) -> list[Reading]:
    return [Reading(column, edges.get(column)) for column in columns]


def _count(table: Any, sides: list[list[Reading]]) -> _Rows:
    """All sides' readings of the table, each once."""
    readings = tuple(dict.fromkeys(reading for side in sides for reading in side))
    columns = list(dict.fromkeys(reading.column for reading in readings))
    source = open_table(table, columns=columns)
    as_they_are = all(reading.edges is None for reading in readings)
    counted = source.count(columns, None if as_they_are else Readings(readings))
    sizes = counted.columns[-1].to_pylist()
    try:
        texts = {reading: canonical_texts(counted.column(i), reading.column) for i, reading in enumerate(readings)}
    except TableError as error:
        raise TableError(f"{source.name}: {error}") from None
    for reading in readings:
        if reading.edges is not None:
            bad = sum(size for text, size in zip(texts[reading], sizes, strict=True) if text == NO_NUMBER)
            require_numbers(bad, f"{source.name}: column {reading.column!r}")
    return _Rows(source.name, texts, sizes)


def _combinations(rows: _Rows, sides: list[list[Reading]], *, drop: bool) -> Counter[tuple[Key, ...]]:
    """How often each combination of the sides' keys occurs; `drop` leaves those out where S or X is missing."""
    keys = [list(zip(*(rows.texts[reading] for reading in side), strict=True)) for side in sides]
    counts: Counter[tuple[Key, ...]] = Counter()
    for combination, size in zip(zip(*keys, strict=True), rows.sizes, strict=True):
        if not drop or MISSING not in combination[0] + combination[1]:
            counts[combination] += size
    if not counts:
        raise TableError(f"{rows.name}: the table has no rows to count without a missing value")
    return counts


def _require_no_identifier(name: str, counts: Counter[tuple[Key, ...]], sides: Sequence[Sequence[str]]) -> None:
    records = counts.total()
    for i, columns in enumerate(sides):
        values = len({combination[i] for combination in counts})
        if values > max(_FEW_VALUES, records / 2):
            named = " and ".join(map(repr, columns))
            raise IdentifierError(
                f"{name}: {named} {'has' if len(columns) == 1 else 'have together'} {values:,} values in {records:,} records, "
                "fewer than two records each: that is an identifier, about which nothing useful can be released, or numbers that need "
                "bins; declare bins=, take other columns, or go on with anyway=True"
            )


def _beside(
    counts: Counter[tuple[Key, ...]], s_keys: list[Key], x_keys: list[Key], variables: Sequence[Variable]
) -> Beside:
    """The combinations as numbers: of S and X among the symbols with mass, of the others among their labels."""
    seen = [{key[i] for key in counts} for i in range(2)]
    known = [
        {key: number for number, key in enumerate(key for key in keys if key in seen[i])}
        for i, keys in enumerate((s_keys, x_keys))
    ]
    labels = [{label: number for number, label in enumerate(variable.labels)} for variable in variables]
    cells: Counter[tuple[int, ...]] = Counter()
    for (s, x, *others), size in counts.items():
        z = (numbers.get(label_of(key), len(numbers)) for numbers, key in zip(labels, others, strict=True))
        cells[known[0][s], known[1][x], *z] += size
    return Beside(tuple(variables), tuple((*numbers, size) for numbers, size in sorted(cells.items())))


def _names(columns: Columns, role: str) -> list[str]:
    names = [columns] if isinstance(columns, str) else list(columns)
    if not names or len(set(names)) != len(names):
        raise TableError(f"{role} needs one or more different columns")
    return names


def _domains(
    edges: Mapping[str, Sequence[float]], alphabet: Mapping[str, Sequence[object]], wanted: list[str]
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
