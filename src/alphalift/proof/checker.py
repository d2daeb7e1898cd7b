"""Check a mechanism file: whether it keeps its promise, what it is worth, how far from optimal it can be.

This module stands alone: it needs Python and python-flint, imports nothing else of alphalift, and may be copied and
run as `python checker.py FILE`. It trusts no solver: every claim is derived again from the integers in the file, in
ball arithmetic or exactly, and holds only if it is proven. docs/format.md describes the file; docs/theory.md ("What
the checker relies on") proves every formula below, in steps that the docstrings name.

To be read from top to bottom: limits, the file as plain values, its form, arithmetic, lifts, promises, utilities, the
bound on the optimum (for types; by boxes, by pairs, or for S = X by lifts), verdicts, command line.
"""

from __future__ import annotations

import hashlib
import json
import math
import operator
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, partial, reduce
from itertools import chain, pairwise, product
from math import gcd, prod
from pathlib import Path
from typing import Any, ClassVar

from flint import arb, ctx, fmpq, fmpq_mat, fmpz_mat

# --- 1. Limits: what a file may cost its reader, and where floats and balls end ---

LARGEST_FILE = 60_000_000  # bytes: text and values are in memory together
_MOST_LISTS = 2_000_000  # each takes memory beside its entries
_MOST_OBJECTS = 100  # they take more than lists, and a file has few
_MOST_ENTRIES = 8_000_000  # commas of the file: each entry takes memory beside its text
_MOST_DIGITS = 1300  # characters of an integer: a weight of MOST_BITS bits has 1234, and reading is quadratic in them
MOST_BITS = 4096  # of a mechanism: logarithms are taken with as many digits
_MOST_CERTIFICATE_BITS = 64  # of prices, places and duals: 4^bits is what a ball of the first precision resolves
MOST_ALPHA = 10**9  # and orders: e^(alpha epsilon) keeps an exponent of moderate size
MOST_EPSILON = 1000  # and other budgets: the same
_MOST_COMPONENTS = 8  # of an intersection: each costs a support function for every dual
_MOST_WITH_MARGIN = 1000  # symbols where there is a margin: its joint has a cell for every two of them
_MOST_EARLIER = 8  # mechanisms before this one: their outputs are multiplied out
_MOST_COMBINATIONS = 20_000  # of earlier outputs: each may be a block with a dual of its own
_MOST_COMBINED = 20_000_000  # combinations times cells: each is a product and an entry of a block
_MOST_PENDING = 10_000_000  # numbers in boxes that a tree leaves for later: a path of splits keeps all of them
_MOST_COUNTS = 100  # places that a path counts symbols beyond: each is a piece of every symbol
_MOST_KEPT = 5_000_000  # numbers in terms of duals that are kept: leaves near to each other often have the same dual
_MOST_BOUNDED = 500_000_000  # numbers in boxes and terms of duals that are computed: what bounds the time of a tree
_MOST_LOOKS = 40_000_000  # at pairs, or runs of them, in floats, for an end: what bounds the time of a hostile file
_MOST_NEAR = 100_000  # pairs at an end that floats cannot tell from the least: each is evaluated in balls
_LEAST_GAP, _LARGEST_GAP = 1e-150, 1e150  # from a symbol to an end, in floats: nothing under- or overflows (step 9)
_LARGEST_PRICE = 1e100  # in floats: for the same reason
_MUCH_QUICKER = 16  # how many times as many products FLINT does in the same time
_MARGIN = 1e-12  # times 1 + the largest price, what tells two floats apart: far more than their errors (step 9)
_FIRST_PRECISION = 128  # bits of a ball: enough for nearly all comparisons
_LAST_PRECISION = 8192  # where a comparison that is still undecided is given up
_DECIMAL = re.compile(r"[0-9]{1,30}(\.[0-9]{1,400})?", re.ASCII)  # 400 decimals: all of a float's
_SIGNED_DECIMAL = re.compile(r"-?[0-9]{1,400}(\.[0-9]{1,400})?", re.ASCII)  # the edge of a bin: any float

Matrix = list[list[int]]
Row = dict[int, int]  # of weights: those above 0 by their symbol, which rises


class RefusedError(Exception):
    """The file cannot be read as a mechanism, or a claim is not proven; the text says which and why."""


def _need(condition: bool, message: str) -> None:
    if not condition:
        raise RefusedError(message)


# --- 2. Reading: from JSON to plain values ---


def read(path: str | Path) -> Any:
    """The file as plain Python values; refuses what could be read in two ways or is too large."""
    with Path(path).open("rb") as file:
        content = file.read(LARGEST_FILE + 1)
    _need(len(content) <= LARGEST_FILE, f"the file is larger than {LARGEST_FILE} bytes")
    limits = {b"[": _MOST_LISTS, b"{": _MOST_OBJECTS, b",": _MOST_ENTRIES}
    few = all(content.count(sign) <= most for sign, most in limits.items())
    _need(few, "the file has too many lists, objects or entries")
    decoder = json.JSONDecoder(
        object_pairs_hook=_no_duplicates, parse_int=_integer, parse_float=_no_float, parse_constant=_no_float
    )
    try:
        return decoder.decode(content.decode("utf-8"))
    except (ValueError, RecursionError):
        raise RefusedError("the file is not JSON as mechanism files are") from None


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    _need(len(dict(pairs)) == len(pairs), "a key occurs twice")
    return dict(pairs)


def _no_float(text: str) -> None:
    raise RefusedError("a number is not an integer; fractions are written as decimals in quotes")


def _integer(text: str) -> int:
    _need(len(text) <= _MOST_DIGITS, "a number has too many digits")
    return int(text)


def _keys(value: Any, expected: set[str], what: str) -> dict[str, Any]:
    _need(isinstance(value, dict) and set(value) == expected, f"{what} must have exactly the keys {sorted(expected)}")
    return dict(value)


def _row(value: Any, count: int, what: str, *, negative: bool = False) -> list[int]:
    good = isinstance(value, list) and len(value) == count
    good = good and all(type(number) is int and (negative or number >= 0) for number in value)
    _need(good, f"{what} must be {count} integers{'' if negative else ', none negative'}")
    return list(value)


def _matrix(value: Any, rows: int, columns: int, what: str) -> Matrix:
    _need(isinstance(value, list) and len(value) == rows, f"{what} must be {rows} rows")
    return [_row(row, columns, f"a row of {what}") for row in value]


def _decimal(text: Any, what: str) -> Fraction:
    _need(isinstance(text, str) and _DECIMAL.fullmatch(text) is not None, f"{what} must be a decimal in quotes")
    return Fraction(text)


def _texts(value: dict[str, Any], name: str) -> list[str]:
    good = isinstance(value[name], list) and all(isinstance(text, str) for text in value[name])
    _need(good and len(set(value[name])) == len(value[name]), f"{name} must be different texts")
    return list(value[name])


# --- 3. The form of a file (docs/format.md): integers, table, counts, earlier releases ---


_KEYS_1 = {"format", "version", "identity", "labels", "bits", "weights", "unseen"}
_KEYS_1 |= {"joint", "promise", "claims", "certificate", "provenance"}
_KEYS_2 = _KEYS_1 | {"table", "after"}
_KEYS_4 = _KEYS_2 | {"utility"}
_VERSIONS = {1: _KEYS_1, 2: _KEYS_2, 3: _KEYS_2, 4: _KEYS_4, 5: _KEYS_4 | {"margin"}}
_LISTING = 3  # the version that has listed weights as they are now


def _is_version(value: Any, newest: int = max(_VERSIONS)) -> bool:
    return type(value) is int and 1 <= value <= newest


@dataclass(frozen=True)
class Integers:
    """P(y|x) = weights[y][x] / 2^bits, and unseen[y] / 2^bits for an x outside the alphabet; labels of s, x and y.

    `dense` says in which form files have the weights: those of versions 1 and 2 list zeros, too. The identity is of that.
    """

    labels: dict[str, list[str]]
    bits: int
    weights: list[Row]
    unseen: list[int] | None
    dense: bool = False

    @property
    def listed(self) -> Matrix:
        """The weights as a file lists them: a row [x, weight, x, weight, ...] for every y; or all weights, if `dense`."""
        if self.dense:
            return [[row.get(x, 0) for x in range(len(self.labels["x"]))] for row in self.weights]
        return [[*chain.from_iterable(row.items())] for row in self.weights]

    @cached_property
    def identity(self) -> str:
        """What this mechanism is, whatever is claimed about it: a hash of labels, bits and integers."""
        names = [self.labels[name] for name in "sxy"]
        return _hash([*names, self.bits, self.listed, self.unseen])


def rows_of(listed: Matrix, *, dense: bool) -> list[Row]:
    """Weights from the form in which files list them."""
    if dense:
        return [{x: weight for x, weight in enumerate(row) if weight} for row in listed]
    return [dict(zip(row[::2], row[1::2], strict=True)) for row in listed]


def _hash(value: Any) -> str:
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=True)
    return "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest()


def commitment(salt: str, counts: Matrix, cells: Matrix | None = None) -> str:
    """A salted hash that fixes the counts of a joint, and the cells of earlier columns, without showing them."""
    return _hash([salt, counts] if cells is None else [salt, counts, cells])


def sealed_name(salt: str, identity: str, table: Any) -> str:
    """A name for an earlier mechanism and its columns that confirms no guess of its weights, as its identity would."""
    return _hash([salt, identity, table])


def integers_of(document: dict[str, Any]) -> Integers:
    """The mechanism of a file, with everything checked that needs no joint."""
    labels, bits, unseen = _keys(document["labels"], set("sxy"), "labels"), document["bits"], document["unseen"]
    for name, values in labels.items():
        _need(isinstance(values, list) and all(isinstance(label, str) for label in values), "a label is not a text")
        _need(0 < len(values) == len(set(values)), f"{name} has no labels, or one of them twice")
    _need(type(bits) is int and 1 <= bits <= MOST_BITS, f"bits must be an integer from 1 to {MOST_BITS}")
    dense = document.get("version", 2) < _LISTING  # an earlier mechanism in a file of version 2 does not say its own
    weights = _weights(document["weights"], len(labels["y"]), len(labels["x"]), dense=dense)
    left = [1 << bits] * len(labels["x"])
    for row in weights:
        for x, weight in row.items():
            left[x] -= weight
    _need(not any(left), "a column does not sum to 2^bits")
    if unseen is not None:
        unseen = _row(unseen, len(labels["y"]), "unseen")
        _need(sum(unseen) == 1 << bits, "unseen does not sum to 2^bits")
    integers = Integers(labels, bits, weights, unseen, dense)
    _need(document["identity"] == integers.identity, "the identity is not that of these labels and integers")
    return integers


def _weights(value: Any, outputs: int, symbols: int, *, dense: bool) -> list[Row]:
    if dense:
        return rows_of(_matrix(value, outputs, symbols, "weights"), dense=True)
    _need(isinstance(value, list) and len(value) == outputs, f"weights must be {outputs} rows")
    for row in value:
        good = isinstance(row, list) and len(row) % 2 == 0 and all(type(number) is int for number in row)
        good = good and all(map(operator.lt, [-1, *row[::2]], [*row[::2], symbols])) and min(row[1::2], default=1) > 0
        _need(good, "a row of weights must be symbols that rise, each with an integer above 0")
    return rows_of(value, dense=False)


def _column_sums(matrix: Matrix) -> list[int]:
    return [sum(column) for column in zip(*matrix, strict=True)]


def _need_table(value: Any, integers: Integers) -> None:
    """Which columns the symbols came from; nothing is proven about it, but a release acts on it."""
    if value is None:
        return
    _keys(value, {"sensitive", "useful", "bins", "declared", "without_mass"}, "table")
    columns = _named_columns(value, ["sensitive", "useful"])
    _need({*_texts(value, "declared")} <= columns, "a declared column is not one of the table's")
    _need(not {*_texts(value, "without_mass")} & {*integers.labels["x"]}, "a value without mass has mass")


def _named_columns(value: dict[str, Any], names: list[str]) -> set[str]:
    """The columns under these names, one or more each, with bins for none but them."""
    _need(all(_texts(value, name) for name in names), f"a table must have columns for {' and '.join(names)}")
    columns = {column for name in names for column in value[name]}
    _need(isinstance(value["bins"], dict) and {*value["bins"]} <= columns, "bins must be of the table's columns")
    for edges in value["bins"].values():
        good = isinstance(edges, list) and len(edges) > 0
        good = good and all(isinstance(edge, str) and _SIGNED_DECIMAL.fullmatch(edge) for edge in edges)
        _need(good, "bins must be decimals in quotes")
        numbers = [Fraction(edge) for edge in edges]
        _need(all(map(operator.lt, numbers, numbers[1:])), "bins must rise")
    return columns


@dataclass(frozen=True)
class Evidence:
    """What claims are proven from: the counts of s and x in blocks, and the certificate.

    There is one block, or one for each combination of the outputs of the mechanisms that the file comes after.
    """

    blocks: list[Matrix]
    certificate: Any


def _evidence(document: dict[str, Any], opening: Any) -> Evidence | None:
    """What the file shows or the opening reveals; none where the file withholds it and there is no opening."""
    joint = document["joint"]
    if isinstance(joint, dict) and "commitment" in joint:
        return _opened(document, opening)
    _keys(joint, {"counts"}, "joint")
    _need(opening is None, "the file withholds nothing that could be opened")
    counts = _counts(joint["counts"], document["labels"])
    earlier, cells = _earlier(document.get("after"), counts, document["version"])
    return Evidence(blocks_of(counts, cells, earlier), document["certificate"])


