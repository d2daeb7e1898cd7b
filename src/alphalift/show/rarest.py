"""What the rarest group may gain, beside what is kept: a small alpha keeps more because it leaves that large.

A promise allows a group of share p a largest P(G|y) / P(G), whatever X is (`Region.group_limit`): at most e^epsilon p^(-1/alpha) of
alpha-lift, and never more than 1/p.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from alphalift.joint import Joint
from alphalift.regions import Region
from alphalift.show.text import printable, up

if TYPE_CHECKING:
    import pandas as pd

# So many epsilons of a curve are told, evenly.
_TOLD = 6
GAIN = "rarest_group_at_most"


def rarest_gain(region: Region, joint: Joint) -> float:
    """How many times as likely the rarest secret may become under the promise."""
    if region.perfect:
        return 1.0
    p_s = region.about(joint).p_s
    return region.group_limit(np.arange(len(p_s)) == p_s.argmin(), p_s)


def rarest_name(joint: Joint, longest: int | None = None) -> str:
    """The rarest secret with its share, as it is printed."""
    rarest = int(joint.p_s.argmin())
    return f"{printable(joint.s_labels[rarest])[:longest]} ({joint.p_s[rarest]:.1%})"


def with_gains(frame: pd.DataFrame, joint: Joint, kind: Callable[..., Region]) -> pd.DataFrame:
    """A curve's rows with a column more: what the rarest group may gain at each."""
    names = [name for name in ("alpha", "order", "epsilon") if name in frame.columns]
    gains = [
        rarest_gain(kind(**dict(zip(names, row, strict=True))), joint) for row in frame[names].itertuples(index=False)
    ]
    return frame.assign(**{GAIN: gains})


def gains_table(frame: pd.DataFrame, joint: Joint, *, secret: str, useful: str) -> str:
    """A few epsilons of every curve in words: what is kept, and what the rarest group may gain; `joint` is what the promise is about."""
    least, most = ("lower", "upper") if "lower" in frame.columns else 2 * ("normalized_utility",)
    by_alpha = "alpha" in frame.columns
    lines = [
        f"What is kept of {printable(useful)}, and what that lets the rarest value of {printable(secret)} gain, {rarest_name(joint)}:"
    ]
    for alpha, rows in frame.groupby("alpha" if by_alpha else frame[least] * 0, sort=False):
        for place in np.unique(np.linspace(0, len(rows) - 1, _TOLD).round().astype(int)):
            row = rows.iloc[place]
            order = f"alpha = {float(alpha):g}, " if by_alpha else ""  # type: ignore[arg-type]  # a number of its column
            kept = f"{row[least]:.1%}" if row[most] - row[least] < 5e-4 else f"{row[least]:.1%} to {row[most]:.1%}"
            lines.append(
                f"  {order}epsilon = {row['epsilon']:.4g}: {kept} kept; up to {up(row[GAIN], 2)} times as likely"
            )
    return "\n".join(lines)
