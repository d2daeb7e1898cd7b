"""What baselines share: whether a mechanism keeps a promise, and the largest setting at which it does."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from alphalift.arrays import Array
from alphalift.joint import Joint
from alphalift.mechanism import Mechanism
from alphalift.regions import Region
from alphalift.solvers.merging import allowed

# The distance between neighbouring floats just below one.
_HALVINGS = 53


def keeps(mechanism: Mechanism, region: Region) -> bool:
    """Whether every output keeps the promise, and all together what is promised on average."""
    outputs = mechanism.lift.T, mechanism.joint.p_s
    return bool(allowed(outputs[0], region, outputs[1]).all()) and region.kept_by(mechanism.p_y, *outputs)


def largest(
    kept: Callable[[float], bool], inside: float = 0.0, outside: float = 1.0, *, halvings: int = _HALVINGS
) -> float:
    """The end of the settings that keep a promise, by bisection; always a setting that was seen to keep it, or `inside`."""
    if kept(outside):
        return outside
    for _ in range(halvings):
        middle = (inside + outside) / 2
        if kept(middle):
            inside = middle
        else:
            outside = middle
    return inside


def truth_or_noise(joint: Joint, truth: float, noise: Array) -> Mechanism:
    """P(y|x) = truth 1[y=x] + (1 - truth) noise(y), noise a distribution on X's alphabet.

    The posterior of y lies between P_X and the unit vector of y and moves towards the latter as `truth` grows. Allowed
    lifts form a convex set around 1, so a promise that is broken at one `truth` is broken at every larger one.
    """
    return Mechanism(joint, truth * np.eye(len(noise)) + (1 - truth) * noise[:, None])


def subsets(size: int) -> Array:
    """The indicators of all subsets of `size` symbols but the empty and the full one, (2^size - 2, size)."""
    return ((np.arange(1, 2**size - 1)[:, None] >> np.arange(size)) & 1).astype(np.float64)
