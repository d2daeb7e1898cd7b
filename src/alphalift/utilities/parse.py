"""Utilities as text: `FInformation('chi_square')`, as people type them and `repr` writes them."""

from __future__ import annotations

import ast
from difflib import get_close_matches

from alphalift.errors import InputError, SettingError
from alphalift.utilities.base import Utility
from alphalift.utilities.decision import Decision
from alphalift.utilities.f_information import FInformation
from alphalift.utilities.guessing import GuessingAccuracy
from alphalift.utilities.mutual_information import MutualInformation
from alphalift.utilities.squared_error import SquaredError

UTILITIES: dict[str, type[Utility]] = {
    utility.__name__: utility for utility in (MutualInformation, FInformation, GuessingAccuracy, Decision, SquaredError)
}
_LONGEST = 100_000
_HOW = (
    "write for instance MutualInformation(), FInformation('hellinger'), GuessingAccuracy(), Decision('gains.csv') or SquaredError(), "
    "with quotation marks as they stand here"
)


def as_utility(given: object) -> Utility:
    """The utility that is given as itself or as its text; mutual information unless told."""
    if given is None:
        return MutualInformation()
    if isinstance(given, str):
        return parse(given)
    if isinstance(given, Utility):
        return given
    if isinstance(given, type) and issubclass(given, Utility):
        raise SettingError(
            f"{given.__name__} is a kind of utility: give one with its brackets, like GuessingAccuracy()"
        )
    raise SettingError(f"expected a utility like GuessingAccuracy(), or its text, not {type(given).__name__}")


def parse(text: str) -> Utility:
    """The utility that a text names: a name and, in brackets, numbers, texts or lists of them."""
    try:
        if len(text) > _LONGEST:
            raise ValueError
        called = ast.parse(text.strip(), mode="eval").body
        if isinstance(called, ast.Name):  # without brackets
            called = ast.Call(called, [], [])
        if not isinstance(called, ast.Call) or not isinstance(called.func, ast.Name):
            raise ValueError
        arguments = [ast.literal_eval(argument) for argument in called.args]
        named = {keyword.arg or "": ast.literal_eval(keyword.value) for keyword in called.keywords}
        return _class_of(called.func.id)(*arguments, **named)
    except (SyntaxError, ValueError, RecursionError, MemoryError, TypeError) as error:
        if isinstance(error, InputError):
            raise
        raise SettingError(f"the utility cannot be read: {_HOW}") from None


def _class_of(name: str) -> type[Utility]:
    if name in UTILITIES:
        return UTILITIES[name]
    near = get_close_matches(name, UTILITIES, n=1, cutoff=0.4)
    meant = f", perhaps {near[0]}" if near else ""
    raise SettingError(f"there is no utility {name[:40]!r}{meant}: {_HOW}")
