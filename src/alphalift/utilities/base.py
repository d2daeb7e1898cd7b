"""What every utility is: how much a release lowers a concave uncertainty about X, on average."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from alphalift.arrays import Array, Rows, is_sparse
from alphalift.joint import Joint
from alphalift.utilities.pieces import Pieces

# Numbers of sparse rows that are made dense at once.
_AT_ONCE = 1 << 22


class Utility(ABC):
    """U = h(P_X) - E_Y h(P_{X|Y}) for a concave h on the simplex; nothing released is worth 0.

    A utility that needs to know the joint, such as P_X or what the values of X are, is first resolved for it: `on`.
    """

    unit: str = ""  # what its numbers are counted in, if that has a name

    def on(self, joint: Joint) -> Utility:
        """The utility with what it needs of the joint, in the joint's order, validated; its text is the same.

        All other methods are those of a resolved utility. It may be resolved again, for another joint.
        """
        return self

    def kept(self, useful: str) -> str:
        """What a release keeps a share of, in words."""
        return f"utility of {useful}"

    @property
    def parameters(self) -> dict[str, Any] | None:
        """What a file states beside its name, of a resolved utility; none if no file can state it."""
        return None

    @classmethod
    def stated(cls, **parameters: Any) -> Utility:
        """The utility with the parameters that a file states."""
        return cls(**parameters)

    @abstractmethod
    def uncertainty(self, points: Array) -> Array:
        """h of every row, a distribution of X, (count, |X|) -> (count,)."""

    def uncertainties(self, points: Rows) -> Array:
        """The same for rows that may be sparse; those are made dense a few at a time, unless h knows better."""
        if not is_sparse(points):
            return self.uncertainty(points)
        step = max(_AT_ONCE // points.shape[1], 1)
        parts = [points[first : first + step].toarray() for first in range(0, points.shape[0], step)]
        return np.concatenate([self.uncertainty(part) for part in parts])

    def compiled_curve(self) -> Any | None:
        """phi for compiled kernels (`compiled.CURVE`) where h(V) = sum_x scale_x phi(V_x / scale_x) with phi(0) = 0, if it is so."""
        return None

    def pieces(self, scale: float, size: int) -> Pieces | None:
        """h / scale for so many symbols as the least of linear functions, if that is how bounds are found."""
        return None

    def scales(self, p_x: Array) -> Array:
        """The scale above 0 of every symbol, (|X|,)."""
        return np.ones(len(p_x))

    def terms(self, points: Array, p_x: Array) -> Array:
        """scale_x phi(V_x / scale_x) of every entry, where there is such a curve, (count, |X|)."""
        from alphalift.utilities.compiled_curves import terms_of

        return terms_of(self.compiled_curve(), self.scales(p_x), np.array(points, dtype=np.float64, order="C"))

    def of(self, p_y: Array, posteriors: Rows, p_x: Array) -> float:
        """The utility of a mechanism with these rows P_{X|Y=y}, (|Y|, |X|); never below zero by rounding."""
        before = self.uncertainty(p_x[None])[0]
        return max(0.0, float(before - p_y @ self.uncertainties(posteriors)))

    def of_publishing_all(self, p_x: Array) -> float:
        """The utility of Y = X, which no mechanism exceeds."""
        return self.of(p_x, np.eye(len(p_x)), p_x)
