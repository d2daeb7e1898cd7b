"""What every promise is: a convex set C of lift vectors, known by its value and its support function."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from alphalift.exact import Array

# Float arithmetic cannot tell a tight posterior from one that is past the budget by a few roundings.
FLOAT_SLACK = 1e-12
_HALVINGS = 200

R = TypeVar("R", bound="Region")


class Region(ABC):
    """C = {l >= 0 : E_S[l] = 1, value(l) <= budget}; always contains l = 1, the answer that reveals nothing.

    Lifts come as (count, |S|). A subclass is a frozen dataclass of the promise's parameters.
    """

    @property
    @abstractmethod
    def budget(self) -> float:
        """The largest allowed value."""

    @abstractmethod
    def value(self, lifts: Array, p_s: Array) -> Array:
        """psi(l) of every row, a convex function, (count,)."""

    @abstractmethod
    def support(self, directions: Array, p_s: Array) -> Array:
        """sigma(w) = max over l in C of E_S[w l] for every row w, (count,); never below the true maximum."""

    def compiled_support(self, p_s: Array) -> tuple[Any, Array] | None:
        """The support function for compiled kernels (`compiled.SUPPORT`) and its parameters, if there is one.

        It takes directions of the secrets' posterior: sigma(w) = max over l in C of sum_s w_s P_S(s) l_s, w >= 0.
        """
        return None

    @property
    def simplest(self) -> Region:
        """The same set of lifts, described in the way that is easiest to solve."""
        return self

    def tightened(self, nats: float) -> Region:
        """A slightly smaller set, where there is one: what lies in it keeps the promise through rounding, too."""
        return self

    @property
    def largest_lift(self) -> float | None:
        """t where C is exactly {l <= t}: the region's facets, when they are that simple."""
        return None

    @property
    def parameters(self) -> dict[str, float]:
        """The promise's parameters by name, as records and files list them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def allows(self, lifts: Array, p_s: Array) -> NDArray[np.bool_]:
        """Whether every row keeps the promise, up to float rounding (relative 1e-12), (count,)."""
        return np.asarray(self.value(lifts, p_s) <= self.budget * (1 + FLOAT_SLACK))


def grid(region: Callable[..., R], **parameters: Iterable[float]) -> tuple[R, ...]:
    """One region for every combination: grid(AlphaLift, alpha=[10, 3], epsilon=[.1, .2])."""
    names = tuple(parameters)
    return tuple(region(**dict(zip(names, cell, strict=True))) for cell in itertools.product(*parameters.values()))


def lift_interval(region: Region, p_s: Array) -> tuple[float, float]:
    """Two secrets: the ends of the allowed lifts of the first one, minus one; inside by rounding, never outside."""

    def kept(deviation: float) -> bool:
        lift = np.maximum([[1 + deviation, 1 - deviation * p_s[0] / p_s[1]]], 0.0)
        return bool(region.value(lift, p_s)[0] <= region.budget)

    ends = []
    for furthest in (-1.0, float(p_s[1] / p_s[0])):
        inside, outside = 0.0, furthest
        for _ in range(_HALVINGS):
            middle = (inside + outside) / 2
            if kept(middle):
                inside = middle
            else:
                outside = middle
        ends.append(furthest if kept(furthest) else inside)
    return ends[0], ends[1]
