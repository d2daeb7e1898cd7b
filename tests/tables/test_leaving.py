"""A process that leaves while a thread of Arrow's still holds what it reads from waits for it, and not for ever."""

from __future__ import annotations

import threading
import time

import pytest

from alphalift.tables import quotes


def held_for(seconds: float) -> threading.Thread:
    """A thread that has the only reference to a file, as Arrow's reading ahead has after the text was refused."""

    def hold(files: list[quotes.Quotes]) -> None:
        time.sleep(seconds)
        files.clear()

    thread = threading.Thread(target=hold, args=([quotes.Quotes(None, "it", ",")],))
    thread.start()
    return thread


@pytest.fixture(autouse=True)
def no_files_of_others(monkeypatch: pytest.MonkeyPatch):
    """What other tests have left, in tracebacks that nobody has collected yet, is not waited for here."""
    monkeypatch.setattr(quotes, "_read_by_arrow", [])


def test_leaving_waits_until_nobody_reads():
    thread = held_for(0.2)
    assert any(file() is not None for file in quotes._read_by_arrow)
    quotes._let_go()
    assert all(file() is None for file in quotes._read_by_arrow)
    thread.join()


def test_leaving_gives_up_on_a_thread_that_never_ends(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(quotes, "_PATIENCE_SECONDS", 0.01)
    thread = held_for(0.5)
    quotes._let_go()
    assert any(file() is not None for file in quotes._read_by_arrow)
    thread.join()
