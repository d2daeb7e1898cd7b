"""Clock: how much of its time a request has left; one is handed down through all of its phases."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Clock:
    """Runs for `seconds` from when it is made; for ever unless told.

    Work that may end early asks it between steps that take a small part of a second: `while not clock.over`. `now` is
    what it reads, for tests.
    """

    def __init__(self, seconds: float = math.inf, now: Callable[[], float] = time.perf_counter) -> None:
        self.seconds, self._now = seconds, now
        # When it began, later by what it stood still; a list, since clocks with a reserve share it.
        self._begin = [now()]

    @property
    def elapsed(self) -> float:
        """Seconds since it began."""
        return self._now() - self._begin[0]

    @property
    def left(self) -> float:
        """Seconds until it is over, never below 0."""
        return max(0.0, self.seconds - self.elapsed)

    @property
    def over(self) -> bool:
        return self.elapsed >= self.seconds

    def reserving(self, seconds: float) -> Clock:
        """The same clock, over so much earlier: for a phase with another one after it."""
        earlier = Clock(self.seconds if math.isinf(self.seconds) else self.seconds - seconds, self._now)
        earlier._begin = self._begin
        return earlier

    def end(self) -> None:
        """It is over now, and so is every clock that shares it."""
        self._begin[0] = -math.inf

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """It stands still meanwhile: compiling, once on a machine, is no part of a request's time."""
        begin = self._now()
        try:
            yield
        finally:
            self._begin[0] += self._now() - begin
