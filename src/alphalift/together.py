"""What the outputs of several mechanisms tell together about one secret (same column only, until all columns are counted)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from alphalift.joint import Joint, Variable
from alphalift.proof import Integers

_MOST = 200_000


@dataclass(frozen=True)
class Together:
    """The largest lift of a secret that all outputs together can have."""

    mechanisms: int
    max_lift: Fraction
    prior: Fraction

    def __str__(self) -> str:
        lift = math.ceil(self.max_lift * 1000) / 1000
        return f"{self.mechanisms} mechanisms have now answered for these people: together their outputs make a secret up to {lift:.3f} times as likely; no single promise covers that"


def told_together(joint: Joint, mechanisms: Sequence[Integers], variables: Sequence[Variable]) -> Together | None:
    """The exact figure where all of them read the joint's own X, else None."""
    if any(variable != joint.useful for variable in variables):
        return None
    if math.prod(len(law.weights) for law in mechanisms) > _MOST:
        return None
    best = Fraction(0)
    for rows in itertools.product(*(law.weights for law in mechanisms)):
        likelihood = [math.prod(row[x] for row in rows) for x in range(len(joint.x_labels))]
        total = sum(w * like for w, like in zip(joint.x_weights, likelihood, strict=True))
        if total:
            for s, row in enumerate(joint.weights):
                mass = sum(w * like for w, like in zip(row, likelihood, strict=True))
                best = max(best, Fraction(mass * joint.total, total * joint.s_weights[s]))
    return Together(len(mechanisms), best, Fraction(min(joint.s_weights), joint.total))
