"""The page's private folder: readable by its owner alone, and gone when the page ends, also one that was killed."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

from alphalift.errors import InputError, TableError
from alphalift.show.text import printable
from alphalift.tables.endings import ending_of
from alphalift.tables.workbook import ENDINGS as WORKBOOKS

MOST_UPLOADED_BYTES = 200 << 20
_PREFIX, _LOCK, _LONGEST_NAME = "alphalift-page-", "lock", 120
_TEXTS = (".csv", ".tsv", ".txt")
_ENDINGS = (*_TEXTS, ".parquet", ".pq", *WORKBOOKS)


class Place:
    """A folder with a lock that is held while the page runs."""

    def __init__(self) -> None:
        _remove_left_over()
        self.folder = Path(tempfile.mkdtemp(prefix=_PREFIX))  # mode 700
        self._lock = os.open(self.folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        _take(self._lock)

    def close(self) -> None:
        """Leave nothing behind."""
        with contextlib.suppress(OSError):
            os.close(self._lock)
        shutil.rmtree(self.folder, ignore_errors=True)

    def leading_to(self, link: str) -> Path:
        """A private page that goes on to the link: on a command line every user of the machine could read it."""
        path = self.folder / "open.html"
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(
                f'<!DOCTYPE html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url={link}"><title>alphalift</title>'
            )
        return path

    def remove(self, table: Path) -> None:
        """A table that was uploaded; one that lies elsewhere stays."""
        if table.parent.parent == self.folder:
            shutil.rmtree(table.parent, ignore_errors=True)

    async def take_in(self, ending: str, parts: AsyncIterator[bytes]) -> Path:
        """The bytes as a file with this ending in a folder of its own; nothing stays of too many."""
        path = Path(tempfile.mkdtemp(prefix="table-", dir=self.folder)) / f"table{ending}"
        size = 0
        try:
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                async for part in parts:
                    size += len(part)
                    if size > MOST_UPLOADED_BYTES:
                        raise TooLargeError
                    file.write(part)
            if not size:
                raise TableError("the file is empty")
        except BaseException:
            self.remove(path)
            raise
        return path


class TooLargeError(InputError):
    """More bytes than the page takes."""

    def __init__(self) -> None:
        super().__init__(
            f"the file has more than {MOST_UPLOADED_BYTES >> 20} MB: start the page with it, `alphalift serve TABLE`, which copies nothing"
        )


def table_ending(name: str) -> str:
    """The ending that a file of this name is read by."""
    ending, packed = ending_of(name)
    if ending not in _ENDINGS or (packed and ending not in _TEXTS):
        raise InputError(f"expected a table: a file that ends in {', '.join(_ENDINGS)}, or .csv.gz")
    return f"{'.csv' if ending == '.txt' else ending}{'.gz' * packed}"


def shown_name(name: str) -> str:
    """A file's name as it is shown and typed: its last part, and no letter that a terminal would obey."""
    last = printable(name.replace("\\", "/").rpartition("/")[2]).strip()
    return last if 0 < len(last) <= _LONGEST_NAME and last not in (".", "..") else "table.csv"


def _remove_left_over() -> None:
    """Folders of pages that were killed: ours, and their lock is free."""
    if not hasattr(os, "getuid"):
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            if folder.is_symlink() or folder.stat().st_uid != os.getuid():
                continue
            lock = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
            try:
                if _take(lock):
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)


def _take(lock: int) -> bool:
    """Whether the lock was free."""
    try:
        import fcntl
    except ImportError:  # Windows
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
