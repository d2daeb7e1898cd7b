"""A live line on standard error while a solver works."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.progress import Progress as Bar
from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

from alphalift.solvers import Progress


class LiveLine:
    """`with LiveLine() as live: ... live.show(progress)`: what is done, for how long, and for how long at most.

    Silent where standard error is no terminal.
    """

    def __init__(self, unit: str = "", *, what: str = "designing", limit: float | None = None) -> None:
        """`unit` is what the utility is counted in, `limit` how many seconds it may take."""
        self._unit = f" {unit}" if unit else ""
        most = "" if limit is None else f"of at most {limit:g} s; "
        console = Console(stderr=True)
        parts = (
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            TimeElapsedColumn(),
            TextColumn(f"({most}Ctrl-C returns the best so far)" if what == "designing" else f"({most}Ctrl-C ends it)"),
        )
        self._bar = Bar(*parts, console=console, transient=True) if console.is_terminal else None
        self._task = None if self._bar is None else self._bar.add_task(what, total=None)

    def __enter__(self) -> LiveLine:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self, progress: Progress) -> None:
        if self._bar is not None and self._task is not None:
            told = f"utility {progress.utility:.5f}, bound {progress.upper_bound:.5f}{self._unit}, gap {progress.relative_gap:.2%}"
            self._bar.update(self._task, description=told)
