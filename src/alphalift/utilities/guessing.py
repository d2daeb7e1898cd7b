"""The chance to guess X: what Y adds to it. As a distortion it is Hamming's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from alphalift.arrays import Array
from alphalift.utilities.base import Utility
from alphalift.utilities.pieces import Actions, Pieces


@dataclass(frozen=True)
class GuessingAccuracy(Utility):
    """E_Y max_x P(x|Y) - max_x P(x): h(V) = 1 - max_x V_x, the chance that the best guess is wrong."""

    @property
    def parameters(self) -> dict[str, Any]:
        return {}

    def kept(self, useful: str) -> str:
        return f"added chance to guess {useful}"

    def uncertainty(self, points: Array) -> Array:
        return np.asarray(1 - points.max(axis=-1))

    def of_publishing_all(self, p_x: Array) -> float:
        return float(1 - p_x.max()) if len(p_x) > 1 else 0.0

    def pieces(self, scale: float, size: int) -> Pieces:
        return Actions((1 - np.eye(size)) / scale)
