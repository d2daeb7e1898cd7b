"""Family: promises of one kind that differ in epsilon alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from alphalift.arrays import Array
from alphalift.errors import PromiseError
from alphalift.joint import Joint
from alphalift.regions import Region


@dataclass(frozen=True)
class Family:
    """Promises of one kind that differ in epsilon alone: `Family(AlphaLift, {"alpha": 10})`."""

    promise: Callable[..., Region]
    parameters: dict[str, Any] = field(default_factory=dict)

    def at(self, epsilon: float) -> Region:
        return self.promise(**self.parameters, epsilon=epsilon)

    def require_one_budget(self, joint: Joint) -> None:
        """Raise unless epsilon is the bound on a value that does not depend on it: curves compare promises by that."""
        try:
            less, more = self.at(0.25), self.at(0.5)
        except TypeError:
            raise PromiseError(
                "expected a kind of promise with a budget named epsilon, and a value for each of its other parameters, as in "
                f"(joint, AlphaLift, alpha=10); given {self._named}"
            ) from None
        about = more.about(joint)
        values = [region.value(about.lift.T, about.p_s) for region in (less, more)]
        scaled = [abs(region.as_epsilon(region.budget) - own) for region, own in ((less, 0.25), (more, 0.5))]
        if len(more.components) > 1 or not np.array_equal(values[0], values[1]) or max(scaled) > 1e-9:
            raise PromiseError(f"a curve needs a promise with one budget, epsilon; {more} has none, or more than that")

    @property
    def _named(self) -> str:
        kind = self.promise.__name__ if isinstance(self.promise, type) else repr(self.promise)
        return f"{kind} with {', '.join(self.parameters) or 'nothing else'}"

    def epsilon_of(self, p_y: Array, lifts: Array, p_s: Array) -> float:
        """The least epsilon whose promise outputs with these lifts keep."""
        region = self.at(1.0)
        return max(0.0, region.as_epsilon(region.value_of_outputs(p_y, lifts, p_s)))

    def largest(self, joint: Joint) -> float:
        """The least epsilon at which X may be published; infinite if none allows that."""
        about = self.at(1.0).about(joint)
        outputs = about.p_x, about.lift.T, about.p_s
        epsilon = self.epsilon_of(*outputs)
        if not math.isfinite(epsilon):
            return math.inf
        while not self.at(epsilon).kept_by(*outputs):  # a logarithm's rounding
            epsilon = max(np.nextafter(epsilon, math.inf), epsilon * (1 + 1e-15))
        return epsilon
