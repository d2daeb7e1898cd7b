"""Check a mechanism file: whether it keeps its promise, what it is worth, how far from optimal it can be.

This module stands alone: it needs Python and python-flint, imports nothing else of alphalift, and may be copied and
run as `python checker.py FILE`. It trusts no solver: every claim is derived again from the integers in the file, in
ball arithmetic or exactly, and holds only if it is proven. docs/format.md describes the file; docs/theory.md ("What
the checker relies on") proves every formula below.
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
from functools import lru_cache, partial
from itertools import product
from math import gcd, prod
from pathlib import Path
from typing import Any

from flint import arb, ctx, fmpq, fmpz_mat

LARGEST_FILE, _MOST_PARTS = 60_000_000, (2_000_000, 100, 8_000_000)  # bytes; lists, objects, entries: they take memory
MOST_BITS, MOST_ALPHA, MOST_EPSILON = 4096, 10**9, 1000
_MOST_DIGITS = 1300  # of one integer: a weight of 4096 bits
_MOST_PENDING = 10_000_000  # numbers in boxes that a tree leaves for later
_MOST_EARLIER = 8  # mechanisms before this one
_MOST_COMBINATIONS, _MOST_TOGETHER = 20_000, 20_000_000  # of their outputs; times cells
_MOST_LOOKS, _MOST_NEAR = 10_000_000, 20_000  # at an end: pairs, or blocks of them, in floats; pairs in balls
_FIRST_PRECISION, _LAST_PRECISION = 128, 8192
_DECIMAL = re.compile(r"[0-9]{1,30}(\.[0-9]{1,400})?", re.ASCII)
_NUMBER = re.compile(r"-?[0-9]{1,400}(\.[0-9]{1,400})?", re.ASCII)
_NAMES = "format version identity labels bits weights unseen joint promise claims certificate provenance"
_NAMES_2 = f"{_NAMES} table after"

Matrix = list[list[int]]
Pair = tuple[Any, Any]  # two balls, or two exact fractions
Symbol = tuple[Fraction, int]  # how far its deviation is from an end, and its price


class RefusedError(Exception):
    """The file cannot be read as a mechanism, or a claim is not proven; the text says which and why."""


@dataclass(frozen=True)
class Verdict:
    """One claim, whether it is proven, and the figure or the reason."""

    claim: str
    proven: bool
    text: str


@dataclass(frozen=True)
class Integers:
    """P(y|x) = weights[y][x] / 2^bits, and unseen[y] / 2^bits for an x outside the alphabet; labels of s, x and y."""

    labels: dict[str, list[str]]
    bits: int
    weights: Matrix
    unseen: list[int] | None

    @property
    def identity(self) -> str:
        """What this mechanism is, whatever is claimed about it: a hash of labels, bits and integers."""
        names = [self.labels[name] for name in "sxy"]
        return _hash([*names, self.bits, self.weights, self.unseen])


def _hash(value: Any) -> str:
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=True)
    return "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest()


def commitment(salt: str, counts: Matrix, cells: Matrix | None = None) -> str:
    """A salted hash that fixes the counts of a joint, and the cells of earlier columns, without showing them."""
    return _hash([salt, counts] if cells is None else [salt, counts, cells])


def sealed_name(salt: str, identity: str, table: Any) -> str:
    """A name for an earlier mechanism and its columns that confirms no guess of its weights, as its identity would."""
    return _hash([salt, identity, table])


def read(path: str | Path) -> Any:
    """The file as plain Python values; refuses what could be read in two ways or is too large."""
    with Path(path).open("rb") as file:
        content = file.read(LARGEST_FILE + 1)
    _need(len(content) <= LARGEST_FILE, f"the file is larger than {LARGEST_FILE} bytes")
    parts = [content.count(sign) for sign in (b"[", b"{", b",")]
    _need(all(map(operator.le, parts, _MOST_PARTS)), "the file has too many lists, objects or entries")
    decoder = json.JSONDecoder(
        object_pairs_hook=_no_duplicates, parse_int=_integer, parse_float=_no_float, parse_constant=_no_float
    )
    try:
        return decoder.decode(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise RefusedError(f"the file is not the JSON that is expected: {type(error).__name__}") from None


def _need(condition: bool, message: str) -> None:
    if not condition:
        raise RefusedError(message)


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


def _integers(value: Any, count: int, what: str, *, negative: bool = False) -> list[int]:
    good = isinstance(value, list) and len(value) == count
    good = good and all(type(number) is int and (negative or number >= 0) for number in value)
    _need(good, f"{what} must be {count} integers{'' if negative else ', none negative'}")
    return list(value)


def _matrix(value: Any, rows: int, columns: int, what: str) -> Matrix:
    _need(isinstance(value, list) and len(value) == rows, f"{what} must be {rows} rows")
    return [_integers(row, columns, f"a row of {what}") for row in value]


def _decimal(text: Any, what: str) -> Fraction:
    _need(isinstance(text, str) and _DECIMAL.fullmatch(text) is not None, f"{what} must be a decimal in quotes")
    return Fraction(text)


def integers_of(document: dict[str, Any]) -> Integers:
    """The mechanism of a file, with everything checked that needs no joint."""
    labels, bits, unseen = _keys(document["labels"], set("sxy"), "labels"), document["bits"], document["unseen"]
    for name, values in labels.items():
        _need(isinstance(values, list) and all(isinstance(label, str) for label in values), "a label is not a text")
        _need(0 < len(values) == len(set(values)), f"{name} has no labels, or one of them twice")
    _need(type(bits) is int and 1 <= bits <= MOST_BITS, f"bits must be an integer from 1 to {MOST_BITS}")
    weights = _matrix(document["weights"], len(labels["y"]), len(labels["x"]), "weights")
    _need(all(sum(column) == 1 << bits for column in zip(*weights, strict=True)), "a column does not sum to 2^bits")
    if unseen is not None:
        unseen = _integers(unseen, len(labels["y"]), "unseen")
        _need(sum(unseen) == 1 << bits, "unseen does not sum to 2^bits")
    mechanism = Integers(labels, bits, weights, unseen)
    _need(document["identity"] == mechanism.identity, "the identity is not that of these labels and integers")
    return mechanism


def revealed(document: dict[str, Any], opening: Any) -> tuple[list[Matrix], Any] | None:
    """The counts of s and x in blocks, and the certificate, or none if the file withholds them and nothing opens it.

    There is one block, or one for each combination of the outputs of the mechanisms that the file comes after.
    """
    joint, labels, after = document["joint"], document["labels"], document.get("after")
    withheld = isinstance(joint, dict) and "commitment" in joint
    _keys(joint, {"commitment"} if withheld else {"counts"}, "joint")
    _need(withheld or opening is None, "the file withholds nothing that could be opened")
    if withheld:
        _need(document["certificate"] is None, "a file that withholds its joint must withhold its certificate")
        named = None if after is None else _texts(_keys(after, {"sealed"}, "after, where it is withheld,"), "sealed")
        if opening is None:
            return None
        expected = {"salt", "counts", "certificate"} | ({"after"} if "after" in document else set())
        after = _keys(opening, expected, "the opening").get("after")
    source = opening if withheld else joint | {"certificate": document["certificate"]}
    counts = _matrix(source["counts"], len(labels["s"]), len(labels["x"]), "counts")
    _need(all(map(sum, counts)) and all(_columns(counts)), "a row or column of counts has no mass")
    if withheld:
        _need(isinstance(source["salt"], str), "the salt must be a text")
    mechanisms, cells = ([], None) if after is None else _earlier(after, counts)
    if withheld:
        listed = [] if after is None else after["mechanisms"]
        names = [sealed_name(source["salt"], own["identity"], own["table"]) for own in listed]
        _need(named == (names or None), "the opening comes after other mechanisms")
        sealed = commitment(source["salt"], counts, cells)
        _need(sealed == joint["commitment"], "the opening is not what was committed to")
    return ([counts] if cells is None else blocks_of(counts, cells, mechanisms)), source["certificate"]


def _earlier(after: Any, counts: Matrix) -> tuple[list[Integers], Matrix]:
    """The earlier mechanisms, and the cells [s, x, x1, ..., xk, count], which add up to the counts of s and x.

    The number |X1| of x1 is a value outside of that mechanism's labels, which it must have answered.
    """
    _keys(after, {"mechanisms", "cells"}, "after")
    listed, cells = after["mechanisms"], after["cells"]
    _need(isinstance(listed, list) and 1 <= len(listed) <= _MOST_EARLIER, f"after has 1 to {_MOST_EARLIER} mechanisms")
    names = {"identity", "labels", "bits", "weights", "unseen", "table"}
    mechanisms = [integers_of(_keys(own, names, "an earlier mechanism")) for own in listed]
    for own in listed:
        if own["table"] is not None:
            _columns_of(_keys(own["table"], {"useful", "bins"}, "an earlier table"), ["useful"])
    _need(isinstance(cells, list), "cells must be a list")
    left = [row.copy() for row in counts]
    for cell in cells:
        s, x, *symbols, count = _integers(cell, len(mechanisms) + 3, "a cell")
        _need(s < len(counts) and x < len(counts[0]) and count > 0, "a cell is out of range, or empty")
        for symbol, own in zip(symbols, mechanisms, strict=True):
            known = symbol < len(own.labels["x"]) + (own.unseen is not None)
            _need(known, "a cell has a value that an earlier mechanism does not answer")
        left[s][x] -= count
    _need(not any(map(any, left)), "the cells do not add up to the counts")
    return mechanisms, cells


def blocks_of(counts: Matrix, cells: Matrix, mechanisms: list[Integers]) -> list[Matrix]:
    """For every combination of earlier outputs, the counts of s and x among records that have it, times 2^(all bits).

    Combinations in rising order; those whose counts are proportional tell the same and are added up to one block.
    """
    combinations = prod(len(own.weights) for own in mechanisms)
    few = combinations * (len(cells) + len(counts) * len(counts[0])) <= _MOST_TOGETHER
    _need(few and combinations <= _MOST_COMBINATIONS, "too many combinations of earlier outputs")
    laws = [[*zip(*own.weights, strict=True), *([own.unseen] if own.unseen else [])] for own in mechanisms]
    found: dict[tuple[int, ...], list[int]] = {}
    for s, x, *symbols, count in cells:
        possible = [[(y, w) for y, w in enumerate(law[i]) if w] for law, i in zip(laws, symbols, strict=True)]
        for outputs in product(*possible):
            block = found.setdefault(tuple(y for y, _ in outputs), [0] * (len(counts) * len(counts[0])))
            block[s * len(counts[0]) + x] += count * prod(w for _, w in outputs)
    shapes: dict[tuple[int, ...], int] = {}
    for _, block in sorted(found.items()):
        shared = gcd(*block)
        shape = tuple(entry // shared for entry in block)
        shapes[shape] = shapes.get(shape, 0) + shared
    rows = range(0, len(counts) * len(counts[0]), len(counts[0]))
    return [
        [[times * entry for entry in shape[i : i + len(counts[0])]] for i in rows] for shape, times in shapes.items()
    ]


def _table(value: Any, mechanism: Integers) -> None:
    """Which columns the symbols came from; nothing is proven about it, but a release acts on it."""
    if value is None:
        return
    _keys(value, {"sensitive", "useful", "bins", "declared", "without_mass"}, "table")
    columns = _columns_of(value, ["sensitive", "useful"])
    _need({*_texts(value, "declared")} <= columns, "a declared column is not one of the table's")
    _need(not {*_texts(value, "without_mass")} & {*mechanism.labels["x"]}, "a value without mass has mass")


def _texts(value: dict[str, Any], name: str) -> list[str]:
    good = isinstance(value[name], list) and all(isinstance(text, str) for text in value[name])
    _need(good and len(set(value[name])) == len(value[name]), f"{name} must be different texts")
    return list(value[name])


def _columns_of(value: dict[str, Any], names: list[str]) -> set[str]:
    """The columns under these names, one or more each, with bins for none but them."""
    _need(all(_texts(value, name) for name in names), f"a table must have columns for {' and '.join(names)}")
    columns = {column for name in names for column in value[name]}
    _need(isinstance(value["bins"], dict) and {*value["bins"]} <= columns, "bins must be of the table's columns")
    for edges in value["bins"].values():
        good = isinstance(edges, list) and len(edges) > 0
        good = good and all(isinstance(edge, str) and _NUMBER.fullmatch(edge) for edge in edges)
        _need(good, "bins must be decimals in quotes")
        numbers = [Fraction(edge) for edge in edges]
        _need(all(map(operator.lt, numbers, numbers[1:])), "bins must rise")
    return columns


def _columns(counts: Matrix) -> list[int]:
    return [sum(column) for column in zip(*counts, strict=True)]


def _ball(value: Fraction | fmpq | int) -> arb:
    return arb(value if isinstance(value, fmpq) else fmpq(value.numerator, value.denominator))


def _decide(pairs: Callable[[], list[Pair]], *, broken: bool = False) -> bool:
    """Whether left <= right in all pairs (`broken`: right <= left in one), at growing precision; undecided is false."""
    precision = _FIRST_PRECISION
    while precision <= _LAST_PRECISION:
        with ctx.workprec(precision):
            found = pairs()
            if broken and (any(right <= left for left, right in found) or all(left < right for left, right in found)):
                return any(right <= left for left, right in found)
            if not broken and (
                all(left <= right for left, right in found) or any(left > right for left, right in found)
            ):
                return all(left <= right for left, right in found)
        precision *= 2
    return False


def _mean(values: Iterable[Any], shares: list[int]) -> Any:
    """E of values of the secrets, of the type that they have."""
    terms = [share * value for share, value in zip(shares, values, strict=True)]
    return sum(terms[1:], terms[0]) / sum(shares)


class Part(ABC):
    """One promise with its parameters. l are the lifts of an output, shares are proportional to P(s).

    sides: pairs left <= right that say that l keeps it. unseen: pairs that say that a law with rho = unseen(y) / P(y)
    keeps it where l does. support: at least E[w l] for every l that keeps it, at any w. docs/theory.md has the proofs.
    """

    names: tuple[str, ...] = ("epsilon",)
    extra = 0  # entries of a dual after the w's
    said = ""
    epsilon: Fraction

    def __init__(self, texts: dict[str, Any]) -> None:
        for name in self.names:
            setattr(self, name, (_order if name in ("alpha", "order") else _budget)(texts[name], name))
        self.text = self.said.format(**texts)

    @property
    def perfect(self) -> bool:
        """Whether l = 1 is all that it allows."""
        return self.epsilon == 0

    @abstractmethod
    def sides(self, lifts: list[fmpq], shares: list[int]) -> list[Pair]: ...

    @abstractmethod
    def unseen(self, rho: fmpq, lifts: list[fmpq]) -> list[Pair]: ...

    @abstractmethod
    def support(self, w: list[Fraction], shares: list[int]) -> arb: ...


class AlphaLift(Part):
    """(E l^alpha)^(1/alpha) <= e^epsilon; alpha None is infinity: max l <= e^epsilon."""

    names, said = ("alpha", "epsilon"), "alpha-lift is at most e^{epsilon} for alpha = {alpha}"
    alpha: Fraction | None

    def __init__(self, texts: dict[str, Any]) -> None:
        if texts.get("alpha") == "inf":
            self.said = "max-lift is at most e^{epsilon}"
        super().__init__(texts)

    def sides(self, lifts: list[fmpq], shares: list[int]) -> list[Pair]:
        if self.alpha is None:
            return [(arb(max(lifts)), _ball(self.epsilon).exp())]
        powers = [_ball(lift) ** _ball(self.alpha) if lift else arb(0) for lift in lifts]
        return [(_mean(powers, shares), _ball(self.alpha * self.epsilon).exp())]

    def unseen(self, rho: fmpq, lifts: list[fmpq]) -> list[Pair]:
        if self.alpha is None:
            return self.sides([rho, max(lifts) / min(rho, fmpq(1))], [])
        slope = 1 + _rational(self.alpha) * (rho - 1)
        return [(_ball(rho) ** _ball(self.alpha), _ball(self.alpha * self.epsilon).exp() * _ball(slope))]

    def support(self, w: list[Fraction], shares: list[int]) -> arb:
        positive, budget = [max(own, Fraction(0)) for own in w], _ball(self.epsilon).exp()
        if self.alpha is None or not any(positive):
            return budget * _ball(_mean(positive, shares))
        power = _ball(self.alpha / (self.alpha - 1))
        return budget * _mean([_ball(own) ** power if own else arb(0) for own in positive], shares) ** (1 / power)


class Renyi(AlphaLift):
    """order/(order - 1) log of alpha-lift at alpha = order is at most epsilon: `epsilon` becomes that of alpha-lift."""

    names, said = ("order", "epsilon"), "the Renyi divergence of order {order} is at most {epsilon}"
    order: Fraction | None

    def __init__(self, texts: dict[str, Any]) -> None:
        super().__init__(texts)
        self.alpha = self.order
        self.epsilon *= 1 if self.order is None else (self.order - 1) / self.order


class LIP(Part):
    """e^-lower <= l <= e^upper."""

    names, said = ("lower", "upper"), "every lift is from e^-{lower} to e^{upper}"
    lower: Fraction
    upper: Fraction

    @property
    def perfect(self) -> bool:
        return min(self.lower, self.upper) == 0

    def sides(self, lifts: list[fmpq], shares: list[int]) -> list[Pair]:
        return [(arb(max(lifts)), _ball(self.upper).exp()), (_ball(-self.lower).exp(), arb(min(lifts)))]

    def unseen(self, rho: fmpq, lifts: list[fmpq]) -> list[Pair]:
        one = fmpq(1)
        return self.sides([rho, max(lifts) / min(one, rho), min(lifts) / max(one, rho)], [])

    def support(self, w: list[Fraction], shares: list[int]) -> arb:
        rise, fall = (_mean([max(sign * own, Fraction(0)) for own in w], shares) for sign in (1, -1))
        return _ball(self.upper).exp() * _ball(rise) - _ball(-self.lower).exp() * _ball(fall)


class LDP(Part):
    """l_s <= e^epsilon l_s' for all s, s'."""

    said = "local differential privacy of the secret holds with epsilon = {epsilon}"

    def sides(self, lifts: list[fmpq], shares: list[int]) -> list[Pair]:
        return [(arb(max(lifts)), _ball(self.epsilon).exp() * arb(min(lifts)))]

    def unseen(self, rho: fmpq, lifts: list[fmpq]) -> list[Pair]:
        return self.sides([rho, *lifts], [])

    def support(self, w: list[Fraction], shares: list[int]) -> arb:
        """The best extreme lift is proportional to 1 + (e^epsilon - 1) 1_A for an A of the largest w."""
        gain, total, mean = _ball(self.epsilon).exp() - 1, sum(shares), _mean(w, shares)
        best, held, mass = _ball(mean), Fraction(0), 0
        for own, share in sorted(zip(w, shares, strict=True), reverse=True):
            held, mass = held + share * own / total, mass + share
            best = best.max((_ball(mean) + gain * _ball(held)) / (1 + gain * _ball(Fraction(mass, total))))
        return best


class TotalVariation(Part):
    """(1/2) E |l - 1| <= epsilon."""

    said = "the total variation between prior and posterior is at most {epsilon}"

    def sides(self, lifts: list[fmpq], shares: list[int]) -> list[Pair]:
        return [(_mean([abs(lift - 1) for lift in lifts], shares) / 2, _rational(self.epsilon))]

    def unseen(self, rho: fmpq, lifts: list[fmpq]) -> list[Pair]:
        return [(abs(rho - 1), _rational(self.epsilon) * rho)]

    def support(self, w: list[Fraction], shares: list[int]) -> arb:
        return _ball(_mean(w, shares) + self.epsilon * (max(w) - min(w)))


class ChiSquare(Part):
    """E (l - 1)^2 <= epsilon^2."""

    said = "the standard deviation of the lifts is at most {epsilon}"

    def sides(self, lifts: list[fmpq], shares: list[int]) -> list[Pair]:
        return [(_mean([(lift - 1) * (lift - 1) for lift in lifts], shares), _rational(self.epsilon**2))]

    def unseen(self, rho: fmpq, lifts: list[fmpq]) -> list[Pair]:
        return [(rho * rho, _rational(1 + self.epsilon**2) * (2 * rho - 1))]

    def support(self, w: list[Fraction], shares: list[int]) -> arb:
        mean = _mean(w, shares)
        return _ball(mean) + _ball(self.epsilon) * _ball(_mean([(own - mean) ** 2 for own in w], shares)).sqrt()


class KL(Part):
    """E l log l <= epsilon. A dual brings b > 0 after its w's."""

    extra = 1
    said = "the Kullback-Leibler divergence of the posterior from the prior is at most {epsilon}"

    def sides(self, lifts: list[fmpq], shares: list[int]) -> list[Pair]:
        terms = [_ball(lift) * _ball(lift).log() if lift else arb(0) for lift in lifts]
        return [(_mean(terms, shares), _ball(self.epsilon))]

    def unseen(self, rho: fmpq, lifts: list[fmpq]) -> list[Pair]:
        return [(_ball(rho) * _ball(rho).log() - _ball(rho) + 1, _ball(self.epsilon) * _ball(rho))]

    def support(self, w: list[Fraction], shares: list[int]) -> arb:
        *w, b = w
        _need(b > 0, "a dual has a b of 0 or less")
        return _ball(b) * (_ball(self.epsilon) + _mean([_ball(own / b).exp() for own in w], shares).log())


