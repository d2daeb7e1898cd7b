"""Secret keys of releases: 256 random bits in a file that only its owner can read."""

from __future__ import annotations

import os
import re
import secrets
import stat
from pathlib import Path

from alphalift.errors import InputError
from alphalift.release.keyed import KEY_BYTES

_FORM = "alphalift-key-1"


def new_key(path: str | Path) -> None:
    """Write a new key; a file that exists is never written over, since every release with it would change."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise InputError(f"{path} exists already; a key is never replaced, choose another name") from None
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(f"{_FORM} {secrets.token_hex(KEY_BYTES)}\n")
        file.flush()
        os.fsync(file.fileno())


def read_key(path: str | Path) -> bytes:
    """The key in a file; refused if others may read it."""
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: there is no such key; make one with `alphalift key new {path}`")
    if os.name == "posix" and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise InputError(f"{path} can be read by others; `chmod 600` it, and make a new key if it has been")
    with path.open("rb") as file:
        content = file.read(200)
    found = re.fullmatch(rf"{_FORM} ([0-9a-f]{{{2 * KEY_BYTES}}})\n".encode(), content)
    if found is None:
        raise InputError(f"{path} is not a key as `alphalift key new` makes it")
    return bytes.fromhex(found[1].decode())
