"""Candidate posteriors inside a region: first ones, and repairs of those that rounding left outside."""

from __future__ import annotations

import numpy as np

from alphalift.exact import Array
from alphalift.joint import Joint
from alphalift.regions import Region

_HALVINGS = 40
# A candidate that needs more than this to come inside is not worth keeping.
_LARGEST_REPAIR = 1e-3
_PROBE = 1e-5
_NEIGHBOUR_SHARE = 0.3
# Relative excess that is rounding; well below the 1e-12 to which floats keep a promise.
_ROUNDING = 2e-13
# Singular values and shares below this are zeros of floats.
_RANK = 1e-9


def towards_symbols(joint: Joint, region: Region) -> Array:
    """For every x the posterior on the way from P_X to "certainly x" where the region ends, (|X|, |X|)."""
    size = len(joint.p_x)
    inside, outside = np.zeros(size), np.ones(size)
    lifts = joint.lift.T
    alone = region.allows(lifts, joint.p_s)
    for _ in range(_HALVINGS):
        middle = (inside + outside)[:, None] / 2
        # The lift of P_X is 1.
        kept = region.value((1 - middle) + middle * lifts, joint.p_s) <= region.budget
        inside, outside = np.where(kept, middle[:, 0], inside), np.where(kept, outside, middle[:, 0])
    share = np.where(alone, 1.0, inside)[:, None]
    return np.asarray((1 - share) * joint.p_x + share * np.eye(size))


def neighbours(points: Array) -> Array:
    """Every point mixed with every symbol: starts that swap one symbol of a sparse point for another."""
    size = points.shape[1]
    mixed = (1 - _NEIGHBOUR_SHARE) * points[:, None, :] + _NEIGHBOUR_SHARE * np.eye(size)
    return np.asarray(mixed.reshape(-1, size))


def pull_inside(points: Array, joint: Joint, region: Region) -> Array:
    """The points, those slightly outside moved inside; what would have to move far is dropped.

    Towards the symbol of the point's support that lowers the value most, which keeps the support sparse; where
    that does not lead inside (several lifts at the cap at once), towards P_X, which always does: the value is
    convex and least there.
    """
    if region.perfect:
        return _onto_null_space(points, region.null_rows(joint))
    limit = region.budget * (1 + _ROUNDING)
    lifts = points @ joint.lift.T
    values = region.value(lifts, joint.p_s)
    outside = values > limit
    if not outside.any():
        return points
    moved, apart, excess = points[outside], lifts[outside], values[outside] - region.budget
    probes = (1 - _PROBE) * apart[:, None, :] + _PROBE * joint.lift.T[None]
    probed = region.value(probes.reshape(-1, apart.shape[1]), joint.p_s).reshape(moved.shape)
    probed[moved <= 0] = np.inf
    fall = np.maximum((values[outside] - probed.min(axis=1)) / _PROBE, 1e-300)
    along = _mixed(moved, np.eye(len(joint.p_x))[probed.argmin(axis=1)], 1.01 * excess / fall)
    inside = region.value(along @ joint.lift.T, joint.p_s) <= limit
    inwards = _mixed(moved, joint.p_x[None], 1.01 * excess / (values[outside] - region.value_of_nothing(joint.p_s)))
    repaired = np.where(inside[:, None], along, inwards)
    kept = region.value(repaired @ joint.lift.T, joint.p_s) <= limit
    near = np.abs(repaired - moved).max(axis=1) <= _LARGEST_REPAIR
    return np.concatenate([points[~outside], repaired[kept & near]])


def _onto_null_space(points: Array, rows: Array) -> Array:
    """The nearest points that no row changes, on the same supports, where perfect privacy leaves no room to move inside."""
    found = []
    for point in points.copy():
        support = np.flatnonzero(point)
        system = np.vstack([rows[:, support], np.ones(len(support))])
        side = np.append(np.zeros(len(rows)), 1.0)
        for _ in range(2):  # a second correction removes the first one's rounding
            point[support] += np.linalg.lstsq(system, side - system @ point[support], rcond=1e-10)[0]
        if point.min() >= 0 and np.abs(system @ point[support] - side).max() < _ROUNDING:
            found += _extreme_pieces(rows, point)
    return np.array(found).reshape(-1, points.shape[1])


def _extreme_pieces(rows: Array, point: Array) -> list[Array]:
    """Extreme points of which the point is a mixture: along the null space of the rows the lifts stay 1.

    A local minimum need not be extreme where symbols have equal lifts.
    """
    support = np.flatnonzero(point)
    own = point[support]
    _, values, axes = np.linalg.svd(rows[:, support])
    null = axes[(values > _RANK * max(1.0, values[0])).sum() :]
    # What changes the point but not its sum; nothing where the point itself is the whole null space.
    changes = null - null.sum(axis=1, keepdims=True) * own
    change = changes[np.abs(changes).max(axis=1).argmax()] if len(changes) else np.zeros_like(own)
    if np.abs(change).max(initial=0.0) < _RANK:
        return [point]
    pieces = []
    for direction in (change, -change):
        falling = direction < 0
        moved = own + np.min(own[falling] / -direction[falling]) * direction
        piece = np.zeros_like(point)
        piece[support] = np.where(moved > _RANK, moved, 0.0)
        pieces += _extreme_pieces(rows, piece / piece.sum())
    return pieces


def _mixed(points: Array, others: Array, share: Array) -> Array:
    share = np.minimum(share, 1.0)[:, None]
    return np.asarray((1 - share) * points + share * others)
