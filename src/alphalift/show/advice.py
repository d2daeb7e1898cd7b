"""Advice on a design for the population in three lines: what it cost, who is too rare for it, what would keep more."""

from __future__ import annotations

import math
from collections.abc import Sequence

from alphalift.population import Advice, Alternative
from alphalift.show.text import printable
from alphalift.utilities import MutualInformation, Utility

# So many names are told; of more, how many there are.
_MOST_NAMES = 3


def advice_lines(advice: Advice, *, secret: str, useful: str, utility: Utility | None = None) -> list[str]:
    """Three lines with numbers; designs that were found keep at least what is said of them."""
    kept = (utility or MutualInformation()).kept(useful)
    return [
        f"What it cost: this design keeps {advice.robust:.1%} of the {kept}, one for the records alone {advice.plain:.1%}.",
        _rare(advice, secret),
        f"What other wishes would keep of {useful}: {', '.join(printable(_would(own)) for own in advice.alternatives)}.",
    ]


def _rare(advice: Advice, secret: str) -> str:
    if advice.rare is None:
        return "Too rare: nobody, since no record of a secret is relied on."
    if not advice.rare:
        return f"Too rare: no value of {secret} is so rare that a margin for chance leaves less than the same promise about X itself would."
    names = _named([printable(name) for name in advice.rare])
    return (
        f"Too rare: {names}. A margin for chance leaves less for so few records than the same promise about X itself, which needs no record of them; "
        f"{max(advice.rare.values())} records of each would do."
    )


def _named(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def _would(own: Alternative) -> str:
    kept = "not computed in time" if own.kept is None else f"at least {_down(own.kept)}"
    return f"with {own.wish} {kept} ({own.remark})"


def _down(share: float) -> str:
    return f"{math.floor(1000 * share + 1e-9) / 10:.1f}%"
