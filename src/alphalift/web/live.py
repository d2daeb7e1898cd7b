"""What a slider is answered while it moves: the certified range of what is kept, and what the promise lets groups gain.

From a curve that is known already: its stairs are rising epsilons, with what some mechanism keeps from each of them on and what none exceeds up
to each of them, as shares of X.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from alphalift.regions import AlphaLift
from alphalift.show.text import printable, up


@dataclass(frozen=True)
class Stairs:
    """One certified curve."""

    epsilons: Sequence[float]
    lower: Sequence[float]
    upper: Sequence[float]

    def at(self, epsilon: float) -> tuple[float, float]:
        """What is kept at least by the best mechanism, and at most."""
        before, after = bisect_right(self.epsilons, epsilon), bisect_left(self.epsilons, epsilon)
        least = self.lower[before - 1] if before else 0.0
        # Behind its end X may be published, or nothing is known.
        most = self.upper[after] if after < len(self.epsilons) else max(1.0, least)
        return least, max(most, least)

    def least_epsilon(self, share: float) -> float | None:
        """The first epsilon from which on some mechanism keeps the share."""
        place = bisect_left(self.lower, share)
        return self.epsilons[place] if place < len(self.epsilons) else None

    def not_below(self, share: float) -> float:
        """Up to this epsilon no mechanism keeps the share."""
        place = bisect_left(self.upper, share)
        return self.epsilons[place - 1] if place else 0.0


@dataclass(frozen=True)
class Groups:
    """The values of the secret with their shares."""

    secret: str
    labels: tuple[str, ...]
    shares: tuple[float, ...]

    def risk(self, region: AlphaLift) -> str:
        """What the promise alone lets groups gain. None gains more than the rarest: the larger a share, the less it may."""
        rarest, largest = (max(range(len(self.shares)), key=lambda s: sign * self.shares[s]) for sign in (-1.0, 1.0))
        most = (
            f"Whatever value is released, for someone who knew only how common each value of {printable(self.secret)} is no group becomes more "
            f"than {self.gain(region, rarest)} times as likely"
        )
        if rarest == largest:
            return f"{most}."
        return (
            f"{most}: that is the rarest, {self._named(rarest)}. The largest, {self._named(largest)}, becomes at most "
            f"{self.gain(region, largest)} times as likely."
        )

    def gain(self, region: AlphaLift, s: int) -> str:
        """The factor, rounded up."""
        return up(_gain(region, self.shares, s), 2)

    @property
    def rarest(self) -> int:
        return min(range(len(self.shares)), key=self.shares.__getitem__)

    def _named(self, s: int) -> str:
        return f"{printable(self.labels[s])} ({self.shares[s]:.1%})"


@lru_cache(64)
def _gain(region: AlphaLift, shares: tuple[float, ...], s: int) -> float:
    p_s = np.array(shares)
    return 1.0 if region.perfect else region.group_limit(np.arange(len(p_s)) == s, p_s)


def kept_words(lower: float, upper: float, useful: str) -> str:
    """The range in a sentence; both ends rounded to the safe side."""
    least, most = math.floor(1000 * lower + 1e-9) / 10, min(math.ceil(1000 * upper - 1e-9) / 10, 100.0)
    between = f"{least:.1f}%" if most <= least else f"{least:.1f}% to {most:.1f}%"
    return f"The best mechanism keeps {between} of the information in {printable(useful)}, for the records alone."
