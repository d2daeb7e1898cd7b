"""What memory a design may take, and what time its proof is expected to take (docs/scale.md)."""

from __future__ import annotations

import os

from alphalift.joint import Joint

# Seconds for every entry of P(Y|X) that is rounded and proven.
_PROOF = 5e-7
# What the tree of a search may fill at most, and which share of the machine's memory; a certificate is a copy of most of it.
_MOST_BYTES, _MOST_SHARE = 4_000_000_000, 0.25
# A tree that doubles is there one and a half times.
_GROWING = 1.5


def _memory() -> float:
    """The machine's memory in bytes; where the system does not tell, little."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):  # Windows has no sysconf
        return 8e9


MOST_TREE_BYTES = int(min(_MOST_BYTES, _MOST_SHARE * _memory()))


def proof_seconds(joint: Joint) -> float:
    """What rounding a mechanism for this joint and proving it is expected to take."""
    return _PROOF * len(joint.x_labels) ** 2


def most_nodes(joint: Joint) -> int:
    """How many nodes of a search's tree `MOST_TREE_BYTES` hold."""
    return int(MOST_TREE_BYTES / _node_bytes(len(joint.s_labels), len(joint.x_labels)))


def _node_bytes(secrets: int, symbols: int) -> float:
    """A box's two ends and a point, a dual, and six numbers."""
    return _GROWING * 8 * (3 * symbols + secrets + 7)
