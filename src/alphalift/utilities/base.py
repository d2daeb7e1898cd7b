"""What every utility is: how much a release lowers a concave uncertainty about X, on average."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from alphalift.exact import Array


class Utility(ABC):
    """U = h(P_X) - E_Y h(P_{X|Y}) for a concave h on the simplex; nothing released is worth 0."""

    @abstractmethod
    def uncertainty(self, points: Array) -> Array:
        """h of every row, a distribution of X, (count, |X|) -> (count,)."""

    def compiled_curve(self) -> Any | None:
        """phi for compiled kernels (`compiled.CURVE`) where h(V) = sum_x phi(V_x) with phi(0) = 0, if it is so."""
        return None

    def of(self, p_y: Array, p_x_given_y: Array, p_x: Array) -> float:
        """The utility of a mechanism; never below zero by rounding."""
        before = self.uncertainty(p_x[None])[0]
        return max(0.0, float(before - p_y @ self.uncertainty(p_x_given_y.T)))

    def of_publishing_all(self, p_x: Array) -> float:
        """The utility of Y = X, which no mechanism exceeds."""
        return self.of(p_x, np.eye(len(p_x)), p_x)
