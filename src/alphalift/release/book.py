"""The books of one release: what was released before, and the order "write down, then release"."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from alphalift.joint import Joint, Variable
from alphalift.release.entry import Entry, as_text
from alphalift.release.history import History, Told, told
from alphalift.release.keys import Key
from alphalift.release.ledger import Ledger
from alphalift.release.plan import Plan, proven
from alphalift.release.trace import Trace, all_of
from alphalift.tables import read_joint

_NO_HISTORY = (
    "this is the first release under this key: releases about the same people under other keys are not counted; name these "
    "keys (also=)"
)


class Book:
    """Asks the ledgers of a plan's keys, and writes into that of its own; with no ledger, only what is named counts."""

    def __init__(self, plan: Plan, entry: Entry) -> None:
        self._plan, self._entry, self._key = plan, entry, plan.key
        self._ledger = None if plan.key is None else _ledger(plan, plan.key)
        self._number: int | None = None
        self._told: Told | None = None
        self._about_people: list[str] = []
        self._about_books = [] if plan.key is None else self._warnings(plan.key)

    @property
    def notices(self) -> list[str]:
        """Sentences for the steward: what these books do not know."""
        return self._about_books + self._about_people

    @property
    def told(self) -> Told | None:
        """What all releases tell together, this one included."""
        return self._told

    def require(self) -> None:
        """Raise, before any work, if this release may not be made."""
        if self._key is None:
            return
        self._admit([] if self._ledger is None else self._ledger.entries(self._key, self._entry.namespace))

    def begin(self, part: Path | None, trace: Trace | None = None) -> None:
        """Write the release down; without a part it counts from now on."""
        self._entry = replace(self._entry, trace=trace)
        if self._ledger is not None and self._key is not None:
            self._number = self._ledger.begin(self._entry, self._key, part, self._admit)

    def note(self, trace: Trace | None) -> None:
        """Write down whom it is about, once that is known and before its output appears; raise if it may not be made."""
        self._entry = replace(self._entry, trace=trace)
        if self._ledger is not None and self._key is not None and self._number is not None:
            self._ledger.note(self._number, self._entry, self._key, self._admit)

    def finish(self) -> None:
        """Its output has appeared."""
        if self._ledger is not None and self._key is not None and self._number is not None:
            self._ledger.finish(self._number, self._key)

    def withdraw(self) -> None:
        """Nothing has appeared."""
        if self._ledger is not None and self._key is not None and self._number is not None:
            self._ledger.withdraw(self._number, self._key)

    def _admit(self, own: list[Entry]) -> None:
        plan, entry = self._plan, self._entry
        elsewhere = self._elsewhere()
        own = _each_once([*own, *(other for key, other in elsewhere if self._is_own(key))])
        foreign = [other for key, other in elsewhere if not self._is_own(key)]
        history = History(tuple(own), tuple(self._with_named(own, foreign)))
        history.require_admitted(entry, new_release=plan.new_release)
        new_people = plan.new_release or plan.new_people
        self._about_people = history.require_same_people(entry, new_people=new_people)
        self._told = told([*history.others(entry), entry])

    def _warnings(self, key: Key) -> list[str]:
        plan, ledger = self._plan, self._ledger
        books = [(one, Ledger.beside(one)) for one in plan.also]
        if ledger is not None:
            books.append((key, ledger))
        moved = [notice for one, book in books for notice in book.moved(one)]
        known = {book: book.namespaces(one) for one, book in books}
        silent = [
            f"{book.path} has no release in the namespace {plan.namespace!r}: also= has counted nothing of it"
            for one, book in books
            if book != ledger and plan.namespace not in known[book]
        ]
        others = sorted({name for names in known.values() for name in names} - {plan.namespace})
        found = moved + silent + self._unread(key, {os.path.realpath(book.path) for book in known})
        first = not any(plan.namespace in names for names in known.values())
        if first and others:
            names = ", ".join(map(repr, others))
            found.append(
                f"releases in the namespaces {names} are not counted: if these are the same people, use that namespace"
            )
        unused = plan.ledger == "beside" and not moved and ledger is not None and not known[ledger]
        return [*found, _NO_HISTORY] if first and unused else found

    def _unread(self, key: Key, read: set[str]) -> list[str]:
        """The ledger beside the key, if another one is used."""
        if not isinstance(self._plan.ledger, Ledger) or key.path is None:
            return []
        usual = Ledger.beside(key).path
        if not usual.exists() or os.path.realpath(usual) in read:
            return []
        return [f"releases in {usual}, the ledger beside the key, are not counted; name the key (also=)"]

    def _is_own(self, key: Key) -> bool:
        """Under the same key a repetition draws the same, wherever it is written down."""
        return self._key is not None and key.fingerprint == self._key.fingerprint

    def _elsewhere(self) -> list[tuple[Key, Entry]]:
        """Releases in the ledgers of `also`, each ledger once, and its own not again."""
        found: dict[tuple[str, str], tuple[Key, Entry]] = {}
        own = None if self._ledger is None else os.path.realpath(self._ledger.path)
        for key in self._plan.also:
            ledger = Ledger.beside(key)
            if os.path.realpath(ledger.path) != own:
                entries = ledger.entries(key, self._plan.namespace)
                found |= {(key.fingerprint, as_text(other.facts)): (key, other) for other in entries}
        return list(found.values())

    def _with_named(self, own: Sequence[Entry], foreign: Sequence[Entry]) -> list[Entry]:
        """Releases under other keys, and those that the caller names and no ledger knows."""
        known = {_answered(other) for other in [*own, *foreign]}
        return [*foreign, *(other for other in _named(self._plan) if _answered(other) not in known)]