REGIONS: dict[str, type[Part]] = {
    region.__name__: region for region in (AlphaLift, Renyi, LIP, LDP, TotalVariation, ChiSquare, KL)
}


@dataclass(frozen=True)
class Promise:
    """Every part is kept."""

    parts: tuple[Part, ...]

    @property
    def perfect(self) -> bool:
        return any(part.perfect for part in self.parts)

    @property
    def text(self) -> str:
        return " and ".join(part.text for part in self.parts)

    def keeps(self, lifts: list[fmpq], shares: list[int]) -> bool:
        if self.perfect:  # equality is decided exactly
            return all(lift == 1 for lift in lifts)
        return all(_decide(partial(part.sides, lifts, shares)) for part in self.parts)

    def breaks(self, lifts: list[fmpq], shares: list[int]) -> bool:
        """Whether these lifts are proven to break it, or to be at its limit."""
        return any(_decide(partial(part.sides, lifts, shares), broken=True) for part in self.parts)

    def keeps_unseen(self, rho: fmpq, lifts: list[fmpq]) -> bool:
        if rho <= 0 or self.perfect:
            return bool(rho == 1)
        return all(_decide(partial(part.unseen, rho, lifts)) for part in self.parts)

    @property
    def entries(self) -> list[int]:
        """How many entries of a dual every part has beside its w's."""
        return [part.extra for part in self.parts]

    def support(self, dual: list[int], shares: list[int], one: int) -> tuple[list[int], arb]:
        """The sum of the parts' w, and of their support functions; a perfect one allows l = 1 alone: E w."""
        entries = [Fraction(own, one) for own in dual]
        sums, total = [0] * len(shares), arb(0)
        for part in self.parts:
            own, entries = entries[: len(shares) + part.extra], entries[len(shares) + part.extra :]
            sums = [before + int(w * one) for before, w in zip(sums, own, strict=False)]
            total += _ball(_mean(own[: len(shares)], shares)) if self.perfect else part.support(own, shares)
        return sums, total


