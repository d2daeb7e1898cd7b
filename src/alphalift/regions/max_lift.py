"""No released value makes any secret more than e^epsilon times as likely: alpha-lift at alpha = inf."""

from __future__ import annotations

import math

from alphalift.exact import Number
from alphalift.regions.alpha_lift import AlphaLift


class MaxLift(AlphaLift):
    """l(s, y) <= e^epsilon for every s and y; pointwise maximal leakage when S = X (Remark 2)."""

    def __init__(self, epsilon: Number) -> None:
        super().__init__(math.inf, epsilon)  # type: ignore[arg-type]  # __post_init__ makes it a float

    def __repr__(self) -> str:
        return f"MaxLift(epsilon={self.epsilon})"
