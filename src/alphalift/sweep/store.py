"""Finished cells on disk, each under an address made of all that its numbers depend on."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import stat
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import Field, fields, is_dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from alphalift.errors import InputError, PromiseError, SettingError
from alphalift.joint import Joint
from alphalift.regions import Region, parse
from alphalift.solvers import Solver
from alphalift.utilities import Utility
from alphalift.whole import whole_file

_DIGEST = hashlib.sha256().digest_size
# What a cell's numbers come from, in this package and outside: a change there makes other addresses.
COMPUTING = (
    "exact.py",
    "arrays.py",
    "clock.py",
    "compiled.py",
    "convex.py",
    "joint.py",
    "presolve.py",
    "labels.py",
    "measures",
    "regions",
    "utilities",
    "geometry",
    "mechanism.py",
    "proof",
    "effort.py",
    "together.py",
    "solution.py",
    "solvers",
    "baselines",
    "sweep/cells.py",
)
_LIBRARIES = ("numpy", "scipy", "numba", "highspy")


class Store:
    """A folder of entries. They appear whole or not at all, and one that was damaged counts as missing.

    An entry holds mechanisms, which are computed from a joint: the folder is as private as the table that it came from.
    Its digest tells damage, not forgery, since anybody can compute it: so nobody else may write there.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        if self.folder.exists() and not self.folder.is_dir():
            raise InputError(f"{folder} is a file; expected a folder to resume from")
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.name == "posix":
            _require_own(self.folder)

    def get(self, address: str) -> bytes | None:
        """The entry, if it is there and undamaged."""
        with suppress(OSError):
            content = self._path(address).read_bytes()
            if hashlib.sha256(content[_DIGEST:]).digest() == content[:_DIGEST]:
                return content[_DIGEST:]
        return None

    def put(self, address: str, entry: bytes) -> None:
        path = self._path(address)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        # Not synced, which would cost more than many a cell: after a power cut the digest tells what was lost.
        with whole_file(path, durable=False, private=True) as part:
            part.write_bytes(hashlib.sha256(entry).digest() + entry)

    def _path(self, address: str) -> Path:
        return self.folder / address[:2] / address[2:]


def _require_own(folder: Path) -> None:
    found = folder.stat()
    if found.st_uid != os.geteuid():
        raise InputError(
            f"{folder} belongs to another user, who could put false cells there; resume from one of your own"
        )
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise InputError(
            f"{folder}: others can write there, and could put false cells there; `chmod go-w` it, or resume from a new one"
        )


def addresses(joint: Joint, steps: Sequence[Sequence[Region]], utility: Utility, solver: Solver) -> list[str]:
    """The address of every step's cells, given all steps before it: a hash of the problem, the settings and the code."""
    problem = [code(), joint.weights, _settings(utility), _settings(solver)]
    digest = hashlib.sha256(json.dumps(problem).encode())
    found = []
    for step in steps:
        # A comma between regions and a line end after a step: no two sequences of steps have one text.
        digest.update((", ".join(map(_text, step)) + "\n").encode())
        found.append(digest.hexdigest())
    return found


def _settings(record: Utility | Solver) -> str:
    """All that a utility or solver does, as far as a text can tell: its settings, and its code if that is not ours."""
    kind = type(record)
    hidden = (
        [f.name for f in fields(record) if f.compare and not _tells(f, record)] if is_dataclass(record) else ["all"]
    )
    if hidden:
        raise SettingError(
            f"{kind.__name__} has settings that its text does not tell ({', '.join(hidden)}): a dataclass shows them; "
            "or do not resume"
        )
    if kind.__module__.partition(".")[0] == "alphalift":
        return f"{kind.__module__}: {record!r}"
    try:
        return f"{inspect.getsource(sys.modules[kind.__module__])}: {record!r}"
    except (OSError, TypeError, KeyError):
        raise SettingError(
            f"the code of {kind.__name__} is not in a file, so it cannot be compared; do not resume"
        ) from None


def _tells(own: Field[Any], record: Utility | Solver) -> bool:
    """Whether the record's text says all of this field: a function's does not."""
    return own.repr and not callable(getattr(record, own.name))


def _text(region: Region) -> str:
    text = repr(region)
    with suppress(PromiseError):
        if parse(text) == region:
            return text
    raise SettingError(f"{text} is a promise of your own, which no text tells completely; do not resume")


@cache
def code() -> list[str]:
    """A hash of our own files that compute, and the versions of the libraries that they compute with."""
    root, digest = Path(__file__).parents[1], hashlib.sha256()
    for place in (root / name for name in COMPUTING):
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return [digest.hexdigest(), *(f"{name} {version(name)}" for name in _LIBRARIES)]