def _opened(document: dict[str, Any], opening: Any) -> Evidence | None:
    """What the opening of a file that withholds its counts reveals; it must be what the file has committed to."""
    committed = _keys(document["joint"], {"commitment"}, "joint")["commitment"]
    _need(document["certificate"] is None, "a file that withholds its joint must withhold its certificate")
    sealed = document.get("after")
    if sealed is not None:
        sealed = _texts(_keys(sealed, {"sealed"}, "after, where it is withheld,"), "sealed")
    if opening is None:
        return None
    _keys(opening, {"salt", "counts", "certificate"} | ({"after"} & set(document)), "the opening")
    salt, after = opening["salt"], opening.get("after")
    counts = _counts(opening["counts"], document["labels"])
    _need(isinstance(salt, str), "the salt must be a text")
    earlier, cells = _earlier(after, counts, document["version"])
    listed = [] if after is None else after["mechanisms"]
    names = [sealed_name(salt, own["identity"], own["table"]) for own in listed]
    _need(sealed == (names or None), "the opening comes after other mechanisms")
    _need(commitment(salt, counts, cells) == committed, "the opening is not what was committed to")
    return Evidence(blocks_of(counts, cells, earlier), opening["certificate"])


def _counts(value: Any, labels: dict[str, list[str]]) -> Matrix:
    counts = _matrix(value, len(labels["s"]), len(labels["x"]), "counts")
    _need(all(map(sum, counts)) and all(_column_sums(counts)), "a row or column of counts has no mass")
    return counts


def _earlier(after: Any, counts: Matrix, version: int) -> tuple[list[Integers], Matrix | None]:
    """The earlier mechanisms, and the cells [s, x, x1, ..., xk, count], which add up to the counts of s and x.

    The number |X1| of x1 is a value outside of that mechanism's labels, which it must have answered. No cells where the
    file comes after nothing. From version 3 on, a mechanism has a version, which says how its weights are listed.
    """
    if after is None:
        return [], None
    _keys(after, {"mechanisms", "cells"}, "after")
    listed, cells = after["mechanisms"], after["cells"]
    _need(isinstance(listed, list) and 1 <= len(listed) <= _MOST_EARLIER, f"after has 1 to {_MOST_EARLIER} mechanisms")
    names = {"identity", "labels", "bits", "weights", "unseen", "table"} | (
        {"version"} if version >= _LISTING else set()
    )
    known = all(isinstance(own, dict) and _is_version(own.get("version", 2), _LISTING) for own in listed)
    _need(known, "an earlier mechanism has no version that is known")
    earlier = [integers_of(_keys(own, names, "an earlier mechanism")) for own in listed]
    for own in listed:
        if own["table"] is not None:
            _named_columns(_keys(own["table"], {"useful", "bins"}, "an earlier table"), ["useful"])
    _need(isinstance(cells, list), "cells must be a list")
    left = [row.copy() for row in counts]
    for cell in cells:
        s, x, *symbols, count = _row(cell, len(earlier) + 3, "a cell")
        _need(s < len(counts) and x < len(counts[0]) and count > 0, "a cell is out of range, or empty")
        for symbol, integers in zip(symbols, earlier, strict=True):
            known = symbol < len(integers.labels["x"]) + (integers.unseen is not None)
            _need(known, "a cell has a value that an earlier mechanism does not answer")
        left[s][x] -= count
    _need(not any(map(any, left)), "the cells do not add up to the counts")
    return earlier, cells


