"""TableFile: a file that needs a word more than its name to be read."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from alphalift.errors import TableError

# Separators as people call them on a command line, where a tab is hard to type.
_CALLED = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}
_FORBIDDEN = '"\r\n'


@dataclass(frozen=True)
class TableFile(os.PathLike[str]):
    """The path of a table, and what its header does not tell: what separates the cells of a CSV file, or which sheet of a workbook."""

    path: str | Path
    separator: str | None = None
    sheet: str | None = None

    def __post_init__(self) -> None:
        if self.separator is None:
            return
        sign = _CALLED.get(self.separator, self.separator)
        if len(sign) != 1 or not sign.isascii() or sign.isalnum() or sign in _FORBIDDEN:
            raise TableError(f"a separator is one sign, like ';' or '|', or the word tab, not {self.separator!r:.40}")
        object.__setattr__(self, "separator", sign)

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    def __str__(self) -> str:
        return str(self.path)