def promise_of(value: Any) -> Promise:
    """The promise as a file states it; an intersection has 2 to 8 parts."""
    _need(isinstance(value, dict), "the promise must be an object")
    if value.get("region") != "Intersection":
        return Promise((_part_of(value),))
    parts = _keys(value, {"region", "parts"}, "an intersection")["parts"]
    _need(isinstance(parts, list) and 2 <= len(parts) <= 8, "an intersection must have 2 to 8 parts")
    return Promise(tuple(map(_part_of, parts)))


def _part_of(value: Any) -> Part:
    name = str(value.get("region")) if isinstance(value, dict) else ""
    _need(name in REGIONS, f"a region must be one of {', '.join(REGIONS)}")
    return REGIONS[name](_keys(value, {"region", *REGIONS[name].names}, "a promise"))


def _budget(text: Any, name: str) -> Fraction:
    number = _decimal(text, name)
    _need(number <= MOST_EPSILON, f"{name} must be at most {MOST_EPSILON}")
    return number


def _order(text: Any, name: str) -> Fraction | None:
    number = None if text == "inf" else _decimal(text, name)
    _need(number is None or 1 < number <= MOST_ALPHA, f"{name} must be above 1 and at most {MOST_ALPHA}, or inf")
    return number


def _rational(value: Fraction) -> fmpq:
    return fmpq(value.numerator, value.denominator)


