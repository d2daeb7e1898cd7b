"""Files that appear whole or not at all, whatever happens on the way."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A path beside the given one to write to; it takes its place, synced to disk, if the block ends well."""
    # Hidden, and with the same ending, by which writers choose their format.
    part = path.with_name(f".{secrets.token_hex(8)}.part-{path.name}")
    try:
        yield part
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.replace(path)
        _sync_folder(path.absolute().parent)
    except BaseException:
        with suppress(FileNotFoundError):
            part.unlink()
        raise


def _sync_folder(folder: Path) -> None:
    """So that the new name survives a power cut as well; not every system lets a folder be opened."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
