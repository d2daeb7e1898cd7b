"""Labels of outputs: readable and unique, and no output is called plainly by a value that it may not come from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from alphalift.arrays import Array, Rows, supports

_MOST_NAMES = 6
# What a label with "mostly" holds of its output's posterior, with a slack: it must not flip with the last bit.
_MOST = 2 / 3 - 1e-9
_SIGNS = (" | ", " + ", " & ", " || ", " ++ ")
# For two thirds and more of the posterior, and for less, where six names are not enough.
_WORDS = (("mostly ", "often "), ("mainly ", "partly "), ("chiefly ", "sometimes "))

# What a label says of the values that it names: the output comes from no other; from them by two thirds; by less.
How = Literal["only", "mostly", "often"]


@dataclass(frozen=True)
class Words:
    """How sets of values are written: a sign between them, and words for most and for less, that are in no label."""

    sign: str
    mostly: str
    often: str

    @classmethod
    def beside(cls, x_labels: Collection[str]) -> Words:
        """Words that cannot be taken for these labels, if there are any; `unlike` helps where there are none."""
        sign = next((sign for sign in _SIGNS if not any(sign in label for label in x_labels)), _SIGNS[-1])
        words = next((two for two in _WORDS if not any(label.startswith(two) for label in x_labels)), _WORDS[-1])
        return cls(sign, *words)

    def before(self, how: How) -> str:
        """The word of this meaning."""
        return {"only": "", "mostly": self.mostly, "often": self.often}[how]

    def read(self, label: str, numbers: Mapping[str, int]) -> tuple[frozenset[int], How] | None:
        """The numbers of the x's that a label names, and what it says of them; none if it is no such label."""
        hows: tuple[How, ...] = ("only", "mostly", "often")
        for how in hows:
            for text in (label, _without_number(label)):
                named = text.removeprefix(self.before(how)).split(self.sign)
                if text.startswith(self.before(how)) and all(name in numbers for name in named):
                    return frozenset(numbers[name] for name in named), how
        return None


def output_labels(posteriors: Rows, x_labels: Sequence[str]) -> tuple[str, ...]:
    """A label for every output: the fewest x's that hold two thirds of its posterior, after "mostly" unless they hold all.

    Where two outputs agree, more x's are named, then they are numbered. "often" stands for less than two thirds.
    """
    outputs, words = posteriors.shape[0], Words.beside(x_labels)
    ranked, held, support = _ranked(posteriors)
    limit = np.minimum(support, _MOST_NAMES)
    needed = np.minimum((held < _MOST).sum(axis=1) + 1, limit)

    def name(y: int) -> str:
        text = words.sign.join(x_labels[x] for x in sorted(ranked[y][: needed[y]]))
        if needed[y] == support[y]:
            return text
        return words.before("mostly" if held[y, needed[y] - 1] >= _MOST else "often") + text

    names = [name(y) for y in range(outputs)]
    for _ in range(_MOST_NAMES):
        repeated = {label for label, count in Counter(names).items() if count > 1}
        for y in range(outputs):
            if names[y] in repeated and needed[y] < limit[y]:
                needed[y] += 1
                names[y] = name(y)
    return unlike(names, x_labels, itself=support == 1)


def _ranked(posteriors: Rows) -> tuple[list[list[int]], Array, NDArray[np.int64]]:
    """Of every output the likeliest x's, at most six, what they hold together one after the other, and how many it has."""
    ranked, held = [], np.ones((posteriors.shape[0], _MOST_NAMES))
    support = np.zeros(posteriors.shape[0], np.int64)
    for y, (symbols, shares) in enumerate(supports(posteriors)):
        order = np.argsort(-shares, kind="stable")[:_MOST_NAMES]
        ranked.append(symbols[order].tolist())
        held[y, : len(order)] = np.cumsum(shares[order])
        support[y] = len(symbols)
    return ranked, held, support


def unlike(names: Sequence[str], x_labels: Collection[str], *, itself: Sequence[bool] | Array) -> tuple[str, ...]:
    """The names, numbered where one was there before, or is that of a value and its output is not that value `itself`."""
    inputs = set(x_labels)
    taken, seen = inputs.union(names), dict[str, None]()
    for label, plain in zip(names, itself, strict=True):
        unique, number = label, 1
        while unique in seen or (unique in taken if number > 1 else unique in inputs and not plain):
            number += 1
            unique = f"{label} ({number})"
        seen[unique] = None
    return tuple(seen)


def _without_number(label: str) -> str:
    text, bracket, number = label.rpartition(" (")
    return text if bracket and number.endswith(")") and number[:-1].isdecimal() else label
