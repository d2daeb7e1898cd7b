"""Several promises at once: bounded on average *and* in the worst case."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from alphalift.errors import PromiseError
from alphalift.exact import Array
from alphalift.joint import Joint
from alphalift.regions.base import Region

MOST_PARTS = 8


@dataclass(frozen=True, init=False)
class Intersection(Region):
    """Every one of the promises holds: `AlphaLift(10, .3) & MaxLift(1)`."""

    neutral: ClassVar[float] = 0.0
    parts: tuple[Region, ...]

    def __init__(self, *parts: Region) -> None:
        flat = tuple(component for part in parts for component in part.components)
        if not 2 <= len(flat) <= MOST_PARTS:
            raise PromiseError(f"an intersection has 2 to {MOST_PARTS} promises, not {len(flat)}")
        if len({type(part).about for part in flat}) > 1:
            raise PromiseError("PML is about X, the other promises about S: with S = X (joint.about_x), use MaxLift")
        object.__setattr__(self, "parts", flat)

    def __repr__(self) -> str:
        return " & ".join(map(repr, self.parts))

    @property
    def components(self) -> tuple[Region, ...]:
        return self.parts

    @property
    def budget(self) -> float:
        return 1.0

    @property
    def perfect(self) -> bool:
        return any(part.perfect for part in self.parts)

    def value(self, lifts: Array, p_s: Array) -> Array:
        """The largest share that any promise's value takes of its way from l = 1 to its budget."""
        shares = []
        for part in self.parts:
            nothing = part.value_of_nothing(p_s)
            room, above = part.budget - nothing, part.value(lifts, p_s) - nothing
            shares.append(above / room if room > 0 else np.where(part.allows(lifts, p_s), 0.0, np.inf))
        return np.asarray(np.maximum(np.max(shares, axis=0), 0.0))

    def allows(self, lifts: Array, p_s: Array) -> np.ndarray:
        return np.asarray(np.all([part.allows(lifts, p_s) for part in self.parts], axis=0))

    def support(self, directions: Array, p_s: Array) -> Array:
        """The least of the parts': a bound, not always the maximum, which would split w among the parts."""
        return np.asarray(np.min([part.support(directions, p_s) for part in self.parts], axis=0))

    def validate(self, p_s: Array) -> None:
        for part in self.parts:
            part.validate(p_s)

    def tightened(self, nats: float) -> Region:
        return Intersection(*(part.tightened(nats) for part in self.parts))

    def about(self, joint: Joint) -> Joint:
        return self.parts[0].about(joint)

    @property
    def parameters(self) -> dict[str, float]:
        return {
            f"{type(part).__name__}.{name}": value for part in self.parts for name, value in part.parameters.items()
        }
