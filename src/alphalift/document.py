"""Mechanism files: a design with its claims and their proof as JSON (docs/format.md), and back."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import Any

from flint import arb

from alphalift.clock import Clock
from alphalift.errors import InputError, PromiseError, ProofError
from alphalift.exact import decimal
from alphalift.joint import Bins, Joint, Origin, Variable
from alphalift.proof import checker
from alphalift.proof.checker import Integers, Verdict
from alphalift.proof.export import exported, shortened, tree_of
from alphalift.proof.said import statement_in
from alphalift.proof.statement import checkable, region_of, statement, utility_of, utility_statement
from alphalift.regions import Region
from alphalift.solution import Solution
from alphalift.together import Earlier
from alphalift.utilities import MutualInformation, Utility
from alphalift.whole import whole_file

# Digits of a claim; the checker's balls are narrower.
_DIGITS = 15
# Leaves whose proof is timed, to know how many there is time for; and the share of the time that is given to them.
_TIMED_LEAVES, _TIME_SHARE = 32, 0.8
# Leaves times symbols of the largest tree that is stored: some 50 MB, which take half a minute to check.
_MOST_NUMBERS = 2_400_000


def to_document(solution: Solution, *, clock: Clock | None = None) -> dict[str, Any]:
    """The file's content. What it claims is what the checker's own functions prove, rounded to the safe side.

    Of a certificate that would take longer to prove than the clock has left, as much is stored as there is time for: the
    file then claims a bound that is not as good.
    """
    integers = solution.integers
    if integers is None or checkable(solution.region) is None:
        raise InputError("only a proven mechanism can be written; this one is not (see design and prove)")
    counts = [list(row) for row in solution.joint.weights]
    utility = utility_statement(solution.utility_function)
    certificate, claims = None, dict[str, str]()  # of a utility that the checker does not know nothing is claimed
    margin, clock = _margin(solution), clock or Clock()
    if known := checker.utility_of(utility, len(counts[0])):
        if margin is not None and solution.margin is not None:
            margin["certificate"], within = _bounded(solution.margin, known, clock)
        certificate, bound = _bounded(solution, known, clock)
        claims = {
            "utility_at_least": _rounded(known.worth(list(solution.joint.x_weights), integers).lower(), upwards=False),
            "optimum_at_most": _rounded(bound.upper(), upwards=True),
        }
        if margin is not None:
            claims["optimum_with_margin_at_most"] = _rounded(within.upper(), upwards=True)
    return {
        "format": "alphalift-mechanism",
        "version": 5,
        "identity": integers.identity,
        "labels": integers.labels,
        "promise": statement(solution.region),
        "utility": utility,
        "claims": claims,
        "provenance": {
            "package": f"alphalift {version('alphalift')}",
            "solver": solution.settings,
            "status": solution.status.name.lower(),
        },
        "bits": integers.bits,
        "unseen": integers.unseen,
        "weights": integers.listed,
        "joint": {"counts": counts},
        "certificate": certificate,
        "margin": margin,
        "table": _table(solution.joint),
        "after": _after(solution.after),
    }


def _margin(solution: Solution) -> dict[str, Any] | None:
    """The margin that the mechanism leaves, where one is known to the checker; its certificate is still to come."""
    if solution.margin is None or checkable(solution.margin.region) is None:
        return None
    return {"errors": decimal(solution.margin.region.parameters["errors"]), "certificate": None}


def _bounded(solution: Solution, utility: checker.Utility, clock: Clock) -> tuple[dict[str, Any] | None, arb]:
    """The certificate as a file has it, and the bound that it proves; shortened to what there is time for."""
    tree = tree_of(solution.certificate)
    if tree is not None and solution.certificate is not None:
        solution = replace(solution, certificate=shortened(solution.certificate, _MOST_NUMBERS // len(tree.prices)))
    certificate, tree = solution.certificate, tree_of(solution.certificate)
    if certificate is not None and tree is not None and tree.leaves > _TIMED_LEAVES and math.isfinite(clock.seconds):
        before = clock.elapsed
        first = _proven_bound(replace(solution, certificate=shortened(certificate, _TIMED_LEAVES)), utility)
        leaves = _TIMED_LEAVES * _TIME_SHARE * clock.left / (clock.elapsed - before)
        if leaves <= _TIMED_LEAVES:
            return first
        if leaves < tree.leaves:
            solution = replace(solution, certificate=shortened(certificate, int(leaves)))
    return _proven_bound(solution, utility)


def _proven_bound(solution: Solution, utility: checker.Utility) -> tuple[dict[str, Any] | None, arb]:
    promise = checkable(solution.region)
    assert promise is not None
    stored = exported(solution.certificate, solution.joint, solution.region, solution.utility_function)
    try:
        return stored, checker.optimum_bound(solution.region.blocks(solution.joint), promise, stored, utility)
    except checker.RefusedError as error:
        raise ProofError(f"the solver's bound cannot be proven: {error}") from None


def _table(joint: Joint) -> dict[str, Any] | None:
    """Which columns the symbols come from, as a release needs to know it."""
    origin = joint.origin
    if origin is None:
        return None
    return {
        "sensitive": list(origin.sensitive),
        "useful": list(origin.useful),
        "bins": _edges(origin.bins),
        "declared": list(origin.declared),
        "without_mass": list(joint.x_without_mass),
    }


def _edges(bins: Bins) -> dict[str, list[str]]:
    return {column: [decimal(edge) for edge in edges] for column, edges in bins}


def _bins(edges: dict[str, list[str]]) -> Bins:
    return tuple((column, tuple(map(float, own))) for column, own in edges.items())


def _origin(table: dict[str, Any] | None) -> Origin | None:
    if table is None:
        return None
    return Origin(tuple(table["sensitive"]), tuple(table["useful"]), _bins(table["bins"]), tuple(table["declared"]))


def _earlier(after: dict[str, Any]) -> Earlier:
    earlier = [checker.integers_of(own) for own in after["mechanisms"]]
    read = [
        Variable(tuple(table["useful"]), tuple(integers.labels["x"]), _bins(table["bins"]))
        if (table := own["table"]) is not None
        else Variable((), tuple(integers.labels["x"]))
        for own, integers in zip(after["mechanisms"], earlier, strict=True)
    ]
    return Earlier(tuple(earlier), tuple(map(tuple, after["cells"])), tuple(read))


def _after(earlier: Earlier | None) -> dict[str, Any] | None:
    if earlier is None:
        return None
    mechanisms = [
        {
            "identity": own.identity,
            "labels": own.labels,
            "bits": own.bits,
            "weights": own.listed,
            "version": 2 if own.dense else 3,
            "unseen": own.unseen,
            "table": {"useful": list(read.columns), "bins": _edges(read.bins)} if read.columns else None,
        }
        for own, read in zip(earlier.integers, earlier.variables, strict=True)
    ]
    return {"mechanisms": mechanisms, "cells": [list(cell) for cell in earlier.cells]}


def to_json(document: dict[str, Any]) -> str:
    """The document as text, one line for each key: the same bytes for the same document."""
    lines = (f"{json.dumps(key)}: {json.dumps(value, separators=(',', ':'))}" for key, value in document.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def save(document: dict[str, Any], path: str | Path) -> None:
    """Write a document, or the opening of one, as a whole file; readable by its owner alone if it has counts."""
    shared = "commitment" in document.get("joint", {})
    with whole_file(Path(path), private=not shared) as part:
        part.write_text(to_json(document), encoding="utf-8", newline="")


def withhold_joint(document: dict[str, Any], salt: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The document with a salted commitment in place of the counts, and the opening that reveals them.

    The certificate moves to the opening, since its numbers follow the counts. The law for unseen values is dropped,
    since it is P_Y, and P_X can be solved for from that and the weights: such a mechanism refuses unseen values. Earlier
    mechanisms are named under the salt. Claims keep the decimals that so many records support, rounded to the safe side: with fifteen
    they tell tables apart. So do fine weights: see `for_sharing`. And so do a margin and its certificate, which are left out.
    """
    counts, after = document["joint"]["counts"], document["after"]
    integers = replace(checker.integers_of(document), unseen=None)
    sealed = checker.commitment(salt, counts, None if after is None else after["cells"])
    digits = max(int(math.log10(sum(map(sum, counts)) / len(counts) / len(counts[0])) / 2), 1)
    hidden = {
        "identity": integers.identity,
        "unseen": None,
        "claims": {
            name: _decimal(Fraction(claim) * 10**digits, digits, upwards=name == "optimum_at_most")
            for name, claim in document["claims"].items()
            if name != "optimum_with_margin_at_most"
        },
        "joint": {"commitment": sealed},
        "certificate": None,
        "margin": None,
        # There is no law for values without mass, and that nobody has them is a count.
        "table": document["table"] and document["table"] | {"without_mass": []},
        "after": None
        if after is None
        else {"sealed": [checker.sealed_name(salt, own["identity"], own["table"]) for own in after["mechanisms"]]},
    }
    return document | hidden, {
        "salt": salt,
        "counts": counts,
        "certificate": document["certificate"],
        "after": after,
    }