def shares_of(blocks: list[Matrix]) -> list[int]:
    """What is proportional to P(s)."""
    return [sum(map(sum, rows)) for rows in zip(*blocks, strict=True)]


def counts_of(blocks: list[Matrix]) -> Matrix:
    """What is proportional to P(s, x): all blocks added up."""
    return [[sum(column) for column in zip(*rows, strict=True)] for rows in zip(*blocks, strict=True)]


def _lifts(blocks: list[Matrix], weights: Matrix) -> Iterator[tuple[int, list[list[fmpq]]]]:
    """For every y: P(y) N 2^bits, and for every block that occurs with it the lifts P(s | y, block) / P(s), exactly."""
    shares = shares_of(blocks)
    total = sum(shares)
    for rows in zip(*((fmpz_mat(weights) * fmpz_mat(block).transpose()).tolist() for block in blocks), strict=True):
        _need(any(map(any, rows)), "an output never occurs")
        yield (
            int(sum(map(sum, rows))),
            [
                [fmpq(own * total, share * sum(row)) for own, share in zip(row, shares, strict=True)]
                for row in rows
                if any(row)
            ],
        )


def broken_outputs(blocks: list[Matrix], weights: Matrix, promise: Promise) -> list[int]:
    """The outputs for which the promise is not proven, alone or together with earlier ones."""
    shares, outputs = shares_of(blocks), enumerate(_lifts(blocks, weights))
    return [y for y, (_, found) in outputs if not all(promise.keeps(lifts, shares) for lifts in found)]


