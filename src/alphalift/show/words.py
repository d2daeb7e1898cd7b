"""A design in plain words: what was asked, what is kept, what it means for the rarest and the largest group."""

from __future__ import annotations

import math

import numpy as np

from alphalift.measures import epsilon_max, group_bound
from alphalift.regions import AlphaLift
from alphalift.solution import Solution

_NOT_COVERED = (
    "Not covered: other columns released beside it, a second release of the same records with fresh randomness, "
    "and a population that differs from the table."
)


def describe(solution: Solution, *, secret: str = "the secret", useful: str = "X") -> str:
    """Sentences for a reader who knows the table but not the mathematics."""
    lines = [_designed(solution, secret, useful), *_groups(solution, secret), _status(solution, useful), _NOT_COVERED]
    return "\n".join(lines)


def _designed(solution: Solution, secret: str, useful: str) -> str:
    mechanism = solution.mechanism
    return (
        f"Promise: {promise(solution)} about {secret}.\n"
        f"Designed: a random release of {useful} with {len(mechanism.p_y)} possible outputs for "
        f"{len(solution.joint.x_labels)} values. It keeps {solution.normalized_utility:.1%} of the information in {useful} "
        f"({solution.utility:.3f} nats)."
    )


def promise(solution: Solution) -> str:
    """The region in a phrase."""
    region = solution.region
    if not isinstance(region, AlphaLift):
        return str(region)
    if math.isinf(region.alpha):
        return f"max-lift at most e^{region.epsilon:g}"
    return f"alpha-lift at most e^{region.epsilon:g} for alpha = {region.alpha:g}"


def _groups(solution: Solution, secret: str) -> list[str]:
    """What the promise means for the rarest and the largest group, and what this mechanism does to them."""
    region, joint = solution.region, solution.joint
    if not isinstance(region, AlphaLift):
        return []
    lines = [f"Whatever value is released, for someone who knew only how common each {secret} is:"]
    worst = solution.mechanism.lift.max(axis=1)
    chosen = {"rarest": int(np.argmin(joint.p_s)), "largest": int(np.argmax(joint.p_s))}
    for rank, s in chosen.items():
        share = float(joint.p_s[s])
        bound = group_bound(region.alpha, region.epsilon, share)
        lines.append(
            f"  - the {rank} group, {joint.s_labels[s]} ({share:.1%}), becomes at most {_up(bound)} times as likely by the "
            f"promise, and at most {_up(float(worst[s]))} times with this mechanism."
        )
    return lines


def _up(value: float) -> str:
    """Two decimals, rounded up: a bound must not look smaller than it is."""
    return f"{math.ceil(value * 100 - 1e-9) / 100:.2f}"


def _status(solution: Solution, useful: str) -> str:
    region = solution.region
    text = f"Status: {solution.status.value}."
    if isinstance(region, AlphaLift):
        text += f" Publishing {useful} as it is would need epsilon = {epsilon_max(solution.joint, region.alpha):.3f}."
    return text
