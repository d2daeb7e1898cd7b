"""Mechanism files with one thing changed, and the judge: what the first checker accepts, the second must prove too."""

import contextlib
import copy
import json
import math
import random
import re
import signal
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import second_checker

from alphalift import Joint, Optimal, design
from alphalift.document import to_document, to_json, withhold_joint
from alphalift.joint import Beside, Origin, Variable
from alphalift.population import Robust
from alphalift.presolve import Merged
from alphalift.proof import checker
from alphalift.proof.export import exported
from alphalift.regions import KL, LDP, LIP, AlphaLift, ChiSquare, Intersection, OnAverage, Renyi, TotalVariation
from alphalift.utilities import Decision, FInformation, GuessingAccuracy, MutualInformation, SquaredError

SECONDS = 10
QUICK = Optimal(relative_gap=1e-2, node_limit=60, threads=1)
# |S|, |X|, promise, bits, largest count (none: probabilities with 16 digits), promise of a release before it
BASES = [
    (3, 4, AlphaLift(3, 0.1), 52, 30),
    (3, 4, AlphaLift(math.inf, 0.1), 52, 30),
    (3, 4, AlphaLift(10, 0.3), 16, None),
    (2, 4, AlphaLift(5, 0.2), 52, 9),
    (2, 4, AlphaLift(math.inf, 0.3), 24, None),
    (3, 5, AlphaLift(2, 0), 52, 5),
    (4, 5, AlphaLift(1.5, 0.02), 52, None),
    (3, 3, AlphaLift(2, 9), 52, 30),
    (3, 4, Renyi(2.5, 0.1), 52, 30),
    (2, 4, Renyi(math.inf, 0.2), 52, None),
    (3, 4, LIP(lower=0.2, upper=0.1), 52, 30),
    (2, 5, LIP(lower=0.3, upper=0.2), 52, 9),
    (3, 4, LDP(0.3), 52, 30),
    (2, 4, LDP(0.2), 24, None),
    (3, 4, TotalVariation(0.05), 52, 30),
    (2, 4, TotalVariation("0.1"), 52, 9),
    (3, 4, ChiSquare(0.2), 52, 30),
    (2, 4, ChiSquare(0.3), 52, None),
    (3, 4, KL(0.02), 52, 30),
    (2, 4, KL(0.03), 52, 9),
    (3, 5, KL(0), 52, 5),
    (3, 4, Intersection(KL(0.02), LIP(0.3)), 52, 30),
    (3, 4, Intersection(LDP(0.5), KL(0.03), TotalVariation(0.08)), 52, None),
    (2, 4, Intersection(AlphaLift(2, 0.1), LIP(0.2)), 52, 9),
    (3, 5, Intersection(ChiSquare(0.2), LDP(0)), 52, 5),
    (3, 4, OnAverage(KL(0.02)), 52, 30),
    (2, 4, OnAverage(AlphaLift(math.inf, 0.05)), 52, 9),
    (3, 4, OnAverage(AlphaLift(3, 0.05)), 24, None),
    (3, 3, Intersection(OnAverage(TotalVariation(0.04)), LIP(0.6), OnAverage(ChiSquare(0.2))), 52, 30),
    (3, 5, OnAverage(ChiSquare(0)), 52, 5),
    (2, 3, AlphaLift(math.inf, 0.3), 52, 9, AlphaLift(math.inf, 0.1)),
    (3, 3, AlphaLift(3, 0.2), 52, 30, AlphaLift(3, 0.05)),
    (2, 4, Intersection(KL(0.1), LIP(0.6)), 52, 9, LIP(0.2)),
    (2, 3, LDP(0), 52, 9, LDP(0)),
]
# The same, but for the file of a proof about types: these columns, and these rows, of a table.
MERGED = [
    (3, 3, AlphaLift(3, 0.1), 52, 30, [0, 1, 2, 1, 0], [0, 1, 2]),
    (3, 3, KL(0.05), 52, 9, [0, 1, 1, 2], [0, 1, 2, 0]),
    (2, 4, LIP(0.2), 52, 9, [0, 1, 2, 3, 3], [0, 1, 1]),
]
# Masses of X, which is its own secret, and a promise.
LOCAL_BASES = [
    ((1,) * 6, AlphaLift(math.inf, 0.5)),
    ((5, 3, 2, 1, 1), AlphaLift(2, 0.3)),
    ((5, 3, 2, 1, 1), LDP(1)),
    ((4, 3, 3, 2, 1), LIP(lower=0.4, upper=0.6)),
    ((1,) * 5, Renyi(3, 0.4)),
    ((5, 3, 2, 2), ChiSquare(0.4)),
    ((3, 2, 2, 1), KL(0.2)),
    ((1,) * 6, TotalVariation(0.2)),
    ((3, 2, 2, 1, 1), Intersection(AlphaLift(3, 0.3), LIP(0.7))),
]
# Secrets, symbols, a promise and a utility other than mutual information.
WORTHS = [
    (3, 4, AlphaLift(3, 0.1), "kl"),
    (2, 4, KL(0.05), "chi_square"),
    (3, 4, AlphaLift(math.inf, 0.2), "total_variation"),
    (3, 3, LIP(0.2), "hellinger"),
    (4, 4, AlphaLift(2, 0.1), "jensen_shannon"),
    (3, 4, TotalVariation(0.05), "le_cam"),
    (3, 4, OnAverage(KL(0.02)), "hellinger"),
    (2, 4, Intersection(OnAverage(AlphaLift(math.inf, 0.05)), LIP(0.4)), "le_cam"),
]
# |S|, |X|, promise, utility, largest count, promise of a release before it: proofs by pieces.
PIECES = [
    (3, 4, AlphaLift(3, 0.1), GuessingAccuracy(), 30),
    (3, 4, KL(0.02), Decision([[1, 0, 0.5, 2], [0, "-1.5", 3, 0], [0.25, 0.25, 0.25, 0.25]]), 30),
    (2, 4, LIP(0.2), Decision([[1, 0, 0, 2], [0, 3, 1, 0]], actions=["a", "b"]), 9),
    (3, 4, AlphaLift(math.inf, 0.1), SquaredError([1, 2, 4.5, -3]), 30),
    (3, 3, ChiSquare(0.1), SquaredError([[0, 1], [2, 0], [1, 5]]), 9),
    (3, 5, AlphaLift(2, 0), SquaredError([1, 2, 3, 4, 5]), 5),
    (3, 3, AlphaLift(3, 0.05), GuessingAccuracy(), 30, AlphaLift(3, 0.02)),
    (2, 3, LIP(0.3), SquaredError([0, 1, 3]), 9, LIP(0.1)),
    (3, 4, OnAverage(KL(0.02)), GuessingAccuracy(), 30),
    (3, 4, Intersection(OnAverage(TotalVariation(0.04)), LIP(0.6)), Decision([[1, 0, 2, "-1"], [0, 2, 0, 1]]), 30),
    (2, 4, Intersection(OnAverage(AlphaLift(3, 0.05)), OnAverage(ChiSquare(0.1))), SquaredError([0, 1, 3, 2]), 9),
]
# |S|, |X|, promise, utility, largest count: designs that leave a margin.
MARGINS = [
    (3, 4, AlphaLift(math.inf, 0.1), MutualInformation(), 3000),
    (3, 3, AlphaLift(3, 0.05), MutualInformation(), 3000),
    (2, 3, Intersection(KL(0.02), LIP(0.3)), MutualInformation(), 900),
    (3, 4, LDP(0.3), GuessingAccuracy(), 3000),
    (3, 3, TotalVariation(0.05), FInformation("hellinger"), 3000),
    (3, 4, ChiSquare(0.1), SquaredError([1, 2, 4.5, -3]), 3000),
    (3, 2, Renyi(2.5, 0.01), MutualInformation(), 3000),
]
FILES = len(BASES) + len(MERGED) + len(LOCAL_BASES) + len(WORTHS) + len(PIECES) + len(MARGINS)


