"""Calls in this process or on any `concurrent.futures.Executor`, where they outlive the loss of a process."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from loky import ProcessPoolExecutor

from alphalift.errors import SettingError, WorkerError

Tag = TypeVar("Tag")

# A number of processes (1: this one), an executor, a function that makes one, or None: as many as make sense.
Workers = int | Executor | Callable[[], Executor] | None

# One process a core: a second level of threads inside would only get in its way.
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
# Losses in a row, without a call that ended between them: then a call is to blame and not chance.
_MOST_LOSSES = 3
# Dask names its losses so; it has then tried a call on several workers.
_LOST = ("BrokenExecutor", "KilledWorker", "FutureCancelledError")


def processes(count: int) -> Callable[[], Executor]:
    """Makes pools of this many local processes, each with one thread."""
    return lambda: ProcessPoolExecutor(
        max_workers=count, env=_ONE_THREAD, initializer=_end_with, initargs=(os.getpid(),)
    )


def _end_with(parent: int) -> None:
    """In a worker: end when the process that started it is gone, killed perhaps, and nobody waits for the work."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def dask(address: str, *, timeout: float = 10) -> Iterator[Executor]:
    """The executor of a Dask cluster whose scheduler has this address, tcp://host:port, and answers in time."""
    try:
        from distributed import Client
    except ImportError:
        raise SettingError("Dask is not installed; it comes with the extra 'dask': alphalift[dask]") from None
    try:
        client = Client(address, timeout=timeout)
    except (OSError, ValueError) as error:
        raise WorkerError(f"there is no Dask scheduler at {address!r} ({type(error).__name__})") from None
    with client, client.get_executor(pure=False) as executor:
        yield executor


Call = tuple[Tag, Callable[..., Any], tuple[Any, ...]]


class Crew(Generic[Tag]):
    """Calls under way, each with a tag; `most` is how many make sense at a time, and `usual` how many if nobody says.

    An executor that is given belongs to the caller: it stays open, and if it breaks, the work ends with an error. A
    function that makes executors is called again when a process is lost, and the calls that were lost with it are
    repeated: they must have no effect but their result.
    """

    def __init__(self, workers: Workers, *, most: int, usual: int) -> None:
        if workers is None:
            workers = min(usual, os.cpu_count() or 1)
        if isinstance(workers, int):
            if workers < 1:
                raise SettingError(f"workers is {workers}, expected 1 or more")
            self.size: int | None = min(workers, most)
            workers = processes(self.size) if self.size > 1 else None
        elif callable(workers) or isinstance(workers, Executor):
            self.size = None  # nobody knows
        else:
            raise SettingError(
                f"workers is a {type(workers).__name__}, expected a number of processes, a concurrent.futures.Executor (a "
                "Dask client has one: client.get_executor()), or a function that makes one"
            )
        self._make = None if isinstance(workers, Executor) else workers
        # None: this process.
        self._executor = workers if isinstance(workers, Executor) else (workers and workers())
        self._calls: dict[Future[Any], Call[Tag]] = {}
        self._submitted = self._losses = 0

    def __enter__(self) -> Crew[Tag]:
        return self

    def __exit__(self, *_: object) -> None:
        for future in self._calls:
            future.cancel()
        if self._make is not None and self._executor is not None:
            _end(self._executor)

    def submit(self, tag: Tag, call: Callable[..., Any], *arguments: Any) -> None:
        """Have the call done; whatever raises here raises in `results`."""
        future: Future[Any] = Future()
        if self._executor is not None:
            try:
                self._submitted += 1
                future = self._executor.submit(_called, (id(self), self._submitted), call, *arguments)
            except Exception as error:  # a pool that broke a moment ago
                future.set_exception(error)
        self._calls[future] = (tag, call, arguments)

    def results(self) -> Iterator[tuple[Tag, Any]]:
        """Tag and result of every call as it ends, also of those submitted meanwhile."""
        while self._calls:
            if self._executor is None:
                tag, call, arguments = self._calls.pop(next(iter(self._calls)))
                yield tag, call(*arguments)
            else:
                yield from self._ended()

    def _ended(self) -> Iterator[tuple[Tag, Any]]:
        """Wait until some calls have ended."""
        done, _ = wait(self._calls, return_when=FIRST_COMPLETED)
        lost = []
        for future in done:
            call = self._calls.pop(future)
            try:
                result = future.result()
            except Exception as error:
                if not _is_loss(error):
                    raise
                lost.append(call)
                reason = error
                continue
            self._losses = 0
            yield call[0], result
        if lost:
            self._repeat(lost, reason)

    def _repeat(self, lost: list[Call[Tag]], reason: Exception) -> None:
        self._losses += 1
        if self._make is None or self._losses > _MOST_LOSSES:
            raise WorkerError(
                f"the executor lost its workers ({type(reason).__name__}): they ran out of memory, were ended from outside or "
                "cannot load the work; what a folder to resume from has is not lost. "
                + ("A function that makes executors goes on by itself" if self._make is None else "Try fewer of them")
            ) from reason
        # A broken pool takes all its calls with it.
        lost += self._calls.values()
        for future in self._calls:
            future.cancel()
        self._calls.clear()
        if self._executor is not None:
            _end(self._executor)
        self._executor = self._make()
        for tag, call, arguments in lost:
            self.submit(tag, call, *arguments)


def _called(number: object, call: Callable[..., Any], *arguments: Any) -> Any:
    """Every call has a number of its own: Dask takes the same call for the same result, an old error included."""
    return call(*arguments)


def _is_loss(error: BaseException) -> bool:
    return isinstance(error, CancelledError) or any(kind.__name__ in _LOST for kind in type(error).__mro__)


def _end(executor: Executor) -> None:
    """Without waiting for calls under way, where the pool knows how."""
    if isinstance(executor, ProcessPoolExecutor):
        executor.shutdown(wait=True, kill_workers=True)
    else:
        executor.shutdown(wait=True)
