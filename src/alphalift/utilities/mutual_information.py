"""I(X;Y) in nats: the paper's utility."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from alphalift.arrays import Array, Rows, is_sparse
from alphalift.measures.information import entropy
from alphalift.utilities.base import Utility


@dataclass(frozen=True)
class MutualInformation(Utility):
    """I(X;Y) = H(X) - H(X|Y): h is the entropy, and publishing X is worth H(X)."""

    unit = "nats"

    @property
    def parameters(self) -> dict[str, Any]:
        return {}

    def kept(self, useful: str) -> str:
        return f"information in {useful}"

    def uncertainty(self, points: Rows) -> Array:
        if not is_sparse(points):
            return entropy(points, axis=-1)
        shares = np.where(points.data > 0, points.data, 1.0)  # where a zero is stored
        terms = type(points)((-shares * np.log(shares), points.indices, points.indptr), shape=points.shape)
        return np.asarray(terms.sum(axis=1) + 0.0)

    def uncertainties(self, points: Rows) -> Array:
        return self.uncertainty(points)

    def of_publishing_all(self, p_x: Array) -> float:
        return float(entropy(p_x))

    def terms(self, points: Array, p_x: Array) -> Array:
        return entropy(points[..., None])

    def compiled_curve(self) -> Any:
        from alphalift.utilities.compiled_curves import named_curve

        return named_curve(minus_v_log_v)


def minus_v_log_v(v: float, order: int) -> float:
    """phi of the entropy, as `compiled.CURVE`."""
    if order == 1:
        return -math.log(v) - 1.0
    return -v * math.log(v) if v > 0.0 else 0.0
