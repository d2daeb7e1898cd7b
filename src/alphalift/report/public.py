"""The report for everybody: the mechanism and its promise, and nothing that is computed from the table's counts beside.

What a reader sees is a function of `Shared`. Of a file that withholds its counts this is what the file itself shows, of one that
has them what a codebook tells: P(y|x) in the digits that so many records support (docs/release.md).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.metadata import version

import numpy as np

from alphalift.arrays import supports
from alphalift.joint import Bins
from alphalift.proof.rounding import as_floats
from alphalift.proof.said import EVERYBODY, statement_in
from alphalift.proof.statement import checkable, region_of
from alphalift.regions import Region
from alphalift.release.outputs import Outputs
from alphalift.release.told import supported, told
from alphalift.report.filed import Filed
from alphalift.report.page import Html, Section, code, facts, figures, page, paragraph, sentences, table
from alphalift.report.rows import ReleasedRows
from alphalift.show.text import up
from alphalift.show.words import not_covered, only_on_average

# Shares of groups for which the promise is told as a number: of nobody's table.
_SHARES = (0.01, 0.05, 0.1, 0.3, 0.5)
# A whole table of P(y|x) up to so many columns; else the values that most often become an output, and so many outputs.
_MOST_COLUMNS, _MOST_VALUES, _MOST_OUTPUTS = 10, 12, 250
_WISHED = re.compile(r"the promise is (?:kept|NOT known to be kept there) with ([0-9.]+%) confidence if the ")


@dataclass(frozen=True)
class Shared:
    """What leaves: names, the promise, P(y|x) as text by output and value, and what is stated of the population."""

    secret: str
    useful: str
    promise: Region
    values: tuple[str, ...]
    outputs: tuple[str, ...]
    law: tuple[tuple[tuple[int, str], ...], ...]
    bins: Bins
    earlier: int
    statement: str
    identity: str

    @classmethod
    def of(cls, filed: Filed, released: ReleasedRows | None = None) -> Shared:
        """Of the file alone where it withholds its counts; else in the digits that a codebook of these rows has."""
        document, integers, variable = filed.document, filed.stored.integers, filed.stored.joint.useful
        records = filed.stored.joint.total
        statement = statement_in(document["provenance"]["solver"])
        if filed.withheld:
            matrix, digits = as_floats(integers.weights, integers.bits, len(integers.labels["x"])), 4
        else:
            matrix = told(integers, supported(None if released is None else released.rows, records))
            digits, statement = 12, _wished(statement)
        after = document.get("after") or {}
        return cls(
            secret=filed.secret,
            useful=filed.useful,
            promise=region_of(document["promise"]),
            values=tuple(integers.labels["x"]),
            outputs=Outputs.of(integers, variable).labels,
            law=tuple(
                tuple((x, f"{share:.{digits}g}") for x, share in zip(symbols.tolist(), shares.tolist(), strict=True))
                for symbols, shares in supports(matrix)
            ),
            bins=variable.bins,
            earlier=len(after.get("sealed", after.get("mechanisms", ()))),
            statement=statement,
            identity=integers.identity if filed.withheld else "",
        )


def _wished(statement: str) -> str:
    """What was asked for, where a statement has numbers of the records, or says what became of it there."""
    if statement == EVERYBODY or statement.startswith("not covered, since "):
        return statement
    if statement.startswith("the promise is kept whatever it is"):
        return "the promise was asked for whatever the population is"
    found = _WISHED.match(statement)
    if found is None:
        return ""
    return (
        f"the promise was asked for with {found[1]} confidence, if the records are a random sample of it; how well "
        "it is kept there is computed from the records, and not said here"
    )


def public_report(shared: Shared, *, released: ReleasedRows | None = None, date: str | None = None) -> str:
    """The page, from what is shared and the released rows alone."""
    sections = [
        Section("promise", "What is promised", _promise(shared)),
        Section("open", "What is not covered", _open(shared)),
        Section("mechanism", "The mechanism", _mechanism(shared)),
        *([] if released is None else [Section("released", "The released file", _released(released))]),
        Section("proof", "What is proven", _proof(shared)),
        Section("made", "About this report", _made(shared)),
    ]
    note = f"{f'{date}. ' if date else ''}For everybody: what is released, and what it may tell about {shared.secret}."
    head = figures(
        [(str(len(shared.values)), f"values of {shared.useful}"), (str(len(shared.outputs)), "possible outputs")]
    )
    return page(
        f"Release of {shared.useful}, protecting {shared.secret}",
        note,
        [head],
        sections,
        f"Written by alphalift {version('alphalift')}.",
    )


def _phrase(region: Region) -> str:
    known = checkable(region)
    return str(region) if known is None else known.text


def _promise(shared: Shared) -> list[Html]:
    region, about = shared.promise, shared.secret
    together = f", for this release together with {_releases(shared.earlier)} before it" if shared.earlier else ""
    who = "" if region.symmetric else "at most "
    rows = [[f"{share:.0%}", f"{who}{up(_limit(region, share), 2)} times as likely"] for share in _SHARES]
    return [
        paragraph(f"Promise about {about}: {_phrase(region)}{together}.", kind="lead"),
        paragraph(
            f"Every record's value of {shared.useful} is replaced by a random output. Whatever is released, for someone who knew only how "
            f"common each value of {about} is, a group that makes up so many of the people becomes at most so many times as likely:"
        ),
        table(
            "What the promise allows, whatever the table is",
            ["a group of", "becomes at most"],
            rows,
        ),
        sentences(only_on_average(region, about)),
    ]


def _limit(region: Region, share: float) -> float:
    """Of a group and all others, as if there were no more than two: further secrets only lower it."""
    return region.group_limit(np.array([True, False]), np.array([share, 1 - share]))


def _open(shared: Shared) -> list[Html]:
    stated = shared.statement or "nothing is said of it; what is proven is about the records of the table"
    return [
        sentences(
            [
                not_covered(shared.statement, after=bool(shared.earlier)),
                f"The population, as stated and not proven: {stated}.",
            ]
        )
    ]


def _mechanism(shared: Shared) -> list[Html]:
    """P(y|x): the whole matrix where it is narrow, else by output."""
    digits = (
        "as the shared file has it, to four digits"
        if shared.identity
        else "told to about the standard error that it has among the records of one value"
    )
    listed = [*zip(shared.outputs, shared.law, strict=True)][:_MOST_OUTPUTS]
    left = len(shared.outputs) - len(listed)
    if len(shared.values) <= _MOST_COLUMNS:
        whole = range(len(shared.values))
        caption = f"P(y|x), how often each value of {shared.useful} becomes each output: {digits}"
        rows = [[label, *(dict(row).get(x, "") for x in whole)] for label, row in listed]
        shown = table(caption, ["output", *shared.values], rows)
    else:
        caption = f"Of every output the values of {shared.useful} that most often become it, with P(y|x): {digits}"
        rows = [[label, _most(shared, row)] for label, row in listed]
        shown = table(caption, ["output", "values"], rows, left=(0, 1))
    return [shown, paragraph(f"{left} further outputs are not listed." if left else "", kind="quiet")]


def _most(shared: Shared, row: tuple[tuple[int, str], ...]) -> str:
    first = sorted(row, key=lambda own: -float(own[1]))[:_MOST_VALUES]
    more = f" and {len(row) - len(first)} more" if len(row) > len(first) else ""
    return "; ".join(f"{shared.values[x]} {share}" for x, share in first) + more


def _released(released: ReleasedRows) -> list[Html]:
    return [paragraph(f"{released.name} has {released.rows} rows."), *released.frequencies(), *released.told()]


def _proof(shared: Shared) -> list[Html]:
    if not shared.identity:
        return [
            paragraph(
                "When this report was made, every claim of the mechanism file was proven, the promise among them. The file has the "
                "counts of the table, so it is not public, and neither is the proof."
            )
        ]
    return [
        paragraph(
            "When this report was made, every claim of the mechanism file was proven, the promise among them. The file withholds "
            "the counts of the table behind a commitment; with what opens it this proves every claim again:"
        ),
        paragraph(code("alphalift verify MECHANISM --opening OPENING")),
        facts({"identity of the mechanism": code(shared.identity)}),
    ]


def _made(shared: Shared) -> list[Html]:
    bins = "; ".join(f"{column}: {', '.join(f'{edge:g}' for edge in edges)}" for column, edges in shared.bins)
    return [
        paragraph(
            "It has the mechanism and its promise, and what anybody can count in the released file. What is computed from the table, "
            "how common groups are, what is kept and how far from the best that is, is left out: fine digits of it would tell the "
            "table's counts."
        ),
        facts({"bins": bins}) if bins else Html(""),
    ]


def _releases(count: int) -> str:
    return f"{count} release{'s' * (count != 1)}"
