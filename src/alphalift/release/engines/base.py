"""What an engine does: all records of a table, answered once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from alphalift.release.work import Seen, Work


@dataclass(frozen=True)
class Done:
    """What was seen, where somebody looked, and the released table, where it is not in a file.

    `write` is what is left to do when nothing can go wrong any more but the writing itself.
    """

    seen: Seen | None
    table: Any = None
    write: Callable[[], None] | None = None


class Engine(Protocol):
    """Answers every record of its table."""

    def release(self, work: Work, part: Path | None, *, check: bool) -> Done:
        """Write ids, outputs and kept columns to `part`, a file or a new folder, or hand them out where there is none.

        `check`: raise if an id occurs with two values.
        """
