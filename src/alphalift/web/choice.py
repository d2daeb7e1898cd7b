"""What the page asks for, as it is allowed to: columns, a promise, and whom the table stands for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from alphalift.errors import InputError
from alphalift.given import Declared, read_bins
from alphalift.joint import Joint
from alphalift.regions import AlphaLift

# Columns of one side, letters of a column's name and of a number that is typed.
MOST_COLUMNS, _MOST_LETTERS, _MOST_DIGITS = 8, 1000, 32
_NUMBER = re.compile(r"inf|[0-9]+(\.[0-9]+)?([eE]-?[0-9]+)?", re.ASCII)


@dataclass(frozen=True)
class Columns:
    """Secret and useful columns, and what is declared of them: 'age=18,30,65' and whether rows with a missing value are left out."""

    sensitive: tuple[str, ...]
    useful: tuple[str, ...]
    bins: tuple[str, ...] = ()
    drop_missing: bool = False

    @classmethod
    def of(cls, asked: Mapping[str, Any]) -> Columns:
        sensitive, useful = (_texts(asked, name, MOST_COLUMNS) for name in ("sensitive", "useful"))
        if not sensitive or not useful:
            raise InputError("choose at least one secret column and one useful column")
        if set(sensitive) & set(useful):
            raise InputError("a column is either secret or useful on this page, not both")
        bins = _texts(asked, "bins", 2 * MOST_COLUMNS) if "bins" in asked else ()
        read_bins(list(bins))
        return cls(sensitive, useful, bins, _truth(asked, "drop_missing") if "drop_missing" in asked else False)

    @property
    def declared(self) -> Declared:
        return Declared(self.drop_missing, read_bins(list(self.bins)))

    def read(self, table: Any) -> Joint:
        return self.declared.read(table, list(self.sensitive), list(self.useful))

    @property
    def secret_name(self) -> str:
        return " and ".join(self.sensitive)

    @property
    def useful_name(self) -> str:
        """As `alphalift design` calls it."""
        binned = self.declared.bins
        return " and ".join(f"{name} (in bins)" if name in binned else name for name in self.useful)


@dataclass(frozen=True)
class Choice:
    """Columns with a promise; alpha and epsilon keep the digits that were typed."""

    columns: Columns
    alpha: str
    epsilon: str
    everybody: bool

    @classmethod
    def of(cls, asked: Mapping[str, Any]) -> Choice:
        alpha, epsilon = digits_of(asked, "alpha"), digits_of(asked, "epsilon")
        AlphaLift(alpha, epsilon)  # type: ignore[arg-type]  # texts keep their digits
        return cls(Columns.of(asked), alpha, epsilon, _truth(asked, "everybody"))

    @property
    def region(self) -> AlphaLift:
        return AlphaLift(self.alpha, self.epsilon)  # type: ignore[arg-type]


def digits_of(asked: Mapping[str, Any], name: str) -> str:
    """A number as a short text; it is repeated in a script, so nothing but a number is taken."""
    text = text_of(asked, name, _MOST_DIGITS)
    if not _NUMBER.fullmatch(text):
        raise InputError(f"{name} must be a number, like 0.3")
    return text


def text_of(asked: Mapping[str, Any], name: str, longest: int = _MOST_LETTERS) -> str:
    value = asked.get(name)
    if not isinstance(value, str) or not 0 < len(value) <= longest:
        raise InputError(f"{name} must be a text of at most {longest} letters")
    return value


def _texts(asked: Mapping[str, Any], name: str, most: int) -> tuple[str, ...]:
    values = asked.get(name)
    if not isinstance(values, list) or len(values) > most:
        raise InputError(f"{name} must be a list of at most {most} texts")
    return tuple(text_of({name: value}, name) for value in values)


def _truth(asked: Mapping[str, Any], name: str) -> bool:
    value = asked.get(name)
    if not isinstance(value, bool):
        raise InputError(f"{name} must be true or false")
    return value