@cache
def base(number):
    """The text of a file that is proven in full; those about types come after the others, then those with S = X, other utilities, and margins."""
    if number >= FILES - len(MARGINS):
        secrets, useful, region, utility, largest = MARGINS[number - FILES + len(MARGINS)]
        counts = np.random.default_rng(number).integers(largest // 10, largest, (secrets, useful))
        joint = Joint(counts.tolist(), counts=True)
        document = to_document(design(joint, Robust(region), solver=QUICK, utility=utility))
        assert document["margin"] is not None
        return to_json(document)
    others = len(BASES) + len(MERGED) + len(LOCAL_BASES)
    if number >= others + len(WORTHS):
        secrets, useful, region, utility, largest, *before = PIECES[number - others - len(WORTHS)]
        rng = np.random.default_rng(number - len(WORTHS))  # with joints of which X may not be published
        if before:
            return _after(rng.integers(1, largest, (secrets, useful, 2)), region, before[0], utility)
        joint = Joint(rng.integers(1, largest, (secrets, useful)).tolist(), counts=True)
        return to_json(to_document(design(joint, region, solver=QUICK, utility=utility)))
    if number >= others:
        secrets, useful, region, name = WORTHS[number - others]
        counts = np.random.default_rng(number).integers(1, 30, (secrets, useful))
        joint, utility = Joint(counts.tolist(), counts=True), FInformation(name)
        return to_json(to_document(design(joint, region, utility=utility, solver=QUICK)))
    if number >= len(BASES) + len(MERGED):
        masses, region = LOCAL_BASES[number - len(BASES) - len(MERGED)]
        joint = Joint(np.diag(masses).tolist(), counts=True)
        return to_json(to_document(design(joint, region, solver=QUICK)))
    if number >= len(BASES):
        return _of_types(*MERGED[number - len(BASES)])
    secrets, useful, region, bits, largest, *before = BASES[number]
    rng = np.random.default_rng(number)
    if before:
        return _after(rng.integers(1, largest, (secrets, useful, 2)), region, before[0])
    if largest is None:
        table = rng.random((secrets, useful))
        joint = Joint(table / table.sum())
    else:
        joint = Joint(rng.integers(1, largest, (secrets, useful)).tolist(), counts=True)
    return to_json(to_document(design(joint, region, solver=QUICK, bits=bits)))


def _of_types(secrets, useful, region, bits, largest, columns, rows):
    """A file whose certificate is about types: columns and rows of a table, times their numbers."""
    rng = np.random.default_rng((secrets, useful))
    table = rng.integers(1, largest, (secrets, useful))
    counts = table[np.ix_(rows, columns)] * np.arange(1, len(columns) + 1) * np.arange(1, len(rows) + 1)[:, None]
    joint = Joint(counts.tolist(), counts=True)
    merged = Merged.of(joint)
    document = to_document(design(joint, region, solver=QUICK, bits=bits))
    (solved,) = QUICK.solve(merged.joint, [region], MutualInformation())
    document["certificate"] = {"kind": "merged", "proof": exported(solved.certificate, merged.joint, region)}
    blocks, promise = [document["joint"]["counts"]], checker.promise_of(document["promise"])
    bound = float(checker.optimum_bound(blocks, promise, document["certificate"]).upper())
    document["claims"]["optimum_at_most"] = f"{bound + 1e-9:.15f}"
    return to_json(document)


def _after(counts, region, before, utility=None):
    """A file that comes after a release of another column, of these counts of (s, x, z)."""
    z = Variable(("z",), ("z0", "z1"))
    if region.perfect:  # independent of the secret, so that something is left
        counts = np.stack([counts[0] * share for share in range(1, len(counts) + 1)])
    first = Joint(counts.sum(axis=1).tolist(), x_labels=z.labels, counts=True, origin=Origin(("s",), z.columns))
    cells = tuple((*map(int, key), int(n)) for key, n in np.ndenumerate(counts))
    joint = Joint(counts.sum(axis=2).tolist(), counts=True, origin=Origin(("s",), ("x",)), beside=Beside((z,), cells))
    return to_json(to_document(design(joint, region, solver=QUICK, utility=utility, after=[design(first, before)])))


@dataclass(frozen=True)
class Mutant:
    """A file, and its opening where it withholds its joint."""

    kind: str
    content: bytes
    opening: bytes | None = None


class _ImpossibleError(Exception):
    """This file has nothing that the mutation could change."""


def mutant(seed):
    """The mutant of this number; every kind comes up equally often."""
    rng = random.Random(seed)
    changes = [*_DOCUMENT_CHANGES, *_TEXT_CHANGES, *_WITHHELD_CHANGES]
    change = changes[seed % len(changes)]
    while True:
        text = base(rng.randrange(FILES))
        try:
            return _mutated(change, text, rng)
        except _ImpossibleError:
            continue


def _mutated(change, text, rng):
    kind = change.__name__.strip("_")
    if change in _TEXT_CHANGES:
        return Mutant(kind, change(text.encode(), rng))
    document = json.loads(text)
    if change in _WITHHELD_CHANGES:
        hidden, opening = withhold_joint(document, f"{rng.getrandbits(128):032x}")
        opening = change(hidden, opening, rng)
        return Mutant(kind, _bytes(hidden), None if opening is None else _bytes(opening))
    document = change(document, rng) or document
    # Most get the identity that belongs to them, where they have one: the hash would hide every change of the integers.
    if rng.random() < 0.7:
        with contextlib.suppress(KeyError, TypeError):
            document["identity"] = second_checker.identity(document)
    return Mutant(kind, _bytes(document))


def _bytes(value):
    return json.dumps(value).encode()


def _digit(number, rng):
    """The integer with one of its digits changed."""
    digits = list(str(abs(number)))
    place = rng.randrange(len(digits))
    digits[place] = rng.choice([digit for digit in "0123456789" if digit != digits[place]])
    changed = int("".join(digits))
    return -changed if number < 0 else changed


def _certificate(document, kind):
    certificate = document["certificate"]
    if certificate is None or certificate["kind"] != kind:
        raise _ImpossibleError
    return certificate


@contextlib.contextmanager
def _all_weights(document):
    """The weights with their zeros, as rows that may be changed; they are listed again in the form that the file has."""
    size, sparse = len(document["labels"]["x"]), document.get("version", 2) >= 3
    rows = document["weights"]
    if sparse:
        filled = [dict(zip(row[::2], row[1::2], strict=True)) for row in rows]
        rows = [[row.get(x, 0) for x in range(size)] for row in filled]
    yield rows
    listed = [[entry for x, weight in enumerate(row) if weight for entry in (x, weight)] for row in rows]
    document["weights"] = listed if sparse else rows


def _weight(document, rng):
    with _all_weights(document) as rows:
        x, y = rng.randrange(len(rows[0])), rng.randrange(len(rows))
        changed = _digit(rows[y][x], rng) if rng.random() < 0.5 else max(0, rows[y][x] + rng.choice([-1, 1]))
        other = rng.choice([row for row in range(len(rows)) if row != y] or [y])
        if rng.random() < 0.8:  # the column keeps its sum
            rows[other][x] += rows[y][x] - changed
        rows[y][x] = changed


def _weights_of_a_column_moved(document, rng):
    """A valid mechanism that reveals more: everything of one symbol goes to one output."""
    with _all_weights(document) as rows:
        x, y = rng.randrange(len(rows[0])), rng.randrange(len(rows))
        for own, row in enumerate(rows):
            row[x] = 2 ** document["bits"] if own == y else 0


def _weights_listed(document, rng):
    """Symbols that do not rise, repeat, do not exist or have no weight; rows of odd length, empty or with zeros."""
    row, size = rng.choice(document["weights"]), len(document["labels"]["x"])
    place = 2 * rng.randrange(len(row) // 2)
    change = rng.randrange(8)
    if change == 0:
        row[:] = [*row[2:], *row[:2]]
    elif change == 1:
        row += row[:2]
    elif change == 2:
        row[place] = rng.choice([-1, size, size - 1, row[place - 2], True])
    elif change == 3:
        row[place + 1] = rng.choice([0, -row[place + 1], row[place + 1] + 1])
    elif change == 4:
        row.append(rng.choice([0, size - 1]))
    elif change == 5:
        row.clear()
    elif change == 6:
        row[place : place + 2] = [row[place], row[place + 1] // 2, row[place], row[place + 1] - row[place + 1] // 2]
    else:
        absent = sorted(set(range(size)) - set(row[::2])) or [0]
        pairs = sorted([*zip(row[::2], row[1::2], strict=True), (rng.choice(absent), 0)])
        row[:] = [entry for pair in pairs for entry in pair]


def _unseen(document, rng):
    law = document["unseen"]
    if law is None:
        raise _ImpossibleError
    y, other = rng.randrange(len(law)), rng.randrange(len(law))
    budget = Fraction(rng.choice([part[name] for part in _parts(document) for name in _BUDGETS if name in part]))
    near = int(law[y] * min(budget * Fraction(rng.choice(["0.4", "0.7", "0.97", "1", "1.03", "1.5"])), Fraction(1)))
    moved = rng.choice([1, law[y] // 1000, law[y] // 2, law[y], near, near, near])
    law[y] -= moved
    law[other] += moved


def _unseen_uniform(document, rng):
    size = len(document["labels"]["y"])
    document["unseen"] = [2 ** document["bits"] // size] * size
    document["unseen"][0] += 2 ** document["bits"] - sum(document["unseen"])


def _bits(document, rng):
    document["bits"] += rng.choice([-1, 1])


def _price(document, rng):
    certificate = document["certificate"]
    if "prices" not in (certificate or {}):
        raise _ImpossibleError
    x = rng.randrange(len(certificate["prices"]))
    certificate["prices"][x] = _digit(certificate["prices"][x], rng)


def _dual(document, rng):
    dual = rng.choice(_certificate(document, "tree")["duals"])
    entry = rng.choice([rng.randrange(len(dual)), len(dual) - 1])
    dual[entry] = _digit(dual[entry], rng) if rng.random() < 0.8 else -dual[entry]


def _split(document, rng):
    splits = [node for node in _certificate(document, "tree")["tree"] if len(node) == 2]
    if not splits:
        raise _ImpossibleError
    node, entry = rng.choice(splits), rng.randrange(2)
    node[entry] = _digit(node[entry], rng)


def _leaf(document, rng):
    certificate = _certificate(document, "tree")
    leaf = rng.choice([node for node in certificate["tree"] if len(node) == 1])
    leaf[0] = rng.randrange(len(certificate["duals"]) + 1)


def _trims(tree):
    found = [node for node in tree if len(node) > 2]
    if not found:
        raise _ImpossibleError
    return found


def _trim(document, rng):
    """A slab moved, turned round, repeated, added or left out, or another dual for all of them."""
    certificate = _certificate(document, "tree")
    node, one = rng.choice(_trims(certificate["tree"])), 2 ** certificate["bits"]
    place = 1 + 2 * rng.randrange(len(node) // 2)
    change = rng.randrange(7)
    if change == 0:
        node[place + 1] = rng.choice([_digit(node[place + 1], rng), 0, one, one + 1, node[place + 1] // 2])
    elif change == 1:
        node[place] ^= 1
    elif change == 2:
        node += node[place : place + 2]
    elif change == 3:
        node += [rng.randrange(2 * len(document["labels"]["x"]) + 1), rng.randrange(one)]
    elif change == 4:
        del node[place : place + 2]
    elif change == 5:
        node[0] = rng.randrange(len(certificate["duals"]) + 1)
    else:
        del node[place]


def _trim_of_everything(document, rng):
    """A trim that leaves nothing, or nearly nothing, of the first box: its slabs have to pay for that."""
    certificate = _certificate(document, "tree")
    one, x = 2 ** certificate["bits"], rng.randrange(len(document["labels"]["x"]))
    node = [rng.randrange(len(certificate["duals"])), 2 * x + 1, rng.choice([0, 1, one // 2])]
    certificate["tree"][:] = [node, *rng.choice([certificate["tree"], [[0]], []])]


def _merged(document, rng):
    """The certificate for types, which most files have as many of as symbols; where there are fewer, it does not fit."""
    if document["certificate"] is None:
        raise _ImpossibleError
    wrapped = {"kind": "merged", "proof": document["certificate"]}
    others = [{"kind": "merged", "proof": wrapped}, {"kind": "merged", "proof": None}, wrapped | {"bits": 28}]
    document["certificate"] = rng.choice([wrapped, wrapped, wrapped, *others])


def _merged_by_force(document, rng):
    """Two columns, or rows, become proportional, or nearly so, and the certificate is said to be about types."""
    counts, factor = document["joint"]["counts"], rng.choice([1, 2, 7])
    x, other = rng.sample(range(len(counts[0])), 2)
    for row in counts:
        row[other] = factor * row[x]
    counts[0][other] += rng.choice([0, 0, 1])
    certificate = document["certificate"]
    if certificate is not None and rng.random() < 0.8:
        proof = copy.deepcopy(certificate)
        if "prices" in proof and rng.random() < 0.7:
            del proof["prices"][max(x, other)]
        document["certificate"] = {"kind": "merged", "proof": proof}


def _merged_changed(document, rng):
    """Prices, duals or the tree of a certificate about types changed."""
    proof = document["certificate"] and document["certificate"].get("proof")
    if not isinstance(proof, dict):
        raise _ImpossibleError
    container, key = rng.choice([place for place in _places(proof) if type(place[0][place[1]]) is int])
    container[key] = _digit(container[key], rng)


def _certificate_bits(document, rng):
    if "bits" not in (document["certificate"] or {}):
        raise _ImpossibleError
    document["certificate"]["bits"] += rng.choice([-1, 1, 40])


def _average_price(document, rng):
    """A price of a promise on average changed, left out, or negative; or a promise on average put in place of one about every output."""
    certificate = document["certificate"]
    if certificate is None or certificate["kind"] not in ("tree", "actions", "squares"):
        raise _ImpossibleError
    prices = certificate.get("average_prices")
    if prices is None:
        if rng.random() < 0.3:
            certificate["average_prices"] = [0]
        document["promise"] = {"region": "OnAverage", "of": document["promise"]}
        return
    i = rng.randrange(len(prices))
    change = rng.randrange(6)
    if change < 2:
        prices[i] = _digit(prices[i], rng)
    elif change == 2:
        prices[i] = rng.choice([0, 1, -1, -prices[i], prices[i] * 2**40, prices[i] // 2])
    elif change == 3:
        prices[:] = rng.choice([[*prices, 0], prices[:-1], prices[::-1]])
    elif change == 4:
        del certificate["average_prices"]
    else:
        part = _parts(document)[0]
        document["promise"] = rng.choice(
            [dict(part), {"region": "OnAverage", "of": {"region": "OnAverage", "of": part}}]
        )


def _end(document, rng):
    ends = _certificate(document, "pairs")["ends"]
    side = rng.randrange(2)
    ends[side] = rng.choice([_digit(ends[side], rng), -ends[side], ends[side] // 2, ends[side] + (-1) ** side * 3])


def _tree_node(document, rng):
    tree = _certificate(document, "tree")["tree"]
    i, j = rng.randrange(len(tree)), rng.randrange(len(tree))
    change = rng.randrange(5)
    if change == 0:
        del tree[i]
    elif change == 1:
        tree.insert(i, copy.copy(tree[j]))
    elif change == 2:
        tree[i], tree[j] = tree[j], tree[i]
    elif change == 3:
        del tree[i:]
    else:  # a tree that closes at once
        tree[:] = [[0]]


def _local_dual(document, rng):
    """A multiplier changed, negated, or moved to another constraint or count."""
    dual = rng.choice(_certificate(document, "local")["duals"])
    i, j = rng.randrange(len(dual)), rng.randrange(len(dual))
    change = rng.randrange(5)
    if change == 0:
        dual[i] = _digit(dual[i], rng)
    elif change == 1:
        dual[i] = -dual[i]
    elif change == 2:
        dual[i], dual[j] = dual[j], dual[i]
    elif change == 3:
        dual[i] = rng.choice([0, 1, -1, dual[i] * 2**60, 10**1290, -(10**1290)])
    else:
        dual[:] = rng.choice([[*dual, 0], dual[:-1], [0] * len(dual)])


def _local_split(document, rng):
    """A symbol, a group, a place or a count of a split changed, or the kind of split."""
    splits = [node for node in _certificate(document, "local")["tree"] if len(node) > 1]
    if not splits:
        raise _ImpossibleError
    node = rng.choice(splits)
    entry = rng.randrange(len(node))
    change = rng.randrange(4)
    if change == 0:
        node[entry] = _digit(node[entry], rng)
    elif change == 1:
        node[entry] = rng.choice([0, 1, node[entry] + 1, max(node[entry] - 1, 0), 2**70])
    elif change == 2:
        node[:] = node[:2] if len(node) == 3 else [*node, rng.randrange(4)]
    else:
        node[1] = rng.choice(splits)[1]


def _local_tree(document, rng):
    """A leaf with another dual, a node lost, doubled or exchanged, or all in one leaf."""
    certificate = _certificate(document, "local")
    tree = certificate["tree"]
    i, j = rng.randrange(len(tree)), rng.randrange(len(tree))
    change = rng.randrange(5)
    if change == 0:
        rng.choice([node for node in tree if len(node) == 1])[0] = rng.randrange(len(certificate["duals"]) + 1)
    elif change == 1:
        del tree[i]
    elif change == 2:
        tree.insert(i, copy.copy(tree[j]))
    elif change == 3:
        tree[i], tree[j] = tree[j], tree[i]
    else:
        tree[:] = [[0]]


def _local_groups(document, rng):
    """A group with a symbol less, more, twice or unknown, or none."""
    groups = _certificate(document, "local")["groups"]
    size = len(document["labels"]["x"])
    if not groups:
        groups.append([0])
        return
    group = rng.choice(groups)
    change = rng.randrange(5)
    if change == 0:
        group.pop()
    elif change == 1:
        group.append(rng.randrange(size + 1))
    elif change == 2:
        group[:] = []
    elif change == 3:
        group[rng.randrange(len(group))] = rng.choice([-1, size, 0])
    else:
        groups.clear()


def _local_joint(document, rng):
    """Two secrets of one symbol, or two symbols of one secret: what is local no more."""
    _certificate(document, "local")
    rows = document["joint"]["counts"]
    row = rng.choice(rows)
    row[rng.choice([x for x, count in enumerate(row) if not count])] = rng.choice([1, 7])


def _local_kind(document, rng):
    """A certificate under another kind's name."""
    certificate = document["certificate"]
    if certificate is None:
        raise _ImpossibleError
    certificate["kind"] = rng.choice(["local", "tree", "pairs", "actions", "squares"])
    if rng.random() < 0.5:
        certificate.setdefault("groups", [])


def _margin_of(document):
    if document["margin"] is None:
        raise _ImpossibleError
    return document["margin"]


def _margin_errors(document, rng):
    """More or fewer standard errors than were solved for, by little or by much."""
    margin = _margin_of(document)
    others = ["0", "0.000001", "1000", "1000.1", "-1", "inf", 3, None, margin["errors"] + "0", margin["errors"] + "1"]
    near = [f"{float(margin['errors']) * factor:.9f}" for factor in (0.5, 0.99, 0.999999, 1.000001, 1.01, 2)]
    margin["errors"] = rng.choice([_changed_decimal(margin["errors"], rng), *near, *near, *others])


def _margin_form(document, rng):
    """A margin with a key more or less, none, one where there is none, or that of another file."""
    other, margin = json.loads(base(rng.randrange(FILES - len(MARGINS), FILES)))["margin"], document["margin"]
    changes = [None, {}, [], "2", other, other | {"certificate": None}, other | {"form": "lifts"}, {"errors": "2"}]
    document["margin"] = rng.choice([*changes, *([{"certificate": margin["certificate"]}] if margin else [])])
    if rng.random() < 0.7:
        document["claims"]["optimum_with_margin_at_most"] = "9"
    elif rng.random() < 0.5:
        document["claims"].pop("optimum_with_margin_at_most", None)


def _margin_certificate(document, rng):
    """Something changed in the certificate of a margin, or that of the promise alone in its place."""
    margin = _margin_of(document)
    changes = [_price, _dual, _dual, _dual, _split, _leaf, _trim, _trim_of_everything, _tree_node, _certificate_bits]
    changes += [_end, _piece_dual, _certificate_left_out]
    if rng.random() < 0.1:
        margin["certificate"] = document["certificate"]
        return
    inner = document | {"certificate": margin["certificate"]}
    rng.choice(changes)(inner, rng)
    margin["certificate"] = inner["certificate"]


def _margin_dual(document, rng):
    """A dual of a margin negated, scaled, shortened, or with entries of one role in another's place."""
    certificate = _margin_of(document)["certificate"]
    if not (certificate or {}).get("duals"):
        raise _ImpossibleError
    dual = rng.choice(certificate["duals"])
    i, j = rng.randrange(len(dual)), rng.randrange(len(dual))
    change = rng.randrange(6)
    if change == 0:
        dual[i] = -dual[i]
    elif change == 1:
        dual[i], dual[j] = dual[j], dual[i]
    elif change == 2:
        dual[:] = [2 * entry for entry in dual]
    elif change == 3:
        dual[min(i, j) : max(i, j)] = [0] * (max(i, j) - min(i, j))
    elif change == 4:
        dual[:] = rng.choice([dual[:-1], [*dual, 0], dual[1:]])
    else:
        dual[i] += rng.choice([-1, 1]) * 2 ** rng.randrange(60)


def _of_pieces(document):
    certificate = document["certificate"]
    if certificate is None or certificate["kind"] not in ("actions", "squares"):
        raise _ImpossibleError
    return certificate


def _piece_missing(document, rng):
    """An action, or a cell of means, that nothing is proven about; or one too many, or a piece twice."""
    certificate = _of_pieces(document)
    listed = certificate[rng.choice(sorted({"duals", "tree"} & set(certificate)))]
    change, i = rng.randrange(4), rng.randrange(len(listed))
    if change == 0:
        del listed[i]
    elif change == 1:
        listed.insert(i, copy.deepcopy(rng.choice(listed)))
    elif change == 2:
        del listed[i:]
    else:
        listed[i] = copy.deepcopy(rng.choice(listed))


def _piece_dual(document, rng):
    """A dual with a sign turned, a digit changed, all nothing, or that of another piece."""
    duals = _of_pieces(document)["duals"]
    dual = rng.choice(duals)
    entry = rng.choice([rng.randrange(len(dual)), len(dual) - 1])
    change = rng.randrange(5)
    if change == 0:
        dual[entry] = -dual[entry]
    elif change == 1:
        dual[entry] = _digit(dual[entry], rng)
    elif change == 2:
        dual[:] = [-own for own in dual]
    elif change == 3:
        dual[:-1] = [0] * (len(dual) - 1)
    else:
        dual[:] = rng.choice(duals)


def _cell_of_means(document, rng):
    """A split moved, turned into a leaf or of another coordinate, or a leaf with another dual."""
    if _of_pieces(document)["kind"] != "squares":
        raise _ImpossibleError
    certificate = document["certificate"]
    one, node = 2 ** certificate["bits"], rng.choice(certificate["tree"])
    if len(node) == 1:
        node[:] = rng.choice([[rng.randrange(len(certificate["duals"]) + 1)], [0, one // 2], []])
    else:
        near = node[1] + rng.choice([-1, 1]) * one // rng.choice([4, 64, 1024])
        node[:] = rng.choice(
            [[node[0], max(near, 0)], [node[0] + 1, node[1]], [0], [*node, 1], [node[0], rng.choice([0, one, one + 1])]]
        )


def _gain(document, rng):
    """What an action gains, or a value of X, changed: by a digit, in its sign, beyond its form; or a row left out or twice."""
    stated = document["utility"]
    rows = None if stated is None else stated.get("gains", stated.get("values"))
    if rows is None:
        raise _ImpossibleError
    i, change = rng.randrange(len(rows)), rng.randrange(5)
    x = rng.randrange(len(rows[i]))
    if change == 0:
        rows[i][x] = _changed_decimal(rows[i][x].removeprefix("-"), rng)
    elif change == 1:
        rows[i][x] = rows[i][x][1:] if rows[i][x].startswith("-") else "-" + rows[i][x]
    elif change == 2:
        rows[i][x] = rng.choice(["", "1e3", "+1", " 1", ".5", 1, None, "--1", "1" * 500, "0." + "0" * 390 + "1"])
    elif change == 3:
        rows[i] = rng.choice([rows[i][:-1], [*rows[i], "1"], list(rng.choice(rows)), [], None])
    else:
        del rows[i]
        if "actions" in stated and rng.random() < 0.7:
            del stated["actions"][i]


def _certificate_of_another(document, rng):
    document["certificate"] = json.loads(base(rng.randrange(FILES)))["certificate"]


def _certificate_left_out(document, rng):
    document["certificate"] = None


def _joint_of_another(document, rng):
    document["joint"] = json.loads(base(rng.randrange(FILES)))["joint"]


def _count(document, rng):
    row = rng.choice(document["joint"]["counts"])
    x = rng.randrange(len(row))
    row[x] = rng.choice([_digit(row[x], rng), row[x] + 1, 0, row[x] * 1000])


def _listed(document):
    """The promise's parts as the file lists them, itself if it is no intersection."""
    return document["promise"].get("parts", [document["promise"]])


def _parts(document):
    """The same, but of promises on average what is averaged: where the parameters are."""
    return [part.get("of", part) for part in _listed(document)]


def _promise(document, rng):
    part = rng.choice(_parts(document))
    name = rng.choice(sorted(set(part) - {"region"}))
    if rng.random() < 0.2:
        part[name] = rng.choice(
            ["inf", "0", "1", "1.0000001", "1000000000", "1000", "1000.1", "-1", "1e3", ".5", "0.5 "]
        )
        return
    if part[name] == "inf":
        raise _ImpossibleError
    part[name] = _changed_decimal(part[name], rng)


def _scaled(part, factor):
    """The part with all of its budgets times a factor, cut to 40 digits."""
    budgets = {name: Fraction(part[name]) * Fraction(factor) for name in _BUDGETS if name in part}
    return part | {name: _text(value) for name, value in budgets.items()}


def _text(value):
    digits = str(int(value * 10**40)).rjust(41, "0")
    return f"{digits[:-40]}.{digits[-40:]}"


def _promise_stronger(document, rng):
    """The file claims what its mechanism does not keep, or keeps by chance."""
    part = rng.choice(_parts(document))
    part.update(_scaled(part, rng.choice(["0.5", "0.9", "0.999", "0.999999999", "0.999999999999999", "0.00001"])))


def _promise_weaker(document, rng):
    """The mechanism keeps it, but the certificate was made for a smaller set."""
    part = rng.choice(_parts(document))
    part.update(_scaled(part, rng.choice(["2", "1.1", "1.001", "1.0001", "1.00000001", "1000"])))


def _parameter(document, rng):
    """One parameter moved far, to a limit or beyond it, or by a hundredth."""
    part = rng.choice(_parts(document))
    name = rng.choice(sorted(set(part) - {"region"}))
    if name in _BUDGETS:
        near = [_scaled(part, factor)[name] for factor in ("0.9", "0.99", "1.01")]
        part[name] = rng.choice(["0", "0.01", "1000", "1000.0001", *near])
    else:
        part[name] = rng.choice(["inf", "1000000000", "1000000000.1", "1", "1.000000001", "1.5", "7"])


def _another(part, rng):
    """A promise of another region with the same budgets."""
    budgets = [part[name] for name in _BUDGETS if name in part]
    region = rng.choice([name for name in _PARAMETERS if name != part["region"]])
    own = {name: "inf" if rng.random() < 0.3 else rng.choice(["2", "1.25", "30"]) for name in _PARAMETERS[region]}
    return {"region": region} | own | {name: rng.choice(budgets) for name in _PARAMETERS[region] if name in _BUDGETS}


def _region(document, rng):
    """LDP is claimed and LIP kept, and so on; sometimes the duals are made to fit."""
    parts = _parts(document)
    number = rng.randrange(len(parts))
    new = _another(parts[number], rng)
    if _has_tree(document) and rng.random() < 0.7:
        for blocks in _blocks(document):
            w = blocks[number][: len(document["labels"]["s"])]
            blocks[number][:] = [*w, rng.choice([1, 2 ** document["certificate"]["bits"]])][: len(w) + _scales(new)]
    parts[number].clear()
    parts[number].update(new)


def _region_name(document, rng):
    """The name alone: most have other parameters then."""
    part = rng.choice(_parts(document))
    part["region"] = rng.choice([*_PARAMETERS, "Intersection", "MaxLift", "PML", "lip", "Renyi ", ""])


def _parameter_of_another(document, rng):
    part = rng.choice([document["promise"], *_parts(document)])
    name = rng.choice(["alpha", "order", "epsilon", "lower", "upper", "parts"])
    part[name] = rng.choice(["2", "0.1", "inf", [], part.get("epsilon", "0.3")])
    if rng.random() < 0.5:
        del part[rng.choice(sorted(set(part) - {name, "region"}) or [name])]


def _scales(part):
    """How many entries a dual of this part has after w."""
    return int(part["region"] == "KL")


@contextlib.contextmanager
def _block_of(document, dual):
    """The dual as a list for each part; what is changed in them is changed in the dual."""
    secrets, rest, blocks = len(document["labels"]["s"]), list(dual), []
    for part in _listed(document):
        blocks.append(rest[: secrets + _scales(part)])
        rest = rest[len(blocks[-1]) :]
    yield blocks
    dual[:] = [entry for block in blocks for entry in block] + rest


def _blocks(document):
    """The same for every dual of a tree, one after the other."""
    for dual in _certificate(document, "tree")["duals"]:
        with _block_of(document, dual) as blocks:
            yield blocks


def _has_tree(document):
    return document["certificate"] is not None and document["certificate"]["kind"] == "tree"


def _dual_signs(document, rng):
    """Some or all of w negated, in one dual or in all."""
    secrets, everywhere = len(document["labels"]["s"]), rng.random() < 0.3
    duals = _certificate(document, "tree")["duals"]
    for dual in duals if everywhere else [rng.choice(duals)]:
        with _block_of(document, dual) as blocks:
            block = rng.choice(blocks)
            for s in range(secrets):
                block[s] *= rng.choice([-1, -1, 1])


def _dual_scale(document, rng):
    """The b of KL: nothing, negative, tiny, huge."""
    numbers = [number for number, part in enumerate(_listed(document)) if _scales(part)]
    if not numbers:
        raise _ImpossibleError
    number, dual = rng.choice(numbers), rng.choice(_certificate(document, "tree")["duals"])
    with _block_of(document, dual) as blocks:
        b = blocks[number][-1]
        blocks[number][-1] = rng.choice(
            [0, -b, 1, -1, b // 2, b + 1, b * 2, b * 2**20, b * 2**200, 10**1290, b // 2**20]
        )


def _dual_moved(document, rng):
    """All of w shifted with nu, which proves the same where E l = 1 is used, or shifted against it."""
    duals = _certificate(document, "tree")["duals"]
    shift, secrets = rng.choice([-1, 1]) * rng.getrandbits(rng.choice([4, 20, 28, 40])), len(document["labels"]["s"])
    number, also = rng.randrange(len(_parts(document))), rng.choice([shift, shift, -shift, 0])
    for dual in rng.choice([duals, [rng.choice(duals)]]):
        with _block_of(document, dual) as blocks:
            blocks[number][:secrets] = [entry + shift for entry in blocks[number][:secrets]]
        dual[-1] += also


def _dual_length(document, rng):
    duals = _certificate(document, "tree")["duals"]
    change, place = rng.randrange(4), rng.choice([0, 1, -1, len(duals[0]) // 2])
    for dual in rng.choice([duals, [rng.choice(duals)]]):
        if change == 0:
            del dual[place]
        elif change == 1:
            dual.insert(place, rng.choice([0, 1, dual[0]]))
        elif change == 2:
            dual.extend(dual[:-1])
        else:
            dual[:] = dual[place:]


def _dual_blocks(document, rng):
    """The blocks of a dual in another order, or one in place of another."""
    if len(_parts(document)) == 1:
        raise _ImpossibleError
    change = rng.randrange(3)
    for blocks in _blocks(document):
        if change == 0:
            blocks.reverse()
        elif change == 1:
            blocks[0] = list(blocks[-1])
        else:
            blocks[-1] = [0] * len(blocks[-1])


def _intersection(document):
    if "parts" not in document["promise"]:
        raise _ImpossibleError
    return document["promise"]["parts"]


def _parts_swapped(document, rng):
    parts = _intersection(document)
    if _has_tree(document) and rng.random() < 0.5:
        for blocks in _blocks(document):
            blocks.reverse()
    parts.reverse()


def _part_missing(document, rng):
    """One part less; its duals may stay. With one part alone it is no intersection."""
    parts = _intersection(document)
    number = rng.randrange(len(parts))
    if _has_tree(document) and rng.random() < 0.7:
        for blocks in _blocks(document):
            del blocks[number]
    del parts[number]
    if len(parts) == 1 and rng.random() < 0.7:
        document["promise"] = parts[0]


def _part_added(document, rng):
    """One promise more, mostly with duals that fit: a weaker one, a stronger one, a copy, a perfect one."""
    parts = _parts(document)
    own = rng.choice(parts)
    weaker, stronger, perfect = _scaled(own, "1.5"), _scaled(own, "0.9"), _scaled(own, "0")
    other = _another(own, rng)
    new = rng.choice([weaker, stronger, dict(own), perfect, other, _scaled(other, "0"), _scaled(other, "10")])
    bits = rng.choice([1, 2**10, 2**28])
    if _has_tree(document) and rng.random() < 0.8:
        filling = rng.choice([[0], [0], [1], [-(2**20)]]) * len(document["labels"]["s"])
        for blocks in _blocks(document):
            blocks.append(filling + [bits] * _scales(new))
    document["promise"] = {"region": "Intersection", "parts": [*parts, new]}


def _part_perfect(document, rng):
    """A budget of one part, or of the whole promise, becomes zero: no lift but one is allowed."""
    part = rng.choice(_parts(document))
    names = [name for name in _BUDGETS if name in part]
    part[rng.choice(names)] = rng.choice(["0", "0.0", "0" * 30 + "." + "0" * 400])


def _part_nested(document, rng):
    parts = _parts(document)
    inner = {"region": "Intersection", "parts": [*parts, *parts][: max(2, len(parts))]}
    document["promise"] = rng.choice(
        [
            {"region": "Intersection", "parts": [inner, parts[0]]},
            {"region": "Intersection", "parts": [document["promise"]]},
            {"region": "Intersection", "parts": document["promise"]},
            {"region": "Intersection", "parts": [parts[0], parts]},
            {"region": "Intersection", "parts": []},
        ]
    )


def _part_repeated(document, rng):
    """The first part several times, with its dual or with nothing in the others' place. Nine parts are too many."""
    times = rng.choice([2, 3, 8, 9])
    parts = _parts(document)
    if _has_tree(document) and rng.random() < 0.8:
        nothing, secrets = rng.random() < 0.7, len(document["labels"]["s"])
        for blocks in _blocks(document):
            other = [0] * secrets + blocks[0][secrets:] if nothing else blocks[0]
            blocks[:] = [blocks[0]] + [list(other) for _ in range(times - 1)]
    document["promise"] = {"region": "Intersection", "parts": [dict(parts[0]) for _ in range(times)]}


_BUDGETS = ["epsilon", "lower", "upper"]
_PARAMETERS = {
    "AlphaLift": ["alpha", "epsilon"],
    "Renyi": ["order", "epsilon"],
    "LIP": ["lower", "upper"],
    "LDP": ["epsilon"],
    "TotalVariation": ["epsilon"],
    "ChiSquare": ["epsilon"],
    "KL": ["epsilon"],
}


def _claim(document, rng):
    name = rng.choice(sorted(document["claims"]))
    document["claims"][name] = _changed_decimal(document["claims"][name], rng)


def _changed_decimal(text, rng):
    """One of its digits changed, the first and the last more often than others."""
    places = [place for place, character in enumerate(text) if character != "."]
    place = rng.choice([rng.choice(places), places[-1], places[0]])
    return text[:place] + rng.choice("0123456789".replace(text[place], "")) + text[place + 1 :]


def _label(document, rng):
    names = document["labels"][rng.choice("sxy")]
    i, change = rng.randrange(len(names)), rng.randrange(4)
    if change == 0:
        names[i] = names[i - 1]
    elif change == 1:
        names[i] = rng.choice(["", "\ud800", "\x00", "é" * 3])
    elif change == 2:
        names.append("one more")
    else:
        del names[i]


def _places(value):
    """Every (container, key) of a document."""
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _places(value[key])


def _any_place(document, rng):
    """A key of the file first, then a place below it: most places are in the tree."""
    key = rng.choice(sorted(document))
    return rng.choice([(document, key), *_places(document[key])])


def _junk(document, rng):
    container, key = _any_place(document, rng)
    junk = [None, True, False, -1, 1.5, 0, 10**1299, math.nan, math.inf, "", "1", [], {}, [[]], [[[[0]]]], {"s": 1}]
    container[key] = rng.choice(junk)


def _missing(document, rng):
    container, key = _any_place(document, rng)
    del container[key]


def _extra(document, rng):
    lists = [value for container, key in _places(document) if isinstance(value := container[key], dict | list)]
    container = rng.choice([document, rng.choice(lists)])
    if isinstance(container, dict):
        container[rng.choice(["", "extra", "bits", "alpha"])] = rng.choice([0, "1", None])
    else:
        container.append(copy.deepcopy(rng.choice([0, [0], *container])))


def _transposed(document, rng):
    container, key = rng.choice([(document, "weights"), (document["joint"], "counts")])
    container[key] = [list(row) for row in zip(*container[key], strict=False)]  # a file's weights are of any length


def _version(document, rng):
    document.update(
        rng.choice([{"version": 1}, {"version": True}, {"version": "3"}, {"version": 6}, {"format": "alphalift"}])
    )


def _version_2(document, rng):
    """The file as the second version had it: all weights, and earlier mechanisms that do not say how theirs are listed."""
    document.pop("utility", None)
    document.pop("margin", None)
    for own in [document, *(document["after"] or {"mechanisms": []})["mechanisms"]]:
        with _all_weights(own) as rows:
            pass
        own["weights"] = rows if rng.random() < 0.9 else own["weights"]
        own["version"] = rng.choice([2, 2, 2, 3])
        own["identity"] = second_checker.identity(own)
        if own is not document and rng.random() < 0.8:
            del own["version"]


def _version_3(document, rng):
    """The file as the third version had it: without a utility, which was mutual information."""
    document["version"] = 3
    if rng.random() < 0.8:
        del document["utility"]
    if rng.random() < 0.9:
        del document["margin"]


def _version_4(document, rng):
    """The file as the fourth version had it: without a margin."""
    document["version"] = 4
    if rng.random() < 0.8:
        del document["margin"]
    if rng.random() < 0.8:
        document["claims"].pop("optimum_with_margin_at_most", None)


def _utility(document, rng):
    """Another utility than that of the claims, none, or one that is stated as it must not be."""
    known, own = ["MutualInformation", "GuessingAccuracy", "Decision", "SquaredError"], document["utility"]
    others = [{"name": "FInformation", "f": name} for name in second_checker.DIVERGENCES]
    changes = [None, {}, [], own["name"], own | {"unit": "bits"}, own | {"name": "Accuracy"}, own | {"name": None}]
    changes += [{"name": "FInformation"}, {"name": "FInformation", "f": None}, {"name": "FInformation", "f": "KL"}]
    document["utility"] = rng.choice([*changes, *others, *({"name": name} for name in known)])
    if rng.random() < 0.3:
        document["claims"] = {}
    if rng.random() < 0.3:
        document["certificate"] = None


def _version_1(document, rng):
    """The file as the first version had it: all weights, and without what it comes after."""
    with _all_weights(document) as rows:
        pass
    del document["table"], document["after"], document["utility"], document["margin"]
    document["version"], document["weights"] = 1, rows


def _earlier(document):
    if document["after"] is None:
        raise _ImpossibleError
    return document["after"]


def _cell(document, rng):
    cell = rng.choice(_earlier(document)["cells"])
    place = rng.randrange(len(cell))
    cell[place] = rng.choice([cell[place] + 1, 0, cell[place] * 2, -1, True, 10**9])


def _cells_moved(document, rng):
    """Counts of two cells exchanged, or one split in two: sums that may stay as they are."""
    cells = _earlier(document)["cells"]
    one, other = rng.sample(cells, 2)
    if rng.random() < 0.5:
        one[-1], other[-1] = other[-1], one[-1]
    elif one[-1] > 1:
        one[-1] -= 1
        cells.append([*one[:-1], 1])
    else:
        rng.shuffle(cells)


def _earlier_weights(document, rng):
    """Another mechanism before, with the identity that belongs to it."""
    own = rng.choice(_earlier(document)["mechanisms"])
    with _all_weights(own) as weights:
        if rng.random() < 0.5:
            weights.reverse()
        else:
            x = rng.randrange(len(weights[0]))
            give, take = rng.sample(range(len(weights)), 2) if len(weights) > 1 else (0, 0)
            moved = rng.randrange(weights[give][x] + 1)
            weights[give][x] -= moved
            weights[take][x] += moved
    if rng.random() < 0.8:
        own["identity"] = second_checker.identity(own)


def _earlier_mechanisms(document, rng):
    mechanisms = _earlier(document)["mechanisms"]
    change = rng.randrange(4)
    if change == 0:
        mechanisms.pop()
    elif change == 1:
        mechanisms.append(copy.deepcopy(mechanisms[0]))
        for cell in document["after"]["cells"]:
            cell.insert(-1, cell[-2])
    elif change == 2:
        document["after"] = None
    else:
        mechanisms[0] = {"identity": mechanisms[0]["identity"]}


def _table(document, rng):
    table = {"sensitive": ["s"], "useful": ["x"], "bins": {}, "declared": [], "without_mass": []}
    changes = [
        {"useful": []},
        {"declared": ["z"]},
        {"bins": {"x": ["2", "1"]}},
        {"bins": {"x": ["-1", "1.5"]}},
        {"bins": {"z": ["1"]}},
        {"bins": {"x": [1]}},
        {"without_mass": document["labels"]["x"][:1]},
        {"without_mass": ["nobody"]},
        {"sensitive": ["s", "s"]},
        {"extra": 1},
    ]
    document["table"] = table | rng.choice(changes)


def _whole_file(document, rng):
    return rng.choice([{"format": document}, dict.fromkeys(document), {name: [] for name in document}])


def _truncated(content, rng):
    return content[: rng.randrange(len(content))]


def _byte(content, rng):
    place = rng.randrange(len(content))
    return content[:place] + bytes([rng.randrange(256)]) + content[place + 1 :]


def _duplicate_key(content, rng):
    """A second epsilon, joint or claim; a reader that takes the last one and one that takes the first would differ."""
    key = rng.choice(
        [
            "epsilon",
            "region",
            "upper",
            "parts",
            "bits",
            "utility_at_least",
            "prices",
            "counts",
            "s",
            "utility",
            "version",
            "weights",
        ]
    )
    mark = f'"{key}":'.encode()
    if mark not in content:
        raise _ImpossibleError
    second = mark + rng.choice([b'"9"', b"1", b"[]"]) + b","
    return content.replace(mark, second + mark, 1)


def _in_place_of_a_number(content, new, rng):
    number = rng.choice(list(re.finditer(rb"(?<=[\[, ])-?[0-9]+(?=[\],])", content)))
    return content[: number.start()] + new + content[number.end() :]


def _deep(content, rng):
    depth = rng.choice([100, 900, 2000, 200_000])
    nested = [b"[" * depth + b"]" * depth, b'{"s":' * depth + b"0" + b"}" * depth, b"[" * depth]
    return _in_place_of_a_number(content, rng.choice(nested), rng)


def _huge_number(content, rng):
    digits = b"9" * rng.choice([1299, 1300, 1301, 4301, 1_000_000])
    return _in_place_of_a_number(content, rng.choice([b"", b"-"]) + digits, rng)


def _no_integer(content, rng):
    numbers = [b"1.0", b"1e1", b"NaN", b"Infinity", b"-Infinity", b"-0", b"01", b"+1", b"0x1", b"true", b"1_0", b'"1"']
    return _in_place_of_a_number(content, rng.choice(numbers), rng)


def _no_text(content, rng):
    return rng.choice(
        [
            b"\xef\xbb\xbf" + content,
            content.decode().encode("utf-16"),
            content + b"{}",
            content.replace(b"s0", b"s\xff", 1),
            content.replace(b"s0", b"\xed\xa0\x80", 1),
            b"\x00" + content,
            b"",
            bytes(rng.randrange(256) for _ in range(200)),
        ]
    )


def _withheld(hidden, opening, rng):
    return None


def _withheld_right_opening(hidden, opening, rng):
    return opening


def _withheld_wrong_counts(hidden, opening, rng):
    opening = copy.deepcopy(opening)
    row = rng.choice(opening["counts"])
    x = rng.randrange(len(row))
    row[x] = rng.choice([row[x] + 1, row[x] * 2 + 1, True, 1.5, -1])
    return opening


def _withheld_wrong_salt(hidden, opening, rng):
    return opening | {"salt": rng.choice(["", opening["salt"] + "0", opening["salt"].upper() + " ", 1, None])}


def _withheld_wrong_form(hidden, opening, rng):
    opening = copy.deepcopy(opening)
    change = rng.randrange(4)
    if change == 0:
        del opening[rng.choice(sorted(opening))]
    elif change == 1:
        opening["extra"] = 0
    elif change == 2:
        hidden["certificate"] = {}
    else:
        hidden["joint"]["counts"] = opening["counts"]
    return opening


_WITHHELD_CHANGES = [
    _withheld,
    _withheld_right_opening,
    _withheld_wrong_counts,
    _withheld_wrong_salt,
    _withheld_wrong_form,
]
_TEXT_CHANGES = [_truncated, _byte, _duplicate_key, _deep, _huge_number, _no_integer, _no_text]
_DOCUMENT_CHANGES = [
    _weight,
    _weights_of_a_column_moved,
    _weights_listed,
    _unseen,
    _unseen_uniform,
    _bits,
    _price,
    _dual,
    _split,
    _leaf,
    _trim,
    _trim_of_everything,
    _merged,
    _merged_by_force,
    _merged_changed,
    _certificate_bits,
    _average_price,
    _end,
    _tree_node,
    _local_dual,
    _local_split,
    _local_tree,
    _local_groups,
    _local_joint,
    _local_kind,
    _piece_missing,
    _piece_dual,
    _cell_of_means,
    _gain,
    _certificate_of_another,
    _certificate_left_out,
    _joint_of_another,
    _count,
    _promise,
    _promise_stronger,
    _promise_weaker,
    _parameter,
    _region,
    _region_name,
    _parameter_of_another,
    _dual_signs,
    _dual_scale,
    _dual_moved,
    _dual_length,
    _dual_blocks,
    _parts_swapped,
    _part_missing,
    _part_added,
    _part_perfect,
    _part_nested,
    _part_repeated,
    _claim,
    _label,
    _junk,
    _missing,
    _extra,
    _transposed,
    _version,
    _version_1,
    _version_2,
    _version_3,
    _version_4,
    _margin_errors,
    _margin_form,
    _margin_certificate,
    _margin_dual,
    _utility,
    _cell,
    _cells_moved,
    _earlier_weights,
    _earlier_mechanisms,
    _table,
    _whole_file,
]


@dataclass(frozen=True)
class Judgement:
    """What became of a mutant: the outcome in a word, and what is wrong with the first checker's answer, if anything."""

    kind: str
    outcome: str
    complaints: tuple[str, ...]


class _TooSlowError(BaseException):
    """Not an Exception, so that nothing in between catches it."""


def _alarm(signum, frame):
    raise _TooSlowError


def judge(changed, directory):
    """Both checkers on one mutant. A claim that the first accepts must be proven by the second."""
    path = Path(directory) / "mutant.json"
    path.write_bytes(changed.content)
    opening = Path(directory) / "opening.json" if changed.opening is not None else None
    if opening is not None:
        opening.write_bytes(changed.opening)
    signal.signal(signal.SIGALRM, _alarm)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        first = _first(path, opening)
    except (Exception, _TooSlowError) as error:
        return Judgement(changed.kind, "escaped", (f"{type(error).__name__} escaped: {error}"[:200],))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    second = _second(changed)
    outcome = "not read" if not first else "proven" if all(first.values()) else "refused"
    return Judgement(changed.kind, outcome, tuple(_disagreements(changed, first, second)))


def _first(path, opening):
    """Claim -> proven; empty where `read` refuses the file."""
    try:
        values = [checker.read(name) for name in (path, opening) if name is not None]
    except checker.RefusedError:
        return {}
    return {verdict.claim: verdict.proven for verdict in checker.check(*values)}


def _second(changed):
    try:
        values = [
            second_checker.parse(content) for content in (changed.content, changed.opening) if content is not None
        ]
    except ValueError:
        return {}
    return second_checker.verdicts(*values)


def _disagreements(changed, first, second):
    for claim, proven in first.items():
        if proven and not second.get(claim, False):
            yield f"{claim} was accepted, and the second checker does not prove it"
        # These are decided exactly, so that neither may miss what the other proves; the optimum may differ by rounding.
        elif not proven and second.get(claim, False) and not claim.startswith("optimum"):
            yield f"{claim} was refused, and the second checker proves it"
    unopened = changed.kind.startswith("withheld") and changed.kind != "withheld_right_opening"
    if unopened and any(proven for claim, proven in first.items() if claim != "form"):
        yield "a claim about a withheld joint was accepted without its opening"
