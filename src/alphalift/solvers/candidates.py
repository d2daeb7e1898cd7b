"""Candidate posteriors inside a region: first ones, and repairs of those that rounding left outside."""

from __future__ import annotations

import numpy as np

from alphalift.arrays import Array
from alphalift.clock import Clock
from alphalift.joint import Joint
from alphalift.regions import Region

_HALVINGS = 40
# A candidate that needs more than this to come inside is not worth keeping.
_LARGEST_REPAIR = 1e-3
# How far towards a symbol the value is probed, and the least fall that is divided by.
_PROBE, _LEAST_FALL = 1e-5, 1e-300
_NEIGHBOUR_SHARE = 0.3
# Numbers of candidates that are made at once: 128 MB.
_MOST_NUMBERS = 1 << 24
# Relative excess that is rounding; well below the 1e-12 to which floats keep a promise.
_EXCESS = 2e-13
# Singular values and shares below this are zeros of floats; in the equations of supports, which are solved twice, below that.
_RANK, _DEPENDENT = 1e-9, 1e-10


def first_points(joint: Joint, region: Region, clock: Clock) -> Array:
    """Where columns start, (count, |X|): at the region's end in the direction of every symbol.

    At a budget of 0 that is P_X itself; extreme points that mix to it come with it, and are a mechanism already.
    """
    if not region.perfect:
        return towards_symbols(joint, region)
    return np.concatenate([joint.p_x[None], _onto_null_space(joint.p_x[None], region.null_rows(joint), clock)])


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
    """Points mixed with every symbol: starts that swap one symbol of a sparse point for another, (count, |X|).

    As many points, evenly among them, as `_MOST_NUMBERS` have room for.
    """
    size = points.shape[1]
    most = max(1, _MOST_NUMBERS // size**2)
    chosen = points[:: -(-len(points) // most)] if len(points) else points
    mixed = (1 - _NEIGHBOUR_SHARE) * chosen[:, None, :] + _NEIGHBOUR_SHARE * np.eye(size)
    return np.asarray(mixed.reshape(-1, size))


def pull_inside(points: Array, joint: Joint, region: Region, clock: Clock | None = None) -> Array:
    """The points, those slightly outside moved inside; what would have to move far is dropped, or comes after the clock.

    Towards the symbol of the point's support that lowers the value most, which keeps the support sparse; where
    that does not lead inside (several lifts at the cap at once), towards P_X, which always does: the value is
    convex and least there.
    """
    clock = clock or Clock()
    if region.perfect:
        return _onto_null_space(points, region.null_rows(joint), clock)
    outside = region.value(points @ joint.lift.T, joint.p_s) > region.budget * (1 + _EXCESS)
    found, moved = [points[~outside]], points[outside]
    block = max(1, _MOST_NUMBERS // (8 * joint.lift.size))
    for first in range(0, len(moved), block):
        if clock.over:
            break
        found.append(_moved_inside(moved[first : first + block], joint, region))
    return np.concatenate(found)


def _moved_inside(points: Array, joint: Joint, region: Region) -> Array:
    """Points from outside that a small move brings inside, moved."""
    limit = region.budget * (1 + _EXCESS)
    values = region.value(points @ joint.lift.T, joint.p_s)
    points, values = points[np.isfinite(values)], values[np.isfinite(values)]  # others have no slope to move along
    lifts = points @ joint.lift.T
    excess = values - region.budget
    probes = (1 - _PROBE) * lifts[:, None, :] + _PROBE * joint.lift.T[None]
    probed = region.value(probes.reshape(-1, lifts.shape[1]), joint.p_s).reshape(points.shape)
    probed[points <= 0] = np.inf
    fall = np.maximum((values - probed.min(axis=1)) / _PROBE, _LEAST_FALL)
    share = np.minimum(1.01 * excess / fall, 1.0)[:, None]
    along = (1 - share) * points
    along[np.arange(len(points)), probed.argmin(axis=1)] += share[:, 0]
    inside = region.value(along @ joint.lift.T, joint.p_s) <= limit
    share = np.minimum(1.01 * excess / (values - region.value_of_nothing(joint.p_s)), 1.0)[:, None]
    repaired = np.where(inside[:, None], along, (1 - share) * points + share * joint.p_x)
    kept = region.value(repaired @ joint.lift.T, joint.p_s) <= limit
    near = np.abs(repaired - points).max(axis=1) <= _LARGEST_REPAIR
    return np.asarray(repaired[kept & near])


def _onto_null_space(points: Array, rows: Array, clock: Clock) -> Array:
    """The nearest points that no row changes, on the same supports, where perfect privacy leaves no room to move inside."""
    found: list[Array] = []
    system = np.vstack([rows, np.ones(points.shape[1])])
    for point in points:
        if clock.over:
            break
        if (near := _solution_near(system, point)) is not None:
            found += _extreme_pieces(system, near, clock)
    return np.array(found).reshape(-1, points.shape[1])


def _solution_near(system: Array, point: Array) -> Array | None:
    """The nearest V >= 0 on the point's support with system V = (0, ..., 0, 1); none where floats find none."""
    support = np.flatnonzero(point)
    own, result = system[:, support], point.copy()
    side = np.append(np.zeros(len(system) - 1), 1.0)
    for _ in range(2):  # a second correction removes the first one's rounding
        result[support] += np.linalg.lstsq(own, side - own @ result[support], rcond=_DEPENDENT)[0]
    return result if result.min() >= 0 and np.abs(own @ result[support] - side).max() < _EXCESS else None


def _extreme_pieces(system: Array, point: Array, clock: Clock) -> list[Array]:
    """Extreme points of which the point is a mixture, at most one for each symbol of its support.

    A local minimum need not be extreme where symbols have equal lifts. Each piece takes as much of what is left as it can,
    which uses a symbol up. The last ones are missing if the clock is over before.
    """
    pieces, left = [], point.copy()
    while left.any() and not clock.over:
        extreme = _extreme_within(system, left)
        support = extreme > 0
        shares = left[support] / extreme[support]
        left[support] -= shares.min() * extreme[support]
        left[np.flatnonzero(support)[shares.argmin()]] = 0.0
        left[left < _RANK] = 0.0
        if (piece := _solution_near(system, extreme / extreme.sum())) is not None:
            pieces.append(piece)
    return pieces


def _extreme_within(system: Array, point: Array) -> Array:
    """Symbols leave the point, one at a time, along changes that the system does not see, until there is none.

    One more symbol than equations always has such a change, so that many are looked at: small matrices.
    """
    result = point.copy()
    while True:
        support = np.flatnonzero(result)[: len(system) + 1]
        _, values, axes = np.linalg.svd(system[:, support])
        rank = (values > _RANK * max(1.0, values[0])).sum()
        if rank == len(support):
            return result
        change, own = axes[-1], result[support]
        falling = np.flatnonzero(change < 0)
        steps = own[falling] / -change[falling]
        moved = own + steps.min() * change
        moved[falling[steps.argmin()]] = 0.0
        result[support] = np.where(moved > _RANK, moved, 0.0)
