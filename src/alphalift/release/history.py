"""What was released before about the same people: whether one more release may be made, and what all tell together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from alphalift.errors import InputError
from alphalift.release.entry import Entry
from alphalift.release.trace import all_of
from alphalift.together import Together, told_together

# Which part of the ids of a retry has to be known for it to be about the same people.
_SAME = 0.5
_ANOTHER_TABLE = "another table than before: records whose value has changed are answered for both values"


@dataclass(frozen=True)
class Told:
    """What several releases tell together about the most affected secret; `known` is None where nobody has counted that.

    `promised`: the promise that is about all of them, in words with its release, if one was designed after the others.
    """

    releases: int
    known: Together | None
    promised: str | None = None

    def __str__(self) -> str:
        if self.promised:
            return (
                f"{self.releases} releases have now been made about these people; together they keep the promise of "
                f"{self.promised}"
            )
        if self.known is not None:
            return str(self.known)
        return (
            f"{self.releases} releases have now been made about these people, and together they may tell the secret "
            "entirely: count them together (after=)"
        )


@dataclass(frozen=True)
class History:
    """Other releases: `own` under the same key, `foreign` under other keys, whose draws are fresh whatever they are of."""

    own: tuple[Entry, ...] = ()
    foreign: tuple[Entry, ...] = ()

    def others(self, entry: Entry) -> list[Entry]:
        """All that are no retry of this entry."""
        return [other for other in self.own if entry.differences(other)] + list(self.foreign)

    def require_admitted(self, entry: Entry, *, new_release: bool) -> None:
        """Raise unless this is a retry, the first release, asked for, or designed for what the others have left."""
        others = self.others(entry)
        again = len(others) < len(self.own) + len(self.foreign)
        if not others or again or new_release or entry.covers(others):
            return
        raise InputError(
            f"the people of the namespace {entry.namespace!r} have been released before: this is a second release with "
            f"{self._difference(entry)}, and both together tell more than either promise says. Repeat the first one, take "
            "another namespace if these are other people, design for what is left (design(after=)), or do it with "
            "new_release=True and be told what all tell together"
        )

    def require_same_people(self, entry: Entry, *, new_people: bool) -> list[str]:
        """Raise if this is a retry about other ids than before, unless that is meant; sentences for the steward."""
        before = all_of(other.trace for other in self.own if not entry.differences(other))
        if entry.trace is None or before is None:
            return []
        shared = entry.trace.shared(before)
        if shared is None:
            return ["these are few ids: whether they have been released before, written like this, is not known"]
        if shared >= _SAME:
            told = set(entry.trace.tables) <= set(before.tables)
            return [] if told else [_ANOTHER_TABLE]
        if not new_people:
            raise InputError(
                f"the ids in column {entry.record_id!r} have not been released before: are they the same people with ids "
                "written otherwise? They would be answered anew, and both answers together tell more than the promise says. "
                "Write ids as they were; other people belong to another namespace; new_release=True if it is meant"
            )
        return [
            "ids have been released that were not before: people who were released under ids written otherwise have been "
            "answered twice, and no promise covers that"
        ]

    def _difference(self, entry: Entry) -> str:
        """In what the nearest other release differs."""
        nearest: list[str] = min((entry.differences(other) for other in self.own), key=len, default=["another key"])
        return " and ".join(nearest)


def told(entries: Sequence[Entry]) -> Told | None:
    """What these releases tell together, for the secret that it is worst for; nothing to tell of a single one."""
    if len(entries) < 2:
        return None
    covering = [one for one in entries if one.covers([other for other in entries if other is not one])]
    promised = _promise(covering[0]) if covering else None
    integers, variables = [entry.integers for entry in entries], [entry.variable for entry in entries]
    found: dict[Any, list[Together]] = {}
    for number, entry in enumerate(entries):
        # A secret without a name is each joint's own.
        answers = found.setdefault(entry.secret if entry.secret.columns else number, [])
        answer = told_together(entry.joint, integers, variables)
        if answer is not None:
            answers.append(answer)
    if not all(found.values()):
        return Told(len(entries), None, promised)
    worst = max((one for answers in found.values() for one in answers), key=lambda one: one.max_lift)
    return Told(len(entries), worst, promised)


def _promise(entry: Entry) -> str:
    return f"the release of {', '.join(entry.variable.columns)}: {entry.promise or 'that of its mechanism'}"