def broken_unseen(counts: Matrix, mechanism: Integers, promise: Promise) -> list[int]:
    """The outputs for which the law for unseen values is not proven to keep a promise that the seen ones keep."""
    total = sum(map(sum, counts))
    outputs = enumerate(zip(mechanism.unseen or [], _lifts([counts], mechanism.weights), strict=True))
    return [y for y, (own, (mass, [lifts])) in outputs if not promise.keeps_unseen(fmpq(own * total, mass), lifts)]


def entropy(masses: list[int]) -> arb:
    """-sum p log p of the distribution that is proportional to these integers, a ball."""
    total = sum(masses)
    return arb(total).log() - sum([mass * arb(mass).log() for mass in masses if mass], arb(0)) / total


def information(counts: Matrix, mechanism: Integers) -> arb:
    """I(X;Y) = H(X) + H(Y) - H(X,Y), a ball; P(x, y) is proportional to n_x w_yx."""
    columns = _columns(counts)
    with ctx.workprec(_FIRST_PRECISION + mechanism.bits):
        cells = [[n * w for n, w in zip(columns, row, strict=True) if w] for row in mechanism.weights]
        return (
            entropy(columns) + entropy([sum(row) for row in cells]) - entropy([mass for row in cells for mass in row])
        )


def optimum_bound(blocks: list[Matrix], promise: Promise, certificate: Any) -> arb:
    """What no mechanism that keeps the promise exceeds: H(X) - u.P_X - min over allowed V of (H(V) - u.V).

    Prices u, places and duals are integers over 2^bits.
    """
    counts = counts_of(blocks)
    with ctx.workprec(_FIRST_PRECISION):
        if certificate is None:
            return entropy(_columns(counts))
        pairs = isinstance(certificate, dict) and certificate.get("kind") == "pairs"
        _keys(certificate, {"kind", "bits", "prices"} | ({"ends"} if pairs else {"duals", "tree"}), "certificate")
        bits, columns = certificate["bits"], _columns(counts)
        _need(pairs or certificate["kind"] == "tree", "the certificate's kind must be tree or pairs")
        _need(not pairs or len(blocks) == 1, "pairs cannot prove a bound after other releases")
        _need(type(bits) is int and 1 <= bits <= 64, "the certificate's bits must be from 1 to 64")
        prices = _integers(certificate["prices"], len(columns), "prices", negative=True)
        paid = Fraction(sum(u * n for u, n in zip(prices, columns, strict=True)), sum(columns) << bits)
        if pairs:
            least = _least_over_pairs(counts, promise, certificate, prices)
        else:
            least = _least_over_tree(blocks, promise, certificate, prices)
        return entropy(columns) - _ball(paid) - least


