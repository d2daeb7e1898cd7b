"""All vertices of {V in the simplex : D V <= tau} for every tau >= 0, from one enumeration."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from alphalift.arrays import Array, read_only

_SYSTEMS_AT_ONCE = 1 << 15
# Below this share of the product of its row norms a determinant is rounding noise.
_SINGULAR = 1e-13
# Entries of a path below this share of its largest are zeros that rounding has blurred.
_ZERO = 1e-12
# Rounding moves the ends of a path's interval; a point this far outside still counts as on it.
_END_SLACK = 1e-12


@dataclass(frozen=True)
class VertexPaths:
    """V(tau) = start + tau * slope is a vertex for low <= tau <= high; one row a path."""

    starts: Array
    slopes: Array
    low: Array
    high: Array

    def at(self, tau: float) -> Array:
        """The vertices at one tau, (count, dimension), each exactly a distribution up to rounding."""
        slack = _END_SLACK * (1 + tau)
        alive = (self.low <= tau + slack) & (tau - slack <= self.high)
        points = np.maximum(self.starts[alive] + tau * self.slopes[alive], 0.0)
        return np.asarray(points / points.sum(axis=1, keepdims=True))


def count_systems(rows: int, columns: int) -> int:
    """How many small linear systems `vertex_paths` solves: its cost, known beforehand."""
    return math.comb(rows + columns, rows + 1) - math.comb(columns, rows + 1)


def vertex_paths(deviations: Array) -> VertexPaths:
    """The vertices of {V >= 0, sum V = 1, D V <= tau} for all tau >= 0, D = deviations, (rows, columns).

    A vertex has a support K and tight rows T with |K| = |T| + 1; on them D V = tau and sum V = 1, so V is
    linear in tau. It is a vertex while the other rows are slack and V >= 0: an interval of tau. A convex
    combination of the rows of D must vanish (in our use E_S[l - 1] = 0), so that T is never all rows once
    tau > 0. Degenerate vertices may appear more than once; intervals of a single point are dropped, their
    vertices being limits of other paths.
    """
    rows, columns = deviations.shape
    pieces = [_unit_paths(deviations)]
    for size in range(2, min(rows, columns) + 1):
        for supports, tights in _bases(rows, columns, size):
            pieces.append(_paths(deviations, supports, tights))
    starts, slopes, low, high = (np.concatenate(parts) for parts in zip(*pieces, strict=True))
    return VertexPaths(*map(read_only, (starts, slopes, low, high)))


Index = NDArray[np.intp]
Paths = tuple[Array, Array, Array, Array]


def _unit_paths(deviations: Array) -> Paths:
    """The unit vectors: no row is tight, V does not move, and it stays once tau admits it."""
    columns = deviations.shape[1]
    low = np.maximum(deviations.max(axis=0), 0.0)
    return np.eye(columns), np.zeros((columns, columns)), low, np.full(columns, math.inf)


def _bases(rows: int, columns: int, size: int) -> Iterator[tuple[Index, Index]]:
    """All pairs (support of this size, tight rows one fewer), in batches that fit in memory."""
    supports = np.array(list(itertools.combinations(range(columns), size)), dtype=np.intp)
    all_tights = np.array(list(itertools.combinations(range(rows), size - 1)), dtype=np.intp)
    batch = max(1, _SYSTEMS_AT_ONCE // len(supports))
    for first in range(0, len(all_tights), batch):
        tights = all_tights[first : first + batch]
        yield np.tile(supports, (len(tights), 1)), np.repeat(tights, len(supports), axis=0)


def _paths(deviations: Array, supports: Index, tights: Index) -> Paths:
    """Solve one batch of bases and keep those that are vertices for some interval of tau."""
    count, size = supports.shape
    columns = deviations.shape[1]
    matrices = np.ones((count, size, size))
    matrices[:, :-1, :] = deviations[tights[:, :, None], supports[:, None, :]]
    norms = np.prod(np.linalg.norm(matrices, axis=2), axis=1)
    regular = np.abs(np.linalg.det(matrices)) > _SINGULAR * norms
    matrices, supports, tights = matrices[regular], supports[regular], tights[regular]
    count = len(matrices)

    # Right-hand sides: V(tau) solves D V = tau on the tight rows and sum V = 1.
    sides = np.zeros((count, size, 2))
    sides[:, -1, 0] = 1.0
    sides[:, :-1, 1] = 1.0
    solved = np.linalg.solve(matrices, sides)
    blurred = np.abs(solved) < _ZERO * np.abs(solved).max(axis=1, keepdims=True)
    solved[blurred] = 0.0

    points = np.zeros((count, columns, 2))
    np.put_along_axis(points, supports[:, :, None], solved, axis=1)
    slack = np.einsum("sx,cxk->csk", -deviations, points)
    slack[:, :, 1] += 1.0
    scale = np.abs(slack).max(axis=(1, 2), keepdims=True)
    slack[np.abs(slack) < _ZERO * scale] = 0.0
    np.put_along_axis(slack, tights[:, :, None], 0.0, axis=1)

    low, high = _interval(np.concatenate([points, slack], axis=1))
    kept = low * (1 + _END_SLACK) < high
    return points[kept, :, 0], points[kept, :, 1], low[kept], high[kept]


def _interval(constraints: Array) -> tuple[Array, Array]:
    """The tau >= 0 with constraints[..., 0] + tau * constraints[..., 1] >= 0 everywhere; empty if low > high."""
    constant, slope = constraints[..., 0], constraints[..., 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        root = -constant / slope
    low = np.where(slope > 0, root, 0.0).max(axis=1, initial=0.0)
    high = np.where(slope < 0, root, math.inf).min(axis=1, initial=math.inf)
    impossible = ((slope == 0) & (constant < 0)).any(axis=1)
    return low, np.where(impossible, -1.0, high)
