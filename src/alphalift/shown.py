"""How objects show themselves: pictures and notebooks' tables are made by `show`, above all that they show.

An object may not import what stands above it. So the package, which stands above all and is imported before any part of it,
says here where `show` is, and it is loaded when somebody looks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_rooms: list[Callable[[], Any]] = []


def showing_with(load: Callable[[], Any]) -> None:
    """Say what loads the module that shows; the package does."""
    _rooms[:] = [load]


def show() -> Any:
    """The module that shows, loaded now."""
    return _rooms[0]()


class Shown:
    """What a notebook shows as a table, in place of its repr."""

    def _repr_html_(self) -> str:
        return str(show().as_html(self))
