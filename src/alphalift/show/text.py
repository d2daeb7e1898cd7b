"""Names and labels as people see them: no letter that a terminal or a typesetter would obey, and never two alike."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from alphalift.joint import Joint

_LONGEST = 34


def printable(label: str) -> str:
    """A label without control characters, which a terminal would obey."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in label)


def as_text(text: str) -> str:
    """A text from anywhere as HTML shows it, between tags and in quotes."""
    return escape(printable(text), quote=True)


def plain(name: str) -> str:
    """A text as matplotlib shows it: a dollar would start its mathematics."""
    return printable(name).replace("$", r"\$")


def shortened(labels: Sequence[str], longest: int = _LONGEST) -> list[str]:
    """The labels, long ones cut in the middle; different ones stay different, by a number where they must."""
    shown, taken = [], set[str]()
    for label in map(printable, labels):
        short, number = _cut(label, longest), 1
        while short in taken:
            number += 1
            mark = f" ({number})"
            short = _cut(label, longest - len(mark)) + mark
        taken.add(short)
        shown.append(short.replace("$", r"\$"))
    return shown


def _cut(label: str, longest: int) -> str:
    tail = longest // 3
    return label if len(label) <= longest else f"{label[: longest - tail - 1]}…{label[len(label) - tail :]}"


def up(value: float, digits: int) -> str:
    """Rounded up: a bound must not look smaller than it is."""
    return f"{math.ceil(value * 10**digits - _FORGIVEN) / 10**digits:.{digits}f}"


# What a bound may exceed its last printed digit by, in units of that digit: rounding of floats.
_FORGIVEN = 1e-9


def names_of(joint: Joint, secret: str | None, useful: str | None) -> tuple[str, str]:
    """What S and X are called: as told, else by the columns that they were counted from, else by their letters."""
    origin = joint.origin
    useful = useful or (" and ".join(origin.useful) if origin else "X")
    if joint.is_about_x:
        return f"{useful} itself", useful
    return secret or (" and ".join(origin.sensitive) if origin else "S"), useful


def named(axis: str, count: int, every: int) -> str:
    """An axis' name, with a word on how many of its symbols are named where not all are."""
    return axis if every == 1 else f"{axis}; 1 in {every} of {count} is named"
