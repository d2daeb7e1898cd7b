"""What accompanies released records: a codebook for their readers, and a manifest of how they were made."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from alphalift.joint import Joint
from alphalift.mechanism import Mechanism
from alphalift.proof import Integers, as_floats

_DIGITS = 6
_SHARES_BELOW = 5e-7


def codebook(integers: Integers, joint: Joint) -> dict[str, Any]:
    """For every output its label, how common it is, and the distribution of X among the records that have it."""
    mechanism = Mechanism(joint, as_floats(integers.weights, integers.bits))
    outputs = [
        {
            "label": label,
            "share": round(float(p_y), _DIGITS),
            "p_x_given_y": {
                x: round(float(p), _DIGITS)
                for x, p in zip(joint.x_labels, mechanism.p_x_given_y[:, y], strict=True)
                if p > _SHARES_BELOW
            },
        }
        for y, (label, p_y) in enumerate(zip(integers.labels["y"], mechanism.p_y, strict=True))
    ]
    return {
        "format": "alphalift-codebook",
        "mechanism": integers.identity,
        "discloses": "the distribution of X in the table that the mechanism was designed for, and nothing about a record",
        "outputs": outputs,
    }


def manifest(integers: Integers, promise: str, facts: dict[str, Any]) -> dict[str, Any]:
    """How a file of released records was made; it names no record, key or path."""
    return {
        "format": "alphalift-release",
        "package": f"alphalift {version('alphalift')}",
        "mechanism": integers.identity,
        "promise": promise,
        "covers": "the released column alone, once for each record, for a population like the table that was designed for",
    } | facts
