"""A live line on standard error while a solver works."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.status import Status

from alphalift.solvers import Progress


class LiveLine:
    """`with LiveLine() as live: ... live.show(progress)`; silent where standard error is no terminal."""

    def __init__(self, unit: str = "") -> None:
        """`unit` is what the utility is counted in."""
        self._unit = f" {unit}" if unit else ""
        console = Console(stderr=True)
        self._status = Status("designing", console=console) if console.is_terminal else None

    def __enter__(self) -> LiveLine:
        if self._status is not None:
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._status is not None:
            self._status.stop()

    def show(self, progress: Progress) -> None:
        if self._status is not None:
            self._status.update(
                f"utility {progress.utility:.5f}, bound {progress.upper_bound:.5f}{self._unit}, "
                f"gap {progress.relative_gap:.2%}, {progress.seconds:.0f} s (Ctrl-C returns the best so far)"
            )
