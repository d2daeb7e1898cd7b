"""Errors as the command line tells them: one line, its own options, and no number of an operating system's error."""

from __future__ import annotations

import errno
import os
import re
import sys
from pathlib import Path
from typing import Literal

from alphalift.errors import InputError, TableError

# What the library calls by its Python name, and how the same is said on the command line.
OPTIONS = {
    'missing="drop"': "--drop-missing",
    'unseen="answer"': "--answer-unseen",
    'ids="unique"': "--ids-unique",
    "new_release=True": "--new-release",
    "new_release": "--new-release",
    "one_shot=True": "--one-shot",
    "one_shot": "--one-shot",
    "anyway=True": "--anyway",
    "redefine=True": "--other-columns",
    'show_ids="real"': "--ids real",
    "(after=)": "(--after)",
    "design(after=)": "--after of `design`",
    "keep=": "--keep",
    "publish=": "--yes-publish",
    "key=": "--key",
    "also=": "--also",
    "record_id=": "--id",
    "record_id": "--id",
    "alphabet=": "--alphabet",
    "bins=": "--bins",
    "useful=": "--useful",
    "separator=": "--separator",
    "sheet=": "--sheet",
    "sensitive needs": "--sensitive needs",
    "useful needs": "--useful needs",
    "sensitive=": "--sensitive",
    "time_limit": "--time-limit",
    "rows='y' or rows='x'": "--rows y or --rows x",
    "(joint.about_x)": "(name the useful column as --sensitive as well)",
}
_SPELLED = re.compile("|".join(map(re.escape, sorted(OPTIONS, key=len, reverse=True))))
_QUOTED = re.compile(r"""('(?:[^'\\]|\\.)*')""")
_TROUBLE = {
    errno.ENOENT: "there is no such file or folder",
    errno.EACCES: "may not be read or written by you",
    errno.EPERM: "may not be read or written by you",
    errno.EISDIR: "is a folder; expected a file",
    errno.ENOTDIR: "is not a folder; expected one",
    errno.EEXIST: "exists already",
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "your share of the disk is full",
    errno.EROFS: "lies where nothing can be written",
    errno.ENAMETOOLONG: "has a name that is too long",
}
# How our files begin.
_BEGIN_BYTES = 200
_MECHANISM, _OPENING = "a mechanism", "the opening of a withheld mechanism"
_FORMS = {
    rb'\s*\{\s*"format"\s*:\s*"alphalift-mechanism"': _MECHANISM,
    rb'\s*\{\s*"format"\s*:\s*"alphalift-release"': "a manifest of a release",
    rb'\s*\{\s*"format"\s*:\s*"alphalift-codebook"': "a codebook of a release",
    rb'\s*\{\s*"salt"\s*:': _OPENING,
    rb"alphalift-key-": "a key",
    rb"SQLite format 3\0": "a ledger",
}
# What else is called a text by mistake.
_NO_TEXTS = {
    rb"\x1f\x8b": "packed with gzip: name it .csv.gz",
    rb"PK\x03\x04": "a workbook or an archive: name it .xlsx or .ods if it is a workbook, or unpack it",
    rb"\x89PNG|\xff\xd8\xff|GIF8|%PDF": "a picture or a document",
    rb"PAR1": "a Parquet file: name it .parquet",
}
_TEXTS = (".csv", ".tsv", ".txt")


def require_kind(path: Path, expected: Literal["mechanism", "opening"]) -> None:
    """Raise if the file is one of ours but of another kind; whatever it is otherwise, the checker decides."""
    wanted, kind = _MECHANISM if expected == "mechanism" else _OPENING, _kind_of(path)
    if kind not in (None, wanted):
        raise InputError(f"{path} is {kind}, not {wanted}")


def _kind_of(path: Path) -> str | None:
    """Which of our files it begins like."""
    return _found(_FORMS, path)


def _found(forms: dict[bytes, str], path: Path) -> str | None:
    with path.open("rb") as file:
        begin = file.read(_BEGIN_BYTES)
    return next((kind for form, kind in forms.items() if re.match(form, begin)), None)


def require_table(path: Path) -> None:
    """Raise at once if there is nothing there: before anything that reads tables is loaded."""
    if not path.exists():
        raise TableError(f"{path}: there is no such file or folder")
    if path.is_file() and (kind := _kind_of(path)) is not None:
        raise TableError(f"{path} is {kind}, not a table")
    if path.is_file() and path.suffix.lower() in _TEXTS and (wrong := _found(_NO_TEXTS, path)) is not None:
        raise TableError(f"{path} is not a text of rows and columns, but {wrong}")


def in_words(error: Exception) -> str:
    """The error's text for somebody who typed a command."""
    if isinstance(error, OSError) and error.errno is not None:
        trouble = _TROUBLE.get(error.errno, (error.strerror or "cannot be used").lower())
        return trouble if error.filename is None else f"{_name(error.filename)}: {trouble}"
    return in_options(str(error))


def in_options(text: str) -> str:
    """A text of the library with the options that are typed here; between quotes stands what a column is called."""
    parts = _QUOTED.split(text)
    return "".join(part if place % 2 else _SPELLED.sub(_option, part) for place, part in enumerate(parts))


def example(command: str) -> str:
    """The end of a command's help: a line to copy, which is not wrapped."""
    return f"\b\nExample:\n  alphalift {command}"


def complain(text: str) -> None:
    """One line on standard error, red on a terminal."""
    coloured = sys.stderr.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    print(f"\033[31malphalift: {text}\033[0m" if coloured else f"alphalift: {text}", file=sys.stderr)


def _option(found: re.Match[str]) -> str:
    return OPTIONS[found[0]]


def _name(path: object) -> str:
    """A path as it was typed: of a part that is being written, the place that it is for."""
    text = path.decode(errors="backslashreplace") if isinstance(path, bytes) else str(path)
    return re.sub(r"(^|/)\.[0-9a-f]{16}\.(?:part|spill)-", r"\1", text)