def _least_over_tree(blocks: list[Matrix], promise: Promise, certificate: Any, prices: list[int]) -> arb:
    """The least bound over the leaves of a tree of boxes that covers the simplex.

    The tree is in preorder: [symbol, place] splits a box, [dual] is a leaf with this (w, nu) and the bound
    constant + sum_x min over both ends v of (phi(v) - c_x v), see `_dual_terms`. Its terms are integers over 4^bits, with
    phi, the constant and -c rounded down.
    """
    bits, size, one = certificate["bits"], len(prices), 1 << certificate["bits"]
    duals, tree = certificate["duals"], certificate["tree"]
    _need(isinstance(duals, list) and isinstance(tree, list), "duals and tree must be lists")
    terms = lru_cache(1024)(lambda dual: _dual_terms(blocks, promise, duals[dual], prices, bits))
    phi, least, boxes = {0: 0, one: 0}, None, [([0] * size, [one] * size)]
    for node in tree:
        good = isinstance(node, list) and 1 <= len(node) <= 2 and all(type(i) is int and i >= 0 for i in node)
        _need(good and 0 < len(boxes) * size <= _MOST_PENDING, "a node of the tree is malformed, too many or too deep")
        low, high = boxes.pop()
        if len(node) == 2:
            symbol, place = node
            _need(symbol < size and place <= one, "a split lies outside of the simplex")
            if place not in phi:
                phi[place] = _floor(-_ball(Fraction(place, one)) * _ball(Fraction(place, one)).log(), 2 * bits)
            below, above = high.copy(), low.copy()
            below[symbol], above[symbol] = min(place, high[symbol]), max(place, low[symbol])
            boxes += [(above, high), (low, below)]
            continue
        _need(node[0] < len(duals), "a leaf has no dual")
        if sum(low) <= one <= sum(high) and not any(map(operator.gt, low, high)):  # else the box is empty
            constant, rates = terms(node[0])
            ends = zip(low, high, rates, strict=True)
            bound = constant + sum([min(phi[a] - c * a, phi[b] - c * b) for a, b, c in ends])
            least = bound if least is None or bound < least else least
    _need(not boxes and least is not None, "the tree does not cover the simplex")
    return _ball(Fraction(least or 0, one * one))


