"""What it brought and cost that similar values are mixed first, in a sentence."""

from __future__ import annotations

from alphalift.nearby import Nearby
from alphalift.show.text import up
from alphalift.utilities import Utility

_DIGITS = 3


def similar_words(
    found: Nearby, *, useful: str, utility: Utility, more: Nearby | None = None, coarse: bool = False
) -> str:
    """How far apart values that share an output were, and are, and what that cost; `more` is what giving up more would bring.

    `coarse` if the weights were rounded to few bits afterwards.
    """
    unit = found.distance.unit
    what = f"Similar values first: two people with the same output have values of {useful} that are"
    if not found.looked:
        text = f"{what} {_of(found.before)} {unit} apart on average; nearer ones are not looked for in a design of this kind."
    elif not found.changed:
        text = f"{what} {_of(found.before)} {unit} apart on average; nothing was found that is as useful and brings them nearer."
    else:
        text = (
            f"{what} {_of(found.after)} {unit} apart on average, {_of(found.before)} before; it gave up at most "
            f"{up(100 * found.given_up, _DIGITS)}% of the {utility.kept(useful)}."
        )
    if more is not None and more.after < found.after:
        text += f" Giving up {up(100 * more.given_up, 1)}% would make it {_of(more.after)} (--give-up)."
    return text + (" (Before the weights were made coarse.)" if coarse else "")


def _of(distance: float) -> str:
    """Rounded up: nearer must not be said than is."""
    return up(distance, _DIGITS)
