"""The worker: a process that does one task after the other with the library's functions, and says how far it is.

Whatever is wrong is said in the library's words, which have no cell of a table; of anything unexpected only its kind is told.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import signal
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Connection
from types import ModuleType
from typing import Any

# What is told on the way; whether somebody waits for the worker; what a task is answered.
Tell = Callable[[dict[str, Any]], None]
Act = Callable[[dict[str, Any], Tell, Callable[[], bool]], dict[str, Any]]


# The share of the machine's memory that one worker may have; of two, one has much at a time.
_MOST_MEMORY = 0.6


def serve_tasks(line: Connection) -> None:
    """Until the other end is closed. Ctrl-C is for the server, which ends its workers itself."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _limit()
    logging.getLogger("alphalift").addHandler(_Notices(line))
    logging.getLogger("alphalift").propagate = False
    with contextlib.suppress(EOFError, OSError):
        for warm in _WARMING:
            if not line.poll():
                warm()
        while True:
            if task := json.loads(line.recv_bytes()):  # an empty one was to hurry the one before
                _Notices.job = task["job"]
                _do(line, _act(task["do"]), task)


def _looking() -> ModuleType:
    from alphalift.web import looking

    return looking


def _designing() -> ModuleType:
    from alphalift.web import designing

    return designing


def _leaving() -> ModuleType:
    from alphalift.web import leaving

    return leaving


def _kernels() -> None:
    """What is compiled is loaded, or compiled once on a machine, by a design of nothing."""
    _designing().warm()


# What is loaded where, when it is used; and before, in this order, while there is no task.
_ACTS = {
    **dict.fromkeys(("look", "tells", "count"), _looking),
    **dict.fromkeys(("curve", "design"), _designing),
    **dict.fromkeys(("apply", "report"), _leaving),
}
_WARMING: tuple[Callable[[], object], ...] = (_looking, _designing, _kernels, _leaving)


def _act(name: str) -> Act:
    act: Act = _ACTS[name]().ACTS[name]
    return act


def _do(line: Connection, act: Act, task: dict[str, Any]) -> None:
    from alphalift.errors import AlphaliftError
    from alphalift.terminal import in_words

    job = task["job"]
    tell = partial(_tell, line, job, "progress")
    try:
        _tell(line, job, "done", act(task["with"], tell, line.poll))
    except (AlphaliftError, OSError) as error:
        _tell(line, job, "failed", _unplaced(in_words(error), task["with"]))
    except MemoryError:
        _tell(line, job, "failed", "there is not enough memory for that; fewer columns or values need less")
    except Exception as error:
        _tell(line, job, "failed", f"that failed unexpectedly ({type(error).__name__})")


def _unplaced(text: str, given: dict[str, Any]) -> str:
    """Files are called what the user calls them, wherever they lie."""
    table = given.get("table") or {}
    for path, name in ((table.get("path"), table.get("name")), (given.get("folder"), "the page's folder")):
        if path and name:
            text = text.replace(str(path), name)
    return text


def _tell(line: Connection, job: int, told: str, content: object) -> None:
    line.send_bytes(json.dumps({"job": job, "told": told, "content": content}).encode())


class _Notices(logging.Handler):
    """What the library says while it works, that kernels are compiled for example, is progress."""

    job = 0

    def __init__(self, line: Connection) -> None:
        super().__init__(logging.WARNING)
        self._line = line

    def emit(self, record: logging.LogRecord) -> None:
        _tell(self._line, self.job, "progress", {"notice": record.getMessage()})


def _limit() -> None:
    """A crash must not leave the table in a file, and a small file that unpacks to a large one must not take the machine's memory."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        most = int(_MOST_MEMORY * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