@dataclass(frozen=True, eq=False)
class Stored:
    """A mechanism read from a file: its integers, promise and joint, and the verdict on each claim, all proven.

    `after` is what was released before, where the promise is about all of it together. `said` is what the file states about the
    population: no claim, and not proven. `utility` is what its figures are of; none where it claims none.
    """

    integers: Integers
    region: Region
    joint: Joint
    verdicts: tuple[Verdict, ...]
    after: Earlier | None = None
    said: str = ""
    utility: Utility | None = None


def load(path: str | Path, opening: str | Path | None = None) -> Stored:
    """Read a mechanism file; its promise is proven again, always, and what is not proven is refused."""
    try:
        document = checker.read(path)
        opened = checker.read(opening) if opening is not None else None
        verdicts = checker.check(document, opened)
    except checker.RefusedError as error:
        raise ProofError(f"{path} is refused: {error}") from None
    for verdict in verdicts:
        if not verdict.proven:
            raise ProofError(f"{path} is refused: {verdict.claim}: {verdict.text}")
    integers = checker.integers_of(document)
    counts = (opened or document["joint"])["counts"]
    # A file does not say whether its counts are records or a ratio, so the joint has no number of records.
    total = sum(map(sum, counts))
    shares = [[Fraction(count, total) for count in row] for row in counts]
    origin, table, after = _origin(document.get("table")), document.get("table"), (opened or document).get("after")
    declared = table["without_mass"] if table is not None else []
    shares = [[*row, *(Fraction(0) for _ in declared)] for row in shares]
    joint = Joint(shares, integers.labels["s"], [*integers.labels["x"], *declared], origin=origin)
    try:
        region = region_of(document["promise"])
    except PromiseError as error:
        raise ProofError(f"{path} is refused: floats cannot hold its promise: {error}") from None
    earlier = None
    if after is not None:
        earlier = _earlier(after)
        region = earlier.promise(region, joint)
    said = statement_in(document["provenance"]["solver"])
    stated = document.get("utility", {"name": MutualInformation.__name__})
    utility = None if stated is None else utility_of(stated).on(joint)
    return Stored(integers, region, joint, tuple(verdicts), earlier, said, utility)


def _rounded(value: arb, *, upwards: bool) -> str:
    """A decimal not below (`upwards`) or not above the number, and 0 if that would be negative."""
    mantissa, exponent = value.man_exp()
    return _decimal(Fraction(int(mantissa)) * Fraction(2) ** int(exponent) * 10**_DIGITS, _DIGITS, upwards=upwards)


def _decimal(scaled: Fraction, digits: int, *, upwards: bool) -> str:
    units = max(math.ceil(scaled) if upwards else math.floor(scaled), 0)
    return f"{units // 10**digits}.{units % 10**digits:0{digits}d}"
