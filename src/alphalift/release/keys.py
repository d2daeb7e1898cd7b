"""Secret keys of releases: 256 random bits, in a file that only its owner can read."""

from __future__ import annotations

import json
import os
import re
import secrets
import stat
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from alphalift.errors import InputError

KEY_BYTES = 32
# What everything derived from a key begins with; another draw has another number.
DRAWS = "alphalift release 2"
_FORM, _OLD_FORM = "alphalift-key-2", "alphalift-key-1"


def derived(secret: bytes, purpose: str, *parts: object) -> bytes:
    """A key for one purpose: HKDF-SHA256, whose info is a JSON list, which no other parts have."""
    info = json.dumps([DRAWS, purpose, *parts], ensure_ascii=True, separators=(",", ":")).encode("ascii")
    return HKDF(SHA256(), KEY_BYTES, salt=None, info=info).derive(secret)


@dataclass(frozen=True)
class Key:
    """A secret that is never shown, and the file that it came from; its fingerprint may be shown to anybody."""

    secret: bytes = field(repr=False)
    path: Path | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.secret, bytes) or len(self.secret) != KEY_BYTES:
            raise InputError(f"a key has {KEY_BYTES} bytes; make one with `alphalift key new`")

    @classmethod
    def of_bytes(cls, secret: bytes) -> Key:
        """A key that has no file, and so no ledger beside it."""
        return cls(secret)

    def __repr__(self) -> str:
        place = "" if self.path is None else f", {str(self.path)!r}"
        return f"Key({self.fingerprint}{place})"

    def __deepcopy__(self, _: object) -> Key:
        return self  # it never changes, and stays in this process

    def __reduce__(self) -> Any:
        """Only where it is: a pickle is copied and sent about, and whoever reads it would have the key."""
        if self.path is None:
            raise InputError(
                "a key without a file cannot be pickled, since its secret would be in the pickle; write it to a file "
                "(alphalift key new) and read it from there (read_key)"
            )
        return _read_again, (os.path.realpath(self.path), self.fingerprint)

    @cached_property
    def fingerprint(self) -> str:
        """16 hexadecimal digits that tell keys apart and nothing about the secret."""
        return derived(self.secret, "fingerprint")[:8].hex()


def write_key(path: Path) -> Key:
    """Make a new key in a file; one that exists is never written over, since every release with it would change."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise InputError(f"{path} exists already; a key is never replaced, choose another name") from None
    except OSError:
        raise InputError(f"{path} cannot be written: expected a new file in a folder that exists") from None
    secret = secrets.token_bytes(KEY_BYTES)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(f"{_FORM} {secret.hex()}\n")
        file.flush()
        os.fsync(file.fileno())
    return Key(secret, path)


def read_key(path: str | Path) -> Key:
    """The key in a file; refused if others may read it."""
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: there is no such key; make one with `alphalift key new {path}`")
    with path.open("rb") as file:
        content = file.read(200)
    if content.startswith(_OLD_FORM.encode()):
        raise InputError(
            f"{path} is a key of an earlier version ({_OLD_FORM}), whose draws were others: the records that were released "
            "under it would be drawn anew, which is a second release about them. Make a new key for other people; "
            "for the same people release again only what the earlier release and the new one may tell together"
        )
    found = re.fullmatch(rf"{_FORM} ([0-9a-f]{{{2 * KEY_BYTES}}})\n".encode(), content)
    if found is None:
        raise InputError(f"{path} is not a key as `alphalift key new` makes it")
    if os.name == "posix" and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise InputError(f"{path} can be read by others; `chmod 600` it, and make a new key if it has been")
    return Key(bytes.fromhex(found[1].decode()), path)


def _read_again(path: str, fingerprint: str) -> Key:
    """The key that a pickle names."""
    key = read_key(path)
    if key.fingerprint != fingerprint:
        raise InputError(
            f"{path} is another key ({key.fingerprint}) than was pickled ({fingerprint}); bring that one back"
        )
    return key
