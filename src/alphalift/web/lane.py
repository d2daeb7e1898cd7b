"""A lane: one process that computes, task after task, and is ended where a task is not wanted any more.

Tasks and answers are JSON, so that nothing that a worker sends is run here. A task of a kind replaces one of the same kind that
waits or has run for a while: a slider asks often, and only its last place matters.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import multiprocessing
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any, Literal

from alphalift.web.work import serve_tasks

State = Literal["waiting", "running", "done", "failed", "stopped"]

# Seconds that a task of the same kind has run before it is ended for the next one: starting a process again takes longer.
_PATIENCE = 1.5
# Tasks that end early, with what they have, when another one comes.
_HURRIED = ("tells",)
_STOPPED = "stopped"
_LOST = "the process that computed has ended, perhaps for want of memory; fewer columns or values need less"


@dataclass(eq=False)
class Job:
    """A task with what has become of it; whoever waits is woken at every change."""

    number: int
    kind: str
    task: dict[str, Any]
    limit: float
    state: State = "waiting"
    progress: dict[str, Any] = field(default_factory=dict)
    result: dict[str, Any] | None = None
    error: str = ""
    changes: int = 0
    began: float = 0.0
    woken: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def over(self) -> bool:
        return self.state in ("done", "failed", "stopped")

    def change(self, **values: Any) -> None:
        for name, value in values.items():
            setattr(self, name, value)
        self.changes += 1
        self.woken.set()
        self.woken = asyncio.Event()

    async def changed(self, seen: int, seconds: float) -> None:
        """Until there are more changes than were seen, or for so long."""
        if self.changes <= seen and not self.over:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.woken.wait(), seconds)

    @property
    def told(self) -> dict[str, Any]:
        seconds = time.monotonic() - self.began if self.state == "running" else 0.0
        content = {"job": self.number, "state": self.state, "changes": self.changes, "seconds": round(seconds, 1)}
        return content | {"progress": self.progress, "result": self.result, "error": self.error}


class Lane:
    """The tasks of one worker; all calls come from the server's one loop."""

    def __init__(self) -> None:
        self._waiting = deque[Job]()
        self._running: Job | None = None
        self._process: Any = None
        self._line: Connection | None = None
        self._closed = False
        # What a worker that has no task yet says: that it compiles, for example.
        self._notice = dict[str, Any]()

    def warm(self) -> None:
        """Start the worker before it is needed: it loads for seconds."""
        if self._process is None:
            self._start()

    def add(self, job: Job) -> None:
        """Take the job on; older ones of its kind that nobody has had an answer of are ended."""
        for other in [own for own in self._waiting if own.kind == job.kind]:
            self._waiting.remove(other)
            other.change(state="stopped", error=_STOPPED)
        self._waiting.append(job)
        running = self._running
        if running is None:
            self._next()
        elif running.kind == job.kind:
            left = _PATIENCE - (time.monotonic() - running.began)
            asyncio.get_running_loop().call_later(max(left, 0.0), self._give_up, running)
        elif running.kind in _HURRIED and self._line is not None:
            with contextlib.suppress(OSError):
                self._line.send_bytes(b"{}")

    def stop(self, job: Job) -> None:
        """End the job, whatever it is doing; the others go on."""
        if job in self._waiting:
            self._waiting.remove(job)
            job.change(state="stopped", error=_STOPPED)
        elif job is self._running:
            self._end_running("stopped", _STOPPED)

    def clear(self) -> None:
        """End everything that waits or runs."""
        while self._waiting:
            self._waiting.popleft().change(state="stopped", error=_STOPPED)
        if self._running is not None:
            self._end_running("stopped", _STOPPED)

    def close(self) -> None:
        """End the worker, too."""
        self._closed = True
        self.clear()
        self._kill()

    def _give_up(self, job: Job) -> None:
        if job is self._running and any(own.kind == job.kind for own in self._waiting):
            self._end_running("stopped", _STOPPED)

    def _late(self, job: Job) -> None:
        if job is self._running:
            self._end_running("failed", f"not done after {job.limit:g} s, and ended")

    def _end_running(self, state: State, error: str) -> None:
        job, self._running = self._running, None
        self._kill()
        if not self._closed:
            self._start()
        if job is not None:
            job.change(state=state, error=error)
        self._next()

    def _next(self) -> None:
        if self._running is not None or not self._waiting:
            return
        self.warm()
        job = self._running = self._waiting.popleft()
        job.change(state="running", began=time.monotonic(), progress=self._notice)
        asyncio.get_running_loop().call_later(job.limit, self._late, job)
        assert self._line is not None
        with contextlib.suppress(OSError):  # one that has just ended is noticed by its reader
            self._line.send_bytes(json.dumps(job.task | {"job": job.number}).encode())

    def _start(self) -> None:
        self._notice = {}
        context = multiprocessing.get_context("spawn")
        self._line, theirs = context.Pipe()
        self._process = context.Process(target=serve_tasks, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._listen, args=(self._line, self._process, loop), daemon=True).start()

    def _kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
        if self._line is not None:
            self._line.close()
        self._process = self._line = None

    def _listen(self, line: Connection, process: Any, loop: asyncio.AbstractEventLoop) -> None:
        """In a thread of its own, until the worker ends."""
        with contextlib.suppress(EOFError, OSError, ValueError, TypeError, RuntimeError):
            while True:
                loop.call_soon_threadsafe(self._told, process, json.loads(line.recv_bytes()))
        with contextlib.suppress(RuntimeError):  # the loop may have ended as well
            loop.call_soon_threadsafe(self._lost, process)

    def _told(self, process: Any, message: dict[str, Any]) -> None:
        job = self._running
        if process is not self._process:
            return
        if message["job"] == 0:
            self._notice = message["content"]
            if job is not None:
                job.change(progress=self._notice)
            return
        self._notice = {}
        if job is None or message["job"] != job.number:
            return
        if message["told"] == "progress":
            job.change(progress=message["content"])
            return
        self._running = None
        if message["told"] == "done":
            job.change(state="done", result=message["content"])
        else:
            job.change(state="failed", error=message["content"])
        self._next()

    def _lost(self, process: Any) -> None:
        if process is not self._process:
            return
        job, self._running = self._running, None
        self._kill()
        if job is not None:
            job.change(state="failed", error=_LOST)
        self._next()
