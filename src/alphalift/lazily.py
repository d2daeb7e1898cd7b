"""Modules and names that are imported when they are first used: what is behind them takes long to load."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any


class Later:
    """A module of another package that is imported at its first use: `pc = Later("pyarrow.compute")`."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)


def when_used(package: str, names: dict[str, str]) -> Callable[[str], object]:
    """The `__getattr__` of a package whose names, separated by blanks, come from these of its modules."""
    homes = {name: f"{package}.{module}" for module, listed in names.items() for name in listed.split()}

    def find(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return find
