"""Pointwise maximal leakage: max-lift about X itself."""

from __future__ import annotations

from alphalift.joint import Joint
from alphalift.regions.max_lift import MaxLift


class PML(MaxLift):
    """P(x|y) <= e^epsilon P_X(x) for every x and y: max-lift with S = X, whatever else the joint's secret is.

    S. Saeidian, G. Cervia, T. J. Oechtering, M. Skoglund, "Pointwise maximal leakage", 2023. It bounds what y tells
    about any secret whatever that depends on X alone.
    """

    def about(self, joint: Joint) -> Joint:
        return joint.about_x

    def __repr__(self) -> str:
        return f"PML(epsilon={self.epsilon})"
