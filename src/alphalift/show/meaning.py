"""What a mechanism means for people: how well the secret is guessed without the release and with it, overall and for every group.

Of the joint P(s, y) that the mechanism makes, with all earlier outputs in y where it comes after others. Who guesses the most
likely secret is right with max_s P(s) before and with sum_y max_s P(s, y) after (Smith, 2009; `measures.guessing`). A person of
group s meets the belief P(s) before, P(s|y) after: its mean over such people is sum_y P(y|s) P(s|y), the most max_y P(s|y).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from alphalift.arrays import Array
from alphalift.measures.guessing import posterior_vulnerability, prior_vulnerability
from alphalift.regions import After
from alphalift.solution import Solution

# So many groups are told of one by one; of more, those that stand out.
_FEW_GROUPS = 5
# Rounding of floats: what differs by less is the same.
_SAME = 1e-12


@dataclass(frozen=True)
class Guess:
    """Chances of a guess that is right: without the release, with it on average, and with the released value that helps it most.

    `people` is the share of all people who get a value that helps so much.
    """

    before: float
    after: float
    most: float
    people: float

    @property
    def helps(self) -> bool:
        """Whether the release makes the guess better on average."""
        return self.after > self.before + _SAME


@dataclass(frozen=True, eq=False)
class Guesses:
    """The best guess of the secret, and for people of every group, in the order of `labels`, the belief that they are of it."""

    best: Guess
    groups: tuple[Guess, ...]
    labels: tuple[str, ...]

    @classmethod
    def of(cls, solution: Solution) -> Guesses:
        told = _told(solution)
        p_y, p_s = told.sum(axis=1), told.sum(axis=0)
        beliefs = told / p_y[:, None]
        best = _guess(
            prior_vulnerability(p_s), posterior_vulnerability(told / p_s, p_s), beliefs.max(axis=1), people=p_y
        )
        means = (told * beliefs).sum(axis=0) / p_s
        groups = [_guess(p_s[s], means[s], beliefs[:, s], people=p_y) for s in range(len(p_s))]
        return cls(best, tuple(groups), solution.joint.s_labels)

    @property
    def told_of(self) -> list[int]:
        """All groups where they are few; else the rarest, the largest, and the one whose belief rises most."""
        if len(self.groups) <= _FEW_GROUPS:
            return list(range(len(self.groups)))
        shares = np.array([own.before for own in self.groups])
        rises = np.array([own.most for own in self.groups]) / shares
        return list(dict.fromkeys(map(int, (shares.argmin(), shares.argmax(), rises.argmax()))))


def _told(solution: Solution) -> Array:
    """P(y, s) for every output that occurs, with each combination of earlier ones by itself, (count, |S|)."""
    blocks = solution.region.blocks(solution.joint)
    total = sum(sum(map(sum, block)) for block in blocks)
    shares = [np.array([[count / total for count in row] for row in block]) for block in blocks]
    told = np.concatenate([np.asarray(solution.mechanism.law @ own.T) for own in shares])
    return np.asarray(told[told.sum(axis=1) > 0])


def _guess(before: float, after: float, by_output: Array, *, people: Array) -> Guess:
    most = float(by_output.max())
    return Guess(float(before), float(after), most, float(people[by_output >= most - _SAME].sum()))


def what_it_means(solution: Solution, *, secret: str, shown: Sequence[str]) -> list[str]:
    """Sentences for a reader who knows no mathematics; `shown` are the labels as they are printed."""
    found = Guesses.of(solution)
    it = "it and those before it" if isinstance(solution.region, After) else "it"
    where = "by this distribution" if solution.joint.n is None else "among the people of the table"
    lines = [f"What that means {where}, for whoever sees the release:", _of_the_best(found.best, secret, it)]
    for s in found.told_of:
        own = found.groups[s]
        chances = f"at most {_share(own.after)} on average, with {it} as without"
        if own.helps:
            chances = f"{_share(own.before, up=False)} without {it}, at most {_share(own.after)} on average with {it}"
        lines.append(
            f"  - for a person of group {shown[s]}, the chance that an observer gives to that group is {chances}, and at most "
            f"{_share(own.most)} whatever is released."
        )
    return lines


def _of_the_best(best: Guess, secret: str, it: str) -> str:
    if best.helps:
        chances = f"for {_share(best.before, up=False)} of the people without {it} and for at most {_share(best.after)} with {it}"
    else:
        chances = f"for at most {_share(best.after)} of the people, with {it} as without"
    return (
        f"  - the best guess of {secret} is right {chances}; the most that a single released value brings is "
        f"{_share(best.most)}, to the {_share(best.people)} who get such a value."
    )


def _share(value: float, *, up: bool = True) -> str:
    """A percentage with one decimal, or two digits where it is small, rounded to the side that shows a release as more telling."""
    percent = min(max(100 * value, 0.0), 100.0)
    digits = 1 if percent >= 1 or percent <= 0 else min(1 - math.floor(math.log10(percent)), 12)
    units = percent * 10**digits
    # A float may lie beside the decimal that it stands for.
    nearest = round(units)
    whole = nearest if abs(units - nearest) < 1e-9 * max(units, 1.0) else math.ceil(units) if up else math.floor(units)
    return f"{whole / 10**digits:.{digits}f}%"