def _answered(entry: Entry) -> tuple[str, Variable, str | None]:
    """Which mechanism has answered for what: the same integers may answer for two columns."""
    return entry.integers.identity, entry.variable, entry.record_id


def _each_once(entries: Sequence[Entry]) -> list[Entry]:
    found: dict[str, Entry] = {}
    for entry in entries:
        same = found.setdefault(as_text(entry.facts), entry)
        found[as_text(entry.facts)] = replace(same, trace=all_of([same.trace, entry.trace]))
    return list(found.values())


def counted(plan: Plan, table: Any) -> Entry:
    """The plan's entry; with `after`, its joint is counted from the table together with what was released before."""
    entry, named = plan.entry, _named(plan)
    origin = entry.joint.origin
    if not named or origin is None or not origin.sensitive:
        return entry
    bins = {column: edges for column, edges in origin.bins if column in origin.sensitive}
    joint = read_joint(
        table,
        sensitive=origin.sensitive,
        useful=entry.variable.columns,
        bins=bins | dict(entry.variable.bins),
        # Its own variable as well: the table may lack a value that the mechanism knows.
        beside=tuple(dict.fromkeys([entry.variable, *(other.variable for other in named)])),
        anyway=True,  # it was designed for
    )
    own = joint.about_x if entry.joint.is_about_x else joint
    # A part of the people, or others, may be such that everything looks harmless: only the designed joint is believed.
    return replace(entry, joint=own) if _is_same(own, entry.joint) else entry


def _is_same(one: Joint, other: Joint) -> bool:
    """Whether both are the same distribution of the same labels."""
    return _shares(one) == _shares(other)


def _shares(joint: Joint) -> dict[tuple[str, str], Fraction]:
    return {
        (s, x): Fraction(weight, joint.total)
        for s, row in zip(joint.s_labels, joint.weights, strict=True)
        for x, weight in zip(joint.x_labels, row, strict=True)
        if weight
    }


def _named(plan: Plan) -> list[Entry]:
    return [Entry(plan.namespace, one.joint.useful, plan.record_id, proven(one), one.joint) for one in plan.after]


def _ledger(plan: Plan, key: Key) -> Ledger | None:
    if isinstance(plan.ledger, Ledger):
        return plan.ledger
    return Ledger.beside(key) if plan.ledger == "beside" else None
