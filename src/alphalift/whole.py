"""Files and folders that appear whole or not at all, whatever happens on the way, and that nobody reads before.

What is written lies beside its place under a hidden name, `.HEX.part-NAME` or `.HEX.spill-NAME`, readable by its owner
alone and locked while its writer lives. What a kill leaves is therefore private, can be told from what is still being
written, and is removed by the next run that writes the same name.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import stat
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from alphalift.errors import InputError

if sys.platform != "win32":
    import fcntl

_HEX = 8  # bytes
_OURS = re.compile(rf"\.[0-9a-f]{{{2 * _HEX}}}\.(?:part|spill)-(.+)", re.DOTALL)
# How files begin that must not be lost: every release depends on them.
_PRECIOUS = {b"alphalift-key-": "a key", b"SQLite format 3\0": "a ledger or another database"}
# Neither through a link that somebody put there, nor waiting for the other end of a pipe.
_PLAIN = 0 if sys.platform == "win32" else os.O_NOFOLLOW | os.O_NONBLOCK
_ASKING = threading.Lock()


@contextmanager
def whole_file(path: Path, *, durable: bool = True, private: bool = False) -> Iterator[Path]:
    """A path beside the given one to write to; it takes its place if the block ends well.

    It is synced to disk first, so that a power cut leaves no half of it either; without `durable` that takes no time and
    the reader has to notice. With `private` its owner alone can read it ever after.
    """
    require_file_place(path)
    with _begun(path, "part", folder=False) as part:
        try:
            yield part
            _finish(part, 0o600 if private else 0o666 & ~_umask(), durable=durable)
            part.replace(path)
            if durable:
                _sync_folder(path.absolute().parent)
        except BaseException:
            with suppress(FileNotFoundError):
                part.unlink()
            raise


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """A new folder beside the given place to write to; it takes its place if the block ends well."""
    with _begun(path, "part", folder=True) as part:
        try:
            yield part
            for left in part.glob(".*"):  # by a writer that was killed, and whose file was written again
                shutil.rmtree(left) if left.is_dir() else left.unlink()
            part.chmod(0o777 & ~_umask())
            # On some systems an empty folder that is there already would be replaced, one with files never.
            part.rename(path)
            _sync_folder(path.absolute().parent)
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise


@contextmanager
def private_folder(beside: Path) -> Iterator[Path]:
    """A folder beside an output for what does not fit into memory; it is gone after the block."""
    with _begun(beside, "spill", folder=True) as folder:
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def require_outside(path: Path, table: Path) -> None:
    """Raise if the path lies inside a folder that is a table, where it would be read as a part of it."""
    if table.is_dir() and table.resolve() in path.resolve().parents:
        raise InputError(f"{path} lies inside the table's own folder, where it would be read as a part of the table")


def require_file_place(path: Path) -> None:
    """Raise unless `whole_file` can make it: a device or pipe would be replaced by a file."""
    if path.exists() and not path.is_file():
        what = "a folder" if path.is_dir() else "a device or pipe"
        raise InputError(f"{path} cannot be written: it is {what}; expected a file name in a folder that exists")
    if not path.absolute().parent.is_dir():
        raise InputError(f"{path} cannot be written: expected a file name in a folder that exists")


def require_new_folder(path: Path) -> None:
    """Raise unless `whole_folder` can make it."""
    if path.exists():
        raise InputError(f"{path} exists already; expected the name of a new folder")
    if not path.absolute().parent.is_dir():
        raise InputError(f"{path} cannot be written: expected a new folder in one that exists")


def require_not(path: Path, others: Iterable[Path]) -> None:
    """Raise if `path` is one of the others, under whatever name, or a key or ledger, which nothing would bring back."""
    for other in others:
        if path.samefile(other) if path.exists() and other.exists() else path.resolve() == other.resolve():
            other_name = str(path) != str(other)
            what = f"the same file as {other}, which is" if other_name else "one of the files that are"
            raise InputError(f"{path} is {what} read or written already; choose another name")
    if path.is_file():
        with path.open("rb") as file:
            begin = file.read(max(map(len, _PRECIOUS)))
        for form, name in _PRECIOUS.items():
            if begin.startswith(form):
                raise InputError(f"{path} is {name}, which is never written over; choose another name")


def remove_leftovers(path: Path) -> None:
    """Remove parts and spill folders of this name whose writers were killed; those of living ones stay."""
    folder = path.absolute().parent
    # What is inside a part goes with it: no need to look, for every file, through all that are there.
    if _OURS.fullmatch(folder.name):
        return
    with suppress(OSError):
        for name in os.listdir(folder):
            found = _OURS.fullmatch(name)
            if found is not None and found[1] == path.name:
                remove_if_left(folder / name)


def remove_if_left(place: Path) -> bool:
    """Remove a part or spill folder whose writer was killed; whether this was one, and is gone.

    Whoever gets the lock knows that the writer is gone; what cannot be opened or locked stays.
    """
    with suppress(OSError):
        if not _OURS.fullmatch(place.name):
            return False
        folder = stat.S_ISDIR(place.lstat().st_mode)
        lock = os.open(place, (os.O_RDONLY if folder else os.O_RDWR) | _PLAIN)
        try:
            if _is_plain(lock) and _take(lock):
                shutil.rmtree(place) if folder else place.unlink()
                return True
        finally:
            os.close(lock)
    return False


@contextmanager
def _begun(path: Path, kind: str, *, folder: bool) -> Iterator[Path]:
    """A new file or folder beside `path` that its owner alone can read, locked during the block."""
    remove_leftovers(path)
    lock = None
    while lock is None:
        # Hidden, and with the same ending, by which writers choose their format.
        part = path.with_name(f".{secrets.token_hex(_HEX)}.{kind}-{path.name}")
        try:
            if folder:
                part.mkdir(0o700)
            else:
                os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            continue
        lock = _held(part, folder=folder)
    try:
        yield part
    finally:
        if lock >= 0:
            os.close(lock)


def _held(part: Path, *, folder: bool) -> int | None:
    """A descriptor that holds the lock; none if another's cleaning came between creation and lock."""
    if sys.platform == "win32":  # where an open file cannot be renamed: no locks, and nothing is cleaned
        return -1
    try:
        lock = os.open(part, (os.O_RDONLY if folder else os.O_RDWR) | _PLAIN)
    except FileNotFoundError:
        return None
    # On a file system without locks nobody can take it for a leftover, either.
    with suppress(FileNotFoundError):
        if _take(lock) is not False and os.path.samestat(os.fstat(lock), part.lstat()):
            return lock
    os.close(lock)
    return None


def _take(descriptor: int) -> bool | None:
    """Lock it: whether nobody else had; none where there are no locks."""
    if sys.platform == "win32":
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _is_plain(descriptor: int) -> bool:
    kind = os.fstat(descriptor).st_mode
    return stat.S_ISREG(kind) or stat.S_ISDIR(kind)


def _finish(part: Path, mode: int, *, durable: bool) -> None:
    """Give it its mode and, if wanted, have it on disk. By its name: its writer may have put another file there."""
    descriptor = os.open(part, os.O_RDWR | _PLAIN)
    try:
        os.chmod(part if sys.platform == "win32" else descriptor, mode)
        if durable:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _umask() -> int:
    """What new files of this process hide from others; asked for by setting it, for a moment to the strictest."""
    with _ASKING:
        mask = os.umask(0o077)
        os.umask(mask)
    return mask


def _sync_folder(folder: Path) -> None:
    """So that the new name survives a power cut as well; not every system lets a folder be opened."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
