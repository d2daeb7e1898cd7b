"""Files and folders that appear whole or not at all, whatever happens on the way."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from alphalift.errors import InputError


@contextmanager
def whole_file(path: Path, *, durable: bool = True) -> Iterator[Path]:
    """A path beside the given one to write to; it takes its place if the block ends well.

    It is synced to disk first, so that a power cut leaves no half of it either; without `durable` that takes no time and
    the reader has to notice.
    """
    # Hidden, and with the same ending, by which writers choose their format.
    part = path.with_name(f".{secrets.token_hex(8)}.part-{path.name}")
    try:
        yield part
        if durable:
            with part.open("rb") as file:
                os.fsync(file.fileno())
        part.replace(path)
        if durable:
            _sync_folder(path.absolute().parent)
    except BaseException:
        with suppress(FileNotFoundError):
            part.unlink()
        raise


def require_new_folder(path: Path) -> None:
    """Raise unless `whole_folder` can make it."""
    if path.exists():
        raise InputError(f"{path} exists already; expected the name of a new folder")
    if not path.absolute().parent.is_dir():
        raise InputError(f"{path} cannot be written: expected a new folder in one that exists")


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """A new folder beside the given place to write to; it takes its place if the block ends well."""
    part = path.with_name(f".{secrets.token_hex(8)}.part-{path.name}")
    try:
        part.mkdir()
        yield part
        for left in part.glob(".*"):  # by a writer that was killed, and whose file was written again
            left.unlink()
        # On some systems an empty folder that is there already would be replaced, one with files never.
        part.rename(path)
        _sync_folder(path.absolute().parent)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise


def _sync_folder(folder: Path) -> None:
    """So that the new name survives a power cut as well; not every system lets a folder be opened."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
