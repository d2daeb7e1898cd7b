"""The ledger: which releases have been made about whom, so that no second one is made unnoticed.

It lies beside the key and belongs to the key's content: whoever copies or links the key has to bring it along. An entry is
written before its output appears, and is final with it: a run that failed before anything appeared is no release.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from alphalift.errors import InputError
from alphalift.release.entry import Entry, as_text, opened
from alphalift.release.keys import Key, write_key
from alphalift.release.trace import all_of
from alphalift.whole import remove_if_left

_FORM = "alphalift-ledger-2"
_TABLES = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE release (number INTEGER PRIMARY KEY AUTOINCREMENT, namespace TEXT NOT NULL, facts TEXT NOT NULL,
  sealed BLOB NOT NULL, part TEXT);
"""
_PATIENCE = 60  # seconds for another run to write its entry


def new_key(path: str | Path) -> Key:
    """A new key and its empty ledger, `PATH.ledger`, readable by their owner alone; neither is ever written over."""
    path = Path(path)
    place = _place(path)
    if path.exists() and place.exists():
        raise InputError(f"{path} exists already; use it, one key serves all releases")
    if place.exists() or place.is_symlink():
        raise InputError(f"{place} exists already, without its key; a ledger is never replaced, choose another name")
    key = write_key(path)
    try:
        Ledger.create(place, key)
    except BaseException:
        path.unlink()
        raise
    return key


