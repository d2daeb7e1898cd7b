"""I(X;Y) in nats: the paper's utility."""

from __future__ import annotations

from dataclasses import dataclass

from alphalift.exact import Array
from alphalift.measures.information import entropy
from alphalift.utilities.base import Utility


@dataclass(frozen=True)
class MutualInformation(Utility):
    """I(X;Y) = H(X) - H(X|Y): h is the entropy, and publishing X is worth H(X)."""

    def uncertainty(self, points: Array) -> Array:
        return entropy(points, axis=-1)
