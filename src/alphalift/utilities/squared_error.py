"""How much of the variance of a numeric X its best estimate from Y explains."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from alphalift.arrays import Array
from alphalift.errors import InputError, SettingError
from alphalift.exact import exact, written_out
from alphalift.joint import Joint
from alphalift.utilities.base import Utility
from alphalift.utilities.pieces import Pieces, Squares

Point = tuple[Fraction, ...]


@dataclass(frozen=True, init=False)
class SquaredError(Utility):
    """Var X - E Var(X | Y), which is the variance of E[X | Y]: h(V) = E_V |x - E_V x|^2, summed over coordinates.

    X is what its labels say, unless `values` has a number, or a point, for every value: in the joint's order, or by label.
    Numbers are decimals: a float means its shortest one.
    """

    values: tuple[Point, ...] | None
    labels: tuple[str, ...] | None
    # The points of a joint, its labels, and the points less the least of each coordinate in floats, (|X|, d).
    _points: tuple[Point, ...] | None = field(repr=False, compare=False)
    _of: tuple[str, ...] | None = field(repr=False, compare=False)
    _shifted: Array | None = field(repr=False, compare=False)

    def __init__(self, values: Any = None) -> None:
        labels = tuple(map(str, values)) if isinstance(values, Mapping) else None
        listed = list(values.values()) if isinstance(values, Mapping) else values
        if listed is not None and not isinstance(listed, Iterable):
            raise InputError(
                "values of SquaredError are a number, or a list of them, for each value of X: SquaredError([1, 2.5, 4])"
            )
        points = None if listed is None else tuple(_point(value, x) for x, value in enumerate(listed))
        if points is not None and len({len(point) for point in points}) != 1:
            raise InputError("values of SquaredError must all have the same number of coordinates, one or more")
        self._fill(values=points, labels=labels, _points=None, _of=None, _shifted=None)

    def _fill(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def on(self, joint: Joint) -> SquaredError:
        if self._of == joint.x_labels:
            return self
        points = self._points_of(joint)
        least = [min(column) for column in zip(*points, strict=True)]
        shifted = [[float(own - low) for own, low in zip(point, least, strict=True)] for point in points]
        result = object.__new__(SquaredError)
        result._fill(values=self.values, labels=self.labels)
        result._fill(_points=points, _of=joint.x_labels, _shifted=np.array(shifted))
        return result

    def _points_of(self, joint: Joint) -> tuple[Point, ...]:
        if self.values is None:
            try:
                return tuple(_checked((exact(label),)) for label in joint.x_labels)
            except ValueError:
                raise InputError(
                    "not every value of X is a decimal number: give SquaredError(values=...) one for each"
                ) from None
        if self.labels is not None:
            by_label = dict(zip(self.labels, self.values, strict=True))
            missing = sum(label not in by_label for label in joint.x_labels)
            if missing:
                raise InputError(f"SquaredError has no number for {missing} of the {len(joint.x_labels)} values of X")
            return tuple(by_label[label] for label in joint.x_labels)
        if len(self.values) != len(joint.x_labels):
            raise InputError(
                f"SquaredError has numbers for {len(self.values)} values of X, and X has {len(joint.x_labels)}; give one for each"
            )
        return self.values

    @property
    def parameters(self) -> dict[str, Any]:
        """The points in the joint's order, coordinates as decimals in text."""
        assert self._points is not None
        return {"values": [list(map(written_out, point)) for point in self._points]}

    def kept(self, useful: str) -> str:
        return f"variance of {useful}"

    def __repr__(self) -> str:
        if self.values is None:
            return "SquaredError()"
        points = [
            written_out(point[0]) if len(point) == 1 else f"[{', '.join(map(written_out, point))}]"
            for point in self.values
        ]
        if self.labels is None:
            return f"SquaredError([{', '.join(points)}])"
        pairs = [f"{label!r}: {point}" for label, point in zip(self.labels, points, strict=True)]
        return f"SquaredError({{{', '.join(pairs)}}})"

    @property
    def shifted(self) -> Array:
        if self._shifted is None:
            raise SettingError("what X's values are as numbers is known once the joint is: use .on(joint)")
        return self._shifted

    def uncertainty(self, points: Array) -> Array:
        """The mean of (x - m)^2: squares of differences, so that nothing cancels."""
        result = np.zeros(points.shape[:-1])
        for x in self.shifted.T:
            result += (points * np.square(x - (points @ x)[..., None])).sum(axis=-1)
        return result

    def of_publishing_all(self, p_x: Array) -> float:
        return float(self.uncertainty(p_x[None])[0])

    def pieces(self, scale: float, size: int) -> Pieces:
        return Squares(self.shifted / np.sqrt(scale))


def _point(value: object, x: int) -> Point:
    try:
        return _checked(tuple(map(exact, value if np.ndim(value) else [value])))  # type: ignore[arg-type,call-overload]
    except ValueError:
        raise InputError(f"value {x + 1} of SquaredError is not a finite decimal number, or a list of them") from None


def _checked(point: Point) -> Point:
    """The point, whose coordinates must be decimals that end."""
    for number in point:
        written_out(number)
    return point