@dataclass(frozen=True)
class Ledger:
    """An SQLite file, as private as its key."""

    path: Path

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", Path(self.path))

    @classmethod
    def create(cls, path: str | Path, key: Key) -> Ledger:
        """A new, empty ledger that belongs to the key."""
        try:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            raise InputError(f"{path} exists already; a ledger is never replaced") from None
        except OSError:
            raise InputError(f"{path} cannot be written: expected a new file in a folder that exists") from None
        about = {"form": _FORM, "key": key.fingerprint, "place": os.path.realpath(path)}
        with closing(sqlite3.connect(path)) as base, base:
            base.executescript(_TABLES)
            base.executemany("INSERT INTO about VALUES (?, ?)", about.items())
        return cls(Path(path))

    @classmethod
    def beside(cls, key: Key) -> Ledger:
        """The ledger of a key that was read from a file."""
        if key.path is None:
            raise InputError(
                "this key has no file, so there is no ledger beside it; make one with Ledger.create and give it, or say "
                'ledger="none" and remember yourself what was released'
            )
        return cls(_place(key.path))

    def moved(self, key: Key) -> list[str]:
        """A sentence for the steward if the ledger is no longer where it was made."""
        with self._read(key) as base:
            place = base.execute("SELECT value FROM about WHERE name = 'place'").fetchone()[0]
        if place == os.path.realpath(self.path):
            return []
        return [
            f"{self.path} was moved or copied here with its key: releases made at the other place since are not known here"
        ]

    def namespaces(self, key: Key) -> list[str]:
        """Whom releases were made about under this key."""
        with self._changed(key) as base:
            return [name for (name,) in base.execute("SELECT DISTINCT namespace FROM release ORDER BY namespace")]

    def entries(self, key: Key, namespace: str) -> list[Entry]:
        """The releases for a namespace, each once."""
        with self._changed(key) as base:
            return _entries(base, key, namespace)

    def begin(self, entry: Entry, key: Key, part: Path | None, admit: Callable[[list[Entry]], None]) -> int:
        """Write down that a release begins whose output is still the hidden `part`; its number.

        `admit` sees all releases for the namespace, while no other run can write, and raises if this one may not be made.
        Without a part the release counts from now on.
        """
        with self._changed(key) as base:
            before = _entries(base, key, entry.namespace)
            admit(before)
            kept = _with_earlier(entry, before)
            row = (entry.namespace, as_text(entry.facts), kept.sealed(key), part and os.path.abspath(part))
            number = base.execute("INSERT INTO release (namespace, facts, sealed, part) VALUES (?, ?, ?, ?)", row)
            return int(number.lastrowid or 0)

    def note(self, number: int, entry: Entry, key: Key, admit: Callable[[list[Entry]], None]) -> None:
        """Add to a release that was begun what is known only now, before its output appears; `admit` as for `begin`."""
        with self._changed(key) as base:
            before = _entries(base, key, entry.namespace, but=number)
            admit(before)
            row = (_with_earlier(entry, before).sealed(key), number)
            base.execute("UPDATE release SET sealed = ? WHERE number = ?", row)

    def finish(self, number: int, key: Key) -> None:
        """Its output has appeared; of equal entries one is kept."""
        with self._changed(key) as base:
            base.execute("UPDATE release SET part = NULL WHERE number = ?", (number,))
            base.execute(
                "DELETE FROM release WHERE part IS NULL AND number < ?1 "
                "AND facts = (SELECT facts FROM release WHERE number = ?1)",
                (number,),
            )

    def withdraw(self, number: int, key: Key) -> None:
        """Nothing of it has appeared, so it was no release."""
        with self._changed(key) as base:
            base.execute("DELETE FROM release WHERE number = ?", (number,))

    @contextmanager
    def _changed(self, key: Key) -> Iterator[sqlite3.Connection]:
        """The database in a transaction of its own, in which nobody else writes, with what kills left settled."""
        with self._read(key) as base:
            base.execute("BEGIN IMMEDIATE")
            try:
                _settle(base)
                yield base
                base.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    base.execute("ROLLBACK")
                raise

    @contextmanager
    def _read(self, key: Key) -> Iterator[sqlite3.Connection]:
        self._require_private()
        try:
            with closing(sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None)) as base:
                base.execute("PRAGMA synchronous = FULL")
                self._require_whole(base, key)
                yield base
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise InputError(
                    f"{self.path} cannot be used as a ledger; is its disk full or write-protected?"
                ) from None
            raise InputError(f"{self.path} is in use by another run; wait for it, and try again") from None
        except sqlite3.DatabaseError:
            raise InputError(f"{self.path} is no ledger, or damaged; restore it from a copy") from None

    def _require_private(self) -> None:
        if self.path.is_symlink():
            raise InputError(f"{self.path} is a link; a ledger lies beside its key as a file, bring it there")
        if not self.path.is_file():
            raise InputError(
                f"{self.path}: this ledger is missing, so nobody knows what was released under its key. Was the key copied or "
                "linked without it? Use the key where its ledger is, or bring the ledger along; if it is lost, the key "
                "cannot be used again"
            )
        if os.name == "posix" and self.path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise InputError(
                f"{self.path} can be read or changed by others; it is as private as the key: `chmod 600` it"
            )

    def _require_whole(self, base: sqlite3.Connection, key: Key) -> None:
        if base.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
            raise sqlite3.DatabaseError
        names = {name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not {"about", "release"} <= names:
            raise InputError(f"{self.path} is not a ledger as `alphalift key new` makes it")
        about = dict(base.execute("SELECT name, value FROM about"))
        if about.get("form") != _FORM or "place" not in about:
            raise InputError(f"{self.path} is a ledger of another version; expected {_FORM}")
        if about.get("key") != key.fingerprint:
            raise InputError(
                f"{self.path} belongs to another key ({about.get('key')}, not {key.fingerprint}); use each key with the "
                "ledger that was made with it"
            )


def _place(key_path: Path) -> Path:
    return Path(f"{os.path.realpath(key_path)}.ledger")


def _settle(base: sqlite3.Connection) -> None:
    """Entries of runs that were killed: a part that is left never appeared; one that is gone may have."""
    begun = base.execute("SELECT number, part FROM release WHERE part IS NOT NULL").fetchall()
    for number, part in begun:
        if not os.path.lexists(part):
            base.execute("UPDATE release SET part = NULL WHERE number = ?", (number,))
        elif remove_if_left(Path(part)):
            base.execute("DELETE FROM release WHERE number = ?", (number,))


def _entries(base: sqlite3.Connection, key: Key, namespace: str, *, but: int = 0) -> list[Entry]:
    """The releases for a namespace, each once, with what is known of all its runs."""
    query = "SELECT facts, sealed FROM release WHERE namespace = ? AND number <> ? ORDER BY number"
    runs: dict[str, list[Entry]] = {}
    for facts, sealed in base.execute(query, (namespace, but)):
        runs.setdefault(facts, []).append(opened(facts, sealed, key))
    return [replace(each[-1], trace=all_of(run.trace for run in each)) for each in runs.values()]


def _with_earlier(entry: Entry, before: list[Entry]) -> Entry:
    """A retry knows what the first one has counted, and whom it was about."""
    for old in before:
        if not entry.differences(old):
            joint = old.joint if entry.joint.beside is None else entry.joint
            entry = replace(entry, joint=joint, trace=all_of([old.trace, entry.trace]))
    return entry