def _floor(value: arb, bits: int) -> int:
    """An integer n with n / 2^bits at most value, and nearly equal."""
    mantissa, exponent = (value.lower() * (1 << bits)).lower().man_exp()
    return int(mantissa) << int(exponent) if exponent >= 0 else int(mantissa) >> -int(exponent)


def _dual_terms(
    blocks: list[Matrix], promise: Promise, dual: Any, prices: list[int], bits: int
) -> tuple[int, list[int]]:
    """Of a dual (w, nu): the constant of its bound rounded down, over 4^bits, and c rounded up, over 2^bits.

    One block: the constant is nu - sigma(w), and c = u + nu - w P(S|X). Several: each has a w of its own, whose sigma is
    multiplied by P(block|x), so it is taken from every w of the block; the constant is nu.
    """
    shares = shares_of(blocks)
    size = len(promise.parts) * len(shares) + sum(promise.entries)
    *entries, nu = _integers(dual, size * len(blocks) + 1, "a dual", negative=True)
    constant, w = nu << bits, []
    for first in range(0, len(entries), size):
        own, sigma = promise.support(entries[first : first + size], shares, 1 << bits)
        if len(blocks) == 1:
            constant += _floor(-sigma, 2 * bits)
        else:
            own = [entry + _floor(-sigma, bits) for entry in own]
        w += own
    columns = zip(*(row for block in blocks for row in block), strict=True)
    means = (sum(map(operator.mul, w, column)) // sum(column) for column in columns)
    return constant, [price + nu - mean for price, mean in zip(prices, means, strict=True)]


def _least_over_pairs(counts: Matrix, promise: Promise, certificate: Any, prices: list[int]) -> arb:
    """Two secrets: the least value over all extreme V whose first lift, minus one, lies between the two ends.

    An end must be proven to lie outside of the promise, or where no lift reaches.
    """
    ends = _integers(certificate["ends"], 2, "ends", negative=True)
    low, high = (Fraction(end, 1 << certificate["bits"]) for end in ends)
    _need(len(counts) == 2 and low < 0 < high, "pairs need two secrets and an end on either side")
    first, second = shares = [sum(row) for row in counts]
    for end in (low, high):
        lifts = [1 + end, 1 - end * Fraction(first, second)]
        outside = min(lifts) <= 0 or promise.perfect or promise.breaks([_rational(lift) for lift in lifts], shares)
        _need(outside, "an end of the certificate is not proven to lie outside of the promise")
    highest: dict[Fraction, int] = {}  # of symbols with one deviation: the others are never less
    for price, a, b in zip(prices, *counts, strict=True):
        deviation = Fraction(a * (first + second), first * (a + b)) - 1
        highest[deviation] = max(price, highest.get(deviation, price))
    one, least = 1 << certificate["bits"], arb("inf")
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


def _least_pairs(below: list[Symbol], above: list[Symbol], one: int) -> Iterator[tuple[Symbol, Symbol]]:
    """The pair of the least value among those that mix to an end, and all that floats cannot tell from it.

    A symbol is (distance from the end, price), sorted. A block of those above is passed by if not even its highest price
    at its nearest or farthest distance has a value as low as one that was found: the value is concave in the share.
    """
    left, right = ([(float(gap), price / one) for gap, price in side] for side in (below, above))
    largest = max([abs(price) for _, price in left + right], default=0.0)
    _need(
        all(1e-150 < gap < 1e150 for gap, _ in left + right), "a symbol is too near to an end, or too far, for floats"
    )
    _need(largest < 1e100, "a price is too large for floats")
    margin = 1e-12 * (1 + largest)  # far more than the rounding errors of two values
    size = math.isqrt(len(right)) + 1
    starts = range(0, len(right), size)
    blocks = [(right[i][0], right[i : i + size][-1][0], max(u for _, u in right[i : i + size]), i) for i in starts]
    looks, limit, found = 0, math.inf, list[tuple[float, int, int]]()
    for x, (down, u) in enumerate(left):
        for near, far, top, start in blocks:
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
    """H(V) - u.V of the two symbols at these distances from the end that they are mixed to."""
    share, rest = down / (down + up), up / (down + up)
    return -share * (math.log(share) + u_y) - rest * (math.log(rest) + u_x)


def check(document: Any, opening: Any = None) -> list[Verdict]:
    """A verdict for every claim of a file; `opening` reveals the counts of a file that withholds them."""
    try:
        newer = isinstance(document, dict) and "table" in document
        _keys(document, set((_NAMES_2 if newer else _NAMES).split()), "the file")
        kind = [document["format"], type(document["version"]), document["version"]]
        _need(kind == ["alphalift-mechanism", int, 1 + newer], "not a file of this format and version")
        mechanism, promise = integers_of(document), promise_of(document["promise"])
        stated = _keys(document["claims"], {"utility_at_least", "optimum_at_most"}, "claims")
        worth, best = (_decimal(stated[name], name) for name in ("utility_at_least", "optimum_at_most"))
        provenance = _keys(document["provenance"], {"package", "solver", "status"}, "provenance")
        _need(all(isinstance(text, str) for text in provenance.values()), "provenance must be texts")
        _table(document.get("table"), mechanism)
        together = document.get("after") is not None
        _need(not together or mechanism.unseen is None, "unseen values have no proof after other releases")
        opened = revealed(document, opening)
    except RefusedError as refusal:
        return [Verdict("form", False, str(refusal))]
    texts = {
        "promise": promise.text + _together(document.get("after")),
        "unseen values": promise.text,
        "utility": f"I(X;Y) is at least {stated['utility_at_least']} nats",
    }
    texts["optimum"] = f"no mechanism that keeps the promise has more than {stated['optimum_at_most']} nats"
    if mechanism.unseen is None:
        del texts["unseen values"]
    form = Verdict("form", True, f"every column sums to 2^{mechanism.bits}; identity {mechanism.identity}")
    if opened is None:
        return [
            form,
            *(Verdict(c, False, f"{t}: the joint is withheld; its opening is needed") for c, t in texts.items()),
        ]
    blocks, certificate = opened
    counts = counts_of(blocks)
    proofs: dict[str, Callable[[], bool]] = {
        "promise": lambda: _none(broken_outputs(blocks, mechanism.weights, promise)),
        "unseen values": lambda: (
            _none(broken_outputs(blocks, mechanism.weights, promise))
            and _none(broken_unseen(counts, mechanism, promise))
        ),
        "utility": lambda: worth == 0 or bool(_ball(worth) <= information(counts, mechanism)),
        "optimum": lambda: bool(optimum_bound(blocks, promise, certificate) <= _ball(best)),
    }
    return [form, *(_verdict(claim, text, proofs[claim]) for claim, text in texts.items())]


def _together(after: Any) -> str:
    if after is None:
        return ""
    count = len(after["sealed" if "sealed" in after else "mechanisms"])
    return f", for its outputs together with those of the {count} mechanism{'s' * (count != 1)} that it comes after"


def _none(broken: list[int]) -> bool:
    _need(not broken, f"not proven for {len(broken)} outputs, the first is number {broken[:1]}")
    return True


def _verdict(claim: str, text: str, proves: Callable[[], bool]) -> Verdict:
    try:
        with ctx.workprec(_FIRST_PRECISION):
            return Verdict(claim, proves(), text)
    except (RefusedError, ArithmeticError, ValueError) as refusal:
        return Verdict(claim, False, f"{text}: {refusal}")


def main(arguments: list[str]) -> int:
    """A line for each claim; 0 if every one is proven, 1 if not."""
    try:
        if not 1 <= len(arguments) <= 2 or arguments[0].startswith("-"):
            print("usage: checker.py FILE [OPENING]", file=sys.stderr)
            return 2
        verdicts = check(*(read(path) for path in arguments))
    except RefusedError as error:
        verdicts = [Verdict("form", False, str(error))]
    except OSError as error:
        verdicts = [Verdict("form", False, f"{error.filename} cannot be read: {str(error.strerror).lower()}")]
    for verdict in verdicts:
        print(f"{'proven' if verdict.proven else 'NOT PROVEN':>10}  {verdict.claim}: {verdict.text}")
    return 0 if all(verdict.proven for verdict in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