def blocks_of(counts: Matrix, cells: Matrix | None, earlier: list[Integers]) -> list[Matrix]:
    """For every combination of earlier outputs, the counts of s and x among records that have it, times 2^(all bits).

    Combinations in rising order; those whose counts are proportional tell the same and are added up to one block. Where
    the file comes after nothing, the counts are the one block. Step 7a.
    """
    if cells is None:
        return [counts]
    secrets, size = len(counts), len(counts[0])
    combinations = prod(len(integers.weights) for integers in earlier)
    few = combinations * (len(cells) + secrets * size) <= _MOST_COMBINED
    _need(few and combinations <= _MOST_COMBINATIONS, "too many combinations of earlier outputs")
    answers = [_answers(integers) for integers in earlier]
    found: dict[tuple[int, ...], list[int]] = {}
    for s, x, *symbols, count in cells:
        for outputs in product(*(own[i] for own, i in zip(answers, symbols, strict=True))):
            block = found.setdefault(tuple(y for y, _ in outputs), [0] * (secrets * size))
            block[s * size + x] += count * prod(w for _, w in outputs)
    multiples: dict[tuple[int, ...], int] = {}  # of counts without a common divisor
    for _, block in sorted(found.items()):
        divisor = gcd(*block)
        shape = tuple(entry // divisor for entry in block)
        multiples[shape] = multiples.get(shape, 0) + divisor
    return [
        [[multiple * entry for entry in shape[i : i + size]] for i in range(0, secrets * size, size)]
        for shape, multiple in multiples.items()
    ]


def _answers(integers: Integers) -> list[list[tuple[int, int]]]:
    """For every symbol, and last for unseen values, the outputs that can be answered, each with 2^bits P(y|x)."""
    answers: list[list[tuple[int, int]]] = [[] for _ in integers.labels["x"]]
    for y, row in enumerate(integers.weights):
        for x, weight in row.items():
            answers[x].append((y, weight))
    return [*answers, [(y, weight) for y, weight in enumerate(integers.unseen or []) if weight]]


def counts_of(blocks: list[Matrix]) -> Matrix:
    """What is proportional to P(s, x): all blocks added up."""
    return [[sum(column) for column in zip(*rows, strict=True)] for rows in zip(*blocks, strict=True)]


def prior_of(blocks: list[Matrix]) -> list[int]:
    """What is proportional to P(s)."""
    return [sum(map(sum, rows)) for rows in zip(*blocks, strict=True)]


# --- 4. Arithmetic: balls, or exact fractions (step 0) ---

Sides = tuple[Any, Any]  # left <= right, two balls or two exact fractions


def _rational(value: Fraction) -> fmpq:
    return fmpq(value.numerator, value.denominator)


def _ball(value: Fraction | fmpq | int) -> arb:
    """An interval that contains the number. Step 0."""
    return arb(value if isinstance(value, fmpq) else fmpq(value.numerator, value.denominator))


def _decide(sides: Callable[[], list[Sides]], *, broken: bool = False) -> bool:
    """Whether left <= right in all sides (`broken`: right <= left in one), at growing precision; undecided is false.

    Steps 0 and 2.
    """
    precision = _FIRST_PRECISION
    while precision <= _LAST_PRECISION:
        with ctx.workprec(precision):
            found = sides()
            if broken:
                proven = any(right <= left for left, right in found)
                refuted = all(left < right for left, right in found)
            else:
                proven = all(left <= right for left, right in found)
                refuted = any(left > right for left, right in found)
            if proven or refuted:
                return proven
        precision *= 2
    return False


def _mean(values: Iterable[Any], prior: list[int]) -> Any:
    """E of values of the secrets, of the type that they have."""
    terms = [mass * value for mass, value in zip(prior, values, strict=True)]
    return sum(terms[1:], terms[0]) / sum(prior)


def _deviation(values: list[Any], prior: list[int]) -> arb:
    """The standard deviation of values of the secrets, of exact ones."""
    mean = _mean(values, prior)
    return _ball(_mean([(own - mean) * (own - mean) for own in values], prior)).sqrt()


# --- 5. Lifts (step 1) ---


def _lifts(blocks: list[Matrix], weights: list[Row]) -> Iterator[tuple[int, list[list[fmpq]]]]:
    """For every y: P(y) N 2^bits, and for every block that occurs with it the lifts P(s | y, block) / P(s), exactly.

    Steps 1 and 7a.
    """
    prior, by_block = prior_of(blocks), [_Sums(block) for block in blocks]
    for row in weights:
        rows = [sums.of(row) for sums in by_block]
        _need(any(map(any, rows)), "an output never occurs")
        yield int(sum(map(sum, rows))), lifts_of(rows, prior)


class _Sums:
    """sum_x w_x n_sx for every s, of rows w: entry by entry, or by FLINT where there are many. Step 1."""

    def __init__(self, block: Matrix) -> None:
        self._block, self._secrets, self._size = block, len(block), len(block[0])
        self._columns = [[(s, n) for s, n in enumerate(column) if n] for column in zip(*block, strict=True)]

    @cached_property
    def _matrix(self) -> fmpz_mat:
        return fmpz_mat(self._block).transpose()

    def of(self, row: Row) -> list[Any]:
        if sum(len(self._columns[x]) for x in row) * _MUCH_QUICKER > self._size * self._secrets:
            return list((fmpz_mat([[row.get(x, 0) for x in range(self._size)]]) * self._matrix).tolist()[0])
        sums = [0] * self._secrets
        for x, weight in row.items():
            for s, n in self._columns[x]:
                sums[s] += weight * n
        return sums


def lifts_of(rows: Iterable[list[Any]], prior: list[int]) -> list[list[fmpq]]:
    """P(s | y, block) / P(s) for every block that occurs with y; its row is proportional to P(s, block | y). Step 1."""
    total = sum(prior)
    masses = [(row, sum(row)) for row in rows if any(row)]
    return [[fmpq(own * total, n_s * mass) for own, n_s in zip(row, prior, strict=True)] for row, mass in masses]


# --- 6. Promises: their inequalities (step 2), for unseen values (step 3), support functions (step 6) ---


@dataclass(frozen=True)
class Component(ABC):
    """One promise with its parameters, and in words. l are the lifts of an output, `prior` is proportional to P(s)."""

    text: str
    extra: ClassVar[int] = 0  # entries of a dual after the w's
    rows: ClassVar[tuple[int, ...]] = (
        1,
    )  # with a margin, the signs of the w's of a dual: of lifts with it, without it, or 0

    @classmethod
    @abstractmethod
    def stated(cls, value: dict[str, Any]) -> Component:
        """As a file states it: the region's name, the parameters as decimals, and no other key."""

    @property
    @abstractmethod
    def perfect(self) -> bool:
        """Whether a budget is 0, so that l = 1 is all that it allows."""

    @abstractmethod
    def sides(self, lifts: list[fmpq], prior: list[int]) -> list[Sides]:
        """What says that l keeps it: left <= right, for each. Step 2."""

    @abstractmethod
    def unseen(self, rho: fmpq, lifts: list[fmpq]) -> list[Sides]:
        """What says that it is kept with unseen values, too, if l keeps it and rho = unseen(y) / P(y). Step 3."""

    @abstractmethod
    def support(self, w: list[Fraction], prior: list[int]) -> arb:
        """At least E[w l] for every l that keeps it, at any w. Step 6."""

    def margin_sides(self, own: _Raised) -> list[Sides]:
        """What says that an output keeps it with a margin. Step 10."""
        raise RefusedError("such a promise has no margin")

    def margin_support(self, w: list[list[Fraction]], extra: list[Fraction], chance: Chance) -> tuple[arb, arb]:
        """For every output that keeps it with a margin, what bounds E[w l] + R rho at w of 0 or more in each row; and that R. Step 10a."""
        raise RefusedError("such a promise has no margin")


@dataclass(frozen=True)
class OneBudget(Component):
    """A promise with the budget epsilon and, but for subclasses that say otherwise, no other parameter."""

    epsilon: Fraction
    said: ClassVar[str]  # the promise in words

    @classmethod
    def stated(cls, value: dict[str, Any]) -> Component:
        _keys(value, {"region", "epsilon"}, "a promise")
        epsilon = _budget(value, "epsilon")
        return cls(cls.said.format(**value), epsilon)

    @property
    def perfect(self) -> bool:
        return self.epsilon == 0


@dataclass(frozen=True)
class AlphaLift(OneBudget):
    """(E l^alpha)^(1/alpha) <= e^epsilon; alpha None is infinity: max l <= e^epsilon."""

    alpha: Fraction | None
    said = "alpha-lift is at most e^{epsilon} for alpha = {alpha}"

    @classmethod
    def stated(cls, value: dict[str, Any]) -> Component:
        _keys(value, {"region", "alpha", "epsilon"}, "a promise")
        alpha, epsilon = _order(value, "alpha"), _budget(value, "epsilon")
        said = "max-lift is at most e^{epsilon}" if alpha is None else cls.said
        return cls(said.format(**value), epsilon, alpha)

    def sides(self, lifts: list[fmpq], prior: list[int]) -> list[Sides]:
        if self.alpha is None:
            return [(arb(max(lifts)), _ball(self.epsilon).exp())]
        powers = [_ball(lift) ** _ball(self.alpha) if lift else arb(0) for lift in lifts]
        return [(_mean(powers, prior), _ball(self.alpha * self.epsilon).exp())]

    def unseen(self, rho: fmpq, lifts: list[fmpq]) -> list[Sides]:
        if self.alpha is None:
            return self.sides([rho, max(lifts) / min(rho, fmpq(1))], [])
        slope = 1 + _rational(self.alpha) * (rho - 1)
        return [(_ball(rho) ** _ball(self.alpha), _ball(self.alpha * self.epsilon).exp() * _ball(slope))]

    def support(self, w: list[Fraction], prior: list[int]) -> arb:
        return _ball(self.epsilon).exp() * self.dual_norm(w, prior)

    def dual_norm(self, w: list[Fraction], prior: list[int]) -> arb:
        """What E[w l] is at most where the norm of l is 1. Step 6."""
        positive = [max(own, Fraction(0)) for own in w]
        if self.alpha is None or not any(positive):
            return _ball(_mean(positive, prior))
        power = _ball(self.alpha / (self.alpha - 1))
        return _mean([_ball(own) ** power if own else arb(0) for own in positive], prior) ** (1 / power)

    @property
    def rows(self) -> tuple[int, ...]:  # type: ignore[override]
        return (1,) if self.alpha is None else (1, 1)

    def _of_norm(self, chance: Chance) -> arb:
        return chance.of_mean(Fraction(0) if self.alpha is None else 2 * self.epsilon * (self.alpha - 1))

    def _alone(self, prior: list[int]) -> list[arb]:
        """What a secret's lift may be if it alone used up the budget. Step 10."""
        power = arb(0) if self.alpha is None else _ball(1 / self.alpha)
        return [_ball(self.epsilon).exp() * _ball(Fraction(sum(prior), n)) ** power for n in prior]

    def margin_sides(self, own: _Raised) -> list[Sides]:
        sides: list[Sides] = list(zip(own.above, self._alone(own.chance.prior), strict=True))
        if self.alpha is not None:
            powers = [_ball(lift) ** _ball(self.alpha) for lift in own.high]
            norm = _mean(powers, own.chance.prior) ** _ball(1 / self.alpha)
            sides.append((norm + self._of_norm(own.chance) * own.rho, _ball(self.epsilon).exp()))
        return sides

    def margin_support(self, w: list[list[Fraction]], extra: list[Fraction], chance: Chance) -> tuple[arb, arb]:
        *norms, alone = w
        sigma, of_rho = (
            _mean(list(map(operator.mul, map(_ball, alone), self._alone(chance.prior))), chance.prior),
            chance.of(alone),
        )
        for own in norms:
            dual = self.dual_norm(own, chance.prior)
            sigma, of_rho = sigma + _ball(self.epsilon).exp() * dual, of_rho + self._of_norm(chance) * dual
        return sigma, of_rho


class Renyi(AlphaLift):
    """order/(order - 1) log of alpha-lift at alpha = order is at most a budget: alpha-lift, whose epsilon is less."""

    said = "the Renyi divergence of order {order} is at most {epsilon}"

    @classmethod
    def stated(cls, value: dict[str, Any]) -> Component:
        _keys(value, {"region", "order", "epsilon"}, "a promise")
        order, budget = _order(value, "order"), _budget(value, "epsilon")
        epsilon = budget if order is None else budget * (order - 1) / order
        return cls(cls.said.format(**value), epsilon, order)


@dataclass(frozen=True)
class LIP(Component):
    """e^-lower <= l <= e^upper."""

    lower: Fraction
    upper: Fraction

    @classmethod
    def stated(cls, value: dict[str, Any]) -> Component:
        _keys(value, {"region", "lower", "upper"}, "a promise")
        lower, upper = _budget(value, "lower"), _budget(value, "upper")
        return cls("every lift is from e^-{lower} to e^{upper}".format(**value), lower, upper)

    @property
    def perfect(self) -> bool:
        return min(self.lower, self.upper) == 0

    def sides(self, lifts: list[fmpq], prior: list[int]) -> list[Sides]:
        return [(arb(max(lifts)), _ball(self.upper).exp()), (_ball(-self.lower).exp(), arb(min(lifts)))]

    def unseen(self, rho: fmpq, lifts: list[fmpq]) -> list[Sides]:
        one = fmpq(1)
        return self.sides([rho, max(lifts) / min(one, rho), min(lifts) / max(one, rho)], [])

    def support(self, w: list[Fraction], prior: list[int]) -> arb:
        rise, fall = (_mean([max(sign * own, Fraction(0)) for own in w], prior) for sign in (1, -1))
        return _ball(self.upper).exp() * _ball(rise) - _ball(-self.lower).exp() * _ball(fall)

    rows = (1, -1)

    def margin_sides(self, own: _Raised) -> list[Sides]:
        below, above = _ball(-self.lower).exp(), _ball(self.upper).exp()
        return [*((lift, above) for lift in own.above), *((below, lift) for lift in own.below)]

    def margin_support(self, w: list[list[Fraction]], extra: list[Fraction], chance: Chance) -> tuple[arb, arb]:
        rise, fall = (_ball(_mean(own, chance.prior)) for own in w)
        return _ball(self.upper).exp() * rise - _ball(-self.lower).exp() * fall, chance.of(w[0]) + chance.of(w[1])


class LDP(OneBudget):
    """l_s <= e^epsilon l_s' for all s, s'."""

    said = "local differential privacy of the secret holds with epsilon = {epsilon}"

    def sides(self, lifts: list[fmpq], prior: list[int]) -> list[Sides]:
        return [(arb(max(lifts)), _ball(self.epsilon).exp() * arb(min(lifts)))]

    def unseen(self, rho: fmpq, lifts: list[fmpq]) -> list[Sides]:
        return self.sides([rho, *lifts], [])

    def support(self, w: list[Fraction], prior: list[int]) -> arb:
        # The best extreme lift is proportional to 1 + (e^epsilon - 1) 1_A for an A of the largest w.
        gain, total, mean = _ball(self.epsilon).exp() - 1, sum(prior), _mean(w, prior)
        best, held, mass = _ball(mean), Fraction(0), 0
        for own, share in sorted(zip(w, prior, strict=True), reverse=True):
            held, mass = held + share * own / total, mass + share
            best = best.max((_ball(mean) + gain * _ball(held)) / (1 + gain * _ball(Fraction(mass, total))))
        return best

    rows = (1, -1)

    def margin_sides(self, own: _Raised) -> list[Sides]:
        return [(reduce(arb.max, own.above), _ball(self.epsilon).exp() * reduce(arb.min, own.below))]

    def margin_support(self, w: list[list[Fraction]], extra: list[Fraction], chance: Chance) -> tuple[arb, arb]:
        rise, fall = (_ball(_mean(own, chance.prior)) for own in w)
        return (_ball(self.epsilon).exp() * rise - fall).max(arb(0)), chance.of(w[0]) + chance.of(w[1])


class TotalVariation(OneBudget):
    """(1/2) E |l - 1| <= epsilon."""

    said = "the total variation between prior and posterior is at most {epsilon}"

    def sides(self, lifts: list[fmpq], prior: list[int]) -> list[Sides]:
        return [(_mean([abs(lift - 1) for lift in lifts], prior) / 2, _rational(self.epsilon))]

    def unseen(self, rho: fmpq, lifts: list[fmpq]) -> list[Sides]:
        return [(abs(rho - 1), _rational(self.epsilon) * rho)]

    def support(self, w: list[Fraction], prior: list[int]) -> arb:
        return _ball(_mean(w, prior) + self.epsilon * (max(w) - min(w)))

    def margin_sides(self, own: _Raised) -> list[Sides]:
        gained = _mean([max(lift - 1, fmpq(0)) for lift in own.high], own.chance.prior)
        return [(_ball(gained) + own.chance.of_mean(Fraction(1, 4)) * own.rho, _ball(self.epsilon))]

    def margin_support(self, w: list[list[Fraction]], extra: list[Fraction], chance: Chance) -> tuple[arb, arb]:
        most = max(w[0])
        return _ball(_mean(w[0], chance.prior) + self.epsilon * most), chance.of_mean(Fraction(1, 4)) * _ball(most)


class ChiSquare(OneBudget):
    """E (l - 1)^2 <= epsilon^2."""

    said = "the standard deviation of the lifts is at most {epsilon}"

    def sides(self, lifts: list[fmpq], prior: list[int]) -> list[Sides]:
        return [(_mean([(lift - 1) * (lift - 1) for lift in lifts], prior), _rational(self.epsilon**2))]

    def unseen(self, rho: fmpq, lifts: list[fmpq]) -> list[Sides]:
        return [(rho * rho, _rational(1 + self.epsilon**2) * (2 * rho - 1))]

    def support(self, w: list[Fraction], prior: list[int]) -> arb:
        return _ball(_mean(w, prior)) + _ball(self.epsilon) * _deviation(w, prior)

    rows = (0,)

    def margin_sides(self, own: _Raised) -> list[Sides]:
        left = _deviation(own.lifts, own.chance.prior) + own.chance.of_mean(Fraction(1)) * own.rho
        return [(left, _ball(self.epsilon))]

    def margin_support(self, w: list[list[Fraction]], extra: list[Fraction], chance: Chance) -> tuple[arb, arb]:
        spread = _deviation(w[0], chance.prior)
        return self.support(w[0], chance.prior), chance.of_mean(Fraction(1)) * spread


class KL(OneBudget):
    """E l log l <= epsilon. A dual brings b > 0 after its w's."""

    extra = 1
    said = "the Kullback-Leibler divergence of the posterior from the prior is at most {epsilon}"

    def sides(self, lifts: list[fmpq], prior: list[int]) -> list[Sides]:
        terms = [_ball(lift) * _ball(lift).log() if lift else arb(0) for lift in lifts]
        return [(_mean(terms, prior), _ball(self.epsilon))]

    def unseen(self, rho: fmpq, lifts: list[fmpq]) -> list[Sides]:
        return [(_ball(rho) * _ball(rho).log() - _ball(rho) + 1, _ball(self.epsilon) * _ball(rho))]

    def support(self, w: list[Fraction], prior: list[int]) -> arb:
        *w, b = w
        _need(b > 0, "a dual has a b of 0 or less")
        return _ball(b) * (_ball(self.epsilon) + _mean([_ball(own / b).exp() for own in w], prior).log())

    rows = (0,)

    def margin_sides(self, own: _Raised) -> list[Sides]:
        [(divergence, most)] = self.sides(own.lifts, own.chance.prior)
        return [(divergence + own.chance.of_mean(2 * self.epsilon) * own.rho, most)]

    def margin_support(self, w: list[list[Fraction]], extra: list[Fraction], chance: Chance) -> tuple[arb, arb]:
        return self.support(w[0] + extra, chance.prior), chance.of_mean(2 * self.epsilon) * _ball(extra[0])


@dataclass(frozen=True)
class OnAverage(Component):
    """The mean over outputs of the value psi that another promise bounds for each: E_Y psi(l_Y) <= its budget.

    One output is allowed anything, so this has no sides, and E[w l] is bounded together with what psi(l) costs.
    """

    of: Component

    @classmethod
    def stated(cls, value: dict[str, Any]) -> Component:
        of = _keys(value, {"region", "of"}, "a promise on average")["of"]
        name = str(of.get("region")) if isinstance(of, dict) else ""
        _need(name in _AVERAGED, f"a promise on average must be of one of {', '.join(_AVERAGED)}")
        own = REGIONS[name].stated(of)
        text = f"the variance of the lifts is at most {of['epsilon']}^2" if name == "ChiSquare" else own.text
        return cls(f"on average over what is released, {text}", own)

    @property
    def perfect(self) -> bool:
        return self.of.perfect

    def sides(self, lifts: list[fmpq], prior: list[int]) -> list[Sides]:
        return []

    def unseen(self, rho: fmpq, lifts: list[fmpq]) -> list[Sides]:
        return []

    def support(self, w: list[Fraction], prior: list[int]) -> arb:
        return _ball(max(w))

    def value(self, lifts: list[fmpq], prior: list[int]) -> Any:
        """psi(l), a ball or exact, as in the sides of the promise about one output. Step 2a."""
        [(value, _)] = self.of.sides(lifts, prior)
        if isinstance(self.of, AlphaLift) and self.of.alpha is not None:
            return value ** _ball(1 / self.of.alpha)
        return value

    @property
    def budget(self) -> Any:
        """What the mean of psi may be. Step 2a."""
        if isinstance(self.of, AlphaLift):
            return _ball(self.of.epsilon).exp()
        return _rational(self.of.epsilon**2 if isinstance(self.of, ChiSquare) else self.of.epsilon)  # type: ignore[attr-defined]

    def mean(
        self, outputs: list[tuple[int, list[fmpq]]], prior: list[int], *, shortfall: fmpq | int = 0
    ) -> list[Sides]:
        """What says that outputs with these masses and lifts keep it, those with a shortfall for unseen values. Steps 2a and 3a."""
        terms = [mass * self.value(lifts, prior) for mass, lifts in outputs]
        left = sum(terms[1:], terms[0]) / sum(mass for mass, _ in outputs)
        if shortfall:
            left = (1 - shortfall) * left + shortfall * self._most(len(outputs))
        exact = isinstance(left, fmpq) and isinstance(self.budget, fmpq)
        return [(left, self.budget) if exact else (arb(left), arb(self.budget))]

    def kept(self, outputs: list[tuple[int, list[fmpq]]], prior: list[int], *, shortfall: fmpq | int = 0) -> bool:
        """Whether that is proven."""
        return _decide(partial(self.mean, outputs, prior, shortfall=shortfall))

    def _most(self, outputs: int) -> Any:
        """What the mean of psi is at most with so many outputs, whatever they tell. Step 3a."""
        if isinstance(self.of, KL):
            return arb(outputs).log()
        return fmpq(1 if isinstance(self.of, TotalVariation) else outputs - isinstance(self.of, ChiSquare))

    def priced_support(self, w: list[Fraction], prior: list[int], price: Fraction) -> arb:
        """At least E[w l] - price psi(l) for all lifts, at any w and any price of 0 or more. Step 6a."""
        mean, share = _mean(w, prior), Fraction(min(prior), sum(prior))
        if isinstance(self.of, AlphaLift):
            beyond, power = self.of.dual_norm(w, prior) - _ball(price), 1 - (1 / self.of.alpha if self.of.alpha else 0)
            return beyond.max(beyond / _ball(share) ** _ball(power))
        if isinstance(self.of, TotalVariation):
            return _ball(_mean([max(own, max(w) - price) for own in w], prior))
        if isinstance(self.of, KL):
            return (
                _ball(price) * _mean([_ball(own / price).exp() for own in w], prior).log() if price else _ball(max(w))
            )
        square, most = _mean([(own - mean) ** 2 for own in w], prior), 1 / share - 1
        if square <= 4 * price**2 * most:
            return _ball(mean + square / (4 * price)) if price else _ball(mean)
        return _ball(mean) + _ball(square * most).sqrt() - _ball(price * most)


_AVERAGED = ("AlphaLift", "KL", "TotalVariation", "ChiSquare")

REGIONS: dict[str, type[Component]] = {
    region.__name__: region for region in (AlphaLift, Renyi, LIP, LDP, TotalVariation, ChiSquare, KL)
}


@dataclass(frozen=True)
class Promise:
    """Every component is kept."""

    components: tuple[Component, ...]

    @property
    def perfect(self) -> bool:
        """Whether l = 1 is all that it allows."""
        return any(component.perfect for component in self.components)

    @property
    def text(self) -> str:
        """The promise in words; with what it does not give, where all of it is about averages."""
        every = " and ".join(component.text for component in self.components)
        single = len(self.averages) < len(self.components)
        return every if single else f"{every}; a single released value may tell everything"

    @property
    def averages(self) -> list[OnAverage]:
        """The components that are about all outputs together and have a price; where l = 1 is all that is allowed, none."""
        found = [component for component in self.components if isinstance(component, OnAverage)]
        return [] if self.perfect else found

    def keeps(self, lifts: list[fmpq], prior: list[int]) -> bool:
        """Whether these lifts of an output are proven to keep it. Step 2."""
        if self.perfect:  # equality is decided exactly
            return all(lift == 1 for lift in lifts)
        return all(_decide(partial(component.sides, lifts, prior)) for component in self.components)

    def keeps_unseen(self, rho: fmpq, lifts: list[fmpq]) -> bool:
        """Whether it is proven to be kept with unseen values, too, by an output that keeps it. Step 3."""
        if rho <= 0 or self.perfect:
            return bool(rho == 1)
        return all(_decide(partial(component.unseen, rho, lifts)) for component in self.components)

    def excludes_beyond(self, lifts: list[fmpq], prior: list[int]) -> bool:
        """Whether no lifts farther from 1 in this direction are allowed: these reach a limit, or none but 1 are. Step 9."""
        return self.perfect or any(
            _decide(partial(component.sides, lifts, prior), broken=True) for component in self.components
        )

    def dual_size(self, secrets: int) -> int:
        """How many entries of a dual the components have: a w for every secret, and what they need beside that."""
        return sum(secrets + component.extra for component in self.components)

    def support(self, dual: list[int], prior: list[int], one: int, average_prices: list[int]) -> tuple[list[int], arb]:
        """The sum of the components' w, and of their support functions; of perfect ones, which allow l = 1, E w.

        Those on average have prices, over `one` as the dual is. Steps 6 and 6a.
        """
        entries, unpaid = [Fraction(own, one) for own in dual], [Fraction(own, one) for own in reversed(average_prices)]
        sums, sigma = [0] * len(prior), arb(0)
        for component in self.components:
            size = len(prior) + component.extra
            own, entries = entries[:size], entries[size:]
            sums = [before + int(w * one) for before, w in zip(sums, own, strict=False)]
            if self.perfect:
                sigma += _ball(_mean(own[: len(prior)], prior))
            elif isinstance(component, OnAverage):
                sigma += component.priced_support(own, prior, unpaid.pop())
            else:
                sigma += component.support(own, prior)
        return sums, sigma


def promise_of(value: Any) -> Promise:
    """The promise as a file states it; an intersection lists its components under `parts`."""
    _need(isinstance(value, dict), "the promise must be an object")
    if value.get("region") != "Intersection":
        return Promise((_component_of(value),))
    listed = _keys(value, {"region", "parts"}, "an intersection")["parts"]
    few = isinstance(listed, list) and 2 <= len(listed) <= _MOST_COMPONENTS
    _need(few, f"an intersection must have 2 to {_MOST_COMPONENTS} parts")
    return Promise(tuple(map(_component_of, listed)))


def _component_of(value: Any) -> Component:
    name = str(value.get("region")) if isinstance(value, dict) else ""
    if name == "OnAverage":
        return OnAverage.stated(value)
    _need(name in REGIONS, f"a region must be one of {', '.join(REGIONS)}")
    return REGIONS[name].stated(value)


def _budget(value: dict[str, Any], name: str) -> Fraction:
    number = _decimal(value[name], name)
    _need(number <= MOST_EPSILON, f"{name} must be at most {MOST_EPSILON}")
    return number


def _order(value: dict[str, Any], name: str) -> Fraction | None:
    number = None if value[name] == "inf" else _decimal(value[name], name)
    _need(number is None or 1 < number <= MOST_ALPHA, f"{name} must be above 1 and at most {MOST_ALPHA}, or inf")
    return number


# --- 6a. Margins: promises with standard errors to spare (steps 10 and 10a) ---


@dataclass(frozen=True)
class Chance:
    """What `errors` standard errors of so many records of s and x take of an output, for rho = 1. Step 10."""

    counts: Matrix
    errors: Fraction

    @cached_property
    def prior(self) -> list[int]:
        return [sum(row) for row in self.counts]

    @cached_property
    def columns(self) -> fmpz_mat:
        return fmpz_mat(self.counts)

    @cached_property
    def unseen(self) -> list[Fraction]:
        """b_s, the share of records that were not seen. Step 10."""
        return [self.errors**2 / (6 * n + self.errors**2) for n in self.prior]

    @property
    def of_lifts(self) -> list[arb]:
        """c_s, of every lift. Step 10."""
        total = sum(self.prior)
        return [_ball(self.errors**2 * Fraction(total - n, total * (n + 1))).sqrt() for n in self.prior]

    def of(self, w: list[Fraction]) -> arb:
        """E[w c]. Step 10a."""
        return _mean(list(map(operator.mul, map(_ball, w), self.of_lifts)), self.prior)

    def of_mean(self, variance: Fraction) -> arb:
        """Of a mean over secrets with this variance in one record. Step 10."""
        return _ball(self.errors**2 * variance / sum(self.prior)).sqrt()


@dataclass(frozen=True)
class _Raised:
    """An output's lifts, exact; with what was not seen; and with standard errors, above and below. Step 10."""

    chance: Chance
    lifts: list[fmpq]
    high: list[fmpq]
    rho: arb
    above: list[arb]
    below: list[arb]

    @classmethod
    def of(cls, chance: Chance, ratios: list[fmpq], p_x: list[int]) -> _Raised:
        """Of an output with these P(x|y) / P(x). Step 10."""
        sums = (chance.columns * fmpq_mat(len(ratios), 1, ratios)).entries()
        lifts = [own / n for own, n in zip(sums, chance.prior, strict=True)]
        shares, tau, rho = list(map(_rational, chance.unseen)), max(ratios), _deviation(ratios, p_x)
        low = [(1 - share) * lift for share, lift in zip(shares, lifts, strict=True)]
        high = [lift + share * tau for share, lift in zip(shares, low, strict=True)]
        errors = [own * rho for own in chance.of_lifts]
        above = [_ball(lift) + error for lift, error in zip(high, errors, strict=True)]
        return cls(chance, lifts, high, rho, above, [_ball(a) - error for a, error in zip(low, errors, strict=True)])


@dataclass(frozen=True)
class Margin(Component):
    """Promises with a margin, which depends on V: they are about X, whose lifts are g = V / P_X. Step 10.

    In a dual, w is followed by the b of every KL, by the rows of every promise, |S| entries each, and by y, |X| entries.
    """

    parts: tuple[Component, ...]
    chance: Chance

    @classmethod
    def stated(cls, value: dict[str, Any]) -> Component:
        raise RefusedError("a margin is no region")

    @property
    def perfect(self) -> bool:
        return False

    @property
    def extra(self) -> int:  # type: ignore[override]
        rows = sum(len(part.rows) for part in self.parts) * len(self.chance.prior)
        return sum(part.extra for part in self.parts) + rows + len(self.chance.counts[0])

    def sides(self, lifts: list[fmpq], prior: list[int]) -> list[Sides]:
        """Step 10."""
        own = _Raised.of(self.chance, lifts, prior)
        return [side for part in self.parts for side in part.margin_sides(own)]

    def unseen(self, rho: fmpq, lifts: list[fmpq]) -> list[Sides]:
        raise RefusedError("unseen values have no margin")

    def support(self, w: list[Fraction], prior: list[int]) -> arb:
        """From what the promises' w use of rho and tau, and y, at least w.V for every V that leaves the margin. Step 10a."""
        rest, form, of_tau = iter(w[len(prior) :]), [Fraction(0)] * len(self.chance.prior), Fraction(0)
        sigma, of_rho = arb(0), arb(0)
        extras = [[next(rest) for _ in range(part.extra)] for part in self.parts]
        for part, extra in zip(self.parts, extras, strict=True):
            rows = []
            for sign in part.rows:
                own = [next(rest) for _ in form]
                if sign:
                    own = [max(entry, Fraction(0)) for entry in own]
                    of_tau += sum(own) * (sign > 0)
                form = [before + (sign or 1) * entry for before, entry in zip(form, own, strict=True)]
                unseen = self.chance.unseen if sign else [Fraction(0)] * len(own)
                rows.append([entry / (1 - share) for entry, share in zip(own, unseen, strict=True)])
            bounded, used = part.margin_support(rows, extra, self.chance)
            sigma, of_rho = sigma + bounded, of_rho + used
        y = list(rest)
        lifts = (fmpq_mat(1, len(form), list(map(_rational, form))) * self.chance.columns).entries()
        left = [_rational(a - b) - own / n for a, b, own, n in zip(w, y, lifts, prior, strict=False)]
        left = [max(own, fmpq(0)) for own in left]
        of_tau *= self.chance.errors**2 / (6 * sum(prior))
        mean = _mean(y, prior)
        sigma += _ball(mean) + _uncovered(_deviation(y, prior), of_rho) * _ball(max(y) - mean)
        return sigma + _uncovered(_ball(_mean(left, prior)), _ball(of_tau)) * _ball(max(left))


def _uncovered(needed: arb, given: arb) -> arb:
    """The share of what is needed, 0 or more, that is not given. Step 10a."""
    return (1 - given / needed).max(arb(0)) if needed > 0 else arb(0) if needed == 0 else arb(1)


def with_margin(promise: Promise, errors: Fraction, blocks: list[Matrix]) -> tuple[Promise, list[Matrix]]:
    """The promise with so many standard errors to spare, and the counts that it is about: of X, as its own secret. Step 10."""
    [counts] = blocks
    columns = _column_sums(counts)
    _need(len(columns) <= _MOST_WITH_MARGIN, f"a margin is known for {_MOST_WITH_MARGIN} symbols at most")
    _need(not promise.perfect, "perfect privacy has no margin")
    _need(not any(isinstance(part, OnAverage) for part in promise.components), "a promise on average has no margin")
    _need(0 < errors <= MOST_EPSILON, f"a margin is above 0 and at most {MOST_EPSILON} standard errors")
    own = Margin(promise.text, promise.components, Chance(counts, errors))
    return Promise((own,)), [[[n * (x == z) for x in range(len(columns))] for z, n in enumerate(columns)]]


def broken_outputs(blocks: list[Matrix], weights: list[Row], promise: Promise) -> list[int]:
    """The outputs for which the promise is not proven, alone or together with earlier ones. Step 2."""
    prior, outputs = prior_of(blocks), enumerate(_lifts(blocks, weights))
    return [y for y, (_, found) in outputs if not all(promise.keeps(lifts, prior) for lifts in found)]


def broken_unseen(counts: Matrix, integers: Integers, promise: Promise) -> list[int]:
    """The outputs for which unseen values are not proven to keep a promise that the seen ones keep. Step 3."""
    total = sum(map(sum, counts))
    outputs = enumerate(zip(integers.unseen or [], _lifts([counts], integers.weights), strict=True))
    return [y for y, (own, (mass, [lifts])) in outputs if not promise.keeps_unseen(fmpq(own * total, mass), lifts)]


def broken_averages(blocks: list[Matrix], weights: list[Row], promise: Promise) -> list[OnAverage]:
    """The promises on average that are not proven of all outputs together. Step 2a."""
    if not promise.averages:
        return []
    outputs, prior = [(mass, lifts) for mass, [lifts] in _lifts(blocks, weights)], prior_of(blocks)
    return [own for own in promise.averages if not own.kept(outputs, prior)]


def broken_averages_unseen(counts: Matrix, integers: Integers, promise: Promise) -> list[OnAverage]:
    """Those that are not proven to be kept with unseen values, too, where every output's share of them is above 0. Step 3a."""
    if not promise.averages or integers.unseen is None:
        return []
    outputs = [(mass, lifts) for mass, [lifts] in _lifts([counts], integers.weights)]
    total, prior = sum(map(sum, counts)), prior_of([counts])
    least = min(fmpq(own * total, mass) for own, (mass, _) in zip(integers.unseen, outputs, strict=True))
    shortfall = max(1 - least, fmpq(0))
    return [own for own in promise.averages if not own.kept(outputs, prior, shortfall=shortfall)]


# --- 7. Utilities: what a mechanism is worth (step 4) ---


class Utility(ABC):
    """U = h(P_X) - E_Y h(P_{X|Y}) for a concave h; `columns` is proportional to P_X, (|X|,)."""

    text: str  # what claims call it
    unit: str = ""  # what its numbers are counted in, if that has a name
    proofs: ClassVar[tuple[str, ...]] = ()  # the kinds of certificates that are about it

    @classmethod
    @abstractmethod
    def stated(cls, value: dict[str, Any], symbols: int) -> Utility:
        """As a file with so many symbols states it: the utility's name, its parameters, and no other key."""

    @abstractmethod
    def before(self, columns: list[int]) -> arb:
        """h(P_X), a ball. Step 4."""

    @abstractmethod
    def everything(self, columns: list[int]) -> arb:
        """The utility of publishing X, which no mechanism exceeds, a ball. Step 4."""

    @abstractmethod
    def worth(self, columns: list[int], integers: Integers) -> arb:
        """The utility of this mechanism, a ball. Step 4."""

    def curves(self, columns: list[int], bits: int) -> list[Curve]:
        """phi_x of every symbol, where h(V) = sum_x phi_x(V_x) and `proofs` have trees. Step 7."""
        raise RefusedError(f"{self.text} has no curves")

    def amount(self, number: str) -> str:
        """The number with its unit."""
        return f"{number} {self.unit}".rstrip()


class Curve(dict[int, int]):
    """phi_x at places v over 2^bits, rounded down over 4^bits; each is computed once. phi_x is concave, and 0 at 0. Step 7."""

    def __init__(self, bits: int, phi: Callable[[Fraction], arb]) -> None:
        super().__init__({0: 0})
        self._bits, self._phi = bits, phi

    def __missing__(self, place: int) -> int:
        self[place] = _floor(self._phi(Fraction(place, 1 << self._bits)), 2 * self._bits)
        return self[place]


class MutualInformation(Utility):
    """I(X;Y) in nats: h is the entropy."""

    text, unit, proofs = "I(X;Y)", "nats", ("merged", "tree", "pairs", "local")

    @classmethod
    def stated(cls, value: dict[str, Any], symbols: int) -> Utility:
        _keys(value, {"name"}, "the utility")
        return cls()

    def before(self, columns: list[int]) -> arb:
        return entropy(columns)

    def everything(self, columns: list[int]) -> arb:
        return entropy(columns)

    def worth(self, columns: list[int], integers: Integers) -> arb:
        """H(X) + H(Y) - H(X,Y); P(x, y) is proportional to n_x w_yx."""
        with ctx.workprec(_FIRST_PRECISION + integers.bits):
            cells = [[columns[x] * w for x, w in row.items()] for row in integers.weights]
            both = entropy([mass for row in cells for mass in row])
            return entropy(columns) + entropy([sum(row) for row in cells]) - both

    def curves(self, columns: list[int], bits: int) -> list[Curve]:
        return [Curve(bits, lambda v: -_ball(v) * _ball(v).log())] * len(columns)


def _kl(p: Fraction, v: Fraction) -> arb:
    return -_ball(v) * _ball(v / p).log()


def _chi_square(p: Fraction, v: Fraction) -> arb:
    return _ball(-v * v / p)


def _total_variation(p: Fraction, v: Fraction) -> arb:
    return _ball(min(v, p))


def _hellinger(p: Fraction, v: Fraction) -> arb:
    return 2 * _ball(p * v).sqrt()


def _jensen_shannon(p: Fraction, v: Fraction) -> arb:
    return (_ball(v) * _ball(1 + p / v).log() + _ball(p) * _ball(1 + v / p).log()) / 2


def _le_cam(p: Fraction, v: Fraction) -> arb:
    return _ball(2 * p * v / (p + v))


@dataclass(frozen=True)
class FInformation(Utility):
    """E_Y D_f(P_{X|Y} || P_X); phi_x(v) of a symbol with the share p_x, at v > 0, is p_x (f(0) - f(v / p_x) + c v / p_x). Step 4a."""

    text: str
    phi: Callable[[Fraction, Fraction], arb]
    unit: str = ""
    proofs = ("tree",)

    @classmethod
    def stated(cls, value: dict[str, Any], symbols: int) -> Utility:
        _keys(value, {"name", "f"}, "the utility")
        _need(
            isinstance(value["f"], str) and value["f"] in F_DIVERGENCES, f"f must be one of {', '.join(F_DIVERGENCES)}"
        )
        return F_DIVERGENCES[value["f"]]

    def before(self, columns: list[int]) -> arb:
        """The sum of phi_x(p_x) = p_x phi_1(1): all shares have the same curve, drawn to scale. Step 4a."""
        return self.phi(Fraction(1), Fraction(1))

    def everything(self, columns: list[int]) -> arb:
        shares = [Fraction(n, sum(columns)) for n in columns]
        return self.before(columns) - sum((_ball(p) * self.phi(p, Fraction(1)) for p in shares), arb(0))

    def worth(self, columns: list[int], integers: Integers) -> arb:
        with ctx.workprec(_FIRST_PRECISION + integers.bits):
            left, total = self.before(columns), sum(columns) << integers.bits
            for row in integers.weights:
                masses = {x: columns[x] * w for x, w in row.items()}
                p_y = sum(masses.values())  # times `total`, as the masses are
                for x, mass in masses.items():
                    share, own = Fraction(columns[x], sum(columns)), Fraction(mass, p_y)
                    left -= _ball(Fraction(p_y, total)) * self.phi(share, own)
            return left

    def curves(self, columns: list[int], bits: int) -> list[Curve]:
        shares = [Fraction(n, sum(columns)) for n in columns]
        found = {p: Curve(bits, partial(self.phi, p)) for p in shares}
        return [found[p] for p in shares]


F_DIVERGENCES: dict[str, FInformation] = {
    "kl": FInformation("E_Y KL(P(X|Y) || P(X))", _kl, "nats"),
    "chi_square": FInformation("E_Y chi-square(P(X|Y) || P(X))", _chi_square),
    "total_variation": FInformation("E_Y TV(P(X|Y), P(X))", _total_variation),
    "hellinger": FInformation("E_Y of the squared Hellinger distance of P(X|Y) and P(X)", _hellinger),
    "jensen_shannon": FInformation("E_Y JS(P(X|Y), P(X))", _jensen_shannon, "nats"),
    "le_cam": FInformation("E_Y LC(P(X|Y), P(X))", _le_cam),
}


class _Pieces(Utility):
    """h(V) is the least of linear functions of V, and 0 where X is certain: h(P_X) is what publishing X is worth. Step 4."""

    @abstractmethod
    def uncertainty(self, masses: Row, total: int) -> Fraction:
        """total h(V), where V is proportional to these integers and they sum to `total`. Step 4."""

    @abstractmethod
    def losses(self, certificate: dict[str, Any], unit: Fraction) -> Iterator[tuple[int, list[int]]]:
        """Of pieces that are enough, the number of its dual, and its loss of each x in these units, rounded down, over 4^bits. Step 7b."""

    def _everything(self, columns: list[int]) -> Fraction:
        return self.uncertainty(dict(enumerate(columns)), sum(columns)) / sum(columns)

    def before(self, columns: list[int]) -> arb:
        return _ball(self._everything(columns))

    def everything(self, columns: list[int]) -> arb:
        return _ball(self._everything(columns))

    def worth(self, columns: list[int], integers: Integers) -> arb:
        """h(P_X) less the mean of h over outputs; P(x, y) is proportional to n_x w_yx."""
        with ctx.workprec(_FIRST_PRECISION + integers.bits):
            left = arb(0)
            for row in integers.weights:
                masses = {x: columns[x] * w for x, w in row.items()}
                left += _ball(self.uncertainty(masses, sum(masses.values())))
            return _ball(self._everything(columns)) - left / (sum(columns) << integers.bits)

    def bound(self, blocks: list[Matrix], promise: Promise, certificate: Any, prices: list[int], paid: arb) -> arb:
        """What no mechanism exceeds: everything (1 - paid - the least over pieces), where a certificate is in units of everything.

        A piece has the bound constant + sum_x min(0, loss_x - c_x), see `_dual_terms`. Steps 5 and 7b.
        """
        columns, bits, duals = _column_sums(counts_of(blocks)), certificate["bits"], certificate["duals"]
        unit, size = self._everything(columns), len(columns)
        if not unit:
            return arb(0)
        one, means = 1 << bits, _Columns(blocks)
        _need(isinstance(duals, list), "duals must be a list")
        work = len(duals) * size * len(blocks) * len(blocks[0])
        _need(work <= _MOST_BOUNDED, "there are too many duals for so many symbols")
        of_averages, least = certificate.get("average_prices", []), math.inf
        for number, losses in self.losses(certificate, unit):
            _need(number < len(duals), "a piece has no dual")
            constant, rates = _dual_terms(means, promise, duals[number], prices, of_averages, bits)
            below = sum(min(loss - c * one, 0) for loss, c in zip(losses, rates, strict=True))
            least = min(least, constant + below)
        _need(isinstance(least, int), "a certificate has no piece")
        return _ball(unit) * (_ball(1 - Fraction(int(least), one * one)) - paid)


class GuessingAccuracy(_Pieces):
    """The mean over Y of the largest P(x|y), less the largest P(x): h(V) = 1 - max_x V_x; a guess loses 1 where it is wrong."""

    text, proofs = "what Y adds to the chance to guess X", ("actions",)

    def __init__(self, symbols: int) -> None:
        self._symbols = symbols

    @classmethod
    def stated(cls, value: dict[str, Any], symbols: int) -> Utility:
        _keys(value, {"name"}, "the utility")
        return cls(symbols)

    def uncertainty(self, masses: Row, total: int) -> Fraction:
        return Fraction(total - max(masses.values()))

    def losses(self, certificate: dict[str, Any], unit: Fraction) -> Iterator[tuple[int, list[int]]]:
        loss = (unit.denominator << 2 * certificate["bits"]) // unit.numerator
        _need_a_dual_each(certificate, self._symbols)
        for x in range(self._symbols):
            yield x, [loss] * x + [0] + [loss] * (self._symbols - x - 1)


class Decision(_Pieces):
    """The mean over Y of the best action's gain, less the best one without Y: an action loses what the best one for x gains more."""

    text, proofs = "what Y adds to the gain of the best action", ("actions",)

    def __init__(self, gains: list[list[Fraction]]) -> None:
        self._one = math.lcm(*(entry.denominator for row in gains for entry in row))
        best = [max(column) for column in zip(*gains, strict=True)]
        self._losses = [[int((b - own) * self._one) for b, own in zip(best, row, strict=True)] for row in gains]

    @classmethod
    def stated(cls, value: dict[str, Any], symbols: int) -> Utility:
        _keys(value, {"name", "actions", "gains"}, "the utility")
        actions, gains = _texts(value, "actions"), value["gains"]
        good = isinstance(gains, list) and 0 < len(gains) == len(actions)
        good = good and all(isinstance(row, list) and len(row) == symbols for row in gains)
        _need(good, "gains must be a row for every action, a decimal for every x in each")
        return cls([[_signed(entry, "a gain") for entry in row] for row in gains])

    def uncertainty(self, masses: Row, total: int) -> Fraction:
        least = min(sum(row[x] * mass for x, mass in masses.items()) for row in self._losses)
        return Fraction(least, self._one)

    def worth(self, columns: list[int], integers: Integers) -> arb:
        looks = len(self._losses) * sum(map(len, integers.weights))
        _need(looks <= _MOST_LOOKS, "there are too many actions for so many weights")
        return super().worth(columns, integers)

    def losses(self, certificate: dict[str, Any], unit: Fraction) -> Iterator[tuple[int, list[int]]]:
        times, over = unit.denominator << 2 * certificate["bits"], unit.numerator * self._one
        _need_a_dual_each(certificate, len(self._losses))
        for a, row in enumerate(self._losses):
            yield a, [loss * times // over for loss in row]


class SquaredError(_Pieces):
    """Var X - E Var(X|Y), summed over coordinates: h(V) is the variance. Places are shares of a coordinate's range."""

    text, proofs = "the variance of X that Y explains", ("squares",)

    def __init__(self, values: list[list[Fraction]]) -> None:
        """Every coordinate less its least value, over a common denominator."""
        self._one = math.lcm(*(entry.denominator for point in values for entry in point))
        least = [min(column) for column in zip(*values, strict=True)]
        points = [[int((own - low) * self._one) for own, low in zip(point, least, strict=True)] for point in values]
        self._coordinates = [list(column) for column in zip(*points, strict=True)]

    @classmethod
    def stated(cls, value: dict[str, Any], symbols: int) -> Utility:
        listed = _keys(value, {"name", "values"}, "the utility")["values"]
        good = isinstance(listed, list) and len(listed) == symbols and all(isinstance(own, list) for own in listed)
        _need(
            good and len({len(own) for own in listed}) == 1 and len(listed[0]) > 0, "values must be a point for every x"
        )
        return cls([[_signed(entry, "a value") for entry in point] for point in listed])

    def uncertainty(self, masses: Row, total: int) -> Fraction:
        result = Fraction(0)
        for x in self._coordinates:
            first, second = (sum(mass * x[i] ** power for i, mass in masses.items()) for power in (1, 2))
            result += second - Fraction(first * first, total)
        return result / self._one**2

    def losses(self, certificate: dict[str, Any], unit: Fraction) -> Iterator[tuple[int, list[int]]]:
        """sum_k (x_k - a_k)(x_k - b_k) for the leaf [a, b] of a tree in preorder: [dual], or [coordinate, place] for a split. Step 7b."""
        one, tree, d = 1 << certificate["bits"], certificate["tree"], len(self._coordinates)
        _need(isinstance(tree, list), "the tree must be a list")
        _need(len(tree) * len(self._coordinates[0]) * d <= _MOST_BOUNDED, "the tree is too large for so many symbols")
        tops = [max(x) for x in self._coordinates]
        over = unit.numerator * self._one**2
        boxes = [([0] * d, [one] * d)]
        for node in tree:
            good = isinstance(node, list) and 1 <= len(node) <= 2 and all(type(i) is int and i >= 0 for i in node)
            _need(good and 0 < len(boxes) * d <= _MOST_PENDING, "a node of the tree is malformed, too many or too deep")
            low, high = boxes.pop()
            if len(node) == 1:
                losses = [0] * len(self._coordinates[0])
                for x, top, a, b in zip(self._coordinates, tops, low, high, strict=True):
                    losses = [own + (v * one - top * a) * (v * one - top * b) for own, v in zip(losses, x, strict=True)]
                yield node[0], [loss * unit.denominator // over for loss in losses]
                continue
            k, place = node
            _need(k < d and low[k] <= place <= high[k], "a split lies outside of its box")
            below, above = high.copy(), low.copy()
            below[k] = above[k] = place
            boxes += [(above, high), (low, below)]
        _need(not boxes, "the tree does not cover the means")


def _signed(text: Any, what: str) -> Fraction:
    _need(isinstance(text, str) and _SIGNED_DECIMAL.fullmatch(text) is not None, f"{what} must be a decimal in quotes")
    return Fraction(text)


def _need_a_dual_each(certificate: dict[str, Any], actions: int) -> None:
    _need(len(certificate["duals"]) == actions, "there must be a dual for every action")


_UTILITIES = (MutualInformation, FInformation, GuessingAccuracy, Decision, SquaredError)
UTILITIES: dict[str, type[Utility]] = {utility.__name__: utility for utility in _UTILITIES}


def utility_of(value: Any, symbols: int) -> Utility | None:
    """The utility as a file states it; none where the file claims nothing of that kind."""
    if value is None:
        return None
    name = str(value.get("name")) if isinstance(value, dict) else ""
    _need(name in UTILITIES, f"a utility must be null or one of {', '.join(UTILITIES)}")
    return UTILITIES[name].stated(value, symbols)


def entropy(masses: list[int]) -> arb:
    """-sum p log p of the distribution that is proportional to these integers, a ball. Step 4."""
    total = sum(masses)
    return arb(total).log() - sum([mass * arb(mass).log() for mass in masses if mass], arb(0)) / total


# --- 8. The optimum: from prices to a bound (step 5), and from types to symbols (step 5a) ---

_PROOFS = {"tree": {"duals", "tree"}, "pairs": {"ends"}, "local": {"groups", "duals", "tree"}}
_PROOFS |= {"actions": {"duals"}, "squares": {"duals", "tree"}}


def optimum_bound(blocks: list[Matrix], promise: Promise, certificate: Any, utility: Utility | None = None) -> arb:
    """What no mechanism that keeps the promise exceeds: h(P_X) - u.P_X - min over allowed V of (h(V) - u.V).

    Prices u, places, duals and ends are integers over 2^bits; without a certificate it is the utility of publishing X.
    A merged certificate is about types T instead: H(X) - H(T) + the bound for T. Promises on average have prices, too, at which
    what V uses of them is paid for, and their budgets are added. Steps 5, 5a and 6a.
    """
    utility, columns = utility or MutualInformation(), _column_sums(counts_of(blocks))
    with ctx.workprec(_FIRST_PRECISION):
        if certificate is None:
            return utility.everything(columns)
        _need(isinstance(certificate, dict), "the certificate must be an object")
        kind = str(certificate.get("kind"))
        _need(
            kind in utility.proofs, f"the kind of a certificate for {utility.text} must be {', '.join(utility.proofs)}"
        )
        with_errors = isinstance(promise.components[0], Margin)
        _need(not with_errors or kind not in ("merged", "local"), f"{kind} cannot prove a bound for a margin")
        if kind == "merged":
            types, proof = merged_blocks(blocks), _keys(certificate, {"kind", "proof"}, "certificate")["proof"]
            _need(isinstance(proof, dict) and proof.get("kind") != "merged", "a merged certificate needs one of types")
            return entropy(columns) - entropy(_column_sums(counts_of(types))) + optimum_bound(types, promise, proof)
        averages = promise.averages
        priced = {"average_prices"} if averages else set()
        _keys(certificate, {"kind", "bits", "prices"} | priced | _PROOFS[kind], "certificate")
        alone = kind in ("pairs", "local")
        _need(not alone or len(blocks) == 1, f"{kind} cannot prove a bound after other releases")
        _need(not alone or not averages, f"{kind} cannot prove a bound for a promise on average")
        bits, most = certificate["bits"], _MOST_CERTIFICATE_BITS
        _need(type(bits) is int and 1 <= bits <= most, f"the certificate's bits must be from 1 to {most}")
        prices = _row(certificate["prices"], len(columns), "prices", negative=True)
        paid = Fraction(sum(u * n for u, n in zip(prices, columns, strict=True)), sum(columns) << bits)
        of_averages = _row(certificate["average_prices"], len(averages), "average_prices") if averages else []
        budgets = arb(0)
        for price, own in zip(of_averages, averages, strict=True):
            budgets += _ball(Fraction(price, 1 << bits)) * own.budget
        if isinstance(utility, _Pieces):
            return utility.bound(blocks, promise, certificate, prices, _ball(paid) - budgets)
        least: dict[str, Callable[..., arb]] = {
            "tree": partial(_least_over_tree, utility),
            "pairs": _least_over_pairs,
            "local": _least_over_lifts,
        }
        return utility.before(columns) - _ball(paid) + budgets - least[kind](blocks, promise, certificate, prices)


def merged_blocks(blocks: list[Matrix]) -> list[Matrix]:
    """The blocks with symbols whose columns are proportional as one, then secrets whose rows are; each over all blocks.

    Both in the order of their first occurrence. Step 5a.
    """
    stacked = [row for block in blocks for row in block]  # [block and s][x]
    stacked = _transposed(_with_proportional_added(_transposed(stacked)))
    size, secrets = len(stacked[0]), len(blocks[0])
    by_secret = [[n for row in stacked[s::secrets] for n in row] for s in range(secrets)]  # [s][block and x]
    rows = _with_proportional_added(by_secret)
    return [[row[first : first + size] for row in rows] for first in range(0, len(rows[0]), size)]


def _with_proportional_added(rows: Matrix) -> Matrix:
    """The rows, those that are proportional to each other added up. Step 5a."""
    multiples: dict[tuple[int, ...], int] = {}  # of rows without a common divisor
    for row in rows:
        divisor = gcd(*row)
        shape = tuple(entry // divisor for entry in row)
        multiples[shape] = multiples.get(shape, 0) + divisor
    return [[multiple * entry for entry in shape] for shape, multiple in multiples.items()]


def _transposed(matrix: Matrix) -> Matrix:
    return [list(column) for column in zip(*matrix, strict=True)]


# --- 9. Boxes: their bounds (steps 7 and 7a), and trees of them that cover the simplex (step 8) ---

Ends = tuple[list[int], list[int]]  # low <= V <= high, over 2^bits


def _least_over_tree(
    utility: Utility, blocks: list[Matrix], promise: Promise, certificate: Any, prices: list[int]
) -> arb:
    """The least bound over the leaves and slabs of a tree of boxes that covers the simplex. Step 8."""
    bounds = _Bounds(utility, blocks, promise, certificate, prices)
    nodes = iter(bounds.tree)
    bounds.follow(nodes, bounds.unit_box)
    _need(next(nodes, None) is None, "the tree does not end with its last leaf")
    return bounds.least()


def _is_trim(node: Any) -> bool:
    """Whether a node of a tree is [dual, code, place, ...] with different codes. Step 8."""
    good = isinstance(node, list) and len(node) >= 3 and len(node) % 2 == 1
    good = good and all(type(entry) is int and entry >= 0 for entry in node)
    return good and len(set(node[1::2])) == len(node) // 2


def closed(low: list[int], high: list[int], one: int) -> list[int]:
    """The upper ends of a box, none above what the others' lower ends leave of 1. Step 8."""
    unfilled = max(one - sum(low), 0)
    return [min(b, a + unfilled) for a, b in zip(low, high, strict=True)]


class _Bounds:
    """What the duals of a certificate prove about boxes; the least of that is kept, in integers over 4^bits.

    A dual (w, nu) gives a box the bound constant + sum_x min over both ends v of (phi_x(v) - c_x v), see `_dual_terms`; phi_x,
    the constant and -c are rounded down. Steps 7 and 8.
    """

    def __init__(
        self, utility: Utility, blocks: list[Matrix], promise: Promise, certificate: Any, prices: list[int]
    ) -> None:
        bits, duals, self.tree = certificate["bits"], certificate["duals"], certificate["tree"]
        _need(isinstance(duals, list) and isinstance(self.tree, list), "duals and tree must be lists")
        self.one, self._size, self._duals = 1 << bits, len(prices), len(duals)
        self._phi = utility.curves(_column_sums(counts_of(blocks)), bits)
        self._work, columns = 0, _Columns(blocks)
        of_averages = certificate.get("average_prices", [])
        self._found: int | float = math.inf  # until there is a bound

        def terms(dual: int) -> tuple[int, list[int]]:
            self._count(len(prices) * len(blocks) * len(blocks[0]))
            return _dual_terms(columns, promise, duals[dual], prices, of_averages, bits)

        self._terms = lru_cache(_MOST_KEPT // len(prices) + 1)(terms)

    @property
    def unit_box(self) -> Ends:
        return [0] * self._size, [self.one] * self._size

    def least(self) -> arb:
        """The least bound of all boxes that hold a distribution."""
        _need(isinstance(self._found, int), "no box of the tree holds a distribution")
        return _ball(Fraction(int(self._found), self.one * self.one))

    def follow(self, nodes: Iterator[Any], box: Ends) -> None:
        """Bound the boxes of a tree that begins with this box; its nodes are the next ones, in preorder.

        [dual] is a leaf, [symbol, place] splits a box, [dual, code, place, ...] cuts slabs off it. Step 8.
        """
        boxes = [box]  # those to come, the next one last
        while boxes:
            node: Any = next(nodes, None)
            good = isinstance(node, list) and len(node) > 0 and all(type(i) is int and i >= 0 for i in node)
            _need(
                good and len(boxes) * self._size <= _MOST_PENDING,
                "a node of the tree is malformed, missing or too deep",
            )
            low, high = boxes.pop()
            high = closed(low, high, self.one)
            if len(node) == 1:
                self._leaf(node[0], low, high)
            elif len(node) == 2:
                symbol, place = node
                _need(symbol < self._size and place <= self.one, "a split lies outside of the simplex")
                below, above = high.copy(), low.copy()
                below[symbol], above[symbol] = min(place, high[symbol]), max(place, low[symbol])
                boxes += [(above, high), (low, below)]
            else:
                _need(_is_trim(node), "a node of the tree is malformed, missing or too deep")
                boxes.append(self.trimmed(node, low, high))

    def _leaf(self, dual: int, low: list[int], high: list[int]) -> None:
        """Keep the bound that a dual gives a box, unless it holds no distribution. Step 7."""
        bounds = self._of(dual, low, high)
        if bounds is not None:
            self._found = min(self._found, bounds[0])

    def trimmed(self, node: list[int], low: list[int], high: list[int]) -> Ends:
        """The box without its slabs V_x >= place (code 2 x + 1) or V_x <= place (code 2 x), whose bounds are kept.

        They are bounded as parts of the whole box: each differs from it by one term. Step 8.
        """
        dual, codes, places = node[0], node[1::2], node[2::2]
        _need(max(codes) < 2 * self._size and max(places) <= self.one, "a slab lies outside of the simplex")
        bounds, left, right = self._of(dual, low, high), low.copy(), high.copy()
        least, most = sum(low), sum(high)
        for code, place in zip(codes, places, strict=True):
            x, above = divmod(code, 2)
            a, b = (max(place, low[x]), high[x]) if above else (low[x], min(place, high[x]))
            held = a <= b and least - low[x] + a <= self.one <= most - high[x] + b
            if held and bounds is not None:
                whole, rates, lesser = bounds
                phi, rate = self._phi[x], rates[x]
                own = min(phi[a] - rate * a, phi[b] - rate * b)
                self._found = min(self._found, whole - lesser[x] + own)
            if above:
                right[x] = min(right[x], place)
            else:
                left[x] = max(left[x], place)
        return left, right

    def _of(self, dual: int, low: list[int], high: list[int]) -> tuple[int, list[int], list[int]] | None:
        """The box's bound by a dual, its c, and the lesser end's term for every x; none if it holds no distribution. Step 7."""
        _need(dual < self._duals, "a node has no dual")
        self._count(self._size)
        if not sum(low) <= self.one <= sum(high) or any(map(operator.gt, low, high)):
            return None
        constant, rates = self._terms(dual)
        terms = zip(self._phi, low, high, rates, strict=True)
        lesser = [min(phi[a] - c * a, phi[b] - c * b) for phi, a, b, c in terms]
        return constant + sum(lesser), rates, lesser

    def _count(self, numbers: int) -> None:
        self._work += numbers
        _need(self._work <= _MOST_BOUNDED, "the tree has too many boxes for so many symbols")


def _floor(value: arb, bits: int) -> int:
    """An integer n with n / 2^bits at most value, and nearly equal. Step 7."""
    mantissa, exponent = (value.lower() * (1 << bits)).lower().man_exp()
    return int(mantissa) << int(exponent) if exponent >= 0 else int(mantissa) >> -int(exponent)


class _Columns:
    """Means of w in the columns of all blocks: sum_bs w_bs P(s, b|x), rounded down. Step 7."""

    def __init__(self, blocks: list[Matrix]) -> None:
        self.prior, self.blocks = prior_of(blocks), len(blocks)
        self._matrix, self._sums = fmpz_mat([row for block in blocks for row in block]), _column_sums(counts_of(blocks))

    def means(self, w: list[int]) -> list[int]:
        products = (fmpz_mat([w]) * self._matrix).entries()
        return [int(own) // total for own, total in zip(products, self._sums, strict=True)]


def _dual_terms(
    columns: _Columns, promise: Promise, dual: Any, prices: list[int], of_averages: list[int], bits: int
) -> tuple[int, list[int]]:
    """Of a dual (w, nu): the constant of its bound rounded down, over 4^bits, and c rounded up, over 2^bits.

    One block: the constant is nu - sigma(w), and c = u + nu - w P(S|X). Several: each has a w of its own, whose sigma is
    multiplied by P(block|x), so it is taken from every w of the block; the constant is nu. Steps 7 and 7a.
    """
    size = promise.dual_size(len(columns.prior))
    *entries, nu = _row(dual, size * columns.blocks + 1, "a dual", negative=True)
    constant, w = nu << bits, []
    for first in range(0, len(entries), size):
        own, sigma = promise.support(entries[first : first + size], columns.prior, 1 << bits, of_averages)
        if columns.blocks == 1:
            constant += _floor(-sigma, 2 * bits)
        else:
            own = [entry + _floor(-sigma, bits) for entry in own]
        w += own
    return constant, [price + nu - mean for price, mean in zip(prices, columns.means(w), strict=True)]


# --- 10. Two secrets: all pairs of symbols at the ends of an interval (step 9) ---

Symbol = tuple[Fraction, int]  # how far its deviation is from an end, and its price over 2^bits


def _least_over_pairs(blocks: list[Matrix], promise: Promise, certificate: Any, prices: list[int]) -> arb:
    """The least value over all extreme V whose first lift, minus one, lies between the two ends. Step 9."""
    (counts,), one, least = blocks, 1 << certificate["bits"], arb("inf")
    low, high = _outer_ends(counts, promise, certificate)
    highest = _highest_prices(counts, prices)
    for deviation, price in highest.items():
        least = least.min(-_ball(Fraction(price, one))) if low <= deviation <= high else least
    for end in (low, high):
        below = sorted((end - deviation, price) for deviation, price in highest.items() if deviation < end)
        above = sorted((deviation - end, price) for deviation, price in highest.items() if deviation > end)
        for (down, x), (up, y) in _least_pairs(below, above, one):
            share, rest = _ball(down / (down + up)), _ball(up / (down + up))
            u_x, u_y = _ball(Fraction(x, one)), _ball(Fraction(y, one))
            least = least.min(-share * (share.log() + u_y) - rest * (rest.log() + u_x))
    return least


def _outer_ends(counts: Matrix, promise: Promise, certificate: Any) -> list[Fraction]:
    """The certificate's ends, proven to lie outside of the promise, or where no lift reaches. Step 9."""
    ends = [Fraction(end, 1 << certificate["bits"]) for end in _row(certificate["ends"], 2, "ends", negative=True)]
    _need(len(counts) == 2 and ends[0] < 0 < ends[1], "pairs need two secrets and an end on either side")
    first, second = prior = prior_of([counts])
    for end in ends:
        lifts = [1 + end, 1 - end * Fraction(first, second)]
        outside = min(lifts) <= 0 or promise.excludes_beyond([_rational(lift) for lift in lifts], prior)
        _need(outside, "an end of the certificate is not proven to lie outside of the promise")
    return ends


def _highest_prices(counts: Matrix, prices: list[int]) -> dict[Fraction, int]:
    """Deviation d_x -> the highest price of its symbols: the others are never less. Step 9."""
    (first, second), highest = prior_of([counts]), dict[Fraction, int]()
    for price, a, b in zip(prices, *counts, strict=True):
        deviation = Fraction(a * (first + second), first * (a + b)) - 1
        highest[deviation] = max(price, highest.get(deviation, price))
    return highest


def _least_pairs(below: list[Symbol], above: list[Symbol], one: int) -> Iterator[tuple[Symbol, Symbol]]:
    """The pair of the least value among those that mix to an end, and all that floats cannot tell from it.

    Symbols are sorted by their distance from the end. A run of those above is passed by if not even its highest price at
    its nearest or farthest distance has a value as low as one that was found: the value is concave in the share. Step 9.
    """
    left, right = ([(float(gap), price / one) for gap, price in side] for side in (below, above))
    largest = max([abs(price) for _, price in left + right], default=0.0)
    good = all(_LEAST_GAP < gap < _LARGEST_GAP for gap, _ in left + right)
    _need(good, "a symbol is too near to an end, or too far, for floats")
    _need(largest < _LARGEST_PRICE, "a price is too large for floats")
    margin = _MARGIN * (1 + largest)
    size = math.isqrt(len(right)) + 1
    starts = range(0, len(right), size)
    runs = [(right[i][0], right[i : i + size][-1][0], max(u for _, u in right[i : i + size]), i) for i in starts]
    looks, limit, found = 0, math.inf, list[tuple[float, int, int]]()
    for x, (down, u) in enumerate(left):
        for near, far, top, start in runs:
            looks += 2
            if _pair_value(down, near, u, top) > limit and _pair_value(down, far, u, top) > limit:
                continue
            for y, (up, price) in enumerate(right[start : start + size], start):
                value = _pair_value(down, up, u, price)
                if value <= limit:
                    found.append((value, x, y))
                    limit = min(limit, value + margin)
            looks += size
        found = [pair for pair in found if pair[0] <= limit]
        _need(looks <= _MOST_LOOKS and len(found) <= _MOST_NEAR, "too many pairs have to be looked at")
    return ((below[x], above[y]) for _, x, y in found)


def _pair_value(down: float, up: float, u_x: float, u_y: float) -> float:
    """H(V) - u.V of the two symbols at these distances from the end that they are mixed to, in floats. Step 9."""
    share, rest = down / (down + up), up / (down + up)
    return -share * (math.log(share) + u_y) - rest * (math.log(rest) + u_x)


# --- 10a. S = X: a lift for every symbol, bounded one by one (step 9a) ---


@dataclass(frozen=True)
class _Sum:
    """A constraint sum_x p_x psi(l_x) <= budget: psi is l^order / scale (budget 1), l log l, or |l - 1| / 2. Step 9a."""

    kind: str  # power, entropy or distance
    budget: arb
    order: arb | None = None
    scale: arb | None = None

    def psi(self, lift: Fraction) -> arb:
        if self.kind == "distance":
            return _ball(abs(lift - 1) / 2)
        if not lift:
            return arb(0)
        if self.order is None or self.scale is None:
            return _ball(lift) * _ball(lift).log()
        return _ball(lift) ** self.order / self.scale


def _sum_of(component: Component) -> _Sum | None:
    """What the promise asks of a sum over all symbols; none where it asks for ends of every lift. Step 9a."""
    if isinstance(component, AlphaLift) and component.alpha is not None:
        return _Sum("power", arb(1), _ball(component.alpha), _ball(component.alpha * component.epsilon).exp())
    if isinstance(component, ChiSquare):
        return _Sum("power", arb(1), arb(2), _ball(1 + component.epsilon**2))
    if isinstance(component, KL):
        return _Sum("entropy", _ball(component.epsilon))
    return _Sum("distance", _ball(component.epsilon)) if isinstance(component, TotalVariation) else None


def _lift_ends(component: Component, share: Fraction, one: int) -> tuple[int, int]:
    """Between what the promise allows the lift of a symbol with this share, over `one` and rounded outwards. Step 9a."""
    low, high = arb(0), _ball(1 / share)
    if isinstance(component, AlphaLift | ChiSquare):
        own = _sum_of(component)
        if own is not None and own.order is not None and own.scale is not None:
            high = (own.scale / _ball(share)) ** (1 / own.order)
        elif isinstance(component, AlphaLift):
            high = _ball(component.epsilon).exp()
    elif isinstance(component, LIP):
        low, high = _ball(-component.lower).exp(), _ball(component.upper).exp()
    elif isinstance(component, TotalVariation):
        low, high = _ball(max(1 - component.epsilon / share, Fraction(0))), _ball(1 + component.epsilon / share)
    return _floor(low * one, 0), -_floor(-high * one, 0)


@dataclass(frozen=True)
class _Local:
    """S = X: shares p_x, the first box of lifts over `one`, sums, and the ratio of two lifts where there are no others. Step 9a."""

    one: int
    shares: list[Fraction]
    low: list[int]
    high: list[int]
    sums: list[_Sum]
    ray: arb | None  # the t of lifts that are m or t m

    @classmethod
    def of(cls, counts: Matrix, promise: Promise, one: int) -> _Local:
        """Of a joint in which every symbol has a secret of its own. Step 9a."""
        lines = [*counts, *zip(*counts, strict=True)]
        _need(all(sum(map(bool, line)) == 1 for line in lines), "local needs a secret of its own for every symbol")
        masses, known = _column_sums(counts), promise.components
        shares = [Fraction(mass, sum(masses)) for mass in masses]
        if promise.perfect:
            return cls(one, shares, [one] * len(shares), [one] * len(shares), [], None)
        if len(known) == 1 and isinstance(known[0], LDP):
            ray = _ball(known[0].epsilon).exp()
            most = max(-_floor(-ray * one, 0), one + 1)
            return cls(one, shares, [one] * len(shares), [most] * len(shares), [], ray)
        _need(not any(isinstance(component, LDP) for component in known), "local knows LDP alone")
        ends = [[_lift_ends(component, share, one) for component in known] for share in shares]
        tops = [-(-one * share.denominator // share.numerator) for share in shares]  # no V_x exceeds 1
        low = [max(end for end, _ in own) for own in ends]
        high = [min([top, *(end for _, end in own)]) for top, own in zip(tops, ends, strict=True)]
        return cls(one, shares, low, high, [own for own in map(_sum_of, known) if own is not None], None)


@dataclass(frozen=True)
class _Counted:
    """From `least` to `most` symbols of the group have a lift at `place` or beyond it. Step 9a."""

    place: int
    group: int
    least: int
    most: int


_LiftCell = tuple[list[int], list[int], list[_Counted]]  # low, high, counts in rising order of their places


def _least_over_lifts(blocks: list[Matrix], promise: Promise, certificate: Any, prices: list[int]) -> arb:
    """The least bound over the leaves of a tree that covers the first box of lifts. Step 9a."""
    (counts,), one, duals, least = blocks, 1 << certificate["bits"], certificate["duals"], arb("inf")
    local = _Local.of(counts, promise, one)
    groups = certificate["groups"]
    _need(
        all(isinstance(value, list) for value in (duals, groups, certificate["tree"])),
        "groups, duals and tree must be lists",
    )
    for group in groups:
        good = isinstance(group, list) and all(type(x) is int and 0 <= x < len(prices) for x in group)
        _need(good and len(set(group)) == len(group), "a group must be different symbols")
    logs = [_ball(share).log() for share in local.shares]
    found = False
    for number, cell in _lift_cells(certificate["tree"], local, groups):
        _need(number < len(duals), "a leaf has no dual")
        size = 1 + len(local.sums) + len(cell[2])
        dual = [Fraction(own, one) for own in _row(duals[number], size, "a dual", negative=True)]
        _need(min(dual[1 : 1 + len(local.sums)], default=Fraction(0)) >= 0, "a dual has a negative multiplier of a sum")
        found = True
        if _has_lifts(local, cell):
            rates = [_ball(Fraction(price, one) + dual[0]) + log for price, log in zip(prices, logs, strict=True)]
            least = least.min(_LiftLeaf(local, cell, dual, rates).bound([set(group) for group in groups]))
    _need(found, "the tree does not cover the lifts")
    return least


def _lift_cells(tree: list[Any], local: _Local, groups: list[list[int]]) -> Iterator[tuple[int, _LiftCell]]:
    """The dual's number and the cell of every leaf. The tree is in preorder. Step 9a.

    [symbol, place] splits a box, [group, place, most] a count: at most so many beyond the place, or more; [dual] is a leaf.
    """
    cells: list[_LiftCell] = [(local.low, local.high, [])]
    size = len(local.shares)
    for node in tree:
        good = isinstance(node, list) and 1 <= len(node) <= 3 and all(type(i) is int and i >= 0 for i in node)
        _need(good and 0 < len(cells) * size <= _MOST_PENDING, "a node of the tree is malformed, too many or too deep")
        low, high, counted = cells.pop()
        if len(node) == 1:
            yield node[0], (low, high, counted)
        elif len(node) == 2:
            symbol, place = node
            _need(symbol < size, "a split has no symbol")
            below, above = high.copy(), low.copy()
            below[symbol], above[symbol] = min(place, high[symbol]), max(place, low[symbol])
            cells += [(above, high, counted), (low, below, counted)]
        else:
            group, place, most = node
            _need(
                group < len(groups) and len(counted) < _MOST_COUNTS, "a split has no group, or counts too many places"
            )
            known = [own for own in counted if (own.group, own.place) == (group, place)]
            others = [own for own in counted if (own.group, own.place) != (group, place)]
            at = sum(own.place <= place for own in others)
            limits = (known[0].least, known[0].most) if known else (0, len(groups[group]))
            for least, largest in ((max(most + 1, limits[0]), limits[1]), (limits[0], min(most, limits[1]))):
                cells.append((low, high, [*others[:at], _Counted(place, group, least, largest), *others[at:]]))
    _need(not cells, "the tree does not cover the lifts")


def _has_lifts(local: _Local, cell: _LiftCell) -> bool:
    """Whether the cell may have lifts of mean 1: where it plainly has none, it needs no bound. Step 9a."""
    low, high, counted = cell
    if any(map(operator.gt, low, high)) or any(own.least > own.most for own in counted):
        return False
    least, most = (sum(map(operator.mul, local.shares, ends), Fraction(0)) for ends in (low, high))
    return local.ray is not None or least <= local.one <= most


class _LiftLeaf:
    """The bound of one leaf: f(l) = -l log l + sum_k mu_k psi_k(l) is least for every symbol alone. Step 9a."""

    def __init__(self, local: _Local, cell: _LiftCell, dual: list[Fraction], rates: list[arb]) -> None:
        self.local, self.cell, self.rates = local, cell, rates
        self.nu, self.multipliers = dual[0], dual[1 : 1 + len(local.sums)]
        self.of_counts = dual[1 + len(local.sums) :]
        self._smooth = [
            (_ball(mu), own)
            for mu, own in zip(self.multipliers, local.sums, strict=True)
            if mu and own.kind != "distance"
        ]
        pairs = zip(self.multipliers, local.sums, strict=True)
        self.kink = sum((mu for mu, own in pairs if own.kind == "distance"), Fraction(0))
        self._values: dict[int, arb] = {}
        self.concave_to, self.convex_from = self._inflection(max(cell[1]))

    def bound(self, groups: list[set[int]]) -> arb:
        """The Lagrangian's least: nothing in the cell is below it. Step 9a."""
        total = arb(0)
        for mu, own in zip(self.multipliers, self.local.sums, strict=True):
            total -= _ball(mu) * own.budget
        for multiplier, count in zip(self.of_counts, self.cell[2], strict=True):
            total -= _ball(max(multiplier * count.least, multiplier * count.most))
        for x in range(len(self.rates)):
            total += self._of_symbol(x, groups)
        if self.local.ray is None:
            return total + _ball(self.nu)
        _need(bool(total > 0), "a leaf of LDP has no bound")
        return _ball(self.nu) + 1 + total.log()

    def _of_symbol(self, x: int, groups: list[set[int]]) -> arb:
        """The least of p (f(l) - rate l) and the multipliers of the places that l has passed. Step 9a."""
        start, end, passed, least = self.cell[0][x], self.cell[1][x], Fraction(0), arb("inf")
        share = _ball(self.local.shares[x])
        for multiplier, own in zip(self.of_counts, self.cell[2], strict=True):
            if x in groups[own.group]:
                if start <= min(own.place, end):
                    least = least.min(share * self._between(start, min(own.place, end), x) + _ball(passed))
                start, passed = max(start, own.place), passed + multiplier
        if start <= end:
            least = least.min(share * self._between(start, end, x) + _ball(passed))
        return least

    def _between(self, start: int, end: int, x: int) -> arb:
        """The least of f(l) - rate l between two places, cut where |l - 1| and the curvature change. Step 9a."""
        if self.local.ray is not None:
            return self._of_two(start, end, self.rates[x])
        cuts = {self.local.one} if self.kink else set()
        cuts |= {self.concave_to, self.convex_from}
        places = [start, *sorted(cut for cut in cuts if start < cut < end), end]
        least = arb("inf")
        for a, b in pairwise(places):
            least = least.min(self._on_piece(a, b, self.rates[x]))
        return least

    def _of_two(self, start: int, end: int, rate: arb) -> arb:
        """The same of the lifts 1 and t, where the last place stands for t itself. Step 9a."""
        least, ray = arb("inf"), self.local.ray
        if start <= self.local.one <= end:
            least = -rate
        if ray is not None and start <= self.local.high[0] <= end:
            least = least.min(-ray * (ray.log() + rate))
        return least

    def _on_piece(self, a: int, b: int, rate: arb) -> arb:
        """Concave: the lesser end. Else the tangent of what is convex and, where f is neither, the ends of the rest. Step 9a."""
        ends = [self._value(a) - rate * self._at(a), self._value(b) - rate * self._at(b)]
        if a == b or b <= self.concave_to:
            return ends[0].min(ends[1])
        if a >= self.convex_from:
            touch = self._touching(a, b, float(rate.mid()))
            if touch == 0:
                return arb("-inf")
            slope, lift = self._slope(touch, a >= self.local.one), self._at(touch)
            level = self._value(touch) - rate * lift
            return (level + (slope - rate) * (self._at(a) - lift)).min(level + (slope - rate) * (self._at(b) - lift))
        # f = -l log l + convex: at both ends the first, and the second by its tangent at b.
        minus = [self._at(c) * self._at(c).log() if c else arb(0) for c in (a, b)]
        slope = self._slope(b, a >= self.local.one) + self._at(b).log() + 1
        tangent = self._value(b) + minus[1] + slope * (self._at(a) - self._at(b))
        return (tangent - minus[0] - rate * self._at(a)).min(ends[1])

    def _at(self, place: int) -> arb:
        return _ball(Fraction(place, self.local.one))

    def _value(self, place: int) -> arb:
        """f at a place; each is computed once. Step 9a."""
        if place not in self._values:
            lift = Fraction(place, self.local.one)
            value = -self._at(place) * self._at(place).log() if place else arb(0)
            for mu, own in self._smooth:
                value += mu * own.psi(lift)
            self._values[place] = value + _ball(self.kink * abs(lift - 1) / 2)
        return self._values[place]

    def _slope(self, place: int, above: bool) -> arb:
        """f' at a place above 0, on the side of 1 that is named. Step 9a."""
        lift = self._at(place)
        slope = -lift.log() - 1 + _ball(self.kink / 2 if above else -self.kink / 2)
        for mu, own in self._smooth:
            if own.order is None or own.scale is None:
                slope += mu * (lift.log() + 1)
            else:
                slope += mu * own.order * lift ** (own.order - 1) / own.scale
        return slope

    def _bend(self, place: int) -> arb:
        """l f''(l), which rises with l. Step 9a."""
        bend = arb(-1)
        for mu, own in self._smooth:
            if own.order is None or own.scale is None:
                bend += mu
            elif place:
                bend += mu * own.order * (own.order - 1) * self._at(place) ** (own.order - 1) / own.scale
        return bend

    def _inflection(self, most: int) -> tuple[int, int]:
        """Places up to where f is proven to be concave, and from where convex; -1 and most + 1 where that is nowhere. Step 9a."""
        if not self._smooth:
            return most, most + 1
        low, high = -1, most + 1  # convexity is not proven at low, and is at high, where there is one
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._bend(middle) >= 0 else (middle, high)
        first, low, high = high, -1, high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._bend(middle) <= 0 else (low, middle)
        return low, first

    def _touching(self, a: int, b: int, rate: float) -> int:
        """A place above 0 between two others, where f' is about the rate: any would do, in floats a good one is found."""
        low, high = math.log(max(a, 1) / self.local.one), math.log(b / self.local.one)
        powers = [
            (float(mu.log()), float(own.order), float(own.scale.log()))
            for mu, own in self._smooth
            if own.order is not None and own.scale is not None
        ]
        entropy = sum(float(mu) for mu, own in self._smooth if own.order is None) - 1
        rate -= float(self.kink) / 2 * (1 if a >= self.local.one else -1)
        for _ in range(60):
            middle = (low + high) / 2
            slope = entropy * (middle + 1)
            for log_mu, order, log_scale in powers:
                slope += order * math.exp(min(log_mu + (order - 1) * middle - log_scale, 700.0))
            low, high = (middle, high) if slope < rate else (low, middle)
        return min(max(round(math.exp((low + high) / 2) * self.local.one), max(a, 1)), b)


# --- 11. Verdicts: what a file claims, and whether that is proven ---


@dataclass(frozen=True)
class Verdict:
    """One claim, whether it is proven, and the figure or the reason."""

    claim: str
    proven: bool
    text: str


@dataclass(frozen=True)
class _Stated:
    """A file of good form: what it claims, and from what that may be proven, if it is not withheld."""

    integers: Integers
    promise: Promise
    margin: dict[str, Any] | None  # none: it states none
    utility: Utility | None  # none: it claims no figures
    claims: dict[str, str]
    earlier: int  # mechanisms that it comes after
    evidence: Evidence | None


def check(document: Any, opening: Any = None) -> list[Verdict]:
    """A verdict for every claim of a file; `opening` reveals the counts of a file that withholds them."""
    try:
        file = _stated(document, opening)
    except RefusedError as refusal:
        return [Verdict("form", False, str(refusal))]
    form = Verdict("form", True, f"every column sums to 2^{file.integers.bits}; identity {file.integers.identity}")
    return [form, *(_verdict(claim, text, file) for claim, text in _claims(file).items())]


def _stated(document: Any, opening: Any) -> _Stated:
    """Everything about the file that needs no proof; refuses what is not of the form that docs/format.md describes."""
    _need(isinstance(document, dict), "the file must be an object")
    kind, version = document.get("format"), document.get("version")
    known = kind == "alphalift-mechanism" and _is_version(version)
    _need(known, "not a file of this format, or of a version that is not known")
    _keys(document, _VERSIONS[version], "the file")
    integers, promise = integers_of(document), promise_of(document["promise"])
    utility = _utility_of_file(document, len(integers.labels["x"]))
    _need(utility is not None or document["certificate"] is None, "a certificate of no utility proves nothing")
    after, margin = document.get("after"), document.get("margin")
    if margin is not None:
        _decimal(_keys(margin, {"errors", "certificate"}, "margin")["errors"], "errors")
        _need(utility is not None or margin["certificate"] is None, "a certificate of no utility proves nothing")
        _need(after is None, "a margin after other releases is not known")
    figures = set() if utility is None else {*_FIGURES} - (set() if margin else {_WITH_MARGIN})
    claims = _keys(document["claims"], figures, "claims")
    for name in figures:
        _decimal(claims[name], name)
    provenance = _keys(document["provenance"], {"package", "solver", "status"}, "provenance")
    _need(all(isinstance(text, str) for text in provenance.values()), "provenance must be texts")
    _need_table(document.get("table"), integers)
    _need(after is None or integers.unseen is None, "unseen values have no proof after other releases")
    on_average = any(isinstance(component, OnAverage) for component in promise.components)
    _need(after is None or not on_average, "a promise on average has no proof after other releases")
    _need("utility" in document or not on_average, "versions before 4 know no promise on average")
    evidence = _evidence(document, opening)
    _need(margin is None or "counts" in document["joint"], "a file that withholds its joint must withhold its margin")
    earlier = 0 if after is None else len(after["sealed" if "sealed" in after else "mechanisms"])
    return _Stated(integers, promise, margin, utility, claims, earlier, evidence)


def _utility_of_file(document: dict[str, Any], symbols: int) -> Utility | None:
    """Files knew no other utility than mutual information before they stated it."""
    return utility_of(document["utility"], symbols) if "utility" in document else MutualInformation()


_WITH_MARGIN = "optimum_with_margin_at_most"
_FIGURES = ("utility_at_least", "optimum_at_most", _WITH_MARGIN)


def _claims(file: _Stated) -> dict[str, str]:
    """What is claimed, in words."""
    count = file.earlier
    mechanisms = f"the {count} mechanism{'s' * (count != 1)} that it comes after"
    together = f", for its outputs together with those of {mechanisms}" if count else ""
    texts = {"promise": file.promise.text + together}
    if file.integers.unseen is not None:
        texts["unseen values"] = file.promise.text
    figures = {} if file.utility is None else {name: file.utility.amount(text) for name, text in file.claims.items()}
    if file.utility is not None:
        texts["utility"] = f"{file.utility.text} is at least {figures['utility_at_least']}"
        texts["optimum"] = f"no mechanism that keeps the promise has more than {figures['optimum_at_most']}"
    if file.margin is not None:
        of = f"of {sum(map(sum, counts_of(file.evidence.blocks)))} records " if file.evidence else ""
        texts["margin"] = f"{file.promise.text} with {file.margin['errors']} standard errors {of}to spare"
    if _WITH_MARGIN in figures:
        texts["optimum with margin"] = f"no mechanism that leaves this margin has more than {figures[_WITH_MARGIN]}"
    return texts


def _verdict(claim: str, text: str, file: _Stated) -> Verdict:
    if file.evidence is None:
        return Verdict(claim, False, f"{text}: the joint is withheld; its opening is needed")
    try:
        with ctx.workprec(_FIRST_PRECISION):
            return Verdict(claim, _proves(claim, file, file.evidence), text)
    except (RefusedError, ArithmeticError, ValueError) as refusal:
        return Verdict(claim, False, f"{text}: {refusal}")


def _proves(claim: str, file: _Stated, evidence: Evidence) -> bool:
    """Whether the claim is proven; where outputs break the promise it is refused, with their number."""
    integers, promise, blocks, certificate = file.integers, file.promise, evidence.blocks, evidence.certificate
    counts = counts_of(blocks)
    if file.margin is not None and "margin" in claim:
        promise, blocks = with_margin(promise, _decimal(file.margin["errors"], claim), blocks)
        certificate = file.margin["certificate"]
    if claim.startswith("optimum"):
        best = _decimal(file.claims["optimum_at_most" if claim == "optimum" else _WITH_MARGIN], claim)
        return bool(optimum_bound(blocks, promise, certificate, file.utility) <= _ball(best))
    if claim == "utility" and file.utility is not None:
        worth = _decimal(file.claims["utility_at_least"], claim)
        return worth == 0 or bool(_ball(worth) <= file.utility.worth(_column_sums(counts), integers))
    broken = broken_outputs(blocks, integers.weights, promise)
    if claim == "unseen values" and not broken:
        broken = broken_unseen(counts, integers, promise)
    _need(not broken, f"not proven for {len(broken)} outputs, the first is number {broken[:1]}")
    above = broken_averages(blocks, integers.weights, promise)
    if claim == "unseen values" and not above:
        above = broken_averages_unseen(counts, integers, promise)
    _need(not above, "not proven on average")
    return True


# --- 12. Command line ---


def check_files(paths: list[str]) -> list[Verdict]:
    """A verdict for each claim of a file, with its opening if there is one; a file that cannot be read has no form."""
    try:
        return check(*(read(path) for path in paths))
    except RefusedError as error:
        return [Verdict("form", False, str(error))]
    except OSError as error:
        return [Verdict("form", False, f"{error.filename} cannot be read: {str(error.strerror).lower()}")]


def main(arguments: list[str]) -> int:
    """A line for each claim; 0 if every one is proven, 1 if not."""
    if not 1 <= len(arguments) <= 2 or arguments[0].startswith("-"):
        print("usage: checker.py FILE [OPENING]", file=sys.stderr)
        return 2
    verdicts = check_files(arguments)
    for verdict in verdicts:
        print(f"{'proven' if verdict.proven else 'NOT PROVEN':>10}  {verdict.claim}: {verdict.text}")
    return 0 if all(verdict.proven for verdict in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
